//! What the daemons are made of around their engines: what they have changed and how it is undone, what they
//! show and what they may be asked, how they confine themselves, and whether what they do is worth it.
//!
//! ```text
//!   loop ──publish, beat──► Shared ◄── control socket ◄── ackord .. status, stop
//!     │ ◄─────stop────────    ▲
//!     │                       └────── metrics ◄── Prometheus
//!     ├──will, undone──► Journal ──► a file, undone at the next start
//!     ├──ended, living─► Evidence ──► harm, gain
//!     └──events────────► Logs
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `journal.rs` | [`Journal`]: what would stay after a crash, to be undone |
//! | `shared.rs` | [`Shared`]: between the loop and the threads that answer |
//! | `control/` | [`control`]: the socket by which a daemon is asked, and asking |
//! | `metrics/` | [`metrics`]: a page for Prometheus, and the server of it |
//! | `delays.rs` | [`Delays`]: delays as quantiles and as counts |
//! | `status.rs` | [`status`]: what a description of any daemon has |
//! | `finding.rs` | [`Finding`]: what a daemon finds about itself |
//! | `evidence.rs` | [`evidence`]: treated against control |
//! | `switchback.rs` | [`switchback`]: turns of the whole link with a remedy and without |
//! | `trial.rs` | [`Trial`]: a remedy that harms stands down |
//! | `share.rs` | [`is_left_alone()`]: who is control |
//! | `logs.rs` | [`logs`]: where events go |
//! | `notify.rs` | [`Supervisor`]: what systemd is told |
//! | `sandbox.rs` | [`sandbox`]: giving up what is not needed any more |
//! | `config.rs` | [`config`]: what the files of all daemons have in common |
//! | `netlink.rs` | [`netlink`]: asking and telling the kernel's routing |
//! | `process.rs` | [`Wishes`], clocks and memory of the process, addresses of its host |
//!
//! Not there: what an engine does, and anything that would be asked of one.

pub mod config;
pub mod control;
mod delays;
pub mod evidence;
mod finding;
mod journal;
pub mod logs;
pub mod metrics;
pub mod netlink;
mod notify;
mod process;
pub mod sandbox;
mod share;
mod shared;
pub mod status;
pub mod switchback;
mod trial;

pub use control::Words;
pub use delays::{BUCKETS_US, DelayStatus, Delays};
pub use evidence::Evidence;
pub use finding::{Finding, Severity};
pub use journal::{Change, Journal, Lock, Undone};
pub use logs::Logs;
pub use notify::Supervisor;
pub use process::{
    Wishes, local_addresses, monotonic, monotonic_nanos, resident_bytes, unix_s, wall_nanos,
};
pub use share::{is_left_alone, mix};
pub use shared::{Published, Shared};
pub use trial::{Harm, StandDown, Standing, Trial};
