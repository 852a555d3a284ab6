//! Claims before they are judged, in the words that papers are compared in. The rule itself, which looks at
//! numbers only, is [`Claim::judge`].

use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claim, Claimant, Direction, Verdict};

/// A claim before it is judged.
pub(super) struct Stated {
    pub(super) id: String,
    pub(super) by: Claimant,
    pub(super) what: String,
    pub(super) unit: &'static str,
    pub(super) paper: Option<f64>,
    pub(super) allowed: Allowed,
    pub(super) measured: Estimate,
    pub(super) direction: Direction,
    pub(super) why: Why,
}

/// Why a number is what it is: figures, and sentences that are true only if something measured says so.
#[derive(Debug, Default)]
pub(super) struct Why {
    text: String,
    contradicted: Vec<String>,
}

impl Stated {
    pub(super) fn judged(self) -> Claim {
        let Estimate { mean, ci95, runs, .. } = self.measured;
        let mut claim = Claim {
            id: self.id,
            by: self.by,
            what: self.what,
            unit: self.unit.to_owned(),
            paper: self.paper,
            allowed: self.allowed,
            direction: self.direction,
            measured: mean,
            ci95,
            runs,
            verdict: Verdict::Undecided,
            runs_to_decide: None,
            why: self.why.text,
            contradicted: self.why.contradicted,
        };
        (claim.verdict, claim.runs_to_decide) = claim.judge();
        claim
    }
}

impl Why {
    /// What was measured, and nothing concluded from it.
    pub(super) fn measured(figures: impl Into<String>) -> Why {
        Why { text: figures.into(), contradicted: Vec::new() }
    }

    /// A sentence that is true only under this condition; otherwise the claim tells that it is contradicted.
    pub(super) fn since(mut self, condition: bool, sentence: impl Into<String>) -> Why {
        let sentence = sentence.into();
        if !condition {
            self.contradicted.push(sentence);
            return self;
        }
        self.text = match self.text.trim_end() {
            "" => sentence,
            text if text.ends_with(['.', ';', ':']) => format!("{text} {sentence}"),
            text => format!("{text}. {sentence}"),
        };
        self
    }
}

/// This value, give or take a share of it.
pub(super) fn value(value: f64, share: f64, tolerance_from: impl Into<String>) -> Allowed {
    let tolerance_from = tolerance_from.into();
    Allowed::Value { value, tolerance: share * value.abs(), tolerance_from }
}

/// This count and no other.
pub(super) fn exactly(value: f64) -> Allowed {
    Allowed::Value { value, tolerance: 0.0, tolerance_from: "a count".to_owned() }
}

/// Claimed: more than this.
pub(super) fn above(what: impl Into<String>, measured: &Estimate, than: f64) -> Direction {
    directed(what, measured.plus(-than))
}

/// Claimed: less than this.
pub(super) fn below(what: impl Into<String>, measured: &Estimate, than: f64) -> Direction {
    directed(what, measured.plus(-than).times(-1.0))
}

/// Claimed: more than other runs, which are independent of these.
pub(super) fn more(what: impl Into<String>, measured: &Estimate, than: &Estimate) -> Direction {
    directed(what, measured.less(than))
}

/// A value by itself, such as a paper's baseline, of which nothing is claimed beside anything: it can be met or
/// missed, and that something was measured at all is as much as can be borne out.
pub(super) fn by_itself(measured: &Estimate) -> Direction {
    directed("none claimed, a value by itself: more than nothing", *measured)
}

/// Claimed: that this number is positive.
pub(super) fn directed(what: impl Into<String>, as_claimed: Estimate) -> Direction {
    Direction { what: what.into(), measured: as_claimed.mean, ci95: as_claimed.ci95 }
}

