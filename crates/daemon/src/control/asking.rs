//! Asking a running daemon, by its control socket.

use super::{Answer, ControlError, PATIENCE, Refusal, Request, Words, is_timeout, say};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Longer answers are not read, bytes.
const LONGEST_ANSWER: u64 = 4 << 20;
/// How long a daemon may take to end.
const ENDING: Duration = Duration::from_secs(15);

/// How the daemon that listens at `path` stands.
///
/// # Errors
/// Where none runs, or it does not answer.
pub fn status<S: DeserializeOwned>(daemon: &'static Words, path: &Path) -> Result<S, ControlError> {
    match ask(daemon, path, &Request::Status)? {
        (Answer::Status(status), _) => Ok(*status),
        (Answer::Stopping, _) => Err(ControlError::garbled(daemon, path, "it says that it stops")),
    }
}

/// Ends the daemon that listens at `path` and waits until it has undone what it did.
///
/// # Errors
/// Where none runs, it does not answer, or takes longer than it should.
pub fn stop(daemon: &'static Words, path: &Path) -> Result<(), ControlError> {
    let mut stream = match ask::<Answer<serde::de::IgnoredAny>>(daemon, path, &Request::Stop)? {
        (Answer::Stopping, stream) => stream,
        (Answer::Status(_), _) => {
            return Err(ControlError::garbled(daemon, path, "a status that was not asked for"));
        }
    };
    let told = ControlError::told(daemon, path);
    stream.get_mut().set_read_timeout(Some(ENDING)).map_err(&told)?;
    match stream.read(&mut [0]) {
        Ok(_) => Ok(()),
        // It went away the hard way, and away it is.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) if is_timeout(&error) => {
            let (path, seconds) = (path.to_owned(), ENDING.as_secs());
            Err(ControlError::Silent { daemon, path, seconds })
        }
        Err(error) => Err(told(error)),
    }
}

/// Asks something, and reads one line of JSON for an answer. What follows it, if anything, is in the reader,
/// which waits no longer than [`PATIENCE`] for more.
///
/// # Errors
/// Where none runs, it does not answer, refuses, or answers something else.
pub fn ask<A: DeserializeOwned>(
    daemon: &'static Words,
    path: &Path,
    request: &impl Serialize,
) -> Result<(A, BufReader<UnixStream>), ControlError> {
    let told = ControlError::told(daemon, path);
    let mut stream = UnixStream::connect(path).map_err(&told)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(&told)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(&told)?;
    say(&mut stream, request).map_err(&told)?;
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    (&mut stream).take(LONGEST_ANSWER).read_line(&mut line).map_err(&told)?;
    if let Ok(Refusal::Refused(why)) = serde_json::from_str(&line) {
        return Err(ControlError::Refused { daemon, why });
    }
    match serde_json::from_str(&line) {
        Ok(answer) => Ok((answer, stream)),
        Err(_) if line.is_empty() => Err(ControlError::garbled(daemon, path, "nothing")),
        Err(error) => Err(ControlError::garbled(daemon, path, error.to_string())),
    }
}
