//! Throughput per interval of fixed length.

use super::{Point, Trace};
use ackord_units::{Bytes, Span, Time};

/// Adds up bytes by interval. Bytes told late still count where they belong.
#[derive(Clone, Debug)]
pub(super) struct RateBuilder {
    interval: Span,
    duration: Span,
    bytes: Vec<u64>,
    /// The interval that had bytes last, which most of the next ones belong to, and its beginning in nanoseconds.
    last: (usize, u64),
}

impl RateBuilder {
    pub(super) fn new(interval: Span, duration: Span) -> RateBuilder {
        let intervals = duration.as_nanos().div_ceil(interval.as_nanos());
        RateBuilder { interval, duration, bytes: vec![0; intervals as usize], last: (0, 0) }
    }

    /// Takes bytes that went by at `at`. What comes after the planned end is not shown.
    #[inline]
    pub(super) fn add(&mut self, at: Time, bytes: Bytes) {
        let interval = self.interval.as_nanos();
        if at.as_nanos().wrapping_sub(self.last.1) >= interval {
            let number = at.as_nanos() / interval;
            self.last = (number as usize, number * interval);
        }
        if let Some(sum) = self.bytes.get_mut(self.last.0) {
            *sum += bytes.get();
        }
    }

    /// The rate in bit/s of each interval that began before `ended_at`, at its start. The last one
    /// is divided by its own, shorter length.
    pub(super) fn finish(self, ended_at: Time) -> Trace {
        let ended_at = ended_at.min(Time::ZERO + self.duration);
        let mut points = Vec::with_capacity(self.bytes.len());
        for (number, bytes) in self.bytes.iter().enumerate() {
            let at = Time::ZERO + self.interval * number as u64;
            let length = ended_at.saturating_since(at).min(self.interval);
            if length == Span::ZERO {
                break;
            }
            points.push(Point { at, value: *bytes as f64 * 8.0 / length.as_secs_f64() });
        }
        Trace::exact(points)
    }
}

/// A round length (1, 2 or 5 times a power of ten nanoseconds) that cuts `duration` into 100 to
/// 250 intervals.
pub(super) fn round_interval(duration: Span) -> Span {
    let at_least = duration.as_nanos().div_ceil(250).max(1);
    let mut decade = 1u64;
    loop {
        for step in [1, 2, 5] {
            if decade.saturating_mul(step) >= at_least {
                return Span::from_nanos(decade.saturating_mul(step));
            }
        }
        decade = decade.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_in_the_interval_of_their_own_time_even_when_told_late() {
        let mut rate = RateBuilder::new(Span::from_millis(100), Span::from_millis(250));
        for (millis, bytes) in [(120, 1_250), (99, 2_500), (240, 625), (900, 1)] {
            rate.add(Time::ZERO + Span::from_millis(millis), Bytes(bytes));
        }
        let trace = rate.finish(Time::ZERO + Span::from_millis(250));
        let values: Vec<_> = trace.points().iter().map(|point| point.value.round()).collect();
        // The last interval is 50 ms long.
        assert_eq!(values, [200_000.0, 100_000.0, 100_000.0]);
    }

    #[test]
    fn an_interrupted_run_shows_no_interval_it_did_not_reach() {
        let rate = RateBuilder::new(Span::from_millis(100), Span::from_secs(10));
        assert_eq!(rate.finish(Time::ZERO + Span::from_millis(150)).points().len(), 2);
    }

    #[test]
    fn intervals_are_round_and_there_are_a_hundred_or_more() {
        assert_eq!(round_interval(Span::from_secs(100)), Span::from_millis(500));
        assert_eq!(round_interval(Span::from_secs(20)), Span::from_millis(100));
        assert_eq!(round_interval(Span::ZERO), Span::from_nanos(1));
        for secs in 1..500 {
            let duration = Span::from_secs(secs);
            let intervals = duration.as_nanos() as f64 / round_interval(duration).as_nanos() as f64;
            assert!((100.0..=250.0).contains(&intervals), "{secs} s: {intervals}");
        }
    }
}
