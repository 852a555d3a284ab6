//! What the paper says, with our verdicts and the measured facts behind them; and what this project
//! says of itself.
//!
//! The paper gives its figures as pictures, which are lost, and one number: DAD-SD is about 8 % above
//! DAD on average. "About" is taken as a quarter of it, two percentage points either way.

use super::alpha::Sweep;
use super::band::BESIDE;
use super::curves::{Curve, Points, curve, sums};
use super::measured::Measured;
use super::policies::CONTESTS;
use super::sample::{Run, Sample};
use super::setup::{INTERVALS, Interval, tau};
use crate::cells::{least, over, pairs};
use crate::claims::{Stated, at_least, at_most, directed, paper, project, value};
use ackord_measure::stats::{Estimate, mean};

/// The paper's only number (§4.2): per cent that DAD-SD is above DAD on average.
const GAIN_PERCENT: f64 = 8.0;
/// What "about" allows, of the number.
const ABOUT: f64 = 0.25;
/// "Holds up beside" somebody: at least so much of it, in per cent.
const BESIDE_RIVALS: f64 = 95.0;
/// How far a curve may be from ns-2's, in per cent.
const FIDELITY_PERCENT: f64 = 10.0;

/// The readings of what is compared: how low either threshold may fall, on which recovery, whether Table 1's
/// listing is meant to the letter.
const READINGS: [(&str, [&str; 2]); 6] = [
    ("gain", ["dad", "dad-sd"]),
    ("gain-no-floor", ["dad-no-floor", "dad-sd-no-floor"]),
    ("gain-no-floor-of-dad-sd", ["dad", "dad-sd-no-floor"]),
    ("gain-no-floor-of-dad", ["dad-no-floor", "dad-sd"]),
    ("gain-on-reno", ["dad-on-reno", "dad-sd-on-reno"]),
    ("gain-literal-table", ["dad", "dad-sd-literal"]),
];

pub(super) fn claims(measured: &Measured) -> Vec<Stated> {
    let points = &measured.points;
    let mut stated = Vec::new();
    for interval in INTERVALS {
        stated.extend(READINGS.map(|(id, pair)| gain(measured, interval, pair, id)));
        stated.push(timeouts(points, interval));
        stated.push(above_newreno(points, interval));
    }
    stated.extend(INTERVALS.iter().flat_map(|interval| fidelity(measured, *interval)));
    stated.extend(INTERVALS.iter().flat_map(|interval| contests(points, *interval)));
    stated
}

/// How much the second is above the first, in per cent: each seed's goodputs summed over the taus
/// above zero, where there is reordering.
fn gain_each(points: &Points, policies: [&str; 2], interval: Interval) -> Vec<f64> {
    let [first, second] = policies.map(|id| {
        let reordered = curve(points, id, interval).0.iter().filter(|point| point.key.tenths > 0);
        sums(reordered, Run::goodput)
    });
    pairs(&second, &first, |second, first| 100.0 * (second / first - 1.0))
}

/// Mean goodputs where there is reordering.
fn reordered(curve: Curve<'_>) -> Vec<f64> {
    curve.goodputs().filter(|(tenths, _)| *tenths > 0).map(|(_, rate)| rate.mean).collect()
}

/// The same with every tau weighing alike: the mean of the ratios of means.
fn mean_of_gains(points: &Points, policies: [&str; 2], interval: Interval) -> f64 {
    let [first, second] = policies.map(|id| reordered(curve(points, id, interval)));
    let gains = pairs(&second, &first, |second, first| 100.0 * (second / first - 1.0));
    mean(&gains).unwrap_or(0.0)
}

