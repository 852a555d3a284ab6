//! Every workload, listed once with its knobs.

use crate::{Bulk, Paced, Workload};
use ackord_units::{Bytes, Choice, Knob, KnobKind, Mechanism, Span};

/// Workloads.
pub static WORKLOAD: &[Mechanism] = &[
    Mechanism {
        name: "bulk",
        family: "traffic",
        summary: "Sends as fast as TCP takes it, for ever or up to a size, then closes",
        source: "the FTP source of ns-2",
        knobs: &[Knob {
            name: "size",
            kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000_000) },
            default: "",
            doc: "How much to send; no end when absent",
            source: "set by the scenario",
        }],
    },
    Mechanism {
        name: "paced",
        family: "traffic",
        summary: "Writes a message at regular intervals",
        source: "the OnOff source of ns-3; Lee et al. 2015 §4",
        knobs: &[
            Knob {
                name: "message",
                kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000) },
                default: "1000 B",
                doc: "Length of a message",
                source: "set by the scenario",
            },
            Knob {
                name: "interval",
                kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(3600) },
                default: "10 ms",
                doc: "Time from one message to the next",
                source: "set by the scenario",
            },
            Knob {
                name: "messages",
                kind: KnobKind::Count { unit: "messages", min: 1, max: 1_000_000_000 },
                default: "",
                doc: "How many to send before closing; no end when absent",
                source: "set by the scenario",
            },
        ],
    },
];

/// The workload of a checked choice from [`WORKLOAD`].
///
/// # Panics
/// If the choice is of another family; the scenario checker never lets that through.
pub fn build_workload(choice: &Choice) -> Workload {
    let value = |knob| choice.value(knob);
    match choice.mechanism.name {
        "bulk" => Workload::Bulk(Bulk::new(value("size").and_then(|value| value.as_bytes()))),
        "paced" => Workload::Paced(Paced::new(
            value("message").and_then(|value| value.as_bytes()).expect(HAS_DEFAULT),
            value("interval").and_then(|value| value.as_span()).expect(HAS_DEFAULT),
            value("messages").and_then(|value| value.as_count()),
        )),
        other => panic!("no workload is registered as `{other}`"),
    }
}

const HAS_DEFAULT: &str = "the knob has a default of its kind, which a test asserts";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_builds_from_its_defaults() {
        for mechanism in WORKLOAD {
            build_workload(&Choice::of(mechanism));
            mechanism.knobs.iter().for_each(|knob| drop(knob.default_value()));
        }
    }
}
