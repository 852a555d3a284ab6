//! The one rule by which a claim holds, differs or fails. It looks at numbers only, never at which
//! claim it is.

use ackord_measure::stats::Estimate;
use ackord_measure::{Claim, Verdict};

/// The rule in words, for reports.
pub(super) const RULE: &str = "A number holds if the paper's value lies within the 95 % interval \
    of our mean, or no further from it than the tolerance stated with the claim. A limit holds if \
    our mean keeps it. Where that is not so, the claim differs if its direction is borne out (who \
    gets more, what grows) and fails if not even that.";

/// What a claim says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Expected {
    /// This value, with a tolerance relative to it.
    Value { value: f64, tolerance: f64 },
    /// No less.
    AtLeast(f64),
    /// No more.
    AtMost(f64),
    /// No less and no more.
    Between(f64, f64),
}

/// Whether the direction of the claim is borne out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Agrees,
    Opposed,
}

impl Direction {
    pub(super) fn agrees_if(condition: bool) -> Direction {
        if condition { Direction::Agrees } else { Direction::Opposed }
    }
}

/// A claim before it is judged.
pub(super) struct Stated {
    pub(super) id: String,
    pub(super) what: String,
    pub(super) unit: &'static str,
    pub(super) paper: Option<f64>,
    pub(super) expected: Expected,
    pub(super) measured: Estimate,
    pub(super) direction: Direction,
    pub(super) why: String,
}

impl Stated {
    pub(super) fn judged(self) -> Claim {
        let Estimate { mean, ci95, runs, .. } = self.measured;
        Claim {
            verdict: judge(self.expected, mean, ci95, self.direction),
            id: self.id,
            what: self.what,
            unit: self.unit.to_owned(),
            paper: self.paper,
            measured: mean,
            ci95,
            runs,
            why: self.why,
        }
    }
}

/// The verdict on a mean with this half width of its interval, if there are several runs.
pub(super) fn judge(
    expected: Expected,
    mean: f64,
    ci95: Option<f64>,
    direction: Direction,
) -> Verdict {
    let holds = match expected {
        Expected::Value { value, tolerance } => {
            let allowed = (tolerance * value.abs()).max(ci95.unwrap_or(0.0));
            (mean - value).abs() <= allowed
        }
        Expected::AtLeast(limit) => mean >= limit,
        Expected::AtMost(limit) => mean <= limit,
        Expected::Between(low, high) => (low..=high).contains(&mean),
    };
    match (holds, direction) {
        (true, _) => Verdict::Holds,
        (false, Direction::Agrees) => Verdict::Differs,
        (false, Direction::Opposed) => Verdict::Fails,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Agrees, Opposed};

    const TWELVE: Expected = Expected::Value { value: 12.0, tolerance: 0.25 };

    #[test]
    fn a_number_holds_up_to_its_tolerance_and_not_beyond() {
        assert_eq!(judge(TWELVE, 9.0, None, Agrees), Verdict::Holds);
        assert_eq!(judge(TWELVE, 15.0, None, Agrees), Verdict::Holds);
        assert_eq!(judge(TWELVE, 8.99, None, Agrees), Verdict::Differs);
        assert_eq!(judge(TWELVE, 15.01, None, Agrees), Verdict::Differs);
    }

    #[test]
    fn a_number_holds_within_a_wide_interval_and_a_narrow_one_takes_nothing_away() {
        assert_eq!(judge(TWELVE, 20.0, Some(8.0), Agrees), Verdict::Holds);
        assert_eq!(judge(TWELVE, 20.0, Some(7.9), Agrees), Verdict::Differs);
        assert_eq!(judge(TWELVE, 9.5, Some(0.1), Agrees), Verdict::Holds);
    }

    #[test]
    fn a_count_without_tolerance_holds_only_exactly() {
        let five = Expected::Value { value: 5.0, tolerance: 0.0 };
        assert_eq!(judge(five, 5.0, None, Opposed), Verdict::Holds);
        assert_eq!(judge(five, 4.0, None, Agrees), Verdict::Differs);
    }

    #[test]
    fn limits_are_kept_at_their_very_edge() {
        assert_eq!(judge(Expected::AtLeast(88.0), 88.0, None, Agrees), Verdict::Holds);
        assert_eq!(judge(Expected::AtLeast(88.0), 87.9, Some(5.0), Agrees), Verdict::Differs);
        assert_eq!(judge(Expected::AtMost(9.0), 9.0, None, Agrees), Verdict::Holds);
        assert_eq!(judge(Expected::AtMost(9.0), 9.1, None, Opposed), Verdict::Fails);
        assert_eq!(judge(Expected::Between(5.0, 6.0), 6.1, None, Agrees), Verdict::Differs);
    }

    #[test]
    fn what_goes_the_other_way_fails() {
        assert_eq!(judge(TWELVE, 100.0, Some(1.0), Opposed), Verdict::Fails);
    }
}
