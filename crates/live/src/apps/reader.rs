//! A thread that reads what comes on a connection whose application takes whatever comes.
//!
//! One call of it takes a whole piece: the kernel discards what arrives as it arrives, and acknowledges
//! it as if it had been read by itself, but no program has to run for it. That is what most of the time
//! of a kernel in simulated time would be spent on; in real time readiness costs less than a thread.

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{MsgFlags, Shutdown, recv, shutdown};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::thread::JoinHandle;

/// What one call takes.
const PIECE: usize = 1 << 20;

/// The thread.
#[derive(Debug)]
pub(super) struct Reader {
    socket: OwnedFd,
    thread: JoinHandle<u64>,
}

impl Reader {
    /// Reads until the peer has finished, the connection fails or [`Reader::finish`] is called.
    pub(super) fn start(socket: BorrowedFd<'_>) -> io::Result<Reader> {
        // Writes say themselves that they do not wait.
        let flags = OFlag::from_bits_retain(fcntl(socket, FcntlArg::F_GETFL)?);
        fcntl(socket, FcntlArg::F_SETFL(flags & !OFlag::O_NONBLOCK))?;
        let (socket, own) = (socket.try_clone_to_owned()?, socket.try_clone_to_owned()?);
        let thread = std::thread::Builder::new().name("reader".to_owned());
        Ok(Reader { socket, thread: thread.spawn(move || read(&own))? })
    }

    /// Ends it; how many bytes it has read.
    pub(super) fn finish(self) -> u64 {
        // It fails where the connection is gone, and then so is the thread.
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Read);
        self.thread.join().unwrap_or(0)
    }
}

fn read(socket: &OwnedFd) -> u64 {
    let mut room = vec![0; PIECE];
    let mut total = 0;
    loop {
        // TCP discards what MSG_TRUNC reads without copying it (tcp(7)).
        let flags = MsgFlags::MSG_TRUNC | MsgFlags::MSG_WAITALL;
        match recv(socket.as_raw_fd(), &mut room, flags) {
            Ok(0) => return total,
            Ok(bytes) => total += bytes as u64,
            Err(Errno::EINTR) => {}
            Err(_) => return total,
        }
    }
}
