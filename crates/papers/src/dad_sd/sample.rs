//! What is kept of each run, in whole numbers so that a journal gives it back unchanged.

use super::setup::{Plan, Runs, START};
use crate::journal::Journal;
use crate::runs::{Job, run_all_with_journal};
use crate::{PaperError, Watch};
use ackord_measure::stats::{Estimate, estimate};
use ackord_study::RunOutcome;
use ackord_units::Span;
use serde::{Deserialize, Serialize};

/// What the journal calls a [`Sample`]; changes when its fields do.
const KEPT: &str = "dad-sd 1";

/// A run.
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

/// Every run of the plan, in its order.
#[derive(Clone, Debug)]
pub(super) struct Outcomes {
    samples: Vec<Sample>,
    transfer: Span,
}

/// The runs of one policy at one tau and interval.
#[derive(Clone, Debug)]
pub(super) struct Point {
    samples: Vec<Sample>,
    seconds: f64,
}

impl Outcomes {
    pub(super) fn of(
        plan: &Plan,
        journal: Option<&Journal>,
        watch: &Watch<'_>,
    ) -> Result<Outcomes, PaperError> {
        let samples = run_all_with_journal(&plan.jobs, Sample::of, (journal, KEPT), watch)?;
        Ok(Outcomes { samples, transfer: plan.transfer })
    }

    pub(super) fn point(&self, runs: &Runs) -> Point {
        let samples = self.samples[runs.clone()].to_vec();
        Point { samples, seconds: self.transfer.as_secs_f64() }
    }
}

impl Sample {
    fn of(job: &Job, outcome: RunOutcome) -> Sample {
        debug_assert_eq!(job.scenario.flows[0].start.latest(), START);
        let flow = &outcome.summary.flows[0];
        Sample {
            bytes_delivered: flow.bytes_delivered,
            segments_sent: flow.segments_sent,
            retransmitted: flow.retransmitted_segments,
            dropped: flow.packets_dropped,
            timeouts: flow.timeouts,
            fast_recoveries: flow.fast_recoveries,
            undone: flow.undone_reductions,
            rtt_mean_us: flow.rtt.as_ref().map_or(0, |rtt| (rtt.mean_ms * 1e3) as u64),
            cwnd_mean_bytes: flow.cwnd_mean_bytes.unwrap_or(0.0) as u64,
        }
    }

    /// Retransmissions that nothing lost called for.
    pub(super) fn needless(&self) -> u64 {
        self.retransmitted.saturating_sub(self.dropped)
    }
}

impl Point {
    /// Payload delivered over the length of the transfer.
    pub(super) fn goodput_each(&self) -> Vec<f64> {
        let rate = |sample: &Sample| sample.bytes_delivered as f64 * 8.0 / self.seconds / 1e6;
        self.samples.iter().map(rate).collect()
    }

    pub(super) fn goodput(&self) -> Estimate {
        estimate(&self.goodput_each()).expect("every point has runs")
    }

    pub(super) fn of(&self, pick: impl Fn(&Sample) -> f64) -> Estimate {
        let values: Vec<f64> = self.samples.iter().map(pick).collect();
        estimate(&values).expect("every point has runs")
    }

    /// A count per thousand seconds of transfer.
    pub(super) fn per_1000_s(&self, pick: impl Fn(&Sample) -> u64) -> Estimate {
        estimate(&self.each_per_1000_s(pick)).expect("every point has runs")
    }

    /// The same of every seed.
    pub(super) fn each_per_1000_s(&self, pick: impl Fn(&Sample) -> u64) -> Vec<f64> {
        self.samples.iter().map(|sample| pick(sample) as f64 * 1e3 / self.seconds).collect()
    }

    pub(super) fn rtt_ms(&self) -> f64 {
        self.of(|sample| sample.rtt_mean_us as f64 / 1e3).mean
    }
}

#[cfg(test)]
pub(super) fn point(goodputs_mbit_s: &[f64]) -> Point {
    let sample = |rate: &f64| Sample {
        bytes_delivered: (rate * 1e6 / 8.0) as u64,
        segments_sent: 100,
        retransmitted: 10,
        dropped: 4,
        timeouts: 1,
        fast_recoveries: 5,
        undone: 2,
        rtt_mean_us: 500_000,
        cwnd_mean_bytes: 30_000,
    };
    Point { samples: goodputs_mbit_s.iter().map(sample).collect(), seconds: 1.0 }
}
