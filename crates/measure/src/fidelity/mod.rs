//! How far a simulation and the real thing are apart: each quantity side by side, with intervals,
//! and whether it is within its goal.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | one quantity, one distribution, of both sides |
//! | `report.rs` | [`FidelityReport`]: all scenarios, what each came to, how the runs went |
//!
//! Both sides are measured over the same seeds, run for run, so differences are paired. Not
//! modelled: a correction for many comparisons (of twenty quantities without any difference, one
//! interval leaves out zero), dependence of the samples of one run in the distance of two
//! distributions.

mod report;

pub use report::{
    FidelityReport, FidelityScenario, KernelLateness, KernelTime, ScenarioVerdict, UnsettableKnob,
};

use crate::stats;
use serde::Serialize;

/// One quantity of every run of one side: the index is the run, and runs of the same index have the
/// same seed on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// What it is, e.g. "goodput".
    pub metric: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// The simulator's.
    pub sim: Vec<f64>,
    /// The kernel's.
    pub kernel: Vec<f64>,
    /// How far the simulator may be from the kernel, percent of the kernel; nothing where no goal
    /// is set.
    pub goal_percent: Option<f64>,
}

/// One quantity side by side, in the form of the JSON output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FidelityMetric {
    /// What it is.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Mean over the simulator's runs.
    pub sim: Option<f64>,
    /// Mean over the kernel's runs.
    pub kernel: Option<f64>,
    /// The simulator's mean relative to the kernel's; null where the kernel's is zero and the
    /// simulator's is not.
    pub error_percent: Option<f64>,
    /// Where `error_percent` lies with 95 % confidence: from and to, by Student's t over the
    /// differences seed by seed; null for a single run.
    pub ci95: Option<[f64; 2]>,
    /// Half width of the 95 % interval of `sim`.
    pub sim_ci95: Option<f64>,
    /// Half width of the 95 % interval of `kernel`.
    pub kernel_ci95: Option<f64>,
    /// Mean of the differences seed by seed, simulator less kernel, in `unit`.
    pub difference: Option<f64>,
    /// Half width of its 95 % interval.
    pub difference_ci95: Option<f64>,
    /// The goal for the absolute value of `error_percent`.
    pub goal_percent: Option<f64>,
    /// What came of the goal; null where there is none.
    pub verdict: Option<FidelityVerdict>,
    /// Every run of the simulator, in the order of seeds.
    pub sim_runs: Vec<f64>,
    /// Every run of the kernel.
    pub kernel_runs: Vec<f64>,
}

/// Whether a quantity is as close to the kernel's as was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FidelityVerdict {
    /// The whole 95 % interval of the error is within the goal.
    Within,
    /// Some of it is: more runs would be needed to tell. A single run has no interval.
    Undecided,
    /// None of it is.
    Outside,
    /// One side has no value.
    Unknown,
}

impl FidelityVerdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            FidelityVerdict::Within => "within",
            FidelityVerdict::Undecided => "undecided",
            FidelityVerdict::Outside => "outside",
            FidelityVerdict::Unknown => "unknown",
        }
    }
}

impl FidelityMetric {
    /// What the runs of both sides come to.
    pub fn of(paired: Paired) -> FidelityMetric {
        let Paired { metric, unit, sim: sim_runs, kernel: kernel_runs, goal_percent } = paired;
        let (sim, kernel) = (stats::mean(&sim_runs), stats::mean(&kernel_runs));
        let differences: Vec<f64> =
            sim_runs.iter().zip(&kernel_runs).map(|(sim, kernel)| sim - kernel).collect();
        let complete = sim_runs.len() == kernel_runs.len();
        let difference = stats::mean(&differences).filter(|_| complete);
        let difference_ci95 = stats::ci95_half_width(&differences).filter(|_| complete);
        let error_percent = sim.zip(kernel).and_then(|(sim, kernel)| percent(sim - kernel, kernel));
        let ci95 =
            error_percent.zip(difference_ci95).zip(kernel).and_then(|((error, half), kernel)| {
                let half = percent(half, kernel)?.abs();
                Some([error - half, error + half])
            });
        let verdict = goal_percent.map(|goal| verdict(error_percent, ci95, goal));
        FidelityMetric {
            metric,
            unit,
            sim,
            kernel,
            error_percent,
            ci95,
            sim_ci95: stats::ci95_half_width(&sim_runs),
            kernel_ci95: stats::ci95_half_width(&kernel_runs),
            difference,
            difference_ci95,
            goal_percent,
            verdict,
            sim_runs,
            kernel_runs,
        }
    }
}

fn verdict(error: Option<f64>, ci95: Option<[f64; 2]>, goal: f64) -> FidelityVerdict {
    match (error, ci95) {
        (None, _) => FidelityVerdict::Unknown,
        (_, Some([from, to])) if from >= -goal && to <= goal => FidelityVerdict::Within,
        (_, Some([from, to])) if from > goal || to < -goal => FidelityVerdict::Outside,
        _ => FidelityVerdict::Undecided,
    }
}

/// A part of a whole in percent. Nothing of nothing is nothing; something of nothing has no number.
fn percent(part: f64, whole: f64) -> Option<f64> {
    match (part == 0.0, whole == 0.0) {
        (true, true) => Some(0.0),
        (false, true) => None,
        _ => Some(100.0 * part / whole),
    }
}

