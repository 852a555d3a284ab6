//! Who waits and who is dropped at a link.
//!
//! | file | what |
//! | --- | --- |
//! | `queue.rs` | one line of packets for all: drop-tail, selective drop |
//! | `queue/setups.rs` | what the cases share |
//! | `queue/managed.rs` | one line with signals before it is full |
//! | `queue/fair.rs` | a line per connection, or per bucket of connections |

mod fair;
mod managed;
mod setups;

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Entry, Metric, case};
use setups::*;

const SELECTIVE: &str = "{ kind = \"selective-drop\" }";

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
                Metric::GOODPUT,
                1,
            ),
            case(
                Hurts,
                "senders that fill the queue meet senders that do not.",
                shared([SELECTIVE, DROP_TAIL]),
                Metric::FAIRNESS,
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
                Metric::FAIRNESS,
                10,
            ),
            case(
                Nothing,
                "a flow is alone and keeps its queue short by itself.",
                alone([DROP_TAIL, SELECTIVE]).with(&["tcp.congestion=vegas"]),
                Metric::GOODPUT,
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
