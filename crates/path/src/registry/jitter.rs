//! Propagation delays that are drawn at random.

use super::{BuildError, keyword, needed};
use crate::link::{DelayDistribution, DelayShape, Jitter, JitterConfig, PacketOrder, Redraw};
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

const EVERY: Knob = Knob {
    name: "every",
    kind: KnobKind::Span { min: Span::from_micros(100), max: Span::from_secs(3_600) },
    default: "50 ms",
    doc: "How long a delay holds, from the start of the run on",
    source: "Park et al. 2008 §4.1: 50 ms and 250 ms",
};

const DISTRIBUTION: Knob = Knob {
    name: "distribution",
    kind: KnobKind::Choice(&["normal", "uniform"]),
    default: "normal",
    doc: "What delays are drawn from; the mean is the link's `delay`",
    source: "this project: Park et al. 2008 §4.1 gives a mean and a deviation only",
};

const DEVIATION: Knob = Knob {
    name: "deviation",
    kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
    default: "0 s",
    doc: "Standard deviation of the draws",
    source: "set by the scenario",
};

const FLOOR: Knob = Knob {
    name: "floor",
    kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
    default: "0 s",
    doc: "Draws below it are raised to it",
    source: "no packet arrives before it was sent",
};

const ORDER: Knob = Knob {
    name: "order",
    kind: KnobKind::Choice(&["free", "kept"]),
    default: "free",
    doc: "Whether packets may overtake one another, or wait for the one before",
    source: "ns-2's DelayLink: free unless avoidReordering_ is set",
};

/// How a link's propagation delay may be drawn.
pub static JITTER: &[Mechanism] = &[
    Mechanism {
        name: "redraw",
        family: "jitter",
        summary: "One delay for all packets until it is drawn anew, at fixed intervals",
        source: "Park et al. 2008 §4.1, after Leung, Li and Yang 2007",
        knobs: &[EVERY, DISTRIBUTION, DEVIATION, FLOOR, ORDER],
    },
    Mechanism {
        name: "per-packet",
        family: "jitter",
        summary: "Every packet has a delay of its own",
        source: "tc-netem(8), delay with jitter",
        knobs: &[DISTRIBUTION, DEVIATION, FLOOR, ORDER],
    },
    Mechanism {
        name: "held-back",
        family: "jitter",
        summary: "Some packets are held back, and those behind overtake them",
        source: "tc-netem(8), reorder, which instead sends a share at once and delays the others",
        knobs: &[
            Knob {
                name: "share",
                kind: KnobKind::Ratio,
                default: "1 %",
                doc: "Probability that a packet is held back",
                source: "set by the scenario",
            },
            Knob {
                name: "by",
                kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
                default: "10 ms",
                doc: "For how long: what is sent within this time overtakes it",
                source: "set by the scenario",
            },
        ],
    },
];

/// The delays somebody chose about a mean of `delay`, drawn from the link's own stream.
pub fn build_jitter(choice: &Choice, delay: Span, stream: Stream) -> Result<Jitter, BuildError> {
    if choice.mechanism.name == "held-back" {
        let share = needed(choice, "share", KnobValue::as_ratio)?;
        let shape = DelayShape::HeldBack { share, by: needed(choice, "by", KnobValue::as_span)? };
        let (deviation, floor) = (Span::ZERO, Span::ZERO);
        let distribution = DelayDistribution { shape, mean: delay, deviation, floor };
        let config =
            JitterConfig { distribution, when: Redraw::PerPacket, order: PacketOrder::Free };
        return Ok(Jitter::new(config, stream));
    }
    let when = match choice.mechanism.name {
        "redraw" => Redraw::Every(needed(choice, "every", KnobValue::as_span)?),
        "per-packet" => Redraw::PerPacket,
        name => {
            return Err(BuildError::UnknownMechanism { family: "jitter", name: name.to_owned() });
        }
    };
    let distribution = DelayDistribution {
        shape: keyword(
            choice,
            "distribution",
            &[("normal", DelayShape::Normal), ("uniform", DelayShape::Uniform)],
        )?,
        mean: delay,
        deviation: needed(choice, "deviation", KnobValue::as_span)?,
        floor: needed(choice, "floor", KnobValue::as_span)?,
    };
    let orders = [("free", PacketOrder::Free), ("kept", PacketOrder::Kept)];
    let order = keyword(choice, "order", &orders)?;
    Ok(Jitter::new(JitterConfig { distribution, when, order }, stream))
}
