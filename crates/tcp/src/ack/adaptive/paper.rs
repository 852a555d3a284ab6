//! The adaptive delayed acknowledgment as published.

use super::super::delayed::{Counted, DelayRule};
use super::super::{AckDecision, AckPolicy, Arrival, Carrier, Opening};
use super::average;
use ackord_units::{Span, Time};

/// Lee et al. 2015, Algorithm 1 to the letter. For each data segment
/// `M = now - pretime; pretime = now; ATO = (1-a) * ATO + a * M` (Eq. 1), then the delayed-ACK
/// rule with this ATO; `pretime` starts at the SYN.
///
/// Nothing bounds the ATO: after a long silence it is longer than the 500 ms that RFC 5681 §4.2
/// allows, as the paper says itself of large `a` (§3.2: up to 5 s).
#[derive(Clone, Copy, Debug)]
pub struct AdaptivePaper {
    a: f64,
    ato: Span,
    pretime: Option<Time>,
    rule: DelayRule,
}

impl AdaptivePaper {
    /// A policy with gain `a` (0 to 1; the paper's 0.1) that starts from `initial_ato` and waits
    /// for `every_segments` full-sized segments.
    pub fn new(a: f64, initial_ato: Span, every_segments: u64) -> AdaptivePaper {
        let rule = DelayRule::new(every_segments);
        AdaptivePaper { a, ato: initial_ato, pretime: None, rule }
    }

    /// The same with this way of counting segments.
    #[must_use]
    pub fn counting(self, counted: Counted) -> AdaptivePaper {
        AdaptivePaper { rule: self.rule.counting(counted), ..self }
    }
}

impl AckPolicy for AdaptivePaper {
    fn on_open(&mut self, now: Time, _opening: &Opening) {
        self.pretime = Some(now);
    }

    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        let pretime = self.pretime.replace(now).unwrap_or(now);
        self.ato = average(self.a, self.ato, now.saturating_since(pretime));
        self.rule.decide(now, arrival, self.ato)
    }

    fn on_ack_sent(&mut self, _now: Time, _carrier: Carrier) {
        self.rule.on_ack_sent();
    }

    fn ato(&self) -> Option<Span> {
        Some(self.ato)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{Bench, Fit, at_ms};
    use super::*;

    fn opened() -> AdaptivePaper {
        let mut policy = AdaptivePaper::new(0.1, Span::from_millis(200), 2);
        policy.on_open(at_ms(0), &Opening { sack: true });
        policy
    }

    #[test]
    fn the_first_gap_counts_from_the_syn() {
        let mut policy = opened();
        // ATO = 0.9 * 200 + 0.1 * 100 = 190 ms.
        let decision = Fit::in_order(1000).ask(&mut policy, at_ms(100));
        assert_eq!(policy.ato(), Some(Span::from_millis(190)));
        assert_eq!(decision, AckDecision::NoLaterThan(at_ms(290)));
    }

    #[test]
    fn the_timeout_converges_to_the_gap_from_above() {
        let mut bench = Bench::new(opened());
        for number in 1..=100 {
            bench.arrive(at_ms(number * 10));
        }
        // What is left of the first 200 ms: 0.9^100 of 190 ms, less than a hundredth.
        let ato = bench.policy.ato().expect("adaptive");
        assert!(ato >= Span::from_millis(10) && ato < Span::from_micros(10_010), "{ato}");
        assert_eq!(bench.acks.len(), 50, "from above, each second segment still comes in time");
    }

    /// Lee et al. 2015 §3.2: a large `a` follows each gap, up to 5 s.
    #[test]
    fn nothing_bounds_it_and_a_silence_of_seconds_exceeds_what_the_rfc_allows() {
        let mut policy = AdaptivePaper::new(1.0, Span::from_millis(200), 2);
        policy.on_open(at_ms(0), &Opening { sack: true });
        let decision = Fit::in_order(1000).ask(&mut policy, at_ms(5_000));
        assert_eq!(decision, AckDecision::NoLaterThan(at_ms(10_000)));
    }
}
