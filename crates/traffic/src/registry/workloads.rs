//! What each workload is and which knobs it has.

use ackord_units::{Bytes, Knob, KnobKind, Mechanism, Rate, Span};

const SET_BY_SCENARIO: &str = "set by the scenario";

const SIZES: KnobKind = KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000) };
const PAUSES: KnobKind = KnobKind::Span { min: Span::ZERO, max: Span::from_secs(3600) };
const PAUSE_LAWS: KnobKind = KnobKind::Choice(&["fixed", "uniform", "exponential"]);
const SIZE_LAWS: KnobKind = KnobKind::Choice(&["fixed", "uniform", "exponential", "pareto"]);

const GAP: Knob = Knob {
    name: "gap",
    kind: PAUSES,
    default: "100 ms",
    doc: "Mean pause before the next one",
    source: SET_BY_SCENARIO,
};

const GAP_DISTRIBUTION: Knob = Knob {
    name: "gap_distribution",
    kind: PAUSE_LAWS,
    default: "fixed",
    doc: "How pauses are spread about their mean: not at all, uniformly from nothing to twice the \
          mean, or exponentially",
    source: SET_BY_SCENARIO,
};

const BURST_LAWS: KnobKind = SIZE_LAWS;

const RATE: Knob = Knob {
    name: "rate",
    kind: KnobKind::Rate {
        min: Rate::from_bits_per_sec(8),
        max: Rate::from_bits_per_sec(1_000_000_000_000),
    },
    default: "1 Mbit/s",
    doc: "Rate at which data is written during a burst",
    source: SET_BY_SCENARIO,
};

const ON: Knob = Knob {
    name: "on",
    kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(1_000_000) },
    default: "1 s",
    doc: "Mean length of a burst",
    source: SET_BY_SCENARIO,
};

const ON_DISTRIBUTION: Knob = Knob {
    name: "on_distribution",
    kind: BURST_LAWS,
    default: "fixed",
    doc: BURST_DISTRIBUTION,
    source: SET_BY_SCENARIO,
};

const OFF: Knob = Knob {
    name: "off",
    kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1_000_000) },
    default: "0 s",
    doc: "Mean length of the silence after a burst",
    source: SET_BY_SCENARIO,
};

const OFF_DISTRIBUTION: Knob = Knob {
    name: "off_distribution",
    kind: BURST_LAWS,
    default: "fixed",
    doc: BURST_DISTRIBUTION,
    source: SET_BY_SCENARIO,
};

const BURST_DISTRIBUTION: &str = "How these times are spread about their mean: not at all, uniformly from nothing to twice the \
     mean, exponentially, or heavy-tailed (Pareto, index 1.5, cut off at a thousand times the mean)";

const SIZE_DISTRIBUTION: &str = "How lengths are spread about their mean: not at all, uniformly from nothing to twice the \
     mean, exponentially, or heavy-tailed (Pareto, index 1.5, cut off at a thousand times the mean)";

const THINK: Knob = Knob {
    name: "think",
    kind: PAUSES,
    default: "0 s",
    doc: "Mean time from the arrival of the whole question to the answer",
    source: SET_BY_SCENARIO,
};

const THINK_DISTRIBUTION: Knob = Knob {
    name: "think_distribution",
    kind: PAUSE_LAWS,
    default: "fixed",
    doc: "How these times are spread about their mean, as for gap_distribution",
    source: SET_BY_SCENARIO,
};

