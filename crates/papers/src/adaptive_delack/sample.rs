//! What is taken from each run.

use super::setup::SIMULATION;
use super::shape::Shape;
use ackord_measure::{SpreadSummary, Trace};
use ackord_study::{Job, RunOutcome};
use serde::Serialize;

/// A run: of its first flow, in most files the only one.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sample {
    pub(super) goodput_mbit_s: f64,
    /// To the last byte, where there is one and it arrived.
    pub(super) completion_s: Option<f64>,
    /// Mean time of a transfer or exchange, where the workload has them.
    pub(super) exchange_ms: Option<f64>,
    pub(super) acks: u64,
    pub(super) data_segments: u64,
    pub(super) retransmitted_segments: u64,
    pub(super) timeouts: u64,
    pub(super) fast_recoveries: u64,
    pub(super) cwnd_mean_bytes: f64,
    pub(super) rtt_mean_ms: f64,
    /// Airtime of the data, percent of the run, where the path has a medium.
    pub(super) data_air_percent: Option<f64>,
    /// Airtime of the acknowledgments, percent of the run.
    pub(super) ack_air_percent: Option<f64>,
    /// The receiver's ATO, where it moves.
    #[serde(skip)]
    pub(super) ato: Option<SpreadSummary>,
    /// What a phone beside it got, where there is one.
    pub(super) neighbour_mbit_s: Option<f64>,
    /// How it went over time, for runs whose series were kept.
    pub(super) shape: Option<Shape>,
    /// cwnd in bytes, for runs of the simulation whose series were kept: of the phones' many long runs the shape is
    /// enough.
    #[serde(skip)]
    pub(super) cwnd: Option<Trace>,
}

impl Sample {
    pub(super) fn of(job: &Job, outcome: RunOutcome) -> Sample {
        let run = &outcome.summary;
        let series = outcome.series.and_then(|series| series.flows.into_iter().next());
        let flow = &run.flows[0];
        let transfers = flow.transfers.as_ref().and_then(|transfers| transfers.time_ms);
        // The link on the medium leads towards whoever receives: station to access point where the
        // station sends, access point to phone where the server does. Its reverse has the ACKs.
        let air = |name: &str| {
            let link = run.links.iter().find(|link| link.name == name)?;
            link.medium.map(|used| 100.0 * used.airtime_s / run.duration_s)
        };
        Sample {
            goodput_mbit_s: flow.goodput_bit_s / 1e6,
            completion_s: flow.completion_s,
            exchange_ms: transfers.map(|times| times.mean),
            acks: flow.acks_sent,
            data_segments: flow.segments_sent,
            retransmitted_segments: flow.retransmitted_segments,
            timeouts: flow.timeouts,
            fast_recoveries: flow.recovery.fast_recoveries,
            cwnd_mean_bytes: flow.cwnd_mean_bytes.unwrap_or(0.0),
            rtt_mean_ms: flow.rtt.map_or(0.0, |rtt| rtt.mean_ms),
            data_air_percent: air("air"),
            ack_air_percent: air("air.reverse"),
            ato: flow.ack_timeout,
            neighbour_mbit_s: run.flows.get(1).map(|beside| beside.goodput_bit_s / 1e6),
            shape: series.as_ref().map(|flow| Shape::of(flow, run.duration_s)),
            cwnd: series.filter(|_| SIMULATION.is(&job.scenario)).map(|flow| flow.cwnd),
        }
    }

    pub(super) fn shape(&self) -> &Shape {
        self.shape.as_ref().expect("series of these runs are kept")
    }

    /// cwnd over time.
    pub(super) fn cwnd(&self) -> &Trace {
        self.cwnd.as_ref().expect("series of these runs are kept")
    }

    pub(super) fn acks_per_segment(&self) -> f64 {
        self.acks as f64 / self.data_segments.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Runs;

    fn sample(goodput_mbit_s: f64) -> Sample {
        Sample {
            goodput_mbit_s,
            completion_s: None,
            exchange_ms: None,
            acks: 500,
            data_segments: 1_000,
            retransmitted_segments: 3,
            timeouts: 0,
            fast_recoveries: 2,
            cwnd_mean_bytes: 10_000.0,
            rtt_mean_ms: 20.0,
            data_air_percent: Some(60.0),
            ack_air_percent: Some(10.0),
            ato: None,
            neighbour_mbit_s: None,
            shape: None,
            cwnd: None,
        }
    }

    #[test]
    fn a_ratio_is_that_of_the_means_and_sure_where_runs_go_together() {
        let runs = |goodputs: [f64; 2]| Runs(goodputs.map(sample).to_vec());
        let (fast, slow) = (runs([4.0, 9.0]), runs([2.0, 3.0]));
        let gain = fast.over(&slow, |sample| sample.goodput_mbit_s);
        assert!((gain.mean - 13.0 / 5.0).abs() < 1e-12, "{gain:?}");
        let gain = runs([4.0, 6.0]).over(&slow, |sample| sample.goodput_mbit_s);
        assert_eq!((gain.mean, gain.std_dev), (2.0, Some(0.0)));
        assert_eq!(fast.mean(Sample::acks_per_segment).mean, 0.5);
    }
}
