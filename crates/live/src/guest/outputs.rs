//! What the programs of a host write, told as it comes.
//!
//! Each has two pipes, and a thread reads all of them: a program that writes much never waits for
//! somebody who waits for it. It may write as much as [`MOST`]: one that writes without end would do so
//! in no time.

use super::messages::{GuestMessage, OutputStream, tell};
use crate::emulate::HostCommand;
use ackord_wire::NodeId;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::pipe2;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};

/// Bytes that are told in one line at most.
const PIECE: usize = 4096;
/// Bytes that the programs of a host may write.
const MOST: usize = 64 << 20;
/// What a pipe holds.
const PIPE: usize = 65_536;

/// The thread that tells, until it is to end.
pub(super) struct Outputs {
    thread: JoinHandle<()>,
    /// The other end hears when this is dropped.
    until: OwnedFd,
}

/// A pipe's end: what comes out of it was written by this program.
struct Output {
    number: usize,
    stream: OutputStream,
    pipe: File,
}

impl Outputs {
    /// Gives the programs of host `here` pipes to write into.
    pub(super) fn of(
        commands: &mut [HostCommand],
        here: NodeId,
        line: &File,
    ) -> io::Result<Outputs> {
        let mut outputs = Vec::new();
        for (number, command) in commands.iter_mut().enumerate() {
            if command.host != here {
                continue;
            }
            let streams = [
                (OutputStream::Output, &mut command.stdout),
                (OutputStream::Error, &mut command.stderr),
            ];
            for (stream, writes_to) in streams {
                let (pipe, written) = pipe2(OFlag::O_CLOEXEC)?;
                outputs.push(Output { number, stream, pipe: pipe.into() });
                *writes_to = Some(Arc::new(written.into()));
            }
        }
        let line = line.try_clone()?;
        let (ends, until) = pipe2(OFlag::O_CLOEXEC)?;
        let thread = spawn(move || tell_all(&mut outputs, &ends, &line));
        Ok(Outputs { thread, until })
    }

    /// Tells what was written last, and ends.
    pub(super) fn finish(self) {
        drop(self.until);
        // It has nothing to say of itself.
        let _ = self.thread.join();
    }
}

fn tell_all(outputs: &mut [Output], ends: &OwnedFd, line: &File) {
    let mut told = 0;
    let mut rounds_left = PIPE / PIECE;
    let mut ending = false;
    while rounds_left > 0 {
        let ready = ready(outputs, ends, ending);
        let Some((end, pipes)) = ready.split_last() else { return };
        ending |= *end;
        if ending {
            // Whoever is still there may write for ever.
            rounds_left -= 1;
            if pipes.iter().all(|ready| !ready) {
                return;
            }
        }
        for (output, _) in outputs.iter_mut().zip(pipes).filter(|(_, ready)| **ready) {
            told += output.tell(line);
        }
        if told > MOST {
            let most = MOST >> 20;
            let what = format!(
                "its programs have written more than {most} MiB to their standard output and error; \
                 let them write into files, which are gone when the run is over"
            );
            return tell(line, &GuestMessage::Failed(what));
        }
    }
}

/// Waits until something can be read, but not at the end: which of the pipes, and at last whether it
/// is the end.
fn ready(outputs: &[Output], ends: &OwnedFd, ending: bool) -> Vec<bool> {
    let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
    let pipes = outputs.iter().map(|output| watch(output.pipe.as_fd()));
    let mut all: Vec<PollFd<'_>> = pipes.chain([watch(ends.as_fd())]).collect();
    let patience = if ending { PollTimeout::ZERO } else { PollTimeout::NONE };
    match poll(&mut all, patience) {
        Ok(_) | Err(Errno::EINTR) => all.iter().map(|fd| fd.any().unwrap_or(false)).collect(),
        Err(_) => Vec::new(),
    }
}

impl Output {
    /// Tells what there is, and how much that was.
    fn tell(&mut self, line: &File) -> usize {
        let mut bytes = [0; PIECE];
        // It was readable: this does not wait.
        let got = self.pipe.read(&mut bytes).unwrap_or(0);
        if got > 0 {
            tell(line, &GuestMessage::output(self.number, self.stream, &bytes[..got]));
        }
        got
    }
}
