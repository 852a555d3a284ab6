//! The delayed acknowledgment with a small fixed timeout, given or measured once.

use super::delayed::{COUNTS, Counted, DelayRule, EVERY, RFC_CEILING};
use super::{AckConfig, AckDecision, AckPolicy, Arrival, Carrier};
use ackord_units::{Knobs, Span, Time};

/// The timeout before anything is measured: the one the paper starts from (Windows' 200 ms).
const UNMEASURED: Span = Span::from_millis(200);

/// Delayed with a small fixed timeout, given or measured once
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "ack", name = "adaptive-static", source = "Lee et al. 2015 §4.3, §5.1")]
pub struct AdaptiveStaticConfig {
    /// How long an acknowledgment may wait; unused where gaps are measured
    #[knob(
        min = Span::from_micros(1), max = RFC_CEILING, default = "0.8 ms",
        source = "Lee et al. 2015 §4.3: 0.9 and 0.8 ms; phones 0.4 ms, congested 0.6 ms"
    )]
    timeout: Span,
    /// Take the mean of so many first gaps as the timeout; 200 ms until then
    #[knob(
        min = 1,
        max = 1_000_000,
        unit = "gaps",
        source = "Lee et al. 2015 §4.3 took ten, by hand"
    )]
    measure: Option<u64>,
    #[knob(like = EVERY)]
    every: u64,
    #[knob(like = COUNTS)]
    counts: Counted,
}

impl AckConfig for AdaptiveStaticConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        let policy = match self.measure {
            Some(gaps) => AdaptiveStatic::measured(self.every, gaps),
            None => AdaptiveStatic::given(self.every, self.timeout),
        };
        Box::new(policy.counting(self.counts))
    }
}

/// What Lee et al. 2015 §4.3 and §5.1 ran: the timeout is a value that was read off the gaps of an
/// earlier run (0.9 and 0.8 ms in the simulation, 0.4 and 0.6 ms on phones) and never changes.
///
/// With a count of gaps to measure, the policy does the reading itself: it is a 200 ms delayed
/// acknowledgment until so many gaps between data segments have passed, and from then on its
/// timeout is their mean.
#[derive(Clone, Copy, Debug)]
pub struct AdaptiveStatic {
    rule: DelayRule,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Measuring { gaps_left: u64, gaps: u64, first_at: Option<Time> },
    Fixed { timeout: Span },
}

impl AdaptiveStatic {
    /// A policy that waits for `every_segments` full-sized segments, but no longer than `timeout`.
    pub fn given(every_segments: u64, timeout: Span) -> AdaptiveStatic {
        AdaptiveStatic { rule: DelayRule::new(every_segments), phase: Phase::Fixed { timeout } }
    }

    /// As [`AdaptiveStatic::given`], with the mean of the first `gaps` gaps as the timeout.
    pub fn measured(every_segments: u64, gaps: u64) -> AdaptiveStatic {
        let phase = Phase::Measuring { gaps_left: gaps, gaps, first_at: None };
        AdaptiveStatic { rule: DelayRule::new(every_segments), phase }
    }

    /// The same with this way of counting segments.
    #[must_use]
    pub fn counting(self, counted: Counted) -> AdaptiveStatic {
        AdaptiveStatic { rule: self.rule.counting(counted), ..self }
    }

    fn measure(&mut self, now: Time) -> Span {
        match &mut self.phase {
            Phase::Fixed { timeout } => *timeout,
            Phase::Measuring { gaps_left, gaps, first_at } => {
                let Some(first) = *first_at else {
                    *first_at = Some(now);
                    return UNMEASURED;
                };
                *gaps_left -= 1;
                if *gaps_left > 0 {
                    return UNMEASURED;
                }
                let timeout = now.saturating_since(first) / *gaps;
                self.phase = Phase::Fixed { timeout };
                timeout
            }
        }
    }
}

impl AckPolicy for AdaptiveStatic {
    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        let timeout = self.measure(now);
        self.rule.decide(now, arrival, timeout)
    }

    fn on_ack_sent(&mut self, _now: Time, _carrier: Carrier) {
        self.rule.on_ack_sent();
    }

    fn ato(&self) -> Option<Span> {
        match self.phase {
            Phase::Fixed { timeout } => Some(timeout),
            Phase::Measuring { .. } => Some(UNMEASURED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, at_us};
    use super::*;

    /// Pairs of segments 0.89 ms apart, as a write of 1040 bytes leaves them on 5 Mbit/s: the
    /// one difference between the paper's two timeouts.
    fn acks_of_pairs(timeout: Span) -> usize {
        let mut bench = Bench::new(AdaptiveStatic::given(2, timeout));
        for pair in 0..100 {
            bench.arrive(at_us(pair * 8_320));
            bench.arrive(at_us(pair * 8_320 + 890));
        }
        bench.timer(at_us(10_000_000));
        bench.acks.len()
    }

    #[test]
    fn a_timeout_above_the_gap_still_joins_two_segments_and_one_below_it_does_not() {
        assert_eq!(acks_of_pairs(Span::from_micros(900)), 100);
        // The first of a pair by its timer, the second by its own, too late for the next pair.
        assert_eq!(acks_of_pairs(Span::from_micros(800)), 200);
    }

    #[test]
    fn the_measured_timeout_is_the_mean_of_the_first_gaps_and_stays() {
        let mut bench = Bench::new(AdaptiveStatic::measured(2, 10));
        assert_eq!(bench.policy.ato(), Some(UNMEASURED));
        for gap in 0..=10 {
            bench.arrive(at_us(gap * 900));
        }
        assert_eq!(bench.policy.ato(), Some(Span::from_micros(900)));
        bench.arrive(at_us(500_000));
        assert_eq!(bench.policy.ato(), Some(Span::from_micros(900)));
    }
}
