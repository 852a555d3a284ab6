//! Nagle's algorithm and its variants: listed with their knobs, and built.

use super::ack::{VERDICT, verdict};
use super::build::unregistered;
use crate::nagle::{self, Nagle};
use ackord_units::{Choice, Mechanism};

/// Nagle's algorithm and its variants.
pub static NAGLE: &[Mechanism] = &[
    Mechanism {
        name: "off",
        family: "nagle",
        summary: "Small segments leave at once",
        source: "RFC 1122 §4.2.3.4 (TCP_NODELAY)",
        knobs: &[],
    },
    Mechanism {
        name: "on",
        family: "nagle",
        summary: "A small segment waits while anything is unacknowledged",
        source: "RFC 896, RFC 1122 §4.2.3.4",
        knobs: &[],
    },
    Mechanism {
        name: "minshall",
        family: "nagle",
        summary: "A small segment waits only while an earlier small one is unacknowledged",
        source: "Minshall et al. 2000; Linux",
        knobs: &[],
    },
    Mechanism {
        name: "ari",
        family: "nagle",
        summary: "Off, but on for applications that move bulk: the sender's half of ARI",
        source: "Lee et al. 2016 Alg. 1, §3.2",
        knobs: &[VERDICT],
    },
];

/// The Nagle variant of a choice from [`NAGLE`].
pub fn build_nagle(choice: &Choice) -> Box<dyn Nagle> {
    match choice.mechanism.name {
        "off" => Box::new(nagle::Off),
        "on" => Box::new(nagle::On),
        "minshall" => Box::new(nagle::Minshall::default()),
        "ari" => Box::new(nagle::Ari::new(verdict(choice))),
        other => unregistered("Nagle variant", other),
    }
}
