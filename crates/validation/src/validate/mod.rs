//! The fidelity report: our `linux` profile in the simulator beside the stock kernel live, over the
//! same scenarios with the same seeds.
//!
//! ```text
//! CASES x seeds ─► execute ───────────► RunSummary ─┐
//!               └► KernelSide::run ──► RunSummary ──┴► Measured ─► FidelityReport ─► document
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `set.rs` | [`CASES`]: the scenarios |
//! | `kernel.rs` | [`StockKernel`]: the kernel's side |
//! | `runs.rs` | the runs of both sides, in parallel; those that were too late are done again |
//! | `measured.rs` | what is compared of a run |
//! | `difference.rs`, `difference/` | the first segment at which model and kernel part |
//! | `explained.rs` | what is known of the gaps |
//!
//! Simulations come first: they would make live runs late. Live runs go side by side only as far as
//! `jobs` says. Runs that are out of their budget of lateness are repeated; seeds for which that
//! does not help are left out on both sides and told, unless too few would remain.
//!
//! Not modelled: differences between kernels. The report names the release that it was made on.

mod difference;
mod explained;
mod kernel;
mod measured;
mod runs;
mod set;
#[cfg(test)]
mod tests;

pub use difference::{
    DifferenceOptions, EndState, FirstDifference, Parting, SentSegment, difference_document,
    first_difference,
};
pub use kernel::{SimulatedKernel, StockKernel};
pub(crate) use kernel::{kernel_run, release_of_this_machine};
pub(crate) use measured::FIRST_DATA;
pub use measured::GOODPUT_INTERVAL;
pub use runs::{FirstRuns, LiveEnded, ValidateProgress};
pub use set::{CASES, ValidateCase};

use ackord_measure::{
    Distribution, FidelityMetric, FidelityReport, FidelityScenario, KernelLateness, KernelTime,
    Paired, RunSummary, ScenarioVerdict, SeriesSet, UnsettableKnob,
};
use ackord_scenario::{Errors, Scenario};
use ackord_study::{Effort, ExecuteError, VERSION};
use measured::{ACKS_GOAL, GOODPUT_GOAL, Measured, goodput_half_width};
use runs::{CaseRuns, KernelDone, Pair, Plan};
use serde::Serialize;
use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;

/// Fewer trusted seeds than this, and those out of budget count too, with the scenario marked.
const LEAST_TRUSTED: usize = 2;

/// What to run.
#[derive(Clone, Debug)]
pub struct ValidateOptions {
    /// Which scenarios.
    pub cases: Vec<&'static ValidateCase>,
    /// How long their runs are.
    pub effort: Effort,
    /// How many runs.
    pub sampling: Sampling,
}

/// How many runs of each scenario, and how.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sampling {
    /// Seed of the first run of each; the next run has the next seed.
    pub first_seed: u64,
    /// Runs of each, of each side, at least.
    pub seeds: NonZeroU32,
    /// Runs of one scenario, of each side, at most: more than `seeds` are made where the 95 % interval
    /// of a goodput is still wider than [`GOODPUT_INTERVAL`].
    pub most: u32,
    /// Runs under way at the same time.
    pub jobs: NonZeroUsize,
    /// How often a live run that was too late is done again.
    pub repeats: u32,
}

/// The real side: a scenario between endpoints of the stock kernel.
pub trait KernelSide: Sync {
    /// One live run, to its end or until `go_on` says no, which it is asked every now and then;
    /// called from several threads.
    ///
    /// # Errors
    /// Whatever makes a run impossible.
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<KernelRun, KernelError>;

    /// The kernel's release.
    fn release(&self) -> String;

    /// Whose time it lives in.
    fn time(&self) -> KernelTime;
}

/// Why a live run is impossible.
pub type KernelError = Box<dyn Error + Send + Sync>;

