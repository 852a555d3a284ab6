//! Queues of a link, with their knobs.
//!
//! | file | what |
//! | --- | --- |
//! | `queue.rs` | [`QUEUE`], and the knobs that several queues share |
//! | `queue/selective_drop.rs` | selective drop |
//! | `queue/managed.rs` | queues that signal before they are full |
//! | `queue/fair.rs` | queues with a line per connection or per bucket of connections |

mod fair;
mod managed;
mod selective_drop;

use super::{BuildError, optional};
use crate::queue::{DropTail, Limit, Queue, Weights};
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Rate, Span};
use ackord_wire::FlowId;

const LIMIT: Knob = Knob {
    name: "limit",
    kind: KnobKind::PacketsOrBytes,
    default: "50 packets",
    doc: "Capacity, without the packet being transmitted",
    source: "ns-2's default queue",
};

const WEIGHTS: Knob = Knob {
    name: "weights",
    kind: KnobKind::PerFlow { min: 0.01, max: 100.0 },
    default: "",
    doc: "A connection's share as a multiple of the others', by flow name",
    source: "Chae and Choi 2004 §4.1",
};

/// Queues of a link.
pub static QUEUE: &[Mechanism] = &[
    Mechanism {
        name: "drop-tail",
        family: "queue",
        summary: "First in, first out; what does not fit is dropped",
        source: "RFC 7567 §2",
        knobs: &[LIMIT],
    },
    selective_drop::SELECTIVE_DROP,
    managed::RED,
    managed::CODEL,
    managed::PIE,
    fair::DRR,
    fair::SFQ,
    fair::FQ_CODEL,
];

/// What a queue is told about where it stands.
pub struct QueueContext<'a> {
    /// The link's rate.
    pub rate: Rate,
    /// The link's propagation delay.
    pub delay: Span,
    /// The connection of a flow by the flow's name.
    pub flow_named: &'a dyn Fn(&str) -> Option<FlowId>,
    /// The queue's own random numbers, for one that draws.
    pub stream: Stream,
}

/// The queue somebody chose.
pub fn build_queue(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    match choice.mechanism.name {
        "drop-tail" => Ok(Queue::DropTail(DropTail::new(limit(choice)?))),
        "selective-drop" => selective_drop::build(choice, context),
        "red" => managed::red(choice, context),
        "codel" => managed::codel(choice),
        "pie" => managed::pie(choice, context),
        "drr" => fair::drr(choice, context),
        "sfq" => fair::sfq(choice, context),
        "fq-codel" => fair::fq_codel(choice, context),
        name => Err(BuildError::UnknownMechanism { family: "queue", name: name.to_owned() }),
    }
}

fn limit(choice: &Choice) -> Result<Limit, BuildError> {
    match choice.value("limit") {
        Some(KnobValue::Packets(packets)) => {
            Ok(Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX)))
        }
        Some(KnobValue::Bytes(bytes)) => Ok(Limit::Bytes(bytes)),
        _ => Err(BuildError::WrongValue { knob: "limit" }),
    }
}

fn weights(choice: &Choice, context: &QueueContext<'_>) -> Result<Weights, BuildError> {
    let named = optional(choice, "weights", KnobValue::as_per_flow)?.unwrap_or_default();
    let resolve = |(flow, weight): (String, f64)| match (context.flow_named)(&flow) {
        Some(id) => Ok((id, weight)),
        None => Err(BuildError::UnknownFlow { knob: "weights", flow }),
    };
    Ok(Weights(named.into_iter().map(resolve).collect::<Result<_, _>>()?))
}
