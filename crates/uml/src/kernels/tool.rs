//! A tool at work: its lines as they come, what it said when it fails, its end when nobody waits any longer.
//!
//! Each tool is a job of its own, so that Ctrl-C reaches us and not it, and ends with us however we end.

#![allow(unsafe_code, reason = "a signal at our death is asked for between fork and exec")]

use super::KernelError;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// So many of the last lines of errors are told.
const LAST: usize = 12;
/// How soon a wish to end is noticed while a tool says nothing.
const PATIENCE: Duration = Duration::from_millis(100);

/// Tools of one build, and the file where all they say is kept.
#[derive(Debug)]
pub(super) struct Tools {
    path: PathBuf,
    log: File,
}

enum Line {
    Output(String),
    Error(String),
}

impl Tools {
    /// What they say goes into this file.
    pub(super) fn telling(path: &Path) -> Result<Tools, KernelError> {
        let log = File::create(path).map_err(KernelError::io(path))?;
        Ok(Tools { path: path.to_owned(), log })
    }

    /// Runs a tool to its end. `watch` sees every line of its output, and a `None` now and then where there
    /// is none; the tool ends when it has seen enough. `step` names what the tool is for in an error.
    pub(super) fn run(
        &mut self,
        step: &'static str,
        mut command: Command,
        watch: &mut dyn FnMut(Option<&str>) -> ControlFlow<()>,
    ) -> Result<(), KernelError> {
        command.stdin(Stdio::null());
        let mut child = self.start(step, command)?;
        self.follow(step, &mut child, watch)
    }

    /// Runs a tool that reads a file; `watch` is told how much of it has been read, 0 to 1.
    pub(super) fn feed(
        &mut self,
        step: &'static str,
        mut command: Command,
        file: &Path,
        watch: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<(), KernelError> {
        let mut input = File::open(file).map_err(KernelError::io(file))?;
        let length = input.metadata().map_err(KernelError::io(file))?.len().max(1);
        command.stdin(Stdio::piped());
        let mut child = self.start(step, command)?;
        let mut pipe = child.stdin.take().expect("asked for");
        let mut bytes = vec![0; 1 << 18];
        let mut read = 0;
        loop {
            let got = input.read(&mut bytes).map_err(KernelError::io(file))?;
            // A tool that reads no further has failed, and says why.
            if got == 0 || pipe.write_all(&bytes[..got]).is_err() {
                break;
            }
            read += got as u64;
            if watch(read as f64 / length as f64).is_break() {
                end(&mut child);
                return Err(KernelError::Interrupted);
            }
        }
        drop(pipe);
        self.follow(step, &mut child, &mut |_| ControlFlow::Continue(()))
    }

    fn start(&mut self, step: &'static str, mut command: Command) -> Result<Child, KernelError> {
        let _ = writeln!(self.log, "+ {command:?}");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        ends_with_us(&mut command, Signal::SIGTERM);
        command.spawn().map_err(|error| KernelError::Step {
            step,
            said: format!("{}: {error}", command.get_program().display()),
            log: None,
        })
    }

    fn follow(
        &mut self,
        step: &'static str,
        child: &mut Child,
        watch: &mut dyn FnMut(Option<&str>) -> ControlFlow<()>,
    ) -> Result<(), KernelError> {
        let lines = lines_of(child);
        let mut last = VecDeque::new();
        loop {
            let flow = match lines.recv_timeout(PATIENCE) {
                Ok(Line::Output(line)) => {
                    let _ = writeln!(self.log, "{line}");
                    watch(Some(&line))
                }
                Ok(Line::Error(line)) => {
                    let _ = writeln!(self.log, "{line}");
                    last.push_back(line);
                    if last.len() > LAST {
                        last.pop_front();
                    }
                    ControlFlow::Continue(())
                }
                Err(RecvTimeoutError::Timeout) => watch(None),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if flow.is_break() {
                end(child);
                return Err(KernelError::Interrupted);
            }
        }
        let status = child.wait().map_err(KernelError::io(Path::new(step)))?;
        if status.success() {
            return Ok(());
        }
        Err(KernelError::Step { step, said: told(&last, status), log: Some(self.path.clone()) })
    }
}

/// What a tool that failed said last.
fn told(last: &VecDeque<String>, status: ExitStatus) -> String {
    if last.is_empty() {
        return format!("it ended with {status}");
    }
    last.iter().fold(String::new(), |text, line| format!("{text}\n  {line}"))
}

fn lines_of(child: &mut Child) -> Receiver<Line> {
    let (sender, lines) = channel();
    if let Some(output) = child.stdout.take() {
        read(output, sender.clone(), Line::Output);
    }
    if let Some(errors) = child.stderr.take() {
        read(errors, sender, Line::Error);
    }
    lines
}

/// Reads to the end, even if nobody listens: a pipe that is full would stop the tool.
fn read(from: impl Read + Send + 'static, to: Sender<Line>, kind: fn(String) -> Line) {
    thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n').map_while(io::Result::ok) {
            let _ = to.send(kind(String::from_utf8_lossy(&line).into_owned()));
        }
    });
}

