//! The paper's Tables 1 and 2 as measured columns: what each box is worth against bit errors, what it
//! keeps, what it acknowledges too early, and what becomes of a connection whose box dies.

use super::fading::{FADES, Fades};
use super::readings::READINGS;
use super::sample::{Outcomes, Sample, Samples};
use super::setup::{BOXES, File, Middle, Plan, Runs, SENDERS, Sender, errors, set};
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::{Cell, Column, Table};
use ackord_scenario::{Errors, Override};
use serde::Serialize;

/// When boxes die, as shares of the run: the first death, and from one to the next.
const DEATH_FIRST: f64 = 0.4;
const DEATH_STEP: f64 = 0.009;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Runs of every box with every sender at each error rate.
    pub(super) seeds: u64,
    /// Moments at which a box dies.
    pub(super) deaths: u32,
    /// Length of the runs in which one does, with errors at one in 64 KByte, seconds.
    pub(super) death_run_s: f64,
}

#[derive(Debug)]
pub(super) struct BoxPlan(Vec<Planned>);

#[derive(Debug)]
struct Planned {
    middle: &'static Middle,
    sender: &'static Sender,
    /// At one error in 128 and in 64 KByte.
    errors: [Runs; 2],
    /// Up to each death, and beyond it.
    deaths: Vec<(Runs, Runs)>,
}

/// One box with one sender.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) middle: &'static Middle,
    pub(super) sender: &'static Sender,
    /// At one error in 128 and in 64 KByte.
    pub(super) errors: [Samples; 2],
    /// Delivered after each death, bytes.
    after_death: Vec<f64>,
    /// Acknowledged before each death and never delivered, bytes.
    pub(super) lost: Vec<f64>,
}

#[derive(Serialize)]
pub(super) struct BoxData {
    middle_box: &'static str,
    sender: &'static str,
    goodput_128_mbit_s: Estimate,
    goodput_64_mbit_s: Estimate,
    acknowledged_early_bytes: u64,
    peak_kept_bytes: u64,
    after_death_percent: Estimate,
    lost_bytes: Estimate,
}

pub(super) fn plan(plan: &mut Plan, extent: Extent) -> Result<BoxPlan, Errors> {
    let Extent { seeds, deaths, death_run_s } = extent;
    let mut planned = Vec::new();
    for middle in &BOXES {
        for sender in &SENDERS {
            let with = |bytes: f64, more: Vec<Override>| {
                [errors(bytes), middle.changes(), sender.changes(), more].concat()
            };
            let [low, high] = [READINGS[0].bytes, READINGS[1].bytes];
            let errors = [
                plan.add(File::BitErrors, with(low, Vec::new()), seeds)?,
                plan.add(File::BitErrors, with(high, Vec::new()), seeds)?,
            ];
            let mut both = Vec::new();
            for n in 0..deaths {
                let share = DEATH_FIRST + DEATH_STEP * f64::from(n);
                let at = format!("{:.0} us", share * death_run_s * 1e6);
                let until = with(high, vec![set("duration", at.clone())]);
                let whole = format!("{:.0} us", death_run_s * 1e6);
                let beyond = with(high, vec![set("duration", whole), set("proxies.base.dies", at)]);
                both.push((
                    plan.add(File::BitErrors, until, 1)?,
                    plan.add(File::BitErrors, beyond, 1)?,
                ));
            }
            planned.push(Planned { middle, sender, errors, deaths: both });
        }
    }
    Ok(BoxPlan(planned))
}

pub(super) fn read(plan: &BoxPlan, outcomes: &Outcomes) -> Vec<Measured> {
    let one = |planned: &Planned| {
        let first = |runs: &Runs| outcomes.samples(runs).0.swap_remove(0);
        let deaths: Vec<_> =
            planned.deaths.iter().map(|(until, beyond)| (first(until), first(beyond))).collect();
        Measured {
            middle: planned.middle,
            sender: planned.sender,
            errors: [0, 1].map(|at: usize| outcomes.samples(&planned.errors[at])),
            after_death: deaths
                .iter()
                .map(|(until, beyond)| {
                    beyond.delivered_bytes.saturating_sub(until.delivered_bytes) as f64
                })
                .collect(),
            lost: deaths.iter().map(|(_, beyond)| beyond.lost_bytes as f64).collect(),
        }
    };
    plan.0.iter().map(one).collect()
}

