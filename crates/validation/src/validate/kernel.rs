//! The kernel's side: a scenario between stock kernels, either that of this machine, in network
//! namespaces over a path emulated in real time, or one in simulated time.

use super::set::kernels_and_ours;
use super::{KernelError, KernelRun, KernelSide};
use ackord_live::{
    EmulationOptions, EmulationReport, Lateness, SettingOutcome, SimulatedKernels, emulate,
    emulate_in_simulated_time,
};
use ackord_measure::{KernelLateness, KernelTime, RunIdentity, Series, Summary, UnsettableKnob};
use ackord_scenario::Scenario;
use ackord_study::run_labels;
use ackord_study::{VERSION, series_options};
use ackord_uml::Kernel;
use ackord_units::{Span, Time};
use std::ops::ControlFlow;

/// The kernel of this machine.
#[derive(Clone, Copy, Debug)]
pub struct StockKernel {
    /// How late 99 % of the packets of a run may be for it to count.
    pub lateness_budget: Span,
    /// How the drivers are scheduled.
    pub realtime_priority: bool,
}

/// A kernel in simulated time, at every host that is one.
#[derive(Clone, Debug)]
pub struct SimulatedKernel {
    /// Which.
    pub kernel: Kernel,
}

impl KernelSide for SimulatedKernel {
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<KernelRun, KernelError> {
        let mut options = EmulationOptions::new(scenario.clone())?;
        options.seed = seed;
        let (kernels, _) = kernels_and_ours(scenario);
        let kernels = kernels.into_iter().map(|host| (host, self.kernel.clone())).collect();
        let kernels = SimulatedKernels { kernels, program: None };
        kernel_run(scenario, seed, self.time(), |sink| {
            Ok(emulate_in_simulated_time(options, &kernels, sink, &mut |_| go_on())?)
        })
    }

    fn release(&self) -> String {
        let Kernel { release, hz, .. } = &self.kernel;
        format!("{release}, HZ = {hz}, in simulated time")
    }

    fn time(&self) -> KernelTime {
        KernelTime::Simulated
    }
}

/// What the kernel's side is folded into.
pub(crate) type Folds = (Summary, Series);

/// A run of the kernel's side.
pub(crate) fn kernel_run(
    scenario: &Scenario,
    seed: u64,
    time: KernelTime,
    emulate: impl FnOnce(&mut Folds) -> Result<EmulationReport, KernelError>,
) -> Result<KernelRun, KernelError> {
    let labels = run_labels(scenario, seed);
    let mut folds = (Summary::new(&labels), Series::new(&labels, series_options(scenario)));
    let report = emulate(&mut folds)?;
    let identity =
        RunIdentity { scenario_hash: scenario.hash(), seed, version: VERSION.to_owned() };
    let ended_at = Time::ZERO + report.took;
    let (summary, series) = folds;
    Ok(KernelRun {
        summary: summary.finish(identity, ended_at),
        series: Some(series.finish(ended_at)),
        time,
        lateness: lateness(seed, report.lateness),
        settings: settings(scenario, &report),
        stopped: report.stopped,
    })
}

impl KernelSide for StockKernel {
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<KernelRun, KernelError> {
        let mut options = EmulationOptions::new(scenario.clone())?;
        (options.seed, options.realtime_priority) = (seed, self.realtime_priority);
        (_, options.ours) = kernels_and_ours(scenario);
        options.lateness_budget = self.lateness_budget;
        kernel_run(scenario, seed, self.time(), |sink| {
            Ok(emulate(options, sink, &mut |_| go_on())?)
        })
    }

    fn time(&self) -> KernelTime {
        KernelTime::Real
    }

    fn release(&self) -> String {
        release_of_this_machine()
    }
}

/// The release of the kernel that we run on.
pub(crate) fn release_of_this_machine() -> String {
    // What is read is told, and enters no result.
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "unknown".to_owned(), |release| release.trim().to_owned())
}

fn lateness(seed: u64, late: Lateness) -> KernelLateness {
    let micros = |span: Span| span.as_secs_f64() * 1e6;
    KernelLateness {
        seed,
        p50_us: micros(late.p50),
        p99_us: micros(late.p99),
        max_us: micros(late.max),
        within_budget: late.is_within_budget(),
    }
}

/// What the hosts' kernels do in another way than the scenario asks, or did not take.
fn settings(scenario: &Scenario, report: &EmulationReport) -> Vec<UnsettableKnob> {
    let mut knobs = Vec::new();
    for host in &report.hosts {
        for told in &host.settings {
            if let SettingOutcome::Instead(instead) = &told.outcome {
                knobs.push(UnsettableKnob {
                    knob: told.knob.clone(),
                    asked: told.asked.clone(),
                    outcome: instead.clone(),
                });
            }
        }
        knobs.extend(host.refused.iter().map(|(setting, errno)| UnsettableKnob {
            knob: setting.clone(),
            asked: format!("at {}", scenario.node(host.node).name),
            outcome: errno.desc().to_owned(),
        }));
    }
    knobs
}
