//! What stands between a fixed host and a mobile one.

use super::Effect::{Helps, Hurts, Nothing};
use super::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// A download over a wireless link that damages packets.
const fn damaged(values: [&'static str; 2]) -> Setup {
    Setup::of("fading-access-point", "proxies.base.proxy", values)
}

/// The same over one that does not.
const fn sound(values: [&'static str; 2]) -> Setup {
    damaged(values).with(&["links.air.loss=none"])
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
loses it sends again itself, at the first sign, and keeps the duplicate acknowledgments for
it: the sender never hears of the loss, and does not take it for congestion. It acknowledges
nothing by itself, so the connection is as reliable as without it.",
        picture: picture(["none", "snoop"]),
        cases: &[
            case(
                Helps,
                "the wireless link damages packets, and each is taken for congestion.",
                damaged(["none", "snoop"]),
                Metric::Goodput,
                5,
            ),
            case(
                Nothing,
                "the wireless link loses nothing: what its queue drops is the sender's to repair.",
                sound(["none", "snoop"]),
                Metric::Goodput,
                1,
            ),
            case(
                Hurts,
                "somebody waits behind the download: no longer held down by losses, it fills the
wireless link's queue.",
                damaged(["none", "snoop"]),
                Metric::RoundTrip,
                5,
            ),
        ],
    },
    Entry {
        name: "m-tcp",
        family: "proxy",
        idea:
            "A supervisor host passes on what the mobile host acknowledges, but for the last octet.
When nothing more is heard it acknowledges that octet with a window of zero: the sender
waits, with its window as it was. When the mobile host is heard again the window opens. What
the wireless link loses is sent again by the supervisor host.",
        picture: picture(["none", "m-tcp"]),
        cases: &[
            case(
                Helps,
                "the wireless link damages packets: the supervisor host sends them again.",
                damaged(["none", "m-tcp"]),
                Metric::Goodput,
                5,
            ),
            case(
                Nothing,
                "the wireless link loses nothing and is never out.",
                sound(["none", "m-tcp"]),
                Metric::Goodput,
                1,
            ),
            case(
                Hurts,
                "somebody waits behind the download: no longer held down by losses, it fills the
wireless link's queue.",
                damaged(["none", "m-tcp"]),
                Metric::RoundTrip,
                5,
            ),
        ],
    },
];
