//! Goodput of every policy against tau, at both intervals, as tables and as data.

use super::policies::{CONTESTS, POLICIES, Policy};
use super::sample::{Outcomes, Point, Sample};
use super::setup::{INTERVALS, Interval, Plan, Runs, tau};
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::Errors;
use serde::Serialize;

/// How much of the figures is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// tau in tenths.
    pub(super) taus: &'static [u32],
    pub(super) seeds: u64,
}

#[derive(Debug)]
pub(super) struct CurvePlan(Vec<Planned>);

/// The runs of a policy at one interval.
#[derive(Debug)]
struct Planned {
    policy: &'static Policy,
    interval: Interval,
    /// tau in tenths, and the runs there.
    points: Vec<(u32, Runs)>,
}

/// A policy at one interval.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) policy: &'static Policy,
    pub(super) interval: Interval,
    /// tau in tenths, and what was measured there.
    pub(super) points: Vec<(u32, Point)>,
}

#[derive(Serialize)]
pub(super) struct PointData {
    policy: &'static str,
    endpoint: &'static str,
    interval_ms: u64,
    tau: f64,
    goodput_mbit_s: Estimate,
    timeouts: Estimate,
    fast_recoveries: Estimate,
    retransmitted: Estimate,
    needless_retransmissions: Estimate,
    undone_reductions: Estimate,
    rtt_mean_ms: f64,
}

pub(super) fn plan(plan: &mut Plan, grid: Grid) -> Result<CurvePlan, Errors> {
    let mut curves = Vec::new();
    for interval in INTERVALS {
        for policy in POLICIES {
            let runs = |&tenths: &u32| {
                Ok((tenths, plan.add(policy, &[], (tenths, interval), grid.seeds)?))
            };
            let points = grid.taus.iter().map(runs).collect::<Result<_, Errors>>()?;
            curves.push(Planned { policy, interval, points });
        }
    }
    Ok(CurvePlan(curves))
}

pub(super) fn read(plan: &CurvePlan, outcomes: &Outcomes) -> Vec<Curve> {
    let curve = |planned: &Planned| {
        let point = |(tenths, runs): &(u32, Runs)| (*tenths, outcomes.point(runs));
        let points = planned.points.iter().map(point).collect();
        Curve { policy: planned.policy, interval: planned.interval, points }
    };
    plan.0.iter().map(curve).collect()
}

/// The curve of this policy at this interval.
///
/// # Panics
/// If there is none: every policy of the list is run at every interval.
pub(super) fn curve<'a>(curves: &'a [Curve], policy: &str, interval: Interval) -> &'a Curve {
    let found = curves.iter().find(|curve| curve.policy.id == policy && curve.interval == interval);
    found.unwrap_or_else(|| panic!("{policy} is run at every interval"))
}

impl Curve {
    pub(super) fn goodputs(&self) -> impl Iterator<Item = (u32, Estimate)> + '_ {
        self.points.iter().map(|(tenths, point)| (*tenths, point.goodput()))
    }

    pub(super) fn at(&self, tenths: u32) -> Option<&Point> {
        self.points.iter().find(|(found, _)| *found == tenths).map(|(_, point)| point)
    }

    /// A count, per thousand seconds, averaged over the taus; seed by seed.
    pub(super) fn count(&self, pick: impl Fn(&Sample) -> u64 + Copy) -> Estimate {
        let mut each: Vec<f64> = Vec::new();
        for (_, point) in &self.points {
            let counts = point.each_per_1000_s(pick);
            each.resize(counts.len(), 0.0);
            let share = 1.0 / self.points.len() as f64;
            each.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count * share);
        }
        estimate(&each).expect("every point has runs")
    }

    pub(super) fn data(&self) -> Vec<PointData> {
        let data = |(tenths, point): &(u32, Point)| PointData {
            policy: self.policy.id,
            endpoint: self.policy.endpoint.label(),
            interval_ms: self.interval.millis,
            tau: tau(*tenths),
            goodput_mbit_s: point.goodput(),
            timeouts: point.per_1000_s(|run| run.timeouts),
            fast_recoveries: point.per_1000_s(|run| run.fast_recoveries),
            retransmitted: point.per_1000_s(|run| run.retransmitted),
            needless_retransmissions: point.per_1000_s(Sample::needless),
            undone_reductions: point.per_1000_s(|run| run.undone),
            rtt_mean_ms: point.rtt_ms(),
        };
        self.points.iter().map(data).collect()
    }
}

