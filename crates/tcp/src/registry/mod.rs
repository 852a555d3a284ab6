//! Every choice an endpoint offers, listed once with its knobs.
//!
//! The scenario checker, the JSON Schema, `ackord list mechanisms` and the docs read these tables;
//! the `build_*` functions turn a checked [`Choice`](ackord_units::Choice) into the running thing.

mod ack;
mod build;
mod profiles;

pub use ack::{ACK, NAGLE, build_ack, build_nagle};
pub use build::{build_congestion, build_loss, build_recovery};
pub(crate) use build::{bytes, count, span, word};
pub use profiles::{PROFILES, Profile, Setting, profile};

use ackord_units::{Bytes, Knob, KnobKind, Mechanism, Span};

const ON_OFF: KnobKind = KnobKind::Choice(&["on", "off"]);

const GROWTH: Knob = Knob {
    name: "growth",
    kind: KnobKind::Choice(&["per-ack", "per-byte"]),
    default: "per-ack",
    doc: "What makes cwnd grow: every acknowledgment alike, or the octets it acknowledges (at most \
          two segments' worth per acknowledgment)",
    source: "RFC 5681 §3.1; RFC 3465 for per-byte",
};

/// The endpoint itself: what is neither of the five choices.
pub static ENDPOINT: Mechanism = Mechanism {
    name: "tcp",
    family: "endpoint",
    summary: "The TCP endpoint: sizes, options and timers",
    source: "RFC 9293",
    knobs: &[
        Knob {
            name: "mss",
            kind: KnobKind::Bytes { min: Bytes(88), max: Bytes(65_495) },
            default: "1460 B",
            doc: "Maximum segment size announced and used; options come out of it",
            source: "RFC 9293 §3.7.1, RFC 6691",
        },
        Knob {
            name: "initial_window",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
            default: "10",
            doc: "Congestion window at the start of a connection",
            source: "RFC 6928 §2",
        },
        Knob {
            name: "max_window",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 1_000_000 },
            default: "",
            doc: "Upper bound on what the sender keeps in flight; none when absent",
            source: "the base window of Chae and Choi 2004 §3.1; window_ in ns-2",
        },
        Knob {
            name: "receive_buffer",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(1_073_725_440) },
            default: "4 MiB",
            doc: "What the receiver can hold; bounds the advertised window",
            source: "RFC 9293 §3.8.6",
        },
        Knob {
            name: "send_buffer",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(1_073_725_440) },
            default: "4 MiB",
            doc: "What the application may have written that is not yet acknowledged",
            source: "RFC 9293 §3.9.1.2",
        },
        Knob {
            name: "sack",
            kind: ON_OFF,
            default: "on",
            doc: "Selective acknowledgments, if the peer agrees",
            source: "RFC 2018",
        },
        Knob {
            name: "timestamps",
            kind: ON_OFF,
            default: "on",
            doc: "Timestamps option, if the peer agrees",
            source: "RFC 7323 §3",
        },
        Knob {
            name: "window_scaling",
            kind: ON_OFF,
            default: "on",
            doc: "Window scale option, if the peer agrees",
            source: "RFC 7323 §2",
        },
        Knob {
            name: "rto_initial",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(120) },
            default: "1 s",
            doc: "Retransmission timeout before the first round-trip sample",
            source: "RFC 6298 §2.1",
        },
        Knob {
            name: "rto_min",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(10) },
            default: "1 s",
            doc: "Smallest retransmission timeout",
            source: "RFC 6298 §2.4; Linux uses 200 ms",
        },
        Knob {
            name: "rto_max",
            kind: KnobKind::Span { min: Span::from_secs(1), max: Span::from_secs(3600) },
            default: "60 s",
            doc: "Largest retransmission timeout",
            source: "RFC 6298 §2.5",
        },
        Knob {
            name: "clock_granularity",
            kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(1) },
            default: "1 ms",
            doc: "G of the retransmission timeout, and the tick of the timestamps",
            source: "RFC 6298 §2.3, RFC 7323 §4.1",
        },
        Knob {
            name: "max_retransmissions",
            kind: KnobKind::Count { unit: "times", min: 1, max: 255 },
            default: "15",
            doc: "Timeouts in a row after which the connection is given up",
            source: "RFC 9293 §3.8.3 (R2)",
        },
        Knob {
            name: "time_wait",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(240) },
            default: "60 s",
            doc: "How long TIME-WAIT lasts (2 MSL)",
            source: "RFC 9293 §3.6.1 asks for 4 min; 60 s is what common stacks use",
        },
    ],
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

/// Recovery senders: how much may be sent while repairing.
pub static RECOVERY: &[Mechanism] = &[
    Mechanism {
        name: "tahoe",
        family: "recovery",
        summary: "Fast retransmit, then slow start from one segment",
        source: "Jacobson 1988; RFC 2001 without fast recovery",
        knobs: &[],
    },
    Mechanism {
        name: "reno",
        family: "recovery",
        summary: "Fast recovery that ends with the first new acknowledgment",
        source: "RFC 5681 §3.2",
        knobs: &[Knob {
            name: "once_per_window",
            kind: ON_OFF,
            default: "on",
            doc: "A second fast retransmit has to wait until what was outstanding at the first has \
                  been acknowledged; off: several losses in one window halve cwnd several times",
            source: "RFC 6582 §3.2 step 2; ns-2 has it after timeouts only",
        }],
    },
    Mechanism {
        name: "newreno",
        family: "recovery",
        summary: "Fast recovery that retransmits on partial acknowledgments",
        source: "RFC 6582",
        knobs: &[],
    },
    Mechanism {
        name: "sack",
        family: "recovery",
        summary: "Scoreboard recovery, paced by proportional rate reduction",
        source: "RFC 6675, RFC 9937",
        knobs: &[Knob {
            name: "prr",
            kind: ON_OFF,
            default: "on",
            doc: "Proportional rate reduction; off: pipe below cwnd as RFC 6675 §5 has it",
            source: "RFC 9937 §6",
        }],
    },
];

/// The mechanism of this name in a table.
pub fn find(table: &'static [Mechanism], name: &str) -> Option<&'static Mechanism> {
    table.iter().find(|mechanism| mechanism.name == name)
}

/// Every table of choices in the order in which they are listed to people.
pub fn families() -> [&'static [Mechanism]; 5] {
    [CONGESTION, LOSS, RECOVERY, ACK, NAGLE]
}
