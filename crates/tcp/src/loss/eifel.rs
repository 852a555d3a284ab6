//! The Eifel algorithm: a fixed threshold, and timestamps that tell a spurious repair afterwards
//! (detection: RFC 3522; response: RFC 4015, Ludwig and Katz 2000).
//!
//! Without timestamps it is a fixed threshold. A spurious timeout is answered by RFC 4015, which
//! does not speak of fast retransmits; those get back what was taken at once, as in Ludwig and Katz
//! 2000. The adaptation of the retransmission timer (RFC 4015 §3.2 step 8) is left out: the
//! timestamps already give a sample of the delay that caused the timeout.

use super::{Doubt, Fixed, Heeds, LimitedTransmit, LossDetector, LossVerdict, Spurious, Undo};
use ackord_events::{RecoveryKind, SpuriousEvidence};
use ackord_units::Time;

/// Three duplicate acknowledgments, with undo by timestamps.
#[derive(Clone, Copy, Debug)]
pub struct Eifel {
    fixed: Fixed,
}

impl Eifel {
    /// A detector with this DupThresh.
    pub fn new(threshold: u32) -> Eifel {
        Eifel { fixed: Fixed::new(threshold, LimitedTransmit::On) }
    }
}

impl LossDetector for Eifel {
    fn on_duplicate_ack(&mut self, now: Time, doubt: &Doubt) -> LossVerdict {
        self.fixed.on_duplicate_ack(now, doubt)
    }

    fn heeds(&self) -> Heeds {
        Heeds::Doubts
    }

    fn duplicate_threshold(&self) -> u32 {
        self.fixed.duplicate_threshold()
    }

    fn on_spurious(&mut self, _now: Time, spurious: &Spurious) -> Option<Undo> {
        match (spurious.evidence, spurious.repair) {
            (SpuriousEvidence::Timestamps, RecoveryKind::Fast) => Some(Undo::Restore),
            (SpuriousEvidence::Timestamps, RecoveryKind::Timeout) => Some(Undo::SlowStartBack),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{doubt, ms, spurious};
    use super::*;

    #[test]
    fn only_timestamps_are_taken_for_proof() {
        let mut eifel = Eifel::new(3);
        let mut told = |evidence, repair| {
            eifel.on_spurious(ms(0), &Spurious { repair, ..spurious(evidence, 5) })
        };
        assert_eq!(told(SpuriousEvidence::Dsack, RecoveryKind::Fast), None);
        let timestamps = SpuriousEvidence::Timestamps;
        assert_eq!(told(timestamps, RecoveryKind::Fast), Some(Undo::Restore));
        assert_eq!(told(timestamps, RecoveryKind::Timeout), Some(Undo::SlowStartBack));
        assert_eq!(eifel.on_duplicate_ack(ms(0), &doubt(3, 0)), LossVerdict::Lost, "still three");
    }
}
