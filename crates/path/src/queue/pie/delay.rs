//! How long packets wait in PIE's queue (RFC 8033 §4.3, §5.2).

use crate::queue::Dequeued;
use ackord_units::{Bytes, Keyword, Span, Time};

/// Where the queueing delay comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum DelayEstimate {
    /// How long the packet that left last had waited; none once nothing waits.
    #[default]
    Timestamps,
    /// Bytes waiting over the rate at which they leave, measured while at least 16 KiB wait.
    DepartureRate,
}

/// The delay as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    estimate: DelayEstimate,
    last_waited: Span,
    /// The measurement under way: since when, and bytes that have left since.
    measuring: Option<(Time, u64)>,
    /// avg_dq_time: how long [`THRESHOLD`] bytes take to leave, in seconds.
    threshold_secs: Option<f64>,
}

/// DQ_THRESHOLD.
const THRESHOLD: u64 = 16_384;
/// The newest measurement's share in the average: THRESHOLD / 2^16.
const WEIGHT: f64 = 0.25;

impl Delay {
    pub(super) fn new(estimate: DelayEstimate) -> Delay {
        Delay { estimate, last_waited: Span::ZERO, measuring: None, threshold_secs: None }
    }

    /// The delay while so many bytes wait.
    pub(super) fn current(&self, waiting: Bytes) -> Span {
        if waiting == Bytes(0) {
            return Span::ZERO;
        }
        match (self.estimate, self.threshold_secs) {
            (DelayEstimate::Timestamps, _) => self.last_waited,
            (DelayEstimate::DepartureRate, None) => Span::ZERO,
            (DelayEstimate::DepartureRate, Some(secs)) => {
                Span::from_secs_f64(waiting.get() as f64 * secs / THRESHOLD as f64)
            }
        }
    }

    /// A packet has left a queue in which, with it, `before` bytes waited.
    pub(super) fn departed(&mut self, now: Time, packet: Dequeued, before: Bytes) {
        self.last_waited = packet.waited;
        if self.estimate == DelayEstimate::Timestamps {
            return;
        }
        let enough = before.get() >= THRESHOLD;
        let Some((since, bytes)) = self.measuring else {
            self.measuring = enough.then_some((now, 0));
            return;
        };
        // The packet leaves when the one before it is out: bytes count from the second on.
        let bytes = bytes + u64::from(packet.slot.ip_len);
        if bytes < THRESHOLD {
            self.measuring = Some((since, bytes));
            return;
        }
        let took = now.saturating_since(since).as_secs_f64() * THRESHOLD as f64 / bytes as f64;
        self.threshold_secs = Some(match self.threshold_secs {
            None => took,
            Some(average) => average + WEIGHT * (took - average),
        });
        self.measuring = enough.then_some((now, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::{Packets, Slot};
    use crate::queue::testing::packet;

    fn slot() -> Slot {
        Packets::default().insert(&packet(1_500))
    }

    /// Packets of 1500 B leave 12 ms apart, as on 1 Mbit/s, from a queue of so many bytes.
    fn depart(delay: &mut Delay, from: u64, packets: u64, before: u64) {
        for n in from..from + packets {
            let dequeued = Dequeued { slot: slot(), waited: Span::from_millis(n) };
            delay.departed(Time::ZERO + Span::from_millis(12 * n), dequeued, Bytes(before));
        }
    }

    #[test]
    fn the_rate_is_measured_over_sixteen_kibibytes() {
        let mut delay = Delay::new(DelayEstimate::DepartureRate);
        // The first departure begins it; eleven more are 16500 B in 132 ms.
        depart(&mut delay, 0, 11, 60_000);
        assert_eq!(delay.current(Bytes(30_000)), Span::ZERO, "not known yet");
        depart(&mut delay, 11, 1, 60_000);
        // 30000 B at 1 Mbit/s.
        assert_eq!(delay.current(Bytes(30_000)), Span::from_millis(240));
    }

    #[test]
    fn a_short_queue_is_not_measured() {
        let mut delay = Delay::new(DelayEstimate::DepartureRate);
        depart(&mut delay, 0, 50, THRESHOLD - 1);
        assert_eq!(delay.current(Bytes(15_000)), Span::ZERO);
    }

    #[test]
    fn a_quarter_of_a_new_measurement_counts() {
        let mut delay = Delay::new(DelayEstimate::DepartureRate);
        depart(&mut delay, 0, 12, 60_000);
        // The next measurement began with the last departure; at half the rate.
        for n in 1..=11 {
            let dequeued = Dequeued { slot: slot(), waited: Span::ZERO };
            delay.departed(Time::ZERO + Span::from_millis(132 + 24 * n), dequeued, Bytes(60_000));
        }
        assert_eq!(delay.current(Bytes(30_000)), Span::from_millis(300), "240 + (480 - 240) / 4");
    }

    #[test]
    fn by_time_stamps_it_is_the_last_packets_wait_and_none_once_nothing_waits() {
        let mut delay = Delay::new(DelayEstimate::Timestamps);
        depart(&mut delay, 7, 1, 3_000);
        assert_eq!(delay.current(Bytes(1_500)), Span::from_millis(7));
        assert_eq!(delay.current(Bytes(0)), Span::ZERO);
    }
}
