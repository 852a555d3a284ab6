//! Queues with a line per connection, or per bucket of connections, and their knobs.

use super::super::{BuildError, needed, word};
use super::{LIMIT, QueueContext, WEIGHTS, limit, weights};
use crate::queue::{Drr, DrrConfig, PushOut, Queue};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism};

const PUSH_OUT: Knob = Knob {
    name: "push_out",
    kind: KnobKind::Choice(&["tail", "head"]),
    default: "tail",
    doc: "Which packet of the longest line makes room when the queue is full",
    source: "McKenney 1990 (buffer stealing); ns-2's DRR takes the head",
};

pub(super) const DRR: Mechanism = Mechanism {
    name: "drr",
    family: "queue",
    summary: "A line per connection, served in turn by bytes",
    source: "Shreedhar and Varghese 1995",
    knobs: &[
        LIMIT,
        Knob {
            name: "quantum",
            kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000) },
            default: "1500 B",
            doc: "Bytes a connection may send per turn; at least the longest packet, or a turn \
                  may pass without one",
            source: "Shreedhar and Varghese 1995 §3.3: constant work per packet from there on",
        },
        PUSH_OUT,
        WEIGHTS,
    ],
};

pub(super) fn drr(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let config = DrrConfig {
        limit: limit(choice)?,
        quantum: needed(choice, "quantum", KnobValue::as_bytes)?,
        push_out: push_out(choice)?,
        weights: weights(choice, context)?,
    };
    Ok(Queue::Drr(Box::new(Drr::new(config))))
}

fn push_out(choice: &Choice) -> Result<PushOut, BuildError> {
    Ok(match word(choice, "push_out")?.as_str() {
        "head" => PushOut::Head,
        _ => PushOut::Tail,
    })
}
