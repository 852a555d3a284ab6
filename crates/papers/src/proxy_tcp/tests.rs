//! A tiny reproduction from end to end.

use super::super::unwatched;
use super::super::verdict::judge_again;
use super::*;

const TINY: Extent = Extent {
    effort: Effort::Quick,
    readings: 1,
    boxes: boxes::Extent { seeds: 1, deaths: 1, death_run_s: 4.0 },
    lasts: Span::from_secs(2),
    phases: 1,
    outages: 1,
};

#[test]
fn a_tiny_reproduction_has_every_part_and_keeps_to_what_must_hold() {
    let measured = measure(TINY, &unwatched).expect("sound runs");
    let report = measured.report();
    judge_again(&report.json);
    for name in
        ["report.html", "table-3.csv", "boxes.csv", "phases.csv", "claims.csv", "paper.json"]
    {
        assert!(report.files.iter().any(|file| file.path.ends_with(name)), "{name}");
    }
    for claim in &report.claims {
        assert!(!claim.why.is_empty() && !claim.measured.is_infinite(), "{claim:?}");
    }
    // No box delivers more than the wireless link carries.
    for one in &measured.boxes {
        for samples in &one.errors {
            let goodput = samples.goodput().mean;
            assert!(goodput <= readings::capacity_mbit_s(), "{}: {goodput}", one.middle.id);
        }
    }
    // Only who splits a connection acknowledges what the mobile does not have.
    for one in &measured.boxes {
        let splits = matches!(one.middle.id, "i-tcp" | "mtcp");
        assert_eq!(one.early_bytes() > 0, splits, "{} {}", one.middle.id, one.sender.id);
    }
}
