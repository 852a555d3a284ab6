//! What a live run is asked for, and what may be in its way.

use crate::capture::{CaptureError, CaptureFiles};
use crate::run::RunOptions;
use ackord_live::{LiveError, MeterFeed, SimulatedKernels, StopHandle};
use ackord_report::EventLog;
use ackord_units::Span;
use ackord_wire::NodeId;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// What to make of a live run.
pub struct LiveRunOptions<'a> {
    /// What every random stream of the path derives from.
    pub seed: u64,
    /// Whether to keep series for plots.
    pub series: bool,
    /// Where captures go, if any are to be taken.
    pub captures: Option<&'a mut dyn CaptureFiles>,
    /// Where events go, if they are to be kept.
    pub events: Option<&'a mut EventLog>,
    /// Hosts whose ends of flows are our own TCP.
    pub ours: BTreeSet<NodeId>,
    /// How late 99 % of the packets may be for the run to be trusted.
    pub lateness_budget: Span,
    /// How the driver is scheduled.
    pub realtime_priority: bool,
    /// Ends the run from elsewhere, at once.
    pub stop: Option<StopHandle>,
    /// What becomes of what the programs of flows write.
    pub programs: ProgramOutput,
    /// Kernels in simulated time, for a run that is not in real time.
    pub kernels: Option<SimulatedKernels>,
    /// Filled ten times a second with what the links do, for a meter.
    pub meter: Option<Arc<MeterFeed>>,
}

/// What becomes of what programs write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramOutput {
    /// It becomes files of the report.
    Kept,
    /// It goes to our own standard error as it comes.
    Shown,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum LiveRunError {
    /// The system does not allow it, or something broke.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// What a program wrote could not be kept.
    #[error("cannot keep what a program writes")]
    Output(#[source] io::Error),
    /// A flow's commands are to run on a host that is ours.
    #[error("the commands of flow `{flow}` need a kernel, and its host `{host}` is to be ours")]
    CommandsNeedKernel {
        /// The flow.
        flow: String,
        /// The host.
        host: String,
    },
}

impl LiveRunOptions<'_> {
    /// As of a simulated run, with these kernels at the hosts that have one.
    pub fn in_simulated_time(
        kernels: SimulatedKernels,
        options: RunOptions<'_>,
    ) -> LiveRunOptions<'_> {
        let RunOptions { seed, series, captures, events } = options;
        LiveRunOptions {
            seed,
            series,
            captures,
            events,
            ours: BTreeSet::new(),
            lateness_budget: Span::from_millis(1),
            realtime_priority: false,
            stop: None,
            programs: ProgramOutput::Kept,
            kernels: Some(kernels),
            meter: None,
        }
    }

    /// Only the summary; every host a kernel.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub fn new(seed: u64) -> io::Result<LiveRunOptions<'static>> {
        Ok(LiveRunOptions {
            seed,
            series: false,
            captures: None,
            events: None,
            ours: BTreeSet::new(),
            lateness_budget: Span::from_millis(1),
            realtime_priority: false,
            stop: Some(StopHandle::new()?),
            programs: ProgramOutput::Shown,
            kernels: None,
            meter: None,
        })
    }
}
