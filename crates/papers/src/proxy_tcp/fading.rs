//! Figures 6, 7 and 8: sequence numbers while the wireless link fades, and how long the return
//! takes, with the beginning of the fade swept over forty phases.

use super::sample::Sample;
use super::setup::{
    BIT_ERRORS, FADING, Id, PAYLOAD_BYTES, Pair, boxed, errors, fades, lasting, pair, pairs, sender,
};
use crate::cells::{Cell, Cells, Runs};
use crate::plan::{Setup, set};
use crate::tables::{Rows, SHAPES, record, rows};
use ackord_report::document::Table;
use ackord_report::plot::{Mark, Plot, PlotSeries, Range as Shown};
use ackord_scenario::Override;
use ackord_units::Span;
use serde::Serialize;

/// How long the paper's fades are (Fig. 7 and 8), seconds, and the figure.
pub(super) static FADES: [(f64, u32); 2] = [(1.5, 7), (2.5, 8)];
/// The first phase: slow start and its losses are over.
const FIRST_S: f64 = 4.0;
/// From one phase to the next: 40 of them cover two seconds, several cycles of the window.
const STEP_S: f64 = 0.05;
/// Fig. 6: the fades that its curves show, from and for, seconds; and the length of the run.
const FIG_6: [(f64, f64); 2] = [(1.6, 0.1), (4.3, 0.2)];
const FIG_6_LASTS: &str = "5 s";
/// Whose curves are shown.
const SHOWN: [&str; 3] = ["none", "paper", "practical"];

/// The length of a fade in seconds, a box and a sender: a run for each phase.
pub(super) type Key = (f64, Pair);

/// What the figures show.
#[derive(Clone, Debug)]
pub(super) struct Fades {
    pub(super) sweeps: Cells<Key, Sample>,
    /// Fig. 6, and Fig. 7 and 8 at the first phase, by box.
    pub(super) curves: Cells<(u32, Id), Sample>,
}

pub(super) fn keys() -> impl Iterator<Item = Key> {
    FADES.into_iter().flat_map(|(lasts_s, _)| pairs().map(move |pair| (lasts_s, pair)))
}

pub(super) fn setups((lasts_s, of): Key, phases: u32) -> impl Iterator<Item = Setup> {
    (0..phases)
        .map(move |number| Setup::new(FADING, pair(of)).with(phase(number, lasts_s)).seeds(1))
}

pub(super) fn curve_keys() -> impl Iterator<Item = (u32, Id)> {
    let figures = [6].into_iter().chain(FADES.map(|(_, figure)| figure));
    figures.flat_map(|figure| SHOWN.map(|middle| (figure, middle)))
}

pub(super) fn curve((figure, middle): (u32, Id), lasts: Span) -> Setup {
    let fade = FADES.into_iter().find(|(_, known)| *known == figure);
    let setup = match fade {
        Some((lasts_s, _)) => {
            Setup::new(FADING, boxed(middle).changes()).with(fades(&[(FIRST_S, lasts_s)]))
        }
        None => lasting(lasts, BIT_ERRORS, figure_6(middle)),
    };
    setup.seeds(1).with_series()
}

/// A fade of this length that begins in one of the phases.
pub(super) fn phase(number: u32, lasts_s: f64) -> Vec<Override> {
    fades(&[(FIRST_S + STEP_S * f64::from(number), lasts_s)])
}

/// Errors at one in 64 KByte, two short fades, five seconds.
pub(super) fn figure_6(middle: &str) -> Vec<Override> {
    let base = [boxed(middle).changes(), errors(65_536.0), fades(&FIG_6)].concat();
    [base, vec![set("duration", FIG_6_LASTS)]].concat()
}

/// Columns that say which box and which sender.
pub(super) fn pair_columns(table: Rows<Pair>) -> Rows<Pair> {
    table
        .words("middlebox", |(middle, _)| boxed(middle).label)
        .words("sender", |(_, of)| sender(of).label)
}

impl Fades {
    /// The sweep of this box, sender and length.
    pub(super) fn sweep(&self, middle: Id, sender: Id, lasts_s: f64) -> &Runs<Sample> {
        self.sweeps.of(&(lasts_s, (middle, sender)))
    }

