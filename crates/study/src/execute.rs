//! One run of a scenario.

use crate::capture::{CaptureError, CaptureSink, with_captures};
use crate::kernels::kernels_of;
use crate::labels::run_labels;
use crate::live_run::{LiveRunError, LiveRunOptions, live_run};
use crate::run::{
    Ending, Progress, RunOptions, RunOutcome, VERSION, count_proxies, queues_at_end, series_options,
};
use crate::sender_taps::{sender_taps, with_sender_taps};
use ackord_events::Sink;
use ackord_measure::{RunIdentity, Series, Summary};
use ackord_path::Conservation;
use ackord_scenario::Scenario;
use ackord_sim::{BuildError, RunError, Simulation};
use ackord_uml::KernelError;
use ackord_units::{Span, Time};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// The progress callback is called at least so often in a run.
const SLICES: u64 = 200;
/// At most so many packets are delivered, or timers expire, between two calls of the progress callback:
/// what a program that is interrupted still does, a few milliseconds' worth.
const STEPS: u64 = 1024;

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The scenario cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The run went wrong: a defect of this project.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A kernel of the scenario's hosts has not been built.
    #[error(transparent)]
    NoKernel(#[from] KernelError),
    /// A run on kernels went wrong.
    #[error(transparent)]
    Kernel(Box<LiveRunError>),
    /// A run in steps was to have hosts with stock kernels.
    #[error("hosts with a kernel cannot run in steps; without `hosts.NAME.kernel` they can")]
    KernelInSteps,
    /// One of many runs panicked.
    #[error("the run panicked, which is a defect of this project: {message}")]
    Panicked {
        /// What it said.
        message: String,
    },
}

/// Runs `scenario`; where hosts run stock kernels, with these. `progress` is called every now and then; when it answers
/// [`ControlFlow::Break`] the run ends there, and its outcome says so.
///
/// # Errors
/// When the scenario is too large to be built, a capture cannot be written, or packets appeared or
/// vanished; when a kernel has not been built, or does not go on.
pub fn execute(
    scenario: &Scenario,
    options: RunOptions<'_>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunOutcome, ExecuteError> {
    if let Some(kernels) = kernels_of(scenario)? {
        let outcome =
            live_run(scenario, LiveRunOptions::in_simulated_time(kernels, options), progress);
        return outcome
            .map(|outcome| outcome.run)
            .map_err(|error| ExecuteError::Kernel(error.into()));
    }
    // What is captured is no part of what is simulated: the hash stays that of the file.
    let identity = RunIdentity {
        scenario_hash: scenario.hash(),
        seed: options.seed,
        version: VERSION.to_owned(),
    };
    let captured = match options.captures {
        Some(_) => Cow::Owned(with_captures(scenario)),
        None => Cow::Borrowed(scenario),
    };
    let tapped = match options.series {
        true => Cow::Owned(with_sender_taps(&captured)),
        false => Cow::Borrowed(&*captured),
    };
    let labels = run_labels(scenario, options.seed);
    let mut simulation = Simulation::new(&tapped, options.seed)?;
    let mut summary = Summary::new(&labels);
    let mut series = options.series.then(|| {
        let series = Series::new(&labels, series_options(scenario));
        series.with_sender_taps(sender_taps(scenario))
    });
    let mut capture = match options.captures {
        Some(files) => Some(CaptureSink::create(&captured, files)?),
        None => None,
    };
    // A sink of its own type for the usual cases, so that what is not kept costs nothing.
    let drive = Drive { simulation: &mut simulation, duration: scenario.duration, progress };
    let (ending, conservation) = match (&mut series, &mut capture, options.events) {
        (None, None, None) => drive.run(&mut summary, |_| Ok(()))?,
        (Some(series), None, None) => drive.run(&mut (&mut summary, series), |_| Ok(()))?,
        (None, Some(capture), None) => {
            drive.run(&mut (&mut summary, capture), |(_, capture)| capture.take_error())?
        }
        (series, capture, events) => {
            let mut sink = (((&mut summary, series), events), capture);
            drive.run(&mut sink, |(_, capture)| {
                capture.as_mut().map_or(Ok(()), |capture| capture.take_error())
            })?
        }
    };
    if let Some(capture) = capture {
        capture.finish()?;
    }
    let ended_at = simulation.now();
    count_proxies(&simulation, &mut summary);
    Ok(RunOutcome {
        summary: summary.finish(identity, ended_at),
        series: series.map(|series| series.finish(ended_at)),
        conservation,
        queues: queues_at_end(&simulation),
        ending,
        changes: Vec::new(),
    })
}

