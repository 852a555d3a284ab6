//! Every workload, listed once with its knobs.

use ackord_units::{Bytes, Knob, KnobKind, Mechanism, Span};

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
