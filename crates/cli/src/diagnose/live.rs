//! `--live IFACE`: packets as they come, from tcpdump, and what they say so far.
//!
//! ```text
//! tcpdump ─► pipe ─► a thread that reads ─► packets ─► Diagnoser ─► every 2 s: a summary
//! ```
//!
//! tcpdump knows how to get at packets, with what right, and how to give them back; it is not linked but
//! started. Every connection is kept in memory, unless `--metrics` makes it a service.
//! Not modelled: several interfaces (`any` has all).
//!
//! | file | what |
//! | --- | --- |
//! | `live/continuous.rs` | `--metrics`: totals of days, in bounded memory |
//! | `live/metrics.rs` | these as metrics for Prometheus |
//! | `live/drops.rs` | the kernel's reasons for dropping packets, from tracefs |

#[cfg(feature = "daemons")]
mod continuous;
#[cfg(feature = "daemons")]
mod drops;
#[cfg(feature = "daemons")]
mod metrics;

use super::sources::Passes;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::OutputArguments;
use crate::interrupt::Interrupt;
use ackord_advice::{diagnosis_document, diagnosis_summary};
use ackord_diagnose::{CaptureRead, Diagnoser, Diagnosis, Reader, Seen};
use ackord_report::to_terminal;
use ackord_units::{Quantity, Span};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// With --live, run as a service: export totals for Prometheus at http://ADDRESS:PORT/metrics, in bounded
    /// memory
    ///
    /// Seconds by cause, retransmissions, round-trip times, zero windows, and why the kernel drops packets. A
    /// connection enters the totals when it has closed, an open one up to a minute ago, and closed ones are
    /// forgotten: the answer at the end has totals, no connections.
    #[arg(long, value_name = "ADDRESS:PORT", requires = "live")]
    #[arg(conflicts_with_all = ["connection", "qlog", "annotate"])]
    metrics: Option<SocketAddr>,
    /// With --metrics, connections kept in memory at most; those idle longest make room for others
    ///
    /// A short connection takes about 8 kB, one that has been busy for long at most half a megabyte.
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "metrics")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    most_connections: u32,
}

impl LiveArguments {
    /// The interface, if one is to be looked at.
    pub(super) fn interface(&self) -> Option<&str> {
        self.live.as_deref()
    }

    fn time(&self) -> Option<Duration> {
        self.time.map(|time| Duration::from_nanos(time.as_nanos()))
    }

    #[cfg(feature = "daemons")]
    fn most_connections(&self) -> usize {
        self.most_connections as usize
    }

    /// Runs as a service, if that is asked for.
    pub(super) fn serve(
        &self,
        output: &OutputArguments,
        interrupt: &Interrupt,
        console: &Console,
    ) -> Option<Result<(), Failure>> {
        let of = (self.live.as_deref()?, self.metrics?);
        #[cfg(feature = "daemons")]
        return Some(continuous::run(self, of, output, interrupt, console));
        #[cfg(not(feature = "daemons"))]
        {
            let _ = (of, output, interrupt, console, self.most_connections);
            Some(Err(Failure::LeftOut("--metrics")))
        }
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
    let kept = match keep {
        Passes::Again => Some(tempfile::tempfile().map_err(Failure::Input)?),
        Passes::Once => None,
    };
    let copy = kept.as_ref().map(File::try_clone).transpose().map_err(Failure::Input)?;
    let began = Instant::now();
    let capture = Capture::begin(interface, copy, &[])?;
    let limit = arguments.time();
    let mut screen = Screen::new(interface, began, console);
    let mut diagnoser = follow(&capture.packets, &mut screen, || {
        interrupt.check().is_break() || limit.is_some_and(|limit| began.elapsed() >= limit)
    });
    let read = capture.end(|seen| diagnoser.take(seen));
    screen.clear();
    let diagnosis = diagnoser.answer(vec![read?]);
    Ok(Watched { diagnosis, kept })
}

/// A capture under way.
struct Capture {
    interface: String,
    child: Child,
    messages: Arc<Mutex<Messages>>,
    /// The thread that receives them.
    listener: JoinHandle<()>,
    packets: Receiver<Seen>,
    reader: JoinHandle<Result<CaptureRead, String>>,
}

/// What tcpdump reports.
#[derive(Default)]
struct Messages {
    /// Lines, but for counts.
    text: String,
    /// Packets that it lost so far.
    dropped: Option<u64>,
}

impl Capture {
    /// Starts tcpdump with these further arguments; `copy` gets all that it writes.
    fn begin(interface: &str, copy: Option<File>, further: &[&str]) -> Result<Capture, Failure> {
        let mut child = start(interface, further).map_err(|why| refused(interface, &why))?;
        let none = || refused(interface, "tcpdump has no output");
        let output = child.stdout.take().ok_or_else(none)?;
        let errors = child.stderr.take().ok_or_else(none)?;
        let messages = Arc::new(Mutex::new(Messages::default()));
        let heard = Arc::clone(&messages);
        let listener = thread::spawn(move || listen(errors, &heard));
        let input: Box<dyn Read + Send> = match copy {
            Some(copy) => Box::new(Tee { input: output, copy }),
            None => Box::new(output),
        };
        let (way, packets) = sync_channel(WAITING);
        let name = interface.to_owned();
        let reader = thread::spawn(move || read(&name, input, &way));
        let interface = interface.to_owned();
        Ok(Capture { interface, child, messages, listener, packets, reader })
    }

