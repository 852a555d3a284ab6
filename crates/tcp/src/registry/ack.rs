//! The receiver's acknowledgment policies: listed with their knobs, and built.

use super::build::{count, is_paper, keyword, number, span, unregistered, word};
use crate::ack::{
    AckPolicy, Adaptive, AdaptiveKnobs, AdaptivePaper, AdaptiveStatic, Ari, AriKnobs, AriMode,
    Counted, Delayed, Division, Immediate, LinuxAck, LinuxKnobs, QuickAck, SoRcvbuf, Tack,
    TackKnobs, Verdict,
};
use ackord_units::{Bytes, Choice, Knob, KnobKind, Mechanism, Ratio, Span};

/// RFC 5681 §4.2: no acknowledgment waits longer.
const RFC_CEILING: Span = Span::from_millis(500);

const TIMEOUT: Knob = Knob {
    name: "timeout",
    kind: KnobKind::Span { min: Span::from_micros(1), max: RFC_CEILING },
    default: "200 ms",
    doc: "How long an acknowledgment may wait",
    source: "RFC 5681 §4.2 (at most 500 ms)",
};

const EVERY: Knob = Knob {
    name: "every",
    kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
    default: "2",
    doc: "Full-sized segments that are acknowledged at once",
    source: "RFC 5681 §4.2",
};

const COUNTS: Knob = Knob {
    name: "counts",
    kind: KnobKind::Choice(&["full-sized", "any"]),
    default: "full-sized",
    doc: "What `every` counts: a full-sized segment's worth of octets, or any data segment",
    source: "RFC 5681 §4.2; any: ns-3's DelAckCount, Lee et al. 2015 §2.1",
};

const MODE: Knob = Knob {
    name: "mode",
    kind: KnobKind::Choice(&["practical", "paper"]),
    default: "practical",
    doc: "As published (paper), or bounded for use (practical)",
    source: "this project; docs/tcp.md tells where they differ",
};

pub(super) const VERDICT: Knob = Knob {
    name: "verdict",
    kind: KnobKind::Choice(&["short", "bulk"]),
    default: "short",
    doc: "What the application's history says: short transfers, or streams and copies in bulk",
    source: "Lee et al. 2016 §3.2",
};

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
        knobs: &[TIMEOUT, EVERY, COUNTS],
    },
    Mechanism {
        name: "quickack",
        family: "ack",
        summary: "The first few segments at once, then delayed",
        source: "Lee et al. 2015 §2.3, of Linux",
        knobs: &[
            Knob {
                name: "count",
                kind: KnobKind::Count { unit: "segments", min: 0, max: 1_000_000 },
                default: "2",
                doc: "Data segments acknowledged at once at the start of the connection",
                source: "Lee et al. 2015 §2.3; Linux itself has 16 (see `linux`)",
            },
            TIMEOUT,
            EVERY,
            COUNTS,
        ],
    },
    LINUX,
    ADAPTIVE,
    Mechanism {
        name: "adaptive-static",
        family: "ack",
        summary: "Delayed with a small fixed timeout, given or measured once",
        source: "Lee et al. 2015 §4.3, §5.1",
        knobs: &[
            Knob {
                name: "timeout",
                kind: KnobKind::Span { min: Span::from_micros(1), max: RFC_CEILING },
                default: "0.8 ms",
                doc: "How long an acknowledgment may wait; unused where gaps are measured",
                source: "Lee et al. 2015 §4.3: 0.9 and 0.8 ms; phones 0.4 ms, congested 0.6 ms",
            },
            Knob {
                name: "measure",
                kind: KnobKind::Count { unit: "gaps", min: 1, max: 1_000_000 },
                default: "",
                doc: "Take the mean of so many first gaps as the timeout; 200 ms until then",
                source: "Lee et al. 2015 §4.3 took ten, by hand",
            },
            EVERY,
            COUNTS,
        ],
    },
    ARI,
    Mechanism {
        name: "tack",
        family: "ack",
        summary: "As few as the path allows: by bytes, or a few times a round trip",
        source: "Li et al. 2020 (TACK), Eq. 3; its sender is not here",
        knobs: &[
            Knob {
                name: "every",
                kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
                default: "2",
                doc: "L: full-sized segments for one acknowledgment, where the rate decides",
                source: "Li et al. 2020 §4",
            },
            Knob {
                name: "per_rtt",
                kind: KnobKind::Count { unit: "acknowledgments", min: 1, max: 1_000 },
                default: "4",
                doc: "beta: acknowledgments in a round trip, where the round-trip time decides",
                source: "Li et al. 2020 §4",
            },
        ],
    },
];

