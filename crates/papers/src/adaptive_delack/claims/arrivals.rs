//! Fig. 4, §4.2 and §4.3: the arrivals that the small timeouts were read off.

use super::{Findings, Stated, mean_of};
use crate::adaptive_delack::arrivals::Writes;
use crate::adaptive_delack::sample::{Sample, over};
use crate::adaptive_delack::setup::{DELAYED_NS3, Growth, Policy, STATIC_900};
use crate::adaptive_delack::shape::{
    FIG4_ACK_AFTER_MS, FIG4_ACKNOWLEDGED_BYTES, FIG4_ARRIVALS_S, Gaps, Shape,
};
use crate::adaptive_delack::simulation::{self, Row};
use crate::verdict::{Why, above, below, by_itself, value};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claimant};

/// All that the application writes, octets.
const WRITTEN: f64 = 1_040_000.0;
/// The share of gaps that "segments arrive 0.6 to 1.1 ms apart" asks for: all but a tenth.
const NEARLY_ALL_PERCENT: f64 = 90.0;

/// Both ways of writing, each as a reading of its own.
pub(super) fn arrivals(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for (writes, rows) in findings.both_ways() {
        let row = |policy| simulation::find(rows, policy, Growth::PerAck);
        let delayed = row(DELAYED_NS3);
        stated.push(range_of_gaps(writes, delayed));
        stated.push(gap_of_fig4(writes, delayed));
        stated.push(last_ten(writes, delayed));
        for policy in [DELAYED_NS3, STATIC_900] {
            stated.push(every_segment(writes, policy, row(policy)));
        }
        stated.push(still_short(writes, row(STATIC_900)));
    }
    stated
}

fn shape(row: &Row, pick: impl Fn(&Shape) -> f64) -> Estimate {
    over(&row.damaged, |sample| pick(sample.shape()))
}

fn gap_figures(row: &Row) -> String {
    format!(
        "with {} the median gap is {:.3} ms, {:.0} % are from 0.6 to 1.1 ms and {:.0} % longer than 2 ms",
        timeout(row.policy),
        shape(row, |shape| shape.gaps.median_ms).mean,
        shape(row, |shape| shape.gaps.of_section_4_percent).mean,
        shape(row, |shape| shape.gaps.pauses_percent).mean
    )
}

fn range_of_gaps(writes: Writes, row: &Row) -> Stated {
    let measured = shape(row, |shape| shape.gaps.of_section_4_percent);
    Stated {
        id: format!("section4.2-gaps-{}", writes.word()),
        by: Claimant::Paper,
        what: format!(
            "§4.2: segments arrive 0.6 to 1.1 ms apart (share of the gaps), {}",
            writes.label()
        ),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: NEARLY_ALL_PERCENT },
        measured,
        direction: above("most gaps", &measured, 50.0),
        why: Why::measured(gap_figures(row)),
    }
}

/// The wire's time of a full segment: 536 octets, 52 of headers, 2 of PPP in ns-3 and none here.
fn gap_of_fig4(writes: Writes, row: &Row) -> Stated {
    let measured = shape(row, |shape| shape.gaps.median_ms);
    let paper = Gaps::of(&FIG4_ARRIVALS_S).median_ms;
    Stated {
        id: format!("fig4-gap-{}", writes.word()),
        by: Claimant::Paper,
        what: format!("Fig. 4: the median gap between arrivals, {}", writes.label()),
        unit: "ms",
        paper: Some(paper),
        allowed: value(paper, 0.01, "stated beforehand: a hundredth"),
        measured,
        direction: by_itself(&measured),
        why: Why::measured(format!(
            "{}. 588 octets take {:.3} ms on 5 Mbit/s, 590 with the two of PPP that ns-3 adds {:.3} ms",
            gap_figures(row),
            588.0 * 8.0 / 5e3,
            590.0 * 8.0 / 5e3
        )),
    }
}

fn last_ten(writes: Writes, row: &Row) -> Stated {
    let measured = shape(row, |shape| shape.gaps.last_ten_ms);
    Stated {
        id: format!("section4.3-last-ten-{}", writes.word()),
        by: Claimant::Paper,
        what: format!(
            "§4.3: the last ten gaps give a timeout of 0.8 or 0.9 ms (their mean, as shown with one \
             digit), {}",
            writes.label()
        ),
        unit: "ms",
        paper: None,
        allowed: Allowed::Between { low: 0.75, high: 0.95 },
        measured,
        direction: by_itself(&measured),
        why: Why::measured(format!(
            "{}; Fig. 4's own gaps have a mean of {:.3} ms",
            gap_figures(row),
            Gaps::of(&FIG4_ARRIVALS_S).last_ten_ms
        )),
    }
}

/// §4.2 says that Fig. 4 was measured before the timeout was changed.
fn every_segment(writes: Writes, policy: Policy, row: &Row) -> Stated {
    let measured = over(&row.damaged, Sample::acks_per_segment);
    Stated {
        id: format!("fig4-every-segment-{}-{}", policy.id, writes.word()),
        by: Claimant::Paper,
        what: format!(
            "Fig. 4: every segment is acknowledged by itself with {}, {} (acknowledgments a segment)",
            timeout(policy),
            writes.label()
        ),
        unit: "",
        paper: Some(1.0),
        allowed: value(1.0, 0.1, "stated beforehand: a tenth"),
        measured,
        direction: above("more than every second", &measured, 0.5),
        why: Why::measured(format!(
            "{:.0} acknowledgments and {:.0} segments a run. Fig. 4's leave {:.2} ms after each arrival, \
             {:.2} ms before the next one",
            mean_of(row, |sample| sample.acks as f64),
            mean_of(row, |sample| sample.data_segments as f64),
            FIG4_ACK_AFTER_MS,
            Gaps::of(&FIG4_ARRIVALS_S).median_ms - FIG4_ACK_AFTER_MS
        ))
        .since(
            (measured.mean > 0.9) == (policy == STATIC_900 && writes == Writes::AtOnce),
            "That is what a timer of 0.9 ms does between full segments, and nothing else that was run \
             does: the figure is of a run with the new timeout, while its sender has more to send than the path takes",
        ),
    }
}

fn timeout(policy: Policy) -> &'static str {
    if policy == DELAYED_NS3 { "200 ms" } else { policy.label }
}

fn still_short(writes: Writes, row: &Row) -> Stated {
    let measured = shape(row, |shape| shape.delivered_at_fig4_bytes / 1e3);
    let ends = over(&row.damaged, |sample| sample.completion_s.unwrap_or(f64::NAN));
    Stated {
        id: format!("fig4-short-{}", writes.word()),
        by: Claimant::Paper,
        what: format!(
            "Fig. 4: 9.667 s after the start 929 of 1040 kB have arrived, {}",
            writes.label()
        ),
        unit: "kB",
        paper: Some(FIG4_ACKNOWLEDGED_BYTES / 1e3),
        allowed: value(FIG4_ACKNOWLEDGED_BYTES / 1e3, 0.1, "stated beforehand: a tenth"),
        measured,
        direction: below("short of everything", &measured, WRITTEN / 1e3),
        why: Why::measured(format!(
            "the last octet arrives after {:.2} s, in the slowest of {} runs after {:.2} s; {:.2} timeouts a \
             run",
            ends.mean,
            ends.runs,
            ends.max,
            mean_of(row, |sample| sample.timeouts as f64)
        )),
    }
}
