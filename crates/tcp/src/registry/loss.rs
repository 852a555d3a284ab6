//! Loss detectors: listed with their knobs, and built.

use super::ON_OFF;
use super::build::{count, is_on, span, unregistered};
use crate::loss::{
    Fixed, LimitedTransmit, LossDetector, Rack, RackKnobs, UndoReductions, VegasLoss,
};
use ackord_units::{Choice, Knob, KnobKind, Mechanism, Span};

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
    Mechanism {
        name: "rack",
        family: "loss",
        summary: "RACK-TLP: a segment is lost once a later one has arrived and time for reordering \
                  has passed; tail loss probes",
        source: "RFC 8985",
        knobs: &[
            Knob {
                name: "tlp",
                kind: ON_OFF,
                default: "on",
                doc: "Tail loss probes: after two round trips without an acknowledgment one segment \
                      asks for it",
                source: "RFC 8985 §7",
            },
            Knob {
                name: "max_ack_delay",
                kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1) },
                default: "200 ms",
                doc: "How long the peer may hold back the acknowledgment of a lone segment: added \
                      to the probe timer then",
                source: "RFC 8985 §7.2 (TLP.max_ack_delay); 200 ms as Linux has it",
            },
            Knob {
                name: "undo",
                kind: ON_OFF,
                default: "on",
                doc: "A reduction for which DSACK or timestamps show no loss is taken back",
                source: "RFC 8985 leaves it open; RFC 3708, RFC 4015; Linux does",
            },
        ],
    },
];

/// The loss detector of a choice from [`LOSS`]; panics as [`super::build_congestion`] does.
pub fn build_loss(choice: &Choice) -> Box<dyn LossDetector> {
    let threshold = || count(choice, "threshold") as u32;
    match choice.mechanism.name {
        "fixed" if is_on(choice, "limited_transmit") => {
            Box::new(Fixed::new(threshold(), LimitedTransmit::On))
        }
        "fixed" => Box::new(Fixed::new(threshold(), LimitedTransmit::Off)),
        "vegas" => Box::new(VegasLoss::new(threshold())),
        "rack" => Box::new(Rack::new(RackKnobs {
            tail_probe: is_on(choice, "tlp").then(|| span(choice, "max_ack_delay")),
            undo: if is_on(choice, "undo") { UndoReductions::On } else { UndoReductions::Off },
        })),
        other => unregistered("loss detector", other),
    }
}
