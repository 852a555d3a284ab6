//! What is kept of a run, live or simulated, and estimates over the runs of a receiver.

use super::questions::Measure;
use ackord_measure::RunSummary;
use ackord_measure::stats::{Estimate, estimate};
use serde::Serialize;

/// A run, of its only flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// What the application received, Mbit/s.
    pub goodput_mbit_s: f64,
    /// To the last byte, or to the end of the run, milliseconds.
    pub completion_ms: f64,
    /// Mean time of an exchange, where the workload has them, milliseconds.
    pub exchange_ms: Option<f64>,
    /// The longest of them.
    pub exchange_max_ms: Option<f64>,
    /// Segments with data of the flow's sender, retransmissions among them.
    pub segments: u64,
    /// Pure acknowledgments of its receiver.
    pub acks: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Airtime of what goes from the phone to the access point, percent of the run, where the path
    /// has a medium.
    pub ack_air_percent: Option<f64>,
    /// Of a live run: 99 % of its packets were at most so late, microseconds.
    pub late_p99_us: Option<f64>,
}

impl Sample {
    /// What a summary says of its first flow.
    pub(super) fn of(run: &RunSummary, late_p99_us: Option<f64>) -> Sample {
        let flow = &run.flows[0];
        let times = flow.transfers.as_ref().and_then(|transfers| transfers.time_ms);
        let lasted_s = flow.completion_s.unwrap_or(run.duration_s - flow.started_s);
        // The link on the medium leads to where the data go; its reverse has the acknowledgments.
        let air = run.links.iter().find(|link| link.name == "air.reverse");
        let air = air.and_then(|link| link.medium);
        Sample {
            goodput_mbit_s: flow.goodput_bit_s / 1e6,
            completion_ms: lasted_s * 1e3,
            exchange_ms: times.map(|times| times.mean),
            exchange_max_ms: times.map(|times| times.max),
            segments: flow.segments_sent,
            acks: flow.acks_sent,
            retransmitted: flow.retransmitted_segments,
            timeouts: flow.timeouts,
            ack_air_percent: air.map(|used| 100.0 * used.airtime_s / run.duration_s),
            late_p99_us,
        }
    }

    pub(super) fn measured(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Goodput => self.goodput_mbit_s,
            Measure::Completion => self.completion_ms,
            Measure::Exchange => self.exchange_ms.unwrap_or(f64::NAN),
        }
    }

    pub(super) fn acks_per_segment(&self) -> f64 {
        self.acks as f64 / self.segments.max(1) as f64
    }
}

/// Mean and interval of a number over runs.
pub(super) fn over(samples: &[Sample], pick: impl Fn(&Sample) -> f64) -> Option<Estimate> {
    estimate(&samples.iter().map(pick).collect::<Vec<f64>>())
}

/// How much faster `samples` are than `base`, run by run with the same seeds: above 1 is better,
/// by whatever is measured. The ratio of the means, with its interval to first order.
pub(super) fn gain(samples: &[Sample], base: &[Sample], measure: Measure) -> Option<Estimate> {
    let (above, below) = match measure {
        Measure::Goodput => (samples, base),
        Measure::Completion | Measure::Exchange => (base, samples),
    };
    let value = |sample: &Sample| sample.measured(measure);
    let (mean_above, mean_below) = (over(above, value)?.mean, over(below, value)?.mean);
    let ratio = mean_above / mean_below;
    let pairs = above.iter().zip(below);
    let of_pair = |(one, other)| ratio + (value(one) - ratio * value(other)) / mean_below;
    estimate(&pairs.map(of_pair).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(goodput_mbit_s: f64, completion_ms: f64) -> Sample {
        Sample {
            goodput_mbit_s,
            completion_ms,
            exchange_ms: None,
            exchange_max_ms: None,
            segments: 1_000,
            acks: 400,
            retransmitted: 0,
            timeouts: 0,
            ack_air_percent: None,
            late_p99_us: None,
        }
    }

    #[test]
    fn a_gain_is_above_one_where_more_is_done_and_where_it_takes_less() {
        let (slow, fast) = ([sample(2.0, 90.0), sample(4.0, 60.0)], [sample(3.0, 60.0); 2]);
        let gain = |measure| super::gain(&fast, &slow, measure).expect("two runs").mean;
        assert!((gain(Measure::Goodput) - 1.0).abs() < 1e-12);
        assert!((gain(Measure::Completion) - 1.25).abs() < 1e-12);
        let twice = [sample(4.0, 45.0), sample(8.0, 30.0)];
        let sure = super::gain(&twice, &slow, Measure::Goodput).expect("two runs");
        assert_eq!((sure.mean, sure.std_dev), (2.0, Some(0.0)), "runs that go together");
        assert_eq!(fast[0].acks_per_segment(), 0.4);
    }
}
