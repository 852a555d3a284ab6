//! One run of a scenario.

use crate::capture::{CaptureError, CaptureFiles, CaptureSink, with_captures};
use crate::kernels::kernels_of;
use crate::labels::run_labels;
use crate::live_run::{LiveRunError, LiveRunOptions, live_run};
use ackord_events::{LinkId, ProxyId, Sink};
use ackord_measure::{
    ProxyCounters, RunIdentity, RunSummary, Series, SeriesOptions, SeriesSet, Summary,
};
use ackord_path::{Conservation, FlowState, QueueDiscipline};
use ackord_scenario::{Record, Scenario};
use ackord_sim::{BuildError, RunError, Simulation};
use ackord_uml::KernelError;
use ackord_units::{Span, Time};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Version of the program, as in every summary.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// At most this much simulated time passes between two calls of the progress callback, and at
/// least [`SLICES`] calls are made in a run.
const LONGEST_SLICE: Span = Span::from_millis(50);
const SLICES: u64 = 200;
/// Runs of more samples than this at the default interval get a longer one.
const MOST_DEFAULT_SAMPLES: u64 = 500;

/// What to make of a run besides its summary.
pub struct RunOptions<'a> {
    /// What every random stream derives from; may differ from the scenario's own.
    pub seed: u64,
    /// Whether to keep series for plots: they take about as long again as the run.
    pub series: bool,
    /// Where captures go, if any are to be taken: what the scenario asks for, or else both ends
    /// of every flow ([`with_captures`]).
    pub captures: Option<&'a mut dyn CaptureFiles>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The present of the run.
    pub now: Time,
    /// Where it ends.
    pub end: Time,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Everything measured, up to where the run ended.
    pub summary: RunSummary,
    /// Values against time, if they were asked for.
    pub series: Option<SeriesSet>,
    /// Where every packet is; checked to be complete.
    pub conservation: Conservation,
    /// What the queue of each direction of a link marked and had to remember, in the order of the
    /// summary's links.
    pub queues: Vec<QueueAtEnd>,
    /// How it ended.
    pub ending: Ending,
}

/// What events do not tell of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueAtEnd {
    /// Packets it marked "congestion experienced".
    pub marked: u64,
    /// What it kept to tell flows apart, at most.
    pub state: FlowState,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The duration passed, or every flow was done.
    Complete,
    /// The progress callback stopped it at this time.
    Interrupted(Time),
}

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
}

impl RunOptions<'_> {
    /// Only the summary, with this seed.
    pub fn summary_only(seed: u64) -> RunOptions<'static> {
        RunOptions { seed, series: false, captures: None }
    }

    /// The summary and the series, with this seed.
    pub fn with_series(seed: u64) -> RunOptions<'static> {
        RunOptions { seed, series: true, captures: None }
    }
}

impl Progress {
    /// The share that is done, 0 to 1.
    pub fn share(self) -> f64 {
        let end = self.end.as_secs_f64();
        if end == 0.0 { 1.0 } else { (self.now.as_secs_f64() / end).min(1.0) }
    }
}

/// For runs that nobody watches.
pub fn without_progress(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
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
    let tapped = match options.captures {
        Some(_) => Cow::Owned(with_captures(scenario)),
        None => Cow::Borrowed(scenario),
    };
    let labels = run_labels(scenario, options.seed);
    let mut simulation = Simulation::new(&tapped, options.seed)?;
    let mut summary = Summary::new(&labels);
    let mut series = options.series.then(|| Series::new(&labels, series_options(scenario)));
    let mut capture = match options.captures {
        Some(files) => Some(CaptureSink::create(&tapped, files)?),
        None => None,
    };
    // A sink of its own type for each case, so that what is not kept costs nothing.
    let drive = Drive { simulation: &mut simulation, duration: scenario.duration, progress };
    let (ending, conservation) = match (&mut series, &mut capture) {
        (None, None) => drive.run(&mut summary, |_| Ok(()))?,
        (Some(series), None) => drive.run(&mut (&mut summary, series), |_| Ok(()))?,
        (series, Some(capture)) => {
            drive.run(&mut ((&mut summary, series), capture), |sink| sink.1.take_error())?
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
    })
}

/// What events do not tell of the queues.
pub(crate) fn queues_at_end(simulation: &Simulation) -> Vec<QueueAtEnd> {
    let graph = simulation.graph();
    let queue = |link| QueueAtEnd {
        marked: graph.link_stats(link).marked,
        state: graph.queue(link).flow_state(),
    };
    (0..graph.links() as u32).map(LinkId).map(queue).collect()
}

/// Middleboxes count for themselves what no event tells.
pub(crate) fn count_proxies(simulation: &Simulation, summary: &mut Summary) {
    let graph = simulation.graph();
    for number in 0..graph.proxies() {
        let proxy = ProxyId(number as u32);
        let stats = graph.proxy_stats(proxy);
        summary.count_proxy(
            proxy,
            ProxyCounters {
                seen: stats.seen,
                data_sent: stats.data_sent,
                acks_sent: stats.acks_sent,
                probes: stats.probes,
                absorbed: stats.absorbed,
                rewritten: stats.rewritten,
                peak_flows: u64::from(stats.peak_flows),
                flows_refused: stats.flows_refused,
                peak_cached_bytes: stats.peak_cached.get(),
                evicted_bytes: stats.evicted.get(),
                uncached_bytes: stats.uncached.get(),
                holds: stats.holds,
                false_holds: stats.false_holds,
                held_s: stats.held_for.as_secs_f64(),
            },
        );
    }
}

/// The scenario's interval between samples. Where it leaves that open and the run is long, rates
/// over the format's 10 ms would be noise: then one that gives a few hundred points.
pub fn series_options(scenario: &Scenario) -> SeriesOptions {
    let asked = scenario.record.series;
    let readable = scenario.duration <= Record::DEFAULT_SERIES * MOST_DEFAULT_SAMPLES;
    let interval = (asked != Record::DEFAULT_SERIES || readable).then_some(asked);
    SeriesOptions { interval, ..SeriesOptions::default() }
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
        let slice = (self.duration / SLICES).min(LONGEST_SLICE).max(Span::from_nanos(1));
        let mut until = Time::ZERO;
        let mut ending = Ending::Complete;
        while !self.simulation.is_over() {
            until = (until + slice).min(end);
            self.simulation.run_until(until, sink);
            check(sink)?;
            let now = self.simulation.now();
            if (self.progress)(Progress { now, end }).is_break() && !self.simulation.is_over() {
                ending = Ending::Interrupted(now);
                break;
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
