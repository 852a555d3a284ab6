//! What is run, and everything that was measured.

use super::cwnd_figures::{self, Windows};
use super::ns2::{self, Band};
use super::sample::Run;
use super::setup::Much;
use super::tables::{self, Queue};
use super::{endpoints, fig3, fig6, threshold, wider};
use crate::cells::Cells;
use crate::plan::Plan;
use crate::reproduction::{PaperError, Watch};
use ackord_study::Effort;
use ackord_units::Span;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) effort: Effort,
    /// Runs with random start times of every set-up of the tables.
    pub(super) tables: u32,
    /// The same of the other experiments.
    pub(super) others: u32,
    /// Runs of every scenario beyond the paper, behind every queue.
    pub(super) wider: u32,
    /// Length of every run of the paper's.
    pub(super) duration: Span,
    /// Length of those beyond it.
    pub(super) wider_duration: Span,
}

impl Extent {
    pub(super) fn of(effort: Effort) -> Extent {
        let (tables, others, wider) = effort.of((20, 5, 3), (60, 20, 8));
        // Every scenario beyond the paper has begun to show what it asks by then.
        let wider_duration = Span::from_secs(effort.of(20, 60));
        Extent { effort, tables, others, wider, duration: Span::from_secs(100), wider_duration }
    }
}

/// Everything that was measured.
pub(super) struct Measured {
    pub(super) extent: Extent,
    pub(super) total_runs: usize,
    pub(super) band: Band,
    pub(super) rows: tables::Rows,
    pub(super) ns2: Cells<ns2::Key, Run>,
    pub(super) tried: threshold::Tried,
    pub(super) factors: threshold::Factors,
    pub(super) changed: endpoints::Changed,
    pub(super) windows: fig3::Windows,
    pub(super) fillings: Cells<fig6::Key, Run>,
    pub(super) asked: Vec<wider::Asked>,
}

pub(super) fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let band = Band::embedded();
    let [tables, others] =
        [extent.tables, extent.others].map(|random| Much { random, duration: extent.duration });
    let mut plan = Plan::default();
    let rows = plan.each(tables::keys(), |key| tables::setups(*key, tables))?;
    let ns2 = plan.each(ns2::keys(), |key| ns2::setups(*key, &band, tables))?;
    let tried = plan.each(threshold::keys(), |key| threshold::setups(*key, others))?;
    let judged = plan.each(threshold::factor_keys(), |key| threshold::judged(*key, others))?;
    let chosen_by =
        plan.each(threshold::factor_keys(), |key| [threshold::chosen_by(*key, others)])?;
    let changed = plan.each(endpoints::keys(), |key| endpoints::setups(*key, others))?;
    let windows = plan.each(fig3::WINDOWS, |window| fig3::setups(*window, others))?;
    let fillings = plan.each(fig6::keys(), |key| fig6::setups(*key, others))?;
    let outcomes = plan.run(Run::of, &|share| watch(share / 2.0))?;
    let asked = wider::ask(extent.wider, extent.wider_duration, &|share| watch(0.5 + share / 2.0))?;
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        band,
        rows: outcomes.of(rows),
        ns2: outcomes.of(ns2),
        tried: outcomes.of(tried),
        factors: threshold::Factors {
            judged: outcomes.of(judged),
            chosen_by: outcomes.of(chosen_by),
        },
        changed: outcomes.of(changed),
        windows: outcomes.of(windows),
        fillings: outcomes.of(fillings),
        asked,
    })
}

impl Measured {
    pub(super) fn windows_behind(&self, queue: Queue) -> Vec<Windows<'_>> {
        cwnd_figures::windows(&self.rows, queue, self.extent.duration)
    }
}
