//! Why a live run could not be done.

use crate::addresses::Addresses;
use crate::settings::SettingsConflict;
use ackord_sim::{BuildError, RunError};
use ackord_sys::NamespaceError;
use nix::errno::Errno;
use std::io;
use std::path::PathBuf;

/// Why a live run could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The kernel does not let us make the namespace or the device; says what would.
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    /// The scenario's path cannot be built.
    #[error(transparent)]
    Path(#[from] BuildError),
    /// Packets have appeared or vanished: a defect of this project.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Flows of one host ask for what its kernel has only once.
    #[error(transparent)]
    Settings(#[from] SettingsConflict),
    /// The scenario has no flow, so nothing says where the two ends are.
    #[error("the scenario has no flow: its first flow says where the two ends are")]
    NoFlow,
    /// A flow of the scenario is carried by something that nobody here sends.
    #[error(
        "flow `{flow}` is `{traffic}`, datagrams, and this carries what TCP sends; leave the flow out, or \
         use `ackord live run` or `ackord run`"
    )]
    Datagrams {
        /// Its name.
        flow: String,
        /// Its workload.
        traffic: &'static str,
    },
    /// The scenario has a middlebox, which sends packets again whose bytes are gone: those are kept
    /// only by [`emulate`](crate::emulate()).
    #[error(
        "`{proxy}` is a middlebox, and no bytes are kept here for it; leave it out with \
         --set proxies.{proxy}.proxy=none, or use `ackord live run` or `ackord run`"
    )]
    Middlebox {
        /// Its name.
        proxy: String,
    },
    /// A folder cannot be served.
    #[error("cannot serve {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The URL is not one that can be fetched.
    #[error(
        "cannot fetch `{given}`: {why}; give http://{}[:PORT]/PATH or http://[{}][:PORT]/PATH",
        server.v4, server.v6
    )]
    Url {
        /// What was given.
        given: String,
        /// What is wrong with it.
        why: &'static str,
        /// The only addresses there are.
        server: Addresses,
    },
    /// Somebody killed the first process of a namespace, and with it all that was inside.
    #[error("{whose} is gone: the first process in it was killed, and with it everything inside")]
    NamespaceGone {
        /// Which: `the namespace`, or with the name of a host.
        whose: String,
    },
    /// The command inside could not be started.
    #[error("cannot start `{command}`: {}", .errno.desc())]
    CommandNotStarted {
        /// Its name and arguments.
        command: String,
        /// What the system said.
        errno: Errno,
    },
    /// The server did not accept a connection, or answered with something unusable.
    #[error("cannot fetch `{url}`: {why}")]
    Fetch {
        /// What was to be fetched.
        url: String,
        /// What happened.
        why: String,
    },
    /// Somebody ended it before there was a result.
    #[error("interrupted")]
    Interrupted,
    /// A kernel in simulated time could not be started, or did not go on.
    #[error(transparent)]
    Kernel(ackord_uml::MachineError),
    /// What was to be done on a host's kernel in simulated time could not be done.
    #[error("host `{host}` on its kernel: {what}")]
    OnKernel {
        /// The host.
        host: String,
        /// What happened.
        what: String,
    },
    /// The device or the wait for it failed.
    #[error("the emulated path broke: {0}")]
    System(#[from] io::Error),
}

impl LiveError {
    /// What the command line should exit with: 2 where something has to be changed first (rights,
    /// files, arguments), 1 where the run itself failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            LiveError::Fetch { .. }
            | LiveError::NamespaceGone { .. }
            | LiveError::System(_)
            | LiveError::Kernel(_)
            | LiveError::OnKernel { .. }
            | LiveError::Run(_) => 1,
            _ => 2,
        }
    }
}

impl From<Errno> for LiveError {
    fn from(errno: Errno) -> LiveError {
        LiveError::System(errno.into())
    }
}
