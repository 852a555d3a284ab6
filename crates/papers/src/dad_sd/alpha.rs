//! Which alpha: the paper leaves the weight of Eq. 1 to the user. Goodput against alpha at several
//! taus, for the paper's DAD-SD with and without a floor and for the practical one.

use super::policies::Policy;
use super::sample::Run;
use super::setup::{INTERVALS, Place};
use crate::cells::{Cell, Cells};
use crate::plan::{Setup, set};
use crate::tables::{record, rows, series};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, Shape};
use ackord_units::Span;
use serde::Serialize;

/// In hundredths.
pub(super) static ALPHAS: [u32; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
/// The forms of DAD-SD that have an alpha.
static FORMS: [&str; 3] = ["dad-sd", "dad-sd-no-floor", "practical"];

/// A form at a place, and its alpha in hundredths.
pub(super) type Key = (Place, u32);

/// Goodput against alpha at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep<'a>(&'a [Cell<Key, Run>]);

pub(super) fn keys(taus: &[u32]) -> impl Iterator<Item = Key> {
    let forms = INTERVALS.into_iter().flat_map(|interval| FORMS.map(|form| (interval, form)));
    let places = forms.flat_map(|(interval, form)| {
        let policy = Policy::named(form);
        taus.iter().map(move |&tenths| Place { interval, policy, tenths })
    });
    places.flat_map(|place| ALPHAS.map(|alpha| (place, alpha)))
}

pub(super) fn setup((place, alpha): &Key, transfer: Span) -> Setup {
    place.setup(transfer, &[set("tcp.loss.alpha", format!("{}", share(*alpha)))])
}

pub(super) fn sweeps(cells: &Cells<Key, Run>) -> Vec<Sweep<'_>> {
    cells.chunk_by(|a, b| a.key.0 == b.key.0).map(Sweep).collect()
}

impl<'a> Sweep<'a> {
    pub(super) fn place(self) -> &'a Place {
        &self.0[0].key.0
    }

    /// By alpha in hundredths.
    fn goodputs(self) -> impl Iterator<Item = (u32, Estimate)> {
        self.0.iter().map(|point| (point.key.1, point.mean(Run::goodput)))
    }

    /// The alpha of the highest mean goodput, in hundredths, and that goodput.
    fn best(self) -> (u32, f64) {
        let means = self.goodputs().map(|(alpha, goodput)| (alpha, goodput.mean));
        means.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// How far the worst alpha falls below the best, in per cent of the best.
    pub(super) fn spread_percent(self) -> f64 {
        let least = self.goodputs().map(|(_, goodput)| goodput.mean).fold(f64::INFINITY, f64::min);
        100.0 * (1.0 - least / self.best().1)
    }
}

pub(super) fn data(sweeps: &[Sweep<'_>]) -> Vec<impl Serialize> {
    let data = |sweep: &Sweep<'_>| {
        let Place { interval, policy, .. } = sweep.place();
        let goodput = sweep.goodputs().map(|(alpha, goodput)| (share(alpha), goodput.mean));
        record! {
            policy: policy.id,
            interval_ms: interval.millis,
            tau: sweep.place().tau(),
            best_alpha: share(sweep.best().0),
            spread_percent: sweep.spread_percent(),
            goodput_mbit_s: goodput.collect::<Vec<_>>(),
        }
    };
    sweeps.iter().map(data).collect()
}

fn share(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

/// A row for each form, interval and tau; the best alpha and how much it matters.
pub(super) fn table(sweeps: &[Sweep<'_>]) -> Table {
    let at = |sweep: &Sweep<'_>, wanted: u32| {
        sweep.goodputs().find(|(alpha, _)| *alpha == wanted).expect("every alpha is run").1
    };
    rows(sweeps.iter().copied())
        .words("form", |sweep| sweep.place().policy.label)
        .count(("every", "ms"), |sweep| sweep.place().interval.millis)
        .number(("tau", ""), 1, |sweep| sweep.place().tau())
        .mean(("alpha 0", "Mbit/s"), 3, |sweep| at(sweep, 0))
        .mean(("0.5", "Mbit/s"), 3, |sweep| at(sweep, 50))
        .mean(("0.95", "Mbit/s"), 3, |sweep| at(sweep, 95))
        .number(("best alpha", ""), 2, |sweep| share(sweep.best().0))
        .number(("there", "Mbit/s"), 3, |sweep| sweep.best().1)
        .number(("worst below best", "%"), 1, |sweep| sweep.spread_percent())
        .titled("alpha of Eq. 1: which, and how much it matters")
}

/// One plot for each form: goodput against alpha.
pub(super) fn plots(sweeps: &[Sweep<'_>]) -> [Plot; 3] {
    FORMS.map(|form| {
        let label = Policy::named(form).label;
        let title = format!("{label}: goodput against alpha (95 % intervals)");
        let axes = ("alpha", "goodput (Mbit/s)");
        let mut plot = Plot::new(&format!("alpha-{form}"), &title, axes.0, axes.1);
        for sweep in sweeps.iter().filter(|sweep| sweep.place().policy.id == form) {
            let Place { interval, tenths, .. } = sweep.place();
            let name = format!("tau {}, {} ms", sweep.place().tau(), interval.millis);
            let fast = *interval == INTERVALS[0];
            let mark = Mark::LinePoints(if fast { Shape::Disc } else { Shape::Square });
            let points = sweep.goodputs().map(|(alpha, goodput)| (share(alpha), goodput));
            let curve = series(&name, mark, points).coloured(*tenths as usize / 5);
            plot = plot.with(if fast { curve } else { curve.dashed() });
        }
        plot
    })
}