const LINUX: Mechanism = Mechanism {
    name: "linux",
    family: "ack",
    summary: "A stock Linux kernel: quick at the start, adaptive timeout, ping-pong mode",
    source: "Linux 5.10 to 6.18, measured on 6.18 (docs/linux-receiver.md)",
    knobs: &[
        Knob {
            name: "tick",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_millis(10) },
            default: "4 ms",
            doc: "Length of the kernel's tick, 1/HZ; timers strike on ticks",
            source: "CONFIG_HZ=250; others have 100, 300 or 1000",
        },
        Knob {
            name: "quick_ack_limit",
            kind: KnobKind::Count { unit: "segments", min: 0, max: 1_000_000 },
            default: "16",
            doc: "Largest budget of acknowledgments at once, at the start and after pauses",
            source: "TCP_MAX_QUICKACKS",
        },
        Knob {
            name: "pingpong_threshold",
            kind: KnobKind::Count { unit: "answers", min: 1, max: 255 },
            default: "1",
            doc: "Prompt answers after which a connection counts as interactive",
            source: "net.ipv4.tcp_pingpong_thresh (3 in kernels before 6.1)",
        },
        Knob {
            name: "sack_compression_delay",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_millis(100) },
            default: "1 ms",
            doc: "How long duplicate acknowledgments beyond the third are held together",
            source: "net.ipv4.tcp_comp_sack_delay_ns",
        },
        Knob {
            name: "sack_compression_share",
            kind: KnobKind::Ratio,
            default: "5 %",
            doc: "The same as a share of the round-trip time; the shorter counts",
            source: "Linux since 4.18",
        },
        Knob {
            name: "sack_compression_limit",
            kind: KnobKind::Count { unit: "acknowledgments", min: 0, max: 255 },
            default: "44",
            doc: "Duplicate acknowledgments held together at most; 0 turns it off",
            source: "net.ipv4.tcp_comp_sack_nr",
        },
        Knob {
            name: "so_rcvbuf",
            kind: KnobKind::Choice(&["unset", "set"]),
            default: "unset",
            doc: "Whether the application has set the size of the receive buffer: then the window \
                  begins with all of it and grows by a quarter, acknowledging each segment at once",
            source: "SO_RCVBUF, tcp_grow_window; measured, see docs/linux-receiver.md",
        },
    ],
};

const ADAPTIVE: Mechanism = Mechanism {
    name: "adaptive",
    family: "ack",
    summary: "Delayed with a timeout that follows the gaps between segments",
    source: "Lee et al. 2015 Alg. 1, Eq. 1",
    knobs: &[
        MODE,
        Knob {
            name: "a",
            kind: KnobKind::Number { min: 0.0, max: 1.0 },
            default: "0.1",
            doc: "Weight of the newest gap",
            source: "Lee et al. 2015 §3.2",
        },
        Knob {
            name: "initial_ato",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
            default: "200 ms",
            doc: "Timeout to start from in paper mode; practical mode waits for nothing until a \
                  gap is known",
            source: "Lee et al. 2015 §1: the fixed timeout of Windows",
        },
        Knob {
            name: "ato_min",
            kind: KnobKind::Span { min: Span::ZERO, max: RFC_CEILING },
            default: "1 ms",
            doc: "Shortest wait; practical mode",
            source: "this project: a timer tick of common kernels",
        },
        Knob {
            name: "ato_max",
            kind: KnobKind::Span { min: Span::ZERO, max: RFC_CEILING },
            default: "40 ms",
            doc: "Longest wait, and no wait at all where the next segment is expected later; \
                  practical mode",
            source: "this project: no longer than a stock Linux kernel; RFC 5681 §4.2 allows 500 ms",
        },
        Knob {
            name: "idle",
            kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(60) },
            default: "",
            doc: "Longer gaps are pauses and do not enter the average; the retransmission timeout \
                  when absent; practical mode",
            source: "this project",
        },
        EVERY,
        Knob {
            doc: "What `every` counts: a full-sized segment's worth of octets, or any data \
                  segment; paper mode",
            ..COUNTS
        },
    ],
};

const ARI: Mechanism = Mechanism {
    name: "ari",
    family: "ack",
    summary: "As many at once as the application's usual transfer needs, then delayed",
    source: "Lee et al. 2016 Alg. 1; its other half is `nagle = \"ari\"` at the sender",
    knobs: &[
        MODE,
        Knob {
            name: "most_sent",
            kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000) },
            default: "2 kB",
            doc: "Most frequent size of the application's transfers",
            source: "Lee et al. 2016 §4.1",
        },
        Knob {
            name: "segment",
            kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(65_535) },
            default: "",
            doc: "Segment size that the count is worked out with; the largest seen when absent",
            source: "Lee et al. 2016 §4.1: 536 B",
        },
        Knob {
            name: "division",
            kind: KnobKind::Choice(&["up", "down"]),
            default: "up",
            doc: "Whether a part of a segment counts as one in `most_sent / segment`, or is dropped",
            source: "Lee et al. 2016 Alg. 1 does not say: its figure of 8 for 2 KB in segments of 536 B is \
                     rounded up, integers in C give 6",
        },
        VERDICT,
        Knob {
            name: "quick_ack_limit",
            kind: KnobKind::Count { unit: "segments", min: 0, max: 1_000_000 },
            default: "512",
            doc: "Segments acknowledged at once in a row at most; practical mode",
            source: "this project: covers 0.5 MB, the paper's largest short transfer",
        },
        Knob {
            name: "then",
            kind: KnobKind::Choice(&["delayed", "adaptive", "linux"]),
            default: "delayed",
            doc: "What acknowledges the later segments: with `timeout` and `every`, or another \
                  policy with its defaults",
            source: "Lee et al. 2016 Alg. 1; the others: this project, for both remedies at once",
        },
        TIMEOUT,
        EVERY,
    ],
};

