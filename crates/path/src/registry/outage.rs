//! Outages of a link.

use super::OutageKnobs;
use crate::link::{Outage, OutageEffect, Sojourn, SojournShape, Windows};
use ackord_units::{Contradiction, Keyword, Knob, KnobKind, Knobs, RandomStream, Span};

const LONGEST: Span = Span::from_secs(86_400);

const DOES: Knob = Knob {
    name: "does",
    kind: KnobKind::Choice(OutageEffect::WORDS),
    default: "loses",
    doc: "`loses`: every packet whose transmission overlaps the outage is lost, as in a fade; \
          `holds`: none is begun, packets wait, as in a handover",
    source: "Proxy TCP Fig. 6 to 8: fades at given times, in which packets are lost",
};

/// The link is out at given times, once or again and again
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "outage", name = "schedule",
    source = "set by the scenario", check = Self::in_order
)]
pub struct ScheduledOutageKnobs {
    /// When outages begin, from the start of the run (with `every`: of each period), in order
    #[knob(min = Span::ZERO, max = LONGEST, source = "set by the scenario")]
    from: Option<Vec<Span>>,
    /// How long they last: one for all, or one for each
    #[knob(name = "for", min = Span::from_nanos(1), max = LONGEST, source = "set by the scenario")]
    lengths: Option<Vec<Span>>,
    /// After how long the whole list begins anew; never when absent
    #[knob(min = Span::from_micros(1), max = LONGEST, source = "set by the scenario")]
    every: Option<Span>,
    #[knob(like = DOES)]
    does: OutageEffect,
}

impl ScheduledOutageKnobs {
    fn in_order(&self) -> Result<(), Contradiction> {
        self.windows().map(drop)
    }

    /// When each outage begins and how long it lasts.
    fn windows(&self) -> Result<Vec<(Span, Span)>, Contradiction> {
        let wrong = |why: String| {
            Contradiction::new(
                why,
                "`from` and `for` lists, in order and without overlap, all within `every`",
            )
        };
        let (Some(from), Some(lengths)) = (&self.from, &self.lengths) else {
            return Err(wrong("a `schedule` needs both `from` and `for`".to_owned()));
        };
        let lengths = match lengths.as_slice() {
            [one] => vec![*one; from.len()],
            lengths => lengths.to_vec(),
        };
        if from.len() != lengths.len() {
            let (from, lengths) = (from.len(), lengths.len());
            return Err(wrong(format!("`from` has {from} times and `for` {lengths}")));
        }
        let windows: Vec<_> = from.iter().copied().zip(lengths).collect();
        for pair in windows.windows(2) {
            let ((first, lasts), (next, _)) = (pair[0], pair[1]);
            if next < first + lasts {
                return Err(wrong(format!(
                    "the outage from {next} begins before the one from {first} is over"
                )));
            }
        }
        let end = windows.last().map_or(Span::ZERO, |&(from, lasts)| from + lasts);
        match self.every {
            Some(every) if every < end => {
                Err(wrong(format!("the outages end after {end}, but begin anew every {every}")))
            }
            _ => Ok(windows),
        }
    }
}

impl OutageKnobs for ScheduledOutageKnobs {
    fn build(&self, _stream: RandomStream) -> Result<Outage, Contradiction> {
        let windows = Windows::Listed { list: self.windows()?, every: self.every };
        Ok(Outage::new(windows, self.does))
    }

    fn holds(&self) -> bool {
        self.does == OutageEffect::Holds
    }
}

/// What times are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
enum Distribution {
    Exponential,
    Uniform,
    Constant,
    Lognormal,
}

/// How the two directions of a link come by their outages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
enum Directions {
    Together,
    Apart,
}

