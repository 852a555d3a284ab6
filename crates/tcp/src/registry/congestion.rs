//! Congestion controls: listed with their knobs, and built.

use super::ON_OFF;
use super::build::{is_on, number, unregistered, word};
use crate::congestion::{
    CongestionControl, Cubic, CubicKnobs, FastConvergence, Growth, Reno, Vegas, VegasKnobs,
};
use ackord_units::{Choice, Knob, KnobKind, Mechanism};

const GROWTH: Knob = Knob {
    name: "growth",
    kind: KnobKind::Choice(&["per-ack", "per-byte"]),
    default: "per-ack",
    doc: "What makes cwnd grow: every acknowledgment alike, or the octets it acknowledges (at most \
          two segments' worth per acknowledgment)",
    source: "RFC 5681 §3.1; RFC 3465 for per-byte",
};

/// Congestion controls: how much may be outstanding.
pub static CONGESTION: &[Mechanism] = &[
    Mechanism {
        name: "reno",
        family: "congestion",
        summary: "Slow start and additive increase, halving on loss",
        source: "RFC 5681 §3.1",
        knobs: &[GROWTH],
    },
    Mechanism {
        name: "vegas",
        family: "congestion",
        summary: "Holds a few segments in the queue, judged by the round-trip time",
        source: "Brakmo and Peterson 1995; Chae and Choi 2004 Eq. 4",
        knobs: &[
            Knob {
                name: "alpha",
                kind: KnobKind::Number { min: 0.0, max: 1000.0 },
                default: "1",
                doc: "Grow while fewer than this many segments wait in the queue",
                source: "Brakmo and Peterson 1995 §3.2; ns-2's default",
            },
            Knob {
                name: "beta",
                kind: KnobKind::Number { min: 0.0, max: 1000.0 },
                default: "3",
                doc: "Shrink while more than this many segments wait in the queue",
                source: "Brakmo and Peterson 1995 §3.2; ns-2's default",
            },
            Knob {
                name: "gamma",
                kind: KnobKind::Number { min: 0.0, max: 1000.0 },
                default: "1",
                doc: "Leave slow start once this many segments wait in the queue",
                source: "Brakmo and Peterson 1995 §3.3; ns-2's default",
            },
            Knob {
                name: "loss_factor",
                kind: KnobKind::Number { min: 0.1, max: 1.0 },
                default: "0.75",
                doc: "What is left of cwnd after a fast retransmit",
                source: "the x-kernel's and ns-2's Vegas; the 1995 paper gives no number",
            },
        ],
    },
    Mechanism {
        name: "cubic",
        family: "congestion",
        summary: "Cubic growth towards the window of the last loss",
        source: "RFC 9438",
        knobs: &[
            Knob {
                name: "c",
                kind: KnobKind::Number { min: 0.001, max: 100.0 },
                default: "0.4",
                doc: "Scale of the cubic function, segments per second cubed",
                source: "RFC 9438 §5.1",
            },
            Knob {
                name: "beta",
                kind: KnobKind::Number { min: 0.1, max: 0.95 },
                default: "0.7",
                doc: "What is left of cwnd after a loss",
                source: "RFC 9438 §4.6",
            },
            Knob {
                name: "fast_convergence",
                kind: ON_OFF,
                default: "on",
                doc: "Give way when the window of the last loss is falling",
                source: "RFC 9438 §4.7",
            },
        ],
    },
];

/// The congestion control of a choice from [`CONGESTION`].
///
/// # Panics
/// If the choice is of another family; the scenario checker never lets that through. The same
/// holds for the other builders.
pub fn build_congestion(choice: &Choice) -> Box<dyn CongestionControl> {
    match choice.mechanism.name {
        "reno" => Box::new(Reno::new(growth(choice))),
        "vegas" => Box::new(Vegas::new(VegasKnobs {
            alpha_segments: number(choice, "alpha"),
            beta_segments: number(choice, "beta"),
            gamma_segments: number(choice, "gamma"),
            loss_factor: number(choice, "loss_factor"),
        })),
        "cubic" => Box::new(Cubic::new(CubicKnobs {
            c: number(choice, "c"),
            beta: number(choice, "beta"),
            fast_convergence: if is_on(choice, "fast_convergence") {
                FastConvergence::On
            } else {
                FastConvergence::Off
            },
        })),
        other => unregistered("congestion control", other),
    }
}

fn growth(choice: &Choice) -> Growth {
    match word(choice, "growth").as_str() {
        "per-byte" => Growth::PerByte,
        _ => Growth::PerAck,
    }
}
