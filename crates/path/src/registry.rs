//! Every queue and loss model a link offers, listed once with its knobs.

use ackord_units::{Bytes, Knob, KnobKind, Mechanism, Span};

const LIMIT: Knob = Knob {
    name: "limit",
    kind: KnobKind::PacketsOrBytes,
    default: "50 packets",
    doc: "Capacity, without the packet being transmitted",
    source: "ns-2's default queue",
};

/// Queues of a link.
pub static QUEUE: &[Mechanism] = &[
    Mechanism {
        name: "drop-tail",
        family: "queue",
        summary: "First in, first out; what does not fit is dropped",
        source: "RFC 7567 §2",
        knobs: &[LIMIT],
    },
    Mechanism {
        name: "selective-drop",
        family: "queue",
        summary: "First in, first out; a connection over its share of queued packets is dropped",
        source: "Chae and Choi 2004 Eq. 5-9",
        knobs: &[
            LIMIT,
            Knob {
                name: "mode",
                kind: KnobKind::Choice(&["practical", "paper"]),
                default: "practical",
                doc: "As the paper describes it, or with what it leaves open worked out",
                source: "Chae and Choi 2004 §4.1",
            },
            Knob {
                name: "threshold",
                kind: KnobKind::Count { unit: "packets", min: 1, max: 1_000_000 },
                default: "",
                doc: "Q_thresh per connection; worked out by Eq. 9 when absent",
                source: "Chae and Choi 2004 Table 2",
            },
            Knob {
                name: "factor",
                kind: KnobKind::Number { min: 0.01, max: 100.0 },
                default: "1",
                doc: "Q_thresh as a multiple of W_best (Eq. 9 leaves the factor open)",
                source: "Chae and Choi 2004 Eq. 9",
            },
            Knob {
                name: "tau",
                kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
                default: "",
                doc: "Propagation delay in Eq. 8; the link's own when absent (paper mode), learnt \
                      from the traffic's round trips (practical mode)",
                source: "Chae and Choi 2004 Eq. 6",
            },
            Knob {
                name: "t_ack",
                kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1) },
                default: "0 s",
                doc: "Time the receiver takes to produce an acknowledgment, in Eq. 8 (paper mode)",
                source: "Chae and Choi 2004 Eq. 6",
            },
            Knob {
                name: "packet_length",
                kind: KnobKind::Bytes { min: Bytes(40), max: Bytes(65_535) },
                default: "",
                doc: "L_D in Eq. 8; the running mean of arriving packets when absent",
                source: "Chae and Choi 2004 Eq. 5",
            },
            Knob {
                name: "active_for",
                kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
                default: "500 ms",
                doc: "A connection counts in N_C this long after its last packet (practical mode; \
                      in paper mode connections with a packet queued count)",
                source: "this project",
            },
            Knob {
                name: "weights",
                kind: KnobKind::PerFlow { min: 0.01, max: 100.0 },
                default: "",
                doc: "A connection's share as a multiple of the others', by flow name",
                source: "Chae and Choi 2004 §4.1",
            },
        ],
    },
];

/// Loss models of a link, applied after the queue, to packets on the wire.
pub static LOSS: &[Mechanism] = &[Mechanism {
    name: "random",
    family: "loss-model",
    summary: "Each packet is lost with the same probability, independently",
    source: "Bernoulli loss",
    knobs: &[Knob {
        name: "per_packet",
        kind: KnobKind::Ratio,
        default: "0 %",
        doc: "Probability that a packet is lost",
        source: "set by the scenario",
    }],
}];