/// The link is up and out by turns, for times drawn at random; it begins up
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "outage",
    name = "random",
    source = "alternating renewal process; with exponential times the on/off fade of Gilbert 1960 in continuous \
              time"
)]
pub struct RandomOutageKnobs {
    /// Mean time from one outage to the next
    #[knob(
        min = Span::from_micros(1), max = LONGEST, default = "10 s", source = "set by the scenario"
    )]
    up: Span,
    /// Mean length of an outage
    #[knob(
        min = Span::from_micros(1), max = LONGEST, default = "1 s", source = "set by the scenario"
    )]
    down: Span,
    /// What the times up are drawn from; `uniform` is from 0 to twice the mean
    #[knob(
        default = "exponential",
        source = "no memory: the next outage is as likely at any time"
    )]
    up_distribution: Distribution,
    /// What the lengths are drawn from
    #[knob(default = "exponential", source = "as `up_distribution`")]
    down_distribution: Distribution,
    /// Standard deviation of `lognormal` times, as a multiple of their mean
    #[knob(min = 0.01, max = 10.0, default = "1", source = "that of exponential times")]
    variation: f64,
    #[knob(like = DOES)]
    does: OutageEffect,
    /// Whether both directions of the link are out at the same times, or each is drawn for itself
    #[knob(default = "together", source = "a fade takes data and acknowledgments alike")]
    directions: Directions,
}

impl RandomOutageKnobs {
    fn sojourn(&self, mean: Span, distribution: Distribution) -> Sojourn {
        let shape = match distribution {
            Distribution::Exponential => SojournShape::Exponential,
            Distribution::Uniform => SojournShape::Uniform,
            Distribution::Constant => SojournShape::Constant,
            Distribution::Lognormal => SojournShape::Lognormal { variation: self.variation },
        };
        Sojourn { mean, shape }
    }
}

impl OutageKnobs for RandomOutageKnobs {
    fn build(&self, stream: RandomStream) -> Result<Outage, Contradiction> {
        let between = self.sojourn(self.up, self.up_distribution);
        let length = self.sojourn(self.down, self.down_distribution);
        Ok(Outage::new(Windows::Drawn { between, length, stream }, self.does))
    }

    fn is_shared(&self) -> bool {
        self.directions == Directions::Together
    }

    fn holds(&self) -> bool {
        self.does == OutageEffect::Holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: &[u64]) -> Option<Vec<Span>> {
        Some(millis.iter().copied().map(Span::from_millis).collect())
    }

    fn scheduled(from: &[u64], lengths: &[u64]) -> ScheduledOutageKnobs {
        let (from, lengths) = (millis(from), millis(lengths));
        ScheduledOutageKnobs { from, lengths, ..ScheduledOutageKnobs::default() }
    }

    fn why(knobs: &ScheduledOutageKnobs) -> String {
        assert!(knobs.build(RandomStream::for_element(1, "outage")).is_err());
        knobs.check().expect_err("a contradiction").why
    }

    #[test]
    fn one_length_serves_all_and_lists_have_to_agree() {
        assert_eq!(scheduled(&[10, 50], &[20]).check(), Ok(()));
        assert_eq!(scheduled(&[10, 50], &[40, 20]).check(), Ok(()));
        assert_eq!(why(&scheduled(&[1, 2, 3], &[1, 1])), "`from` has 3 times and `for` 2");
        let missing = why(&ScheduledOutageKnobs::default());
        assert_eq!(missing, "a `schedule` needs both `from` and `for`");
    }

    #[test]
    fn windows_that_overlap_or_outlast_their_period_are_problems() {
        let overlap = why(&scheduled(&[10, 50], &[41]));
        assert_eq!(overlap, "the outage from 50 ms begins before the one from 10 ms is over");
        let periodic =
            ScheduledOutageKnobs { every: Some(Span::from_millis(29)), ..scheduled(&[10], &[20]) };
        assert_eq!(why(&periodic), "the outages end after 30 ms, but begin anew every 29 ms");
    }

    #[test]
    fn directions_fade_together_unless_they_are_told_not_to() {
        let random = RandomOutageKnobs::default();
        assert!(random.is_shared() && scheduled(&[1], &[1]).is_shared());
        assert!(!RandomOutageKnobs { directions: Directions::Apart, ..random }.is_shared());
    }
}
