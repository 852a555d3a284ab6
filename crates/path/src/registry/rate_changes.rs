//! Rates that change.

use super::RateChangesKnobs;
use crate::link::{RateSteps, RateStepsConfig};
use ackord_units::{Contradiction, Knobs, Rate, Span};

const LONGEST: Span = Span::from_secs(86_400);

/// The link has another rate from given times on, once or again and again
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "rate-changes", name = "schedule",
    source = "RFC 7928 §8.2.6: varying available capacity", check = Self::in_order
)]
pub struct ScheduledRatesKnobs {
    /// When the rate changes, from the start of the run (with `every`: of each period), in order; before
    /// the first of them it is `rate`
    #[knob(min = Span::ZERO, max = LONGEST, source = "set by the scenario")]
    at: Option<Vec<Span>>,
    /// Which rate it changes to, one for each time; a packet under way goes on at it
    #[knob(
        min = Rate::from_bits_per_sec(1), max = Rate::from_bits_per_sec(1_000_000_000_000),
        source = "set by the scenario"
    )]
    to: Option<Vec<Rate>>,
    /// After how long the changes begin anew; never when absent
    #[knob(min = Span::from_micros(1), max = LONGEST, source = "set by the scenario")]
    every: Option<Span>,
}

impl ScheduledRatesKnobs {
    fn in_order(&self) -> Result<(), Contradiction> {
        self.changes().map(drop)
    }

    /// When the rate changes, and to which.
    fn changes(&self) -> Result<Vec<(Span, Rate)>, Contradiction> {
        let wrong = |why: String| {
            let allowed = "`at` and `to` lists of one length, times in order, before `every`";
            Contradiction::new(why, allowed)
        };
        let (Some(times), Some(rates)) = (&self.at, &self.to) else {
            return Err(wrong("a `schedule` of rates needs both `at` and `to`".to_owned()));
        };
        if times.len() != rates.len() {
            let (times, rates) = (times.len(), rates.len());
            return Err(wrong(format!("`at` has {times} times and `to` {rates} rates")));
        }
        if let Some(pair) = times.windows(2).find(|pair| pair[1] <= pair[0]) {
            let (first, next) = (pair[0], pair[1]);
            return Err(wrong(format!(
                "{next} comes after {first} in `at`, but times may not go back or repeat"
            )));
        }
        let last = times.last().copied().unwrap_or(Span::ZERO);
        match self.every {
            Some(every) if every <= last => Err(wrong(format!(
                "the last change is at {last}, but they begin anew every {every}"
            ))),
            _ => Ok(times.iter().copied().zip(rates.iter().copied()).collect()),
        }
    }
}

impl RateChangesKnobs for ScheduledRatesKnobs {
    fn build(&self, rate: Rate) -> Result<RateSteps, Contradiction> {
        let changes = self.changes()?;
        Ok(RateSteps::new(RateStepsConfig { at_first: rate, changes, every: self.every }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_disagree_or_go_back_are_problems() {
        let with = |millis: &[u64], mbits: &[u64]| {
            let at = millis.iter().copied().map(Span::from_millis).collect();
            let to = mbits.iter().copied().map(Rate::from_mbits_per_sec).collect();
            ScheduledRatesKnobs { at: Some(at), to: Some(to), every: None }
        };
        let why = |knobs: ScheduledRatesKnobs| {
            assert!(knobs.build(Rate::from_mbits_per_sec(1)).is_err());
            knobs.check().expect_err("a contradiction").why
        };
        assert_eq!(with(&[1, 2], &[3, 4]).check(), Ok(()));
        assert_eq!(why(with(&[1, 2], &[3])), "`at` has 2 times and `to` 1 rates");
        let back = "2 ms comes after 2 ms in `at`, but times may not go back or repeat";
        assert_eq!(why(with(&[2, 2], &[3, 4])), back);
        let every = Some(Span::from_millis(2));
        let long = "the last change is at 2 ms, but they begin anew every 2 ms";
        assert_eq!(why(ScheduledRatesKnobs { every, ..with(&[1, 2], &[3, 4]) }), long);
    }
}
