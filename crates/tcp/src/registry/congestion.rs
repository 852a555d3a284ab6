//! Congestion controls: listed with their knobs, and built.

use super::ON_OFF;
use super::build::{count, keyword, number, span, unregistered};
use crate::congestion::{
    Bbr, BbrKnobs, CongestionControl, CubicKnobs, CubicRules, FastConvergence, Growth, HyStart,
    Ns2, Reno, Tahoe, Vegas, VegasKnobs, Westwood, cubic_by_rules,
};
use ackord_units::{Choice, Knob, KnobKind, Mechanism, Span};

const GROWTHS: KnobKind = KnobKind::Choice(&["per-ack", "per-byte", "per-segment"]);

const GROWTH: Knob = Knob {
    name: "growth",
    kind: GROWTHS,
    default: "per-ack",
    doc: "What makes cwnd grow: every acknowledgment alike, the octets it acknowledges, or those \
          it shows to be delivered, without a limit, with what slow start leaves over counted \
          beyond ssthresh, which is whole segments",
    source: "RFC 5681 §3.1; RFC 3465 for per-byte; per-segment is Linux's",
};

/// The same where octets have always counted.
const GROWTH_PER_BYTE: Knob = Knob { default: "per-byte", ..GROWTH };

const ABC_LIMIT: Knob = Knob {
    name: "abc_limit",
    kind: KnobKind::Count { unit: "segments", min: 1, max: 1_000 },
    default: "2",
    doc: "L of growth per byte: what an acknowledgment may count for in slow start at most",
    source: "RFC 3465 §2.2 (1 or 2); hystart = plus-plus has its own, RFC 9406 §4.3",
};

const ABC_LIMIT_AFTER_TIMEOUT: Knob = Knob {
    name: "abc_limit_after_timeout",
    kind: KnobKind::Count { unit: "segments", min: 1, max: 1_000 },
    default: "",
    doc: "L of growth per byte in the slow start that follows a timeout; abc_limit when absent",
    source: "RFC 3465 §2.3 asks for 1",
};

const BETA_ECN: Knob = Knob {
    name: "beta_ecn",
    kind: KnobKind::Number { min: 0.1, max: 0.95 },
    default: "0.5",
    doc: "What is left of cwnd after a mark in congestion avoidance",
    source: "RFC 3168 §6.1.2; RFC 8511 §3 tries 0.8",
};