/// The measurements of this box and sender.
///
/// # Panics
/// If there are none: every combination is run.
pub(super) fn of<'a>(all: &'a [Measured], middle: &str, sender: &str) -> &'a Measured {
    let wanted = |one: &&Measured| (one.middle.id, one.sender.id) == (middle, sender);
    all.iter().find(wanted).expect("every combination is run")
}

impl Measured {
    /// What is delivered after the box's death, in percent of what a sender without a box delivers
    /// in the same times.
    pub(super) fn after_death_percent(&self, all: &[Measured]) -> Estimate {
        let none = of(all, "none", self.sender.id);
        let pairs = self.after_death.iter().zip(&none.after_death);
        let shares: Vec<f64> = pairs.map(|(with, none)| 100.0 * with / none.max(1.0)).collect();
        estimate(&shares).expect("deaths are planned")
    }

    pub(super) fn lost_bytes(&self) -> Estimate {
        estimate(&self.lost).expect("deaths are planned")
    }

    /// The most that was acknowledged before the mobile had it.
    pub(super) fn early_bytes(&self) -> u64 {
        self.errors.iter().map(|runs| runs.most(|run| run.early_bytes)).max().unwrap_or(0)
    }

    /// The most data that the box kept.
    pub(super) fn peak_kept_bytes(&self) -> u64 {
        self.errors.iter().map(|runs| runs.most(Sample::peak_kept_bytes)).max().unwrap_or(0)
    }

    pub(super) fn data(&self, all: &[Measured]) -> BoxData {
        BoxData {
            middle_box: self.middle.id,
            sender: self.sender.id,
            goodput_128_mbit_s: self.errors[0].goodput(),
            goodput_64_mbit_s: self.errors[1].goodput(),
            acknowledged_early_bytes: self.early_bytes(),
            peak_kept_bytes: self.peak_kept_bytes(),
            after_death_percent: self.after_death_percent(all),
            lost_bytes: self.lost_bytes(),
        }
    }
}

/// Every box with every sender, column by column.
pub(super) fn table(all: &[Measured], fades: &Fades) -> Table {
    let mut columns = vec![
        Column::words("middle box"),
        Column::words("sender"),
        Column::numbers("1/128", "Mbit/s"),
        Column::numbers("1/64", "Mbit/s"),
    ];
    for (lasts_s, _) in FADES {
        columns.push(Column::numbers(&format!("after {lasts_s} s"), "s"));
    }
    columns.extend([
        Column::numbers("kept", "kB"),
        Column::numbers("early", "kB"),
        Column::numbers("dead", "%"),
        Column::numbers("lost", "kB"),
    ]);
    let row = |one: &Measured| {
        let mut row = vec![Cell::text(one.middle.label), Cell::text(one.sender.label)];
        row.extend(one.errors.iter().map(|samples| Cell::number(samples.goodput().mean, 3)));
        for (lasts_s, _) in FADES {
            let sweep = fades.sweep(one.middle.id, one.sender.id, lasts_s);
            row.push(Cell::number(sweep.first_data().mean, 2));
        }
        row.push(Cell::number(one.peak_kept_bytes() as f64 / 1e3, 0));
        row.push(Cell::number(one.early_bytes() as f64 / 1e3, 0));
        row.push(Cell::number(one.after_death_percent(all).mean, 0));
        row.push(Cell::number(one.lost_bytes().mean / 1e3, 0));
        row
    };
    Table {
        caption: "Tables 1 and 2 as measured: goodput at both error rates, new data after a fade, \
                  the most data kept in the box, the most acknowledged before the mobile had it, \
                  what is delivered once the box has died, and what was acknowledged and never came"
            .to_owned(),
        columns,
        rows: all.iter().map(row).collect(),
    }
}
