//! Which alpha: the paper leaves the weight of Eq. 1 to the user. Goodput against alpha at several
//! taus, for the paper's DAD-SD with and without a floor and for the practical one.

use super::curves::interval_cell;
use super::policies::Policy;
use super::sample::{Outcomes, Point};
use super::setup::{INTERVALS, Interval, Plan, Runs, set, tau};
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Shape};
use ackord_scenario::Errors;
use serde::Serialize;

/// In hundredths.
pub(super) static ALPHAS: [u32; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
/// The forms of DAD-SD that have an alpha.
static FORMS: [&str; 3] = ["dad-sd", "dad-sd-no-floor", "practical"];

#[derive(Debug)]
pub(super) struct AlphaPlan(Vec<(Place, Vec<(u32, Runs)>)>);

/// A form, a tau, an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) policy: &'static Policy,
    pub(super) tenths: u32,
    pub(super) interval: Interval,
}

/// Goodput against alpha.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    pub(super) place: Place,
    /// alpha in hundredths.
    pub(super) points: Vec<(u32, Point)>,
}

#[derive(Serialize)]
pub(super) struct SweepData {
    policy: &'static str,
    interval_ms: u64,
    tau: f64,
    best_alpha: f64,
    /// How much worse the worst alpha is than the best, of the best, in per cent.
    spread_percent: f64,
    goodput_mbit_s: Vec<(f64, f64)>,
}

pub(super) fn plan(plan: &mut Plan, taus: &[u32], seeds: u64) -> Result<AlphaPlan, Errors> {
    let mut sweeps = Vec::new();
    for interval in INTERVALS {
        for form in FORMS {
            for &tenths in taus {
                let place = Place { policy: Policy::named(form), tenths, interval };
                let mut points = Vec::new();
                for alpha in ALPHAS {
                    let change = set("tcp.loss.alpha", format!("{}", f64::from(alpha) / 100.0));
                    let runs = plan.add(place.policy, &[change], (tenths, interval), seeds)?;
                    points.push((alpha, runs));
                }
                sweeps.push((place, points));
            }
        }
    }
    Ok(AlphaPlan(sweeps))
}

pub(super) fn read(plan: &AlphaPlan, outcomes: &Outcomes) -> Vec<Sweep> {
    let sweep = |(place, points): &(Place, Vec<(u32, Runs)>)| Sweep {
        place: *place,
        points: points.iter().map(|(alpha, runs)| (*alpha, outcomes.point(runs))).collect(),
    };
    plan.0.iter().map(sweep).collect()
}

impl Sweep {
    /// The alpha of the highest mean goodput, in hundredths, and that goodput.
    pub(super) fn best(&self) -> (u32, f64) {
        let means = self.points.iter().map(|(alpha, point)| (*alpha, point.goodput().mean));
        means.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// How far the worst alpha falls below the best, in per cent of the best.
    pub(super) fn spread_percent(&self) -> f64 {
        let means = self.points.iter().map(|(_, point)| point.goodput().mean);
        let least = means.fold(f64::INFINITY, f64::min);
        100.0 * (1.0 - least / self.best().1)
    }

    pub(super) fn data(&self) -> SweepData {
        let Place { policy, tenths, interval } = self.place;
        let goodput = |(alpha, point): &(u32, Point)| (share(*alpha), point.goodput().mean);
        SweepData {
            policy: policy.id,
            interval_ms: interval.millis,
            tau: tau(tenths),
            best_alpha: share(self.best().0),
            spread_percent: self.spread_percent(),
            goodput_mbit_s: self.points.iter().map(goodput).collect(),
        }
    }
}

fn share(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

/// A row for each form, interval and tau; the best alpha and how much it matters.
pub(super) fn table(sweeps: &[Sweep]) -> Table {
    let columns = vec![
        Column::words("form"),
        Column::numbers("every", "ms"),
        Column::numbers("tau", ""),
        Column::numbers("alpha 0", "Mbit/s"),
        Column::numbers("0.5", "Mbit/s"),
        Column::numbers("0.95", "Mbit/s"),
        Column::numbers("best alpha", ""),
        Column::numbers("there", "Mbit/s"),
        Column::numbers("worst below best", "%"),
    ];
    let row = |sweep: &Sweep| {
        let at = |wanted: u32| {
            let found = sweep.points.iter().find(|(alpha, _)| *alpha == wanted);
            found.map_or(Cell::Missing, |(_, point)| interval_cell(point.goodput()))
        };
        let (alpha, goodput) = sweep.best();
        vec![
            Cell::text(sweep.place.policy.label),
            Cell::Count(sweep.place.interval.millis),
            Cell::number(tau(sweep.place.tenths), 1),
            at(0),
            at(50),
            at(95),
            Cell::number(share(alpha), 2),
            Cell::number(goodput, 3),
            Cell::number(sweep.spread_percent(), 1),
        ]
    };
    Table {
        caption: "alpha of Eq. 1: which, and how much it matters".to_owned(),
        columns,
        rows: sweeps.iter().map(row).collect(),
    }
}

/// One plot for each form: goodput against alpha.
pub(super) fn plots(sweeps: &[Sweep]) -> Vec<Plot> {
    let plot = |form: &&str| {
        let policy = Policy::named(form);
        let title = format!("{}: goodput against alpha (95 % intervals)", policy.label);
        let axes = ("alpha", "goodput (Mbit/s)");
        let mut plot = Plot::new(&format!("alpha-{form}"), &title, axes.0, axes.1);
        let of_form = sweeps.iter().filter(|sweep| sweep.place.policy.id == policy.id);
        for sweep in of_form {
            let Place { tenths, interval, .. } = sweep.place;
            let name = format!("tau {}, {} ms", tau(tenths), interval.millis);
            let fast = interval == INTERVALS[0];
            let shape = if fast { Shape::Disc } else { Shape::Square };
            let means =
                sweep.points.iter().map(|(alpha, point)| (share(*alpha), point.goodput().mean));
            let errors = sweep.points.iter().map(|(_, point)| point.goodput().ci95);
            let series = PlotSeries::new(&name, Mark::LinePoints(shape), means)
                .with_errors(errors)
                .coloured(tenths as usize / 5);
            plot = plot.with(if fast { series } else { series.dashed() });
        }
        plot
    };
    FORMS.iter().map(plot).collect()
}
