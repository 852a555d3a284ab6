//! A claim beside what was measured, and the one rule by which it holds, differs, fails or stays
//! undecided. The rule looks at numbers only, never at which claim it is, and every number that it
//! looks at is in the claim: whoever has the claim can judge it again.

use serde::{Deserialize, Deserializer, Serialize};

/// The rule in words, for reports.
pub const RULE: &str = "A claim holds if the whole 95 % interval of our mean lies inside what is \
    allowed: the claimed value with the tolerance stated beside it, or the limit. Where the whole \
    interval lies outside, the claim differs if the direction (who gets more, what grows) is the \
    claimed one, and fails if it is the opposite one, the direction's own interval leaving zero out \
    in both cases. Whatever is not told apart so is undecided; how many runs would tell is an \
    estimate from the scatter of these.";

/// One thing that is claimed, what we found, and all that the verdict is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Stable name, e.g. "table1.512k.fairness".
    pub id: String,
    /// Whose claim it is.
    pub by: Claimant,
    /// What is claimed, in words.
    pub what: String,
    /// Unit of the numbers; empty for plain ones.
    pub unit: String,
    /// The paper's number, where it gives one.
    pub paper: Option<f64>,
    /// What is allowed.
    pub allowed: Allowed,
    /// The claimed direction, and how far it is borne out.
    pub direction: Direction,
    /// Ours: the mean over the runs; not a number where nothing could be measured, `null` in JSON.
    #[serde(deserialize_with = "number_or_nan")]
    pub measured: f64,
    /// Half width of the 95 % interval of ours; absent for a single run, zero where no chance enters.
    pub ci95: Option<f64>,
    /// How many runs.
    pub runs: u32,
    /// What became of it.
    pub verdict: Verdict,
    /// How many runs would decide what is undecided; absent where none would.
    pub runs_to_decide: Option<u64>,
    /// Why, in measured figures.
    pub why: String,
    /// Sentences that would say why if our own figures did not contradict them: a defect of this project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<String>,
}

impl Claim {
    /// The verdict on the numbers of the claim, and how many runs would decide if it is open.
    pub fn judge(&self) -> (Verdict, Option<u64>) {
        judge(&self.allowed, &self.direction, (self.measured, self.ci95, self.runs))
    }
}

/// Whose claim it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claimant {
    /// The paper's.
    Paper,
    /// This project's.
    Project,
}

impl Claimant {
    /// The word used in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Claimant::Paper => "paper",
            Claimant::Project => "project",
        }
    }
}

/// What a claim allows, in its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Allowed {
    /// This value, give or take the tolerance.
    Value {
        /// The claimed value.
        #[serde(deserialize_with = "number_or_nan")]
        value: f64,
        /// How far from it ours may be.
        #[serde(deserialize_with = "number_or_nan")]
        tolerance: f64,
        /// Where the tolerance is from.
        tolerance_from: String,
    },
    /// No less.
    AtLeast {
        /// The least that is allowed.
        #[serde(deserialize_with = "number_or_nan")]
        low: f64,
    },
    /// No more.
    AtMost {
        /// The most that is allowed.
        #[serde(deserialize_with = "number_or_nan")]
        high: f64,
    },
    /// No less and no more.
    Between {
        /// The least that is allowed.
        #[serde(deserialize_with = "number_or_nan")]
        low: f64,
        /// The most that is allowed.
        #[serde(deserialize_with = "number_or_nan")]
        high: f64,
    },
}

impl Allowed {
    /// The least and the most that is allowed; both are.
    pub fn bounds(&self) -> (f64, f64) {
        match *self {
            Allowed::Value { value, tolerance, .. } => (value - tolerance, value + tolerance),
            Allowed::AtLeast { low } => (low, f64::INFINITY),
            Allowed::AtMost { high } => (f64::NEG_INFINITY, high),
            Allowed::Between { low, high } => (low, high),
        }
    }
}

/// The claimed direction, as a measured number that is positive where the direction is as claimed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// What is compared with what, e.g. "above Reno".
    pub what: String,
    /// Mean over the runs; positive as claimed, negative the other way; as in [`Claim::measured`] where nothing
    /// could be measured.
    #[serde(deserialize_with = "number_or_nan")]
    pub measured: f64,
    /// Half width of its 95 % interval; absent for a single run, zero where no chance enters.
    pub ci95: Option<f64>,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All of our interval is allowed.
    Holds,
    /// None of it is, but the direction is the claimed one.
    Differs,
    /// None of it is, and the direction is the opposite one.
    Fails,
    /// Our runs do not tell.
    Undecided,
}

