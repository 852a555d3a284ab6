//! What a running gateway shows, and what it is asked, without holding it up.
//!
//! ```text
//!   loop ──publish, beat──► Shared ◄── control socket ◄── ackord gateway status, stop, capture
//!     │ ◄─stop, new taps──    ▲
//!     │                       └────── metrics ◄── Prometheus
//!     └──packets, decisions──► Tap ──bounded──► a capture's thread ──► pcapng
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `status.rs` | [`Status`]: the one description of a running gateway |
//! | `delays.rs` | [`Delays`]: delays as quantiles and as counts |
//! | `logs.rs` | [`Logs`]: where events go |
//! | `metrics.rs` | [`metrics()`]: a status for Prometheus; [`serve_metrics()`] |
//! | `shared.rs` | [`Shared`]: between the loop and the threads that answer |
//! | `control.rs` | [`ControlSocket`] |
//! | `asking.rs` | asking it: [`status()`], [`stop()`], [`capture()`] |
//! | `capture.rs` | [`Taps`]: packets of a connection with what was decided about them |
//!
//! The loop never waits for anybody here: it swaps a pointer once a second, and what does not fit into a
//! tap's bounded queue is counted and left out.

mod asking;
mod capture;
mod control;
mod delays;
mod logs;
mod metrics;
mod shared;
mod status;

pub use asking::{Capture, capture, status, stop};
pub use capture::{CaptureRequest, Decision, Filter, Taps};
pub use control::{ControlError, ControlSocket};
pub use delays::{BUCKETS_US, Delays};
pub use logs::Logs;
pub use metrics::{metrics, serve_metrics};
pub use shared::Shared;
pub use status::{
    ClassStatus, Compared, DelayStatus, Estimate, Finding, FlowStatus, Group, QueueState,
    QueueStatus, RingStatus, Severity, Standing, Status, TOP_FLOWS,
};

#[cfg(test)]
mod tests;
