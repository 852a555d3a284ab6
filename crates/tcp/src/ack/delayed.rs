//! The delayed acknowledgment of RFC 1122 §4.2.3.2 and RFC 5681 §4.2 with a fixed timeout.

use super::{AckDecision, AckPolicy, Arrival, Carrier, Order};
use ackord_units::{Span, Time};

/// Acknowledges every `every`-th full-sized segment, or `timeout` after the first one that waits.
#[derive(Clone, Copy, Debug)]
pub struct Delayed {
    timeout: Span,
    rule: DelayRule,
}

/// The rule with the timeout left open: who uses it says at each segment how long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayRule {
    every_segments: u64,
    /// When the oldest unacknowledged segment must be acknowledged.
    due_at: Option<Time>,
}

impl Delayed {
    /// A policy that waits for `every_segments` full-sized segments, but no longer than `timeout`.
    pub fn new(every_segments: u64, timeout: Span) -> Delayed {
        Delayed { timeout, rule: DelayRule::new(every_segments) }
    }
}

impl AckPolicy for Delayed {
    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        self.rule.decide(now, arrival, self.timeout)
    }

    fn on_ack_sent(&mut self, _now: Time, _carrier: Carrier) {
        self.rule.on_ack_sent();
    }
}

impl DelayRule {
    pub(super) fn new(every_segments: u64) -> DelayRule {
        DelayRule { every_segments, due_at: None }
    }

    /// The decision for a segment; the first one that waits may wait for `timeout`, and those
    /// after it do not extend the wait.
    pub(super) fn decide(
        &mut self,
        now: Time,
        arrival: &Arrival<'_>,
        timeout: Span,
    ) -> AckDecision {
        // RFC 5681 §4.2: at once for out-of-order segments and for those that fill a gap.
        let waits = arrival.order == Order::InOrder
            && arrival.unacknowledged.get() < self.every_segments * arrival.full_size.get();
        if !waits {
            return AckDecision::Now;
        }
        AckDecision::NoLaterThan(*self.due_at.get_or_insert(now + timeout))
    }

    /// When the acknowledgment that waits must leave.
    pub(super) fn due_at(&self) -> Option<Time> {
        self.due_at
    }

    pub(super) fn on_ack_sent(&mut self) {
        self.due_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Fit, at_ms as at};
    use super::*;

    fn due(millis: u64) -> AckDecision {
        AckDecision::NoLaterThan(at(millis))
    }

    #[test]
    fn a_lone_segment_waits_and_a_later_short_one_does_not_extend_the_wait() {
        let mut policy = Delayed::new(2, Span::from_millis(200));
        assert_eq!(Fit::in_order(1000).ask(&mut policy, at(0)), due(200));
        assert_eq!(Fit::in_order(1100).ask(&mut policy, at(50)), due(200));
    }

    #[test]
    fn the_second_full_segment_is_acknowledged_at_once() {
        let mut policy = Delayed::new(2, Span::from_millis(200));
        Fit::in_order(1000).ask(&mut policy, at(0));
        assert_eq!(Fit::in_order(2000).ask(&mut policy, at(1)), AckDecision::Now);
    }

    #[test]
    fn gaps_duplicates_and_the_end_are_acknowledged_at_once() {
        for order in [Order::OutOfOrder, Order::FillsGap, Order::Duplicate, Order::Final] {
            let mut policy = Delayed::new(2, Span::from_millis(200));
            let fit = Fit { order, ..Fit::in_order(1000) };
            assert_eq!(fit.ask(&mut policy, at(0)), AckDecision::Now);
        }
    }
}
