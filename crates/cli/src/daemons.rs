//! What `ackord gateway` and `ackord agent` have in common, and what they fail by.
//!
//! | file | what |
//! | --- | --- |
//! | `daemons.rs` | [`DaemonFailure`], [`WarnedArguments`] |
//! | `daemons/service.rs` | signals, confinement, what is told as a daemon begins |
//! | `daemons/standing.rs` | what both statuses show |
//! | `daemons/web.rs` | a page of either status |

pub(crate) mod service;
pub(crate) mod standing;
pub(crate) mod web;

use crate::errors::Failure;
use clap::Args;
use std::io;
use std::net::SocketAddr;

/// Whether warnings are an exit code.
#[derive(Args)]
pub(crate) struct WarnedArguments {
    /// Exit with 3 if there is something to warn about: for scripts
    #[arg(long)]
    exit_code: bool,
}

impl WarnedArguments {
    /// Ends a command that did its work, which `warned` or not.
    pub(crate) fn end(&self, warned: bool) -> Result<(), Failure> {
        match warned && self.exit_code {
            true => Err(Failure::Warned),
            false => Ok(()),
        }
    }
}

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
    /// No application has this name.
    #[error("no application is called `{name}`{}; `ackord agent status` lists those that the agent knows", meant(nearest.as_deref()))]
    NoSuchApplication {
        /// Name that was given.
        name: String,
        /// Nearest one that there is.
        nearest: Option<String>,
    },
    /// Nothing works here that an agent cannot do without.
    #[cfg(feature = "agent")]
    #[error("no agent can run here")]
    NoAgentHere,
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
    /// A status page is for this host only.
    #[error(
        "`{0}` is no loopback address: the page is for browsers of this host. From another one, forward the port: \
         `ssh -L 8080:127.0.0.1:PORT HOST`"
    )]
    NotLoopback(SocketAddr),
    /// The page cannot be served.
    #[error("cannot serve the page")]
    Serve(#[source] io::Error),
    /// A capture of a gateway is out of bounds.
    #[error("{0}")]
    Capture(String),
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

impl DaemonFailure {
    /// Whether whoever called can put it right by saying something else.
    pub(crate) fn is_bad_input(&self) -> bool {
        match self {
            DaemonFailure::Gateway(error) => error.is_bad_input(),
            #[cfg(feature = "agent")]
            DaemonFailure::Agent(error) => error.is_bad_input(),
            #[cfg(feature = "agent")]
            DaemonFailure::StillThere(_) | DaemonFailure::NoAgentHere => false,
            #[cfg(not(feature = "agent"))]
            DaemonFailure::WithoutAgent => true,
            DaemonFailure::NobodyNamed
            | DaemonFailure::NotLoopback(_)
            | DaemonFailure::NotReloaded(_)
            | DaemonFailure::NoSuchCgroup(_)
            | DaemonFailure::NoSuchApplication { .. }
            | DaemonFailure::Capture(_) => true,
            DaemonFailure::LeftBehind(_) => false,
            DaemonFailure::Control(_) | DaemonFailure::LookOn(_) => false,
            DaemonFailure::Log(_) | DaemonFailure::Serve(_) => false,
        }
    }
}
