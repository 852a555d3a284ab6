//! A live run as the questions want it: stock kernels, ours where asked, one summary.

use super::{LiveJob, LiveTaken, WithinBudget};
use ackord_live::{LiveError, StopHandle};
use ackord_report::live::TrustWord;
use ackord_study::without_progress;
use ackord_study::{LiveRunError, LiveRunOptions, live_run};
use ackord_units::Span;

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
        within_budget: match outcome.live.trust {
            TrustWord::WithinBudget | TrustWord::SimulatedTime => WithinBudget::Yes,
            TrustWord::Untrustworthy => WithinBudget::No,
        },
    })
}
