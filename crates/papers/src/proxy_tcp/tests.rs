//! A tiny reproduction from end to end.

use super::*;
use crate::reproduction::unwatched;
use crate::testkit::is_sound;
use ackord_study::Effort;
use ackord_units::Span;

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
    is_sound(&measured.report(), &["table-3.csv", "boxes.csv", "phases.csv"]);
    for one in measured.boxes.each() {
        // No box delivers more than the wireless link carries.
        for at in [0, 1] {
            let goodput = one.errors(at).goodput().mean;
            assert!(goodput <= readings::capacity_mbit_s(), "{:?}: {goodput}", one.pair);
        }
        // Only who splits a connection acknowledges what the mobile does not have.
        let splits = matches!(one.pair.0, "i-tcp" | "mtcp");
        assert_eq!(one.early_bytes() > 0, splits, "{:?}", one.pair);
    }
}
