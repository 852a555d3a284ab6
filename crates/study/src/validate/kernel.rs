//! The kernel's side: a scenario between stock kernels in network namespaces, its path emulated in
//! real time.

use super::{KernelError, KernelRun, KernelSide};
use crate::execute::{VERSION, series_options};
use crate::labels::run_labels;
use ackord_live::{
    EmulationEnding, EmulationOptions, EmulationReport, Lateness, Priority, SettingOutcome, Trust,
    emulate,
};
use ackord_measure::{KernelLateness, RunIdentity, Series, Summary, UnsettableKnob};
use ackord_scenario::Scenario;
use ackord_units::{Span, Time};
use std::ops::ControlFlow;

/// The kernel of this machine.
#[derive(Clone, Copy, Debug)]
pub struct StockKernel {
    /// How late 99 % of the packets of a run may be for it to count.
    pub lateness_budget: Span,
    /// How the drivers are scheduled.
    pub priority: Priority,
}

impl KernelSide for StockKernel {
    fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<KernelRun, KernelError> {
        let mut options = EmulationOptions::new(scenario.clone())?;
        (options.seed, options.priority) = (seed, self.priority);
        options.lateness_budget = self.lateness_budget;
        let labels = run_labels(scenario, seed);
        let mut summary = Summary::new(&labels);
        let mut series = Series::new(&labels, series_options(scenario));
        let report = emulate(options, &mut (&mut summary, &mut series), &mut |_| go_on())?;
        let identity =
            RunIdentity { scenario_hash: scenario.hash(), seed, version: VERSION.to_owned() };
        let ended_at = Time::ZERO + report.took;
        Ok(KernelRun {
            summary: summary.finish(identity, ended_at),
            series: Some(series.finish(ended_at)),
            lateness: lateness(seed, report.lateness),
            settings: settings(scenario, &report),
            stopped: report.ending == EmulationEnding::Stopped,
        })
    }

    fn release(&self) -> String {
        // What is read is told, and enters no result.
        std::fs::read_to_string("/proc/sys/kernel/osrelease")
            .map_or_else(|_| "unknown".to_owned(), |release| release.trim().to_owned())
    }
}

fn lateness(seed: u64, late: Lateness) -> KernelLateness {
    let micros = |span: Span| span.as_secs_f64() * 1e6;
    KernelLateness {
        seed,
        p50_us: micros(late.p50),
        p99_us: micros(late.p99),
        max_us: micros(late.max),
        within_budget: late.trust() == Trust::WithinBudget,
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
