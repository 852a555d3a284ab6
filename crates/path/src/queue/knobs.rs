//! What a queue is built from, and the knobs that several queues have.

use super::{Limit, Queue, Weights};
use ackord_units::{Bytes, Knob, KnobKind, KnobType, KnobValue, RandomStream, Rate, Span};
use ackord_wire::FlowId;
use std::collections::BTreeMap;

/// What every queue's knobs lead to.
pub trait QueueKnobs {
    /// The queue, with nothing in it.
    fn build(&self, context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow>;
}

/// What a queue is told about where it stands.
pub struct QueuePlace<'a> {
    /// The link's rate.
    pub rate: Rate,
    /// The link's propagation delay.
    pub delay: Span,
    /// The connection of a flow by the flow's name.
    pub flow_named: &'a dyn Fn(&str) -> Option<FlowId>,
    /// The queue's own random numbers, for one that draws.
    pub stream: RandomStream,
}

/// A knob names a flow that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`weights` names a flow `{0}`, which does not exist")]
pub struct UnknownFlow(pub String);

impl QueuePlace<'_> {
    /// Weights by flow, from weights by the flows' names.
    pub(super) fn weights(
        &self,
        named: &Option<BTreeMap<String, f64>>,
    ) -> Result<Weights, UnknownFlow> {
        let resolve = |(flow, weight): (&String, &f64)| match (self.flow_named)(flow) {
            Some(id) => Ok((id, *weight)),
            None => Err(UnknownFlow(flow.clone())),
        };
        Ok(Weights(named.iter().flatten().map(resolve).collect::<Result<_, _>>()?))
    }
}

impl KnobType for Limit {
    fn to_value(&self) -> Option<KnobValue> {
        Some(match *self {
            Limit::Packets(packets) => KnobValue::Packets(packets.into()),
            Limit::Bytes(bytes) => KnobValue::Bytes(bytes),
        })
    }

    fn from_value(value: Option<KnobValue>) -> Option<Limit> {
        match value? {
            KnobValue::Packets(packets) => u32::try_from(packets).ok().map(Limit::Packets),
            KnobValue::Bytes(bytes) => Some(Limit::Bytes(bytes)),
            _ => None,
        }
    }
}

pub(super) const LIMIT: Knob = Knob {
    name: "limit",
    kind: KnobKind::PacketsOrBytes,
    default: "50 packets",
    doc: "Capacity, without the packet being transmitted",
    source: "ns-2's default queue",
};

pub(super) const WEIGHTS: Knob = Knob {
    name: "weights",
    kind: KnobKind::PerFlow { min: 0.01, max: 100.0 },
    default: "",
    doc: "A connection's share as a multiple of the others', by flow name",
    source: "Chae and Choi 2004 §4.1",
};

pub(super) const ECN: Knob = Knob {
    name: "ecn",
    kind: KnobKind::ON_OFF,
    default: "off",
    doc: "Whether packets of ECN-capable transports are marked in place of dropping",
    source: "RFC 3168 §5",
};

pub(super) const PUSH_OUT: Knob = Knob {
    name: "push_out",
    kind: KnobKind::Choice(&["tail", "head"]),
    default: "tail",
    doc: "Which packet of the longest line makes room when the queue is full",
    source: "McKenney 1990 (buffer stealing); Linux's sfq, whose headdrop is the other",
};

pub(super) const QUANTUM: Knob = Knob {
    name: "quantum",
    kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000) },
    default: "1500 B",
    doc: "Bytes a line may send per turn; with less than the longest packet a turn may pass \
          without one",
    source: "Shreedhar and Varghese 1995 §3.3: constant work per packet from there on",
};

pub(super) const BUCKETS: Knob = Knob {
    name: "buckets",
    kind: KnobKind::Count { unit: "lines", min: 1, max: 65_536 },
    default: "1024",
    doc: "How many lines flows are put into",
    source: "RFC 8290 §5.2.3; Linux's sfq",
};

pub(super) const BUCKET_BY: Knob = Knob {
    name: "bucket_by",
    kind: KnobKind::Choice(&["hash", "flow"]),
    default: "hash",
    doc: "Whether a salted hash decides the line, so that flows may share one, or the flow's \
          number, so that they do not while there are enough lines",
    source: "RFC 8290 §4.1.1",
};
