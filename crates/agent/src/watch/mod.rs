//! What a running agent shows.
//!
//! | file | what |
//! | --- | --- |
//! | `status.rs` | [`Status`]: the one description of a running agent |
//! | `describe.rs` | an engine into a [`Status`] |
//! | `metrics.rs` | [`metrics()`]: a status for Prometheus |
//! | `control.rs` | what an agent is asked beside status and stop: [`adopt()`], [`explain()`] |

mod control;
mod describe;
mod metrics;
mod status;

pub use control::{
    Asked, ExplainAnswer, Explained, Of, Question, Wanted, adopt, explain, listen, status, stop,
};
#[cfg(feature = "bpf")]
pub(crate) use describe::{Circumstances, describe, explained};
pub use metrics::metrics;
pub use status::{
    ApplicationStatus, HistoryStatus, HostStatus, LeverStatus, ReachedStatus, Standing, Status,
    TurnsStatus,
};

use ackord_daemon::Words;

/// What an agent is called.
pub static WORDS: Words = Words {
    name: "agent",
    one: "an agent",
    command: "ackord agent",
    meanwhile: "connections keep what they have",
};

/// The name of the control socket in the state directory.
pub const SOCKET: &str = "agent.sock";
