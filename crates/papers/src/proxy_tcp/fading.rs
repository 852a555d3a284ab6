//! Figures 6, 7 and 8: sequence numbers while the wireless link fades, and how long the return
//! takes, with the beginning of the fade swept over forty phases.

use super::sample::{Outcomes, Sample, Samples};
use super::setup::{
    BOXES, File, Middle, PAYLOAD_BYTES, Plan, Runs, SENDERS, Sender, boxed, errors, fades, set,
};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range as Shown, Shape};
use ackord_scenario::{Errors, Override};
use ackord_study::KeepSeries;
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

#[derive(Debug)]
pub(super) struct FadePlan {
    sweeps: Vec<PlannedSweep>,
    /// Fig. 6, and Fig. 7 and 8 at the first phase, by box.
    curves: Vec<(u32, &'static str, Runs)>,
}

#[derive(Debug)]
struct PlannedSweep {
    middle: &'static Middle,
    sender: &'static Sender,
    lasts_s: f64,
    phases: Vec<Runs>,
}

/// One box and sender, over every phase of one length of fade.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    pub(super) middle: &'static Middle,
    pub(super) sender: &'static Sender,
    pub(super) lasts_s: f64,
    pub(super) phases: Samples,
}

/// What the figures show.
#[derive(Clone, Debug)]
pub(super) struct Fades {
    pub(super) sweeps: Vec<Sweep>,
    curves: Vec<(u32, &'static str, Sample)>,
}

#[derive(Serialize)]
pub(super) struct SweepData {
    middle_box: &'static str,
    sender: &'static str,
    fade_s: f64,
    first_data_s: Estimate,
    rate_back_s: Estimate,
    /// By phase.
    each_first_data_s: Vec<f64>,
}

pub(super) fn plan(plan: &mut Plan, phases: u32) -> Result<FadePlan, Errors> {
    let mut sweeps = Vec::new();
    for (lasts_s, _) in FADES {
        for middle in &BOXES {
            for sender in &SENDERS {
                let at = |number| {
                    let fade = phase(number, lasts_s);
                    let changes = [middle.changes(), sender.changes(), fade].concat();
                    plan.add(File::Fading, changes, 1)
                };
                let phases = (0..phases).map(at).collect::<Result<_, _>>()?;
                sweeps.push(PlannedSweep { middle, sender, lasts_s, phases });
            }
        }
    }
    let mut curves = Vec::new();
    for middle in SHOWN {
        for (lasts_s, figure) in FADES {
            let changes = [boxed(middle).changes(), fades(&[(FIRST_S, lasts_s)])].concat();
            let runs = plan.add_as(File::Fading, changes, 1, KeepSeries::Yes)?;
            curves.push((figure, middle, runs));
        }
        let runs = plan.add_as(File::BitErrors, figure_6(middle), 1, KeepSeries::Yes)?;
        curves.push((6, middle, runs));
    }
    Ok(FadePlan { sweeps, curves })
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

pub(super) fn read(plan: &FadePlan, outcomes: &Outcomes) -> Fades {
    let sweep = |planned: &PlannedSweep| Sweep {
        middle: planned.middle,
        sender: planned.sender,
        lasts_s: planned.lasts_s,
        phases: Samples(planned.phases.iter().flat_map(|runs| outcomes.samples(runs).0).collect()),
    };
    let curve = |(figure, middle, runs): &(u32, &'static str, Runs)| {
        (*figure, *middle, outcomes.samples(runs).0.swap_remove(0))
    };
    Fades {
        sweeps: plan.sweeps.iter().map(sweep).collect(),
        curves: plan.curves.iter().map(curve).collect(),
    }
}

impl Sweep {
    pub(super) fn first_data(&self) -> Estimate {
        self.phases.mean(Sample::recovery_s)
    }

    pub(super) fn rate_back(&self) -> Estimate {
        self.phases.mean(Sample::rate_back_s)
    }

    pub(super) fn data(&self) -> SweepData {
        SweepData {
            middle_box: self.middle.id,
            sender: self.sender.id,
            fade_s: self.lasts_s,
            first_data_s: self.first_data(),
            rate_back_s: self.rate_back(),
            each_first_data_s: self.phases.0.iter().map(Sample::recovery_s).collect(),
        }
    }
}

impl Fades {
    /// The sweep of this box, sender and length.
    ///
    /// # Panics
    /// If there is none: every combination is run.
    pub(super) fn sweep(&self, middle: &str, sender: &str, lasts_s: f64) -> &Sweep {
        let wanted = |sweep: &&Sweep| {
            (sweep.middle.id, sweep.sender.id) == (middle, sender) && sweep.lasts_s == lasts_s
        };
        self.sweeps.iter().find(wanted).expect("every combination is run")
    }

    /// Recovery of every box and sender: mean and most over the phases.
    pub(super) fn table(&self) -> Table {
        let mut columns = vec![Column::words("middle box"), Column::words("sender")];
        for (lasts_s, _) in FADES {
            columns.push(Column::numbers(&format!("{lasts_s} s out"), "s"));
            columns.push(Column::numbers("most", "s"));
            columns.push(Column::numbers("rate", "s"));
        }
        let mut rows = Vec::new();
        for middle in &BOXES {
            for sender in &SENDERS {
                let mut row = vec![Cell::text(middle.label), Cell::text(sender.label)];
                for (lasts_s, _) in FADES {
                    let sweep = self.sweep(middle.id, sender.id, lasts_s);
                    let first = sweep.first_data();
                    row.push(Cell::number(first.mean, 2));
                    row.push(Cell::number(first.max, 2));
                    row.push(Cell::number(sweep.rate_back().mean, 2));
                }
                rows.push(row);
            }
        }
        Table {
            caption: "The return after a fade: from its end to the first new data, mean and most \
                      over the phases, and until 90 % of the rate before it is back"
                .to_owned(),
            columns,
            rows,
        }
    }

    /// Fig. 6, 7 and 8, and the recovery against the phase.
    pub(super) fn plots(&self) -> Vec<Plot> {
        let mut plots = vec![self.curves_plot(
            6,
            "Fig. 6: fades of 0.1 s and 0.2 s, errors at one in 64 KByte",
            (0.0, 5.0),
        )];
        for (lasts_s, figure) in FADES {
            let title = format!("Fig. {figure}: a fade of {lasts_s} s from second 4 on");
            plots.push(self.curves_plot(figure, &title, (2.0, 12.0)));
        }
        for sender in ["ns2", "linux"] {
            for (lasts_s, _) in FADES {
                plots.push(self.phases_plot(sender, lasts_s));
            }
        }
        plots
    }

    fn curves_plot(&self, figure: u32, title: &str, (from, to): (f64, f64)) -> Plot {
        let id = format!("fig-{figure}");
        let mut plot = Plot::new(&id, title, "time (s)", "delivered (packets)");
        for (number, (_, middle, sample)) in
            self.curves.iter().filter(|(of, _, _)| *of == figure).enumerate()
        {
            let Some(trace) = &sample.delivered else { continue };
            let points =
                trace.points().iter().map(|p| (p.at.as_secs_f64(), p.value / PAYLOAD_BYTES));
            let shown: Vec<_> = points.filter(|(at, _)| (from..=to).contains(at)).collect();
            let label = boxed(middle).label;
            plot = plot.with(PlotSeries::new(label, Mark::Steps, shown).coloured(number));
        }
        plot.x.range = Shown::Fixed(from, to);
        plot.y.range = Shown::Data;
        plot
    }

    fn phases_plot(&self, sender: &str, lasts_s: f64) -> Plot {
        let label = SENDERS.iter().find(|known| known.id == sender).map_or("", |known| known.label);
        let title = format!("New data after a fade of {lasts_s} s, by when it began ({label})");
        let id = format!("phases-{sender}-{}ms", lasts_s * 1e3);
        let mut plot = Plot::new(&id, &title, "beginning of the fade (s)", "wait after it (s)");
        let shapes = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Cross];
        let shown = ["none", "snoop", "m-tcp", "paper", "practical", "in-path"];
        for (number, middle) in shown.into_iter().enumerate() {
            let sweep = self.sweep(middle, sender, lasts_s);
            let waits =
                sweep.phases.0.iter().filter_map(|sample| {
                    Some((sample.outages.first()?.began_s, sample.recovery_s()))
                });
            let mark = Mark::LinePoints(shapes[number % shapes.len()]);
            let series = PlotSeries::new(sweep.middle.label, mark, waits.collect::<Vec<_>>());
            plot = plot.with(series.coloured(number));
        }
        plot
    }

    /// Every phase, for a CSV file.
    pub(super) fn phases_table(&self) -> Table {
        let columns = vec![
            Column::words("middle box"),
            Column::words("sender"),
            Column::numbers("fade", "s"),
            Column::numbers("began", "s"),
            Column::numbers("new data", "s"),
            Column::numbers("90 % of the rate", "s"),
        ];
        let mut rows = Vec::new();
        for sweep in &self.sweeps {
            for sample in &sweep.phases.0 {
                rows.push(vec![
                    Cell::text(sweep.middle.id),
                    Cell::text(sweep.sender.id),
                    Cell::number(sweep.lasts_s, 1),
                    Cell::number(sample.outages.first().map(|outage| outage.began_s), 2),
                    Cell::number(sample.recovery_s(), 4),
                    Cell::number(sample.rate_back_s(), 2),
                ]);
            }
        }
        Table { caption: "Recovery by phase".to_owned(), columns, rows }
    }
}
