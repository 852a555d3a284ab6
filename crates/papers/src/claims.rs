//! Claims as rows of data: what is claimed, what was measured, what is allowed, in which direction it goes, and the
//! figures behind it. The rule that judges them looks at numbers only: [`Claim::judge`].

use crate::cells::Figure;
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claim, Claimant, Direction, Verdict};

/// A claim before it is judged.
pub(crate) struct Stated {
    id: String,
    by: Claimant,
    what: String,
    unit: &'static str,
    measured: Estimate,
    allowed: Allowed,
    published: Option<f64>,
    direction: Direction,
    why: String,
    contradicted: Vec<String>,
}

/// A claim of the paper's: its name, what it says, and the unit of its numbers; ours, and what is allowed. Where
/// nothing else is said it is a value by itself, such as a paper's baseline, of which nothing is claimed beside
/// anything: it can be met or missed, and that something was measured at all is as much as can be borne out.
pub(crate) fn paper(
    id: impl Into<String>,
    what: impl Into<String>,
    unit: &'static str,
    measured: Estimate,
    allowed: Allowed,
) -> Stated {
    let published = match allowed {
        Allowed::Value { value, .. } => Some(value),
        _ => None,
    };
    Stated {
        id: id.into(),
        by: Claimant::Paper,
        what: what.into(),
        unit,
        measured,
        allowed,
        published,
        direction: directed("none claimed, a value by itself: more than nothing", measured),
        why: String::new(),
        contradicted: Vec::new(),
    }
}

/// The same, of this project.
pub(crate) fn project(
    id: impl Into<String>,
    what: impl Into<String>,
    unit: &'static str,
    measured: Estimate,
    allowed: Allowed,
) -> Stated {
    Stated { by: Claimant::Project, ..paper(id, what, unit, measured, allowed) }
}

impl Stated {
    /// The paper's number, where it is not the allowed one.
    pub(crate) fn published(self, number: f64) -> Stated {
        Stated { published: Some(number), ..self }
    }

    /// Claimed: more than this.
    pub(crate) fn above(self, what: &str, than: f64) -> Stated {
        let direction = above(what, &self.measured, than);
        self.claims(direction)
    }

    /// Claimed: less than this.
    pub(crate) fn below(self, what: &str, than: f64) -> Stated {
        let direction = below(what, &self.measured, than);
        self.claims(direction)
    }

    /// Claimed: a direction of something else than the number itself.
    pub(crate) fn claims(self, direction: Direction) -> Stated {
        Stated { direction, ..self }
    }

    /// What was measured, and nothing concluded from it.
    pub(crate) fn why(self, figures: impl Into<String>) -> Stated {
        Stated { why: figures.into(), ..self }
    }

    /// A sentence that is true only under this condition; otherwise the claim tells that it is contradicted.
    pub(crate) fn since(mut self, condition: bool, sentence: impl Into<String>) -> Stated {
        let sentence = sentence.into();
        if !condition {
            self.contradicted.push(sentence);
            return self;
        }
        self.why = match self.why.trim_end() {
            "" => sentence,
            text if text.ends_with(['.', ';', ':']) => format!("{text} {sentence}"),
            text => format!("{text}. {sentence}"),
        };
        self
    }

    pub(crate) fn judged(self) -> Claim {
        let Estimate { mean, ci95, runs, .. } = self.measured;
        let mut claim = Claim {
            id: self.id,
            by: self.by,
            what: self.what,
            unit: self.unit.to_owned(),
            paper: self.published,
            allowed: self.allowed,
            direction: self.direction,
            measured: mean,
            ci95,
            runs,
            verdict: Verdict::Undecided,
            runs_to_decide: None,
            why: self.why,
            contradicted: self.contradicted,
        };
        (claim.verdict, claim.runs_to_decide) = claim.judge();
        claim
    }
}

/// This value, give or take a share of it.
pub(crate) fn value(value: f64, share: f64, tolerance_from: &str) -> Allowed {
    within(value, share * value.abs(), tolerance_from)
}

/// What a claim may be off where nothing else is said: a tenth.
pub(crate) const TENTH: f64 = 0.1;
const A_TENTH: &str = "stated beforehand: a tenth";

/// This value, give or take a tenth, as is stated beforehand.
pub(crate) fn tenth(of: f64) -> Allowed {
    value(of, TENTH, A_TENTH)
}

/// Claimed by this project: no more than a tenth off another program's, by this many percent.
pub(crate) fn beside(id: String, what: String, off_percent: Estimate) -> Stated {
    project(id, what, "%", off_percent, between(-100.0 * TENTH, 100.0 * TENTH)).claims(below(
        "within a half",
        &off_percent.magnitude(),
        50.0,
    ))
}

