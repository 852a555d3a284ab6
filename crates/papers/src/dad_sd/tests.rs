//! A tiny reproduction from end to end, and that a journal changes nothing.

use super::*;
use crate::claims::judge_again;
use crate::journal::Journal;
use crate::unwatched;
use std::io::Write;
use std::sync::{Arc, Mutex};

const TINY: Extent = Extent {
    effort: Effort::Quick,
    grid: Grid { taus: &[0, 10], seeds: 2 },
    alpha: Grid { taus: &[10], seeds: 1 },
    transfer: Span::from_secs(4),
};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_tiny_reproduction_has_every_part_and_is_the_same_from_a_journal() {
    let lines = Lines::default();
    let journal = Journal::new("", Box::new(lines.clone()));
    let with = |journal| Options { effort: Effort::Quick, journal };
    let first = measure(TINY, with(Some(&journal)), &unwatched).expect("sound runs");
    let text = String::from_utf8(lines.0.lock().expect("nobody panicked").clone()).expect("text");
    assert_eq!(text.lines().count(), first.total_runs, "a line for each run");
    let report = first.report();
    judge_again(&report.json);
    let known = Journal::new(&text, Box::new(Lines::default()));
    let again = measure(TINY, with(Some(&known)), &unwatched).expect("nothing is run");
    assert_eq!(again.report().json, report.json);
    let without = measure(TINY, with(None), &unwatched).expect("sound runs");
    assert_eq!(without.report().json, report.json);
    for name in ["report.html", "points.csv", "claims.csv", "figure-2.csv", "paper.json"] {
        assert!(report.files.iter().any(|file| file.path.ends_with(name)), "{name}");
    }
    for policy in policies::POLICIES {
        assert!(report.json.contains(&format!("\"{}\"", policy.id)), "{}", policy.id);
    }
    for claim in &report.claims {
        assert!(claim.measured.is_finite() && !claim.why.is_empty(), "{claim:?}");
    }
    // No policy delivers more than the hop carries.
    for point in &*first.points {
        let goodput = point.mean(Run::goodput).mean;
        assert!(goodput <= bounds::capacity_mbit_s(), "{:?}: {goodput}", point.key);
    }
}