/// §4.2: DAD-SD about 8 % above DAD on average.
fn gain(measured: &Measured, interval: Interval, policies: [&str; 2], id: &str) -> Stated {
    let points = &measured.points;
    let [first, second] = policies.map(|id| curve(points, id, interval));
    let count = |curve: Curve<'_>, pick: fn(&Sample) -> u64| curve.count(pick).mean;
    let figures = format!(
        "Every tau weighing alike it is {:+.1} %. In 1000 s {} has {:.1} timeouts, {:.0} fast \
         recoveries, {:.0} of them undone, and {:.0} needless retransmissions; {} {:.1}, {:.0}, \
         {:.0} and {:.0}. Absolute goodput, mean over the figure: {:.3} and {:.3} Mbit/s.",
        mean_of_gains(points, policies, interval),
        first.label(),
        count(first, |run| run.timeouts),
        count(first, |run| run.fast_recoveries),
        count(first, |run| run.undone),
        count(first, Sample::needless),
        second.label(),
        count(second, |run| run.timeouts),
        count(second, |run| run.fast_recoveries),
        count(second, |run| run.undone),
        count(second, Sample::needless),
        mean(&reordered(first)).unwrap_or(0.0),
        mean(&reordered(second)).unwrap_or(0.0),
    );
    let of_alpha = widest_alpha(measured, interval, policies[1])
        .map(|widest| format!(" With alpha goodput changes by {widest:.0} % at most."));
    let what = format!(
        "{} above {}, mean over the figure, every {} ms",
        second.label(),
        first.label(),
        interval.millis
    );
    let gain = over(&gain_each(points, policies, interval));
    let about = value(GAIN_PERCENT, ABOUT, "\"about\" in the text: a quarter");
    paper(format!("fig{}.{id}", interval.figure), what, "%", gain, about)
        .above("above", 0.0)
        .why(figures + &of_alpha.unwrap_or_default())
}

/// How much alpha matters to a form, if it was varied.
fn widest_alpha(measured: &Measured, interval: Interval, form: &str) -> Option<f64> {
    let sweeps = super::alpha::sweeps(&measured.alphas).into_iter();
    let of_form = sweeps
        .filter(|sweep| (sweep.place().interval, sweep.place().policy.id) == (interval, form));
    of_form.map(Sweep::spread_percent).reduce(f64::max)
}

/// §4.2: DAD's thresholds jump and lead to timeouts; DAD-SD's do less so.
fn timeouts(points: &Points, interval: Interval) -> Stated {
    let [dad, sd, newreno] = ["dad", "dad-sd", "newreno"]
        .map(|id| curve(points, id, interval).count(|run| run.timeouts));
    let what =
        format!("timeouts in 1000 s that DAD-SD has fewer than DAD, every {} ms", interval.millis);
    paper(format!("fig{}.timeouts", interval.figure), what, "", dad.less(&sd), at_least(0.0))
        .above("fewer", 0.0)
        .why(format!(
            "DAD has {:.2}, DAD-SD {:.2}, NewReno {:.2}.",
            dad.mean, sd.mean, newreno.mean
        ))
        .since(
            dad.mean < newreno.mean,
            "The detection timer is one round trip, shorter than the retransmission timeout, and sends \
             what is missing before that expires, whatever the threshold",
        )
}

/// The figures' point: under reordering both do better than a threshold of three.
fn above_newreno(points: &Points, interval: Interval) -> Stated {
    let [sd, newreno] = ["dad-sd", "newreno"].map(|id| curve(points, id, interval));
    let all = quotients(sd, newreno).into_iter().filter(|(tenths, _)| *tenths > 0);
    let (at, least) = least(all).expect("taus with reordering");
    let what = format!("DAD-SD over NewReno, the least over tau > 0, every {} ms", interval.millis);
    let id = format!("fig{}.above-newreno", interval.figure);
    paper(id, what, "times", least, at_least(1.0))
        .above("above NewReno", 1.0)
        .why(format!("the least is at tau {}", tau(at)))
}

/// Goodput of one over that of another, seed by seed, by tau.
fn quotients(one: Curve<'_>, other: Curve<'_>) -> Vec<(u32, Estimate)> {
    let of = |point: &crate::cells::Cell<super::setup::Place, Run>| {
        let tenths = point.key.tenths;
        Some((tenths, point.over(other.at(tenths)?, Run::goodput)))
    };
    one.0.iter().filter_map(of).collect()
}

