//! Loss detectors: listed with their knobs, and built.

use super::ON_OFF;
use super::build::{count, is_on, unregistered};
use crate::loss::{Fixed, LimitedTransmit, LossDetector, VegasLoss};
use ackord_units::{Choice, Knob, KnobKind, Mechanism};

/// Loss detectors: when is a segment lost.
pub static LOSS: &[Mechanism] = &[
    Mechanism {
        name: "fixed",
        family: "loss",
        summary: "A fixed number of duplicate acknowledgments",
        source: "RFC 5681 §3.2",
        knobs: &[
            Knob {
                name: "threshold",
                kind: KnobKind::Count { unit: "segments", min: 1, max: 10_000 },
                default: "3",
                doc: "DupThresh",
                source: "RFC 5681 §3.2",
            },
            Knob {
                name: "limited_transmit",
                kind: ON_OFF,
                default: "on",
                doc: "The first two duplicate acknowledgments let one new segment out each",
                source: "RFC 3042",
            },
        ],
    },
    Mechanism {
        name: "vegas",
        family: "loss",
        summary: "A fixed threshold, and a fine-grained timeout looked at on duplicate acknowledgments",
        source: "Brakmo and Peterson 1995 §3.1",
        knobs: &[Knob {
            name: "threshold",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 10_000 },
            default: "3",
            doc: "DupThresh, where the fine-grained timeout has not struck first",
            source: "RFC 5681 §3.2",
        }],
    },
];

/// The loss detector of a choice from [`LOSS`]; panics as [`super::build_congestion`] does.
pub fn build_loss(choice: &Choice) -> Box<dyn LossDetector> {
    let threshold = count(choice, "threshold") as u32;
    match choice.mechanism.name {
        "fixed" if is_on(choice, "limited_transmit") => {
            Box::new(Fixed::new(threshold, LimitedTransmit::On))
        }
        "fixed" => Box::new(Fixed::new(threshold, LimitedTransmit::Off)),
        "vegas" => Box::new(VegasLoss::new(threshold)),
        other => unregistered("loss detector", other),
    }
}