const COUNT: Knob = Knob {
    name: "count",
    kind: KnobKind::Count { unit: "times", min: 1, max: 1_000_000 },
    default: "",
    doc: "How many there are before the connection is closed; no end when absent",
    source: SET_BY_SCENARIO,
};

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
            source: SET_BY_SCENARIO,
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
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "interval",
                kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(3600) },
                default: "10 ms",
                doc: "Time from one message to the next",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "messages",
                kind: KnobKind::Count { unit: "messages", min: 1, max: 1_000_000_000 },
                default: "",
                doc: "How many to send before closing; no end when absent",
                source: SET_BY_SCENARIO,
            },
        ],
    },
    Mechanism {
        name: "transfers",
        family: "traffic",
        summary: "Writes one transfer after the other, each a pause after the peer has \
                  acknowledged all of the one before",
        source: "Lee et al. 2016 §4.1, four sizes",
        knobs: &[
            Knob {
                name: "size",
                kind: SIZES,
                default: "100 kB",
                doc: "Mean length of a transfer",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "size_distribution",
                kind: SIZE_LAWS,
                default: "fixed",
                doc: SIZE_DISTRIBUTION,
                source: "Crovella and Bestavros 1997 for heavy tails of Web transfers",
            },
            Knob {
                name: "sizes",
                kind: KnobKind::BytesList { min: Bytes(1), max: Bytes(1_000_000_000) },
                default: "",
                doc: "Lengths in turn, from the front again after the last, in place of `size`",
                source: SET_BY_SCENARIO,
            },
            COUNT,
            GAP,
            GAP_DISTRIBUTION,
        ],
    },
    Mechanism {
        name: "request",
        family: "traffic",
        summary: "The receiving end asks in one write, the sending end answers; a pause, and again \
                  on the same connection",
        source: "request and response as in HTTP/1.1 with a persistent connection, RFC 9112 §9.3",
        knobs: &[
            Knob {
                name: "request",
                kind: SIZES,
                default: "200 B",
                doc: "Length of a request",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "response",
                kind: SIZES,
                default: "2 kB",
                doc: "Mean length of a response",
                source: "Lee et al. 2016 §4.1: simple answers stay within 2 KB",
            },
            Knob {
                name: "response_distribution",
                kind: SIZE_LAWS,
                default: "fixed",
                doc: SIZE_DISTRIBUTION,
                source: SET_BY_SCENARIO,
            },
            THINK,
            THINK_DISTRIBUTION,
            COUNT,
            GAP,
            GAP_DISTRIBUTION,
        ],
    },
    Mechanism {
        name: "write-write-read",
        family: "traffic",
        summary: "The sending end writes a head and a body and reads the reply, which comes when \
                  both have arrived: where Nagle and a delayed ACK wait for each other",
        source: "RFC 1122 §4.2.3.4; Cheshire 2005, cited by Lee et al. 2016 §2.3",
        knobs: &[
            Knob {
                name: "head",
                kind: SIZES,
                default: "50 B",
                doc: "Length of the first write",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "body",
                kind: SIZES,
                default: "50 B",
                doc: "Length of the second write",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "reply",
                kind: SIZES,
                default: "100 B",
                doc: "Length of the reply",
                source: SET_BY_SCENARIO,
            },
            THINK,
            THINK_DISTRIBUTION,
            COUNT,
            GAP,
            GAP_DISTRIBUTION,
        ],
    },
    Mechanism {
        name: "telnet",
        family: "traffic",
        summary: "The sending end types, the other echoes every keystroke; keys are pressed \
                  whether the echoes have come or not",
        source: "Danzig and Jamin 1991 (tcplib); Paxson and Floyd 1995 §4",
        knobs: &[
            Knob {
                name: "keystroke",
                kind: SIZES,
                default: "1 B",
                doc: "What is written for a key",
                source: "RFC 896: one octet of payload for a key",
            },
            Knob {
                name: "echo",
                kind: SIZES,
                default: "1 B",
                doc: "What the other end writes for each",
                source: SET_BY_SCENARIO,
            },
            COUNT,
            Knob {
                name: "gap",
                kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(3600) },
                default: "1 s",
                doc: "Mean time from one key to the next",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "gap_distribution",
                kind: KnobKind::Choice(&["fixed", "exponential", "telnet"]),
                default: "telnet",
                doc: "How these times are spread about their mean: not at all, exponentially, or \
                      as the packets of TELNET connections were found to be (Pareto, index 0.9, \
                      cut off at 10 000 times the least)",
                source: "Paxson and Floyd 1995 §4",
            },
        ],
    },
    Mechanism {
        name: "web",
        family: "traffic",
        summary: "The receiving end asks for the objects of a page one after the other, the sending \
                  end answers; the user reads, and the next page follows on the same connection",
        source: "Barford and Crovella 1998 (SURGE), in outline; RFC 9112 §9.3",
        knobs: &[
            Knob {
                name: "request",
                kind: SIZES,
                default: "350 B",
                doc: "Length of a request",
                source: "3GPP2 C.R1002-0, the request of its HTTP model",
            },
            Knob {
                name: "objects",
                kind: KnobKind::Count { unit: "objects", min: 1, max: 10_000 },
                default: "6 objects",
                doc: "Mean number of objects of a page; drawn, rounded, at least one",
                source: "Choi and Limb 1999: a main object and 5.55 more",
            },
            Knob {
                name: "objects_distribution",
                kind: SIZE_LAWS,
                default: "exponential",
                doc: "How these numbers are spread about their mean, as for object_distribution",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "object",
                kind: SIZES,
                default: "10 kB",
                doc: "Mean length of an object",
                source: "Choi and Limb 1999: 10.7 kB for the main object, 7.8 kB for the others",
            },
            Knob {
                name: "object_distribution",
                kind: SIZE_LAWS,
                default: "pareto",
                doc: SIZE_DISTRIBUTION,
                source: "Crovella and Bestavros 1997 for heavy tails of Web transfers",
            },
            Knob {
                name: "reading",
                kind: PAUSES,
                default: "5 s",
                doc: "Mean time from the end of a page to the request for the next",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "reading_distribution",
                kind: BURST_LAWS,
                default: "exponential",
                doc: "How these times are spread about their mean, as for object_distribution",
                source: SET_BY_SCENARIO,
            },
            THINK,
            THINK_DISTRIBUTION,
            Knob {
                name: "count",
                kind: KnobKind::Count { unit: "pages", min: 1, max: 1_000_000 },
                default: "",
                doc: "How many pages before the connection is closed; no end when absent",
                source: SET_BY_SCENARIO,
            },
        ],
    },
    Mechanism {
        name: "on-off",
        family: "traffic",
        summary: "Writes messages at a rate during bursts, with silence in between",
        source: "the exponential and Pareto on/off sources of ns-2; Willinger et al. 1997 for the \
                 Pareto form",
        knobs: &[
            RATE,
            Knob {
                name: "message",
                kind: SIZES,
                default: "1000 B",
                doc: "Length of a message, the last of a burst excepted",
                source: SET_BY_SCENARIO,
            },
            ON,
            ON_DISTRIBUTION,
            Knob { default: "1 s", ..OFF },
            OFF_DISTRIBUTION,
            Knob {
                name: "count",
                kind: KnobKind::Count { unit: "bursts", min: 1, max: 1_000_000 },
                default: "",
                doc: "How many bursts before the connection is closed; no end when absent",
                source: SET_BY_SCENARIO,
            },
        ],
    },
    Mechanism {
        name: "cbr",
        family: "traffic",
        summary: "Datagrams (UDP) at a constant rate, whatever becomes of them: unresponsive traffic",
        source: "the CBR source of ns-2; RFC 7928 §5.3",
        knobs: &[
            Knob { doc: "Rate of whole IP packets while it sends", ..RATE },
            Knob {
                name: "packet",
                kind: KnobKind::Bytes { min: Bytes(29), max: Bytes(65_535) },
                default: "1000 B",
                doc: "Length of an IP packet, its 28 octets of IPv4 and UDP header included",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "timing",
                kind: KnobKind::Choice(&["fixed", "exponential"]),
                default: "fixed",
                doc: "Whether packets leave at regular intervals or as a Poisson process",
                source: SET_BY_SCENARIO,
            },
            ON,
            ON_DISTRIBUTION,
            Knob { doc: "Mean length of the silence after a burst; none: it always sends", ..OFF },
            OFF_DISTRIBUTION,
        ],
    },
];
