//! Captures in; where the time of each connection went, out.
//!
//! | file | what |
//! | --- | --- |
//! | `read/` | capture files of all sorts into packets as [`Seen`] |
//! | `flow/` | connections while their packets pass: retransmissions, waits |
//! | `account/` | the time of a connection, without gaps |
//! | `causes/` | why, from the whole of a connection |
//! | `engine.rs` | [`diagnose`]: one pass over captures |
//! | `follow.rs` | [`Follower`]: connections followed for days, as totals |
//! | `in_order.rs` | a value that threads use in turns |
//! | `pipeline.rs` | one capture on several threads |
//! | `join.rs` | connections that stand in captures of two places |
//! | `report.rs` | from the account to the answer |
//! | `cause.rs` | [`Cause`]: what an instant may be spent on |
//! | `diagnosis.rs` | [`Diagnosis`]: the answer, as in JSON |
//!
//! No clock, no network: packets in, an account out.

mod account;
mod cause;
mod causes;
mod diagnosis;
mod engine;
mod flow;
mod follow;
mod in_order;
mod join;
mod pipeline;
mod read;
mod report;
mod seen;
#[cfg(test)]
mod tests;

pub use cause::Cause;
pub use diagnosis::{
    Artefact, ArtefactKind, Between, CaptureRead, CauseShare, Connection, DelayBetween, Diagnosis,
    Interval, Limits, PathFacts, Point, PointKind, PolicerFacts, RadioFacts, Remedy, Trace,
    Vantage,
};
pub use engine::{DiagnoseError, Diagnoser, Options, diagnose, without_progress};
pub use follow::{
    Follower, ROUND_TRIP_BOUNDS_US, Retransmitted, RoundTrips, SETTLED_AFTER, Totals, Way,
    ZeroWindows,
};
pub use read::{OpenError, Reader, unpacked};
pub use seen::{Address, Radio, Sacks, Seen};
