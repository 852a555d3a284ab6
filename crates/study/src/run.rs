//! What is made of a run, simulated or live, and what it comes to.

use crate::capture::CaptureFiles;
use crate::stepped::RunChange;
use ackord_events::{LinkId, ProxyId};
use ackord_measure::{ProxyCounters, RunSummary, SeriesOptions, SeriesSet, Summary};
use ackord_path::{Conservation, FlowState, QueueDiscipline};
use ackord_report::EventLog;
use ackord_scenario::{Record, Scenario};
use ackord_sim::Simulation;
use ackord_units::Time;
use std::ops::ControlFlow;

/// Version of the program, as in every summary.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs of more samples than this at the default interval get a longer one.
const MOST_DEFAULT_SAMPLES: u64 = 500;

/// What to make of a run besides its summary.
pub struct RunOptions<'a> {
    /// What every random stream derives from; may differ from the scenario's own.
    pub seed: u64,
    /// Whether to keep series for plots: they take about as long again as the run.
    pub series: bool,
    /// Where captures go, if any are to be taken: what the scenario asks for, or else both ends
    /// of every flow ([`with_captures`](crate::with_captures)).
    pub captures: Option<&'a mut dyn CaptureFiles>,
    /// Where events go, if they are to be kept.
    pub events: Option<&'a mut EventLog>,
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
    /// What was changed in the course of the run.
    pub changes: Vec<RunChange>,
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

impl RunOptions<'_> {
    /// Only the summary, with this seed.
    pub fn summary_only(seed: u64) -> RunOptions<'static> {
        RunOptions { seed, series: false, captures: None, events: None }
    }

    /// The summary and the series, with this seed.
    pub fn with_series(seed: u64) -> RunOptions<'static> {
        RunOptions { series: true, ..RunOptions::summary_only(seed) }
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
