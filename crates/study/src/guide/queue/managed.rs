//! One line for all, with signals before it is full.

use super::super::entry::Effect::{Helps, Hurts, Nothing};
use super::super::entry::{Entry, Metric, case};
use super::setups::{DEEP_DROP_TAIL, DROP_TAIL, FAR, alone, picture};

const RED_QUEUE: &str = "{ kind = \"red\", limit = \"340 packets\" }";
const CODEL_QUEUE: &str = "{ kind = \"codel\" }";
const PIE_QUEUE: &str = "{ kind = \"pie\" }";

pub(super) const RED: Entry = Entry {
    name: "red",
    family: "queue",
    idea:
        "It keeps an average of its length and drops arriving packets at random, the more often the
longer the average; drops are spread evenly, so that a burst does not lose several. Senders
slow down before the queue is full. Its thresholds are packets, so what delay they mean
depends on the link.",
    picture: picture([DROP_TAIL, RED_QUEUE]),
    cases: &[
        case(
            Helps,
            "the queue is deep and a sender fills it.",
            alone([DEEP_DROP_TAIL, RED_QUEUE]),
            Metric::QUEUE_DELAY,
            1,
        ),
        case(
            Nothing,
            "the sender's window is too small for a queue to form.",
            alone([DEEP_DROP_TAIL, RED_QUEUE]).with(&["tcp.max_window=20"]),
            Metric::GOODPUT,
            1,
        ),
        case(
            Hurts,
            "the path holds far more packets than the thresholds: the queue cannot keep the link busy after a drop.",
            alone([DEEP_DROP_TAIL, RED_QUEUE]).with(FAR),
            Metric::GOODPUT,
            1,
        ),
    ],
};

pub(super) const CODEL: Entry = Entry {
    name: "codel",
    family: "queue",
    idea:
        "It measures how long packets have waited when they leave. When the shortest wait of the last
100 ms is above 5 ms it drops at the head, then again ever sooner, until the wait is short.
Bursts pass, a standing queue does not; nothing has to be set for the rate of the link.",
    picture: picture([DROP_TAIL, CODEL_QUEUE]),
    cases: &[
        case(
            Helps,
            "the queue is deep and a sender fills it.",
            alone([DEEP_DROP_TAIL, CODEL_QUEUE]),
            Metric::QUEUE_DELAY,
            1,
        ),
        case(
            Nothing,
            "the sender's window is too small for a queue to form.",
            alone([DEEP_DROP_TAIL, CODEL_QUEUE]).with(&["tcp.max_window=20"]),
            Metric::GOODPUT,
            1,
        ),
        case(
            Hurts,
            "the path is longer than its interval: each drop costs more than the queue holds.",
            alone([DEEP_DROP_TAIL, CODEL_QUEUE]).with(FAR),
            Metric::GOODPUT,
            1,
        ),
    ],
};

pub(super) const PIE: Entry = Entry {
    name: "pie",
    family: "queue",
    idea:
        "Arriving packets are dropped with a probability that is moved every 15 ms, by how far the
wait is from a target and by whether it grows. It needs no timestamps and decides before a
packet takes room; it lets 150 ms of burst pass before it begins.",
    picture: picture([DROP_TAIL, PIE_QUEUE]),
    cases: &[
        case(
            Helps,
            "the queue is deep and a sender fills it.",
            alone([DEEP_DROP_TAIL, PIE_QUEUE]),
            Metric::QUEUE_DELAY,
            1,
        ),
        case(
            Nothing,
            "the sender's window is too small for a queue to form.",
            alone([DEEP_DROP_TAIL, PIE_QUEUE]).with(&["tcp.max_window=20"]),
            Metric::GOODPUT,
            1,
        ),
        case(
            Hurts,
            "the path is longer than the burst it lets pass: it meets the first overshoot with many drops.",
            alone([DEEP_DROP_TAIL, PIE_QUEUE]).with(FAR),
            Metric::GOODPUT,
            1,
        ),
    ],
};
