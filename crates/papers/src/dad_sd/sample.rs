//! What is taken from each run, in whole numbers so that a journal gives it back unchanged.

use super::setup::START;
use ackord_study::{Job, RunOutcome};
use serde::{Deserialize, Serialize};

/// What the journal calls a [`Sample`]; changes when its fields do.
pub(super) const KEPT: &str = "dad-sd 1";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sample {
    pub(super) bytes_delivered: u64,
    pub(super) segments_sent: u64,
    pub(super) retransmitted: u64,
    /// Data packets that died on the way.
    pub(super) dropped: u64,
    pub(super) timeouts: u64,
    pub(super) fast_recoveries: u64,
    pub(super) undone: u64,
    pub(super) rtt_mean_us: u64,
    pub(super) cwnd_mean_bytes: u64,
}

/// A run, with the length of its transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) sample: Sample,
    pub(super) seconds: f64,
}

impl Sample {
    pub(super) fn of(job: &Job, outcome: RunOutcome) -> Sample {
        debug_assert_eq!(job.scenario.flows[0].start.latest(), START);
        let flow = &outcome.summary.flows[0];
        Sample {
            bytes_delivered: flow.bytes_delivered,
            segments_sent: flow.segments_sent,
            retransmitted: flow.retransmitted_segments,
            dropped: flow.packets_dropped,
            timeouts: flow.timeouts,
            fast_recoveries: flow.recovery.fast_recoveries,
            undone: flow.recovery.undone_reductions,
            rtt_mean_us: flow.rtt.as_ref().map_or(0, |rtt| (rtt.mean_ms * 1e3) as u64),
            cwnd_mean_bytes: flow.cwnd_mean_bytes.unwrap_or(0.0) as u64,
        }
    }

    /// Retransmissions that nothing lost called for.
    pub(super) fn needless(&self) -> u64 {
        self.retransmitted.saturating_sub(self.dropped)
    }
}

impl Run {
    /// Payload delivered over the length of the transfer.
    pub(super) fn goodput(&self) -> f64 {
        self.sample.bytes_delivered as f64 * 8.0 / self.seconds / 1e6
    }

    /// A count per thousand seconds of transfer.
    pub(super) fn per_1000_s(&self, pick: impl Fn(&Sample) -> u64) -> f64 {
        pick(&self.sample) as f64 * 1e3 / self.seconds
    }

    pub(super) fn rtt_ms(&self) -> f64 {
        self.sample.rtt_mean_us as f64 / 1e3
    }
}
