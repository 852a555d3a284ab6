//! What a gateway is called and what it answers by its control socket: how it stands, that it will end, and
//! captures.

use super::capture::{CaptureRequest, Tap};
use super::shared::CAPTURES;
use super::{Shared, Status};
use ackord_daemon::Words;
use ackord_daemon::control::{
    Answers, ControlError, ControlSocket, PATIENCE, refuse, request, say,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

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
    Capture(CaptureRequest),
}

/// What is answered to a request for a capture.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// What follows is pcapng.
    Capturing,
}

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
            Some(Request::Status | Request::Stop) | None => Ok(()),
        }
    }
}

impl Shared {
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
