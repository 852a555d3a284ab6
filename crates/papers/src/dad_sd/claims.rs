//! What the paper says, with our verdicts and the measured facts behind them; and what this project
//! says of itself.
//!
//! The paper gives its figures as pictures, which are lost, and one number: DAD-SD is about 8 % above
//! DAD on average. "About" is taken as a quarter of it, two percentage points either way.

use super::alpha::Sweep;
use super::band::{BESIDE, Compared};
use super::curves::{Curve, curve};
use super::policies::CONTESTS;
use super::sample::{Point, Sample};
use super::setup::{INTERVALS, Interval, tau};
use crate::verdict::{Stated, Why, above, below, directed, value};
use ackord_measure::stats::{Estimate, estimate, ratio};
use ackord_measure::{Allowed, Claim, Claimant};

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

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) curves: &'a [Curve],
    pub(super) compared: &'a [Compared],
    pub(super) sweeps: &'a [Sweep],
}

pub(super) fn claims(findings: &Findings<'_>) -> Vec<Claim> {
    let mut stated = Vec::new();
    for interval in INTERVALS {
        stated.extend(READINGS.map(|(id, pair)| gain(findings, interval, pair, id)));
        stated.push(timeouts(findings, interval));
        stated.push(above_newreno(findings, interval));
    }
    stated.extend(INTERVALS.iter().flat_map(|interval| fidelity(findings, *interval)));
    stated.extend(INTERVALS.iter().flat_map(|interval| contests(findings, *interval)));
    stated.into_iter().map(Stated::judged).collect()
}

/// How much the second is above the first, in per cent: each seed's goodputs summed over the taus
/// above zero, where there is reordering.
fn gain_each(curves: &[Curve], [first, second]: [&str; 2], interval: Interval) -> Vec<f64> {
    let sums = |id: &str| {
        let mut sums: Vec<f64> = Vec::new();
        for (tenths, point) in &curve(curves, id, interval).points {
            if *tenths == 0 {
                continue;
            }
            let each = point.goodput_each();
            sums.resize(each.len(), 0.0);
            sums.iter_mut().zip(each).for_each(|(sum, rate)| *sum += rate);
        }
        sums
    };
    let (first, second) = (sums(first), sums(second));
    first.iter().zip(second).map(|(first, second)| 100.0 * (second / first - 1.0)).collect()
}

/// The same with every tau weighing alike: the mean of the ratios of means.
fn mean_of_gains(curves: &[Curve], [first, second]: [&str; 2], interval: Interval) -> f64 {
    let (first, second) = (curve(curves, first, interval), curve(curves, second, interval));
    let pairs = first.goodputs().zip(second.goodputs()).filter(|((tenths, _), _)| *tenths > 0);
    let gains: Vec<f64> =
        pairs.map(|((_, first), (_, second))| 100.0 * (second.mean / first.mean - 1.0)).collect();
    gains.iter().sum::<f64>() / gains.len().max(1) as f64
}

/// §4.2: DAD-SD about 8 % above DAD on average.
fn gain(findings: &Findings<'_>, interval: Interval, pair: [&str; 2], id: &str) -> Stated {
    let curves = findings.curves;
    let each = gain_each(curves, pair, interval);
    let measured = estimate(&each).expect("every point has runs");
    let [first, second] = pair.map(|id| curve(curves, id, interval));
    let count = |curve: &Curve, pick: fn(&Sample) -> u64| curve.count(pick).mean;
    let widest = widest_alpha(findings.sweeps, interval, pair[1]);
    let figures = format!(
        "Every tau weighing alike it is {:+.1} %. In 1000 s {} has {:.1} timeouts, {:.0} fast \
         recoveries, {:.0} of them undone, and {:.0} needless retransmissions; {} {:.1}, {:.0}, \
         {:.0} and {:.0}. Absolute goodput, mean over the figure: {:.3} and {:.3} Mbit/s.",
        mean_of_gains(curves, pair, interval),
        first.policy.label,
        count(first, |run| run.timeouts),
        count(first, |run| run.fast_recoveries),
        count(first, |run| run.undone),
        count(first, Sample::needless),
        second.policy.label,
        count(second, |run| run.timeouts),
        count(second, |run| run.fast_recoveries),
        count(second, |run| run.undone),
        count(second, Sample::needless),
        mean_goodput(first),
        mean_goodput(second),
    );
    let why = match widest {
        Some(widest) => {
            let alpha = format!("{figures} With alpha goodput changes by {widest:.0} % at most.");
            Why::measured(alpha)
        }
        None => Why::measured(figures),
    };
    Stated {
        id: format!("fig{}.{id}", interval.figure),
        by: Claimant::Paper,
        what: format!(
            "{} above {}, mean over the figure, every {} ms",
            second.policy.label, first.policy.label, interval.millis
        ),
        unit: "%",
        paper: Some(GAIN_PERCENT),
        allowed: value(GAIN_PERCENT, ABOUT, "\"about\" in the text: a quarter"),
        direction: directed("above", measured),
        measured,
        why,
    }
}

