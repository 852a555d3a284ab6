//! The delayed acknowledgment of RFC 1122 §4.2.3.2 and RFC 5681 §4.2 with a fixed timeout.

use super::{AckConfig, AckDecision, AckPolicy, Arrival, Carrier, Order};
use ackord_units::{Keyword, Knob, KnobKind, Knobs, Span, Time};

/// RFC 5681 §4.2: no acknowledgment waits longer.
pub(super) const RFC_CEILING: Span = Span::from_millis(500);

pub(super) const TIMEOUT: Knob = Knob {
    name: "timeout",
    kind: KnobKind::Span { min: Span::from_micros(1), max: RFC_CEILING },
    default: "200 ms",
    doc: "How long an acknowledgment may wait",
    source: "RFC 5681 §4.2 (at most 500 ms)",
};

pub(super) const EVERY: Knob = Knob {
    name: "every",
    kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
    default: "2",
    doc: "Full-sized segments that are acknowledged at once",
    source: "RFC 5681 §4.2",
};

pub(super) const COUNTS: Knob = Knob {
    name: "counts",
    kind: KnobKind::Choice(Counted::WORDS),
    default: "full-sized",
    doc: "What `every` counts: a full-sized segment's worth of bytes, or any data segment",
    source: "RFC 5681 §4.2; any: ns-3's DelAckCount, Lee et al. 2015 §2.1",
};

/// Every second full-sized segment, or after a fixed time
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "ack", name = "delayed", source = "RFC 1122 §4.2.3.2, RFC 5681 §4.2")]
pub struct DelayedConfig {
    #[knob(flatten)]
    rule: DelayKnobs,
}

/// The delayed acknowledgment's knobs, which others have too.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
pub struct DelayKnobs {
    #[knob(like = TIMEOUT)]
    timeout: Span,
    #[knob(like = EVERY)]
    every: u64,
    #[knob(like = COUNTS)]
    counts: Counted,
}

impl DelayKnobs {
    pub(super) fn policy(&self) -> Delayed {
        Delayed::new(self.every, self.timeout).counting(self.counts)
    }
}

impl AckConfig for DelayedConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        Box::new(self.rule.policy())
    }
}

/// Acknowledges every `every`-th full-sized segment, or `timeout` after the first one that waits.
#[derive(Clone, Copy, Debug)]
pub struct Delayed {
    timeout: Span,
    rule: DelayRule,
}

/// What counts as a segment when every `every`-th one is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum Counted {
    /// A full-sized segment's worth of bytes (RFC 5681 §4.2).
    #[default]
    FullSized,
    /// Any data segment, as in ns-3 and in the papers simulated with it.
    Any,
}

/// The rule with the timeout left open: who uses it says at each segment how long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayRule {
    every_segments: u64,
    counted: Counted,
    /// Segments that no acknowledgment has covered, whatever their size.
    waiting_segments: u64,
    /// When the oldest unacknowledged segment must be acknowledged.
    due_at: Option<Time>,
}

impl Delayed {
    /// A policy that waits for `every_segments` full-sized segments, but no longer than `timeout`.
    pub fn new(every_segments: u64, timeout: Span) -> Delayed {
        Delayed { timeout, rule: DelayRule::new(every_segments) }
    }

    /// The same with this way of counting.
    #[must_use]
    pub fn counting(self, counted: Counted) -> Delayed {
        Delayed { rule: self.rule.counting(counted), ..self }
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
        let counted = Counted::default();
        DelayRule { every_segments, counted, waiting_segments: 0, due_at: None }
    }

    pub(super) fn counting(self, counted: Counted) -> DelayRule {
        DelayRule { counted, ..self }
    }

    /// The decision for a segment; the first one that waits may wait for `timeout`, and those
    /// after it do not extend the wait.
    pub(super) fn decide(
        &mut self,
        now: Time,
        arrival: &Arrival<'_>,
        timeout: Span,
    ) -> AckDecision {
        // RFC 5681 §4.2: at once for out-of-order segments, which a partial duplicate is too, and for those that fill
        // a gap.
        self.waiting_segments += 1;
        let enough = match self.counted {
            Counted::FullSized => {
                arrival.unacknowledged.get() >= self.every_segments * arrival.full_size.get()
            }
            Counted::Any => self.waiting_segments >= self.every_segments,
        };
        let waits = arrival.order == Order::InOrder && !enough;
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
        self.waiting_segments = 0;
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
    fn two_short_segments_make_an_acknowledgment_only_where_any_segment_counts() {
        let second_is_due_now = |counted| {
            let mut policy = Delayed::new(2, Span::from_millis(200)).counting(counted);
            let decide = |policy: &mut Delayed, bytes| Fit::in_order(bytes).ask(policy, at(0));
            decide(&mut policy, 536);
            let second = decide(&mut policy, 1_040);
            policy.on_ack_sent(at(0), Carrier::PureAck);
            assert_eq!(decide(&mut policy, 536), due(200), "the count begins anew");
            second == AckDecision::Now
        };
        assert!(!second_is_due_now(Counted::FullSized));
        assert!(second_is_due_now(Counted::Any));
    }

    #[test]
    fn gaps_duplicates_and_the_end_are_acknowledged_at_once() {
        for order in
            [Order::OutOfOrder, Order::Overlapping, Order::FillsGap, Order::Duplicate, Order::Final]
        {
            let mut policy = Delayed::new(2, Span::from_millis(200));
            let fit = Fit { order, ..Fit::in_order(1000) };
            assert_eq!(fit.ask(&mut policy, at(0)), AckDecision::Now);
        }
    }
}
