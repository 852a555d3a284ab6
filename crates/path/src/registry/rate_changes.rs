//! Rates that change, with their knobs.

use super::{BuildError, optional};
use crate::link::{RateSteps, RateStepsConfig};
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Rate, Span};

const LONGEST: Span = Span::from_secs(86_400);

/// How a link's rate may change.
pub static RATE_CHANGES: &[Mechanism] = &[Mechanism {
    name: "schedule",
    family: "rate-changes",
    summary: "The link has another rate from given times on, once or again and again",
    source: "RFC 7928 §8.2.6: varying available capacity",
    knobs: &[
        Knob {
            name: "at",
            kind: KnobKind::SpanList { min: Span::ZERO, max: LONGEST },
            default: "",
            doc: "When the rate changes, from the start of the run (with `every`: of each period), \
                  in order; before the first of them it is `rate`",
            source: "set by the scenario",
        },
        Knob {
            name: "to",
            kind: KnobKind::RateList {
                min: Rate::from_bits_per_sec(1),
                max: Rate::from_bits_per_sec(1_000_000_000_000),
            },
            default: "",
            doc: "Which rate it changes to, one for each time; a packet under way goes on at it",
            source: "set by the scenario",
        },
        Knob {
            name: "every",
            kind: KnobKind::Span { min: Span::from_micros(1), max: LONGEST },
            default: "",
            doc: "After how long the changes begin anew; never when absent",
            source: "set by the scenario",
        },
    ],
}];

/// What is wrong with rate changes as a whole, each knob being valid by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RateChangesProblem {
    /// One of the lists is missing.
    #[error("a `schedule` of rates needs both `at` and `to`")]
    ListMissing,
    /// As many rates as times.
    #[error("`at` has {times} times and `to` {rates} rates")]
    ListsDiffer {
        /// Times.
        times: usize,
        /// Rates.
        rates: usize,
    },
    /// Not in order.
    #[error("{next} comes after {first} in `at`, but times may not go back or repeat")]
    NotInOrder {
        /// One of them.
        first: Span,
        /// The one after it.
        next: Span,
    },
    /// The changes go on when they should begin anew.
    #[error("the last change is at {last}, but they begin anew every {every}")]
    LongerThanPeriod {
        /// The last change.
        last: Span,
        /// The period.
        every: Span,
    },
}

impl RateChangesProblem {
    /// What would be right.
    pub const ALLOWED: &'static str =
        "`at` and `to` lists of one length, times in order, before `every`";
}

/// Whether a choice with valid knobs makes sense as a whole.
pub fn check_rate_changes(choice: &Choice) -> Result<(), RateChangesProblem> {
    changes(choice).map(drop)
}

/// The rates somebody chose for a link that begins with `rate`.
pub fn build_rate_changes(choice: &Choice, rate: Rate) -> Result<RateSteps, BuildError> {
    let changes = changes(choice).map_err(|_| BuildError::WrongValue { knob: "at" })?;
    let every = optional(choice, "every", KnobValue::as_span)?;
    Ok(RateSteps::new(RateStepsConfig { at_first: rate, changes, every }))
}

fn changes(choice: &Choice) -> Result<Vec<(Span, Rate)>, RateChangesProblem> {
    let times = choice.value("at").and_then(|value| value.as_span_list());
    let rates = choice.value("to").and_then(|value| value.as_rate_list());
    let (Some(times), Some(rates)) = (times, rates) else {
        return Err(RateChangesProblem::ListMissing);
    };
    if times.len() != rates.len() {
        let (times, rates) = (times.len(), rates.len());
        return Err(RateChangesProblem::ListsDiffer { times, rates });
    }
    if let Some(pair) = times.windows(2).find(|pair| pair[1] <= pair[0]) {
        return Err(RateChangesProblem::NotInOrder { first: pair[0], next: pair[1] });
    }
    let last = times.last().copied().unwrap_or(Span::ZERO);
    match choice.value("every").and_then(|value| value.as_span()) {
        Some(every) if every <= last => Err(RateChangesProblem::LongerThanPeriod { last, every }),
        _ => Ok(times.into_iter().zip(rates).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_disagree_or_go_back_are_problems() {
        let with = |millis: &[u64], mbits: &[u64]| {
            let times = millis.iter().copied().map(Span::from_millis).collect();
            let rates = mbits.iter().copied().map(Rate::from_mbits_per_sec).collect();
            Choice::of(&RATE_CHANGES[0])
                .with("at", KnobValue::SpanList(times))
                .with("to", KnobValue::RateList(rates))
        };
        assert_eq!(check_rate_changes(&with(&[1, 2], &[3, 4])), Ok(()));
        let differ = RateChangesProblem::ListsDiffer { times: 2, rates: 1 };
        assert_eq!(check_rate_changes(&with(&[1, 2], &[3])), Err(differ));
        let ms = Span::from_millis;
        let back = RateChangesProblem::NotInOrder { first: ms(2), next: ms(2) };
        assert_eq!(check_rate_changes(&with(&[2, 2], &[3, 4])), Err(back));
        let periodic = with(&[1, 2], &[3, 4]).with("every", KnobValue::Span(ms(2)));
        let long = RateChangesProblem::LongerThanPeriod { last: ms(2), every: ms(2) };
        assert_eq!(check_rate_changes(&periodic), Err(long));
        assert!(build_rate_changes(&periodic, Rate::from_mbits_per_sec(1)).is_err());
    }
}
