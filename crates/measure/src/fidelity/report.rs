//! The fidelity report: every scenario with its quantities side by side, in the form of the JSON
//! output.

use super::{Distribution, FidelityMetric, FidelityVerdict};
use serde::Serialize;

/// All scenarios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FidelityReport {
    /// Version of the program.
    pub version: String,
    /// The kernel's release, as it tells it.
    pub kernel: String,
    /// Whose time its runs were in.
    pub time: KernelTime,
    /// Seed of the first run of each scenario; the next run has the next seed.
    pub first_seed: u64,
    /// Runs of each scenario, of each side, at least.
    pub seeds: u32,
    /// And at most, where the interval of a goodput was wider than `goodput_interval_percent`.
    pub most_runs: u32,
    /// Runs under way at the same time.
    pub jobs: u32,
    /// How far goodput may be off, percent.
    pub goodput_goal_percent: f64,
    /// How far counts of acknowledgments may be off, percent.
    pub acks_goal_percent: f64,
    /// Half the width of the 95 % interval of each goodput at which no more runs are made, percent.
    pub goodput_interval_percent: f64,
    /// Scenarios within both goals, of runs that can be trusted.
    pub scenarios_within: usize,
    /// How many there are.
    pub scenarios_total: usize,
    /// One per scenario, in the order of the set.
    pub scenarios: Vec<FidelityScenario>,
}

/// Whose time the runs of a kernel are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelTime {
    /// That of the machine, on which packets may be late.
    Real,
    /// The simulation's, in which nothing is late.
    Simulated,
}

/// One scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FidelityScenario {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub purpose: String,
    /// Where it comes from.
    pub source: String,
    /// Hash of the scenario in canonical form, with the duration it was run with.
    pub scenario_hash: String,
    /// How long a run was, at most, seconds.
    pub duration_s: f64,
    /// What came of the goals.
    pub verdict: ScenarioVerdict,
    /// The seeds whose runs count, on both sides.
    pub seeds: Vec<u64>,
    /// Each quantity side by side.
    pub metrics: Vec<FidelityMetric>,
    /// Times of transfers or exchanges, where the workload has any.
    pub distributions: Vec<Distribution>,
    /// How late packets were handed to the kernel, run by run, of the runs that count.
    pub lateness: Vec<KernelLateness>,
    /// Live runs that were out of their budget of lateness and done again.
    pub repeated_runs: u32,
    /// Seeds that do not count, on either side: out of budget each time.
    pub excluded_seeds: Vec<u64>,
    /// What of the endpoints the kernel could not be told, or took otherwise.
    pub settings: Vec<UnsettableKnob>,
    /// Why a quantity is further off than its goal, as far as it is known.
    pub explanations: Vec<String>,
}

/// What came of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScenarioVerdict {
    /// Goodput, of all and of each flow, and acknowledgments are within their goals.
    Within,
    /// One of them is outside.
    Outside,
    /// None is outside, but one is undecided.
    Undecided,
    /// The live runs were too late to say.
    Untrusted,
}

/// How late the packets of a live run were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct KernelLateness {
    /// The run's seed.
    pub seed: u64,
    /// Median, microseconds.
    pub p50_us: f64,
    /// 99th percentile, microseconds.
    pub p99_us: f64,
    /// The worst, microseconds.
    pub max_us: f64,
    /// Whether the 99th percentile is within the budget.
    pub within_budget: bool,
}

/// A knob of an endpoint that the kernel could not be told, or took otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnsettableKnob {
    /// The knob.
    pub knob: String,
    /// What the scenario asks for.
    pub asked: String,
    /// What became of it.
    pub outcome: String,
}

impl ScenarioVerdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ScenarioVerdict::Within => "within",
            ScenarioVerdict::Outside => "outside",
            ScenarioVerdict::Undecided => "undecided",
            ScenarioVerdict::Untrusted => "untrusted",
        }
    }
}

impl FidelityScenario {
    /// The quantity of this name.
    pub fn metric(&self, name: &str) -> Option<&FidelityMetric> {
        self.metrics.iter().find(|metric| metric.metric == name)
    }

    /// What the metrics with a goal and the runs' lateness come to.
    pub fn judge(&mut self) {
        let judged = || self.metrics.iter().filter_map(|metric| metric.verdict);
        let late = self.lateness.iter().any(|run| !run.within_budget);
        self.verdict = if late || self.lateness.is_empty() {
            ScenarioVerdict::Untrusted
        } else if judged().all(|verdict| verdict == FidelityVerdict::Within) {
            ScenarioVerdict::Within
        } else if judged().any(|verdict| verdict == FidelityVerdict::Outside) {
            ScenarioVerdict::Outside
        } else {
            ScenarioVerdict::Undecided
        };
    }
}

impl FidelityReport {
    /// Counts the scenarios within their goals.
    pub fn count(&mut self) {
        self.scenarios_total = self.scenarios.len();
        let within = |scenario: &&FidelityScenario| scenario.verdict == ScenarioVerdict::Within;
        self.scenarios_within = self.scenarios.iter().filter(within).count();
    }
}
