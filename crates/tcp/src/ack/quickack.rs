//! The first few segments of a connection at once, then delayed acknowledgments.

use super::delayed::DelayKnobs;
use super::{AckConfig, AckDecision, AckPolicy, Arrival, Carrier, Delayed};
use ackord_units::{Knobs, Time};

/// The first few segments at once, then delayed
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "ack", name = "quickack", source = "Lee et al. 2015 §2.3, of Linux")]
pub struct QuickAckConfig {
    /// Data segments acknowledged at once at the start of the connection
    #[knob(
        min = 0,
        max = 1_000_000,
        unit = "segments",
        default = "2",
        source = "Lee et al. 2015 §2.3; Linux itself has 16 (see `linux`)"
    )]
    count: u64,
    #[knob(flatten)]
    after: DelayKnobs,
}

impl AckConfig for QuickAckConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        Box::new(QuickAck::new(self.count, self.after.policy()))
    }
}

/// Acknowledges the first `count` data segments at once and leaves the rest to [`Delayed`]: how
/// Lee et al. 2015 §2.3 and 2016 §2.2 describe Linux, with two segments. What Linux really does is
/// in [`LinuxAck`](super::LinuxAck).
#[derive(Clone, Copy, Debug)]
pub struct QuickAck {
    left_segments: u64,
    after: Delayed,
}

impl QuickAck {
    /// `count` segments at once, the later ones as `after` has it.
    pub fn new(count: u64, after: Delayed) -> QuickAck {
        QuickAck { left_segments: count, after }
    }
}

impl AckPolicy for QuickAck {
    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        if self.left_segments > 0 {
            self.left_segments -= 1;
            return AckDecision::Now;
        }
        self.after.on_segment(now, arrival)
    }

    fn on_ack_sent(&mut self, now: Time, carrier: Carrier) {
        self.after.on_ack_sent(now, carrier);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, at_ms};
    use super::*;
    use ackord_units::Span;

    /// Lee et al. 2015 §2.3: after the connection is set up, two segments are acknowledged without
    /// delay; then the acknowledgments are those of the delayed rule.
    #[test]
    fn two_segments_at_once_and_then_every_second() {
        let mut bench = Bench::new(QuickAck::new(2, Delayed::new(2, Span::from_millis(200))));
        for millis in 0..8 {
            bench.arrive(at_ms(millis));
        }
        assert_eq!(bench.acks, [0, 1, 3, 5, 7].map(at_ms));
    }

    #[test]
    fn a_lone_segment_after_them_waits_for_the_timer() {
        let mut bench = Bench::new(QuickAck::new(2, Delayed::new(2, Span::from_millis(200))));
        (0..3).for_each(|millis| bench.arrive(at_ms(millis)));
        bench.timer(at_ms(500));
        assert_eq!(bench.acks, [0, 1, 202].map(at_ms));
    }
}
