//! Asking a running gateway, by its control socket.

use super::Status;
use super::capture::CaptureRequest;
use super::control::{Answer, GATEWAY, RELOADING, Reloaded, Request};
use crate::{Journal, SOCKET};
use ackord_daemon::Undone;
use ackord_daemon::control::{self, ControlError};
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How the gateway that listens at `path` stands.
///
/// # Errors
/// Where none runs, or it does not answer.
pub fn status(path: &Path) -> Result<Status, ControlError> {
    control::status(&GATEWAY, path)
}

/// Ends the gateway that listens at `path` and waits until it has undone what it did.
///
/// # Errors
/// Where none runs, it does not answer, or takes longer than it should.
pub fn stop(path: &Path) -> Result<(), ControlError> {
    control::stop(&GATEWAY, path)
}

/// Has the gateway that listens at `path` read its configuration anew, and waits for the outcome.
///
/// # Errors
/// If none runs, or it does not answer.
pub fn reload(path: &Path) -> Result<Reloaded, ControlError> {
    let (first, mut stream) = control::ask(&GATEWAY, path, &Request::Reload)?;
    if !matches!(first, Answer::Reloading) {
        return Err(ControlError::garbled(&GATEWAY, path, "it does not say that it reloads"));
    }
    let failed = ControlError::told(&GATEWAY, path);
    stream.get_ref().set_read_timeout(Some(RELOADING)).map_err(&failed)?;
    let mut line = String::new();
    stream.read_line(&mut line).map_err(&failed)?;
    serde_json::from_str(&line)
        .map_err(|_| ControlError::garbled(&GATEWAY, path, "it ended before it had reloaded"))
}

/// Undoes what a gateway with this state directory has left behind that was killed, and removes its socket. Returns
/// nothing if there is no sign of one.
///
/// # Errors
/// As of [`crate::Journal::open`].
pub fn clean_up(state: &Path) -> io::Result<Option<Undone>> {
    let socket = state.join(SOCKET);
    let was_killed = socket.exists();
    let undone = Journal::clean_up(state)?;
    if was_killed && let Ok(lock) = File::open(socket.with_extension("lock")) {
        // A gateway that begins just now has the lock, and the socket is its own.
        if let Ok(_lock) = Flock::lock(lock, FlockArg::LockExclusiveNonblock) {
            std::fs::remove_file(&socket)?;
        }
    }
    Ok((was_killed || undone != Undone::default()).then_some(undone))
}

/// What a capture writes, until it is over: pcapng.
#[derive(Debug)]
pub struct Capture(BufReader<UnixStream>);

impl Capture {
    /// Reading from it answers [`io::ErrorKind::WouldBlock`] where nothing comes for so long.
    ///
    /// # Errors
    /// None that a socket knows of.
    pub fn wake_every(&self, turn: Duration) -> io::Result<()> {
        self.0.get_ref().set_read_timeout(Some(turn))
    }

    /// Ends it: what has been captured still comes, then the end.
    pub fn end(&self) {
        // Where the gateway has gone, it has ended.
        let _ = self.0.get_ref().shutdown(std::net::Shutdown::Write);
    }
}

impl Read for Capture {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

/// Captures, by the gateway that listens at `path`.
///
/// # Errors
/// Where no gateway runs, it does not answer or refuses.
pub fn capture(path: &Path, request: CaptureRequest) -> Result<Capture, ControlError> {
    let (first, stream) = control::ask(&GATEWAY, path, &Request::Capture(request))?;
    if !matches!(first, Answer::Capturing) {
        return Err(ControlError::garbled(&GATEWAY, path, "it does not say that it captures"));
    }
    // Packets come when they come.
    stream.get_ref().set_read_timeout(None).map_err(ControlError::told(&GATEWAY, path))?;
    Ok(Capture(stream))
}
