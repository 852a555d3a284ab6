//! The receiver's acknowledgment policies and the variants of Nagle's algorithm: listed with their
//! knobs, and built.

use super::build::{count, span, unregistered};
use crate::ack::{AckPolicy, Delayed, Immediate};
use crate::nagle::{self, Nagle};
use ackord_units::{Choice, Knob, KnobKind, Mechanism, Span};

/// Acknowledgment policies of the receiver.
pub static ACK: &[Mechanism] = &[
    Mechanism {
        name: "immediate",
        family: "ack",
        summary: "An acknowledgment for every data segment",
        source: "RFC 5681 §4.2 allows it",
        knobs: &[],
    },
    Mechanism {
        name: "delayed",
        family: "ack",
        summary: "Every second full-sized segment, or after a fixed time",
        source: "RFC 1122 §4.2.3.2, RFC 5681 §4.2",
        knobs: &[
            Knob {
                name: "timeout",
                kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_millis(500) },
                default: "200 ms",
                doc: "How long an acknowledgment may wait",
                source: "RFC 5681 §4.2 (at most 500 ms)",
            },
            Knob {
                name: "every",
                kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
                default: "2",
                doc: "Full-sized segments that are acknowledged at once",
                source: "RFC 5681 §4.2",
            },
        ],
    },
];

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
];

/// The acknowledgment policy of a choice from [`ACK`].
pub fn build_ack(choice: &Choice) -> Box<dyn AckPolicy> {
    match choice.mechanism.name {
        "immediate" => Box::new(Immediate),
        "delayed" => Box::new(Delayed::new(count(choice, "every"), span(choice, "timeout"))),
        other => unregistered("acknowledgment policy", other),
    }
}

/// The Nagle variant of a choice from [`NAGLE`].
pub fn build_nagle(choice: &Choice) -> Box<dyn Nagle> {
    match choice.mechanism.name {
        "off" => Box::new(nagle::Off),
        "on" => Box::new(nagle::On),
        "minshall" => Box::new(nagle::Minshall::default()),
        other => unregistered("Nagle variant", other),
    }
}
