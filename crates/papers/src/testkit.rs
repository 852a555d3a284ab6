//! What the tests of every paper ask of its report.

use crate::plan::{File, Setup};
use crate::reproduction::PaperReport;
use ackord_measure::{Claim, Verdict};
use ackord_scenario::Scenario;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// The scenario of a file, which is sound and called as the file is.
pub(crate) fn sound(file: File) -> Arc<Scenario> {
    let scenario = Setup::new(file, Vec::new()).scenario().expect("a sound scenario");
    assert!(file.is(&scenario), "{}: {}", file.path, scenario.name);
    scenario
}

/// Claims have names of their own, reasons, and the verdicts that follow from their numbers; tables have
/// rows that fit their columns; the usual files and these are written.
pub(crate) fn is_sound(report: &PaperReport, files: &[&str]) {
    judge_again(&report.json);
    let names: BTreeSet<&str> = report.claims.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(names.len(), report.claims.len(), "{names:?}");
    for claim in &report.claims {
        assert!(!claim.why.is_empty() && !claim.measured.is_infinite(), "{claim:?}");
    }
    for (name, table) in &report.tables {
        assert!(!table.rows.is_empty(), "{name}");
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{name}");
    }
    for name in ["report.html", "paper.json", "claims.csv"].iter().chain(files) {
        assert!(report.files.iter().any(|file| file.path.ends_with(name)), "{name}");
    }
}

/// Nothing that was measured is missing.
pub(crate) fn is_measured(claims: &[Claim]) {
    for claim in claims {
        assert!(claim.measured.is_finite(), "{claim:?}");
    }
}

/// The same, and the reasons have numbers.
pub(crate) fn has_numbers(claims: &[Claim]) {
    is_measured(claims);
    for claim in claims {
        assert!(claim.why.contains(|c: char| c.is_ascii_digit()), "{claim:?}");
        let mut words = claim.why.split(|c: char| !c.is_alphanumeric());
        assert!(!words.any(|word| matches!(word, "NaN" | "inf")), "{claim:?}");
    }
}

/// These claims hold; few runs may leave them open.
pub(crate) fn may_hold(claims: &[Claim], ids: &[&str]) {
    for id in ids {
        let found = claims.iter().find(|claim| claim.id == *id).map(|claim| claim.verdict);
        assert!(matches!(found, Some(Verdict::Holds | Verdict::Undecided)), "{id}: {found:?}");
    }
}

/// A writer whose text can be looked at.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("nobody panicked").clone()).expect("text")
    }
}

/// Judges every claim of a report again from its JSON alone, by the rule as it is written in reports; and
/// sees that of fewer runs than the full reproduction's no more claims hold than of that.
fn judge_again(json: &str) {
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
        crate::papers().iter().find(|paper| report["paper"] == paper.name).expect("a paper");
    let kept = serde_json::to_value(crate::kept_claims(paper)).expect("claims");
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
