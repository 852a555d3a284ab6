//! The loss detection of TCP Vegas (Brakmo and Peterson 1995 §3.1): on the first duplicate
//! acknowledgment, and on the first two new acknowledgments after a retransmission, the oldest
//! segment is lost if it has been out for longer than SRTT + 4 RTTVAR.

use super::{Doubt, LossDetector, LossVerdict};
use ackord_units::{Bytes, Time};

/// A fixed threshold with Vegas's fine-grained timeout beside it.
#[derive(Clone, Copy, Debug)]
pub struct VegasLoss {
    threshold: u32,
    /// New acknowledgments after a retransmission that are still to be looked at.
    checks_left: u8,
}

impl VegasLoss {
    /// A detector with this DupThresh.
    pub fn new(threshold: u32) -> VegasLoss {
        VegasLoss { threshold, checks_left: 0 }
    }

    fn overdue(now: Time, doubt: &Doubt) -> bool {
        doubt
            .fine_timeout
            .is_some_and(|timeout| now.saturating_since(doubt.oldest_sent_at) > timeout)
    }
}

impl LossDetector for VegasLoss {
    fn on_duplicate_ack(&mut self, now: Time, doubt: &Doubt) -> LossVerdict {
        if doubt.duplicate_acks >= self.threshold || Self::overdue(now, doubt) {
            LossVerdict::Lost
        } else {
            LossVerdict::NotYet { beyond_cwnd: Bytes::ZERO }
        }
    }

    fn on_new_ack(&mut self, now: Time, doubt: &Doubt) -> bool {
        let looked_at = self.checks_left > 0;
        self.checks_left = self.checks_left.saturating_sub(1);
        looked_at && Self::overdue(now, doubt)
    }

    fn on_retransmit(&mut self, _now: Time) {
        self.checks_left = 2;
    }

    fn duplicate_threshold(&self) -> u32 {
        self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Span;

    fn doubt(duplicate_acks: u32) -> Doubt {
        Doubt {
            duplicate_acks,
            sacked: Bytes::ZERO,
            mss: Bytes(1000),
            oldest_sent_at: Time::ZERO,
            fine_timeout: Some(Span::from_millis(50)),
        }
    }

    #[test]
    fn an_overdue_segment_is_lost_on_the_first_duplicate() {
        let mut vegas = VegasLoss::new(3);
        let early = Time::ZERO + Span::from_millis(50);
        let late = Time::ZERO + Span::from_millis(51);
        assert_ne!(vegas.on_duplicate_ack(early, &doubt(1)), LossVerdict::Lost);
        assert_eq!(vegas.on_duplicate_ack(late, &doubt(1)), LossVerdict::Lost);
    }

    #[test]
    fn only_the_first_two_new_acknowledgments_after_a_retransmission_are_looked_at() {
        let mut vegas = VegasLoss::new(3);
        let late = Time::ZERO + Span::from_millis(51);
        assert!(!vegas.on_new_ack(late, &doubt(0)));
        vegas.on_retransmit(late);
        assert!(vegas.on_new_ack(late, &doubt(0)));
        assert!(vegas.on_new_ack(late, &doubt(0)));
        assert!(!vegas.on_new_ack(late, &doubt(0)));
    }
}
