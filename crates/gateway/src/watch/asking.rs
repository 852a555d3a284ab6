//! Asking a running gateway, by its control socket.

use super::Status;
use super::capture::CaptureRequest;
use super::control::{Answer, ControlError, PATIENCE, Request, say};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Longer answers are not read, octets.
const LONGEST_ANSWER: u64 = 4 << 20;
/// How long a gateway may take to end.
const ENDING: Duration = Duration::from_secs(15);

/// How the gateway that listens at `path` stands.
///
/// # Errors
/// Where none runs, or it does not answer.
pub fn status(path: &Path) -> Result<Status, ControlError> {
    match ask(path, &Request::Status)? {
        (Answer::Status(status), _) => Ok(*status),
        (other, _) => Err(unexpected(path, other)),
    }
}

/// Ends the gateway that listens at `path` and waits until it has undone what it did.
///
/// # Errors
/// Where none runs, it does not answer, or takes longer than it should.
pub fn stop(path: &Path) -> Result<(), ControlError> {
    let mut stream = match ask(path, &Request::Stop)? {
        (Answer::Stopping, stream) => stream,
        (other, _) => return Err(unexpected(path, other)),
    };
    let told = told(path);
    stream.get_mut().set_read_timeout(Some(ENDING)).map_err(&told)?;
    match stream.read(&mut [0]) {
        Ok(_) => Ok(()),
        // It went away the hard way, and away it is.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) if is_timeout(&error) => {
            Err(ControlError::Silent { path: path.to_owned(), seconds: ENDING.as_secs() })
        }
        Err(error) => Err(told(error)),
    }
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
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        self.0.read(octets)
    }
}

/// Captures, by the gateway that listens at `path`.
///
/// # Errors
/// Where no gateway runs, it does not answer or refuses.
pub fn capture(path: &Path, request: CaptureRequest) -> Result<Capture, ControlError> {
    match ask(path, &Request::Capture(request))? {
        (Answer::Capturing, stream) => {
            // Packets come when they come.
            stream.get_ref().set_read_timeout(None).map_err(told(path))?;
            Ok(Capture(stream))
        }
        (other, _) => Err(unexpected(path, other)),
    }
}

fn told(path: &Path) -> impl Fn(io::Error) -> ControlError {
    move |source| {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                ControlError::NotRunning { path }
            }
            io::ErrorKind::PermissionDenied => ControlError::NotAllowed { path },
            _ if is_timeout(&source) => ControlError::Silent { path, seconds: PATIENCE.as_secs() },
            _ => ControlError::Io { path, source },
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn ask(path: &Path, request: &Request) -> Result<(Answer, BufReader<UnixStream>), ControlError> {
    let told = told(path);
    let mut stream = UnixStream::connect(path).map_err(&told)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(&told)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(&told)?;
    say(&mut stream, request).map_err(&told)?;
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    (&mut stream).take(LONGEST_ANSWER).read_line(&mut line).map_err(&told)?;
    let garbled = |why| ControlError::Garbled {
        path: path.to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        why,
    };
    match serde_json::from_str(&line) {
        Ok(Answer::Refused(why)) => Err(ControlError::Refused(why)),
        Ok(answer) => Ok((answer, stream)),
        Err(_) if line.is_empty() => Err(garbled("nothing".to_owned())),
        Err(error) => Err(garbled(error.to_string())),
    }
}

fn unexpected(path: &Path, answer: Answer) -> ControlError {
    let why = match answer {
        Answer::Status(_) => "a status that was not asked for",
        Answer::Stopping => "it says that it stops",
        Answer::Capturing => "it says that it captures",
        Answer::Refused(_) => "it refuses",
    };
    ControlError::Garbled {
        path: path.to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        why: why.to_owned(),
    }
}
