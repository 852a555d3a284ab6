//! When a small segment waits.

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// Small messages, acknowledged with a delay.
const fn messages(values: [&'static str; 2]) -> Setup {
    Setup::of("delayed-ack-stall", "tcp.nagle", values)
}

/// A stream of small messages, sooner than acknowledgments come back.
const fn stream(values: [&'static str; 2]) -> Setup {
    messages(values).with(&["flows.messages.traffic.interval=2 ms", "tcp.ack=immediate"])
}

/// Messages of a segment and a bit.
const fn large(values: [&'static str; 2]) -> Setup {
    messages(values).with(&[
        "flows.messages.traffic={ kind = \"paced\", message = \"2000 B\", interval = \"300 ms\" }",
    ])
}

const fn bulk(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "tcp.nagle", values)
}

const fn picture(values: [&'static str; 2], caption: &'static str) -> Picture {
    Picture {
        setup: messages(values),
        plot: Drawn::Sequence,
        from: Span::from_secs(1),
        to: Span::from_secs(2),
        caption,
    }
}

const BULK: &str = "a bulk transfer has only full segments.";

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "off",
        family: "nagle",
        idea:
            "Small segments leave as soon as the application has written them (TCP_NODELAY). Nothing
waits for an acknowledgment, so a delayed one holds nothing up. An application that writes
in small pieces pays with a packet per piece. On a stock Linux host ackord agent sets it for
applications that lose time without it.",
        picture: picture(["on", "off"], "a message every 60 ms"),
        cases: &[
            case(
                Helps,
                "the receiver delays its acknowledgments: a held message waits for a delayed one.",
                messages(["on", "off"]),
                Metric::ROUND_TRIP,
                1,
            ),
            case(Nothing, BULK, bulk(["on", "off"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "an application writes small pieces in a row: a packet and an acknowledgment each.",
                stream(["on", "off"]),
                Metric::ACKS,
                1,
            ),
        ],
    },
    Entry {
        name: "on",
        family: "nagle",
        idea:
            "A segment that is not full waits while anything is unacknowledged: small pieces written
in a row become one packet per round trip. It adapts to the path's round trip. With
a delayed acknowledgment, sender and receiver wait for each other until a timer
expires.",
        picture: picture(["off", "on"], "a message every 60 ms"),
        cases: &[
            case(
                Helps,
                "an application writes small pieces in a row: they share packets.",
                stream(["off", "on"]),
                Metric::ACKS,
                1,
            ),
            case(Nothing, BULK, bulk(["off", "on"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "the receiver delays its acknowledgments.",
                messages(["off", "on"]),
                Metric::ROUND_TRIP,
                1,
            ),
        ],
    },
    Entry {
        name: "minshall",
        family: "nagle",
        idea: "A segment that is not full waits only while an earlier one that was not full is
unacknowledged. The small piece at the end of a large write leaves at once, so the stall with
a delayed acknowledgment is gone for writes larger than a segment; small pieces in a row still
share packets. Stock Linux does this.",
        picture: Picture {
            setup: large(["on", "minshall"]),
            ..picture(["on", "minshall"], "a message of 2000 B every 300 ms")
        },
        cases: &[
            case(
                Helps,
                "a write fills a segment and a little more: Nagle holds the rest until a delayed \
                 acknowledgment. One acknowledgment is saved as well.",
                large(["on", "minshall"]),
                Metric::ACKS,
                1,
            ),
            case(Nothing, BULK, bulk(["on", "minshall"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "an application writes small pieces in a row: fewer share a packet than with Nagle.",
                stream(["on", "minshall"]),
                Metric::ACKS,
                1,
            ),
        ],
    },
    Entry {
        name: "ari",
        family: "nagle",
        idea: "The sender's half of ARI: small segments leave at once, unless the application's
history says that it moves bulk, for which Nagle stays on.",
        picture: picture(["on", "ari"], "a message every 60 ms"),
        cases: &[
            case(
                Helps,
                "the receiver delays its acknowledgments: a held message waits for a delayed one.",
                messages(["on", "ari"]),
                Metric::ROUND_TRIP,
                1,
            ),
            case(Nothing, BULK, bulk(["on", "ari"]), Metric::GOODPUT, 1),
            case(
                Hurts,
                "an application writes small pieces in a row and has no history as a bulk sender.",
                stream(["on", "ari"]),
                Metric::ACKS,
                1,
            ),
        ],
    },
];
