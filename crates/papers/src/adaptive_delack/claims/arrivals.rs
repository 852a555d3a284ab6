//! Fig. 4, §4.2 and §4.3: the arrivals that the small timeouts were read off.

use crate::adaptive_delack::sample::Sample;
use crate::adaptive_delack::setup::{DELAYED_NS3, Growth, Policy, STATIC_900};
use crate::adaptive_delack::shape::{
    FIG4_ACK_AFTER_MS, FIG4_ACKNOWLEDGED_BYTES, FIG4_ARRIVALS_S, Gaps, Shape,
};
use crate::adaptive_delack::simulation::{Row, Simulations, Writes};
use crate::claims::{Stated, at_least, between, paper, tenth, value};
use ackord_measure::stats::Estimate;

/// All that the application writes, bytes.
const WRITTEN: f64 = 1_040_000.0;
/// The share of gaps that "segments arrive 0.6 to 1.1 ms apart" asks for: all but a tenth.
const NEARLY_ALL_PERCENT: f64 = 90.0;

/// Both ways of writing, each as a reading of its own.
pub(super) fn arrivals(simulations: &Simulations) -> Vec<Stated> {
    let of_writes = |writes| {
        let [delayed, small] =
            [DELAYED_NS3, STATIC_900].map(|policy| simulations.of(writes, policy, Growth::PerAck));
        [
            range_of_gaps(delayed),
            gap_of_fig4(delayed),
            last_ten(delayed),
            every_segment(delayed),
            every_segment(small),
            still_short(small),
        ]
    };
    Writes::ALL.into_iter().flat_map(of_writes).collect()
}

fn shape(row: Row<'_>, pick: impl Fn(&Shape) -> f64) -> Estimate {
    row.damaged.mean(|run| pick(run.shape()))
}

fn gap_figures(row: Row<'_>) -> String {
    format!(
        "with {} the median gap is {:.3} ms, {:.0} % are from 0.6 to 1.1 ms and {:.0} % longer than 2 ms",
        timeout(row.key.policy),
        shape(row, |shape| shape.gaps.median_ms).mean,
        shape(row, |shape| shape.gaps.of_section_4_percent).mean,
        shape(row, |shape| shape.gaps.pauses_percent).mean
    )
}

fn range_of_gaps(row: Row<'_>) -> Stated {
    let writes = row.key.writes;
    let what = format!(
        "§4.2: segments arrive 0.6 to 1.1 ms apart (share of the gaps), {}",
        writes.label()
    );
    let share = shape(row, |shape| shape.gaps.of_section_4_percent);
    let id = format!("section4.2-gaps-{}", writes.id());
    paper(id, what, "%", share, at_least(NEARLY_ALL_PERCENT))
        .above("most gaps", 50.0)
        .why(gap_figures(row))
}

/// The wire's time of a full segment: 536 bytes, 52 of headers, 2 of PPP in ns-3 and none here.
fn gap_of_fig4(row: Row<'_>) -> Stated {
    let writes = row.key.writes;
    let what = format!("Fig. 4: the median gap between arrivals, {}", writes.label());
    let hundredth =
        value(Gaps::of(&FIG4_ARRIVALS_S).median_ms, 0.01, "stated beforehand: a hundredth");
    let median = shape(row, |shape| shape.gaps.median_ms);
    paper(format!("fig4-gap-{}", writes.id()), what, "ms", median, hundredth).why(format!(
        "{}. 588 bytes take {:.3} ms on 5 Mbit/s, 590 with the two of PPP that ns-3 adds {:.3} ms",
        gap_figures(row),
        588.0 * 8.0 / 5e3,
        590.0 * 8.0 / 5e3
    ))
}

fn last_ten(row: Row<'_>) -> Stated {
    let writes = row.key.writes;
    let what = format!(
        "§4.3: the last ten gaps give a timeout of 0.8 or 0.9 ms (their mean, as shown with one \
         digit), {}",
        writes.label()
    );
    let ten = shape(row, |shape| shape.gaps.last_ten_ms);
    let id = format!("section4.3-last-ten-{}", writes.id());
    paper(id, what, "ms", ten, between(0.75, 0.95)).why(format!(
        "{}; Fig. 4's own gaps have a mean of {:.3} ms",
        gap_figures(row),
        Gaps::of(&FIG4_ARRIVALS_S).last_ten_ms
    ))
}

/// §4.2 says that Fig. 4 was measured before the timeout was changed.
fn every_segment(row: Row<'_>) -> Stated {
    let (writes, policy) = (row.key.writes, row.key.policy);
    let acks = row.damaged.mean(Sample::acks_per_segment);
    let what = format!(
        "Fig. 4: every segment is acknowledged by itself with {}, {} (acknowledgments a segment)",
        timeout(policy),
        writes.label()
    );
    let id = format!("fig4-every-segment-{}-{}", policy.id, writes.id());
    paper(id, what, "", acks, tenth(1.0))
        .above("more than every second", 0.5)
        .why(format!(
            "{:.0} acknowledgments and {:.0} segments a run. Fig. 4's leave {:.2} ms after each arrival, \
             {:.2} ms before the next one",
            row.damaged.mean(|run| run.acks).mean,
            row.damaged.mean(|run| run.data_segments).mean,
            FIG4_ACK_AFTER_MS,
            Gaps::of(&FIG4_ARRIVALS_S).median_ms - FIG4_ACK_AFTER_MS
        ))
        .since(
            (acks.mean > 0.9) == (policy == STATIC_900 && writes == Writes::AtOnce),
            "That is what a timer of 0.9 ms does between full segments, and nothing else that was run \
             does: the figure is of a run with the new timeout, while its sender has more to send than the path takes",
        )
}

fn timeout(policy: Policy) -> &'static str {
    if policy == DELAYED_NS3 { "200 ms" } else { policy.label }
}

fn still_short(row: Row<'_>) -> Stated {
    let writes = row.key.writes;
    let what =
        format!("Fig. 4: 9.667 s after the start 929 of 1040 kB have arrived, {}", writes.label());
    let delivered = shape(row, |shape| shape.delivered_at_fig4_bytes / 1e3);
    let ends = row.damaged.mean(|run| run.completion_s);
    let allowed = tenth(FIG4_ACKNOWLEDGED_BYTES / 1e3);
    paper(format!("fig4-short-{}", writes.id()), what, "kB", delivered, allowed)
        .below("short of everything", WRITTEN / 1e3)
        .why(format!(
            "the last byte arrives after {:.2} s, in the slowest of {} runs after {:.2} s; {:.2} timeouts a \
             run",
            ends.mean,
            ends.runs,
            ends.max,
            row.damaged.mean(|run| run.timeouts).mean
        ))
}
