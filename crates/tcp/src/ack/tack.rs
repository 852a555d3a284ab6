//! TACK, the opposite answer: as few acknowledgments as the path allows (Li et al., SIGCOMM 2020).

use super::{AckConfig, AckDecision, AckPolicy, Arrival, Carrier, Opening, Order};
use ackord_units::{Bytes, Knobs, Span, Time};

/// Rounds over which the largest rate counts: Li et al. take the maximum over a few round trips.
const ROUNDS: usize = 10;
/// RFC 5681 §4.2: no acknowledgment waits longer, however slow the path.
const CEILING: Span = Span::from_millis(500);

/// As few as the path allows: by bytes, or a few times a round trip
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "ack",
    name = "tack",
    source = "Li et al. 2020 (TACK), Eq. 3; its sender is not here"
)]
pub struct TackConfig {
    /// L: full-sized segments for one acknowledgment, where the rate decides
    #[knob(
        name = "every",
        min = 1,
        max = 100,
        unit = "segments",
        default = "2",
        source = "Li et al. 2020 §4"
    )]
    pub every_segments: u64,
    /// beta: acknowledgments in a round trip, where the round-trip time decides
    #[knob(
        min = 1,
        max = 1_000,
        unit = "acknowledgments",
        default = "4",
        source = "Li et al. 2020 §4"
    )]
    pub per_rtt: u64,
}

impl AckConfig for TackConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        Box::new(Tack::new(*self))
    }
}

/// Acknowledges at the rate `f = min(bw / (L * MSS), beta / RTTmin)` (Eq. 3): by bytes on short or
/// slow paths, a few times a round trip on long and fast ones. What cannot wait (IACK) leaves at
/// once: out of order, filling a gap, received before, the end; the connection itself announces
/// windows that open.
///
/// RTTmin is the least of the handshake's sample and of the echoes of our timestamps; bw the most
/// that arrived in order in any of the last ten spans of RTTmin. Until both are known, everything
/// is acknowledged at once.
///
/// Of TACK's sender nothing is here: it paces instead of clocking itself by acknowledgments, has
/// its round-trip times corrected by the receiver, and is told of losses by number. An ordinary
/// sender behind this receiver sends in bursts and grows by fewer acknowledgments.
#[derive(Clone, Copy, Debug)]
pub struct Tack {
    knobs: TackConfig,
    last_ack_at: Time,
    rtt_min: Option<Span>,
    rate: ArrivalRate,
}

/// The largest count of bytes in a span of RTTmin.
#[derive(Clone, Copy, Debug)]
struct ArrivalRate {
    round_at: Option<Time>,
    round: Bytes,
    past: [(Bytes, Span); ROUNDS],
    next: usize,
}

impl Tack {
    /// The policy, knowing nothing of the path yet.
    pub fn new(knobs: TackConfig) -> Tack {
        let past = [(Bytes::ZERO, Span::ZERO); ROUNDS];
        let rate = ArrivalRate { round_at: None, round: Bytes::ZERO, past, next: 0 };
        Tack { knobs, last_ack_at: Time::ZERO, rtt_min: None, rate }
    }

    /// The time from one acknowledgment to the next: 1 / f.
    fn interval(&self, full_size: Bytes) -> Option<Span> {
        let rtt_min = self.rtt_min?;
        let by_bytes = self.rate.time_for(full_size * self.knobs.every_segments)?;
        Some(by_bytes.max(rtt_min / self.knobs.per_rtt).min(CEILING))
    }
}

impl ArrivalRate {
    fn on_data(&mut self, now: Time, bytes: Bytes, rtt_min: Span) {
        let round_at = *self.round_at.get_or_insert(now);
        let lasted = now.saturating_since(round_at);
        if lasted >= rtt_min && lasted > Span::ZERO {
            self.past[self.next] = (self.round, lasted);
            self.next = (self.next + 1) % ROUNDS;
            self.round_at = Some(now);
            self.round = Bytes::ZERO;
        }
        self.round += bytes;
    }

