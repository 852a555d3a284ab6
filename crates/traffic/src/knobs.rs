//! Knobs that several workloads have.

use crate::lengths::Lengths;
use crate::{Distribution, Draw, Offer};
use ackord_units::{Bytes, Knob, KnobKind, Knobs, RandomStream, Rate, Span};

pub(crate) const SET_BY_SCENARIO: &str = "set by the scenario";

/// The least and the most of a length.
pub(crate) const LEAST: Bytes = Bytes(1);
pub(crate) const MOST: Bytes = Bytes(1_000_000_000);

const PAUSES: KnobKind = KnobKind::Span { min: Span::ZERO, max: Span::from_secs(3600) };
const PAUSE_DISTRIBUTIONS: KnobKind = KnobKind::Choice(&["fixed", "uniform", "exponential"]);
const SIZE_DISTRIBUTIONS: KnobKind =
    KnobKind::Choice(&["fixed", "uniform", "exponential", "pareto"]);

/// A pause before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
pub(crate) struct GapKnobs {
    /// Mean pause before the next one
    #[knob(
        min = Span::ZERO, max = Span::from_secs(3600), default = "100 ms", source = SET_BY_SCENARIO
    )]
    gap: Span,
    #[knob(like = GAP_DISTRIBUTION)]
    gap_distribution: Distribution,
}

impl GapKnobs {
    pub(crate) fn draw(&self, stream: RandomStream) -> Draw {
        pause(self.gap, self.gap_distribution, stream)
    }

    /// The rate that `bytes` after each pause come to at most; without a bound if there is no pause.
    pub(crate) fn rate_of(&self, bytes: Bytes) -> Option<f64> {
        Offer::rate_of(bytes, self.gap)
    }
}

const GAP_DISTRIBUTION: Knob = Knob {
    name: "gap_distribution",
    kind: PAUSE_DISTRIBUTIONS,
    default: "fixed",
    doc: "How pauses are spread about their mean: not at all, uniformly from nothing to twice the \
          mean, or exponentially",
    source: SET_BY_SCENARIO,
};

/// A pause before the answer.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
pub(crate) struct ThinkKnobs {
    /// Mean time from the arrival of the whole question to the answer
    #[knob(
        min = Span::ZERO, max = Span::from_secs(3600), default = "0 s", source = SET_BY_SCENARIO
    )]
    think: Span,
    /// How these times are spread about their mean, as for gap_distribution
    #[knob(like = GAP_DISTRIBUTION)]
    think_distribution: Distribution,
}

impl ThinkKnobs {
    pub(crate) fn draw(&self, stream: RandomStream) -> Draw {
        pause(self.think, self.think_distribution, stream)
    }
}

/// Pauses, in nanoseconds.
pub(crate) fn pause(mean: Span, distribution: Distribution, stream: RandomStream) -> Draw {
    Draw::new(mean.as_nanos(), distribution, stream)
}

/// Lengths of this mean.
pub(crate) fn lengths(mean: Bytes, distribution: Distribution, stream: RandomStream) -> Lengths {
    Lengths::Drawn(Draw::new(mean.get(), distribution, stream))
}

pub(crate) const SIZE_DISTRIBUTION: Knob = Knob {
    name: "size_distribution",
    kind: SIZE_DISTRIBUTIONS,
    default: "fixed",
    doc: "How lengths are spread about their mean: not at all, uniformly from nothing to twice the \
          mean, exponentially, or heavy-tailed (Pareto, index 1.5, cut off at a thousand times the \
          mean)",
    source: SET_BY_SCENARIO,
};

pub(crate) const READING: Knob = Knob {
    name: "reading",
    kind: PAUSES,
    default: "5 s",
    doc: "Mean time from the end of a page to the request for the next",
    source: SET_BY_SCENARIO,
};

pub(crate) const COUNT: Knob = Knob {
    name: "count",
    kind: KnobKind::Count { unit: "times", min: 1, max: 1_000_000 },
    default: "",
    doc: "How many there are before the connection is closed; no end when absent",
    source: SET_BY_SCENARIO,
};

pub(crate) const RATE: Knob = Knob {
    name: "rate",
    kind: KnobKind::Rate {
        min: Rate::from_bits_per_sec(8),
        max: Rate::from_bits_per_sec(1_000_000_000_000),
    },
    default: "1 Mbit/s",
    doc: "Rate at which data is written during a burst",
    source: SET_BY_SCENARIO,
};

pub(crate) const ON: Knob = Knob {
    name: "on",
    kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(1_000_000) },
    default: "1 s",
    doc: "Mean length of a burst",
    source: SET_BY_SCENARIO,
};

pub(crate) const ON_DISTRIBUTION: Knob = Knob {
    name: "on_distribution",
    doc: "How these times are spread about their mean: not at all, uniformly from nothing to twice the \
          mean, exponentially, or heavy-tailed (Pareto, index 1.5, cut off at a thousand times the \
          mean)",
    ..SIZE_DISTRIBUTION
};

pub(crate) const OFF: Knob = Knob {
    name: "off",
    kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1_000_000) },
    default: "0 s",
    doc: "Mean length of the silence after a burst",
    source: SET_BY_SCENARIO,
};
