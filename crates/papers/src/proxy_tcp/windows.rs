//! What the paper leaves open about its fades: the sender's window, and when the box acknowledges in the mobile's
//! name (once the link has faded, or also after every duplicate). Each both ways, through Fig. 6, 7 and 8.

use super::fading::{FADES, figure_6, phase};
use super::sample::{Outcomes, Sample, Samples};
use super::setup::{File, PAYLOAD_BYTES, Plan, Runs, boxed, set};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
use ackord_study::KeepSeries;
use serde::Serialize;

/// Packets: ns-2's default, which fills the path without a queue, and one that never binds.
pub(super) const WINDOWS: [u32; 2] = [20, 1_000];
/// None, and the paper's box in both readings.
pub(super) const BOXES: [&str; 3] = ["none", "paper", "duplicates"];

#[derive(Debug)]
pub(super) struct WindowPlan(Vec<Planned>);

#[derive(Debug)]
struct Planned {
    window: u32,
    middle: &'static str,
    /// Fig. 6, by seed.
    short: Runs,
    /// By length of the fade, phase by phase.
    fades: Vec<(f64, Vec<Runs>)>,
}

/// One box with one window.
#[derive(Clone, Debug)]
pub(super) struct Windowed {
    window: u32,
    middle: &'static str,
    /// Fig. 6, by seed.
    pub(super) short: Samples,
    /// By length of the fade.
    fades: Vec<(f64, Samples)>,
}

#[derive(Serialize)]
pub(super) struct WindowedData {
    window_packets: u32,
    middle_box: &'static str,
    fig_6_mbit_s: Estimate,
    fade_s: Vec<f64>,
    goodput_mbit_s: Vec<Estimate>,
    rate_back_s: Vec<Estimate>,
}

pub(super) fn plan(plan: &mut Plan, phases: u32, seeds: u64) -> Result<WindowPlan, Errors> {
    let mut planned = Vec::new();
    for window in WINDOWS {
        for middle in BOXES {
            let with = |more: Vec<Override>| {
                [vec![set("tcp.max_window", window.to_string())], more].concat()
            };
            let short = plan.add(File::BitErrors, with(figure_6(middle)), seeds)?;
            let mut fades = Vec::new();
            for (lasts_s, _) in FADES {
                let mut at = |number| {
                    let changes = [boxed(middle).changes(), phase(number, lasts_s)].concat();
                    plan.add_as(File::Fading, with(changes), 1, KeepSeries::Yes)
                };
                fades.push((lasts_s, (0..phases).map(&mut at).collect::<Result<_, _>>()?));
            }
            planned.push(Planned { window, middle, short, fades });
        }
    }
    Ok(WindowPlan(planned))
}

pub(super) fn read(plan: &WindowPlan, outcomes: &Outcomes) -> Vec<Windowed> {
    let phases = |(lasts_s, runs): &(f64, Vec<Runs>)| {
        (*lasts_s, Samples(runs.iter().flat_map(|runs| outcomes.samples(runs).0).collect()))
    };
    let one = |planned: &Planned| Windowed {
        window: planned.window,
        middle: planned.middle,
        short: outcomes.samples(&planned.short),
        fades: planned.fades.iter().map(phases).collect(),
    };
    plan.0.iter().map(one).collect()
}

/// One box with one window.
///
/// # Panics
/// If there is none: every combination is run.
pub(super) fn of<'a>(all: &'a [Windowed], window: u32, middle: &str) -> &'a Windowed {
    let found = all.iter().find(|one| (one.window, one.middle) == (window, middle));
    found.expect("every combination is run")
}

/// By how many packets one is ahead of the other after Fig. 6's five seconds, seed by seed.
pub(super) fn packets_ahead(with: &Windowed, without: &Windowed) -> Estimate {
    with.short.less(&without.short, |run| run.delivered_bytes as f64 / PAYLOAD_BYTES)
}

/// From the end of a fade of this length until data came again as fast as without a box before it, phase by
/// phase: with the box, and without.
pub(super) fn old_rate_s(with: &Windowed, without: &Windowed, lasts_s: f64) -> [Vec<f64>; 2] {
    let none = &without.fade(lasts_s).0;
    [with, without].map(|one| {
        let pairs = one.fade(lasts_s).0.iter().zip(none);
        pairs.map(|(run, none)| run.rate_reached_s(none.rate_before())).collect()
    })
}

impl Windowed {
    /// The phases of a fade of this length.
    ///
    /// # Panics
    /// If there are none: every length is run.
    pub(super) fn fade(&self, lasts_s: f64) -> &Samples {
        let found = self.fades.iter().find(|(known, _)| *known == lasts_s);
        &found.expect("every length is run").1
    }

    pub(super) fn data(&self) -> WindowedData {
        let each = |pick: fn(&Sample) -> f64| {
            self.fades.iter().map(|(_, samples)| samples.mean(pick)).collect()
        };
        WindowedData {
            window_packets: self.window,
            middle_box: self.middle,
            fig_6_mbit_s: self.short.goodput(),
            fade_s: self.fades.iter().map(|(lasts_s, _)| *lasts_s).collect(),
            goodput_mbit_s: each(Sample::goodput_mbit_s),
            rate_back_s: each(Sample::rate_back_s),
        }
    }
}

pub(super) fn table(all: &[Windowed]) -> Table {
    let mut columns = vec![
        Column::numbers("window", "packets"),
        Column::words("middle box"),
        Column::numbers("Fig. 6", "Mbit/s"),
    ];
    for (lasts_s, _) in FADES {
        columns.push(Column::numbers(&format!("{lasts_s} s out"), "Mbit/s"));
        columns.push(Column::numbers("rate back", "s"));
    }
    let interval = |estimate: Estimate, decimals| Cell::Interval {
        mean: estimate.mean,
        half_width: estimate.ci95,
        decimals,
    };
    let row = |one: &Windowed| {
        let mut row = vec![
            Cell::Count(u64::from(one.window)),
            Cell::text(boxed(one.middle).label),
            interval(one.short.goodput(), 3),
        ];
        for (lasts_s, _) in FADES {
            row.push(interval(one.fade(lasts_s).goodput(), 3));
            row.push(interval(one.fade(lasts_s).mean(Sample::rate_back_s), 2));
        }
        row
    };
    Table {
        caption: "What the paper leaves open about its fades: the sender's window, and whether the box \
                  also acknowledges after every duplicate (ns-2 Reno; goodput over the run, mean over \
                  seeds or phases)"
            .to_owned(),
        columns,
        rows: all.iter().map(row).collect(),
    }
}
