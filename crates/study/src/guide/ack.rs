//! When the receiver acknowledges.

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// Small messages under Nagle.
const fn stall(values: [&'static str; 2]) -> Setup {
    Setup::of("delayed-ack-stall", "tcp.ack", values)
}

const fn bulk(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "tcp.ack", values)
}

/// Half a dozen round trips, and a sender that grows with every acknowledgment.
const fn short(values: [&'static str; 2]) -> Setup {
    bulk(values).with(&[
        "flows.download.traffic={ kind = \"bulk\", size = \"200 kB\" }",
        "tcp.congestion=reno",
        "tcp.initial_window=2",
    ])
}

/// Data and acknowledgments take turns on the same air.
const fn wifi(values: [&'static str; 2]) -> Setup {
    Setup::of("wifi-acks", "tcp.ack", values)
}

const fn sequence(setup: Setup, to_millis: u64, caption: &'static str) -> Picture {
    let (from, to) = (Span::ZERO, Span::from_millis(to_millis));
    Picture { setup, plot: Drawn::Sequence, from, to, caption }
}

const BULK: &str = "a bulk transfer fills the path anyway.";

pub(super) static ENTRIES: &[Entry] =
    &[IMMEDIATE, DELAYED, QUICKACK, LINUX, ADAPTIVE, ADAPTIVE_STATIC, ARI, TACK];

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
            Metric::ROUND_TRIP,
            1,
        ),
        case(Nothing, BULK, bulk(["delayed", "immediate"]), Metric::GOODPUT, 1),
        case(
            Hurts,
            "acknowledgments cost something: there are nearly twice as many.",
            bulk(["delayed", "immediate"]),
            Metric::ACKS,
            1,
        ),
    ],
};

const DELAYED: Entry = Entry {
    name: "delayed",
    family: "ack",
    idea:
        "An acknowledgment waits for the second full-sized segment, for data to be piggybacked on,
or for a timer of at most half a second (200 ms by default). Out-of-order segments, filled gaps
and the end of the stream are acknowledged at once. It halves the acknowledgments of a bulk
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
            Metric::ACKS,
            1,
        ),
        case(Nothing, BULK, bulk(["immediate", "delayed"]), Metric::GOODPUT, 1),
        case(
            Hurts,
            "small messages wait for the acknowledgment of the one before (Nagle).",
            stall(["immediate", "delayed"]),
            Metric::ROUND_TRIP,
            1,
        ),
    ],
};

const QUICKACK: Entry = Entry {
    name: "quickack",
    family: "ack",
    idea: "The first few segments of a connection are acknowledged at once, the rest with a delay.
While the sender's window is small there may be no second segment to wait for, and every
acknowledgment lets the window grow.",
    picture: sequence(short(["delayed", "quickack"]), 500, "the start of a transfer of 200 kB"),
    cases: &[
        case(
            Helps,
            "a short transfer comes from a sender that begins with a small window and grows per \
             acknowledgment.",
            short(["delayed", "quickack"]),
            Metric::COMPLETION,
            1,
        ),
        case(Nothing, BULK, bulk(["delayed", "quickack"]), Metric::GOODPUT, 1),
        case(
            Hurts,
            "the count is so large that it covers a whole transfer over Wi-Fi: acknowledgments \
             take the air from the data.",
            wifi(["delayed", "{ kind = \"quickack\", count = 100000 }"]),
            Metric::GOODPUT,
            3,
        ),
    ],
};

const LINUX: Entry = Entry {
    name: "linux",
    family: "ack",
    idea:
        "What a stock kernel does: up to 16 immediate acknowledgments at the start and after pauses
and losses, then every second segment, or after a timeout that follows the gaps between
segments (40 ms at least). A connection that answers what it receives counts as interactive
and piggybacks acknowledgments on its answers.",
    picture: sequence(short(["delayed", "linux"]), 500, "the start of a transfer of 200 kB"),
    cases: &[
        case(
            Helps,
            "a short transfer comes from a sender that grows per acknowledgment.",
            short(["delayed", "linux"]),
            Metric::COMPLETION,
            1,
        ),
        case(Nothing, BULK, bulk(["delayed", "linux"]), Metric::GOODPUT, 1),
        case(
            Hurts,
            "acknowledgments cost something and the transfer is short: there are half as many again.",
            short(["delayed", "linux"]),
            Metric::ACKS,
            1,
        ),
    ],
};

