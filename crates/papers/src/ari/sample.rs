//! What is taken from each run, and figures over the runs of one set-up.

use crate::cells::{Figure, Runs, over, pairs};
use ackord_measure::stats::{Estimate, mean, median};
use ackord_measure::{LinkSummary, Ranking};
use ackord_study::RunOutcome;

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    /// Times of its transfers or exchanges, seconds; one that did not end before the run did
    /// counts with the time until then.
    pub(super) took_s: Vec<f64>,
    /// Bytes of each over its time, Mbit/s.
    pub(super) rate_mbit_s: Vec<f64>,
    /// From the flow's start to its last byte, or to the end of the run.
    pub(super) lasted_s: f64,
    pub(super) goodput_mbit_s: f64,
    /// Packets of the flow's sender.
    pub(super) segments: u64,
    /// Pure acknowledgments of the receiver.
    pub(super) acks: u64,
    pub(super) retransmitted: u64,
    pub(super) timeouts: u64,
    /// Packets waiting at the access point for the air, averaged over the run.
    pub(super) queue_packets: f64,
    /// Airtime of what goes from the access point to the phone.
    pub(super) down_air_s: f64,
    /// Airtime of what the phone sends.
    pub(super) up_air_s: f64,
}

impl Sample {
    pub(super) fn of(outcome: &RunOutcome) -> Sample {
        let run = &outcome.summary;
        let flow = &run.flows[0];
        let each = flow.transfers.iter().flat_map(|transfers| &transfers.each);
        let mut took_s: Vec<f64> = each.clone().map(|each| each.took_s).collect();
        let mut rate_mbit_s: Vec<f64> = each.map(|each| each.rate_bit_s() / 1e6).collect();
        if flow.transfers.as_ref().is_some_and(|transfers| transfers.began > transfers.completed) {
            took_s.push(run.duration_s);
            rate_mbit_s.push(0.0);
        }
        let link = |name: &str| run.links.iter().find(|link| link.name == name);
        let air = |link: Option<&LinkSummary>| {
            link.and_then(|link| link.medium).map_or(0.0, |medium| medium.airtime_s)
        };
        let queue = run.queues.iter().find(|queue| queue.link == "air");
        Sample {
            took_s,
            rate_mbit_s,
            lasted_s: flow.completion_s.unwrap_or(run.duration_s - flow.started_s),
            goodput_mbit_s: flow.goodput_bit_s / 1e6,
            segments: flow.segments_sent,
            acks: flow.acks_sent,
            retransmitted: flow.retransmitted_segments,
            timeouts: flow.timeouts,
            queue_packets: queue.map_or(0.0, |queue| queue.mean_length_packets),
            down_air_s: air(link("air")),
            up_air_s: air(link("air.reverse")),
        }
    }

    /// The time of its first (in most files, only) transfer.
    pub(super) fn time_s(&self) -> f64 {
        self.took_s.first().copied().figure()
    }

    /// The mean time of its exchanges.
    pub(super) fn mean_time_s(&self) -> f64 {
        mean(&self.took_s).figure()
    }

    pub(super) fn first_rate_mbit_s(&self) -> f64 {
        self.rate_mbit_s.first().copied().figure()
    }

    /// The median time of its exchanges.
    pub(super) fn median_time_s(&self) -> f64 {
        median(&self.took_s).figure()
    }

    pub(super) fn air_s(&self) -> f64 {
        self.down_air_s + self.up_air_s
    }

    /// Share of the transfer's time in which the phone or the access point had the air, percent.
    pub(super) fn air_percent(&self) -> f64 {
        100.0 * self.air_s() / self.lasted_s
    }
}

impl Runs<Sample> {
    /// Mean acknowledgments of a run.
    pub(super) fn acks(&self) -> f64 {
        self.mean(|run| run.acks).mean
    }

    /// Quantiles of the times of every transfer of every run, seconds.
    pub(super) fn times(&self) -> Ranking {
        let times: Vec<f64> = self.0.iter().flat_map(|run| run.took_s.iter().copied()).collect();
        Ranking::of(&times).expect("every run has a transfer")
    }

    /// The mean of a time in seconds, in milliseconds.
    pub(super) fn mean_ms(&self, pick: impl Fn(&Sample) -> f64) -> Estimate {
        self.mean(pick).times(1e3)
    }

    /// How much larger the mean is than that of `base`, in percent, with the interval of the
    /// differences run by run: both have the same seeds.
    pub(super) fn change_percent<F: Figure>(
        &self,
        base: &Runs<Sample>,
        pick: impl Fn(&Sample) -> F,
    ) -> Estimate {
        let mean = base.mean(&pick).mean;
        let percent = |run, base| 100.0 * (run - base) / mean;
        over(&pairs(&self.each(&pick), &base.each(&pick), percent))
    }

    /// The slowest of each `batch` runs over the median of all, as rates; mean and interval over
    /// the batches.
    pub(super) fn slowest_over_median(&self, batch: u32) -> Estimate {
        let rates = self.each(Sample::first_rate_mbit_s);
        let median = Ranking::of(&rates).expect("runs").p50;
        let worst = |batch: &[f64]| batch.iter().copied().fold(f64::INFINITY, f64::min) / median;
        over(&rates.chunks(batch as usize).map(worst).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(time_s: f64) -> Sample {
        Sample {
            took_s: vec![time_s],
            rate_mbit_s: vec![8.0 / time_s],
            lasted_s: time_s,
            goodput_mbit_s: 8.0 / time_s,
            segments: 2_000,
            acks: 1_000,
            retransmitted: 0,
            timeouts: 0,
            queue_packets: 150.0,
            down_air_s: time_s * 0.6,
            up_air_s: time_s * 0.2,
        }
    }

    #[test]
    fn changes_are_taken_run_by_run() {
        let base = Runs(vec![sample(1.0), sample(3.0)]);
        let half = Runs(vec![sample(0.5), sample(2.5)]);
        let change = half.change_percent(&base, Sample::time_s);
        assert_eq!((change.mean, change.ci95), (-25.0, Some(0.0)));
    }

    #[test]
    fn the_slowest_of_a_batch_is_held_against_the_median_of_all() {
        let runs = Runs([1.0, 1.0, 2.0, 1.0, 1.0, 4.0].map(sample).to_vec());
        let worst = runs.slowest_over_median(3);
        assert_eq!((worst.mean, worst.runs), (0.375, 2));
    }
}
