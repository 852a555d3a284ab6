//! The average length of the queue (Floyd and Jacobson 1993 §5).
//!
//! While the queue is idle the average falls as if `m` packets of the mean length had found it
//! empty, `m` being what could have been sent in that time.

use ackord_units::{Span, Time};

/// An exponentially weighted average, updated when packets arrive.
#[derive(Clone, Debug)]
pub(super) struct Average {
    value: f64,
    weight: f64,
    /// s: how long a typical packet takes to be sent.
    packet_time: Span,
    /// Since when nothing waits and nothing is being sent; perhaps in the future.
    idle_since: Option<Time>,
}

impl Average {
    pub(super) fn new(weight: f64, packet_time: Span) -> Average {
        Average { value: 0.0, weight, packet_time, idle_since: Some(Time::ZERO) }
    }

    /// Takes over the settings of `fresh`, and keeps the average.
    pub(super) fn adopt(&mut self, fresh: &Average) {
        (self.weight, self.packet_time) = (fresh.weight, fresh.packet_time);
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// What it is at `now`, if no packet arrives.
    pub(super) fn at(&self, now: Time) -> f64 {
        let idle_for = self.idle_since.map_or(Span::ZERO, |since| now.saturating_since(since));
        let packet_nanos = self.packet_time.as_nanos().max(1);
        self.value * power(1.0 - self.weight, idle_for.as_nanos() / packet_nanos)
    }

    /// A packet arrives and finds so much waiting; whether it is taken is not known yet.
    pub(super) fn arrival(&mut self, now: Time, length: f64) {
        match self.idle_since {
            Some(since) if now > since => {
                self.value = self.at(now);
                self.idle_since = Some(now);
            }
            _ => self.value += self.weight * (length - self.value),
        }
    }

    /// The packet was taken: something waits.
    pub(super) fn busy(&mut self) {
        self.idle_since = None;
    }

    /// The last packet has left the queue and will be out at `at`.
    pub(super) fn idle_from(&mut self, at: Time) {
        self.idle_since = Some(at);
    }
}

/// `base^exponent` from products alone: the same bits on every machine.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_n_arrivals_at_one_length_the_average_is_what_the_paper_computes() {
        // 1993 §6: from zero, L packets at lengths 1 to L leave
        // L + 1 + ((1-w)^(L+1) - 1) / w.
        let weight = 0.002;
        let mut average = Average::new(weight, Span::from_millis(1));
        average.idle_since = None;
        for length in 1..=50 {
            average.arrival(Time::ZERO, f64::from(length));
        }
        let closed = 51.0 + (power(1.0 - weight, 51) - 1.0) / weight;
        assert!((average.value() - closed).abs() < 1e-9, "{} {closed}", average.value());
    }

    #[test]
    fn idle_time_counts_as_packets_that_could_have_been_sent() {
        let mut average = Average::new(0.5, Span::from_millis(2));
        average.busy();
        average.arrival(Time::ZERO + Span::from_nanos(2), 16.0);
        assert_eq!(average.value(), 8.0);
        let out_at = Time::ZERO + Span::from_millis(10);
        average.idle_from(out_at);
        // Three packets' time and a bit later: 8 * 0.5^3.
        assert_eq!(average.at(out_at + Span::from_millis(7)), 1.0);
        average.arrival(out_at + Span::from_millis(7), 0.0);
        assert_eq!(average.value(), 1.0);
        // That packet was refused, so the queue stays idle.
        average.arrival(out_at + Span::from_millis(9), 0.0);
        assert_eq!(average.value(), 0.5);
    }

    #[test]
    fn powers_are_right() {
        assert_eq!((power(0.5, 0), power(0.5, 10), power(3.0, 5)), (1.0, 1.0 / 1_024.0, 243.0));
    }
}
