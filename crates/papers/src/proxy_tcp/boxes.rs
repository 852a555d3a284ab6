//! The paper's Tables 1 and 2 as measured columns: what each box is worth against bit errors, what it
//! keeps, what it acknowledges too early, and what becomes of a connection whose box dies.

use super::fading::{FADES, Fades, pair_columns};
use super::readings::READINGS;
use super::sample::Sample;
use super::setup::{BIT_ERRORS, Id, Pair, errors, lasting, pair, pairs};
use crate::cells::{Cells, Runs, over};
use crate::plan::{Setup, set};
use crate::tables::{record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_units::Span;
use serde::Serialize;

/// When boxes die, as shares of the run: the first death, and from one to the next.
const DEATH_FIRST: f64 = 0.4;
const DEATH_STEP: f64 = 0.009;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Runs of every box with every sender at each error rate.
    pub(super) seeds: u32,
    /// Moments at which a box dies.
    pub(super) deaths: u32,
    /// Length of the runs in which one does, with errors at one in 64 KByte, seconds.
    pub(super) death_run_s: f64,
}

/// Every box with every sender.
#[derive(Clone, Debug)]
pub(super) struct Boxes {
    /// At one error in 128 KByte and in 64: the first two of [`READINGS`].
    pub(super) errors: Cells<(Pair, usize), Sample>,
    /// For each death a run up to it, and one beyond it.
    pub(super) deaths: Cells<Pair, Sample>,
}

/// One box with one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boxed<'a> {
    all: &'a Boxes,
    pub(super) pair: Pair,
}

pub(super) fn error_keys() -> impl Iterator<Item = (Pair, usize)> {
    pairs().flat_map(|pair| [0, 1].map(|at| (pair, at)))
}

pub(super) fn with_errors((of, at): (Pair, usize), lasts: Span) -> Setup {
    lasting(lasts, BIT_ERRORS, errors(READINGS[at].bytes)).with(pair(of))
}

pub(super) fn deaths(of: Pair, extent: Extent, lasts: Span) -> impl Iterator<Item = Setup> {
    let micros = move |share: f64| format!("{:.0} us", share * extent.death_run_s * 1e6);
    (0..extent.deaths).flat_map(move |n| {
        let at = micros(DEATH_FIRST + DEATH_STEP * f64::from(n));
        let until = vec![set("duration", at.clone())];
        let beyond = vec![set("duration", micros(1.0)), set("proxies.base.dies", at)];
        [until, beyond].map(|more| with_errors((of, 1), lasts).with(more).seeds(1))
    })
}

impl Boxes {
    pub(super) fn of(&self, middle: Id, sender: Id) -> Boxed<'_> {
        Boxed { all: self, pair: (middle, sender) }
    }

    pub(super) fn each(&self) -> impl Iterator<Item = Boxed<'_>> {
        pairs().map(|pair| Boxed { all: self, pair })
    }
}

impl<'a> Boxed<'a> {
    /// At one error in 128 KByte, or in 64.
    pub(super) fn errors(self, at: usize) -> &'a Runs<Sample> {
        self.all.errors.of(&(self.pair, at))
    }

    /// Of the two runs of each death.
    fn each_death(self, of: fn(&Sample, &Sample) -> u64) -> Vec<f64> {
        let deaths = self.all.deaths.of(&self.pair).0.chunks(2);
        deaths.map(|both| of(&both[0], &both[1]) as f64).collect()
    }

    /// Delivered after each death, bytes.
    fn after_death(self) -> Vec<f64> {
        self.each_death(|until, beyond| {
            beyond.delivered_bytes.saturating_sub(until.delivered_bytes)
        })
    }

    /// What is delivered after the box's death, in percent of what a sender without a box delivers
    /// in the same times.
    pub(super) fn after_death_percent(self) -> Estimate {
        let none = self.all.of("none", self.pair.1).after_death();
        let percent = |with: f64, none: f64| 100.0 * with / none.max(1.0);
        over(&crate::cells::pairs(&self.after_death(), &none, percent))
    }

    /// Acknowledged before each death and never delivered.
    pub(super) fn lost_bytes(self) -> Estimate {
        over(&self.each_death(|_, beyond| beyond.lost_bytes))
    }

    fn most(self, pick: fn(&Sample) -> u64) -> u64 {
        [0, 1].map(|at| self.errors(at).most(pick)).into_iter().max().unwrap_or(0)
    }

    /// The most that was acknowledged before the mobile had it.
    pub(super) fn early_bytes(self) -> u64 {
        self.most(|run| run.early_bytes)
    }

    /// The most data that the box kept.
    pub(super) fn peak_kept_bytes(self) -> u64 {
        self.most(Sample::peak_kept_bytes)
    }
}

pub(super) fn data(boxes: &Boxes) -> Vec<impl Serialize> {
    let data = |one: Boxed<'_>| {
        record! {
            middle_box: one.pair.0,
            sender: one.pair.1,
            goodput_128_mbit_s: one.errors(0).goodput(),
            goodput_64_mbit_s: one.errors(1).goodput(),
            acknowledged_early_bytes: one.early_bytes(),
            peak_kept_bytes: one.peak_kept_bytes(),
            after_death_percent: one.after_death_percent(),
            lost_bytes: one.lost_bytes(),
        }
    };
    boxes.each().map(data).collect()
}

/// Every box with every sender, column by column.
pub(super) fn table(boxes: &Boxes, fades: &Fades) -> Table {
    let of = |pair: &Pair| Boxed { all: boxes, pair: *pair };
    pair_columns(rows(pairs()))
        .number(("1/128", "Mbit/s"), 3, |pair| of(pair).errors(0).goodput())
        .number(("1/64", "Mbit/s"), 3, |pair| of(pair).errors(1).goodput())
        .each(FADES, |table, (lasts_s, _)| {
            table.number((&format!("after {lasts_s} s"), "s"), 2, |(middle, sender)| {
                fades.sweep(middle, sender, lasts_s).first_data()
            })
        })
        .number(("kept", "kB"), 0, |pair| of(pair).peak_kept_bytes() as f64 / 1e3)
        .number(("early", "kB"), 0, |pair| of(pair).early_bytes() as f64 / 1e3)
        .number(("dead", "%"), 0, |pair| of(pair).after_death_percent())
        .number(("lost", "kB"), 0, |pair| of(pair).lost_bytes().mean / 1e3)
        .titled(
            "Tables 1 and 2 as measured: goodput at both error rates, new data after a fade, \
             the most data kept in the box, the most acknowledged before the mobile had it, \
             what is delivered once the box has died, and what was acknowledged and never came",
        )
}
