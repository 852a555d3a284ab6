//! Queues with a line per connection, or per bucket of connections, and their knobs.

use super::super::{BuildError, keyword, needed, optional};
use super::managed::{CE_THRESHOLD, ECN, INTERVAL, MTU, TARGET, codel_config};
use super::{LIMIT, QueueContext, WEIGHTS, limit, weights};
use crate::queue::{
    BucketBy, Drr, DrrConfig, FqCodel, FqCodelConfig, PushOut, Queue, Sfq, SfqConfig, SfqTurn,
};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

const PUSH_OUT: Knob = Knob {
    name: "push_out",
    kind: KnobKind::Choice(&["tail", "head"]),
    default: "tail",
    doc: "Which packet of the longest line makes room when the queue is full",
    source: "McKenney 1990 (buffer stealing); Linux's sfq, whose headdrop is the other",
};

const QUANTUM: Knob = Knob {
    name: "quantum",
    kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000) },
    default: "1500 B",
    doc: "Bytes a line may send per turn; with less than the longest packet a turn may pass \
          without one",
    source: "Shreedhar and Varghese 1995 §3.3: constant work per packet from there on",
};

const BUCKETS: Knob = Knob {
    name: "buckets",
    kind: KnobKind::Count { unit: "lines", min: 1, max: 65_536 },
    default: "1024",
    doc: "How many lines flows are put into",
    source: "RFC 8290 §5.2.3; Linux's sfq",
};

const BUCKET_BY: Knob = Knob {
    name: "bucket_by",
    kind: KnobKind::Choice(&["hash", "flow"]),
    default: "hash",
    doc: "Whether a salted hash decides the line, so that flows may share one, or the flow's \
          number, so that they do not while there are enough lines",
    source: "RFC 8290 §4.1.1",
};

pub(super) const SFQ: Mechanism = Mechanism {
    name: "sfq",
    family: "queue",
    summary: "A line per bucket of connections by a hash that changes, served in turn",
    source: "McKenney 1990",
    knobs: &[
        Knob { default: "127 packets", source: "Linux's sfq", ..LIMIT },
        BUCKETS,
        BUCKET_BY,
        Knob {
            name: "perturb_every",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(1_000_000) },
            default: "10 s",
            doc: "How often the hash is salted anew; what waits is sorted anew then",
            source: "McKenney 1990 §4; tc-sfq recommends 10 s",
        },
        Knob {
            name: "turn",
            kind: KnobKind::Choice(&["packet", "quantum"]),
            default: "packet",
            doc: "Whether a line sends a packet per turn, or bytes up to a quantum",
            source: "McKenney 1990 §3; Linux's sfq has a quantum",
        },
        Knob { source: "Linux's sfq: one packet of the link's MTU", ..QUANTUM },
        PUSH_OUT,
    ],
};

pub(super) const FQ_CODEL: Mechanism = Mechanism {
    name: "fq-codel",
    family: "queue",
    summary: "A line per bucket of connections, each under CoDel; lines new to the queue go first",
    source: "RFC 8290",
    knobs: &[
        Knob { default: "10240 packets", source: "RFC 8290 §5.2.2", ..LIMIT },
        Knob {
            name: "memory_limit",
            kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000_000) },
            default: "32 MiB",
            doc: "Bytes of packets that may wait beside the limit",
            source: "Linux's fq_codel",
        },
        BUCKETS,
        BUCKET_BY,
        Knob { default: "1514 B", source: "RFC 8290 §5.2.4", ..QUANTUM },
        Knob {
            name: "drop_batch",
            kind: KnobKind::Count { unit: "packets", min: 1, max: 1_000_000 },
            default: "64",
            doc: "The most packets an overfull queue takes from the longest line at once, of half \
                  of its packets",
            source: "RFC 8290 §4.1",
        },
        TARGET,
        INTERVAL,
        MTU,
        Knob { default: "on", source: "RFC 8290 §5.2.6", ..ECN },
        CE_THRESHOLD,
    ],
};

pub(super) const DRR: Mechanism = Mechanism {
    name: "drr",
    family: "queue",
    summary: "A line per connection, served in turn by bytes",
    source: "Shreedhar and Varghese 1995",
    knobs: &[
        LIMIT,
        QUANTUM,
        Knob {
            default: "head",
            source: "ns-2's DRR; Shreedhar and Varghese 1995 leave it open",
            ..PUSH_OUT
        },
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
    keyword(choice, "push_out", &[("tail", PushOut::Tail), ("head", PushOut::Head)])
}

pub(super) fn sfq(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let quantum = needed(choice, "quantum", KnobValue::as_bytes)?;
    let config = SfqConfig {
        limit: limit(choice)?,
        buckets: count(choice, "buckets")?,
        bucket_by: bucket_by(choice)?,
        perturb_every: optional(choice, "perturb_every", KnobValue::as_span)?,
        turn: keyword(
            choice,
            "turn",
            &[("packet", SfqTurn::Packet), ("quantum", SfqTurn::Quantum(quantum))],
        )?,
        push_out: push_out(choice)?,
        stream: context.stream.clone(),
    };
    Ok(Queue::Sfq(Box::new(Sfq::new(config))))
}

pub(super) fn fq_codel(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let config = FqCodelConfig {
        limit: limit(choice)?,
        memory_limit: needed(choice, "memory_limit", KnobValue::as_bytes)?,
        buckets: count(choice, "buckets")?,
        bucket_by: bucket_by(choice)?,
        quantum: needed(choice, "quantum", KnobValue::as_bytes)?,
        drop_batch: count(choice, "drop_batch")?,
        codel: codel_config(choice)?,
        stream: context.stream.clone(),
    };
    Ok(Queue::FqCodel(Box::new(FqCodel::new(config))))
}

fn bucket_by(choice: &Choice) -> Result<BucketBy, BuildError> {
    keyword(choice, "bucket_by", &[("hash", BucketBy::Hash), ("flow", BucketBy::Flow)])
}

fn count(choice: &Choice, knob: &'static str) -> Result<u32, BuildError> {
    let count = needed(choice, knob, KnobValue::as_count)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}
