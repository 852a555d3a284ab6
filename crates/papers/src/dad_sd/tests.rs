//! A tiny reproduction from end to end, and that a journal changes nothing.

use super::curves::Grid;
use super::sample::Run;
use super::*;
use crate::reproduction::unwatched;
use crate::testkit::{Lines, is_measured, is_sound};
use ackord_study::{Effort, Journal};
use ackord_units::Span;

const TINY: Extent = Extent {
    effort: Effort::Quick,
    grid: Grid { taus: &[0, 10], seeds: 2 },
    alpha: Grid { taus: &[10], seeds: 1 },
    transfer: Span::from_secs(4),
};

#[test]
fn a_tiny_reproduction_has_every_part_and_is_the_same_from_a_journal() {
    let lines = Lines::default();
    let journal = Journal::new("", Box::new(lines.clone()));
    let with = |journal| Options { effort: Effort::Quick, journal };
    let first = measure(TINY, with(Some(&journal)), &unwatched).expect("sound runs");
    let text = lines.text();
    assert_eq!(text.lines().count(), first.total_runs, "a line for each run");
    let report = first.report();
    is_sound(&report, &["points.csv", "figure-2.csv"]);
    is_measured(&report.claims);
    let known = Journal::new(&text, Box::new(Lines::default()));
    let again = measure(TINY, with(Some(&known)), &unwatched).expect("nothing is run");
    assert_eq!(again.report().json, report.json);
    let without = measure(TINY, with(None), &unwatched).expect("sound runs");
    assert_eq!(without.report().json, report.json);
    for policy in policies::POLICIES {
        assert!(report.json.contains(&format!("\"{}\"", policy.id)), "{}", policy.id);
    }
    // No policy delivers more than the hop carries.
    for point in &*first.points {
        let goodput = point.mean(Run::goodput).mean;
        assert!(goodput <= bounds::capacity_mbit_s(), "{:?}: {goodput}", point.key);
    }
}
