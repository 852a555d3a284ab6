//! Every queue and loss model a link offers, listed once with its knobs, and how a choice becomes
//! one.

use crate::link::LossModel;
use crate::queue::{
    ArrivalCounts, DropTail, Limit, PaperConfig, PaperDrop, PracticalConfig, PracticalDrop, Queue,
    Threshold, TripSource, Weights,
};
use crate::random::Stream;
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Rate, Span};
use ackord_wire::FlowId;

const LIMIT: Knob = Knob {
    name: "limit",
    kind: KnobKind::PacketsOrBytes,
    default: "50 packets",
    doc: "Capacity, without the packet being transmitted",
    source: "ns-2's default queue",
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
    Mechanism {
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
            Knob {
                name: "weights",
                kind: KnobKind::PerFlow { min: 0.01, max: 100.0 },
                default: "",
                doc: "A connection's share as a multiple of the others', by flow name",
                source: "Chae and Choi 2004 §4.1",
            },
        ],
    },
];

/// Loss models of a link, applied after the queue, to packets on the wire.
pub static LOSS: &[Mechanism] = &[Mechanism {
    name: "random",
    family: "loss-model",
    summary: "Each packet is lost with the same probability, independently",
    source: "Bernoulli loss",
    knobs: &[Knob {
        name: "per_packet",
        kind: KnobKind::Ratio,
        default: "0 %",
        doc: "Probability that a packet is lost",
        source: "set by the scenario",
    }],
}];

/// What a queue is told about where it stands.
pub struct QueueContext<'a> {
    /// The link's rate.
    pub rate: Rate,
    /// The link's propagation delay.
    pub delay: Span,
    /// The connection of a flow by the flow's name.
    pub flow_named: &'a dyn Fn(&str) -> Option<FlowId>,
}

/// Why a choice cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The choice is not one of this crate's.
    #[error("there is no {family} called `{name}`")]
    UnknownMechanism {
        /// What was wanted.
        family: &'static str,
        /// The name given.
        name: String,
    },
    /// A knob names a flow that does not exist.
    #[error("`{knob}` names a flow `{flow}`, which does not exist")]
    UnknownFlow {
        /// The knob.
        knob: &'static str,
        /// The name given.
        flow: String,
    },
    /// A knob has a value of another kind than it lists, or none where it needs one.
    #[error("`{knob}` has no valid value")]
    WrongValue {
        /// The knob.
        knob: &'static str,
    },
}

/// The queue somebody chose.
pub fn build_queue(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    match choice.mechanism.name {
        "drop-tail" => Ok(Queue::DropTail(DropTail::new(limit(choice)?))),
        "selective-drop" => match word(choice, "mode")?.as_str() {
            "paper" => paper_drop(choice, context),
            _ => practical_drop(choice, context),
        },
        name => Err(BuildError::UnknownMechanism { family: "queue", name: name.to_owned() }),
    }
}

/// The loss model somebody chose, drawing from the link's own stream.
pub fn build_loss(choice: &Choice, stream: Stream) -> Result<LossModel, BuildError> {
    match choice.mechanism.name {
        "random" => {
            let per_packet = needed(choice, "per_packet", KnobValue::as_ratio)?;
            Ok(LossModel::random(per_packet, stream))
        }
        name => Err(BuildError::UnknownMechanism { family: "loss-model", name: name.to_owned() }),
    }
}

fn paper_drop(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let tau = optional(choice, "tau", KnobValue::as_span)?.unwrap_or(context.delay);
    let config = PaperConfig {
        limit: limit(choice)?,
        threshold: threshold(choice)?,
        arrival_counts: match word(choice, "arrival")?.as_str() {
            "counts" => ArrivalCounts::Yes,
            _ => ArrivalCounts::No,
        },
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

fn limit(choice: &Choice) -> Result<Limit, BuildError> {
    match choice.value("limit") {
        Some(KnobValue::Packets(packets)) => {
            Ok(Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX)))
        }
        Some(KnobValue::Bytes(bytes)) => Ok(Limit::Bytes(bytes)),
        _ => Err(BuildError::WrongValue { knob: "limit" }),
    }
}

