//! Small programs in the kernel's path, for the few things that a process beside it cannot do. Each asks for
//! a sign of life first and lets everything pass where it is missing, so that a process that was stopped, or
//! is gone, is in nobody's way.
//!
//! | file | what |
//! | --- | --- |
//! | `assembler.rs` | instructions and labels, put together when they are needed: no compiler |
//! | `sys.rs` | bpf(2): maps, programs, links |
//! | `heartbeat.rs` | the sign of life |
//! | `attach.rs` | a program at an interface: by TCX, or by clsact and cls_bpf |
//! | `steer.rs` | what leaves goes to a TAP device |
//! | `suppress.rs` | [`Suppressor`]: duplicate ACKs of given connections are removed |
//!
//! They need Linux 5.8, and CAP_BPF and CAP_NET_ADMIN.

mod assembler;
mod attach;
mod heartbeat;
mod steer;
mod suppress;
mod sys;
#[cfg(test)]
mod tests;

pub use attach::{AttachBy, Attached};
pub(crate) use attach::{Attachment, Point, clsact_undo};
pub(crate) use heartbeat::Heartbeat;
pub(crate) use steer::Steer;
pub use suppress::{Covered, Suppressor};
#[cfg(test)]
pub(crate) use tests::mark_counter;

/// The packet goes on to whatever comes next (TCX_NEXT, TC_ACT_UNSPEC).
const LET_PASS: i32 = -1;
/// The packet ends here (TCX_DROP, TC_ACT_SHOT).
const REMOVE: i32 = 2;
/// Where a packet's mark is in `__sk_buff`.
const AT_MARK: i16 = 8;
