//! The gateway tried on stock kernels, beside what the simulator says of the same path.
//!
//! ```text
//! fixed host ══ emulated path ══╗                          ╔══ emulated wireless link ══ mobile host
//!   (kernel)                    ╚ wan0 ── router ── lan0 ══╝                               (kernel)
//!                                        (kernel, `ackord gateway run`)
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `cells.rs` | [`TRIALS`]: the scenarios; [`Cell`]: ways, senders, remedies |
//! | `kernel.rs` | [`RoutedKernel`]: a live run with the gateway on its router |
//! | `passed.rs` | [`Passed`]: what the routers came to |
//! | `report.rs` | tables, document, JSON |
//!
//! Each cell is simulated and run live with the same seeds, and so are the cells that differ in the
//! remedy alone: outages meet their flows in the same phases, the n-th packet on a link is lost in
//! all of them. Which runs count, and when a simulation is within its goal, is as in
//! [`validate`](crate::validate).
//!
//! Not modelled: a radio's own retransmissions, a router with other work to do.

mod cells;
mod kernel;
mod passed;
mod report;
#[cfg(test)]
mod tests;

pub use cells::{Cell, Family, Question, Remedy, Sender, TRIALS, Trial, Wanted};
pub use kernel::{RoutedKernel, RoutedRun, Stands};
pub use passed::{Passed, Replays};
pub use report::{GatewayTrialsReport, TrialRow, trials_document};

use crate::validate::{
    Beside, Compared, Goals, KernelSide, Sampling, ValidateError, ValidateProgress, compare,
};
use ackord_scenario::Scenario;
use ackord_study::VERSION;
use std::ops::ControlFlow;

/// How far the simulator's goodput may be from the live one, percent.
pub const GOODPUT_GOAL: f64 = 10.0;

/// What to try.
#[derive(Clone, Debug)]
pub struct TrialOptions {
    /// Which cells.
    pub cells: Vec<Cell>,
    /// How long a run is, in place of what the files say.
    pub duration: Option<&'static str>,
    /// How many runs of each.
    pub sampling: Sampling,
}

/// What came of the trials.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// The report.
    pub report: GatewayTrialsReport,
    /// Runs of both sides that were finished.
    pub finished_runs: usize,
    /// How many there should have been.
    pub planned_runs: usize,
}

impl TrialOptions {
    /// How long all live runs take at least, in seconds: each as long as its scenario, so many at a
    /// time as the sampling says.
    ///
    /// # Errors
    /// When a scenario is not sound, which its test excludes.
    pub fn seconds(&self) -> Result<f64, ValidateError> {
        let scenarios = self.scenarios()?;
        let of_one: f64 = scenarios.iter().map(|(_, one)| one.duration.as_secs_f64()).sum();
        Ok(of_one * f64::from(self.sampling.seeds.get()) / self.sampling.jobs.get() as f64)
    }

    fn scenarios(&self) -> Result<Vec<(String, Scenario)>, ValidateError> {
        let of = |cell: &Cell| Ok((cell.name(), cell.scenario(self.duration)?));
        self.cells.iter().map(of).collect()
    }
}

/// Makes every run and compares; `progress` is called from several threads, as by
/// [`validate`](crate::validate::validate). `passed` says afterwards what the routers came to.
///
/// # Errors
/// As [`validate`](crate::validate::validate).
pub fn try_gateway(
    options: &TrialOptions,
    kernel: &dyn KernelSide,
    passed: &dyn Fn() -> Vec<RoutedRun>,
    progress: &(dyn Fn(ValidateProgress<'_>) -> ControlFlow<()> + Sync),
) -> Result<TrialOutcome, ValidateError> {
    let goals = Goals { goodput_percent: GOODPUT_GOAL, acks_percent: None, beside: Beside::Delays };
    let compared =
        compare(options.scenarios()?, (&options.sampling, false), goals, kernel, progress)?;
    let Compared { scenarios, finished_runs, planned_runs, .. } = compared;
    let report = GatewayTrialsReport {
        version: VERSION.to_owned(),
        kernel: kernel.release(),
        sampling: options.sampling,
        goodput_goal_percent: GOODPUT_GOAL,
        router: Passed::of(&passed()),
        rows: report::rows(&options.cells, scenarios),
    };
    Ok(TrialOutcome { report, finished_runs, planned_runs })
}
