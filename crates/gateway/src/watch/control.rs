//! What a gateway is called and what it answers by its control socket: how it stands, that it will end, and
//! captures.

use super::capture::{CaptureRequest, Tap};
use super::shared::CAPTURES;
use super::{Shared, Status};
use crate::config::Reload;
use ackord_daemon::Words;
use ackord_daemon::control::{
    Answers, ControlError, ControlSocket, PATIENCE, refuse, request, say,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What a gateway is called in messages.
pub static GATEWAY: Words = Words {
    name: "gateway",
    one: "a gateway",
    command: "ackord gateway",
    meanwhile: "the kernel forwards meanwhile",
};

/// What is asked. The first two are asked of every daemon, and named here for whoever asks something unknown.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    Status,
    Stop,
    Reload,
    Capture(CaptureRequest),
}

/// The first line of an answer; a longer one follows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// What follows is pcapng.
    Capturing,
    /// What follows is a line with a [`Reloaded`].
    Reloading,
}

/// The outcome of a reload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reloaded {
    /// The configuration was taken: each change, as `key: from -> to`.
    Taken(Vec<String>),
    /// It was refused, for this reason, and the one before goes on.
    Refused(String),
}

impl Reloaded {
    pub(crate) fn taken(reload: &Reload) -> Reloaded {
        let change =
            |one: &crate::config::Change| format!("{}: {} -> {}", one.path, one.from, one.to);
        Reloaded::Taken(reload.changes.iter().map(change).collect())
    }
}

/// How long a reload may take before whoever asked for it gives up.
pub(super) const RELOADING: Duration = Duration::from_secs(30);

/// Listens at `path`, in a folder that is there, and answers from `shared`.
///
/// # Errors
/// Where a gateway listens there already, or the system does not let us.
pub fn listen(path: &Path, shared: Arc<Shared>) -> Result<ControlSocket, ControlError> {
    ControlSocket::open(&GATEWAY, path, shared)
}

impl Answers for Shared {
    type Status = Status;

    fn status(&self) -> Status {
        ackord_daemon::Shared::status(self)
    }

    fn stop(&self) {
        self.ask_to_stop();
    }

    fn other(&self, line: &str, mut stream: UnixStream) -> io::Result<()> {
        match request(line, &mut stream)? {
            Some(Request::Capture(request)) => self.capture(stream, request),
            Some(Request::Reload) => self.reload(stream),
            Some(Request::Status | Request::Stop) | None => Ok(()),
        }
    }
}

impl Shared {
    /// Requests a reload from the loop and sends its outcome, in a thread of its own.
    fn reload(&self, mut stream: UnixStream) -> io::Result<()> {
        let outcome = self.request_reload();
        std::thread::Builder::new().name("reload".to_owned()).spawn(move || {
            let _ = say(&mut stream, &Answer::Reloading);
            if let Ok(reloaded) = outcome.recv_timeout(RELOADING) {
                let _ = say(&mut stream, &reloaded);
            }
        })?;
        Ok(())
    }

    fn capture(&self, mut stream: UnixStream, request: CaptureRequest) -> io::Result<()> {
        if let Err(why) = request.check() {
            return refuse(&mut stream, why);
        }
        let Some(place) = self.place() else {
            let why = format!("{CAPTURES} captures are under way, which is the most at once");
            return refuse(&mut stream, why);
        };
        // A disk that is busy is no reason to end a capture.
        stream.set_write_timeout(Some(5 * PATIENCE))?;
        let (tap, tapped) = Tap::new(request.of);
        // First of all: whoever is told that it begins misses nothing from then on.
        self.offer(tap);
        std::thread::Builder::new().name("capture".to_owned()).spawn(move || {
            // Whoever asked sees where it ends.
            let _ = say(&mut stream, &Answer::Capturing)
                .and_then(|()| tapped.write_to(&stream, &request));
            drop(place);
        })?;
        Ok(())
    }
}
