//! What the daemons are made of around their engines: what they have changed and how it is undone, what they
//! show and what they may be asked, how they confine themselves, and whether what they do is worth it.
//!
//! | file | what |
//! | --- | --- |
//! | `delays.rs` | [`Delays`]: delays as quantiles and as counts |
//! | `status.rs` | [`status`]: what a description of any daemon has |
//! | `finding.rs` | [`Finding`]: what a daemon finds about itself |
//! | `logs.rs` | [`logs`]: where events go |
//! | `notify.rs` | [`Supervisor`]: what systemd is told |
//! | `process.rs` | [`Wishes`], clocks and memory of the process |
//!
//! Not there: what an engine does, and anything that would be asked of one.

mod delays;
mod finding;
pub mod logs;
mod notify;
mod process;
pub mod status;

pub use delays::{BUCKETS_US, DelayStatus, Delays};
pub use finding::{Finding, Severity};
pub use logs::Logs;
pub use notify::Supervisor;
pub use process::{Wishes, monotonic_nanos, resident_octets, unix_s};