    /// Ends it. `take` gets the packets that are still to come.
    fn end(mut self, take: impl FnMut(&Seen)) -> Result<CaptureRead, Failure> {
        signal(&mut self.child, Signal::INT);
        let mut take = take;
        self.packets.iter().for_each(|seen| take(&seen));
        let _ = self.child.wait();
        let _ = self.listener.join();
        let read = self.reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let read = read.map_err(|why| {
            refused(&self.interface, &refusal(&self.interface, &messages.text, why))
        })?;
        Ok(CaptureRead { dropped: messages.dropped.or(read.dropped), ..read })
    }

    /// Packets that tcpdump lost, as it last reported, and makes it report again.
    #[cfg(feature = "daemons")]
    fn dropped(&mut self) -> u64 {
        signal(&mut self.child, Signal::USR1);
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).dropped.unwrap_or(0)
    }
}

fn refused(interface: &str, why: &str) -> Failure {
    Failure::Diagnose(format!("--live {interface}: {why}"))
}

fn start(interface: &str, further: &[&str]) -> Result<Child, String> {
    let sbin = ["/usr/sbin", "/usr/bin", "/sbin", "/usr/local/sbin"]
        .map(|at| PathBuf::from(at).join("tcpdump"));
    let program =
        sbin.into_iter().find(|at| at.exists()).unwrap_or_else(|| PathBuf::from("tcpdump"));
    let mut command = Command::new(program);
    command.args(["-i", interface, "-s", SNAP_LEN, "-n", "-U", "--immediate-mode", "-w", "-"]);
    command.args(further);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            "tcpdump takes the packets, and is not installed (`apt install tcpdump`)".to_owned()
        }
        _ => format!("tcpdump cannot be started: {error}"),
    })
}

/// Sends tcpdump a signal: INT writes what it has and ends it, USR1 makes it report counts.
fn signal(child: &mut Child, signal: Signal) {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let (Some(id), Ok(None)) = (id, child.try_wait()) {
        // Gone meanwhile is as good.
        let _ = kill_process(id, signal);
    }
}

/// Bytes of messages that are kept.
const MOST_TEXT: usize = 1 << 16;

/// Receives what tcpdump reports.
fn listen(errors: ChildStderr, messages: &Mutex<Messages>) {
    for line in BufReader::new(errors).lines().map_while(Result::ok) {
        let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
        match dropped(&line) {
            Some(dropped) => messages.dropped = messages.dropped.max(Some(dropped)),
            None if messages.text.len() < MOST_TEXT => messages.text += &(line + "\n"),
            None => {}
        }
    }
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

/// The count in "3 packets dropped by kernel", alone or among others.
fn dropped(line: &str) -> Option<u64> {
    let line = line.trim_start_matches("tcpdump: ");
    let part = line.split(", ").find(|part| part.ends_with("dropped by kernel"))?;
    part.split_whitespace().next()?.parse().ok()
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
        assert_eq!(dropped("3 packets dropped by kernel"), Some(3));
        let counts =
            "tcpdump: 5 packets captured, 9 packets received by filter, 1 packet dropped by kernel";
        assert_eq!(dropped(counts), Some(1));
        assert_eq!(dropped("10 packets captured"), None);
    }
}
