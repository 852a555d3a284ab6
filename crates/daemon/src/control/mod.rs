//! The socket by which a running daemon is asked: one line of JSON, one line back.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Words`], [`ControlError`] |
//! | `socket.rs` | [`ControlSocket`]: the daemon's end; [`Answers`]: what it has to say |
//! | `asking.rs` | the other end: [`status()`], [`stop()`], [`ask()`] |
//!
//! A thread of its own answers, one caller after another, from what the loop has published; a caller that
//! dawdles is hung up on. Only the user whom the daemon runs as, and root, may ask: the socket's mode is
//! 0600 from the moment it is there.

mod asking;
mod socket;

pub use asking::{ask, status, stop};
pub use socket::{Answers, ControlSocket, refuse, request, say};

use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long either side waits for the other's next bytes.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// What a daemon is called in messages.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// Its name, as in "the gateway refuses".
    pub name: &'static str,
    /// The name with its article: "a gateway".
    pub one: &'static str,
    /// The command of which `run` starts it and `stop` ends it: "ackord gateway".
    pub command: &'static str,
    /// What goes on while it does not answer: "the kernel forwards meanwhile".
    pub meanwhile: &'static str,
}

/// What every daemon is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    Status,
    Stop,
}

/// What every daemon answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer<S> {
    Status(Box<S>),
    /// It will end; the connection stays until it has.
    Stopping,
}

/// A daemon's answer to what it does not do.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Refusal {
    Refused(String),
}

/// Why a daemon could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nobody listens.
    #[error(
        "no {} runs here: nobody listens at `{path}`; `{} run` starts one, and --state says where \
         another one listens", .daemon.name, .daemon.command
    )]
    NotRunning {
        /// Which daemon.
        daemon: &'static Words,
        /// Where it would.
        path: PathBuf,
    },
    /// One does.
    #[error(
        "{} runs here already (it listens at `{path}`); `{} stop` ends it", .daemon.one, .daemon.command
    )]
    RunsAlready {
        /// Which daemon.
        daemon: &'static Words,
        /// Where.
        path: PathBuf,
    },
    /// It belongs to somebody else.
    #[error("the {} at `{path}` answers only the user whom it runs as, and root", .daemon.name)]
    NotAllowed {
        /// Which daemon.
        daemon: &'static Words,
        /// Where.
        path: PathBuf,
    },
    /// It is there and says nothing.
    #[error(
        "the {} at `{path}` does not answer within {seconds} s: it is stopped (SIGSTOP) or hangs; {}",
        .daemon.name, .daemon.meanwhile
    )]
    Silent {
        /// Which daemon.
        daemon: &'static Words,
        /// Where.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It says no.
    #[error("the {} refuses: {why}", .daemon.name)]
    Refused {
        /// Which daemon.
        daemon: &'static Words,
        /// In its words.
        why: String,
    },
    /// It says something else.
    #[error(
        "what listens at `{path}` does not answer as {} of version {version} does: {why}",
        .daemon.one
    )]
    Garbled {
        /// Which daemon.
        daemon: &'static Words,
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

impl ControlError {
    /// What asking at `path` failed with, as it is to be told.
    pub fn told(daemon: &'static Words, path: &Path) -> impl Fn(io::Error) -> ControlError {
        move |source| {
            let path = path.to_owned();
            match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    ControlError::NotRunning { daemon, path }
                }
                io::ErrorKind::PermissionDenied => ControlError::NotAllowed { daemon, path },
                _ if is_timeout(&source) => {
                    ControlError::Silent { daemon, path, seconds: PATIENCE.as_secs() }
                }
                _ => ControlError::Io { path, source },
            }
        }
    }

    /// An answer that cannot be read, for this reason.
    pub fn garbled(daemon: &'static Words, path: &Path, why: impl Into<String>) -> ControlError {
        let (path, version) = (path.to_owned(), env!("CARGO_PKG_VERSION"));
        ControlError::Garbled { daemon, path, version, why: why.into() }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests;
