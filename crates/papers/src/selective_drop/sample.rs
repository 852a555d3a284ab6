//! What is kept of each run, and of the runs of one set-up.
//!
//! Rates are payload delivered over the whole run, with the 40 header bytes of each packet put back:
//! the paper's rates add up to the rate of its links, which payload alone cannot.

use super::setup::{Plan, Variation};
use crate::runs::{Job, run_all};
use crate::{PaperError, Watch};
use ackord_events::DropReason;
use ackord_measure::stats::{Estimate, estimate, min_max_percent};
use ackord_measure::{FlowSummary, QueueSummary, Trace};
use ackord_study::RunOutcome;
use serde::Serialize;

/// IP and TCP headers of every packet here.
const HEADER_BYTES: f64 = 40.0;
/// Payload of every packet here.
pub(super) const PAYLOAD_BYTES: f64 = 1_000.0;

/// One flow of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct FlowSample {
    /// Payload and headers delivered over the whole run.
    pub(super) kbit_s: f64,
    /// Payload alone.
    pub(super) goodput_kbit_s: f64,
    /// cwnd over time, in packets.
    pub(super) cwnd_mean_packets: f64,
    /// Packets on the way or queued: rate times mean round trip (Little's law).
    pub(super) in_flight_packets: f64,
    pub(super) timeouts: u64,
    pub(super) fast_recoveries: u64,
    pub(super) dropped_packets: u64,
}

/// A run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Sample {
    pub(super) reno: FlowSample,
    /// Absent where Reno is alone.
    pub(super) vegas: Option<FlowSample>,
    pub(super) utilisation_percent: f64,
    pub(super) queue_mean_ms: f64,
    pub(super) queue_p99_ms: f64,
    pub(super) dropped_over_share: u64,
    pub(super) dropped_queue_full: u64,
}

/// What is kept of a run.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) sample: Sample,
    /// cwnd in bytes of each flow, for runs whose series were kept.
    pub(super) cwnd: Vec<Trace>,
}

/// Every run of the plan, in its order.
#[derive(Clone, Debug)]
pub(super) struct Outcomes(pub(super) Vec<Outcome>);

/// The runs of one set-up.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// Both flows at once.
    pub(super) at_once: Sample,
    /// Random start times.
    pub(super) random: Vec<Sample>,
}

impl Outcomes {
    pub(super) fn of(plan: &Plan, watch: &Watch<'_>) -> Result<Outcomes, PaperError> {
        run_all(&plan.jobs, Outcome::of, watch).map(Outcomes)
    }

    pub(super) fn sample(&self, index: usize) -> Sample {
        self.0[index].sample
    }

    pub(super) fn shared(&self, variation: &Variation) -> Shared {
        Shared {
            at_once: self.sample(variation.at_once),
            random: variation.random.clone().map(|index| self.sample(index)).collect(),
        }
    }
}

impl Outcome {
    fn of(job: &Job, outcome: RunOutcome) -> Outcome {
        let run = &outcome.summary;
        let flow = |name: &str| run.flows.iter().find(|flow| flow.name == name);
        let sample = |flow| FlowSample::of(flow, run.duration_s);
        // The bottleneck stands first in every file, its forward direction before its reverse.
        let (link, queue) = (&run.links[0], &run.queues[0]);
        debug_assert_eq!(job.scenario.links[0].name, "bottleneck");
        let cwnd = outcome.series.map_or_else(Vec::new, |series| {
            series.flows.into_iter().map(|flow| flow.cwnd).collect()
        });
        let sample = Sample {
            reno: flow("reno").map(sample).expect("every file has a Reno flow"),
            vegas: flow("vegas").map(sample),
            utilisation_percent: 100.0 * link.utilisation.expect("links have rates"),
            queue_mean_ms: delay(queue, |queue| queue.mean_delay_ms),
            queue_p99_ms: delay(queue, |queue| queue.p99_delay_ms),
            dropped_over_share: queue.drops.of(DropReason::OverShare),
            dropped_queue_full: queue.drops.of(DropReason::QueueFull),
        };
        Outcome { sample, cwnd }
    }
}

