//! What is sent during recovery.

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// Losses one at a time.
const fn lossy(values: [&'static str; 2]) -> Setup {
    Setup::of("lossy-wifi", "tcp.recovery", values)
}

/// Many losses at once, at the end of slow start.
const fn overshoot(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "tcp.recovery", values)
}

/// A path without any loss.
const fn clean(values: [&'static str; 2]) -> Setup {
    overshoot(values).with(&["tcp.max_window=40"])
}

const fn recovering(setup: Setup, caption: &'static str) -> Picture {
    Picture {
        setup,
        plot: Drawn::Sequence,
        from: Span::from_millis(300),
        to: Span::from_millis(1500),
        caption,
    }
}

const NOTHING: &str = "nothing is lost.";

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "tahoe",
        family: "recovery",
        idea:
            "A detected loss is treated like a timeout: slow start from one segment, retransmitting
everything from the hole on. It needs no state and no help from the peer, and it drains
the path at every loss.",
        picture: recovering(overshoot(["newreno", "tahoe"]), "the end of slow start"),
        cases: &[
            case(
                Helps,
                "several segments of a window are lost and the alternative is Reno, which waits \
                 for a timeout then.",
                lossy(["reno", "tahoe"]).with(&["links.wifi.loss.per_packet=3 %"]),
                Metric::GOODPUT,
                20,
            ),
            case(Nothing, NOTHING, clean(["newreno", "tahoe"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "single losses drain a path that was not congested.",
                lossy(["newreno", "tahoe"]),
                Metric::GOODPUT,
                10,
            ),
        ],
    },
    Entry {
        name: "reno",
        family: "recovery",
        idea:
            "After a fast retransmit each further duplicate acknowledgment lets a new segment out,
so that the path stays filled while cwnd is halved. The first new acknowledgment ends
recovery, whatever else is missing: of two losses in a window the second often waits for a
timeout.",
        picture: recovering(overshoot(["tahoe", "reno"]), "the end of slow start"),
        cases: &[
            case(
                Helps,
                "losses come one at a time, as a short queue drops them: the path stays filled.",
                overshoot(["tahoe", "reno"])
                    .with(&["tcp.congestion=reno", "links.path.queue.limit=8 packets"]),
                Metric::GOODPUT,
                1,
            ),
            case(Nothing, NOTHING, clean(["tahoe", "reno"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "several segments of a window are lost: it waits for timeouts that NewReno does \
                 without.",
                lossy(["newreno", "reno"]).with(&["links.wifi.loss.per_packet=3 %"]),
                Metric::TIMEOUTS,
                20,
            ),
        ],
    },
    Entry {
        name: "newreno",
        family: "recovery",
        idea:
            "A partial acknowledgment, one that covers some but not all of what was outstanding at
the loss, shows the next hole, which is retransmitted at once. A window with several losses
recovers without a timeout, one hole per round trip.",
        picture: recovering(overshoot(["reno", "newreno"]), "the end of slow start"),
        cases: &[
            case(
                Helps,
                "several segments of a window are lost.",
                lossy(["reno", "newreno"]).with(&["links.wifi.loss.per_packet=3 %"]),
                Metric::GOODPUT,
                20,
            ),
            case(Nothing, NOTHING, clean(["reno", "newreno"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "many segments are lost and the peer supports SACK: one hole per round trip \
                 is slow.",
                overshoot(["sack", "newreno"]),
                Metric::GOODPUT,
                1,
            ),
        ],
    },
    Entry {
        name: "sack",
        family: "recovery",
        idea: "The receiver says which blocks have arrived, so the sender knows every hole and how
much is in the network. All holes of a window are retransmitted in about a round trip, paced so
that what leaves follows what arrives (proportional rate reduction).",
        picture: recovering(overshoot(["newreno", "sack"]), "the end of slow start"),
        cases: &[
            case(
                Helps,
                "many segments are lost: all holes are retransmitted together.",
                overshoot(["newreno", "sack"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Nothing,
                "losses come one at a time: there is only one hole.",
                lossy(["newreno", "sack"]),
                Metric::GOODPUT,
                10,
            ),
        ],
    },
    Entry {
        name: "ns2-reno",
        family: "recovery",
        idea: "Reno's fast recovery as ns-2.35 has it: the acknowledgment that ends recovery lets
cwnd grow like any other. For papers that were simulated with ns-2; part of profile = \"ns2\".",
        picture: recovering(overshoot(["reno", "ns2-reno"]), "the end of slow start"),
        cases: &[
            case(Nothing, NOTHING, clean(["reno", "ns2-reno"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "several segments of a window are lost: it waits for timeouts as Reno does, and NewReno \
                 does not.",
                lossy(["newreno", "ns2-reno"]).with(&["links.wifi.loss.per_packet=3 %"]),
                Metric::TIMEOUTS,
                20,
            ),
        ],
    },
    Entry {
        name: "ns2-newreno",
        family: "recovery",
        idea: "NewReno as ns-2.35 has it: a partial acknowledgment takes what it acknowledges from
cwnd, for good. For papers that were simulated with ns-2; part of profile = \"ns2\".",
        picture: recovering(overshoot(["newreno", "ns2-newreno"]), "the end of slow start"),
        cases: &[
            case(
                Helps,
                "several segments of a small window are lost.",
                lossy(["newreno", "ns2-newreno"]).with(&["links.wifi.loss.per_packet=3 %"]),
                Metric::GOODPUT,
                20,
            ),
            case(Nothing, NOTHING, clean(["newreno", "ns2-newreno"]), Metric::GOODPUT, 1),
        ],
    },
    Entry {
        name: "ns2-sack1",
        family: "recovery",
        idea: "SACK as ns-2.35's Sack1 agent has it: every hole below a reported segment is
retransmitted, as far as its own count of what is in the network allows, without proportional
rate reduction. For papers that were simulated with ns-2; part of profile = \"ns2\".",
        picture: recovering(overshoot(["sack", "ns2-sack1"]), "the end of slow start"),
        cases: &[
            case(Nothing, NOTHING, clean(["sack", "ns2-sack1"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "losses are many and windows small: it meets more timeouts than RFC 6675.",
                lossy(["sack", "ns2-sack1"]).with(&["links.wifi.loss.per_packet=3 %"]),
                Metric::GOODPUT,
                20,
            ),
        ],
    },
];
