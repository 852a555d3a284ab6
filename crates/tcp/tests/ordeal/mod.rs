//! An ordeal: two endpoints, a path that does its worst, and a ledger that believes neither.
//!
//! A [`Case`] says what the endpoints are made of and lists operations of the applications, of the
//! path and, in some cases, of an attacker. It runs in virtual time, every packet as bytes. The
//! ledger keeps its own account from those bytes and from what the applications did: nothing in it
//! looks into an endpoint, and none of its code is the endpoint's.
//!
//! | file | what |
//! | --- | --- |
//! | `case.rs` | [`Case`]: endpoints from the registries, and all of it as bytes and back |
//! | `op.rs` | [`Op`]: one operation, four bytes |
//! | `lane.rs` | one direction of the path |
//! | `boxes.rs` | what a middlebox does to the bytes of a packet |
//! | `ledger.rs` | the account of one direction: what was written, sent, received, acknowledged |
//! | `promises.rs` | what a segment may never do, judged as it leaves |
//! | `ranges.rs` | sets of sequence numbers |
//! | `states.rs` | which state may follow which |
//! | `drive.rs` | the run |
//! | `forge.rs` | segments of an attacker who knows the sequence numbers |
//! | `siege.rs` | one endpoint that hears nobody but that attacker |
//!
//! `crates/tcp/tests/ordeals.rs` draws cases with proptest; the targets in `fuzz/` take theirs from
//! libFuzzer. Both share these files.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "each of those who include it uses the part it needs"
)]

mod boxes;
pub mod case;
mod drive;
mod forge;
mod lane;
mod ledger;
pub mod op;
mod promises;
mod ranges;
pub mod siege;
mod states;

pub use case::Case;
pub use drive::{Outcome, run, run_told};
pub use op::Op;

/// A promise that was not kept, in words.
pub type Broken = String;

/// Returns an error that says what was not as it has to be.
macro_rules! hold {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

pub(crate) use hold;