/// Mean over the taus with reordering.
fn mean_goodput(curve: &Curve) -> f64 {
    let each: Vec<f64> =
        curve.goodputs().filter(|(tenths, _)| *tenths > 0).map(|(_, rate)| rate.mean).collect();
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

/// How much alpha matters to a form, if it was varied.
fn widest_alpha(sweeps: &[Sweep], interval: Interval, form: &str) -> Option<f64> {
    let of_form = sweeps
        .iter()
        .filter(|sweep| sweep.place.interval == interval && sweep.place.policy.id == form);
    of_form.map(Sweep::spread_percent).reduce(f64::max)
}

/// §4.2: DAD's thresholds jump and lead to timeouts; DAD-SD's do less so.
fn timeouts(findings: &Findings<'_>, interval: Interval) -> Stated {
    let count = |id| curve(findings.curves, id, interval).count(|run| run.timeouts);
    let (dad, sd, newreno) = (count("dad"), count("dad-sd"), count("newreno"));
    let fewer = dad.less(&sd);
    Stated {
        id: format!("fig{}.timeouts", interval.figure),
        by: Claimant::Paper,
        what: format!(
            "timeouts in 1000 s that DAD-SD has fewer than DAD, every {} ms",
            interval.millis
        ),
        unit: "",
        paper: None,
        allowed: Allowed::AtLeast { low: 0.0 },
        measured: fewer,
        direction: directed("fewer", fewer),
        why: Why::measured(format!(
            "DAD has {:.2}, DAD-SD {:.2}, NewReno {:.2}.",
            dad.mean, sd.mean, newreno.mean
        ))
        .since(
            dad.mean < newreno.mean,
            "The detection timer is one round trip, shorter than the retransmission timeout, and sends \
             what is missing before that expires, whatever the threshold",
        ),
    }
}

/// The figures' point: under reordering both do better than a threshold of three.
fn above_newreno(findings: &Findings<'_>, interval: Interval) -> Stated {
    let [sd, newreno] = ["dad-sd", "newreno"].map(|id| curve(findings.curves, id, interval));
    let all = quotients(sd, newreno).into_iter().filter(|(tenths, _)| *tenths > 0);
    let (at, least) = least(all).expect("taus with reordering");
    Stated {
        id: format!("fig{}.above-newreno", interval.figure),
        by: Claimant::Paper,
        what: format!("DAD-SD over NewReno, the least over tau > 0, every {} ms", interval.millis),
        unit: "times",
        paper: None,
        allowed: Allowed::AtLeast { low: 1.0 },
        direction: above("above NewReno", &least, 1.0),
        measured: least,
        why: Why::measured(format!("the least is at tau {}", tau(at))),
    }
}

/// Goodput of one over that of another, seed by seed, by tau.
fn quotients(one: &Curve, other: &Curve) -> Vec<(u32, Estimate)> {
    let of = |(tenths, point): &(u32, Point)| {
        let other = other.at(*tenths)?.goodput_each();
        Some((*tenths, ratio(&point.goodput_each(), &other)?))
    };
    one.points.iter().filter_map(of).collect()
}

fn least(of: impl Iterator<Item = (u32, Estimate)>) -> Option<(u32, Estimate)> {
    of.min_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean))
}

