//! Goodput of every policy against tau, at both intervals, as tables and as data.

use super::policies::{CONTESTS, Contest, POLICIES};
use super::sample::{Run, Sample};
use super::setup::{INTERVALS, Interval, Place, tau};
use crate::cells::{Cell, Cells, Runs, over};
use crate::tables::{record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use serde::Serialize;

/// How much of the figures is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// tau in tenths.
    pub(super) taus: &'static [u32],
    pub(super) seeds: u32,
}

/// Every policy at every tau and interval.
pub(super) type Points = Cells<Place, Run>;

/// A policy at one interval, from tau to tau.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve<'a>(pub(super) &'a [Cell<Place, Run>]);

/// What is counted, for a cost.
type Count = (&'static str, fn(&Sample) -> u64);

/// Every place of the figures.
pub(super) fn places(taus: &'static [u32]) -> impl Iterator<Item = Place> {
    let policies =
        INTERVALS.into_iter().flat_map(|interval| POLICIES.iter().map(move |p| (interval, p)));
    policies.flat_map(move |(interval, policy)| {
        taus.iter().map(move |&tenths| Place { interval, policy, tenths })
    })
}

/// The curves of one interval, in the order of the policies.
pub(super) fn curves(points: &Points, interval: Interval) -> impl Iterator<Item = Curve<'_>> {
    let same = |a: &Cell<Place, Run>, b: &Cell<Place, Run>| {
        (a.key.interval, a.key.policy) == (b.key.interval, b.key.policy)
    };
    let curves = points.chunk_by(same).map(Curve);
    curves.filter(move |curve| curve.place().interval == interval)
}

/// The curve of this policy at this interval.
///
/// # Panics
/// If there is none: every policy of the list is run at every interval.
pub(super) fn curve<'a>(points: &'a Points, policy: &str, interval: Interval) -> Curve<'a> {
    let found = curves(points, interval).find(|curve| curve.place().policy.id == policy);
    found.unwrap_or_else(|| panic!("{policy} is run at every interval"))
}

impl<'a> Curve<'a> {
    /// The place of its first point.
    pub(super) fn place(self) -> &'a Place {
        &self.0[0].key
    }

    pub(super) fn label(self) -> &'static str {
        self.place().policy.label
    }

    /// By tau in tenths.
    pub(super) fn goodputs(self) -> impl Iterator<Item = (u32, Estimate)> {
        self.0.iter().map(|point| (point.key.tenths, point.mean(Run::goodput)))
    }

    pub(super) fn at(self, tenths: u32) -> Option<&'a Runs<Run>> {
        self.0.iter().find(|point| point.key.tenths == tenths).map(|point| &point.runs)
    }

    /// A count, per thousand seconds, averaged over the taus; seed by seed.
    pub(super) fn count(self, pick: impl Fn(&Sample) -> u64) -> Estimate {
        let share = 1.0 / self.0.len() as f64;
        over(&sums(self.0, |run| run.per_1000_s(&pick) * share))
    }
}

/// A figure summed over points, seed by seed.
pub(super) fn sums<'a>(
    points: impl IntoIterator<Item = &'a Cell<Place, Run>>,
    pick: impl Fn(&Run) -> f64,
) -> Vec<f64> {
    let mut sums = Vec::new();
    for point in points {
        let each = point.each(&pick);
        sums.resize(each.len(), 0.0);
        sums.iter_mut().zip(each).for_each(|(sum, one)| *sum += one);
    }
    sums
}

pub(super) fn data(points: &Points) -> Vec<impl Serialize> {
    let data = |point: &Cell<Place, Run>| {
        let count = |pick: fn(&Sample) -> u64| point.mean(|run| run.per_1000_s(pick));
        record! {
            policy: point.key.policy.id,
            endpoint: point.key.policy.endpoint.label(),
            interval_ms: point.key.interval.millis,
            tau: point.key.tau(),
            goodput_mbit_s: point.mean(Run::goodput),
            timeouts: count(|run| run.timeouts),
            fast_recoveries: count(|run| run.fast_recoveries),
            retransmitted: count(|run| run.retransmitted),
            needless_retransmissions: count(Sample::needless),
            undone_reductions: count(|run| run.undone),
            rtt_mean_ms: point.mean(Run::rtt_ms).mean,
        }
    };
    points.iter().map(data).collect()
}

