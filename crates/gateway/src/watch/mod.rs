//! What a running gateway shows, and what it is asked, without holding it up.
//!
//! ```text
//!   loop ──publish, beat──► Shared ◄── control socket ◄── ackord gateway status, stop, reload, capture
//!     │ ◄─stop, new taps──    ▲
//!     │                       └────── metrics ◄── Prometheus
//!     └──packets, decisions──► Tap ──bounded──► a capture's thread ──► pcapng
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `status.rs` | [`Status`]: the one description of a running gateway |
//! | `metrics.rs` | [`metrics()`]: a status for Prometheus; [`serve_metrics()`] |
//! | `shared.rs` | [`Shared`]: between the loop and the threads that answer |
//! | `control.rs` | [`listen()`]: what a gateway answers |
//! | `asking.rs` | asking it: [`status()`], [`stop()`], [`reload()`], [`capture()`] |
//! | `rate.rs` | [`RateStatus`]: the rate of a queue that follows its link |
//! | `capture.rs` | [`Taps`]: packets of a connection with what was decided about them |
//!
//! The loop never waits for anybody here: it swaps a pointer once a second, and what does not fit into a
//! tap's bounded queue is counted and left out. What is not a gateway's own is [`ackord_daemon`]'s.

mod asking;
mod capture;
mod control;
mod metrics;
mod rate;
mod shared;
mod status;

pub use ackord_daemon::control::{ControlError, ControlSocket};
pub use ackord_daemon::status::{Change, Compared, Estimate, Group, Standing};
pub use ackord_daemon::{BUCKETS_US, DelayStatus, Delays, Finding, Logs, Severity};
pub use asking::{Capture, capture, clean_up, reload, status, stop};
pub use capture::{CaptureRequest, Decision, Filter, Taps};
pub use control::{GATEWAY, Reloaded, listen};
pub use metrics::{metrics, serve_metrics};
pub use rate::{RATE_CHANGES, RateChangeStatus, RateStatus};
pub use shared::Shared;
pub use status::{
    ClassStatus, FlowCounts, FlowStatus, LinkStatus, QueueState, QueueStatus, RingStatus, Status,
    SubscriberStatus, TOP_FLOWS,
};

#[cfg(test)]
mod tests;