/// Congestion controls: how much may be outstanding.
pub static CONGESTION: &[Mechanism] = &[
    Mechanism {
        name: "reno",
        family: "congestion",
        summary: "Slow start and additive increase, halving on loss",
        source: "RFC 5681 §3.1",
        knobs: &[GROWTH, ABC_LIMIT, ABC_LIMIT_AFTER_TIMEOUT, BETA_ECN],
    },
    Mechanism {
        name: "tahoe",
        family: "congestion",
        summary: "Reno's growth; every detected loss restarts slow start, whatever the recovery",
        source: "Jacobson 1988",
        knobs: &[GROWTH, ABC_LIMIT, ABC_LIMIT_AFTER_TIMEOUT],
    },
    Mechanism {
        name: "westwood",
        family: "congestion",
        summary: "Reno's growth; a loss leaves what the path has carried in its smallest round trip",
        source: "Mascolo and Grieco 2004 (Westwood+)",
        knobs: &[
            GROWTH,
            ABC_LIMIT,
            ABC_LIMIT_AFTER_TIMEOUT,
            Knob {
                name: "filter",
                kind: KnobKind::Number { min: 0.0, max: 0.999 },
                default: "0.875",
                doc: "Weight of the old bandwidth estimate when a round trip brings a sample",
                source: "Mascolo and Grieco 2004 §2.2 (7/8)",
            },
        ],
    },
    Mechanism {
        name: "ns2",
        family: "congestion",
        summary: "Reno in whole segments, as ns-2's one-way agents count",
        source: "TcpAgent::opencwnd and slowdown of ns-2.35",
        knobs: &[],
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
            GROWTH,
            ABC_LIMIT,
            ABC_LIMIT_AFTER_TIMEOUT,
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
                default: "",
                doc: "What is left of cwnd after a mark in congestion avoidance; beta when absent",
                source: "RFC 9438 §4.6; RFC 8511 §3 tries 0.85",
                ..BETA_ECN
            },
            Knob {
                name: "fast_convergence",
                kind: ON_OFF,
                default: "on",
                doc: "Give way when the window of the last loss is falling",
                source: "RFC 9438 §4.7",
            },
            GROWTH_PER_BYTE,
            ABC_LIMIT,
            ABC_LIMIT_AFTER_TIMEOUT,
            Knob {
                name: "hystart",
                kind: KnobKind::Choice(&["off", "delay-and-train", "plus-plus"]),
                default: "off",
                doc: "How slow start may end before a loss: not, by HyStart (a train of \
                      acknowledgments, or a rise of the delay), or by HyStart++ and its \
                      conservative rounds",
                source: "Ha and Rhee 2008 with Linux's constants; RFC 9406",
            },
            Knob {
                name: "rules",
                kind: KnobKind::Choice(&["rfc", "linux"]),
                default: "rfc",
                doc: "Whose rules hold where Linux's differ: windows are whole segments, the pace \
                      of growth is looked up at most once in 32 ms while cwnd stands still, \
                      alpha_cubic never becomes one, a twentieth a round trip at least while no \
                      window of a loss is known, a timeout forgets that window, and the curve is \
                      looked up the least round trip ahead",
                source: "RFC 9438 §4.2, §4.3, §4.8; tcp_cubic of Linux",
            },
        ],
    },
    BBR,
];

const BBR: Mechanism = Mechanism {
    name: "bbr",
    family: "congestion",
    summary: "A model of the path, its bandwidth and round trip, sets pacing rate and window (version 3)",
    source: "draft-ietf-ccwg-bbr-06",
    knobs: &[
        Knob {
            name: "loss_thresh",
            kind: KnobKind::Number { min: 0.0, max: 0.5 },
            default: "0.02",
            doc: "Share of a round trip's data that a bandwidth probe may lose",
            source: "draft-ietf-ccwg-bbr-06 §2.8 (BBR.LossThresh)",
        },
        Knob {
            name: "beta",
            kind: KnobKind::Number { min: 0.1, max: 1.0 },
            default: "0.7",
            doc: "What is left of the short-term bounds after a round trip with loss, at least",
            source: "draft-ietf-ccwg-bbr-06 §2.8 (BBR.Beta)",
        },
        Knob {
            name: "headroom",
            kind: KnobKind::Number { min: 0.0, max: 0.9 },
            default: "0.15",
            doc: "Share of inflight_longterm that is left to others between probes",
            source: "draft-ietf-ccwg-bbr-06 §2.8 (BBR.Headroom)",
        },
        Knob {
            name: "startup_pacing_gain",
            kind: KnobKind::Number { min: 1.0, max: 10.0 },
            default: "2.77",
            doc: "Pacing gain of Startup",
            source: "draft-ietf-ccwg-bbr-06 §2.5 (BBR.StartupPacingGain)",
        },
        Knob {
            name: "min_rtt_filter",
            kind: KnobKind::Span { min: Span::from_millis(100), max: Span::from_secs(3600) },
            default: "10 s",
            doc: "How long a smallest round-trip time is believed",
            source: "draft-ietf-ccwg-bbr-06 §2.16.1 (BBR.MinRTTFilterLen)",
        },
        Knob {
            name: "probe_rtt_interval",
            kind: KnobKind::Span { min: Span::from_millis(100), max: Span::from_secs(3600) },
            default: "5 s",
            doc: "How long without a smaller round-trip time until one is looked for",
            source: "draft-ietf-ccwg-bbr-06 §2.16.2 (BBR.ProbeRTTInterval; other values do not \
                     coordinate with other senders)",
        },
        Knob {
            name: "probe_rtt_duration",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(10) },
            default: "200 ms",
            doc: "How long little is kept in flight to find it, at least",
            source: "draft-ietf-ccwg-bbr-06 §2.16.2 (BBR.ProbeRTTDuration)",
        },
        Knob {
            name: "probe_wait_min",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(600) },
            default: "2 s",
            doc: "Shortest wait between bandwidth probes",
            source: "draft-ietf-ccwg-bbr-06 §5.3.3.8.2 (T_bbr)",
        },
        Knob {
            name: "probe_wait_max",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(600) },
            default: "3 s",
            doc: "Longest wait between bandwidth probes; the wait is drawn between the two",
            source: "draft-ietf-ccwg-bbr-06 §5.3.3.8.2 (T_bbr)",
        },
    ],
};

