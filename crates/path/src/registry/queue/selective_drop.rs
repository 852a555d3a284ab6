//! Selective drop and its knobs.

use super::super::{BuildError, keyword, needed, optional};
use super::{LIMIT, QueueContext, WEIGHTS, limit, weights};
use crate::queue::{
    ArrivalCounts, PaperConfig, PaperDrop, PracticalConfig, PracticalDrop, Queue, Threshold,
    TripSource,
};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

pub(super) const SELECTIVE_DROP: Mechanism = Mechanism {
    name: "selective-drop",
    family: "queue",
    summary: "First in, first out; a connection over its share of queued packets is dropped",
    source: "Chae and Choi 2004 Eq. 5-9",
    knobs: &[
        LIMIT,
        Knob {
            name: "mode",
            kind: KnobKind::Choice(&["practical", "paper"]),
            default: "practical",
            doc: "As the paper describes it, or with what it leaves open worked out",
            source: "Chae and Choi 2004 §4.1",
        },
        Knob {
            name: "threshold",
            kind: KnobKind::Count { unit: "packets", min: 1, max: 1_000_000 },
            default: "",
            doc: "Q_thresh per connection; worked out by Eq. 9 when absent",
            source: "Chae and Choi 2004 Table 2",
        },
        Knob {
            name: "arrival",
            kind: KnobKind::Choice(&["counts", "does-not-count"]),
            default: "counts",
            doc: "Whether the arriving packet counts when it is compared with Q_thresh: the \
                  text allows both (paper mode)",
            source: "Chae and Choi 2004 §4.1",
        },
        Knob {
            name: "factor",
            kind: KnobKind::Number { min: 0.01, max: 100.0 },
            default: "1",
            doc: "Q_thresh as a multiple of W_best (Eq. 9 leaves the factor open)",
            source: "Chae and Choi 2004 Eq. 9",
        },
        Knob {
            name: "tau",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
            default: "",
            doc: "Propagation delay in Eq. 8; the link's own when absent (paper mode), learnt \
                  from the traffic's round trips (practical mode)",
            source: "Chae and Choi 2004 Eq. 6",
        },
        Knob {
            name: "t_ack",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1) },
            default: "0 s",
            doc: "Time the receiver takes to produce an acknowledgment, in Eq. 8 (paper mode)",
            source: "Chae and Choi 2004 Eq. 6",
        },
        Knob {
            name: "packet_length",
            kind: KnobKind::Bytes { min: Bytes(40), max: Bytes(65_535) },
            default: "",
            doc: "L_D in Eq. 8; the running mean of arriving packets when absent",
            source: "Chae and Choi 2004 Eq. 5",
        },
        Knob {
            name: "active_for",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
            default: "500 ms",
            doc: "A connection counts in N_C this long after its last packet (practical mode; \
                  in paper mode connections with a packet queued count)",
            source: "this project",
        },
        WEIGHTS,
    ],
};

pub(super) fn build(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    match keyword(choice, "mode", &[("practical", false), ("paper", true)])? {
        true => paper_drop(choice, context),
        false => practical_drop(choice, context),
    }
}

fn paper_drop(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let tau = optional(choice, "tau", KnobValue::as_span)?.unwrap_or(context.delay);
    let config = PaperConfig {
        limit: limit(choice)?,
        threshold: threshold(choice)?,
        arrival_counts: keyword(
            choice,
            "arrival",
            &[("counts", ArrivalCounts::Yes), ("does-not-count", ArrivalCounts::No)],
        )?,
        round_trip: tau * 2 + needed(choice, "t_ack", KnobValue::as_span)?,
        rate: context.rate,
        packet_length: optional(choice, "packet_length", KnobValue::as_bytes)?,
        weights: weights(choice, context)?,
    };
    Ok(Queue::PaperDrop(Box::new(PaperDrop::new(config))))
}

fn practical_drop(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let t_ack = needed(choice, "t_ack", KnobValue::as_span)?;
    let round_trip = match optional(choice, "tau", KnobValue::as_span)? {
        Some(tau) => TripSource::Given(tau * 2 + t_ack),
        None => TripSource::Learnt { at_first: context.delay * 2 + t_ack },
    };
    let config = PracticalConfig {
        limit: limit(choice)?,
        threshold: threshold(choice)?,
        round_trip,
        rate: context.rate,
        packet_length: optional(choice, "packet_length", KnobValue::as_bytes)?,
        active_for: needed(choice, "active_for", KnobValue::as_span)?,
        weights: weights(choice, context)?,
    };
    Ok(Queue::PracticalDrop(Box::new(PracticalDrop::new(config))))
}

fn threshold(choice: &Choice) -> Result<Threshold, BuildError> {
    match optional(choice, "threshold", KnobValue::as_count)? {
        Some(packets) => Ok(Threshold::Fixed(u32::try_from(packets).unwrap_or(u32::MAX))),
        None => Ok(Threshold::Best { factor: needed(choice, "factor", KnobValue::as_number)? }),
    }
}