/// Mean goodput: a row for each policy, a column for each tau.
pub(super) fn goodput_table(points: &Points, interval: Interval) -> Table {
    let taus = curve(points, POLICIES[0].id, interval).0.iter().map(|point| point.key.tenths);
    rows(curves(points, interval))
        .words("policy", |curve| curve.label())
        .words("on", |curve| curve.place().policy.endpoint.label())
        .each(taus, |table, tenths| {
            table.number((&tau(tenths).to_string(), ""), 3, |curve| {
                curve.at(tenths).map(|point| point.mean(Run::goodput))
            })
        })
        .titled(format!(
            "Fig. {}: goodput (Mbit/s) against tau, delay redrawn every {} ms",
            interval.figure, interval.millis
        ))
}

/// Practical DAD-SD against RACK and fixed(30), at every tau.
pub(super) fn contest_table(points: &Points, interval: Interval) -> Table {
    let of = |id| curve(points, id, interval);
    let at_each_tau = |contest: &'static Contest| {
        let [rack, fixed] = [contest.rack, contest.fixed_30].map(of);
        of(contest.practical).goodputs().filter_map(move |(tenths, ours)| {
            let at = |curve: Curve<'_>| curve.at(tenths).map(|point| point.mean(Run::goodput));
            Some((contest.endpoint, tenths, [ours, at(rack)?, at(fixed)?]))
        })
    };
    rows(CONTESTS.iter().flat_map(at_each_tau))
        .words("on", |row| row.0)
        .number(("tau", ""), 1, |row| tau(row.1))
        .mean(("practical", "Mbit/s"), 3, |row| row.2[0])
        .mean(("RACK-TLP", "Mbit/s"), 3, |row| row.2[1])
        .mean(("fixed(30)", "Mbit/s"), 3, |row| row.2[2])
        .number(("/ RACK", "%"), 0, |row| 100.0 * row.2[0].mean / row.2[1].mean)
        .number(("/ fixed(30)", "%"), 0, |row| 100.0 * row.2[0].mean / row.2[2].mean)
        .titled(format!(
            "Practical DAD-SD beside RACK-TLP and fixed(30), delay redrawn every {} ms",
            interval.millis
        ))
}

/// What each policy does, averaged over the taus, per thousand seconds.
pub(super) fn cost_table(points: &Points, interval: Interval) -> Table {
    let counts: [Count; 5] = [
        ("timeouts", |run| run.timeouts),
        ("fast recoveries", |run| run.fast_recoveries),
        ("retransmitted", |run| run.retransmitted),
        ("needlessly", Sample::needless),
        ("undone", |run| run.undone),
    ];
    rows(curves(points, interval))
        .words("policy", |curve| curve.label())
        .words("on", |curve| curve.place().policy.endpoint.label())
        .each(counts, |table, (name, pick)| table.number((name, ""), 1, |curve| curve.count(pick)))
        .titled(format!(
            "What each policy does in 1000 s, mean over the taus, delay redrawn every {} ms",
            interval.millis
        ))
}

/// Everything measured, a row for each point: for a CSV file.
pub(super) fn points_table(points: &Points) -> Table {
    let counts: [Count; 5] = [
        ("timeouts", |run| run.timeouts),
        ("fast_recoveries", |run| run.fast_recoveries),
        ("retransmitted", |run| run.retransmitted),
        ("needless", Sample::needless),
        ("undone", |run| run.undone),
    ];
    rows(&**points)
        .words("policy", |point| point.key.policy.id)
        .words("endpoint", |point| point.key.policy.endpoint.label())
        .count(("interval", "ms"), |point| point.key.interval.millis)
        .number(("tau", ""), 1, |point| point.key.tau())
        .mean(("goodput", "Mbit/s"), 3, |point| point.mean(Run::goodput))
        .each(counts, |table, (name, pick)| {
            table.mean((name, "per 1000 s"), 1, |point| point.mean(|run| run.per_1000_s(pick)))
        })
        .number(("rtt", "ms"), 1, |point| point.mean(Run::rtt_ms))
        .titled("Every point")
}