/// The acknowledgment policy of a choice from [`ACK`].
pub fn build_ack(choice: &Choice) -> Box<dyn AckPolicy> {
    let delayed = || Delayed::new(count(choice, "every"), span(choice, "timeout"));
    match choice.mechanism.name {
        "immediate" => Box::new(Immediate),
        "delayed" => Box::new(delayed().counting(counted(choice))),
        "quickack" => {
            Box::new(QuickAck::new(count(choice, "count"), delayed().counting(counted(choice))))
        }
        "linux" => Box::new(LinuxAck::new(linux_knobs(choice))),
        "adaptive" => build_adaptive(choice),
        "adaptive-static" => {
            let every = count(choice, "every");
            let measure = choice.value("measure").and_then(|value| value.as_count());
            let policy = match measure {
                Some(gaps) => AdaptiveStatic::measured(every, gaps),
                None => AdaptiveStatic::given(every, span(choice, "timeout")),
            };
            Box::new(policy.counting(counted(choice)))
        }
        "tack" => Box::new(Tack::new(TackKnobs {
            every_segments: count(choice, "every"),
            per_rtt: count(choice, "per_rtt"),
        })),
        "ari" => Box::new(Ari::new(ari_knobs(choice), after_ari(choice))),
        other => unregistered("acknowledgment policy", other),
    }
}

/// What acknowledges the segments beyond ARI's count.
fn after_ari(choice: &Choice) -> Box<dyn AckPolicy> {
    match word(choice, "then").as_str() {
        "delayed" => Box::new(Delayed::new(count(choice, "every"), span(choice, "timeout"))),
        name => {
            let found = super::find(ACK, name);
            build_ack(&Choice::of(found.expect("the words of the knob are registered")))
        }
    }
}

fn build_adaptive(choice: &Choice) -> Box<dyn AckPolicy> {
    let (a, every_segments) = (number(choice, "a"), count(choice, "every"));
    if is_paper(choice) {
        let policy = AdaptivePaper::new(a, span(choice, "initial_ato"), every_segments);
        return Box::new(policy.counting(counted(choice)));
    }
    let ato_max = span(choice, "ato_max");
    Box::new(Adaptive::new(AdaptiveKnobs {
        a,
        ato_min: span(choice, "ato_min").min(ato_max),
        ato_max,
        idle: choice.value("idle").and_then(|value| value.as_span()),
        every_segments,
    }))
}

fn counted(choice: &Choice) -> Counted {
    keyword(choice, "counts", &[("full-sized", Counted::FullSized), ("any", Counted::Any)])
}

fn linux_knobs(choice: &Choice) -> LinuxKnobs {
    let share = choice.value("sack_compression_share").and_then(|value| value.as_ratio());
    LinuxKnobs {
        tick: span(choice, "tick"),
        quick_ack_limit: count(choice, "quick_ack_limit"),
        pingpong_threshold: count(choice, "pingpong_threshold"),
        sack_compression_delay: span(choice, "sack_compression_delay"),
        sack_compression_share: share.unwrap_or(Ratio::ZERO),
        sack_compression_limit: count(choice, "sack_compression_limit"),
        so_rcvbuf: keyword(
            choice,
            "so_rcvbuf",
            &[("unset", SoRcvbuf::Unset), ("set", SoRcvbuf::Set)],
        ),
    }
}

fn ari_knobs(choice: &Choice) -> AriKnobs {
    AriKnobs {
        mode: if is_paper(choice) { AriMode::Paper } else { AriMode::Practical },
        most_sent: super::bytes(choice, "most_sent"),
        segment: choice.value("segment").and_then(|value| value.as_bytes()),
        division: keyword(choice, "division", &[("up", Division::Up), ("down", Division::Down)]),
        verdict: verdict(choice),
        quick_ack_limit_segments: count(choice, "quick_ack_limit"),
    }
}

/// The verdict on the application that a choice with such a knob holds.
pub(super) fn verdict(choice: &Choice) -> Verdict {
    keyword(choice, "verdict", &[("short", Verdict::Short), ("bulk", Verdict::Bulk)])
}
