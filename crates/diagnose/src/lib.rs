//! Captures in; where the time of each connection went, out.
//!
//! | file | what |
//! | --- | --- |
//! | `read/` | capture files of all sorts into packets as [`Seen`] |
//! | `cause.rs` | [`Cause`]: what an instant may be spent on |
//! | `diagnosis.rs` | [`Diagnosis`]: the answer, as in JSON |
//!
//! No clock, no network: packets in, an account out.

mod cause;
mod diagnosis;
mod read;
mod seen;

pub use cause::Cause;
pub use diagnosis::{
    Artefact, ArtefactKind, CaptureRead, CauseShare, Connection, Diagnosis, Interval, Limits,
    PathFacts, Point, PointKind, Remedy, Trace, Vantage,
};
pub use read::{OpenError, Reader};
pub use seen::{Address, Sacks, Seen};
