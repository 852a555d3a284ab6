//! Why a gateway cannot be, or cannot become something else.

use crate::in_path::InPathError;
use crate::watch::ControlError;
use ackord_scenario::Errors;
use std::io;
use std::path::PathBuf;

/// Why a gateway cannot be, or cannot become something else.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// An interface cannot be observed.
    #[error("cannot observe the interface `{name}`: {}", of_interface(source))]
    Interface {
        /// Its name.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The state directory cannot be had.
    #[error("cannot make the state directory `{}`: {source}; `[state] directory` names another", path.display())]
    State {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A queue cannot be put into the path.
    #[error("cannot put a queue before `{name}`: {source}")]
    Queue {
        /// The interface.
        name: String,
        /// Why.
        source: InPathError,
    },
    /// Another gateway, or something at the place of its socket.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] Errors),
    /// Something in it needs a new process.
    #[error("{0}")]
    CannotReload(String),
    /// There is nothing to be read anew.
    #[error("the command line said what to do: there is no file to be read anew")]
    NoFile,
    /// The kernel will not wait.
    #[error("cannot wait: {0}")]
    Wait(io::Error),
}

impl DaemonError {
    /// Whether whoever called can put it right by saying something else.
    pub fn is_bad_input(&self) -> bool {
        matches!(
            self,
            DaemonError::Config(_)
                | DaemonError::Queue { source: InPathError::Queue(_) | InPathError::ZeroRate, .. }
        )
    }
}

fn of_interface(source: &io::Error) -> String {
    match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "this takes root, or CAP_NET_RAW (setcap cap_net_raw,cap_net_admin+ep)".to_owned()
        }
        Some(libc::ENOMEM) => "no memory for its ring of 32 MiB".to_owned(),
        _ => source.to_string(),
    }
}