    /// How long `bytes` take at the largest rate.
    fn time_for(&self, bytes: Bytes) -> Option<Span> {
        let times = self.past.iter().filter(|(arrived, _)| *arrived > Bytes::ZERO);
        let nanos = times.map(|(arrived, lasted)| {
            u128::from(lasted.as_nanos()) * u128::from(bytes.get()) / u128::from(arrived.get())
        });
        nanos.min().map(|nanos| Span::from_nanos(nanos.min(u128::from(u64::MAX)) as u64))
    }
}

impl AckPolicy for Tack {
    fn on_open(&mut self, now: Time, _opening: &Opening) {
        self.last_ack_at = now;
    }

    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        let echoed = arrival.echo.and_then(|echo| echo.rtt(now));
        self.rtt_min = [self.rtt_min, arrival.rtt.min_rtt(), echoed].into_iter().flatten().min();
        if let Some(rtt_min) = self.rtt_min {
            self.rate.on_data(now, arrival.payload, rtt_min);
        }
        if arrival.order != Order::InOrder {
            return AckDecision::Now;
        }
        let Some(interval) = self.interval(arrival.full_size) else { return AckDecision::Now };
        // A lone segment after a silence is acknowledged at once: that exceeds no rate.
        let due_at = self.last_ack_at + interval;
        if due_at <= now { AckDecision::Now } else { AckDecision::NoLaterThan(due_at) }
    }

    fn on_ack_sent(&mut self, now: Time, _carrier: Carrier) {
        self.last_ack_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, Fit, at_ms, at_us};
    use super::*;

    fn bench() -> Bench<Tack> {
        Bench::new(Tack::new(TackConfig { every_segments: 2, per_rtt: 4 }))
    }

    /// Acknowledgments in the last second of five, at a segment of 1000 bytes every `gap`.
    fn acks_a_second(gap_us: u64) -> usize {
        let mut bench = bench();
        (0..5_000_000 / gap_us).for_each(|number| bench.arrive(at_us(number * gap_us)));
        bench.acks.iter().filter(|at| **at >= at_ms(4_000)).count()
    }

    /// Eq. 3 with L = 2, beta = 4 and RTTmin = 40 ms: at most 100 a second, and no more than one
    /// for two segments.
    #[test]
    fn the_rate_is_the_lesser_of_the_two() {
        let fast = acks_a_second(100);
        assert!((95..=101).contains(&fast), "{fast} of 10000 segments");
        // 20 ms apart: 50 segments a second, 25 acknowledgments.
        let slow = acks_a_second(20_000);
        assert!((24..=26).contains(&slow), "{slow} of 50 segments");
    }

    #[test]
    fn until_the_path_is_known_everything_is_acknowledged_at_once() {
        let mut bench = bench();
        (0..40).for_each(|millis| bench.arrive(at_ms(millis)));
        assert_eq!(bench.acks.len(), 40, "a first round of RTTmin");
    }

    #[test]
    fn what_cannot_wait_does_not() {
        let mut bench = bench();
        (0..400).for_each(|tenths| bench.arrive(at_us(tenths * 1_000)));
        for order in [Order::OutOfOrder, Order::FillsGap, Order::Duplicate, Order::Final] {
            let fit = Fit { order, ..Fit::in_order(1000) };
            assert_eq!(fit.ask(&mut bench.policy, at_ms(400)), AckDecision::Now, "{order:?}");
        }
    }

    #[test]
    fn a_lone_segment_after_a_silence_is_acknowledged_at_once() {
        let mut bench = bench();
        (0..400).for_each(|millis| bench.arrive(at_ms(millis)));
        bench.timer(at_ms(1_000));
        bench.arrive(at_ms(5_000));
        assert_eq!(bench.acks.last(), Some(&at_ms(5_000)));
    }
}