/// Judges every claim of a report again from its JSON alone, by the rule as it is written in reports; and
/// sees that of fewer runs than the full reproduction's no more claims hold than of that.
#[cfg(test)]
pub(super) fn judge_again(json: &str) {
    let report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let claims = report["claims"].as_array().expect("claims");
    assert!(!claims.is_empty());
    for claim in claims {
        let number = |value: &serde_json::Value| value.as_f64();
        let interval = |of: &serde_json::Value| {
            let (mean, half) = (number(&of["measured"])?, number(&of["ci95"])?);
            Some((mean - half, mean + half))
        };
        let allowed = &claim["allowed"];
        let least = number(&allowed["low"]).unwrap_or(f64::NEG_INFINITY);
        let most = number(&allowed["high"]).unwrap_or(f64::INFINITY);
        let (least, most) = match (number(&allowed["value"]), number(&allowed["tolerance"])) {
            (Some(value), Some(tolerance)) => (value - tolerance, value + tolerance),
            _ => (least, most),
        };
        let verdict = match (interval(claim), interval(&claim["direction"])) {
            (Some((low, high)), _) if least <= low && high <= most => "holds",
            (Some((low, high)), _) if low <= most && least <= high => "undecided",
            (Some(_), Some((low, _))) if low > 0.0 => "differs",
            (Some(_), Some((_, high))) if high <= 0.0 => "fails",
            _ => "undecided",
        };
        assert_eq!(claim["verdict"], verdict, "{claim:#}");
    }
    let paper =
        super::papers().iter().find(|paper| report["paper"] == paper.name).expect("a paper");
    let kept = serde_json::to_value(super::kept_claims(paper)).expect("claims");
    let kept = kept.as_array().expect("claims");
    for by in ["paper", "project"] {
        let holding = |claims: &[serde_json::Value]| {
            claims.iter().filter(|claim| claim["by"] == by && claim["verdict"] == "holds").count()
        };
        let (here, in_full) = (holding(claims), holding(kept));
        assert!(
            here <= in_full,
            "{} by the {by}: {here} hold, {in_full} of the full run",
            paper.name
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_measure::stats::estimate;

    fn stated(why: Why) -> Stated {
        let measured = estimate(&[11.0, 12.0, 13.0]).expect("three");
        Stated {
            id: "one".to_owned(),
            by: Claimant::Paper,
            what: String::new(),
            unit: "",
            paper: Some(12.0),
            allowed: value(12.0, 0.25, "a quarter"),
            direction: above("above ten", &measured, 10.0),
            measured,
            why,
        }
    }

    #[test]
    fn a_claim_carries_all_that_its_verdict_is_made_of() {
        let claim = stated(Why::default()).judged();
        assert_eq!((claim.verdict, claim.allowed.bounds()), (Verdict::Holds, (9.0, 15.0)));
        assert_eq!((claim.measured, claim.direction.measured, claim.runs), (12.0, 2.0, 3));
        assert_eq!(claim.judge(), (claim.verdict, claim.runs_to_decide));
    }

    #[test]
    fn a_sentence_is_said_only_if_it_is_true() {
        let why = Why::measured("twice as many").since(true, "So it is.").since(false, "Never.");
        let claim = stated(why).judged();
        assert_eq!(claim.why, "twice as many. So it is.");
        assert_eq!(claim.contradicted, ["Never."]);
    }

    #[test]
    fn a_value_by_itself_differs_on_either_side_and_never_fails() {
        for claimed in [8.0, 12.0, 16.0] {
            let mut stated = stated(Why::default());
            stated.allowed = value(claimed, 0.1, "a tenth");
            stated.measured = Estimate { ci95: Some(0.5), ..stated.measured };
            stated.direction = by_itself(&stated.measured);
            let expected = if claimed == 12.0 { Verdict::Holds } else { Verdict::Differs };
            assert_eq!(stated.judged().verdict, expected, "{claimed}");
        }
    }

    #[test]
    fn directions_are_positive_as_claimed() {
        let (low, high) = (Estimate::exact(1.0), Estimate::exact(3.0));
        assert_eq!(above("", &high, 1.0).measured, 2.0);
        assert_eq!(below("", &low, 3.0).measured, 2.0);
        assert_eq!(more("", &low, &high).measured, -2.0);
    }
}
