//! What is taken from each run, and figures over the runs of one set-up.
//!
//! Rates are payload delivered over the whole run, with the 40 header bytes of each packet put back:
//! the paper's rates add up to the rate of its links, which payload alone cannot.

use crate::cells::{Figure, Runs, over};
use ackord_events::DropReason;
use ackord_measure::stats::{Estimate, min_max_percent};
use ackord_measure::{FlowSummary, Trace};
use ackord_study::{Job, RunOutcome};
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

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) sample: Sample,
    /// cwnd in bytes of each flow, for runs whose series were kept.
    pub(super) cwnd: Vec<Trace>,
}

impl Run {
    pub(super) fn of(job: &Job, outcome: RunOutcome) -> Run {
        let run = &outcome.summary;
        let flow = |name: &str| run.flows.iter().find(|flow| flow.name == name);
        let sample = |flow| FlowSample::of(flow, run.duration_s);
        // The bottleneck stands first in every file, its forward direction before its reverse.
        let (link, queue) = (&run.links[0], &run.queues[0]);
        debug_assert_eq!(job.scenario.links[0].name, "bottleneck");
        let passed = "packets have passed the bottleneck";
        let sample = Sample {
            reno: flow("reno").map(sample).expect("every file has a Reno flow"),
            vegas: flow("vegas").map(sample),
            utilisation_percent: 100.0 * link.utilisation.expect("links have rates"),
            queue_mean_ms: queue.mean_delay_ms.expect(passed),
            queue_p99_ms: queue.p99_delay_ms.expect(passed),
            dropped_over_share: queue.drops.of(DropReason::OverShare),
            dropped_queue_full: queue.drops.of(DropReason::QueueFull),
        };
        let flows = outcome.series.map_or_else(Vec::new, |series| series.flows);
        Run { sample, cwnd: flows.into_iter().map(|flow| flow.cwnd).collect() }
    }
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
            fast_recoveries: flow.recovery.fast_recoveries,
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
        self.vegas_of(|vegas| vegas.kbit_s)
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

/// Of set-ups that are run once with both flows at once, and then with random start times.
impl Runs<Run> {
    pub(super) fn at_once(&self) -> &Sample {
        &self.0[0].sample
    }

    /// Mean and interval over the random start times.
    pub(super) fn random<F: Figure>(&self, pick: impl Fn(&Sample) -> F) -> Estimate {
        let random = self.0[1..].iter();
        over(&random.map(|run| pick(&run.sample).figure()).collect::<Vec<_>>())
    }

    pub(super) fn fairness(&self) -> Estimate {
        self.random(Sample::fairness_percent)
    }

    pub(super) fn used_percent(&self) -> Estimate {
        self.random(|sample| sample.utilisation_percent)
    }

    pub(super) fn is_full(&self) -> bool {
        self.at_once().utilisation_percent >= super::setup::FULL_PERCENT
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
pub(super) fn runs(at_once: Sample, random: &[Sample]) -> Runs<Run> {
    let all = std::iter::once(&at_once).chain(random);
    Runs(all.map(|sample| Run { sample: *sample, cwnd: Vec::new() }).collect())
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
