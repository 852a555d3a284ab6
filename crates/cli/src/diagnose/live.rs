//! `--live IFACE`: packets as they come, from tcpdump, and what they say so far.
//!
//! ```text
//! tcpdump ─► pipe ─► a thread that reads ─► packets ─► Diagnoser ─► every 2 s: a summary
//! ```
//!
//! tcpdump knows how to get at packets, with what right, and how to give them back; it is not linked but
//! started. Not modelled: several interfaces (`any` has all), captures of days: all is kept in memory.

use super::sources::Passes;
use crate::console::Console;
use crate::errors::Failure;
use crate::interrupt::Interrupt;
use ackord_advice::{diagnosis_document, diagnosis_summary};
use ackord_diagnose::{CaptureRead, Diagnoser, Diagnosis, Reader, Seen};
use ackord_report::to_terminal;
use ackord_units::{Quantity, Span};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What is shown is new every so often.
const REFRESH: Duration = Duration::from_secs(2);
/// Of the time, one part in so many may be spent on answers that are only looked at.
const SHARE: u32 = 5;
/// Ctrl-C and the end of the time are noticed within this.
const NOTICE: Duration = Duration::from_millis(100);
/// Bytes kept of a packet: headers, with tunnels around them.
const SNAP_LEN: &str = "128";
/// Packets that may wait to be taken in.
const WAITING: usize = 1 << 16;

/// What is looked at while it happens.
#[derive(Args)]
pub(super) struct LiveArguments {
    /// Look at an interface now, instead of at captures: a summary every 2 s, and at the end, or at
    /// Ctrl-C, the usual answer
    ///
    /// Starts tcpdump, which needs the right to capture (CAP_NET_RAW): run it with sudo.
    #[arg(long, value_name = "IFACE", conflicts_with = "captures")]
    live: Option<String>,
    /// For so long; otherwise until Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = Span::parse, requires = "live")]
    time: Option<Span>,
}

impl LiveArguments {
    /// The interface, if one is to be looked at.
    pub(super) fn interface(&self) -> Option<&str> {
        self.live.as_deref()
    }
}

/// What was seen, and the packets in a file where they are wanted again.
pub(super) struct Watched {
    pub(super) diagnosis: Diagnosis,
    pub(super) kept: Option<File>,
}

/// Looks at the interface until the time is over or somebody has seen enough.
pub(super) fn watch(
    arguments: &LiveArguments,
    interface: &str,
    keep: Passes,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<Watched, Failure> {
    let refused = |why: String| Failure::Diagnose(format!("--live {interface}: {why}"));
    let began = Instant::now();
    let mut child = start(interface).map_err(refused)?;
    let output = child.stdout.take().ok_or_else(|| refused("tcpdump has no output".to_owned()))?;
    let errors = child.stderr.take().map(complaints);
    let kept = match keep {
        Passes::Again => Some(tempfile::tempfile().map_err(Failure::Input)?),
        Passes::Once => None,
    };
    let tee = kept.as_ref().map(File::try_clone).transpose().map_err(Failure::Input)?;
    let input: Box<dyn Read + Send> = match tee {
        Some(copy) => Box::new(Tee { input: output, copy }),
        None => Box::new(output),
    };
    let (way, packets) = sync_channel(WAITING);
    let name = interface.to_owned();
    let reader = thread::spawn(move || read(&name, input, &way));
    let limit = arguments.time.map(|time| Duration::from_nanos(time.as_nanos()));
    let mut screen = Screen::new(interface, began, console);
    let diagnoser = follow(&packets, &mut screen, || {
        interrupt.check().is_break() || limit.is_some_and(|limit| began.elapsed() >= limit)
    });
    end(&mut child);
    let mut diagnoser = diagnoser;
    packets.iter().for_each(|seen| diagnoser.take(&seen));
    let _ = child.wait();
    screen.clear();
    let said = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let read = match reader.join() {
        Ok(read) => read,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let read = read.map_err(|why| refused(refusal(interface, &said, why)))?;
    let dropped = dropped(&said).or(read.dropped);
    let diagnosis = diagnoser.answer(vec![CaptureRead { dropped, ..read }]);
    Ok(Watched { diagnosis, kept })
}

fn start(interface: &str) -> Result<Child, String> {
    let sbin = ["/usr/sbin", "/usr/bin", "/sbin", "/usr/local/sbin"]
        .map(|at| PathBuf::from(at).join("tcpdump"));
    let program =
        sbin.into_iter().find(|at| at.exists()).unwrap_or_else(|| PathBuf::from("tcpdump"));
    let mut command = Command::new(program);
    command.args(["-i", interface, "-s", SNAP_LEN, "-n", "-U", "--immediate-mode", "-w", "-"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            "tcpdump takes the packets, and is not installed (`apt install tcpdump`)".to_owned()
        }
        _ => format!("tcpdump cannot be started: {error}"),
    })
}

/// Asks tcpdump to write what it has, and to go.
fn end(child: &mut Child) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let (Some(id), Ok(None)) = (id, child.try_wait()) {
        // Gone meanwhile is as good.
        let _ = kill_process(id, Signal::INT);
    }
}

/// What tcpdump says.
fn complaints(mut errors: ChildStderr) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        // What cannot be read is not worth a word.
        let _ = errors.read_to_string(&mut text);
        text
    })
}

