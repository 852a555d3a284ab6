//! When a small segment waits.

use super::Effect::{Helps, Hurts, Nothing};
use super::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// Small messages, acknowledged with a delay.
const fn messages(values: [&'static str; 2]) -> Setup {
    Setup::of("delayed-ack-stall", "tcp.nagle", values)
}

/// A stream of small messages, sooner than acknowledgments come back.
const fn stream(values: [&'static str; 2]) -> Setup {
    messages(values).with(&["flows.messages.traffic.interval=2 ms", "tcp.ack=immediate"])
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
in small pieces pays with a packet per piece.",
        picture: picture(["on", "off"], "a message every 60 ms"),
        cases: &[
            case(
                Helps,
                "the receiver delays its acknowledgments: a held message meets one that waits.",
                messages(["on", "off"]),
                Metric::RoundTrip,
                1,
            ),
            case(Nothing, BULK, bulk(["on", "off"]), Metric::Goodput, 1),
            case(
                Hurts,
                "an application writes small pieces in a row: a packet and an acknowledgment each.",
                stream(["on", "off"]),
                Metric::Acks,
                1,
            ),
        ],
    },
    Entry {
        name: "on",
        family: "nagle",
        idea:
            "A segment that is not full waits while anything is unacknowledged: small pieces written
in a row become one packet per round trip. It regulates itself by the path's own speed. Met
by a delayed acknowledgment, sender and receiver wait for each other until a timer ends
it.",
        picture: picture(["off", "on"], "a message every 60 ms"),
        cases: &[
            case(
                Helps,
                "an application writes small pieces in a row: they share packets.",
                stream(["off", "on"]),
                Metric::Acks,
                1,
            ),
            case(Nothing, BULK, bulk(["off", "on"]), Metric::Goodput, 1),
            case(
                Hurts,
                "the receiver delays its acknowledgments.",
                messages(["off", "on"]),
                Metric::RoundTrip,
                1,
            ),
        ],
    },
];