    pub(super) fn data(&self) -> Vec<impl Serialize> {
        let data = |sweep: &Cell<Key, Sample>| {
            let (lasts_s, (middle, sender)) = sweep.key;
            record! {
                middle_box: middle,
                sender: sender,
                fade_s: lasts_s,
                first_data_s: sweep.first_data(),
                rate_back_s: sweep.mean(Sample::rate_back_s),
                each_first_data_s: sweep.each(Sample::recovery_s),
            }
        };
        self.sweeps.iter().map(data).collect()
    }

    /// Recovery of every box and sender: mean and most over the phases.
    pub(super) fn table(&self) -> Table {
        pair_columns(rows(pairs()))
            .each(FADES, |table, (lasts_s, _)| {
                let sweep = |pair: &Pair| self.sweep(pair.0, pair.1, lasts_s);
                table
                    .number((&format!("{lasts_s} s out"), "s"), 2, |pair| sweep(pair).first_data())
                    .number(("most", "s"), 2, |pair| sweep(pair).first_data().max)
                    .number(("rate", "s"), 2, |pair| sweep(pair).mean(Sample::rate_back_s))
            })
            .titled(
                "The return after a fade: from its end to the first new data, mean and most \
                 over the phases, and until 90 % of the rate before it is back",
            )
    }

    /// Fig. 6, 7 and 8, and the recovery against the phase.
    pub(super) fn plots(&self) -> Vec<Plot> {
        let title = "Fig. 6: fades of 0.1 s and 0.2 s, errors at one in 64 KByte";
        let mut plots = vec![self.curves_plot(6, title, (0.0, 5.0))];
        for (lasts_s, figure) in FADES {
            let title = format!("Fig. {figure}: a fade of {lasts_s} s from second 4 on");
            plots.push(self.curves_plot(figure, &title, (2.0, 12.0)));
        }
        for sender in ["ns2", "linux"] {
            plots.extend(FADES.map(|(lasts_s, _)| self.phases_plot(sender, lasts_s)));
        }
        plots
    }

    fn curves_plot(&self, figure: u32, title: &str, (from, to): (f64, f64)) -> Plot {
        let id = format!("fig-{figure}");
        let mut plot = Plot::new(&id, title, "time (s)", "delivered (packets)");
        for (number, middle) in SHOWN.into_iter().enumerate() {
            let runs = self.curves.of(&(figure, middle));
            let Some(trace) = &runs.0[0].delivered else { continue };
            let points =
                trace.points().iter().map(|p| (p.at.as_secs_f64(), p.value / PAYLOAD_BYTES));
            let shown = points.filter(|(at, _)| (from..=to).contains(at));
            let series = PlotSeries::new(boxed(middle).label, Mark::Steps, shown);
            plot = plot.with(series.coloured(number));
        }
        plot.x.range = Shown::Fixed(from, to);
        plot.y.range = Shown::Data;
        plot
    }

    fn phases_plot(&self, of: Id, lasts_s: f64) -> Plot {
        let label = sender(of).label;
        let title = format!("New data after a fade of {lasts_s} s, by when it began ({label})");
        let id = format!("phases-{of}-{}ms", lasts_s * 1e3);
        let mut plot = Plot::new(&id, &title, "beginning of the fade (s)", "wait after it (s)");
        let shown = ["none", "snoop", "m-tcp", "paper", "practical", "in-path"];
        for (number, middle) in shown.into_iter().enumerate() {
            let waits =
                self.sweep(middle, of, lasts_s).0.iter().filter_map(|sample| {
                    Some((sample.outages.first()?.began_s, sample.recovery_s()))
                });
            let mark = Mark::LinePoints(SHAPES[number % SHAPES.len()]);
            let series = PlotSeries::new(boxed(middle).label, mark, waits);
            plot = plot.with(series.coloured(number));
        }
        plot
    }

    /// Every phase, for a CSV file.
    pub(super) fn phases_table(&self) -> Table {
        let phases = self
            .sweeps
            .iter()
            .flat_map(|sweep| sweep.runs.0.iter().map(|sample| (sweep.key.0, sweep.key.1, sample)));
        rows(phases)
            .words("middlebox", |(_, (middle, _), _)| *middle)
            .words("sender", |(_, (_, sender), _)| *sender)
            .number(("fade", "s"), 1, |(lasts_s, _, _)| *lasts_s)
            .number(("began", "s"), 2, |(_, _, run)| run.outages.first().map(|out| out.began_s))
            .number(("new data", "s"), 4, |(_, _, run)| run.recovery_s())
            .number(("90 % of the rate", "s"), 2, |(_, _, run)| run.rate_back_s())
            .titled("Recovery by phase")
    }
}