fn threshold(choice: &Choice) -> Result<Threshold, BuildError> {
    match optional(choice, "threshold", KnobValue::as_count)? {
        Some(packets) => Ok(Threshold::Fixed(u32::try_from(packets).unwrap_or(u32::MAX))),
        None => Ok(Threshold::Best { factor: needed(choice, "factor", KnobValue::as_number)? }),
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

fn word(choice: &Choice, knob: &'static str) -> Result<String, BuildError> {
    needed(choice, knob, KnobValue::as_choice)
}

fn needed<T>(
    choice: &Choice,
    knob: &'static str,
    read: impl Fn(&KnobValue) -> Option<T>,
) -> Result<T, BuildError> {
    optional(choice, knob, read)?.ok_or(BuildError::WrongValue { knob })
}

/// The value of a knob that may have none.
fn optional<T>(
    choice: &Choice,
    knob: &'static str,
    read: impl Fn(&KnobValue) -> Option<T>,
) -> Result<Option<T>, BuildError> {
    match choice.value(knob) {
        None => Ok(None),
        Some(value) => read(&value).map(Some).ok_or(BuildError::WrongValue { knob }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Ratio;
    use std::collections::BTreeMap;

    fn mechanism(name: &str) -> &'static Mechanism {
        QUEUE.iter().chain(LOSS).find(|mechanism| mechanism.name == name).expect("registered")
    }

    fn build(choice: &Choice) -> Result<Queue, BuildError> {
        let flow_named = |name: &str| (name == "voice").then_some(FlowId(3));
        let (rate, delay) = (Rate::from_mbits_per_sec(2), Span::from_millis(5));
        build_queue(choice, &QueueContext { rate, delay, flow_named: &flow_named })
    }

    #[test]
    fn everything_registered_can_be_built_with_its_defaults() {
        for mechanism in QUEUE {
            for knob in mechanism.knobs {
                knob.default_value();
            }
            build(&Choice::of(mechanism)).expect(mechanism.name);
        }
        for mechanism in LOSS {
            build_loss(&Choice::of(mechanism), Stream::for_element(1, "loss"))
                .expect(mechanism.name);
        }
    }

    #[test]
    fn the_mode_decides_which_selective_drop_it_is() {
        let choice = Choice::of(mechanism("selective-drop"));
        assert!(matches!(build(&choice), Ok(Queue::PracticalDrop(_))));
        let paper = choice.with("mode", KnobValue::Choice("paper".to_owned()));
        assert!(matches!(build(&paper), Ok(Queue::PaperDrop(_))));
    }

    #[test]
    fn a_weight_for_an_unknown_flow_is_refused_by_name() {
        let weigh = |flow: &str| {
            let table = BTreeMap::from([(flow.to_owned(), 2.0)]);
            build(
                &Choice::of(mechanism("selective-drop")).with("weights", KnobValue::PerFlow(table)),
            )
        };
        assert!(weigh("voice").is_ok());
        let refused = weigh("vioce").map(drop);
        assert_eq!(
            refused,
            Err(BuildError::UnknownFlow { knob: "weights", flow: "vioce".to_owned() })
        );
    }

    #[test]
    fn a_mechanism_of_another_family_is_refused() {
        let refused = build(&Choice::of(mechanism("random"))).map(drop);
        assert!(matches!(refused, Err(BuildError::UnknownMechanism { family: "queue", .. })));
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_refused() {
        let choice = Choice::of(mechanism("drop-tail")).with("limit", KnobValue::Ratio(Ratio::ONE));
        assert_eq!(build(&choice).map(drop), Err(BuildError::WrongValue { knob: "limit" }));
    }
}