fn delay(queue: &QueueSummary, pick: fn(&QueueSummary) -> Option<f64>) -> f64 {
    pick(queue).expect("packets have passed the bottleneck")
}

impl FlowSample {
    fn of(flow: &FlowSummary, duration_s: f64) -> FlowSample {
        let goodput_kbit_s = flow.bytes_delivered as f64 * 8.0 / duration_s / 1e3;
        let packets_s = goodput_kbit_s * 1e3 / (8.0 * PAYLOAD_BYTES);
        FlowSample {
            in_flight_packets: packets_s * flow.rtt.map_or(0.0, |rtt| rtt.mean_ms / 1e3),
            kbit_s: with_headers(goodput_kbit_s),
            goodput_kbit_s,
            cwnd_mean_packets: flow.cwnd_mean_bytes.unwrap_or(0.0) / PAYLOAD_BYTES,
            timeouts: flow.timeouts,
            fast_recoveries: flow.fast_recoveries,
            dropped_packets: flow.packets_dropped,
        }
    }
}

/// A rate of payload as a rate of whole packets.
pub(super) fn with_headers(goodput: f64) -> f64 {
    goodput * (PAYLOAD_BYTES + HEADER_BYTES) / PAYLOAD_BYTES
}

impl Sample {
    /// Vegas's part; nothing sent where Reno is alone.
    pub(super) fn vegas_kbit_s(&self) -> f64 {
        self.vegas.map_or(0.0, |vegas| vegas.kbit_s)
    }

    pub(super) fn total_kbit_s(&self) -> f64 {
        self.reno.kbit_s + self.vegas_kbit_s()
    }

    /// Smallest over largest rate (§2.3.1 of the paper).
    pub(super) fn fairness_percent(&self) -> f64 {
        min_max_percent(&[self.reno.kbit_s, self.vegas_kbit_s()]).unwrap_or(0.0)
    }

    pub(super) fn vegas_of(&self, pick: impl Fn(&FlowSample) -> f64) -> f64 {
        self.vegas.as_ref().map_or(0.0, pick)
    }
}

impl Shared {
    /// Mean and interval over the random start times.
    pub(super) fn random(&self, pick: impl Fn(&Sample) -> f64) -> Estimate {
        let values: Vec<f64> = self.random.iter().map(pick).collect();
        estimate(&values).expect("at least one random start is planned")
    }

    pub(super) fn fairness(&self) -> Estimate {
        self.random(Sample::fairness_percent)
    }

    /// Mean of a count over the random start times.
    pub(super) fn mean_count(&self, pick: impl Fn(&Sample) -> u64) -> f64 {
        self.random(|sample| pick(sample) as f64).mean
    }
}

#[cfg(test)]
pub(super) fn sample(reno_kbit_s: f64, vegas_kbit_s: f64) -> Sample {
    let flow = |kbit_s| FlowSample {
        kbit_s,
        goodput_kbit_s: kbit_s / 1.04,
        cwnd_mean_packets: 4.0,
        in_flight_packets: 3.5,
        timeouts: 1,
        fast_recoveries: 10,
        dropped_packets: 12,
    };
    Sample {
        reno: flow(reno_kbit_s),
        vegas: Some(flow(vegas_kbit_s)),
        utilisation_percent: 100.0,
        queue_mean_ms: 20.0,
        queue_p99_ms: 30.0,
        dropped_over_share: 12,
        dropped_queue_full: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_the_smaller_over_the_larger_whoever_it_is() {
        assert_eq!(sample(100.0, 50.0).fairness_percent(), 50.0);
        assert_eq!(sample(50.0, 100.0).fairness_percent(), 50.0);
        assert_eq!(sample(70.0, 70.0).fairness_percent(), 100.0);
    }

    #[test]
    fn a_packet_is_payload_and_forty_bytes() {
        assert!((with_headers(1_000.0) - 1_040.0).abs() < 1e-9);
    }
}
