//! Propagation delays that are drawn at random.

use super::JitterKnobs;
use crate::link::{DelayDistribution, DelayShape, Jitter, JitterConfig, PacketOrder, Redraw};
use ackord_units::{Keyword, Knobs, RandomStream, Ratio, Span};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
enum Distribution {
    Normal,
    Uniform,
}

/// How delays are spread.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
struct SpreadKnobs {
    /// What delays are drawn from; the mean is the link's `delay`
    #[knob(
        default = "normal",
        source = "this project: Park et al. 2008 §4.1 gives a mean and a deviation only"
    )]
    distribution: Distribution,
    /// Standard deviation of the draws
    #[knob(
        min = Span::ZERO, max = Span::from_secs(10), default = "0 s",
        source = "set by the scenario"
    )]
    deviation: Span,
    /// Draws below it are raised to it
    #[knob(
        min = Span::ZERO, max = Span::from_secs(10), default = "0 s",
        source = "no packet arrives before it was sent"
    )]
    floor: Span,
    /// Whether packets may overtake one another, or wait for the one before
    #[knob(default = "free", source = "ns-2's DelayLink: free unless avoidReordering_ is set")]
    order: PacketOrder,
}

impl SpreadKnobs {
    fn jitter(&self, mean: Span, when: Redraw, stream: RandomStream) -> Jitter {
        let shape = match self.distribution {
            Distribution::Normal => DelayShape::Normal,
            Distribution::Uniform => DelayShape::Uniform,
        };
        let distribution =
            DelayDistribution { shape, mean, deviation: self.deviation, floor: self.floor };
        Jitter::new(JitterConfig { distribution, when, order: self.order }, stream)
    }
}

/// One delay for all packets until it is drawn anew, at fixed intervals
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "jitter",
    name = "redraw",
    source = "Park et al. 2008 §4.1, after Leung, Li and Yang 2007"
)]
pub struct RedrawKnobs {
    /// How long a delay holds, from the start of the run on
    #[knob(
        min = Span::from_micros(100), max = Span::from_secs(3_600), default = "50 ms",
        source = "Park et al. 2008 §4.1: 50 ms and 250 ms"
    )]
    every: Span,
    #[knob(flatten)]
    spread: SpreadKnobs,
}

impl JitterKnobs for RedrawKnobs {
    fn build(&self, delay: Span, stream: RandomStream) -> Jitter {
        self.spread.jitter(delay, Redraw::Every(self.every), stream)
    }
}

/// Every packet has a delay of its own
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "jitter", name = "per-packet", source = "tc-netem(8), delay with jitter")]
pub struct PerPacketKnobs {
    #[knob(flatten)]
    spread: SpreadKnobs,
}

impl JitterKnobs for PerPacketKnobs {
    fn build(&self, delay: Span, stream: RandomStream) -> Jitter {
        self.spread.jitter(delay, Redraw::PerPacket, stream)
    }
}

/// Some packets are held back, and those behind overtake them
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "jitter",
    name = "held-back",
    source = "tc-netem(8), reorder, which instead sends a share at once and delays the others"
)]
pub struct HeldBackKnobs {
    /// Probability that a packet is held back
    #[knob(default = "1 %", source = "set by the scenario")]
    share: Ratio,
    /// For how long: what is sent within this time overtakes it
    #[knob(
        min = Span::ZERO, max = Span::from_secs(10), default = "10 ms",
        source = "set by the scenario"
    )]
    by: Span,
}

impl JitterKnobs for HeldBackKnobs {
    fn build(&self, delay: Span, stream: RandomStream) -> Jitter {
        let shape = DelayShape::HeldBack { share: self.share, by: self.by };
        let (deviation, floor) = (Span::ZERO, Span::ZERO);
        let distribution = DelayDistribution { shape, mean: delay, deviation, floor };
        let (when, order) = (Redraw::PerPacket, PacketOrder::Free);
        Jitter::new(JitterConfig { distribution, when, order }, stream)
    }
}
