//! Every choice an endpoint offers, listed once with its knobs.
//!
//! The scenario checker, the JSON Schema, `ackord list mechanisms` and the docs read these tables;
//! the `build_*` functions turn a checked [`Choice`](ackord_units::Choice) into the running thing.
//!
//! A family has a file, or shares one with a small neighbour; `endpoint.rs` is what is no choice,
//! `profiles.rs` whole stacks by name, `stack.rs` such a stack built.

mod ack;
mod build;
mod congestion;
mod endpoint;
mod loss;
mod nagle;
mod profiles;
mod recovery;
mod stack;

pub use ack::{ACK, build_ack};
pub(crate) use build::{bytes, count, span, word};
pub use congestion::{CONGESTION, build_congestion};
pub use endpoint::ENDPOINT;
pub use loss::{LOSS, build_loss};
pub use nagle::{NAGLE, build_nagle};
pub use profiles::{PROFILES, Profile, Setting, profile};
pub use recovery::{RECOVERY, build_recovery};
pub use stack::Stack;

use ackord_units::{KnobKind, Mechanism};

const ON_OFF: KnobKind = KnobKind::Choice(&["on", "off"]);

/// The mechanism of this name in a table.
pub fn find(table: &'static [Mechanism], name: &str) -> Option<&'static Mechanism> {
    table.iter().find(|mechanism| mechanism.name == name)
}

/// Every table of choices in the order in which they are listed to people.
pub fn families() -> [&'static [Mechanism]; 5] {
    [CONGESTION, LOSS, RECOVERY, ACK, NAGLE]
}
