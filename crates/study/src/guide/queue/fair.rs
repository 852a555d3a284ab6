//! Queues with a line per connection, or per bucket of connections.

use super::super::Effect::{Helps, Nothing};
use super::super::{Entry, Metric, case};
use super::{DROP_TAIL, alone, picture, shared};

const DRR_QUEUE: &str = "{ kind = \"drr\" }";

pub(super) const DRR: Entry = Entry {
    name: "drr",
    family: "queue",
    idea: "A line per connection, served in turn; in each turn a line may send a quantum of bytes,
and what it leaves unused it has in the next. Shares are equal in bytes, whoever pushes and
whatever the packets' lengths; when the room is full the longest line loses a packet. It
costs a line for every connection that has packets waiting.",
    picture: picture([DROP_TAIL, DRR_QUEUE]),
    cases: &[
        case(
            Helps,
            "senders that fill the queue meet senders that do not.",
            shared([DROP_TAIL, DRR_QUEUE]),
            Metric::Fairness,
            10,
        ),
        case(
            Nothing,
            "a flow is alone: one line is a drop-tail queue.",
            alone([DROP_TAIL, DRR_QUEUE]),
            Metric::Goodput,
            1,
        ),
    ],
};
