//! A daemon's end of the control socket.

use super::{Answer, ControlError, PATIENCE, Refusal, Request, Words};
use crate::{Published, Shared};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::socket::{
    AddressFamily, Backlog, Shutdown, SockFlag, SockType, UnixAddr, bind, listen, shutdown, socket,
};
use nix::sys::stat::{Mode, fchmod};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Longer requests are refused, bytes.
const LONGEST_REQUEST: u64 = 4096;

/// What a daemon has to say, asked from a thread of its own.
pub trait Answers: Send + Sync + 'static {
    /// What it tells of itself.
    type Status: Serialize;

    /// How it stands.
    fn status(&self) -> Self::Status;

    /// Somebody wants it to end. Who asked is told that it has when the socket is dropped.
    fn stop(&self);

    /// Answers what is neither of both: a line of JSON as it was said ([`request`] reads it), and a stream whose
    /// reader and writer wait no longer than [`PATIENCE`]. Other callers wait meanwhile, so what takes longer
    /// takes a thread.
    ///
    /// # Errors
    /// Where the caller is gone, which is no concern of the daemon's.
    fn other(&self, line: &str, stream: UnixStream) -> io::Result<()>;
}

/// A daemon that is asked nothing else.
impl<S: Published + Serialize + Send + Sync + 'static> Answers for Shared<S> {
    type Status = S;

    fn status(&self) -> S {
        Shared::status(self)
    }

    fn stop(&self) {
        self.ask_to_stop();
    }

    fn other(&self, line: &str, mut stream: UnixStream) -> io::Result<()> {
        request::<Request>(line, &mut stream).map(drop)
    }
}

/// A daemon's end of the socket. Dropped, it is gone; so it is to be dropped when all is undone.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    listener: UnixListener,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// Held as long as the daemon runs: two that begin at once do not take the socket from each other.
    _lock: Flock<File>,
}

impl ControlSocket {
    /// Listens at `path`, in a folder that is there, and answers. Beside it is a lock, of the same name with the
    /// ending `lock`.
    ///
    /// # Errors
    /// Where such a daemon listens there already, or the system does not let us.
    pub fn open<A: Answers>(
        daemon: &'static Words,
        path: &Path,
        answers: Arc<A>,
    ) -> Result<ControlSocket, ControlError> {
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
                return Err(ControlError::RunsAlready { daemon, path: path.to_owned() });
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
            answers,
            ends: Arc::clone(&ends),
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
struct Server<A> {
    listener: UnixListener,
    answers: Arc<A>,
    ends: Arc<AtomicBool>,
    /// Whoever asked it to stop sees it end by the end of their connection.
    waiting_for_the_end: Vec<UnixStream>,
}

impl<A: Answers> Server<A> {
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
                say(&mut stream, &Answer::Status(Box::new(self.answers.status())))
            }
            Ok(Request::Stop) => {
                self.answers.stop();
                say(&mut stream, &Answer::<A::Status>::Stopping)?;
                self.waiting_for_the_end.push(stream);
                Ok(())
            }
            Err(_) => self.answers.other(&line, stream),
        }
    }
}

/// A request, if it is one of these; otherwise it is refused, with what is wrong with it.
///
/// # Errors
/// Where the caller is gone.
pub fn request<R: DeserializeOwned>(line: &str, stream: &mut UnixStream) -> io::Result<Option<R>> {
    match serde_json::from_str(line) {
        Ok(request) => Ok(Some(request)),
        Err(error) => refuse(stream, format!("a request unknown here: {error}")).map(|()| None),
    }
}

/// Refuses what was asked.
///
/// # Errors
/// Where the caller is gone.
pub fn refuse(stream: &mut UnixStream, why: impl Into<String>) -> io::Result<()> {
    say(stream, &Refusal::Refused(why.into()))
}

/// Says one line of JSON.
///
/// # Errors
/// Where the other end is gone or does not listen.
pub fn say(stream: &mut UnixStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    stream.write_all(&line)
}
