//! A live run as the questions want it: stock kernels, ours where asked, one summary.

use ackord_live::{LiveError, StopHandle};
use ackord_measure::RunSummary;
use ackord_report::live::TrustWord;
use ackord_scenario::Scenario;
use ackord_study::{LiveRunError, LiveRunOptions, live_run, without_progress};
use ackord_units::Span;
use ackord_wire::NodeId;
use std::collections::BTreeSet;

/// A live run to be made.
#[derive(Clone, Debug)]
pub struct LiveJob<'a> {
    /// What to run.
    pub scenario: &'a Scenario,
    /// With which seed.
    pub seed: u64,
    /// The hosts whose TCP is ours; all others are the kernel's.
    pub ours: BTreeSet<NodeId>,
}

/// What a live run came to.
#[derive(Clone, Debug)]
pub struct LiveTaken {
    /// Folded from the same events as a simulated run's.
    pub summary: RunSummary,
    /// All but 1 % of its packets were handed over at most this late.
    pub late_p99: Span,
    /// Whether that was within the budget.
    pub within_budget: bool,
}

/// Makes a live run.
pub type RunLive<'a, E> = dyn FnMut(&LiveJob<'_>) -> Result<LiveTaken, E> + 'a;

/// Makes a live run on this kernel; `stop` ends it early.
///
/// # Errors
/// What a live run says, such as that this machine does not allow namespaces.
pub fn on_this_kernel(job: &LiveJob<'_>, stop: &StopHandle) -> Result<LiveTaken, LiveRunError> {
    let mut options = LiveRunOptions::new(job.seed).map_err(LiveError::System)?;
    options.ours = job.ours.clone();
    options.stop = Some(stop.clone());
    // Where the system does not allow it the lateness tells.
    options.realtime_priority = true;
    let outcome = live_run(job.scenario, options, &mut without_progress)?;
    Ok(LiveTaken {
        summary: outcome.run.summary,
        late_p99: Span::from_secs_f64(
            outcome.live.real_time.as_ref().map_or(0.0, |late| late.p99_us) / 1e6,
        ),
        within_budget: outcome.live.trust != TrustWord::Untrustworthy,
    })
}
