//! The delayed acknowledgment of RFC 1122 §4.2.3.2 and RFC 5681 §4.2 with a fixed timeout.

use super::{AckDecision, AckPolicy, Arrival, Order};
use ackord_units::{Span, Time};

/// Acknowledges every `every`-th full-sized segment, or `timeout` after the first one that waits.
#[derive(Clone, Copy, Debug)]
pub struct Delayed {
    every_segments: u64,
    timeout: Span,
    /// When the oldest unacknowledged segment must be acknowledged.
    due_at: Option<Time>,
}

impl Delayed {
    /// A policy that waits for `every_segments` full-sized segments, but no longer than `timeout`.
    pub fn new(every_segments: u64, timeout: Span) -> Delayed {
        Delayed { every_segments, timeout, due_at: None }
    }
}

impl AckPolicy for Delayed {
    fn on_segment(&mut self, now: Time, arrival: &Arrival) -> AckDecision {
        // RFC 5681 §4.2: at once for out-of-order segments and for those that fill a gap.
        let waits = arrival.order == Order::InOrder
            && arrival.unacknowledged.get() < self.every_segments * arrival.full_size.get();
        if !waits {
            return AckDecision::Now;
        }
        let due_at = *self.due_at.get_or_insert(now + self.timeout);
        AckDecision::NoLaterThan(due_at)
    }

    fn on_ack_sent(&mut self, _now: Time) {
        self.due_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Bytes;

    fn arrival(unacknowledged: u64, order: Order) -> Arrival {
        let full_size = Bytes(1000);
        Arrival { payload: full_size, full_size, unacknowledged: Bytes(unacknowledged), order }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_lone_segment_waits_and_a_later_short_one_does_not_extend_the_wait() {
        let mut policy = Delayed::new(2, Span::from_millis(200));
        let due = AckDecision::NoLaterThan(at(200));
        assert_eq!(policy.on_segment(at(0), &arrival(1000, Order::InOrder)), due);
        assert_eq!(policy.on_segment(at(50), &arrival(1100, Order::InOrder)), due);
    }

    #[test]
    fn the_second_full_segment_is_acknowledged_at_once() {
        let mut policy = Delayed::new(2, Span::from_millis(200));
        policy.on_segment(at(0), &arrival(1000, Order::InOrder));
        assert_eq!(policy.on_segment(at(1), &arrival(2000, Order::InOrder)), AckDecision::Now);
    }

    #[test]
    fn gaps_duplicates_and_the_end_are_acknowledged_at_once() {
        for order in [Order::OutOfOrder, Order::FillsGap, Order::Duplicate, Order::Final] {
            let mut policy = Delayed::new(2, Span::from_millis(200));
            assert_eq!(policy.on_segment(at(0), &arrival(1000, order)), AckDecision::Now);
        }
    }
}
