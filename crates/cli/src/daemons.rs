//! What `ackord gateway` and `ackord agent` have in common, and what they fail by.
//!
//! | file | what |
//! | --- | --- |
//! | `daemons.rs` | [`DaemonFailure`] |
//! | `daemons/service.rs` | signals, confinement, what is told as a daemon begins |
//! | `daemons/standing.rs` | what both statuses show |

pub(crate) mod service;
pub(crate) mod standing;

use std::io;

/// Why a command of a daemon did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonFailure {
    /// A gateway cannot be, or ends before its time.
    #[error(transparent)]
    Gateway(ackord_gateway::DaemonError),
    /// An agent cannot be, or not go on.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Agent(ackord_agent::DaemonError),
    /// A running daemon cannot be asked.
    #[error(transparent)]
    Control(ackord_gateway::watch::ControlError),
    /// A running gateway refused its changed configuration.
    #[error("the gateway refused its configuration, and goes on with the one before:\n{0}")]
    NotReloaded(String),
    /// What a gateway that was killed has left cannot be undone.
    #[error("what an earlier gateway has left is still there: {0}")]
    LeftBehind(String),
    /// An agent that may change something wants to be told whose connections.
    #[error(
        "whose connections? --all says those of this machine, --cgroup PATH those of a control group, or a file says it"
    )]
    NobodyNamed,
    /// Neither a control group nor an application.
    #[error(
        "`{0}` is no control group of version 2 (`mount | grep cgroup2` says where these are), and no application of \
         that name has a connection"
    )]
    NoSuchCgroup(String),
    /// This program has no programs for the kernel.
    #[cfg(not(feature = "agent"))]
    #[error("{}", ackord_agent::WITHOUT_BPF)]
    WithoutAgent,
    /// Something could not be taken back.
    #[cfg(feature = "agent")]
    #[error("{0} changes are still there; they stay in the journal")]
    StillThere(usize),
    /// Nobody can look on at an interface.
    #[error("cannot look on")]
    LookOn(#[source] io::Error),
    /// What a daemon tells would go nowhere.
    #[error("cannot tell events as `[log]` asks for")]
    Log(#[source] io::Error),
    /// A capture of a gateway is out of bounds.
    #[error("{0}")]
    Capture(String),
}

impl DaemonFailure {
    /// Whether whoever called can put it right by saying something else.
    pub(crate) fn is_bad_input(&self) -> bool {
        match self {
            DaemonFailure::Gateway(error) => error.is_bad_input(),
            #[cfg(feature = "agent")]
            DaemonFailure::Agent(error) => error.is_bad_input(),
            #[cfg(feature = "agent")]
            DaemonFailure::StillThere(_) => false,
            #[cfg(not(feature = "agent"))]
            DaemonFailure::WithoutAgent => true,
            DaemonFailure::NobodyNamed
            | DaemonFailure::NotReloaded(_)
            | DaemonFailure::NoSuchCgroup(_)
            | DaemonFailure::Capture(_) => true,
            DaemonFailure::LeftBehind(_) => false,
            DaemonFailure::Control(_) | DaemonFailure::LookOn(_) | DaemonFailure::Log(_) => false,
        }
    }
}
