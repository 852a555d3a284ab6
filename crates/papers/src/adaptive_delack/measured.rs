//! What is run, and everything that was measured.

use super::ns3::Band;
use super::sample::Sample;
use super::simulation::{self, Simulations};
use super::{ato, fit, gains, phones};
use crate::plan::Plan;
use crate::reproduction::{PaperError, Watch};
use ackord_study::Effort;
use ackord_units::Span;

/// The share of the runs that the fits are.
const FITS: f64 = 0.3;

/// How many runs of each set-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) effort: Effort,
    pub(super) simulation: u32,
    /// Of each step of a fit.
    pub(super) fit: u32,
    pub(super) phones: u32,
    pub(super) gains: u32,
    pub(super) ato: u32,
    /// Length of the phones' runs; the paper's 30 s.
    pub(super) phone: Span,
    /// Length of the workloads that have no end.
    pub(super) work: Span,
}

impl Extent {
    pub(super) fn of(effort: Effort) -> Extent {
        let [simulation, fit, phones, gains, ato] =
            effort.of([20, 3, 5, 3, 2], [100, 30, 40, 20, 10]);
        let (phone, work) = (Span::from_secs(30), Span::from_secs(effort.of(10, 20)));
        Extent { effort, simulation, fit, phones, gains, ato, phone, work }
    }
}

/// Everything that was measured.
pub(super) struct Measured {
    pub(super) extent: Extent,
    pub(super) total_runs: usize,
    pub(super) band: Band,
    pub(super) simulations: Simulations,
    pub(super) phones: phones::Phones,
    pub(super) gains: gains::Gains,
    pub(super) ato: ato::Atos,
}

pub(super) fn measure(extent: Extent, watch: &Watch<'_>) -> Result<Measured, PaperError> {
    let (fits, runs_of_fits) = fit::fits((extent.phone, extent.fit), &|share| watch(FITS * share))?;
    let simulation = extent.simulation;
    let mut plan = Plan::default();
    let damaged = plan.each(simulation::keys(), |key| [simulation::damaged(*key, simulation)])?;
    let clean = plan.each(simulation::keys(), |key| [simulation::clean(*key, simulation)])?;
    let phones = plan.each(phones::keys(), |key| {
        [phones::setup(*key, &fits, extent.phone).seeds(extent.phones)]
    })?;
    let gains =
        plan.each(gains::keys(), |key| [gains::setup(*key, extent.work).seeds(extent.gains)])?;
    let ato = plan.each(ato::keys(), |key| [ato::setup(*key, extent.phone).seeds(extent.ato)])?;
    let outcomes = plan.run(Sample::of, &|share| watch(FITS + (1.0 - FITS) * share))?;
    Ok(Measured {
        extent,
        total_runs: runs_of_fits + plan.jobs.len(),
        band: Band::embedded(),
        simulations: Simulations { damaged: outcomes.of(damaged), clean: outcomes.of(clean) },
        phones: phones::Phones { runs: outcomes.of(phones), fits },
        gains: outcomes.of(gains),
        ato: outcomes.of(ato),
    })
}
