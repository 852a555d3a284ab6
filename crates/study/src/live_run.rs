//! One run of a scenario in real time, between stock kernels or a kernel and our own TCP.
//!
//! ```text
//! Scenario ─► live_run ─► emulate ─► the same events ─► Summary, Series, captures   as `execute`
//!                            └────► TCP_INFO, counters, settings, lateness ─► LiveDetails
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `live_run.rs` | [`live_run`]: the run and its outcome |
//! | `live_run/options.rs` | what it is asked for, and what may be in its way |
//! | `live_run/fold.rs` | connections of programs told as those of their flow |
//! | `live_run/details.rs` | what the emulation says beside its events, as plain data |
//! | `live_run/programs.rs` | the commands of flows, and what they write |
//! | `live_run/taps.rs` | captures of real bytes |
//!
//! What is measured is what [`execute`](crate::execute) measures, with the same code. Only a clock
//! and a kernel are in between: no two runs are alike.
//!
//! Not modelled: a live run with middleboxes between kernels whose data is no longer kept (the
//! report counts such packets).

mod details;
mod fold;
mod options;
mod programs;
mod taps;

use crate::capture::with_captures;
use crate::labels::run_labels;
use crate::run::{
    Ending, Progress, RunOutcome, VERSION, count_proxies, queues_at_end, series_options,
};
use ackord_live::{
    EmulationOptions, EmulationReport, LiveError, emulate, emulate_in_simulated_time,
};
use ackord_measure::{RunIdentity, Series, Summary};
use ackord_report::OutputFile;
use ackord_report::live::LiveDetails;
use ackord_scenario::Scenario;
use ackord_units::{Span, Time};
use fold::FoldFlows;
use std::borrow::Cow;
use std::ops::ControlFlow;
use taps::Taps;

pub use options::{LiveRunError, LiveRunOptions, ProgramOutput};

/// What a live run came to.
#[derive(Clone, Debug)]
pub struct LiveRunOutcome {
    /// The same as of a simulated run.
    pub run: RunOutcome,
    /// What a simulated run has nothing of.
    pub live: LiveDetails,
    /// What the programs wrote, where it was to be kept.
    pub outputs: Vec<OutputFile>,
}

/// Simulated and real time are one here: nobody waits longer for a first sample than this.
const SAMPLES_EVERY: Span = Span::from_millis(10);

/// Runs `scenario` in real time. `progress` is called every now and then; when it answers
/// [`ControlFlow::Break`] the run ends there, and its outcome says so.
///
/// # Errors
/// Where the system does not allow namespaces, the scenario is too large, a program cannot be
/// started, or a capture cannot be written.
pub fn live_run(
    scenario: &Scenario,
    options: LiveRunOptions<'_>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<LiveRunOutcome, LiveRunError> {
    let seed = options.seed;
    let identity =
        RunIdentity { scenario_hash: scenario.hash(), seed, version: VERSION.to_owned() };
    let tapped = match options.captures {
        Some(_) => Cow::Owned(with_captures(scenario)),
        None => Cow::Borrowed(scenario),
    };
    let labels = run_labels(scenario, seed);
    let series = options.series.then(|| Series::new(&labels, series_options(scenario)));
    let programs = programs::of(scenario, seed, &options)?;
    let taps = match options.captures {
        Some(files) => Some(Taps::create(&tapped, files)?),
        None => None,
    };
    let mut emulation = EmulationOptions::new(tapped.into_owned()).map_err(LiveError::System)?;
    emulation.seed = seed;
    emulation.ours = options.ours;
    emulation.lateness_budget = options.lateness_budget;
    emulation.realtime_priority = options.realtime_priority;
    if let Some(stop) = options.stop {
        emulation.stop = stop;
    }
    emulation.samples_every = SAMPLES_EVERY;
    emulation.commands = programs.iter().map(|program| program.command.clone()).collect();
    emulation.meter = options.meter;
    emulation.taps = taps.as_ref().map(Taps::observer);
    let mut sink = FoldFlows::new(scenario, ((Summary::new(&labels), series), options.events));
    let end = Time::ZERO + scenario.duration;
    let mut watch = |now| match taps.as_ref().is_some_and(Taps::failed) {
        true => ControlFlow::Break(()),
        false => progress(Progress { now, end }),
    };
    let report = match &options.kernels {
        None => emulate(emulation, &mut sink, &mut watch)?,
        Some(kernels) => emulate_in_simulated_time(emulation, kernels, &mut sink, &mut watch)?,
    };
    if let Some(taps) = taps {
        taps.finish()?;
    }
    let ((mut summary, series), _) = sink.into_inner();
    count_proxies(&report.simulation, &mut summary);
    let run = run_outcome(&report, identity, summary, series);
    let (commands, outputs) = programs::outcomes(scenario, &programs, &report.commands)?;
    let live = details::of(scenario, &report, options.kernels.as_ref(), commands);
    Ok(LiveRunOutcome { run, live, outputs })
}

fn run_outcome(
    report: &EmulationReport,
    identity: RunIdentity,
    summary: Summary,
    series: Option<Series>,
) -> RunOutcome {
    let ended_at = Time::ZERO + report.took;
    RunOutcome {
        summary: summary.finish(identity, ended_at),
        series: series.map(|series| series.finish(ended_at)),
        conservation: report.conservation,
        queues: queues_at_end(&report.simulation),
        ending: match report.stopped {
            false => Ending::Complete,
            true => Ending::Interrupted(ended_at),
        },
        changes: Vec::new(),
    }
}