const ADAPTIVE: Entry = Entry {
    name: "adaptive",
    family: "ack",
    idea: "The delayed acknowledgment's timeout follows the mean gap between segments: it is not
worth waiting longer than the next segment takes. In practical mode a wait that only the timer
could end is not begun, pauses do not count, and the timeout stays below 40 ms. On a stock
Linux host ackord agent applies it to real connections, down to two ticks of the kernel.",
    picture: sequence(stall(["delayed", "adaptive"]), 2000, "a message of 300 B every 60 ms"),
    cases: &[
        case(
            Helps,
            "a lone segment's acknowledgment holds the next message up (Nagle).",
            stall(["delayed", "adaptive"]),
            Metric::ROUND_TRIP,
            1,
        ),
        case(Nothing, BULK, bulk(["delayed", "adaptive"]), Metric::GOODPUT, 1),
        case(
            Nothing,
            "the receiver is a stock Linux kernel already: its own timeout adapts.",
            stall(["linux", "adaptive"]),
            Metric::ROUND_TRIP,
            1,
        ),
        case(
            Hurts,
            "it is taken literally (paper mode, a = 0.1) and messages come in bunches: the mean gap \
             becomes the timer itself.",
            stall(["delayed", "{ kind = \"adaptive\", mode = \"paper\" }"]),
            Metric::ROUND_TRIP,
            1,
        ),
    ],
};

const ADAPTIVE_STATIC: Entry = Entry {
    name: "adaptive-static",
    family: "ack",
    idea:
        "A delayed acknowledgment whose timeout is fixed at about the gap between two segments, as
measured beforehand: 0.8 ms in the published runs. If the next segment comes later than that,
the receiver acknowledges every segment.",
    picture: sequence(
        stall(["delayed", "adaptive-static"]),
        2000,
        "a message of 300 B every 60 ms",
    ),
    cases: &[
        case(
            Helps,
            "a lone segment's acknowledgment holds the next message up (Nagle).",
            stall(["delayed", "adaptive-static"]),
            Metric::ROUND_TRIP,
            1,
        ),
        case(Nothing, BULK, bulk(["delayed", "adaptive-static"]), Metric::GOODPUT, 1),
        case(
            Hurts,
            "segments come 1.2 ms apart and the timeout is 0.8 ms: nearly twice the acknowledgments.",
            bulk(["delayed", "adaptive-static"]),
            Metric::ACKS,
            1,
        ),
    ],
};

const ARI: Entry = Entry {
    name: "ari",
    family: "ack",
    idea:
        "The receiver knows from the application's history how large its transfers usually are, and
acknowledges twice as many segments at once as such a transfer has; later ones with a delay.
The sender's half, nagle = \"ari\", lets small segments go. An application that moves bulk
gets neither. See ackord history; ackord agent applies it on a stock Linux host, if asked to.",
    picture: sequence(
        short(["delayed", "{ kind = \"ari\", most_sent = \"200 kB\" }"]),
        500,
        "the start of a transfer of 200 kB",
    ),
    cases: &[
        case(
            Helps,
            "a short transfer comes from a sender that begins with a small window and grows per \
             acknowledgment.",
            short(["delayed", "ari"]),
            Metric::COMPLETION,
            1,
        ),
        case(Nothing, BULK, bulk(["delayed", "ari"]), Metric::GOODPUT, 1),
        case(
            Hurts,
            "it is taken literally (paper mode) for an application that moves bulk over Wi-Fi: \
             acknowledgments take the air from the data.",
            wifi(["delayed", "{ kind = \"ari\", mode = \"paper\", most_sent = \"10 MB\" }"]),
            Metric::GOODPUT,
            3,
        ),
    ],
};

const TACK: Entry = Entry {
    name: "tack",
    family: "ack",
    idea:
        "The opposite approach: a few acknowledgments per round trip are enough, however fast data
comes, as long as losses are reported at once. This saves air time on half-duplex links, but
takes away the sender's ACK clock, which pacing must replace.",
    picture: sequence(wifi(["delayed", "tack"]), 2000, "a download over Wi-Fi"),
    cases: &[
        case(
            Helps,
            "acknowledgments take the air from the data.",
            wifi(["delayed", "tack"]),
            Metric::GOODPUT,
            3,
        ),
        case(Nothing, BULK, bulk(["delayed", "tack"]), Metric::GOODPUT, 1),
        case(
            Hurts,
            "a short transfer waits for acknowledgments while its window is small.",
            short(["delayed", "tack"]),
            Metric::COMPLETION,
            1,
        ),
    ],
};
