//! Why an agent cannot be.

use crate::kernel::KernelError;
use ackord_daemon::control::ControlError;
use ackord_history::StoreError;
use ackord_scenario::Errors;
use std::io;
use std::path::PathBuf;

/// Why an agent cannot be, or not go on.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The configuration is not sound.
    #[error("{0}")]
    Config(#[from] Errors),
    /// There is no configuration to be read anew.
    #[error("there is no file to be read anew: the agent was begun with options")]
    NoFile,
    /// The configuration is sound, but not while the agent runs.
    #[error("`{0}` cannot be changed while the agent runs: end it and begin it anew")]
    CannotReload(&'static str),
    /// It is in a container.
    #[error(
        "this is a container: its programs belong to the whole machine, so run the agent there (docs/agent.md has a \
         DaemonSet for Kubernetes, which shares the machine's control groups)"
    )]
    Container,
    /// There is no hierarchy of version 2.
    #[error(
        "no hierarchy of control groups of version 2 is mounted: mount -t cgroup2 none /sys/fs/cgroup"
    )]
    NoCgroups,
    /// A directory is no control group of version 2.
    #[error(
        "`{}` is no control group of version 2 and cannot become one, and programs can be attached to no other: \
         `mount | grep cgroup2` says where these are", .0.display()
    )]
    NoCgroup(PathBuf),
    /// The kernel does not want.
    #[error("{0}")]
    Kernel(#[from] KernelError),
    /// Somebody listens already, or nobody may.
    #[error("{0}")]
    Control(#[from] ControlError),
    /// The state directory, or something in it.
    #[error("cannot use the state directory `{}`: {source}", path.display())]
    State {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A table of routes is somebody else's.
    #[error("the agent's table of routes is taken: {0}; name another mark, table or priority")]
    RoutesTaken(String),
    /// Routes or settings could not be made.
    #[error("cannot change {what}: {source}")]
    System {
        /// What.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// The list of pods cannot be read.
    #[error("cannot tell which pods want the agent: {0}")]
    Pods(io::Error),
    /// Histories cannot be kept.
    #[error("{0}")]
    History(#[from] StoreError),
}

impl DaemonError {
    /// Whether it stays so until the caller asks for something else.
    pub fn is_bad_input(&self) -> bool {
        match self {
            DaemonError::Config(_) | DaemonError::Container | DaemonError::NoCgroup(_) => true,
            // A list that is being written, a table that is still in use: these come right by themselves.
            _ => false,
        }
    }
}