/// Ends a tool and all that it has started.
fn end(child: &mut Child) {
    let group = Pid::from_raw(child.id().cast_signed());
    let _ = killpg(group, Signal::SIGTERM);
    let _ = child.wait();
    // What outlived its parent.
    let _ = killpg(group, Signal::SIGKILL);
}

/// The process is sent this signal when ours ends, however that happens.
pub(super) fn ends_with_us(command: &mut Command, signal: Signal) {
    let us = nix::unistd::getpid();
    // SAFETY: between fork and exec two system calls, which neither allocate nor lock.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, signal as libc::c_int) != 0 {
                return Err(io::Error::last_os_error());
            }
            // We may have ended before that.
            if libc::getppid() != us.as_raw() {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_are_seen_and_what_a_failure_said_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut tools = Tools::telling(&folder.path().join("log")).unwrap();
        let mut seen = Vec::new();
        let mut watch = |line: Option<&str>| {
            seen.extend(line.map(str::to_owned));
            ControlFlow::Continue(())
        };
        tools.run("compile", shell("echo one; echo two"), &mut watch).unwrap();
        let failing = shell("echo three; echo a reason >&2; exit 3");
        let error = tools.run("compile", failing, &mut watch).expect_err("it fails").to_string();
        assert_eq!(seen, ["one", "two", "three"]);
        assert!(
            error.starts_with("cannot compile the kernel: \n  a reason\nall of it: "),
            "{error}"
        );
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.contains("two\n") && log.contains("a reason\n"), "{log}");
    }

    #[test]
    fn a_tool_ends_when_nobody_waits_any_longer_with_all_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        let mut tools = Tools::telling(&folder.path().join("log")).unwrap();
        let mut child = None;
        let script = "sleep 1000 & echo $!; wait";
        let mut watch = |line: Option<&str>| match line {
            Some(line) => {
                child = line.parse::<i32>().ok();
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        };
        let error = tools.run("compile", shell(script), &mut watch).expect_err("interrupted");
        assert!(matches!(error, KernelError::Interrupted));
        let child = Pid::from_raw(child.expect("it was told"));
        let gone = || {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            // Nobody may have waited for it yet.
            state.is_empty() || state.contains(") Z ")
        };
        let mut patience = 200;
        while !gone() && patience > 0 {
            patience -= 1;
            thread::sleep(Duration::from_millis(10));
        }
        assert!(gone());
    }

    #[test]
    fn a_file_is_fed_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut tools = Tools::telling(&folder.path().join("log")).unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::write(&from, vec![7; 1 << 20]).unwrap();
        let mut share = 0.0;
        let mut watch = |now| {
            share = now;
            ControlFlow::Continue(())
        };
        let command = shell(&format!("cat > {}", to.display()));
        tools.feed("unpack", command, &from, &mut watch).unwrap();
        assert_eq!((share, std::fs::metadata(&to).unwrap().len()), (1.0, 1 << 20));
    }
}