/// Mean goodput: a row for each policy, a column for each tau.
pub(super) fn goodput_table(curves: &[Curve], interval: Interval) -> Table {
    let of_interval: Vec<_> = curves.iter().filter(|curve| curve.interval == interval).collect();
    let mut columns = vec![Column::words("policy"), Column::words("on")];
    if let Some(first) = of_interval.first() {
        let heading =
            |(tenths, _): &(u32, Point)| Column::numbers(&format!("{}", tau(*tenths)), "");
        columns.extend(first.points.iter().map(heading));
    }
    let row = |curve: &&Curve| {
        let mut row =
            vec![Cell::text(curve.policy.label), Cell::text(curve.policy.endpoint.label())];
        row.extend(curve.goodputs().map(|(_, goodput)| Cell::number(goodput.mean, 3)));
        row
    };
    Table {
        caption: format!(
            "Fig. {}: goodput (Mbit/s) against tau, delay redrawn every {} ms",
            interval.figure, interval.millis
        ),
        columns,
        rows: of_interval.iter().map(row).collect(),
    }
}

/// Practical DAD-SD against RACK and fixed(30), at every tau.
pub(super) fn contest_table(curves: &[Curve], interval: Interval) -> Table {
    let mut columns = vec![Column::words("on"), Column::numbers("tau", "")];
    columns
        .extend(["practical", "RACK-TLP", "fixed(30)"].map(|name| Column::numbers(name, "Mbit/s")));
    columns.extend(["/ RACK", "/ fixed(30)"].map(|name| Column::numbers(name, "%")));
    let mut rows = Vec::new();
    for contest in &CONTESTS {
        let of = |id| curve(curves, id, interval);
        let (practical, rack) = (of(contest.practical), of(contest.rack));
        for (tenths, ours) in practical.goodputs() {
            let at = |curve: &Curve| curve.at(tenths).map(Point::goodput);
            let (Some(rack), Some(fixed)) = (at(rack), at(of(contest.fixed_30))) else { continue };
            rows.push(vec![
                Cell::text(contest.endpoint),
                Cell::number(tau(tenths), 1),
                interval_cell(ours),
                interval_cell(rack),
                interval_cell(fixed),
                Cell::number(100.0 * ours.mean / rack.mean, 0),
                Cell::number(100.0 * ours.mean / fixed.mean, 0),
            ]);
        }
    }
    Table {
        caption: format!(
            "Practical DAD-SD beside RACK-TLP and fixed(30), delay redrawn every {} ms",
            interval.millis
        ),
        columns,
        rows,
    }
}

pub(super) fn interval_cell(estimate: Estimate) -> Cell {
    Cell::Interval { mean: estimate.mean, half_width: estimate.ci95, decimals: 3 }
}

/// What each policy does, averaged over the taus, per thousand seconds.
pub(super) fn cost_table(curves: &[Curve], interval: Interval) -> Table {
    let columns = vec![
        Column::words("policy"),
        Column::words("on"),
        Column::numbers("timeouts", ""),
        Column::numbers("fast recoveries", ""),
        Column::numbers("retransmitted", ""),
        Column::numbers("needlessly", ""),
        Column::numbers("undone", ""),
    ];
    let row = |curve: &Curve| {
        let count = |pick: fn(&Sample) -> u64| Cell::number(curve.count(pick).mean, 1);
        vec![
            Cell::text(curve.policy.label),
            Cell::text(curve.policy.endpoint.label()),
            count(|run| run.timeouts),
            count(|run| run.fast_recoveries),
            count(|run| run.retransmitted),
            count(Sample::needless),
            count(|run| run.undone),
        ]
    };
    Table {
        caption: format!(
            "What each policy does in 1000 s, mean over the taus, delay redrawn every {} ms",
            interval.millis
        ),
        columns,
        rows: curves.iter().filter(|curve| curve.interval == interval).map(row).collect(),
    }
}

/// Everything measured, a row for each point: for a CSV file.
pub(super) fn points_table(curves: &[Curve]) -> Table {
    let mut columns =
        vec![Column::words("policy"), Column::words("endpoint"), Column::numbers("interval", "ms")];
    columns.push(Column::numbers("tau", ""));
    columns.push(Column::numbers("goodput", "Mbit/s"));
    columns.extend(
        ["timeouts", "fast_recoveries", "retransmitted", "needless", "undone"]
            .map(|name| Column::numbers(name, "per 1000 s")),
    );
    columns.push(Column::numbers("rtt", "ms"));
    let mut rows = Vec::new();
    for curve in curves {
        for (tenths, point) in &curve.points {
            let count = |pick: fn(&Sample) -> u64| {
                let Estimate { mean, ci95, .. } = point.per_1000_s(pick);
                Cell::Interval { mean, half_width: ci95, decimals: 1 }
            };
            rows.push(vec![
                Cell::text(curve.policy.id),
                Cell::text(curve.policy.endpoint.label()),
                Cell::Count(curve.interval.millis),
                Cell::number(tau(*tenths), 1),
                interval_cell(point.goodput()),
                count(|run| run.timeouts),
                count(|run| run.fast_recoveries),
                count(|run| run.retransmitted),
                count(Sample::needless),
                count(|run| run.undone),
                Cell::number(point.rtt_ms(), 1),
            ]);
        }
    }
    Table { caption: "Every point".to_owned(), columns, rows }
}
