//! Queues with a line per connection, or per bucket of connections.

use super::super::entry::Effect::{Helps, Hurts, Nothing};
use super::super::entry::{Entry, Metric, case};
use super::setups::{DEEP_DROP_TAIL, DROP_TAIL, FAR, alone, picture, shared};

const DRR_QUEUE: &str = "{ kind = \"drr\" }";
const SFQ_QUEUE: &str = "{ kind = \"sfq\", limit = \"50 packets\" }";
const FQ_CODEL_QUEUE: &str = "{ kind = \"fq-codel\" }";

pub(super) const DRR: Entry = Entry {
    name: "drr",
    family: "queue",
    idea:
        "A queue per connection, served in turn; in each turn a queue may send a quantum of bytes,
and what it leaves unused it has in the next. Shares are equal in bytes, whoever sends most
and whatever the packets' lengths; when the buffer is full the longest queue loses a packet. It
costs a queue for every connection that has packets waiting.",
    picture: picture([DROP_TAIL, DRR_QUEUE]),
    cases: &[
        case(
            Helps,
            "senders that fill the queue meet senders that do not.",
            shared([DROP_TAIL, DRR_QUEUE]),
            Metric::FAIRNESS,
            10,
        ),
        case(
            Nothing,
            "a flow is alone: one queue is a drop-tail queue.",
            alone([DROP_TAIL, "{ kind = \"drr\", limit = \"50 packets\" }"]),
            Metric::GOODPUT,
            1,
        ),
        case(
            Hurts,
            "the aggressive sender's own delay matters: its queue holds all that the others
             leave free, and it has half of the link to drain it.",
            shared([DROP_TAIL, DRR_QUEUE]),
            Metric::ROUND_TRIP,
            10,
        ),
    ],
};

pub(super) const SFQ: Entry = Entry {
    name: "sfq",
    family: "queue",
    idea: "Connections are put into queues by a hash, and each queue sends a packet in turn. Shares
are equal as long as no two connections hash to one queue; those that do share its turn
until the hash is perturbed some seconds later. The number of queues is fixed, however many
connections there are.",
    picture: picture([DROP_TAIL, SFQ_QUEUE]),
    cases: &[
        case(
            Helps,
            "senders that fill the queue meet senders that do not.",
            shared([DROP_TAIL, SFQ_QUEUE]),
            Metric::FAIRNESS,
            10,
        ),
        case(
            Nothing,
            "connections hash to the same queue, as all do where there is only one.",
            shared([DROP_TAIL, "{ kind = \"sfq\", limit = \"50 packets\", buckets = 1 }"]),
            Metric::FAIRNESS,
            10,
        ),
    ],
};

pub(super) const FQ_CODEL: Entry = Entry {
    name: "fq-codel",
    family: "queue",
    idea: "Queues by a hash of the connection, served in turn by bytes, each under its own CoDel;
a queue that has just become active goes first. So shares are equal, a sender that builds
a queue waits only behind itself and not for long, and a sparse flow does not wait.",
    picture: picture([DROP_TAIL, FQ_CODEL_QUEUE]),
    cases: &[
        case(
            Helps,
            "senders that fill the queue meet senders that do not.",
            shared([DROP_TAIL, FQ_CODEL_QUEUE]),
            Metric::FAIRNESS,
            10,
        ),
        case(
            Helps,
            "the queue is deep and a sender fills it.",
            alone([DEEP_DROP_TAIL, FQ_CODEL_QUEUE]),
            Metric::ROUND_TRIP,
            1,
        ),
        case(
            Hurts,
            "the path is longer than CoDel's interval: each drop costs more than the queue holds.",
            alone([DEEP_DROP_TAIL, FQ_CODEL_QUEUE]).with(FAR),
            Metric::GOODPUT,
            1,
        ),
    ],
};