/// Our senders against ns-2's, at the tau where they differ most.
fn fidelity(measured: &Measured, interval: Interval) -> Vec<Stated> {
    let claim = |(policy, _): &(&str, &str)| {
        let of = measured
            .compared
            .iter()
            .filter(|point| (point.place.policy.id, point.place.interval) == (*policy, interval));
        let off = of.map(|point| (point, point.difference_percent().magnitude()));
        let (worst, off) = off.max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
        let what = format!(
            "{} off ns-2's, the most over tau, every {} ms",
            worst.place.policy.label, interval.millis
        );
        let id = format!("ns2.{}ms.{policy}", interval.millis);
        let why = format!(
            "at tau {} ours is {:.3} Mbit/s, ns-2's {:.3} +- {:.3}",
            worst.place.tau(),
            worst.ours.mean,
            worst.ns2.mean,
            worst.ns2.ci95.unwrap_or(f64::NAN)
        );
        let claim = project(id, what, "%", off, at_most(FIDELITY_PERCENT));
        Some(claim.below("within a half", 50.0).why(why))
    };
    BESIDE.iter().filter_map(claim).collect()
}

/// This project's claim: practical DAD-SD holds up beside RACK and beside fixed(30).
fn contests(points: &Points, interval: Interval) -> Vec<Stated> {
    let mut stated = Vec::new();
    for contest in &CONTESTS {
        for (name, rival) in [("rack", contest.rack), ("fixed-30", contest.fixed_30)] {
            let [ours, theirs] = [contest.practical, rival].map(|id| curve(points, id, interval));
            let all = quotients(ours, theirs);
            let words: Vec<_> = all
                .iter()
                .map(|(tenths, ratio)| format!("{} {:.0}", tau(*tenths), 100.0 * ratio.mean))
                .collect();
            let (at, least) = least(all).expect("every curve has taus");
            let over_all = over(&gain_each(points, [rival, contest.practical], interval));
            let id = format!("practical.{}ms.{}.{name}", interval.millis, contest.practical);
            let what = format!(
                "practical DAD-SD over {} on {}, least over tau, every {} ms",
                theirs.label(),
                contest.endpoint,
                interval.millis
            );
            stated.push(
                project(id, what, "%", least.times(100.0), at_least(BESIDE_RIVALS))
                    .claims(directed("above it over all tau", over_all))
                    .why(format!("at tau {}; by tau: {}", tau(at), words.join(", "))),
            );
        }
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::super::policies::Policy;
    use super::super::setup::Place;
    use super::*;
    use crate::cells::{Cell, Cells, Runs};

    fn curve_of(id: &str, goodputs: [f64; 2]) -> [Cell<Place, Run>; 2] {
        let sample = |rate: f64| Sample {
            bytes_delivered: (rate * 1e6 / 8.0) as u64,
            segments_sent: 100,
            retransmitted: 10,
            dropped: 4,
            timeouts: 1,
            fast_recoveries: 5,
            undone: 2,
            rtt_mean_us: 500_000,
            cwnd_mean_bytes: 30_000,
        };
        let run = |rate| Run { sample: sample(rate), seconds: 1.0 };
        let (interval, policy) = (INTERVALS[0], Policy::named(id));
        [(0, [2.9, 2.9]), (10, goodputs)].map(|(tenths, goodputs)| Cell {
            key: Place { interval, policy, tenths },
            runs: Runs(goodputs.map(run).to_vec()),
        })
    }

    #[test]
    fn the_gain_is_over_the_taus_with_reordering_seed_by_seed() {
        let curves = [curve_of("dad", [1.0, 2.0]), curve_of("dad-sd", [1.1, 2.2])];
        let points = Cells(curves.into_iter().flatten().collect());
        let gains = gain_each(&points, ["dad", "dad-sd"], INTERVALS[0]);
        assert_eq!(gains.len(), 2);
        assert!(gains.iter().all(|gain| (gain - 10.0).abs() < 0.01), "{gains:?}");
        let mean = mean_of_gains(&points, ["dad", "dad-sd"], INTERVALS[0]);
        assert!((mean - 10.0).abs() < 0.01, "{mean}");
    }
}
