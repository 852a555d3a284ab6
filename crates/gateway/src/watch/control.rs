//! The socket by which a running gateway is asked: one line of JSON, one line back.
//!
//! A thread of its own answers, one caller after another, from what the loop has published; a caller that
//! dawdles is hung up on. Only the user whom the gateway runs as, and root, may ask: the socket's mode is
//! 0600 from the moment it is there.

use super::capture::{CaptureRequest, Tap};
use super::{Shared, Status};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::socket::{
    AddressFamily, Backlog, Shutdown, SockFlag, SockType, UnixAddr, bind, listen, shutdown, socket,
};
use nix::sys::stat::{Mode, fchmod};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longer requests are refused, octets.
const LONGEST_REQUEST: u64 = 4096;
/// How long either side waits for the other's next octets.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Captures at once.
const CAPTURES: usize = 4;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    Status,
    Stop,
    Capture(CaptureRequest),
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    Status(Box<Status>),
    /// It will end; the connection stays until it has.
    Stopping,
    /// What follows is pcapng.
    Capturing,
    Refused(String),
}

/// Why a gateway could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nobody listens.
    #[error(
        "no gateway runs here: nobody listens at `{path}`; `ackord gateway run` starts one, and \
         --socket says where another one listens"
    )]
    NotRunning {
        /// Where it would.
        path: PathBuf,
    },
    /// One does.
    #[error("a gateway runs here already (it listens at `{path}`); `ackord gateway stop` ends it")]
    RunsAlready {
        /// Where.
        path: PathBuf,
    },
    /// It belongs to somebody else.
    #[error("the gateway at `{path}` answers only the user whom it runs as, and root")]
    NotAllowed {
        /// Where.
        path: PathBuf,
    },
    /// It is there and says nothing.
    #[error(
        "the gateway at `{path}` does not answer within {seconds} s: it is stopped (SIGSTOP) or hangs; \
         the kernel forwards meanwhile"
    )]
    Silent {
        /// Where.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It says no.
    #[error("the gateway refuses: {0}")]
    Refused(String),
    /// It says something else.
    #[error(
        "what listens at `{path}` does not answer as a gateway of version {version} does: {why}"
    )]
    Garbled {
        /// Where.
        path: PathBuf,
        /// Our version.
        version: &'static str,
        /// What is wrong with the answer.
        why: String,
    },
    /// The system says no.
    #[error("cannot use the control socket `{path}`: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A gateway's end of the socket. Dropped, it is gone; so it is to be dropped when all is undone.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    listener: UnixListener,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Held as long as the gateway runs: two that begin at once do not take the socket from each other.
    _lock: Flock<File>,
}

impl ControlSocket {
    /// Listens at `path`, in a folder that is there, and answers from `shared`.
    ///
    /// # Errors
    /// Where a gateway listens there already, or the system does not let us.
    pub fn open(path: &Path, shared: Arc<Shared>) -> Result<ControlSocket, ControlError> {
        let failed = |source| ControlError::Io { path: path.to_owned(), source };
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.with_extension("lock"))
            .map_err(failed)?;
        let lock = match Flock::lock(lock, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => lock,
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(ControlError::RunsAlready { path: path.to_owned() });
            }
            Err((_, errno)) => return Err(failed(errno.into())),
        };
        // With the lock ours, a socket that is there was left behind.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let listener = listen_at(path).map_err(|errno| failed(errno.into()))?;
        let ends = Arc::new(AtomicBool::new(false));
        let server = Server {
            listener: listener.try_clone().map_err(failed)?,
            shared,
            ends: Arc::clone(&ends),
            captures: Arc::default(),
            waiting_for_the_end: Vec::new(),
        };
        let thread = std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(|| server.serve())
            .map_err(failed)?;
        let thread = Some(thread);
        Ok(ControlSocket { path: path.to_owned(), listener, ends, thread, _lock: lock })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // Wakes whoever waits for a caller, even where somebody has removed the socket's name.
        let _ = shutdown(self.listener.as_raw_fd(), Shutdown::Both);
        let _ = std::fs::remove_file(&self.path);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn listen_at(path: &Path) -> Result<UnixListener, Errno> {
    let socket = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    // Before it has a name: nobody ever finds it with another mode.
    fchmod(&socket, Mode::S_IRUSR | Mode::S_IWUSR)?;
    bind(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    listen(&socket, Backlog::new(16)?)?;
    Ok(socket.into())
}

/// Answers.
struct Server {
    listener: UnixListener,
    shared: Arc<Shared>,
    ends: Arc<AtomicBool>,
    captures: Arc<AtomicUsize>,
    /// Whoever asked it to stop sees it end by the end of their connection.
    waiting_for_the_end: Vec<UnixStream>,
}

impl Server {
    fn serve(mut self) {
        while !self.ends.load(Ordering::Acquire) {
            match self.listener.accept() {
                // A caller that is gone again is no concern of ours.
                Ok((stream, _)) => drop(self.answer(stream)),
                // A lack of descriptors passes.
                Err(_) => std::thread::park_timeout(PATIENCE / 20),
            }
        }
    }

    fn answer(&mut self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new((&stream).take(LONGEST_REQUEST)).read_line(&mut line)?;
        match serde_json::from_str(&line) {
            Ok(Request::Status) => {
                say(&mut stream, &Answer::Status(Box::new(self.shared.status())))
            }
            Ok(Request::Stop) => {
                self.shared.ask_to_stop();
                say(&mut stream, &Answer::Stopping)?;
                self.waiting_for_the_end.push(stream);
                Ok(())
            }
            Ok(Request::Capture(request)) => self.capture(stream, request),
            Err(error) => {
                say(&mut stream, &Answer::Refused(format!("a request unknown here: {error}")))
            }
        }
    }

    fn capture(&self, mut stream: UnixStream, request: CaptureRequest) -> io::Result<()> {
        if let Err(why) = request.check() {
            return say(&mut stream, &Answer::Refused(why));
        }
        let Some(place) = Place::take(&self.captures) else {
            let why = format!("{CAPTURES} captures are under way, which is the most at once");
            return say(&mut stream, &Answer::Refused(why));
        };
        // A disk that is busy is no reason to end a capture.
        stream.set_write_timeout(Some(5 * PATIENCE))?;
        let (tap, tapped) = Tap::new(request.of);
        // First of all: whoever is told that it begins misses nothing from then on.
        self.shared.offer(tap);
        std::thread::Builder::new().name("capture".to_owned()).spawn(move || {
            // Whoever asked sees where it ends.
            let _ = say(&mut stream, &Answer::Capturing)
                .and_then(|()| tapped.write_to(&stream, &request));
            drop(place);
        })?;
        Ok(())
    }
}

/// One of the captures that may be under way at once.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(taken: &Arc<AtomicUsize>) -> Option<Place> {
        if taken.fetch_add(1, Ordering::AcqRel) < CAPTURES {
            return Some(Place(Arc::clone(taken)));
        }
        taken.fetch_sub(1, Ordering::AcqRel);
        None
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

pub(super) fn say(stream: &mut UnixStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    stream.write_all(&line)
}
