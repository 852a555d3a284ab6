//! A capture under way: tcpdump, the thread that reads what it writes, and what it reports.

use super::WAITING;
use crate::errors::Failure;
use ackord_diagnose::{CaptureRead, Reader, Seen};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Bytes kept of a packet: headers, with tunnels around them.
const SNAP_LEN: &str = "128";

/// A capture under way.
pub(super) struct Capture {
    interface: String,
    child: Child,
    messages: Arc<Mutex<Messages>>,
    /// The thread that receives them.
    listener: JoinHandle<()>,
    pub(super) packets: Receiver<Seen>,
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
    pub(super) fn begin(
        interface: &str,
        copy: Option<File>,
        further: &[&str],
    ) -> Result<Capture, Failure> {
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
    pub(super) fn end(mut self, take: impl FnMut(&Seen)) -> Result<CaptureRead, Failure> {
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
    pub(super) fn dropped(&mut self) -> u64 {
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
