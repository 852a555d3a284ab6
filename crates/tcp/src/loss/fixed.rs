//! A fixed number of duplicate acknowledgments (RFC 5681 §3.2).

use super::{
    DetectorProfile, DetectorView, LossConfig, LossDetector, LossFacts, LossVerdict, Spurious, Undo,
};
use ackord_units::{Bytes, Keyword, Knob, KnobKind, Knobs, Time};

pub(super) const DUP_THRESH_KNOB: Knob = Knob {
    name: "threshold",
    kind: KnobKind::Count { unit: "segments", min: 1, max: 10_000 },
    default: "3",
    doc: "DupThresh",
    source: "RFC 5681 §3.2",
};

/// A fixed number of duplicate acknowledgments
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "fixed", source = "RFC 5681 §3.2")]
pub struct FixedConfig {
    #[knob(like = DUP_THRESH_KNOB)]
    threshold: u32,
    /// The first two duplicate acknowledgments let one new segment out each; every: all of them below the
    /// threshold do
    #[knob(default = "on", source = "RFC 3042; every is singledup_ in ns-2")]
    limited_transmit: LimitedTransmit,
}

impl LossConfig for FixedConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(Fixed::new(self.threshold, self.limited_transmit))
    }
}

/// Takes the oldest segment for lost after `threshold` duplicate acknowledgments.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    threshold: u32,
    limited_transmit: LimitedTransmit,
    /// Whether a spurious recovery's reduction is taken back, as Linux does; RFC 8985 leaves it to
    /// others (RFC 4015, RFC 3708).
    undo: bool,
}

/// Whether duplicate acknowledgments below the threshold release new data (RFC 3042).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum LimitedTransmit {
    /// The first two release one segment each.
    On,
    /// None does.
    Off,
    /// Each below the threshold releases one (`singledup_` of ns-2).
    Every,
}

impl Fixed {
    /// A detector with this DupThresh.
    pub fn new(threshold: u32, limited_transmit: LimitedTransmit) -> Fixed {
        Fixed { threshold, limited_transmit, undo: false }
    }

    /// The same, and it gives back what a spurious recovery took or not.
    pub fn with_undo(self, undo: bool) -> Fixed {
        Fixed { undo, ..self }
    }
}

impl LossDetector for Fixed {
    fn on_ack(&mut self, _now: Time, facts: &LossFacts) -> LossVerdict {
        if !facts.leave_doubt() {
            return LossVerdict::WAIT;
        }
        if facts.reaches(self.threshold) {
            return LossVerdict::Lost;
        }
        let beyond_cwnd = match self.limited_transmit {
            // RFC 3042 §2: at most two segments beyond cwnd.
            LimitedTransmit::On => facts.smss * u64::from(facts.duplicate_acks.min(2)),
            LimitedTransmit::Every => facts.smss * u64::from(facts.duplicate_acks),
            LimitedTransmit::Off => Bytes::ZERO,
        };
        LossVerdict::NotYet { beyond_cwnd }
    }

    fn on_spurious(&mut self, _now: Time, _spurious: &Spurious) -> Option<Undo> {
        self.undo.then_some(Undo::Restore)
    }

    fn profile(&self) -> DetectorProfile {
        DetectorProfile { every_ack: false, ..DetectorProfile::STANDARD }
    }

    fn view(&self) -> DetectorView {
        DetectorView::threshold(self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Ask, facts, not_yet};
    use super::*;

    #[test]
    fn the_third_duplicate_means_loss_and_the_first_two_release_a_segment_each() {
        let mut fixed = Fixed::new(3, LimitedTransmit::On);
        assert_eq!(fixed.on_duplicate_ack(Time::ZERO, &facts(1, 0)), not_yet(1));
        assert_eq!(fixed.on_duplicate_ack(Time::ZERO, &facts(2, 0)), not_yet(2));
        assert_eq!(fixed.on_duplicate_ack(Time::ZERO, &facts(3, 0)), LossVerdict::Lost);
    }

    #[test]
    fn one_acknowledgment_that_sacks_more_than_two_segments_means_loss() {
        let mut fixed = Fixed::new(3, LimitedTransmit::On);
        assert_eq!(fixed.on_duplicate_ack(Time::ZERO, &facts(1, 2001)), LossVerdict::Lost);
        assert_ne!(fixed.on_duplicate_ack(Time::ZERO, &facts(1, 2000)), LossVerdict::Lost);
    }

    /// RFC 6675 §5: segments of less than SMSS are lost by their number, too.
    #[test]
    fn three_reports_or_three_sequences_mean_loss_however_few_bytes() {
        let mut fixed = Fixed::new(3, LimitedTransmit::On);
        let reports = |reports| LossFacts { reports, ..facts(2, 200) };
        assert_ne!(fixed.on_duplicate_ack(Time::ZERO, &reports(2)), LossVerdict::Lost);
        assert_eq!(fixed.on_duplicate_ack(Time::ZERO, &reports(3)), LossVerdict::Lost);
        let sequences = |sacked_sequences| LossFacts { sacked_sequences, ..facts(1, 300) };
        assert_ne!(fixed.on_duplicate_ack(Time::ZERO, &sequences(2)), LossVerdict::Lost);
        assert_eq!(fixed.on_duplicate_ack(Time::ZERO, &sequences(3)), LossVerdict::Lost);
    }
}
