//! When a segment counts as lost.
//!
//! The mechanisms against reordering are compared on the same three paths: one that reorders, one
//! that loses at random, one that only ever drops from a full queue.

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Case, Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// The path's delay is drawn anew twenty times a second, and packets are reordered.
const fn reordering(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "tcp.loss", values).with(&[
        "links.path.jitter={ kind = \"redraw\", every = \"50 ms\", deviation = \"10 ms\" }",
    ])
}

/// One random loss in a hundred packets.
const fn lossy(values: [&'static str; 2]) -> Setup {
    Setup::of("lossy-wifi", "tcp.loss", values)
}

/// Drops from a full queue, in order.
const fn in_order(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "tcp.loss", values)
}

const fn reordered(values: [&'static str; 2]) -> Picture {
    Picture {
        setup: reordering(values),
        plot: Drawn::Window,
        from: Span::ZERO,
        to: Span::from_secs(20),
        caption: "congestion windows on a path that reorders",
    }
}

/// The case that all of them were made for.
const fn under_reordering(values: [&'static str; 2]) -> Case {
    case(
        Helps,
        "packets are reordered: what is only late is no longer retransmitted, or the \
         reduction is undone.",
        reordering(values),
        Metric::GOODPUT,
        10,
    )
}

const fn without_reordering(values: [&'static str; 2]) -> Case {
    case(Nothing, "packets keep their order.", in_order(values), Metric::GOODPUT, 1)
}

/// Three duplicates and nothing else.
const UNLIMITED: &str = "{ kind = \"fixed\", limited_transmit = \"off\" }";

const SMALL_WINDOWS: &[&str] =
    &["tcp.sack=off", "tcp.ack=immediate", "links.wifi.loss.per_packet=3 %"];

pub(super) static ENTRIES: &[Entry] =
    &[FIXED, VEGAS, RACK, EIFEL, DAD, DAD_SD, BLANTON_ALLMAN, NCR, DCR, PR];

const FIXED: Entry = Entry {
    name: "fixed",
    family: "loss",
    idea:
        "The oldest segment is lost once this many duplicate acknowledgments have come (three, by
RFC 5681), or as many segments above it are known to have arrived. Small thresholds detect
losses soonest; on a path that reorders they retransmit what was never lost, and halve cwnd for it.",
    picture: Picture {
        setup: Setup { vary: "tcp.loss.threshold", ..reordering(["3", "30"]) },
        ..reordered(["3", "30"])
    },
    cases: &[
        case(
            Helps,
            "the threshold is as large as the path's reordering: thirty instead of three.",
            Setup { vary: "tcp.loss.threshold", ..reordering(["3", "30"]) },
            Metric::GOODPUT,
            10,
        ),
        case(
            Nothing,
            "packets keep their order and windows are large.",
            Setup { vary: "tcp.loss.threshold", ..in_order(["3", "30"]) },
            Metric::GOODPUT,
            1,
        ),
        case(
            Hurts,
            "the threshold is larger than the reordering requires: small windows do not yield so many \
             duplicates, and wait for timeouts.",
            Setup { vary: "tcp.loss.threshold", ..lossy(["3", "30"]) },
            Metric::GOODPUT,
            5,
        ),
    ],
};

const VEGAS: Entry = Entry {
    name: "vegas",
    family: "loss",
    idea: "On the first duplicate acknowledgment, and on the first two new ones after a
retransmission, the oldest segment is lost if it has been out for longer than a fine-grained
timeout: losses that would never yield three duplicates are recovered without waiting for the
coarse timer.",
    picture: Picture {
        setup: lossy([UNLIMITED, "vegas"]).with(SMALL_WINDOWS),
        plot: Drawn::Sequence,
        from: Span::ZERO,
        to: Span::from_secs(5),
        caption: "random loss, without the help of SACK",
    },
    cases: &[
        case(
            Helps,
            "windows are small, every segment is acknowledged and there is no limited transmit: \
             one duplicate is enough.",
            lossy([UNLIMITED, "vegas"]).with(SMALL_WINDOWS),
            Metric::TIMEOUTS,
            20,
        ),
        case(
            Nothing,
            "SACK and enough duplicates already show every loss.",
            in_order(["fixed", "vegas"]),
            Metric::GOODPUT,
            1,
        ),
        case(
            Hurts,
            "the alternative is three duplicates with limited transmit, which makes small windows \
             yield the missing duplicates.",
            lossy(["fixed", "vegas"]).with(&["links.wifi.loss.per_packet=3 %"]),
            Metric::TIMEOUTS,
            20,
        ),
    ],
};

const RACK: Entry = Entry {
    name: "rack",
    family: "loss",
    idea:
        "A segment is lost once one sent after it has arrived and a little time for reordering has
passed. Time shows what counting cannot: lost retransmissions are found, and where reordering
has been seen the allowance grows. A probe at the end of a flight turns tail losses into ordinary
ones. Stock Linux does this.",
    picture: Picture {
        setup: lossy(["fixed", "rack"]).with(&["links.wifi.loss.per_packet=3 %"]),
        plot: Drawn::Sequence,
        from: Span::ZERO,
        to: Span::from_secs(10),
        caption: "random loss of 3 %: lost retransmissions wait for no timeout",
    },
    cases: &[
        under_reordering(["fixed", "rack"]),
        case(
            Helps,
            "retransmissions and tails are lost too: nearly all timeouts are gone.",
            lossy(["fixed", "rack"]).with(&["links.wifi.loss.per_packet=3 %"]),
            Metric::TIMEOUTS,
            10,
        ),
        without_reordering(["fixed", "rack"]),
        case(
            Hurts,
            "reordering is longer than its allowance, a round trip at most: it retransmits more than \
             a threshold of thirty.",
            reordering(["{ kind = \"fixed\", threshold = 30 }", "rack"]),
            Metric::RETRANSMITTED,
            10,
        ),
    ],
};

const EIFEL: Entry = Entry {
    name: "eifel",
    family: "loss",
    idea: "Three duplicates still start recovery, but an older timestamp in the first
acknowledgment after the retransmission undoes it. It shows that the original had arrived:
recovery was spurious, and cwnd and ssthresh are restored.",
    picture: reordered(["fixed", "eifel"]),
    cases: &[
        under_reordering(["fixed", "eifel"]),
        without_reordering(["fixed", "eifel"]),
        case(
            Hurts,
            "packets are reordered all the time: nothing is learnt, so every run of \
             duplicates retransmits what was only late.",
            reordering(["fixed", "eifel"]),
            Metric::RETRANSMITTED,
            10,
        ),
    ],
};

const DAD: Entry = Entry {
    name: "dad",
    family: "loss",
    idea: "When the missing segment arrives within a round trip, it was reordered, and the
number of duplicates it caused becomes the threshold. Each recovery lowers it by one; a timeout,
or a round trip without the segment, sets it back to three.",
    picture: reordered(["fixed", "dad"]),
    cases: &[
        under_reordering(["fixed", "dad"]),
        without_reordering(["fixed", "dad"]),
        case(
            Hurts,
            "reordering comes in all lengths: the threshold follows the last one, and many \
             retransmissions are spurious.",
            reordering(["dad-sd", "dad"]),
            Metric::RETRANSMITTED,
            10,
        ),
    ],
};

const DAD_SD: Entry = Entry {
    name: "dad-sd",
    family: "loss",
    idea: "As dad, but the threshold is smoothed: alpha of what it was, the rest from the last
reordering. In practical mode the length and the delay of reordering are smoothed with their
deviations, the threshold is bounded by what is in flight, a timer expires before the
retransmission timeout would, and a spurious recovery is undone exactly. Lost retransmissions
and lost tails are detected without a timeout.",
    picture: reordered(["fixed", "dad-sd"]),
    cases: &[
        under_reordering(["fixed", "dad-sd"]),
        case(
            Helps,
            "the alternative is RACK: a smoothed threshold causes fewer spurious retransmissions.",
            reordering(["rack", "dad-sd"]),
            Metric::RETRANSMITTED,
            10,
        ),
        without_reordering(["fixed", "dad-sd"]),
        case(
            Hurts,
            "others share the queue: a flow without needless reductions fills it.",
            reordering(["fixed", "dad-sd"]),
            Metric::QUEUE_DELAY,
            10,
        ),
    ],
};

const BLANTON_ALLMAN: Entry = Entry {
    name: "blanton-allman",
    family: "loss",
    idea: "The receiver reports segments that arrived twice (DSACK). A retransmission reported so
was spurious: the reduction is undone, and the threshold rises to the length of the
reordering that caused it, by one, by the mean or by a moving average.",
    picture: reordered(["fixed", "blanton-allman"]),
    cases: &[
        under_reordering(["fixed", "blanton-allman"]),
        without_reordering(["fixed", "blanton-allman"]),
        case(
            Hurts,
            "each lesson costs a spurious retransmission: it retransmits more than dad-sd, which has \
             a timer.",
            reordering(["dad-sd", "blanton-allman"]),
            Metric::RETRANSMITTED,
            10,
        ),
    ],
};

const NCR: Entry = Entry {
    name: "ncr",
    family: "loss",
    idea: "The threshold is in proportion to what is in flight: about a round trip's worth of
duplicates must come before a segment counts as lost, and meanwhile new data keeps the
acknowledgments coming (extended limited transmit).",
    picture: reordered(["fixed", "ncr"]),
    cases: &[
        under_reordering(["fixed", "ncr"]),
        without_reordering(["fixed", "ncr"]),
        case(
            Hurts,
            "others share the queue: a flow without needless reductions fills it.",
            reordering(["fixed", "ncr"]),
            Metric::QUEUE_DELAY,
            10,
        ),
    ],
};

const DCR: Entry = Entry {
    name: "dcr",
    family: "loss",
    idea:
        "The response to duplicates is delayed by a round trip: if the missing segment has come by
then, nothing was lost. Each duplicate meanwhile lets a new segment out. Every real loss waits a
round trip longer.",
    picture: reordered(["fixed", "dcr"]),
    cases: &[
        under_reordering(["fixed", "dcr"]),
        case(
            Nothing,
            "packets keep their order and losses come one at a time, from a short queue.",
            in_order(["fixed", "dcr"]).with(&["links.path.queue.limit=8 packets"]),
            Metric::GOODPUT,
            1,
        ),
        case(
            Hurts,
            "many segments are lost at the end of slow start: recovery starts a round trip later, and \
             more is lost meanwhile.",
            in_order(["fixed", "dcr"]),
            Metric::GOODPUT,
            1,
        ),
    ],
};

const PR: Entry = Entry {
    name: "pr",
    family: "loss",
    idea: "Duplicates are ignored. Each segment has its own timer, a multiple of the
largest recent round trip, and is lost when that expires. No order is assumed, of
segments or of acknowledgments.",
    picture: reordered(["fixed", "pr"]),
    cases: &[
        under_reordering(["fixed", "pr"]),
        case(
            Helps,
            "retransmissions are lost too: they have timers as well.",
            lossy(["fixed", "pr"]).with(&["links.wifi.loss.per_packet=3 %"]),
            Metric::TIMEOUTS,
            10,
        ),
        without_reordering(["fixed", "pr"]),
        case(
            Hurts,
            "acknowledgments cost something: holes stay open longer, and each segment above one \
             is acknowledged by itself.",
            lossy(["fixed", "pr"]).with(&["links.wifi.loss.per_packet=3 %"]),
            Metric::ACKS,
            10,
        ),
    ],
};