impl Verdict {
    /// Every verdict, best first.
    pub const ALL: [Verdict; 4] =
        [Verdict::Holds, Verdict::Differs, Verdict::Fails, Verdict::Undecided];

    /// The word used in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
            Verdict::Fails => "fails",
            Verdict::Undecided => "undecided",
        }
    }
}

/// JSON has no other word than `null` for what is no finite number; such numbers decide nothing, so one word is
/// enough.
fn number_or_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

fn judge(
    allowed: &Allowed,
    direction: &Direction,
    (mean, ci95, runs): (f64, Option<f64>, u32),
) -> (Verdict, Option<u64>) {
    let bounds = allowed.bounds();
    let Some(half) = ci95.filter(|half| half.is_finite() && mean.is_finite()) else {
        return (Verdict::Undecided, None);
    };
    let (low, high) = (mean - half, mean + half);
    if bounds.0 <= low && high <= bounds.1 {
        return (Verdict::Holds, None);
    }
    let away = match direction.ci95.filter(|_| direction.measured.is_finite()) {
        Some(half) if direction.measured > half => Some(Verdict::Differs),
        Some(half) if direction.measured <= -half => Some(Verdict::Fails),
        _ => None,
    };
    let is_outside = high < bounds.0 || low > bounds.1;
    match away {
        Some(verdict) if is_outside => (verdict, None),
        None if is_outside => {
            let half = direction.ci95.unwrap_or(f64::INFINITY);
            (Verdict::Undecided, enough(runs, half, direction.measured.abs()))
        }
        _ => {
            let to = |edge: f64| (mean - edge).abs();
            (Verdict::Undecided, enough(runs, half, to(bounds.0).min(to(bounds.1))))
        }
    }
}

