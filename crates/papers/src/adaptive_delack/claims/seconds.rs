//! What a phone's run looks like in every reading, sender growing per ACK as §2.2 has it: the gaps of Fig. 7, the
//! seconds of Fig. 8, and how far apart seconds are in §5.3.

use crate::adaptive_delack::paper_tables::PaperTable;
use crate::adaptive_delack::phones::{Phones, Setup};
use crate::adaptive_delack::readings::Reading;
use crate::adaptive_delack::sample::Sample;
use crate::adaptive_delack::setup::{DELAYED, Growth};
use crate::adaptive_delack::shape::{FIG7_S, Gaps, Shape};
use crate::cells::{Runs, over};
use crate::claims::{Stated, at_least, faster, more, paper, tenth, within};
use ackord_measure::stats::{Estimate, estimate};

/// §5.3: the slowest and the fastest second, Mbit/s.
const SLOWEST: f64 = 1.73;
const FASTEST: f64 = 12.0;
/// §5.3: so many runs were made.
const RUNS_OF_TABLE_2: usize = 4;

pub(super) fn seconds(phones: &Phones) -> Vec<Stated> {
    let mut stated = Vec::new();
    for reading in Reading::ALL {
        let [one, two] = [1, 2].map(|table| {
            let setup = Setup { reading, table, growth: Growth::PerAck };
            [phones.adjusted(setup), phones.of(setup, DELAYED)]
        });
        stated.extend(gaps_of_fig7(reading, one[1]));
        stated.extend(after_retransmission(reading, one));
        stated.extend(unsteady(reading, two));
    }
    stated
}

/// Fig. 7 was made with the unchanged kernel.
fn gaps_of_fig7(reading: Reading, runs: &Runs<Sample>) -> [Stated; 2] {
    let seven = Gaps::of(&FIG7_S);
    let stated = |id: &str, what: &str, pick: fn(&Gaps) -> f64| {
        let published = pick(&seven);
        let share = published / 100.0;
        let scatter = 196.0 * (share * (1.0 - share) / f64::from(seven.count)).sqrt();
        let from = format!("the 95 % interval of a share of {} gaps", seven.count);
        let what = format!("Fig. 7: share of gaps {what}, {}", reading.label());
        let ours = runs.mean(|run| pick(&run.shape().gaps));
        let id = format!("fig7-{id}-{}", reading.id());
        paper(id, what, "%", ours, within(published, scatter, from)).why(format!(
            "the median gap is {:.2} ms, in the figure {:.2} ms; {:.2} Mbit/s",
            runs.mean(|run| run.shape().gaps.median_ms).mean,
            seven.median_ms,
            runs.goodput().mean
        ))
    };
    [
        stated("single", "up to 0.6 ms, a frame's time", |gaps| gaps.single_percent),
        stated("pauses", "over 2 ms", |gaps| gaps.pauses_percent),
    ]
}

/// §5.2 on Fig. 8: after a retransmission cwnd is back sooner, and the rate with it.
fn after_retransmission(reading: Reading, runs: [&Runs<Sample>; 2]) -> Vec<Stated> {
    let stated = |id: &str, what: &str, unit: &str, pick: fn(&Shape) -> Option<f64>| {
        let [ours, base] = runs.map(|runs| {
            let each = runs.0.iter().filter_map(|run| pick(run.shape()));
            estimate(&each.collect::<Vec<_>>())
        });
        let (ours, base) = (ours?, base?);
        let what =
            format!("Fig. 8: {what} after a retransmission with 0.4 ms, {}", reading.label());
        let id = format!("fig8-{id}-{}", reading.id());
        Some(faster(id, what, ours.over(&base)).why(format!(
            "{:.3} {unit} instead of {:.3}, after cwnd fell and did not fall again for half a second; \
             {} and {} of the runs have such a fall",
            ours.mean, base.mean, ours.runs, base.runs
        )))
    };
    let cwnd = stated("cwnd", "cwnd grows faster", "MB/s", |shape| {
        shape.growth_after_loss_bytes_s.map(|rate| rate / 1e6)
    });
    let rate = stated("rate", "the rate of the next second is higher", "Mbit/s", |shape| {
        shape.rate_after_loss_mbit_s
    });
    cwnd.into_iter().chain(rate).collect()
}

/// §5.3: seconds from 1.73 to 12 Mbit/s, which the paper puts down to the small timeout.
fn unsteady(reading: Reading, runs: [&Runs<Sample>; 2]) -> [Stated; 3] {
    let (label, timeout) = (reading.label(), PaperTable::of(2).adjusted.label);
    let id = |id: &str| format!("section5.3-{id}-{}", reading.id());
    let [low, base_low] = runs.map(|runs| of_four(runs, |s| s.slowest_second_mbit_s, f64::min));
    let [high, base_high] = runs.map(|runs| of_four(runs, |s| s.fastest_second_mbit_s, f64::max));
    let extreme = |word: &str, published: f64, ours: Estimate, base: Estimate| {
        let what = format!("§5.3: the {word} second of four runs with {timeout}, {label}");
        paper(id(word), what, "Mbit/s", ours, tenth(published))
            .why(format!("with 200 ms {:.2} Mbit/s; {} groups of four runs", base.mean, ours.runs))
    };
    let spread = |run: &Sample| run.shape().spread_of_seconds_mbit_s;
    let [small, delayed] = runs;
    let what = format!("§5.3: seconds are further apart with {timeout} than with 200 ms, {label}");
    [
        extreme("slowest", SLOWEST, low, base_low).claims(more(
            "further down than with 200 ms",
            &base_low,
            &low,
        )),
        extreme("fastest", FASTEST, high, base_high).claims(more(
            "further up than with 200 ms",
            &high,
            &base_high,
        )),
        paper(id("apart"), what, "times", small.over(delayed, spread), at_least(1.0))
            .above("further apart", 1.0)
            .why(format!(
                "the standard deviation of a run's seconds is {:.2} Mbit/s with {timeout} and {:.2} with 200 ms",
                small.mean(spread).mean,
                delayed.mean(spread).mean
            )),
    ]
}

/// An extreme of four runs, as the paper had them, over all groups of four; of fewer runs of all of them.
fn of_four(runs: &Runs<Sample>, pick: fn(&Shape) -> f64, extreme: fn(f64, f64) -> f64) -> Estimate {
    let each = runs.each(|run| pick(run.shape()));
    let size = RUNS_OF_TABLE_2.min(each.len());
    let groups = each.chunks_exact(size).filter_map(|group| group.iter().copied().reduce(extreme));
    over(&groups.collect::<Vec<_>>())
}
