//! A live run as the questions want it: stock kernels, ours where asked, one summary.

use super::{LiveJob, LiveTaken, WithinBudget};
use crate::execute::VERSION;
use crate::labels::run_labels;
use ackord_live::{EmulationOptions, LiveError, Priority, StopHandle, Trust, emulate};
use ackord_measure::{RunIdentity, Summary};
use std::ops::ControlFlow;

/// Makes a live run; `stop` ends it early.
///
/// # Errors
/// What a live run says, such as that this machine does not allow namespaces.
pub fn on_this_kernel(job: &LiveJob<'_>, stop: &StopHandle) -> Result<LiveTaken, LiveError> {
    let mut options = EmulationOptions::new(job.scenario.clone())?;
    options.seed = job.seed;
    options.ours = job.ours.clone();
    options.stop = stop.clone();
    // Where the system does not allow it the lateness tells.
    options.priority = Priority::RealTime;
    let mut summary = Summary::new(&run_labels(job.scenario, job.seed));
    let report = emulate(options, &mut summary, &mut |_| ControlFlow::Continue(()))?;
    let identity = RunIdentity {
        scenario_hash: job.scenario.hash(),
        seed: job.seed,
        version: VERSION.to_owned(),
    };
    Ok(LiveTaken {
        summary: summary.finish(identity, report.simulation.now()),
        late_p99: report.lateness.p99,
        within_budget: match report.lateness.trust() {
            Trust::WithinBudget => WithinBudget::Yes,
            Trust::Untrustworthy => WithinBudget::No,
        },
    })
}