/// The congestion control of a choice from [`CONGESTION`].
///
/// # Panics
/// If the choice is of another family; the scenario checker never lets that through. The same
/// holds for the other builders.
pub fn build_congestion(choice: &Choice) -> Box<dyn CongestionControl> {
    match choice.mechanism.name {
        "ns2" => Box::new(Ns2::new()),
        "reno" => Box::new(Reno::new(growth(choice)).with_beta_ecn(number(choice, "beta_ecn"))),
        "tahoe" => Box::new(Tahoe::new(growth(choice))),
        "westwood" => Box::new(Westwood::new(growth(choice), number(choice, "filter"))),
        "bbr" => Box::new(Bbr::new(BbrKnobs {
            loss_thresh: number(choice, "loss_thresh"),
            beta: number(choice, "beta"),
            headroom: number(choice, "headroom"),
            startup_pacing_gain: number(choice, "startup_pacing_gain"),
            min_rtt_filter: span(choice, "min_rtt_filter"),
            probe_rtt_interval: span(choice, "probe_rtt_interval"),
            probe_rtt_duration: span(choice, "probe_rtt_duration"),
            probe_wait: (span(choice, "probe_wait_min"), span(choice, "probe_wait_max")),
        })),
        "vegas" => Box::new(Vegas::new(VegasKnobs {
            alpha_segments: number(choice, "alpha"),
            beta_segments: number(choice, "beta"),
            gamma_segments: number(choice, "gamma"),
            loss_factor: number(choice, "loss_factor"),
            growth: growth(choice),
        })),
        "cubic" => cubic_by_rules(CubicKnobs {
            c: number(choice, "c"),
            beta: number(choice, "beta"),
            beta_ecn: choice.value("beta_ecn").and_then(|value| value.as_number()),
            fast_convergence: keyword(
                choice,
                "fast_convergence",
                &[("on", FastConvergence::On), ("off", FastConvergence::Off)],
            ),
            growth: growth(choice),
            hystart: keyword(
                choice,
                "hystart",
                &[
                    ("off", HyStart::Off),
                    ("delay-and-train", HyStart::DelayAndTrain),
                    ("plus-plus", HyStart::PlusPlus),
                ],
            ),
            rules: keyword(
                choice,
                "rules",
                &[("rfc", CubicRules::Rfc), ("linux", CubicRules::Linux)],
            ),
        }),
        other => unregistered("congestion control", other),
    }
}

fn growth(choice: &Choice) -> Growth {
    let limit_segments = count(choice, "abc_limit");
    let after_timeout = choice.value("abc_limit_after_timeout");
    let limit_after_timeout_segments =
        after_timeout.and_then(|value| value.as_count()).unwrap_or(limit_segments);
    let per_byte = Growth::PerByte { limit_segments, limit_after_timeout_segments };
    keyword(
        choice,
        "growth",
        &[("per-ack", Growth::PerAck), ("per-byte", per_byte), ("per-segment", Growth::PerSegment)],
    )
}
