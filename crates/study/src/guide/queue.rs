//! Who waits and who is dropped at a link.
//!
//! | file | what |
//! | --- | --- |
//! | `queue.rs` | one line of packets for all: drop-tail, selective drop; what the cases share |
//! | `queue/managed.rs` | one line with signals before it is full |
//! | `queue/fair.rs` | a line per connection, or per bucket of connections |

mod fair;
mod managed;

use super::Effect::{Helps, Hurts, Nothing};
use super::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

const DROP_TAIL: &str = "{ kind = \"drop-tail\" }";
const SELECTIVE: &str = "{ kind = \"selective-drop\" }";

/// Ten times as much as the path of [`alone`] holds.
const DEEP_DROP_TAIL: &str = "{ kind = \"drop-tail\", limit = \"340 packets\" }";
/// A round trip of 300 ms.
const FAR: &[&str] = &["links.path.delay=150 ms"];

/// Two unlike senders share a queue.
const fn shared(values: [&'static str; 2]) -> Setup {
    Setup::of("reno-against-vegas", "links.bottleneck.queue", values)
}

const fn alone(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "links.path.queue", values)
}

const fn picture(values: [&'static str; 2]) -> Picture {
    Picture {
        setup: shared(values),
        plot: Drawn::Window,
        from: Span::ZERO,
        to: Span::from_secs(30),
        caption: "windows of a Reno and a Vegas flow at one link",
    }
}

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "drop-tail",
        family: "queue",
        idea:
            "First in, first out; a packet that finds the queue full is dropped. It keeps no state
about who fills it: the most aggressive sender gets most, and everyone waits
behind it.",
        picture: picture([SELECTIVE, DROP_TAIL]),
        cases: &[
            case(
                Nothing,
                "a flow is alone: there is nobody to be fair to.",
                alone([SELECTIVE, DROP_TAIL]).with(&["tcp.congestion=vegas"]),
                Metric::Goodput,
                1,
            ),
            case(
                Hurts,
                "senders that fill the queue meet senders that do not.",
                shared([SELECTIVE, DROP_TAIL]),
                Metric::Fairness,
                10,
            ),
        ],
    },
    Entry {
        name: "selective-drop",
        family: "queue",
        idea: "One first-in-first-out queue and a counter per connection: a packet whose connection
has more than its share waiting is dropped, the others are not. The share follows from the round
trip, the rate and how many connections the link holds back; service beyond it counts as if
still waiting. It is fair without a queue per connection.",
        picture: picture([DROP_TAIL, SELECTIVE]),
        cases: &[
            case(
                Helps,
                "senders that fill the queue meet senders that do not.",
                shared([DROP_TAIL, SELECTIVE]),
                Metric::Fairness,
                10,
            ),
            case(
                Nothing,
                "a flow is alone and keeps its queue short by itself.",
                alone([DROP_TAIL, SELECTIVE]).with(&["tcp.congestion=vegas"]),
                Metric::Goodput,
                1,
            ),
        ],
    },
    managed::RED,
    managed::CODEL,
    managed::PIE,
    fair::DRR,
    fair::SFQ,
    fair::FQ_CODEL,
];
