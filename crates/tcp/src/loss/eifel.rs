//! The Eifel algorithm: a fixed threshold, and timestamps that tell a spurious recovery afterwards
//! (detection: RFC 3522; response: RFC 4015, Ludwig and Katz 2000).
//!
//! Without timestamps it is a fixed threshold. A spurious timeout is answered by RFC 4015, which
//! does not speak of fast retransmits; those get back what was taken at once, as in Ludwig and Katz
//! 2000.

use super::fixed::DUP_THRESH_KNOB;
use super::{
    AckContext, DetectorProfile, DetectorView, Duplicates, Fixed, LimitedTransmit, LossConfig,
    LossDetector, LossFacts, LossVerdict, Spurious, Undo,
};
use ackord_events::{RecoveryKind, SpuriousEvidence};
use ackord_units::{Bytes, Knobs, Time};

/// A fixed threshold; timestamps tell a spurious recovery, which is undone
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "eifel", source = "RFC 3522, RFC 4015; Ludwig and Katz 2000")]
pub struct EifelConfig {
    #[knob(like = DUP_THRESH_KNOB)]
    threshold: u32,
}

impl LossConfig for EifelConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(Eifel::new(self.threshold))
    }
}

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
    fn profile(&self) -> DetectorProfile {
        self.fixed.profile()
    }

    fn view(&self) -> DetectorView {
        self.fixed.view()
    }

    fn on_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        self.fixed.on_ack(now, facts)
    }

    fn on_spurious(&mut self, _now: Time, spurious: &Spurious) -> Option<Undo> {
        let believed = spurious.evidence == SpuriousEvidence::Timestamps
            && is_an_originals(&spurious.context)
            // RFC 4015 §3 step 9: what the loss took, the mark asks for.
            && !spurious.context.marked;
        believed.then_some(match spurious.recovery {
            RecoveryKind::Fast => Undo::Restore,
            RecoveryKind::Timeout => Undo::EifelResponse,
        })
    }
}

/// RFC 3522 §3.2 step 5: an old timestamp is no proof where the acknowledgments of the originals may
/// have been lost and a duplicate has drawn this one. It reports that duplicate then, if the receiver
/// reports any; if none was ever reported, only what is still outstanding shows that it was not so.
fn is_an_originals(context: &AckContext) -> bool {
    match context.duplicates {
        Duplicates::Now => false,
        Duplicates::Earlier => true,
        Duplicates::Never => context.outstanding > Bytes::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Ask, facts, ms, spurious};
    use super::*;

    #[test]
    fn only_timestamps_are_taken_for_proof() {
        let mut eifel = Eifel::new(3);
        let mut told = |evidence, recovery| {
            eifel.on_spurious(ms(0), &Spurious { recovery, ..spurious(evidence, 5) })
        };
        assert_eq!(told(SpuriousEvidence::Dsack, RecoveryKind::Fast), None);
        let timestamps = SpuriousEvidence::Timestamps;
        assert_eq!(told(timestamps, RecoveryKind::Fast), Some(Undo::Restore));
        assert_eq!(told(timestamps, RecoveryKind::Timeout), Some(Undo::EifelResponse));
        assert_eq!(eifel.on_duplicate_ack(ms(0), &facts(3, 0)), LossVerdict::Lost, "still three");
    }

    /// RFC 3522 §3.2 step 5, and RFC 4015 §3 step 9.
    #[test]
    fn an_acknowledgment_that_a_duplicate_may_have_drawn_is_no_proof() {
        let undoes = |change: fn(&mut AckContext)| {
            let mut told = spurious(SpuriousEvidence::Timestamps, 5);
            change(&mut told.context);
            Eifel::new(3).on_spurious(ms(0), &told).is_some()
        };
        assert!(undoes(|_| {}));
        assert!(!undoes(|context| context.duplicates = Duplicates::Now));
        assert!(!undoes(|context| context.outstanding = Bytes::ZERO), "all is acknowledged");
        let known_to_report = |context: &mut AckContext| {
            (context.outstanding, context.duplicates) = (Bytes::ZERO, Duplicates::Earlier);
        };
        assert!(undoes(known_to_report), "all is acknowledged, and no duplicate reported");
        assert!(!undoes(|context| context.marked = true));
    }
}