/// What a live run came to.
#[derive(Clone, Debug)]
pub struct KernelRun {
    /// Folded from the same events as a simulated run's.
    pub summary: RunSummary,
    /// Values against time, if they were kept.
    pub series: Option<SeriesSet>,
    /// Whose time it was in.
    pub time: KernelTime,
    /// How late the driver was.
    pub lateness: KernelLateness,
    /// What the kernel could not be told.
    pub settings: Vec<UnsettableKnob>,
    /// Whether somebody stopped it before its end.
    pub stopped: bool,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// A scenario of the set is not sound: a defect of this project.
    #[error(transparent)]
    Scenario(#[from] Errors),
    /// A simulated run went wrong.
    #[error(transparent)]
    Simulated(#[from] ExecuteError),
    /// A live run could not be done.
    #[error("scenario {scenario}, seed {seed}")]
    Live {
        /// Of which scenario.
        scenario: String,
        /// With which seed.
        seed: u64,
        /// Why not.
        source: KernelError,
    },
}

/// What there is to report.
#[derive(Clone, Debug)]
pub struct ValidateOutcome {
    /// The report.
    pub report: FidelityReport,
    /// The first run of each scenario against time, both sides, in the report's order.
    pub series: Vec<FirstRuns>,
    /// Runs of both sides that were finished.
    pub finished_runs: usize,
    /// How many there should have been.
    pub planned_runs: usize,
}

/// Makes every run and compares. `progress` is called from several threads; when it answers
/// [`ControlFlow::Break`] no further run is begun, and scenarios without all of their runs are
/// left out.
///
/// # Errors
/// [`ValidateError`]: those of the first run that was not possible.
pub fn validate(
    options: &ValidateOptions,
    kernel: &dyn KernelSide,
    progress: &(dyn Fn(ValidateProgress<'_>) -> ControlFlow<()> + Sync),
) -> Result<ValidateOutcome, ValidateError> {
    let sampling = options.sampling;
    let named =
        |case: &&'static ValidateCase| Ok((case.name.to_owned(), case.scenario(options.effort)?));
    let cases = options.cases.iter().map(named).collect::<Result<_, ValidateError>>()?;
    let goals = Goals {
        goodput_percent: GOODPUT_GOAL,
        acks_percent: Some(ACKS_GOAL),
        beside: Beside::Nothing,
    };
    let compared = compare(cases, (&sampling, true), goals, kernel, progress)?;
    let mut report = FidelityReport {
        version: VERSION.to_owned(),
        kernel: kernel.release(),
        time: kernel.time(),
        first_seed: sampling.first_seed,
        seeds: sampling.seeds.get(),
        most_runs: sampling.most.max(sampling.seeds.get()),
        jobs: u32::try_from(sampling.jobs.get()).unwrap_or(u32::MAX),
        goodput_goal_percent: GOODPUT_GOAL,
        acks_goal_percent: ACKS_GOAL,
        goodput_interval_percent: GOODPUT_INTERVAL,
        scenarios_within: 0,
        scenarios_total: 0,
        scenarios: compared.scenarios,
    };
    report.count();
    let Compared { series, finished_runs, planned_runs, .. } = compared;
    Ok(ValidateOutcome { report, series, finished_runs, planned_runs })
}

/// What a simulation may be off for its scenario to be within, percent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goals {
    pub(crate) goodput_percent: f64,
    /// Nothing where nobody asks.
    pub(crate) acks_percent: Option<f64>,
    /// What is told beside that, without a goal.
    pub(crate) beside: Beside,
}

/// Quantities of a run that not every comparison tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// None.
    Nothing,
    /// How soon data flows again after outages, and the round trips of each flow.
    Delays,
}

/// Scenarios of which all runs were made.
pub(crate) struct Compared {
    pub(crate) scenarios: Vec<FidelityScenario>,
    pub(crate) series: Vec<FirstRuns>,
    pub(crate) finished_runs: usize,
    pub(crate) planned_runs: usize,
}

/// Makes the runs of any scenarios, each with the name it is told under, and compares.
///
/// # Errors
/// As [`validate`].
pub(crate) fn compare(
    cases: Vec<(String, Scenario)>,
    (sampling, series): (&Sampling, bool),
    goals: Goals,
    kernel: &dyn KernelSide,
    progress: &(dyn Fn(ValidateProgress<'_>) -> ControlFlow<()> + Sync),
) -> Result<Compared, ValidateError> {
    let wanted = |runs: &CaseRuns| match runs.pairs.len() {
        0 => sampling.seeds.get() as usize,
        made => runs_for(&compared(runs), made).min(sampling.most as usize),
    };
    let runs = runs::all(cases, Plan { sampling, goals, series }, kernel, progress, &wanted)?;
    let (finished_runs, planned_runs) = (runs.finished, runs.planned);
    let (mut scenarios, mut series) = (Vec::new(), Vec::new());
    for runs in runs.cases {
        scenarios.push(compared(&runs));
        series.extend(runs.pairs.into_iter().next().map(|pair| pair.first_runs(runs.name)));
    }
    Ok(Compared { scenarios, series, finished_runs, planned_runs })
}

/// How many runs a scenario should have that has so many and came to this. What ends the runs is
/// the interval's width alone, never what it says: to stop at a verdict would favour it.
fn runs_for(compared: &FidelityScenario, made: usize) -> usize {
    let Some(half_width) = goodput_half_width(compared) else { return made };
    if half_width < GOODPUT_INTERVAL {
        return made;
    }
    // As the root of their number goes the width, if it goes on like this.
    let enough = made as f64 * (half_width / GOODPUT_INTERVAL).powi(2);
    (enough.min(4.0 * made as f64).ceil() as usize).max(made + 1)
}

fn compared(runs: &CaseRuns) -> FidelityScenario {
    let CaseRuns { name, scenario, pairs } = runs;
    let trusted = pairs.iter().filter(|pair| pair.kernel.lateness.within_budget).count();
    let counts = |pair: &&Pair| {
        trusted < LEAST_TRUSTED.min(pairs.len()) || pair.kernel.lateness.within_budget
    };
    let (counted, excluded): (Vec<&Pair>, Vec<&Pair>) = pairs.iter().partition(counts);
    let sides: Vec<(&Measured, &Measured)> =
        counted.iter().map(|pair| (&pair.sim, &pair.kernel.measured)).collect();
    let mut settings: Vec<UnsettableKnob> =
        counted.iter().flat_map(|pair| pair.kernel.settings.clone()).collect();
    settings.sort();
    settings.dedup();
    let repeats = |done: &KernelDone| done.attempts - 1;
    let mut compared = FidelityScenario {
        name: name.clone(),
        purpose: scenario.purpose.clone(),
        source: scenario.source.clone(),
        scenario_hash: scenario.hash(),
        duration_s: scenario.duration.as_secs_f64(),
        verdict: ScenarioVerdict::Untrusted,
        seeds: counted.iter().map(|pair| pair.seed).collect(),
        metrics: metrics(&sides),
        distributions: distributions(&sides),
        lateness: counted.iter().map(|pair| pair.kernel.lateness).collect(),
        repeated_runs: pairs.iter().map(|pair| repeats(&pair.kernel)).sum(),
        excluded_seeds: excluded.iter().map(|pair| pair.seed).collect(),
        settings,
        explanations: Vec::new(),
    };
    compared.judge();
    compared.explanations = explained::explanations(&compared);
    compared
}

/// Each quantity of all runs; what is not known in a run is left out of that side.
fn metrics(sides: &[(&Measured, &Measured)]) -> Vec<FidelityMetric> {
    let Some((first, _)) = sides.first() else { return Vec::new() };
    let of = |index: usize| {
        let quantity = &first.quantities[index];
        let values = |pick: for<'a> fn(&(&'a Measured, &'a Measured)) -> &'a Measured| {
            let values = sides.iter().filter_map(move |side| {
                pick(side).quantities.iter().find(|other| other.metric == quantity.metric)
            });
            values.map(|quantity| quantity.value).filter(|value| value.is_finite()).collect()
        };
        FidelityMetric::of(Paired {
            metric: quantity.metric.clone(),
            unit: quantity.unit.to_owned(),
            sim: values(|(sim, _)| sim),
            kernel: values(|(_, kernel)| kernel),
            goal_percent: quantity.goal_percent,
        })
    };
    (0..first.quantities.len()).map(of).collect()
}

fn distributions(sides: &[(&Measured, &Measured)]) -> Vec<Distribution> {
    let all = |pick: for<'a> fn(&(&'a Measured, &'a Measured)) -> &'a Measured| -> Vec<f64> {
        sides.iter().flat_map(|side| pick(side).times_ms.iter().copied()).collect()
    };
    let (sim, kernel) = (all(|(sim, _)| sim), all(|(_, kernel)| kernel));
    if sim.is_empty() && kernel.is_empty() {
        return Vec::new();
    }
    vec![Distribution::of("completion time", "ms", sim, kernel)]
}