/// Times (or other samples) of both sides, all runs together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// What was sampled.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// How many samples of the simulator.
    pub sim_samples: usize,
    /// How many of the kernel.
    pub kernel_samples: usize,
    /// Greatest distance of the two empirical distribution functions (Kolmogorov and Smirnov), 0 to
    /// 1; null where a side has no sample.
    pub ks_distance: Option<f64>,
    /// What that distance exceeds once in twenty times where nothing differs and samples are
    /// independent (Smirnov 1948: 1.358 sqrt((n + m) / nm)).
    pub ks_critical95: Option<f64>,
    /// Quantiles of both, side by side.
    pub quantiles: Vec<QuantilePair>,
    /// The samples, for plots.
    #[serde(skip)]
    pub sim: Vec<f64>,
    /// The samples, for plots.
    #[serde(skip)]
    pub kernel: Vec<f64>,
}

/// A quantile of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QuantilePair {
    /// Which, 0 to 1.
    pub quantile: f64,
    /// The simulator's.
    pub sim: f64,
    /// The kernel's.
    pub kernel: f64,
}

impl Distribution {
    /// Of all samples of both sides.
    pub fn of(metric: &str, unit: &str, mut sim: Vec<f64>, mut kernel: Vec<f64>) -> Distribution {
        sim.sort_by(f64::total_cmp);
        kernel.sort_by(f64::total_cmp);
        let pair = |quantile| {
            let (sim, kernel) =
                (stats::quantile(&sim, quantile)?, stats::quantile(&kernel, quantile)?);
            Some(QuantilePair { quantile, sim, kernel })
        };
        let (n, m) = (sim.len() as f64, kernel.len() as f64);
        Distribution {
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            sim_samples: sim.len(),
            kernel_samples: kernel.len(),
            ks_distance: stats::ks_distance(&sim, &kernel),
            ks_critical95: (n * m > 0.0).then(|| 1.358 * ((n + m) / (n * m)).sqrt()),
            quantiles: [0.1, 0.25, 0.5, 0.75, 0.9, 0.99].into_iter().filter_map(pair).collect(),
            sim,
            kernel,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(sim: &[f64], kernel: &[f64], goal: f64) -> FidelityMetric {
        FidelityMetric::of(Paired {
            metric: "goodput".to_owned(),
            unit: "Mbit/s".to_owned(),
            sim: sim.to_vec(),
            kernel: kernel.to_vec(),
            goal_percent: Some(goal),
        })
    }

    #[test]
    fn an_error_has_the_interval_of_the_differences_seed_by_seed() {
        // Differences of 1, 2 and 3 on a mean of 20: 10 %, and 4.3027 * 1 / sqrt(3) = 2.4841.
        let found = metric(&[11.0, 22.0, 33.0], &[10.0, 20.0, 30.0], 5.0);
        assert_eq!((found.sim, found.kernel), (Some(22.0), Some(20.0)));
        assert_eq!((found.error_percent, found.difference), (Some(10.0), Some(2.0)));
        let [from, to] = found.ci95.expect("three runs");
        assert!((from - (10.0 - 12.4207)).abs() < 1e-3 && (to - 22.4207).abs() < 1e-3);
        // The spread of the runs themselves, which is large, does not enter.
        assert!(found.sim_ci95.expect("three") > 10.0 * found.difference_ci95.expect("three"));
    }

    #[test]
    fn the_goal_is_for_the_whole_interval() {
        let verdict = |sim: &[f64]| metric(sim, &[100.0, 100.0, 100.0], 5.0).verdict;
        assert_eq!(verdict(&[104.0, 104.0, 104.1]), Some(FidelityVerdict::Within));
        assert_eq!(verdict(&[107.0, 107.1, 107.2]), Some(FidelityVerdict::Outside));
        assert_eq!(verdict(&[93.0, 92.9, 92.8]), Some(FidelityVerdict::Outside));
        assert_eq!(verdict(&[100.0, 107.0, 114.0]), Some(FidelityVerdict::Undecided));
        assert_eq!(metric(&[], &[1.0], 5.0).verdict, Some(FidelityVerdict::Unknown));
        assert_eq!(verdict(&[98.0, 100.0, 102.0]), Some(FidelityVerdict::Within));
        assert_eq!(verdict(&[96.0, 100.0, 104.0]), Some(FidelityVerdict::Undecided));
        for single in [100.0, 107.0] {
            let verdict = metric(&[single], &[100.0], 5.0).verdict;
            assert_eq!(verdict, Some(FidelityVerdict::Undecided));
        }
    }

    #[test]
    fn nothing_of_nothing_is_no_error_and_something_of_nothing_has_no_number() {
        let none = metric(&[0.0, 0.0], &[0.0, 0.0], 5.0);
        assert_eq!((none.error_percent, none.ci95), (Some(0.0), Some([0.0, 0.0])));
        let some = metric(&[1.0, 0.0], &[0.0, 0.0], 5.0);
        assert_eq!((some.error_percent, some.difference), (None, Some(0.5)));
    }

    #[test]
    fn a_distribution_has_quantiles_and_a_distance() {
        let sim: Vec<f64> = (0..100).map(f64::from).collect();
        let moved: Vec<f64> = sim.iter().map(|value| value + 25.0).collect();
        let found = Distribution::of("time", "ms", sim.clone(), moved);
        assert!(found.ks_distance.is_some_and(|distance| (distance - 0.25).abs() < 1e-12));
        assert!(found.ks_critical95.is_some_and(|critical| (critical - 0.192).abs() < 1e-3));
        assert!(found.quantiles.iter().all(|pair| (pair.kernel - pair.sim - 25.0).abs() < 1e-9));
        let empty = Distribution::of("time", "ms", sim, Vec::new());
        assert_eq!((empty.ks_distance, empty.quantiles.len()), (None, 0));
    }
}
