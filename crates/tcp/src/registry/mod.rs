//! Every choice an endpoint offers, listed once with its knobs.
//!
//! The scenario checker, the JSON Schema, `ackord list mechanisms` and the docs read these tables;
//! the `build_*` functions turn a checked [`Choice`](ackord_units::Choice) into the running thing.
//!
//! A family has a file, or shares one with a small neighbour; `endpoint.rs` is what is no choice,
//! `profiles.rs` whole stacks by name, `stack.rs` such a stack built, `settings.rs` what sets its
//! choices and knobs by text.

mod ack;
mod build;
mod congestion;
mod endpoint;
mod loss;
mod nagle;
mod profiles;
mod recovery;
mod settings;
mod stack;

pub use ack::{ACK, build_ack};
pub(crate) use build::{bytes, count, span, word};
pub use congestion::{CONGESTION, build_congestion};
pub use endpoint::ENDPOINT;
pub use loss::{LOSS, build_loss};
pub use nagle::{NAGLE, build_nagle};
pub use profiles::{PROFILES, Profile, Setting, profile};
pub use recovery::{RECOVERY, build_recovery};
pub use settings::{OutOfOrder, SettingError, out_of_order};
pub use stack::Stack;

use ackord_units::{KnobKind, Mechanism};

/// One of the five choices of an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The key under which a user chooses.
    pub key: &'static str,
    /// What there is to choose from.
    pub mechanisms: &'static [Mechanism],
    /// What is taken when nothing is said.
    pub default: &'static str,
    /// What it decides.
    pub doc: &'static str,
}

/// The five choices, in the order in which they are listed to people.
pub static CHOICES: &[Chosen] = &[
    Chosen {
        key: "congestion",
        mechanisms: CONGESTION,
        default: "cubic",
        doc: "How much may be outstanding",
    },
    Chosen {
        key: "loss",
        mechanisms: LOSS,
        default: "fixed",
        doc: "When a segment counts as lost",
    },
    Chosen {
        key: "recovery",
        mechanisms: RECOVERY,
        default: "sack",
        doc: "What is sent while repairing",
    },
    Chosen { key: "ack", mechanisms: ACK, default: "delayed", doc: "When to acknowledge" },
    Chosen { key: "nagle", mechanisms: NAGLE, default: "on", doc: "When a small segment waits" },
];

/// The choice with this key.
pub fn chosen_from(key: &str) -> Option<&'static Chosen> {
    CHOICES.iter().find(|chosen| chosen.key == key)
}

const ON_OFF: KnobKind = KnobKind::Choice(&["on", "off"]);

/// The mechanism of this name in a table.
pub fn find(table: &'static [Mechanism], name: &str) -> Option<&'static Mechanism> {
    table.iter().find(|mechanism| mechanism.name == name)
}

/// Every table of choices in the order in which they are listed to people.
pub fn families() -> [&'static [Mechanism]; 5] {
    [CONGESTION, LOSS, RECOVERY, ACK, NAGLE]
}
