//! The loss detection of TCP Vegas (Brakmo and Peterson 1995 §3.1): on the first duplicate
//! acknowledgment, and on the first two new acknowledgments after a retransmission, the oldest
//! segment is lost if it has been out for longer than SRTT + 4 RTTVAR.

use super::fixed::DUP_THRESH_KNOB;
use super::{DetectorView, LossConfig, LossDetector, LossEvent, LossFacts, LossVerdict};
use ackord_events::RecoveryKind;
use ackord_units::{Bytes, Knobs, Time};

/// A fixed threshold, and a fine-grained timeout looked at on duplicate acknowledgments
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "vegas", source = "Brakmo and Peterson 1995 §3.1")]
pub struct VegasLossConfig {
    /// DupThresh, where the fine-grained timeout has not expired first
    #[knob(like = DUP_THRESH_KNOB)]
    threshold: u32,
}

impl LossConfig for VegasLossConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(VegasLoss::new(self.threshold))
    }
}

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

    fn on_duplicate_ack(&self, now: Time, facts: &LossFacts) -> LossVerdict {
        if facts.duplicate_acks >= self.threshold || Self::overdue(now, facts) {
            LossVerdict::Lost
        } else {
            LossVerdict::NotYet { beyond_cwnd: Bytes::ZERO }
        }
    }

    fn overdue(now: Time, facts: &LossFacts) -> bool {
        let (Some(sent_at), Some(timeout)) = (facts.oldest_sent_at, facts.fine_timeout()) else {
            return false;
        };
        now.saturating_since(sent_at) > timeout
    }
}

impl LossDetector for VegasLoss {
    fn on_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        if facts.advance.is_none() {
            return self.on_duplicate_ack(now, facts);
        }
        if facts.recovery.is_some() || facts.oldest_sent_at.is_none() {
            return LossVerdict::WAIT;
        }
        let looked_at = self.checks_left > 0;
        self.checks_left = self.checks_left.saturating_sub(1);
        if looked_at && Self::overdue(now, facts) {
            LossVerdict::Lost
        } else if facts.sacked > Bytes::ZERO {
            self.on_duplicate_ack(now, facts)
        } else {
            LossVerdict::WAIT
        }
    }

    fn on_event(&mut self, event: LossEvent) {
        if matches!(event, LossEvent::Recovery(RecoveryKind::Fast)) {
            self.checks_left = 2;
        }
    }

    fn view(&self) -> DetectorView {
        DetectorView::threshold(self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Ask, advance, ms};
    use super::*;
    use ackord_units::Span;

    /// Twenty segments out, the oldest for `now`, with a fine-grained timeout of 50 ms.
    fn facts(duplicate_acks: u32) -> LossFacts {
        LossFacts {
            srtt: Some(Span::from_millis(40)),
            rttvar: Some(Span::from_micros(2_500)),
            ..super::super::testing::facts(duplicate_acks, 0)
        }
    }

    #[test]
    fn an_overdue_segment_is_lost_on_the_first_duplicate() {
        let vegas = VegasLoss::new(3);
        assert_ne!(vegas.on_duplicate_ack(ms(50), &facts(1)), LossVerdict::Lost);
        assert_eq!(vegas.on_duplicate_ack(ms(51), &facts(1)), LossVerdict::Lost);
    }

    #[test]
    fn only_the_first_two_new_acknowledgments_after_a_retransmission_are_looked_at() {
        let mut vegas = VegasLoss::new(3);
        let look = |vegas: &mut VegasLoss| vegas.on_new_ack(ms(51), &facts(0), &advance(0));
        assert_ne!(look(&mut vegas), LossVerdict::Lost);
        vegas.on_recovery(RecoveryKind::Fast);
        assert_eq!(look(&mut vegas), LossVerdict::Lost);
        assert_eq!(look(&mut vegas), LossVerdict::Lost);
        assert_ne!(look(&mut vegas), LossVerdict::Lost);
    }
}
