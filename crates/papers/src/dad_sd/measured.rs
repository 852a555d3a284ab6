//! What is run, and everything that was measured.

use super::alpha;
use super::band::{self, Band, Compared};
use super::curves::{self, Grid, Points};
use super::sample::{KEPT, Run, Sample};
use super::setup::TAUS;
use crate::cells::Cells;
use crate::plan::Plan;
use crate::reproduction::{Options, PaperError, Watch};
use ackord_study::Effort;
use ackord_units::Span;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) effort: Effort,
    pub(super) grid: Grid,
    /// The study of alpha.
    pub(super) alpha: Grid,
    /// Length of every transfer.
    pub(super) transfer: Span,
}

impl Extent {
    pub(super) fn of(effort: Effort) -> Extent {
        let quick = Extent {
            effort,
            grid: Grid { taus: &[0, 4, 10, 20], seeds: 4 },
            alpha: Grid { taus: &[4, 20], seeds: 3 },
            transfer: Span::from_secs(250),
        };
        let full = Extent {
            effort,
            grid: Grid { taus: &TAUS, seeds: 20 },
            alpha: Grid { taus: &[4, 10, 20], seeds: 10 },
            transfer: Span::from_secs(1_000),
        };
        effort.of(quick, full)
    }
}

/// Everything that was measured.
pub(super) struct Measured {
    pub(super) extent: Extent,
    pub(super) total_runs: usize,
    pub(super) band: Band,
    pub(super) points: Points,
    pub(super) alphas: Cells<alpha::Key, Run>,
    pub(super) compared: Vec<Compared>,
}

pub(super) fn measure(
    extent: Extent,
    options: Options<'_>,
    watch: &Watch<'_>,
) -> Result<Measured, PaperError> {
    let Extent { grid, alpha, transfer, .. } = extent;
    let mut plan = Plan::default();
    let points = plan
        .each(curves::places(grid.taus), |place| [place.setup(transfer, &[]).seeds(grid.seeds)])?;
    let alphas =
        plan.each(alpha::keys(alpha.taus), |key| [alpha::setup(key, transfer).seeds(alpha.seeds)])?;
    let outcomes = plan.run_with_journal(Sample::of, (options.journal, KEPT), watch)?;
    let outcomes = outcomes.map(|sample| Run { sample, seconds: transfer.as_secs_f64() });
    let (points, alphas) = (outcomes.of(points), outcomes.of(alphas));
    let band = Band::embedded();
    let compared = band::compare(&band, &points);
    Ok(Measured { extent, total_runs: plan.jobs.len(), band, points, alphas, compared })
}