/// A run under way.
struct Drive<'a> {
    simulation: &'a mut Simulation,
    duration: Span,
    progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl Drive<'_> {
    /// Runs to the end or until somebody stops it. `check` may refuse to go on after a slice.
    fn run<S: Sink>(
        self,
        sink: &mut S,
        check: impl Fn(&mut S) -> Result<(), CaptureError>,
    ) -> Result<(Ending, Conservation), ExecuteError> {
        let end = Time::ZERO + self.duration;
        let slice = (self.duration / SLICES).max(Span::from_nanos(1));
        if !sink.needs_order() {
            self.simulation.look_ahead();
        }
        let mut until = (Time::ZERO + slice).min(end);
        let mut ending = Ending::Complete;
        while !self.simulation.is_over() {
            let reached = self.simulation.run_some(until, STEPS, sink);
            check(sink)?;
            let now = self.simulation.now();
            if (self.progress)(Progress { now, end }).is_break() && !self.simulation.is_over() {
                // What happens at one instant happens together, if it can be done in time.
                self.simulation.run_some(now, STEPS, sink);
                ending = Ending::Interrupted(now);
                break;
            }
            if reached {
                until = (until + slice).min(end);
            }
        }
        let conservation = self.simulation.finish(sink)?;
        check(sink)?;
        Ok((ending, conservation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::without_progress;
    use ackord_scenario::{Override, ScenarioFile};

    fn lossy_wifi(changes: &[(&str, &str)]) -> Scenario {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it comes along");
        let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
        file.with_overrides(changes).check().expect("a sound scenario")
    }

    fn short(duration: &str) -> Scenario {
        lossy_wifi(&[("duration", duration)])
    }

    #[test]
    fn rates_are_sampled_as_asked_and_else_as_a_plot_can_show() {
        let interval = |changes: &[_]| series_options(&lossy_wifi(changes)).interval;
        assert_eq!(interval(&[("duration", "5 s")]), Some(Span::from_millis(10)));
        assert_eq!(interval(&[("duration", "100 s")]), None);
        let asked = [("duration", "100 s"), ("record.series", "20 ms")];
        assert_eq!(interval(&asked), Some(Span::from_millis(20)));
    }

    #[test]
    fn the_same_seed_gives_the_same_outcome_however_it_is_looked_at() {
        let scenario = short("2 s");
        let plain = execute(&scenario, RunOptions::summary_only(7), &mut without_progress);
        let plotted = execute(&scenario, RunOptions::with_series(7), &mut without_progress);
        let (plain, plotted) = (plain.expect("a sound run"), plotted.expect("a sound run"));
        assert_eq!(plain.summary, plotted.summary);
        assert_eq!(plain.conservation, plotted.conservation);
        assert!(plotted.series.is_some_and(|series| !series.flows[0].cwnd.is_empty()));
        let other = execute(&scenario, RunOptions::summary_only(8), &mut without_progress);
        assert_ne!(other.expect("a sound run").summary.flows, plain.summary.flows);
    }

    #[test]
    fn a_run_that_is_stopped_has_the_outcome_of_one_that_was_to_end_there() {
        let mut stop = |progress: Progress| {
            if progress.now >= Time::ZERO + Span::from_secs(1) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let stopped = execute(&short("2 s"), RunOptions::summary_only(7), &mut stop);
        let stopped = stopped.expect("a sound run");
        assert_eq!(stopped.ending, Ending::Interrupted(Time::ZERO + Span::from_secs(1)));
        let shorter = execute(&short("1 s"), RunOptions::summary_only(7), &mut without_progress);
        let shorter = shorter.expect("a sound run");
        assert_eq!(shorter.ending, Ending::Complete);
        assert_eq!(stopped.summary.flows, shorter.summary.flows);
        assert_eq!(stopped.summary.queues, shorter.summary.queues);
    }

    /// Takes every step of every packet, in order.
    struct Steps;

    impl Sink for Steps {
        fn emit(&mut self, _at: Time, _event: ackord_events::Event<'_>) {}
    }

    /// Runs it, and has all that has happened told now and then.
    fn told_to<S: Sink>(scenario: &Scenario, looks_ahead: bool, sink: &mut S) -> Time {
        let mut simulation = Simulation::new(scenario, 1).expect("builds");
        if looks_ahead {
            simulation.look_ahead();
        }
        for part in 1..=4 {
            simulation.run_until(Time::ZERO + scenario.duration * part / 4, sink);
            simulation.settle(sink);
        }
        simulation.finish(sink).expect("packets are conserved");
        simulation.now()
    }

    /// A summary alone is told of what waits when it leaves; beside others it is told of every step.
    #[test]
    fn a_summary_is_the_same_however_it_is_told() {
        for (name, _) in ackord_scenario::library() {
            let file = ScenarioFile::from_library(name).expect("it comes along");
            let mut scenario = file.check().expect("a sound scenario");
            scenario.duration = scenario.duration.min(Span::from_secs(2));
            let labels = run_labels(&scenario, 1);
            let [mut alone, mut beside, mut in_order] = [(); 3].map(|()| Summary::new(&labels));
            let mut series = Series::new(&labels, series_options(&scenario));
            let ended_at = told_to(&scenario, true, &mut alone);
            told_to(&scenario, true, &mut (&mut beside, &mut series));
            told_to(&scenario, false, &mut (&mut in_order, Steps));
            let expected = in_order.finish(RunIdentity::default(), ended_at);
            assert_eq!(alone.finish(RunIdentity::default(), ended_at), expected, "{name}");
            assert_eq!(beside.finish(RunIdentity::default(), ended_at), expected, "{name}");
        }
    }

    #[test]
    fn progress_only_goes_forward_and_reaches_the_end() {
        let mut shares = Vec::new();
        let mut watch = |progress: Progress| {
            shares.push(progress.share());
            ControlFlow::Continue(())
        };
        execute(&short("1 s"), RunOptions::summary_only(1), &mut watch).expect("a sound run");
        assert!(shares.len() >= SLICES as usize && shares.is_sorted(), "{}", shares.len());
        assert_eq!(shares.last(), Some(&1.0));
    }
}