/// Claimed by the paper: at least so many times another, and in any case more.
pub(crate) fn faster(id: impl Into<String>, what: impl Into<String>, times: Estimate) -> Stated {
    paper(id, what, "times", times, at_least(1.0)).above("faster", 1.0)
}

/// This value, give or take so much.
pub(crate) fn within(value: f64, tolerance: f64, tolerance_from: impl Into<String>) -> Allowed {
    Allowed::Value { value, tolerance, tolerance_from: tolerance_from.into() }
}

/// This count and no other.
pub(crate) fn exactly(value: f64) -> Allowed {
    within(value, 0.0, "a count")
}

pub(crate) fn at_least(low: f64) -> Allowed {
    Allowed::AtLeast { low }
}

pub(crate) fn at_most(high: f64) -> Allowed {
    Allowed::AtMost { high }
}

pub(crate) fn between(low: f64, high: f64) -> Allowed {
    Allowed::Between { low, high }
}

/// Claimed: that something is more than this.
pub(crate) fn above(what: &str, measured: &Estimate, than: f64) -> Direction {
    directed(what, measured.plus(-than))
}

/// Claimed: that something is less than this.
pub(crate) fn below(what: &str, measured: &Estimate, than: f64) -> Direction {
    directed(what, measured.plus(-than).times(-1.0))
}

/// Claimed: more than other runs, which are independent of these.
pub(crate) fn more(what: &str, measured: &Estimate, than: &Estimate) -> Direction {
    directed(what, measured.less(than))
}

/// Claimed: that this number is positive.
pub(crate) fn directed(what: &str, as_claimed: Estimate) -> Direction {
    Direction { what: what.to_owned(), measured: as_claimed.mean, ci95: as_claimed.ci95 }
}

/// "1.23 ± 0.04", or without an interval "1.23".
pub(crate) fn shown(estimate: Estimate, decimals: usize) -> String {
    match estimate.ci95 {
        Some(half) => format!("{:.decimals$} ± {half:.decimals$}", estimate.mean),
        None => format!("{:.decimals$}", estimate.mean),
    }
}

/// Several figures with as many decimals, for the words of a reason.
pub(crate) fn listed<F: Figure>(figures: impl IntoIterator<Item = F>, decimals: usize) -> String {
    let each = figures.into_iter().map(|one| format!("{:.decimals$}", one.figure()));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_measure::stats::estimate;

    fn stated() -> Stated {
        let measured = estimate(&[11.0, 12.0, 13.0]).expect("three");
        paper("one", "", "", measured, value(12.0, 0.25, "a quarter"))
    }

    #[test]
    fn a_claim_carries_all_that_its_verdict_is_made_of() {
        let claim = stated().above("above ten", 10.0).judged();
        assert_eq!((claim.verdict, claim.allowed.bounds()), (Verdict::Holds, (9.0, 15.0)));
        assert_eq!((claim.measured, claim.direction.measured, claim.runs), (12.0, 2.0, 3));
        assert_eq!(claim.judge(), (claim.verdict, claim.runs_to_decide));
        assert_eq!((claim.by, claim.paper), (Claimant::Paper, Some(12.0)));
    }

    #[test]
    fn a_sentence_is_said_only_if_it_is_true() {
        let stated = stated().why("twice as many").since(true, "So it is.").since(false, "Never.");
        let claim = stated.judged();
        assert_eq!(claim.why, "twice as many. So it is.");
        assert_eq!(claim.contradicted, ["Never."]);
    }

    #[test]
    fn a_value_by_itself_differs_on_either_side_and_never_fails() {
        for claimed in [8.0, 12.0, 16.0] {
            let measured = Estimate { ci95: Some(0.5), ..Estimate::exact(12.0) };
            let stated = paper("one", "", "", measured, value(claimed, 0.1, "a tenth"));
            let expected = if claimed == 12.0 { Verdict::Holds } else { Verdict::Differs };
            assert_eq!(stated.judged().verdict, expected, "{claimed}");
        }
    }

    #[test]
    fn directions_are_positive_as_claimed() {
        let (low, high) = (Estimate::exact(1.0), Estimate::exact(3.0));
        let of = |measured| paper("one", "", "", measured, at_least(0.0));
        assert_eq!(of(high).above("", 1.0).direction.measured, 2.0);
        assert_eq!(of(low).below("", 3.0).direction.measured, 2.0);
        assert_eq!(more("", &low, &high).measured, -2.0);
    }
}
