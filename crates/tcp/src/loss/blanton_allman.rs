//! A threshold raised by the spurious fast retransmits that DSACK shows (Blanton and Allman 2002).
//!
//! When DSACK shows a fast retransmit to have been unnecessary, the reordering length, which is how
//! many segments overtook the late one, moves the threshold by one of the paper's variants, and the
//! window is given back by slow start. A timeout brings the threshold back to 3.
//!
//! Ours: the threshold is held to what a window can bring (nine tenths of it), and below it every
//! arrival lets one new segment out, without which a long wait would silence the sender.

use super::{
    DetectorProfile, DetectorView, LossConfig, LossDetector, LossEvent, LossFacts, LossVerdict,
    Spurious, Undo,
};
use ackord_events::{RecoveryKind, SpuriousEvidence};
use ackord_units::{Keyword, Knobs, Time};

const DEFAULT_THRESHOLD: u32 = 3;

/// How a reordering length moves the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum ReorderingVariant {
    /// One more each time, whatever the length.
    PlusOne,
    /// The mean of the threshold and the length.
    Average,
    /// An exponentially weighted mean of the lengths, with a quarter for the new one.
    Ewma,
    /// The longest length so far.
    Max,
}

/// A threshold raised by the reordering lengths that DSACK shows
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "blanton-allman", source = "Blanton and Allman 2002")]
pub struct BlantonAllmanConfig {
    /// How a reordering length moves the threshold
    #[knob(default = "ewma", source = "Blanton and Allman 2002; max is ours, for comparison")]
    variant: ReorderingVariant,
}

impl LossConfig for BlantonAllmanConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(BlantonAllman::new(self.variant))
    }
}

/// A threshold that follows DSACK.
#[derive(Clone, Copy, Debug)]
pub struct BlantonAllman {
    variant: ReorderingVariant,
    threshold: f64,
    /// The threshold within the present window.
    bounded: u32,
}

impl BlantonAllman {
    /// A detector of this variant.
    pub fn new(variant: ReorderingVariant) -> BlantonAllman {
        let threshold = f64::from(DEFAULT_THRESHOLD);
        BlantonAllman { variant, threshold, bounded: DEFAULT_THRESHOLD }
    }

    fn bound(&mut self, facts: &LossFacts) {
        let window = facts.cwnd.get() / facts.smss.get().max(1);
        let most = u32::try_from(window * 9 / 10).unwrap_or(u32::MAX);
        self.bounded = (self.threshold.round() as u32).min(most).max(DEFAULT_THRESHOLD);
    }
}

impl LossDetector for BlantonAllman {
    fn on_ack(&mut self, _now: Time, facts: &LossFacts) -> LossVerdict {
        if !facts.leave_doubt() {
            return LossVerdict::WAIT;
        }
        self.bound(facts);
        if facts.reaches(self.bounded) {
            return LossVerdict::Lost;
        }
        LossVerdict::NotYet { beyond_cwnd: facts.smss * u64::from(facts.arrived_above()) }
    }

    fn profile(&self) -> DetectorProfile {
        DetectorProfile { every_ack: false, ..DetectorProfile::STANDARD }
    }

    fn view(&self) -> DetectorView {
        DetectorView::threshold(self.bounded)
    }

    fn on_event(&mut self, event: LossEvent) {
        if matches!(event, LossEvent::Recovery(RecoveryKind::Timeout)) {
            *self = BlantonAllman::new(self.variant);
        }
    }

    fn on_spurious(&mut self, _now: Time, spurious: &Spurious) -> Option<Undo> {
        if spurious.evidence != SpuriousEvidence::Dsack || spurious.recovery != RecoveryKind::Fast {
            return None;
        }
        let length = f64::from(spurious.extent_segments);
        self.threshold = match self.variant {
            ReorderingVariant::PlusOne => self.threshold + 1.0,
            ReorderingVariant::Average => (self.threshold + length) / 2.0,
            ReorderingVariant::Ewma => 0.75 * self.threshold + 0.25 * length,
            ReorderingVariant::Max => self.threshold.max(length),
        }
        .max(f64::from(DEFAULT_THRESHOLD));
        Some(Undo::SlowStartBack)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Ask, facts, ms, spurious};
    use super::*;

    #[test]
    fn each_variant_moves_the_threshold_its_own_way() {
        for (variant, expected) in [
            (ReorderingVariant::PlusOne, [4, 5, 6]),
            (ReorderingVariant::Average, [7, 9, 7]),
            (ReorderingVariant::Ewma, [5, 7, 6]),
            (ReorderingVariant::Max, [11, 11, 11]),
        ] {
            let mut detector = BlantonAllman::new(variant);
            let after = [11, 11, 5].map(|length| {
                let told = detector.on_spurious(ms(0), &spurious(SpuriousEvidence::Dsack, length));
                assert_eq!(told, Some(Undo::SlowStartBack));
                detector.on_duplicate_ack(ms(0), &facts(1, 0));
                detector.threshold()
            });
            assert_eq!(after, expected, "{variant:?}");
            detector.on_recovery(RecoveryKind::Timeout);
            assert_eq!(detector.threshold(), 3);
        }
    }

    #[test]
    fn the_threshold_stays_within_the_window() {
        let mut detector = BlantonAllman::new(ReorderingVariant::Max);
        detector.on_spurious(ms(0), &spurious(SpuriousEvidence::Dsack, 400));
        // Twenty segments of cwnd: eighteen.
        assert_ne!(detector.on_duplicate_ack(ms(0), &facts(17, 0)), LossVerdict::Lost);
        assert_eq!(detector.on_duplicate_ack(ms(0), &facts(18, 0)), LossVerdict::Lost);
    }

    #[test]
    fn timestamps_are_not_its_evidence() {
        let mut detector = BlantonAllman::new(ReorderingVariant::Max);
        assert_eq!(detector.on_spurious(ms(0), &spurious(SpuriousEvidence::Timestamps, 9)), None);
        assert_eq!(detector.threshold(), 3);
    }
}