/// How many runs bring a half width that `runs` leave down to this distance: it shrinks with their
/// square root. Not modelled: that Student's t falls with more runs, too.
fn enough(runs: u32, half: f64, distance: f64) -> Option<u64> {
    let times = (half / distance).powi(2);
    let runs = (f64::from(runs) * times).ceil();
    (runs.is_finite() && runs < 1e15 && distance.is_finite()).then(|| runs as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve, give or take three.
    const TWELVE: Allowed =
        Allowed::Value { value: 12.0, tolerance: 3.0, tolerance_from: String::new() };
    const AS_CLAIMED: (f64, Option<f64>) = (5.0, Some(1.0));
    const OPPOSITE: (f64, Option<f64>) = (-5.0, Some(1.0));
    const OPEN: (f64, Option<f64>) = (0.5, Some(1.0));

    fn verdict(allowed: &Allowed, direction: (f64, Option<f64>), mean: f64, half: f64) -> Verdict {
        judged(allowed, direction, mean, half).0
    }

    fn judged(
        allowed: &Allowed,
        (measured, ci95): (f64, Option<f64>),
        mean: f64,
        half: f64,
    ) -> (Verdict, Option<u64>) {
        let direction = Direction { what: "more".to_owned(), measured, ci95 };
        judge(allowed, &direction, (mean, Some(half), 10))
    }

    #[test]
    fn what_lies_inside_holds_whatever_its_direction() {
        for direction in [AS_CLAIMED, OPPOSITE, OPEN] {
            assert_eq!(verdict(&TWELVE, direction, 9.5, 0.5), Verdict::Holds);
            assert_eq!(verdict(&TWELVE, direction, 12.0, 3.0), Verdict::Holds);
        }
    }

    #[test]
    fn what_lies_outside_differs_fails_or_is_open_by_its_direction() {
        assert_eq!(verdict(&TWELVE, AS_CLAIMED, 20.0, 4.9), Verdict::Differs);
        assert_eq!(verdict(&TWELVE, OPPOSITE, 4.0, 4.9), Verdict::Fails);
        assert_eq!(verdict(&TWELVE, OPEN, 4.0, 4.9), Verdict::Undecided);
        // Not a bit more than before is no direction that more runs would show.
        assert_eq!(verdict(&TWELVE, (0.0, Some(0.0)), 4.0, 0.0), Verdict::Fails);
    }

    #[test]
    fn noise_never_makes_a_claim_hold() {
        for allowed in [TWELVE, Allowed::AtLeast { low: 10.0 }, Allowed::AtMost { high: 13.0 }] {
            for direction in [AS_CLAIMED, OPPOSITE, OPEN] {
                for mean in [-100.0, 9.9, 12.0, 13.1, 50.0] {
                    let mut held = true;
                    for tenths in 0..2_000 {
                        let half = f64::from(tenths) / 10.0;
                        let holds = verdict(&allowed, direction, mean, half) == Verdict::Holds;
                        assert!(held || !holds, "{allowed:?} {mean} +- {half}");
                        held = holds;
                    }
                    assert!(!held, "{allowed:?} {mean}");
                }
            }
        }
    }

    #[test]
    fn a_limit_holds_only_with_its_whole_interval() {
        let least = Allowed::AtLeast { low: 88.0 };
        assert_eq!(verdict(&least, OPEN, 88.0, 0.0), Verdict::Holds);
        assert_eq!(verdict(&least, AS_CLAIMED, 89.0, 1.5), Verdict::Undecided);
        assert_eq!(verdict(&least, AS_CLAIMED, 80.0, 1.5), Verdict::Differs);
        let between = Allowed::Between { low: 5.0, high: 6.0 };
        assert_eq!(verdict(&between, OPEN, 5.5, 0.5), Verdict::Holds);
        assert_eq!(verdict(&between, AS_CLAIMED, 5.5, 0.6), Verdict::Undecided);
    }

    #[test]
    fn the_runs_that_would_decide_bring_the_interval_down_to_the_distance() {
        // From 1.0 of 10 runs to 0.5: four times as many, and one more.
        let least = Allowed::AtLeast { low: 10.0 };
        assert_eq!(judged(&least, AS_CLAIMED, 10.5, 1.0), (Verdict::Undecided, Some(41)));
        // Outside, and the direction is open: 0.5 with a half width of 1.
        assert_eq!(judged(&TWELVE, OPEN, 1.0, 1.0), (Verdict::Undecided, Some(41)));
        // At the very edge none would do.
        assert_eq!(judged(&least, AS_CLAIMED, 10.0, 1.0), (Verdict::Undecided, None));
    }

    #[test]
    fn a_single_run_of_chance_decides_nothing() {
        let direction = Direction { what: String::new(), measured: 5.0, ci95: None };
        for mean in [12.0, 1.0] {
            let found = judge(&TWELVE, &direction, (mean, None, 1));
            assert_eq!(found, (Verdict::Undecided, None));
        }
    }

    fn claim() -> Claim {
        Claim {
            id: "t1".into(),
            by: Claimant::Paper,
            what: "fairness".into(),
            unit: "%".into(),
            paper: None,
            allowed: Allowed::AtLeast { low: 10.0 },
            direction: Direction { what: "above before".into(), measured: 2.5, ci95: Some(0.5) },
            measured: 12.5,
            ci95: Some(0.5),
            runs: 20,
            verdict: Verdict::Holds,
            runs_to_decide: None,
            why: String::new(),
            contradicted: Vec::new(),
        }
    }

    #[test]
    fn a_claim_has_exactly_the_keys_of_its_contract_and_comes_back() {
        let claim = claim();
        let json = serde_json::to_string(&claim).expect("plain data");
        assert_eq!(
            json,
            r#"{"id":"t1","by":"paper","what":"fairness","unit":"%","paper":null,"#.to_owned()
                + r#""allowed":{"kind":"at-least","low":10.0},"#
                + r#""direction":{"what":"above before","measured":2.5,"ci95":0.5},"#
                + r#""measured":12.5,"ci95":0.5,"runs":20,"verdict":"holds","#
                + r#""runs_to_decide":null,"why":""}"#
        );
        assert_eq!(serde_json::from_str::<Claim>(&json).expect("a claim"), claim);
    }

    #[test]
    fn a_claim_of_which_nothing_could_be_measured_comes_back_undecided() {
        for nothing in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (measured, as_claimed) in [(nothing, 1.0), (20.0, nothing), (nothing, nothing)] {
                let mut claim = claim();
                claim.allowed = TWELVE;
                (claim.measured, claim.direction.measured) = (measured, as_claimed);
                (claim.verdict, claim.runs_to_decide) = claim.judge();
                assert_eq!(claim.verdict, Verdict::Undecided, "{measured} {as_claimed}");
                let json = serde_json::to_string(&claim).expect("plain data");
                assert!(json.contains(r#""measured":null"#), "{json}");
                let back: Claim = serde_json::from_str(&json).expect("what was written is read");
                assert_eq!(back.measured.is_nan(), !measured.is_finite());
                assert_eq!(back.judge(), (claim.verdict, claim.runs_to_decide));
            }
        }
    }

    #[test]
    fn words_are_the_same_everywhere() {
        for verdict in Verdict::ALL {
            let json = serde_json::to_string(&verdict).expect("a word");
            assert_eq!(json, format!("\"{}\"", verdict.name()));
        }
        for by in [Claimant::Paper, Claimant::Project] {
            assert_eq!(serde_json::to_string(&by).expect("a word"), format!("\"{}\"", by.name()));
        }
    }
}