/// Why there are no packets, and what to do.
fn refusal(interface: &str, said: &str, why: String) -> String {
    let told = said.lines().map(|line| line.trim_start_matches("tcpdump: "));
    let mut told = told.filter(|line| !line.starts_with("listening on") && !line.is_empty());
    if said.contains("permission") || said.contains("not permitted") {
        return format!(
            "no permission to capture: run `sudo ackord diagnose --live {interface}`, or give tcpdump the right once \
             with `sudo setcap cap_net_raw+ep $(command -v tcpdump)`"
        );
    }
    if said.contains("No such device") || said.contains("doesn't exist") {
        return "there is no such interface; `ip link` lists them, and `any` is all of them"
            .to_owned();
    }
    told.next().map_or(why, str::to_owned)
}

/// "3 packets dropped by kernel".
fn dropped(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.ends_with("dropped by kernel"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Reads packets one by one: each is handed on as soon as it is there.
fn read(
    name: &str,
    input: Box<dyn Read + Send>,
    way: &SyncSender<Seen>,
) -> Result<CaptureRead, String> {
    let mut reader = Reader::from_reader(name, input, 0).map_err(|error| error.to_string())?;
    let mut batch = Vec::new();
    loop {
        let more = reader.read(&mut batch, 1).map_err(|error| error.to_string())?;
        for seen in batch.drain(..) {
            if way.send(seen).is_err() {
                return Ok(reader.finish());
            }
        }
        if !more {
            return Ok(reader.finish());
        }
    }
}

/// Takes packets in until there are no more or `enough`, and shows what they say meanwhile.
fn follow(
    packets: &Receiver<Seen>,
    screen: &mut Screen<'_>,
    enough: impl Fn() -> bool,
) -> Diagnoser {
    let mut diagnoser = Diagnoser::default();
    let mut looked = Instant::now();
    let mut refresh = looked + REFRESH;
    loop {
        match packets.recv_timeout(NOTICE) {
            Ok(seen) => diagnoser.take(&seen),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return diagnoser,
        }
        packets.try_iter().take(WAITING).for_each(|seen| diagnoser.take(&seen));
        let now = Instant::now();
        if now >= refresh {
            screen.show(&diagnoser.answer(Vec::new()));
            let took = now.elapsed();
            refresh = Instant::now() + REFRESH.max(took * SHARE);
        }
        if now.duration_since(looked) >= NOTICE {
            looked = now;
            if enough() {
                return diagnoser;
            }
        }
    }
}

/// Where the running look is shown: drawn anew on a terminal, line by line anywhere else.
struct Screen<'a> {
    interface: &'a str,
    began: Instant,
    console: &'a Console,
    terminal: bool,
    /// Whether anything was drawn.
    drawn: bool,
}

impl<'a> Screen<'a> {
    fn new(interface: &'a str, began: Instant, console: &'a Console) -> Screen<'a> {
        let terminal = io::stderr().is_terminal();
        Screen { interface, began, console, terminal, drawn: false }
    }

    fn show(&mut self, diagnosis: &Diagnosis) {
        let seconds = self.began.elapsed().as_secs_f64();
        let head = format!("{}, {seconds:.0} s", self.interface);
        let nothing_yet = diagnosis.connections.is_empty();
        if !self.terminal {
            let summary = match nothing_yet {
                true => "no TCP yet".to_owned(),
                false => diagnosis_summary(diagnosis),
            };
            self.console.remark(&format!("{head}: {summary}"));
            return;
        }
        let rows =
            rustix::termios::tcgetwinsize(io::stderr()).map_or(24, |size| size.ws_row.max(8));
        let text = match nothing_yet {
            true => "no TCP yet\n".to_owned(),
            false => to_terminal(&diagnosis_document(diagnosis, None, &[]), self.console.screen()),
        };
        let lines = text.lines().take(usize::from(rows) - 3).collect::<Vec<_>>().join("\n");
        // Home, then everything below is cleared.
        let _ =
            write!(io::stderr(), "\x1b[H\x1b[J{head}; Ctrl-C ends it with an answer\n\n{lines}");
        self.drawn = true;
    }

    fn clear(&self) {
        if self.drawn {
            let _ = write!(io::stderr(), "\x1b[H\x1b[J");
        }
    }
}

/// What is read is kept, too.
struct Tee<R> {
    input: R,
    copy: File,
}

impl<R: Read> Read for Tee<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(buffer)?;
        self.copy.write_all(&buffer[..got])?;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tcpdump_says_becomes_what_to_do() {
        let said = "tcpdump: eth0: You don't have permission to capture on that device\n\
                    (socket: Operation not permitted)\n";
        assert!(refusal("eth0", said, String::new()).contains("sudo"));
        let none = "tcpdump: nope: No such device exists\n(SIOCGIFHWADDR: No such device)\n";
        assert!(refusal("nope", none, String::new()).contains("ip link"));
        let other = "tcpdump: listening on x\ntcpdump: eth0: is odd\n";
        assert_eq!(refusal("eth0", other, String::new()), "eth0: is odd");
        assert_eq!(refusal("eth0", "", "empty".to_owned()), "empty");
        assert_eq!(dropped("10 packets captured\n3 packets dropped by kernel\n"), Some(3));
    }
}
