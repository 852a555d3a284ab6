//! How much may be outstanding.

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// A bottleneck with a queue of one round trip.
const fn bulk(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "tcp.congestion", values)
}

/// One random loss in a hundred packets.
const fn lossy(values: [&'static str; 2]) -> Setup {
    Setup::of("lossy-wifi", "tcp.congestion", values)
}

/// A long fat path with a short queue.
const fn long_fat(values: [&'static str; 2]) -> Setup {
    bulk(values).with(&[
        "links.path.rate=200 Mbit/s",
        "links.path.delay=50 ms",
        "links.path.queue.limit=500 packets",
        "duration=60 s",
    ])
}

/// A path that the receiver's window fills without any queue.
const fn unhurried(values: [&'static str; 2]) -> Setup {
    bulk(values).with(&["tcp.max_window=20"])
}

const fn window(setup: Setup, to: u64, caption: &'static str) -> Picture {
    Picture { setup, plot: Drawn::Window, from: Span::ZERO, to: Span::from_secs(to), caption }
}

const NOT_LOST: &str = "the receiver's window keeps the queue from overflowing: nothing is lost.";

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "reno",
        family: "congestion",
        idea:
            "Slow start doubles cwnd every round trip up to ssthresh; then it grows by one segment a
round trip, and a loss halves it. Loss is its only signal: it fills any queue until
something is dropped, and takes every random loss for congestion.",
        picture: window(bulk(["cubic", "reno"]), 20, "congestion windows"),
        cases: &[
            case(
                Helps,
                "a queue of one round trip's worth should stay shorter than CUBIC keeps it.",
                bulk(["cubic", "reno"]),
                Metric::QUEUE_DELAY,
                1,
            ),
            case(
                Nothing,
                "the queue holds a round trip's worth: halving still leaves the link busy.",
                bulk(["cubic", "reno"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "the path is long and fat: a segment a round trip takes minutes to fill it again.",
                long_fat(["cubic", "reno"]),
                Metric::GOODPUT,
                1,
            ),
        ],
    },
    Entry {
        name: "vegas",
        family: "congestion",
        idea: "The sender compares the throughput it would have without any queue with what it has;
the difference is its own packets in the queue, which it holds between alpha and beta. It
neither fills the queue nor needs losses to find its window. It yields to senders that do fill
the queue.",
        picture: window(bulk(["reno", "vegas"]), 20, "congestion windows"),
        cases: &[
            case(
                Helps,
                "delay matters: the queue stays nearly empty.",
                bulk(["reno", "vegas"]),
                Metric::QUEUE_DELAY,
                1,
            ),
            case(
                Nothing,
                "the receiver's window keeps the queue empty anyway.",
                unhurried(["reno", "vegas"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "a Reno flow shares the queue: what Vegas leaves, Reno takes.",
                Setup::of("reno-against-vegas", "flows.vegas.tcp.congestion", ["reno", "vegas"]),
                Metric::FAIRNESS,
                10,
            ),
        ],
    },
    Entry {
        name: "cubic",
        family: "congestion",
        idea:
            "After a loss the window grows by a cubic function of time: fast towards the window of
the last loss, slowly around it, then faster again. How fast does not depend on the round
trip, so long fat paths are filled in seconds; a loss takes only 30 %.",
        picture: window(bulk(["reno", "cubic"]), 20, "congestion windows"),
        cases: &[
            case(
                Helps,
                "the path is long and fat.",
                long_fat(["reno", "cubic"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Helps,
                "losses are random: it takes less at each, and comes back sooner.",
                lossy(["reno", "cubic"]),
                Metric::GOODPUT,
                10,
            ),
            case(
                Nothing,
                "the queue holds a round trip's worth: both keep the link busy.",
                bulk(["reno", "cubic"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "others share the queue: it stays fuller.",
                bulk(["reno", "cubic"]),
                Metric::QUEUE_DELAY,
                1,
            ),
        ],
    },
    Entry {
        name: "tahoe",
        family: "congestion",
        idea: "Reno's growth, but every loss, however detected, resets the window: slow start from
one segment up to half of what was in flight. It is safe, and slow on any path with occasional
loss.",
        picture: window(bulk(["reno", "tahoe"]), 20, "congestion windows"),
        cases: &[
            case(Nothing, NOT_LOST, unhurried(["reno", "tahoe"]), Metric::GOODPUT, 1),
            case(Hurts, "losses are random.", lossy(["reno", "tahoe"]), Metric::GOODPUT, 10),
        ],
    },
    Entry {
        name: "westwood",
        family: "congestion",
        idea: "The sender measures the rate at which its data is acknowledged. After a loss
cwnd becomes that rate times the smallest round trip, instead of half of what it was: a
random loss on an uncongested path costs next to nothing.",
        picture: window(
            lossy(["reno", "westwood"]),
            10,
            "congestion windows under 1 % random loss",
        ),
        cases: &[
            case(
                Helps,
                "losses are random: the measured rate shows that nothing was congested.",
                lossy(["reno", "westwood"]),
                Metric::GOODPUT,
                10,
            ),
            case(Nothing, NOT_LOST, unhurried(["reno", "westwood"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "the path is long and fat and slow start overshoots: the measured rate is low then, \
                 and Reno's slow growth starts from there.",
                long_fat(["reno", "westwood"]),
                Metric::GOODPUT,
                1,
            ),
        ],
    },
    Entry {
        name: "bbr",
        family: "congestion",
        idea: "The sender keeps a model of the path: the largest delivery rate and the smallest
round trip seen lately. It paces at that rate, tries a little more now and then, drains what
that has queued, and reacts to losses only when they are many. Losses below 2 % do not slow it.",
        picture: window(bulk(["cubic", "bbr"]), 20, "congestion windows"),
        cases: &[
            case(Helps, "losses are random.", lossy(["cubic", "bbr"]), Metric::GOODPUT, 10),
            case(
                Helps,
                "delay matters: the queue is drained again and again.",
                bulk(["cubic", "bbr"]),
                Metric::QUEUE_DELAY,
                1,
            ),
            case(
                Hurts,
                "the flow is alone at a queue that CUBIC fills: draining it costs a few percent.",
                bulk(["cubic", "bbr"]),
                Metric::GOODPUT,
                1,
            ),
        ],
    },
    Entry {
        name: "ns2",
        family: "congestion",
        idea: "Reno counted in whole segments, as ns-2.35's one-way agents do: cwnd grows by a
fraction of a segment, and only whole ones leave. For papers that were simulated with ns-2; part
of profile = \"ns2\".",
        picture: window(bulk(["reno", "ns2"]), 20, "congestion windows"),
        cases: &[
            case(
                Nothing,
                "windows are large: a fraction of a segment is little.",
                bulk(["reno", "ns2"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "the path is long and fat: as Reno, it takes minutes to fill it again.",
                long_fat(["cubic", "ns2"]),
                Metric::GOODPUT,
                1,
            ),
        ],
    },
];