/// Our senders against ns-2's, at the tau where they differ most.
fn fidelity(findings: &Findings<'_>, interval: Interval) -> Vec<Stated> {
    let claim = |(policy, _): &(&str, &str)| {
        let of = findings
            .compared
            .iter()
            .filter(|point| point.policy == *policy && point.interval == interval);
        let off = of.map(|point| (point, point.difference_percent()));
        let (worst, off) = off.max_by(|a, b| a.1.mean.abs().total_cmp(&b.1.mean.abs()))?;
        let magnitude = off.magnitude();
        Some(Stated {
            id: format!("ns2.{}ms.{policy}", interval.millis),
            by: Claimant::Project,
            what: format!(
                "{} off ns-2's, the most over tau, every {} ms",
                worst.label, interval.millis
            ),
            unit: "%",
            paper: None,
            allowed: Allowed::AtMost { high: FIDELITY_PERCENT },
            direction: below("within a half", &magnitude, 50.0),
            measured: magnitude,
            why: Why::measured(format!(
                "at tau {} ours is {:.3} Mbit/s, ns-2's {:.3} +- {:.3}",
                tau(worst.tenths),
                worst.ours.mean,
                worst.ns2.mean,
                worst.ns2.ci95
            )),
        })
    };
    BESIDE.iter().filter_map(claim).collect()
}

/// This project's claim: practical DAD-SD holds up beside RACK and beside fixed(30).
fn contests(findings: &Findings<'_>, interval: Interval) -> Vec<Stated> {
    let mut stated = Vec::new();
    for contest in &CONTESTS {
        for (name, rival) in [("rack", contest.rack), ("fixed-30", contest.fixed_30)] {
            let [ours, theirs] =
                [contest.practical, rival].map(|id| curve(findings.curves, id, interval));
            let all = quotients(ours, theirs);
            let words: Vec<_> = all
                .iter()
                .map(|(tenths, ratio)| format!("{} {:.0}", tau(*tenths), 100.0 * ratio.mean))
                .collect();
            let (at, least) = least(all.into_iter()).expect("every curve has taus");
            let least = least.times(100.0);
            let over_all = gain_each(findings.curves, [rival, contest.practical], interval);
            let over_all = estimate(&over_all).expect("every point has runs");
            stated.push(Stated {
                id: format!("practical.{}ms.{}.{name}", interval.millis, contest.practical),
                by: Claimant::Project,
                what: format!(
                    "practical DAD-SD over {} on {}, least over tau, every {} ms",
                    theirs.policy.label, contest.endpoint, interval.millis
                ),
                unit: "%",
                paper: None,
                allowed: Allowed::AtLeast { low: BESIDE_RIVALS },
                direction: directed("above it over all tau", over_all),
                measured: least,
                why: Why::measured(format!("at tau {}; by tau: {}", tau(at), words.join(", "))),
            });
        }
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::super::policies::Policy;
    use super::super::sample::point;
    use super::*;

    fn curve_of(id: &str, goodputs: [f64; 2]) -> Curve {
        let points = vec![(0, point(&[2.9, 2.9])), (10, point(&goodputs))];
        Curve { policy: Policy::named(id), interval: INTERVALS[0], points }
    }

    #[test]
    fn the_gain_is_over_the_taus_with_reordering_seed_by_seed() {
        let curves = [curve_of("dad", [1.0, 2.0]), curve_of("dad-sd", [1.1, 2.2])];
        let gains = gain_each(&curves, ["dad", "dad-sd"], INTERVALS[0]);
        assert_eq!(gains.len(), 2);
        assert!(gains.iter().all(|gain| (gain - 10.0).abs() < 0.01), "{gains:?}");
        let mean = mean_of_gains(&curves, ["dad", "dad-sd"], INTERVALS[0]);
        assert!((mean - 10.0).abs() < 0.01, "{mean}");
    }
}
