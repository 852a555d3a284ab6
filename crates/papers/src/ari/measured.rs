//! What is run, and everything that was measured.

use super::bulk::{self, Ways};
use super::open::{self, Open};
use super::sample::Sample;
use super::setup::{RUNS_OF_PAPER, TRANSFERS};
use super::stalls::{self, Stalls};
use super::transfers::{self, Transfers};
use crate::plan::{Plan, Setup};
use crate::reproduction::{PaperError, Watch};
use ackord_study::Effort;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) effort: Effort,
    /// Runs of every set-up of the tables.
    pub(super) transfers: u32,
    /// Runs of every write-write-read, of thirty exchanges each.
    pub(super) stalls: u32,
    /// Runs of everything else.
    pub(super) others: u32,
}

impl Extent {
    pub(super) fn of(effort: Effort) -> Extent {
        let (transfers, stalls, others) =
            effort.of((RUNS_OF_PAPER, 3, 6), (10 * RUNS_OF_PAPER, 30, 60));
        Extent { effort, transfers, stalls, others }
    }
}

/// Everything that was measured.
pub(super) struct Measured {
    pub(super) extent: Extent,
    pub(super) total_runs: usize,
    pub(super) transfers: Transfers,
    pub(super) stalls: Stalls,
    pub(super) nagle: Ways,
    pub(super) counts: Ways,
    pub(super) open: Open,
}

pub(super) fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let others = extent.others;
    let mut plan = Plan::default();
    let transfers = plan.each(transfers::keys(), |transfer| {
        [Setup::new(TRANSFERS, transfer.changes()).seeds(extent.transfers)]
    })?;
    let stalls = plan.each(stalls::keys(), |asked| [asked.setup().seeds(extent.stalls)])?;
    let nagle = plan.each(bulk::NAGLE, |way| [way.small_writes().seeds(others)])?;
    let counts = plan.each(bulk::COUNTS, |way| [way.transfer().seeds(others)])?;
    let open = plan.each(open::keys(), |key| [open::setup(*key).seeds(others)])?;
    let outcomes = plan.run(|_, outcome| Sample::of(&outcome), watch)?;
    Ok(Measured {
        extent,
        total_runs: plan.jobs.len(),
        transfers: outcomes.of(transfers),
        stalls: outcomes.of(stalls),
        nagle: outcomes.of(nagle),
        counts: outcomes.of(counts),
        open: outcomes.of(open),
    })
}
