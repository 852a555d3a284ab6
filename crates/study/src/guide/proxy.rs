//! What stands between a fixed host and a mobile one.

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// A download over a wireless link that damages packets.
const fn damaged(values: [&'static str; 2]) -> Setup {
    Setup::of("fading-access-point", "proxies.base.proxy", values)
}

/// The same over one that does not.
const fn sound(values: [&'static str; 2]) -> Setup {
    damaged(values).with(&["links.air.loss=none"])
}

/// The same over one that is out twice.
const fn fading(values: [&'static str; 2]) -> Setup {
    damaged(values).with(&[
        "links.air.loss=none",
        "duration=20 s",
        "links.air.outage={ kind = \"schedule\", from = [\"3 s\", \"11 s\"], \
         for = [\"1500 ms\", \"2500 ms\"] }",
    ])
}

/// The same over one that loses nothing, with a box that dies.
const fn dying(values: [&'static str; 2]) -> Setup {
    damaged(values).with(&["links.air.loss=none", "proxies.base.dies=30 s"])
}

const fn picture(values: [&'static str; 2]) -> Picture {
    Picture {
        setup: damaged(values),
        plot: Drawn::Sequence,
        from: Span::ZERO,
        to: Span::from_secs(30),
        caption: "segments of a download over a wireless link that damages one byte in 65536",
    }
}

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "snoop",
        family: "proxy",
        idea:
            "A base station keeps what the mobile host has not acknowledged. What the wireless link
loses it retransmits itself, at the first sign, and suppresses the duplicate acknowledgments:
the sender never hears of the loss, and does not take it for congestion. It acknowledges nothing
by itself, so the connection is as reliable as without it.",
        picture: picture(["none", "snoop"]),
        cases: &[
            case(
                Helps,
                "the wireless link damages packets, and each is taken for congestion.",
                damaged(["none", "snoop"]),
                Metric::GOODPUT,
                5,
            ),
            case(
                Nothing,
                "the wireless link loses nothing: what its queue drops is left to the sender.",
                sound(["none", "snoop"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "somebody waits behind the download: no longer held down by losses, it fills the
wireless link's queue.",
                damaged(["none", "snoop"]),
                Metric::ROUND_TRIP,
                5,
            ),
        ],
    },
    Entry {
        name: "m-tcp",
        family: "proxy",
        idea:
            "A supervisor host passes on what the mobile host acknowledges, but for the last byte.
When nothing more is heard it acknowledges that byte with a window of zero: the sender
waits, with its window as it was. When the mobile host is heard again the window opens. The
supervisor host retransmits what the wireless link loses.",
        picture: picture(["none", "m-tcp"]),
        cases: &[
            case(
                Helps,
                "the wireless link damages packets: the supervisor host retransmits them.",
                damaged(["none", "m-tcp"]),
                Metric::GOODPUT,
                5,
            ),
            case(
                Nothing,
                "the wireless link loses nothing and is never out.",
                sound(["none", "m-tcp"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "somebody waits behind the download: no longer held down by losses, it fills the
wireless link's queue.",
                damaged(["none", "m-tcp"]),
                Metric::ROUND_TRIP,
                5,
            ),
        ],
    },
    Entry {
        name: "i-tcp",
        family: "proxy",
        idea:
            "A base station terminates the fixed host's connection in the mobile host's name and
opens one of its own to the mobile host. Each half has its own window and its own timers, so a
loss on the wireless link is recovered over that link alone, and the fixed host never hears of
it. But data that the base station has acknowledged may never reach the mobile host.",
        picture: picture(["none", "i-tcp"]),
        cases: &[
            case(
                Helps,
                "the wireless link damages packets: each is recovered over half of the path.",
                damaged(["none", "i-tcp"]),
                Metric::GOODPUT,
                5,
            ),
            case(
                Nothing,
                "the wireless link loses nothing: it is the bottleneck with or without a split.",
                sound(["none", "i-tcp"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "the base station dies: the hosts know nothing of each other's sequence numbers, and
what it had acknowledged is lost.",
                dying(["none", "i-tcp"]),
                Metric::GOODPUT,
                1,
            ),
        ],
    },
    Entry {
        name: "mtcp",
        family: "proxy",
        idea:
            "A split connection whose wireless half is not TCP: a fixed window and a timer for each
segment, as nobody else uses that link and silence on it is no congestion. The mobile host,
an ordinary TCP, reports by SACK what has arrived. The timers do not back off, so the link
is probed again and again during an outage.",
        picture: picture(["none", "mtcp"]),
        cases: &[
            case(
                Helps,
                "the wireless link damages packets: no window shrinks for them.",
                damaged(["none", "mtcp"]),
                Metric::GOODPUT,
                5,
            ),
            case(
                Helps,
                "the wireless link is out for a while: a split with TCP on both sides waits for
timers that have backed off.",
                fading(["i-tcp", "mtcp"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Nothing,
                "the wireless link loses nothing and is never out.",
                sound(["none", "mtcp"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "the base station dies: what it had acknowledged is lost, and the connection with it.",
                dying(["none", "mtcp"]),
                Metric::GOODPUT,
                1,
            ),
        ],
    },
    Entry {
        name: "proxy-tcp",
        family: "proxy",
        idea:
            "A host beside the base station sees copies of the packets and cannot delay any of them.
It keeps the data and retransmits what the mobile host's acknowledgments show to be lost. During
an outage it probes the mobile host, and then retransmits what the outage lost. If it dies, the
connections go on without it.",
        picture: picture(["none", "proxy-tcp"]),
        cases: &[
            case(
                Helps,
                "the wireless link damages packets, although the sender sees the duplicates too.",
                damaged(["none", "proxy-tcp"]),
                Metric::GOODPUT,
                5,
            ),
            case(
                Helps,
                "the wireless link is out for a while: what was lost is retransmitted as soon as it is back.",
                fading(["none", "proxy-tcp"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Nothing,
                "it dies while the wireless link loses nothing: the connection goes on as it was.",
                dying(["none", "proxy-tcp"]),
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "somebody waits behind a download that losses no longer hold down: here of a Linux
sender without SACK.",
                damaged(["none", "proxy-tcp"]).with(&["tcp.profile=linux", "tcp.sack=off"]),
                Metric::ROUND_TRIP,
                5,
            ),
        ],
    },
];
