//! A paper's number beside ours.

use serde::Serialize;

/// One thing a paper says, and what we found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Stable name, e.g. "table1.512k.fairness".
    pub id: String,
    /// What is claimed, in words.
    pub what: String,
    /// Unit of the numbers; empty for plain ones.
    pub unit: String,
    /// The paper's number, where it gives one.
    pub paper: Option<f64>,
    /// Ours: the mean over the runs.
    pub measured: f64,
    /// Half width of the 95 % interval of ours; absent for a single run.
    pub ci95: Option<f64>,
    /// How many runs.
    pub runs: u32,
    /// Whether the claim holds.
    pub verdict: Verdict,
    /// Why, when it differs or fails.
    pub why: String,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The number lies inside the band stated beforehand.
    Holds,
    /// The direction agrees, the number does not, and the reason is known.
    Differs,
    /// The claim is not borne out.
    Fails,
}

impl Verdict {
    /// The word used in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Differs => "differs",
            Verdict::Fails => "fails",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_has_exactly_the_keys_of_its_contract_in_order() {
        let claim = Claim {
            id: "t1".into(),
            what: "fairness".into(),
            unit: "%".into(),
            paper: None,
            measured: 12.5,
            ci95: Some(0.5),
            runs: 20,
            verdict: Verdict::Holds,
            why: String::new(),
        };
        let json = serde_json::to_string(&claim).expect("plain data");
        assert_eq!(
            json,
            r#"{"id":"t1","what":"fairness","unit":"%","paper":null,"measured":12.5,"#.to_owned()
                + r#""ci95":0.5,"runs":20,"verdict":"holds","why":""}"#
        );
    }

    #[test]
    fn a_verdict_has_one_name_everywhere() {
        for verdict in [Verdict::Holds, Verdict::Differs, Verdict::Fails] {
            let json = serde_json::to_string(&verdict).expect("a word");
            assert_eq!(json, format!("\"{}\"", verdict.name()));
        }
    }
}
