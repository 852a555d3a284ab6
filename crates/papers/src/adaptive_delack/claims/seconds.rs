//! What a phone's run looks like in every reading, sender growing per ACK as §2.2 has it: the gaps of Fig. 7, the
//! seconds of Fig. 8, and how far apart seconds are in §5.3.

use super::{Findings, Stated};
use crate::adaptive_delack::phones::{self, PaperTable, Row, Setup};
use crate::adaptive_delack::readings::Reading;
use crate::adaptive_delack::sample::{over, ratio};
use crate::adaptive_delack::setup::{DELAYED, Growth};
use crate::adaptive_delack::shape::{FIG7_S, Gaps, Shape};
use crate::verdict::{Why, above, by_itself, more, value};
use ackord_measure::stats::{Estimate, estimate};
use ackord_measure::{Allowed, Claimant};

/// §5.3: the slowest and the fastest second, Mbit/s.
const SLOWEST: f64 = 1.73;
const FASTEST: f64 = 12.0;
/// §5.3: so many runs were made.
const RUNS_OF_TABLE_2: usize = 4;

pub(super) fn seconds(findings: &Findings<'_>) -> Vec<Stated> {
    let rows = findings.phones;
    let mut stated = Vec::new();
    for reading in Reading::ALL {
        let setup = |table| Setup { reading, table, growth: Growth::PerAck };
        stated.extend(gaps_of_fig7(phones::find(rows, setup(1), DELAYED)));
        stated.extend(after_retransmission(rows, setup(1)));
        stated.extend(unsteady(rows, setup(2)));
    }
    stated
}

/// Fig. 7 was made with the unchanged kernel.
fn gaps_of_fig7(row: &Row) -> [Stated; 2] {
    let seven = Gaps::of(&FIG7_S);
    let stated = |id: &str, what: &str, pick: fn(&Gaps) -> f64| {
        let measured = over(&row.samples, |sample| pick(&sample.shape().gaps));
        let share = pick(&seven) / 100.0;
        let scatter = 196.0 * (share * (1.0 - share) / f64::from(seven.count)).sqrt();
        Stated {
            id: format!("fig7-{id}-{}", row.setup.reading.word()),
            by: Claimant::Paper,
            what: format!("Fig. 7: share of gaps {what}, {}", row.setup.reading.label()),
            unit: "%",
            paper: Some(pick(&seven)),
            allowed: Allowed::Value {
                value: pick(&seven),
                tolerance: scatter,
                tolerance_from: format!("the 95 % interval of a share of {} gaps", seven.count),
            },
            measured,
            direction: by_itself(&measured),
            why: Why::measured(format!(
                "the median gap is {:.2} ms, in the figure {:.2} ms; {:.2} Mbit/s",
                row.mean(|sample| sample.shape().gaps.median_ms),
                seven.median_ms,
                row.goodput().mean
            )),
        }
    };
    [
        stated("single", "up to 0.6 ms, a frame's time", |gaps| gaps.single_percent),
        stated("pauses", "over 2 ms", |gaps| gaps.pauses_percent),
    ]
}

/// §5.2 on Fig. 8: after a retransmission cwnd is back sooner, and the rate with it.
fn after_retransmission(rows: &[Row], setup: Setup) -> Vec<Stated> {
    let (small, delayed) = (phones::adjusted(rows, setup), phones::find(rows, setup, DELAYED));
    let stated = |id: &str, what: &str, unit: &str, pick: fn(&Shape) -> Option<f64>| {
        let known = |row: &Row| {
            let each = row.samples.iter().filter_map(|sample| pick(sample.shape()));
            estimate(&each.collect::<Vec<_>>())
        };
        let (ours, base) = (known(small)?, known(delayed)?);
        let measured = ours.over(&base);
        Some(Stated {
            id: format!("fig8-{id}-{}", setup.reading.word()),
            by: Claimant::Paper,
            what: format!(
                "Fig. 8: {what} after a retransmission with 0.4 ms, {}",
                setup.reading.label()
            ),
            unit: "times",
            paper: None,
            allowed: Allowed::AtLeast { low: 1.0 },
            measured,
            direction: above("faster", &measured, 1.0),
            why: Why::measured(format!(
                "{:.3} {unit} instead of {:.3}, after cwnd fell and did not fall again for half a second; \
                 {} and {} of the runs have such a fall",
                ours.mean, base.mean, ours.runs, base.runs
            )),
        })
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
fn unsteady(rows: &[Row], setup: Setup) -> [Stated; 3] {
    let (small, delayed) = (phones::adjusted(rows, setup), phones::find(rows, setup, DELAYED));
    let label = setup.reading.label();
    let spread = |shape: &Shape| shape.spread_of_seconds_mbit_s;
    let apart = ratio((&small.samples, &delayed.samples), |sample| spread(sample.shape()));
    let [low, base_low] = [small, delayed].map(slowest);
    let [high, base_high] = [small, delayed].map(fastest);
    let timeout = PaperTable::of(2).adjusted.label;
    let why = Why::measured;
    let stated = |id: &str, what: String| Stated {
        id: format!("section5.3-{id}-{}", setup.reading.word()),
        by: Claimant::Paper,
        what,
        unit: "Mbit/s",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        measured: apart,
        direction: above("further apart", &apart, 1.0),
        why: why(format!(
            "the standard deviation of a run's seconds is {:.2} Mbit/s with {timeout} and {:.2} with 200 ms",
            small.mean(|sample| spread(sample.shape())),
            delayed.mean(|sample| spread(sample.shape()))
        )),
    };
    let extreme = |id: &str, word: &str, paper: f64, measured: Estimate, base: &Estimate| Stated {
        paper: Some(paper),
        allowed: value(paper, 0.1, "stated beforehand: a tenth"),
        measured,
        direction: match id {
            "slowest" => more("further down than with 200 ms", base, &measured),
            _ => more("further up than with 200 ms", &measured, base),
        },
        why: why(format!(
            "with 200 ms {:.2} Mbit/s; {} groups of four runs",
            base.mean, measured.runs
        )),
        ..stated(id, format!("§5.3: the {word} second of four runs with {timeout}, {label}"))
    };
    [
        extreme("slowest", "slowest", SLOWEST, low, &base_low),
        extreme("fastest", "fastest", FASTEST, high, &base_high),
        Stated {
            unit: "times",
            ..stated(
                "apart",
                format!("§5.3: seconds are further apart with {timeout} than with 200 ms, {label}"),
            )
        },
    ]
}

fn slowest(row: &Row) -> Estimate {
    of_four(row, |shape| shape.slowest_second_mbit_s, f64::min)
}

fn fastest(row: &Row) -> Estimate {
    of_four(row, |shape| shape.fastest_second_mbit_s, f64::max)
}

/// An extreme of four runs, as the paper had them, over all groups of four; of fewer runs of all of them.
fn of_four(row: &Row, pick: fn(&Shape) -> f64, extreme: fn(f64, f64) -> f64) -> Estimate {
    let each: Vec<f64> = row.samples.iter().map(|sample| pick(sample.shape())).collect();
    let size = RUNS_OF_TABLE_2.min(each.len());
    let groups = each.chunks_exact(size).filter_map(|group| group.iter().copied().reduce(extreme));
    estimate(&groups.collect::<Vec<_>>()).expect("every set-up has a run")
}
