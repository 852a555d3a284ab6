//! When the receiver acknowledges.

use super::Effect::{Helps, Hurts, Nothing};
use super::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// Small messages under Nagle.
const fn stall(values: [&'static str; 2]) -> Setup {
    Setup::of("delayed-ack-stall", "tcp.ack", values)
}

const fn bulk(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "tcp.ack", values)
}

pub(super) static ENTRIES: &[Entry] = &[IMMEDIATE, DELAYED];

const IMMEDIATE: Entry = Entry {
    name: "immediate",
    family: "ack",
    idea: "The receiver acknowledges every data segment at once. The sender hears soonest and most
often: nothing waits for a timer, and a window that grows with every acknowledgment grows
fastest. The price is an acknowledgment per segment.",
    picture: Picture {
        setup: stall(["delayed", "immediate"]),
        plot: Drawn::RoundTrip,
        from: Span::ZERO,
        to: Span::from_secs(5),
        caption: "measured round trips, with a delayed ACK of 200 ms and without",
    },
    cases: &[
        case(
            Helps,
            "small messages wait for the acknowledgment of the one before (Nagle): every delayed \
             acknowledgment holds one up.",
            stall(["delayed", "immediate"]),
            Metric::RoundTrip,
            1,
        ),
        case(
            Nothing,
            "a bulk transfer fills the path anyway.",
            bulk(["delayed", "immediate"]),
            Metric::Goodput,
            1,
        ),
        case(
            Hurts,
            "acknowledgments cost something: there are nearly twice as many.",
            bulk(["delayed", "immediate"]),
            Metric::Acks,
            1,
        ),
    ],
};

const DELAYED: Entry = Entry {
    name: "delayed",
    family: "ack",
    idea: "An acknowledgment waits for the second full-sized segment, for data to ride on, or for a
timer of at most half a second (200 ms by default). Out-of-order segments, filled gaps and
the end of the stream are acknowledged at once. It halves the acknowledgments of a bulk
transfer, and holds up whoever waits for a lone one.",
    picture: Picture {
        setup: stall(["immediate", "delayed"]),
        plot: Drawn::Sequence,
        from: Span::ZERO,
        to: Span::from_secs(2),
        caption: "small messages leave in bunches, one bunch per timer",
    },
    cases: &[
        case(
            Helps,
            "acknowledgments cost something: there are half as many.",
            bulk(["immediate", "delayed"]),
            Metric::Acks,
            1,
        ),
        case(
            Nothing,
            "a bulk transfer fills the path anyway.",
            bulk(["immediate", "delayed"]),
            Metric::Goodput,
            1,
        ),
        case(
            Hurts,
            "small messages wait for the acknowledgment of the one before (Nagle).",
            stall(["immediate", "delayed"]),
            Metric::RoundTrip,
            1,
        ),
    ],
};
