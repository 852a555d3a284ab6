//! TCP-DAD-SD as its authors describe it (Park et al. 2008 Table 1, §3.1, Eq. 1-3).
//!
//! The paper leaves open: alpha; what a threshold that is no whole number means (here: the nearest
//! whole number of acknowledgments); how low it may fall (here a knob: to 3, as TCP-DAD is read, or to 1).
//! Table 1 doubles cwnd on every verified reordering, §3.1 only after a fast retransmit: both are
//! here. Duplicate acknowledgments are counted; what SACK says is not looked at.

use super::super::dad::DEFAULT_THRESHOLD;
use super::super::detection_timer::{DetectionTimer, Verified};
use super::super::{Advance, DetectorView, LossDetector, LossEvent, LossFacts, LossVerdict, Undo};
use ackord_events::RecoveryKind;
use ackord_units::{Keyword, Time};

/// When the window is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum PaperUndo {
    /// When a fast retransmit had been sent for what turned out to be reordering (§3.1).
    Text,
    /// On every verified reordering (Table 1, lines 13-18).
    LiteralTable,
}

/// The smoothed threshold of the paper.
#[derive(Clone, Copy, Debug)]
pub struct DadSdPaper {
    /// Weight of the threshold so far against the run just seen.
    alpha: f64,
    undo: PaperUndo,
    threshold: f64,
    /// The threshold never falls below this.
    floor: f64,
    timer: DetectionTimer,
}

impl DadSdPaper {
    /// A detector with this alpha (0 to 1), reading of the undo, and least threshold (one or more).
    pub fn new(alpha: f64, undo: PaperUndo, floor: u32) -> DadSdPaper {
        let (threshold, floor) = (f64::from(DEFAULT_THRESHOLD), f64::from(floor));
        DadSdPaper { alpha, undo, threshold, floor, timer: DetectionTimer::default() }
    }

    fn reset(&mut self) {
        self.threshold = f64::from(DEFAULT_THRESHOLD);
    }

    fn threshold(&self) -> u32 {
        self.threshold.round() as u32
    }

    fn on_duplicate_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        self.timer.on_duplicate_ack(now, facts);
        if facts.duplicate_acks >= self.threshold() {
            LossVerdict::Lost
        } else {
            // Table 1, line 12: one new segment for every duplicate acknowledgment.
            LossVerdict::NotYet { beyond_cwnd: facts.smss * u64::from(facts.duplicate_acks) }
        }
    }

    fn on_new_ack(&mut self, facts: &LossFacts, advance: &Advance) -> LossVerdict {
        let verified = self.timer.on_new_ack(facts, advance);
        if verified != Verified::No {
            // Eq. 1.
            let run = f64::from(advance.duplicate_acks);
            let smoothed = self.alpha * self.threshold + (1.0 - self.alpha) * run;
            self.threshold = smoothed.max(self.floor);
        }
        match (verified, self.undo) {
            (Verified::LateAfterFastRetransmit, _) | (Verified::Late, PaperUndo::LiteralTable) => {
                LossVerdict::Spurious(Undo::DoubleCwnd)
            }
            (Verified::No, _) | (Verified::Late, PaperUndo::Text) => LossVerdict::WAIT,
        }
    }

    fn on_recovery(&mut self, kind: RecoveryKind) {
        self.timer.on_recovery(kind);
        if kind == RecoveryKind::Timeout {
            self.reset();
        }
    }
}

impl LossDetector for DadSdPaper {
    fn view(&self) -> DetectorView {
        DetectorView::threshold(self.threshold())
    }

    fn on_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        match &facts.advance {
            Some(advance) => self.on_new_ack(facts, advance),
            None => self.on_duplicate_ack(now, facts),
        }
    }

    fn on_event(&mut self, event: LossEvent) {
        if let LossEvent::Recovery(kind) = event {
            self.on_recovery(kind);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.timer.deadline()
    }

    fn on_timer(&mut self, _now: Time, _facts: &LossFacts) -> LossVerdict {
        if self.timer.on_timer() {
            return LossVerdict::WAIT;
        }
        self.reset();
        LossVerdict::Lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{advance, facts, ms, not_yet};
    use super::*;

    fn detector(undo: PaperUndo) -> DadSdPaper {
        DadSdPaper::new(0.5, undo, DEFAULT_THRESHOLD)
    }

    #[test]
    fn the_threshold_is_smoothed_over_the_runs_that_were_reordering() {
        let mut sd = detector(PaperUndo::Text);
        for (run, expected) in [(13, 8), (8, 8), (24, 16), (1, 9), (1, 5), (1, 3), (1, 3)] {
            sd.on_duplicate_ack(ms(10), &facts(1, 0));
            sd.on_new_ack(&facts(0, 0), &advance(run));
            assert_eq!(sd.threshold(), expected, "after a run of {run}");
        }
    }

    #[test]
    fn it_falls_as_low_as_it_may() {
        for (floor, expected) in [(3, [3, 3]), (1, [2, 1])] {
            let mut sd = DadSdPaper::new(0.0, PaperUndo::Text, floor);
            let after = [2, 1].map(|run| {
                sd.on_duplicate_ack(ms(10), &facts(1, 0));
                sd.on_new_ack(&facts(0, 0), &advance(run));
                sd.threshold()
            });
            assert_eq!(after, expected, "floor {floor}");
        }
    }

    #[test]
    fn a_fast_retransmit_does_not_lower_it() {
        let mut sd = DadSdPaper { threshold: 8.0, ..detector(PaperUndo::Text) };
        let verdicts: Vec<_> =
            (1..=8).map(|count| sd.on_duplicate_ack(ms(10), &facts(count, 0))).collect();
        assert_eq!(verdicts[6..], [not_yet(7), LossVerdict::Lost]);
        sd.on_recovery(RecoveryKind::Fast);
        assert_eq!(sd.on_timer(ms(110), &facts(8, 0)), LossVerdict::WAIT);
        assert_eq!(sd.threshold(), 8);
    }

    #[test]
    fn the_text_gives_back_after_a_fast_retransmit_only_and_the_table_always() {
        for (undo, late) in [
            (PaperUndo::Text, LossVerdict::WAIT),
            (PaperUndo::LiteralTable, LossVerdict::Spurious(Undo::DoubleCwnd)),
        ] {
            let mut sd = detector(undo);
            sd.on_duplicate_ack(ms(10), &facts(1, 0));
            assert_eq!(sd.on_new_ack(&facts(0, 0), &advance(2)), late);
            for count in 1..=3 {
                sd.on_duplicate_ack(ms(60), &facts(count, 0));
            }
            sd.on_recovery(RecoveryKind::Fast);
            let verdict = sd.on_new_ack(&facts(0, 0), &advance(5));
            assert_eq!(verdict, LossVerdict::Spurious(Undo::DoubleCwnd));
        }
    }

    #[test]
    fn expiry_without_a_fast_retransmit_sends_one_and_resets() {
        let mut sd = DadSdPaper { threshold: 40.0, ..detector(PaperUndo::Text) };
        sd.on_duplicate_ack(ms(10), &facts(1, 0));
        assert_eq!(sd.deadline(), Some(ms(110)));
        assert_eq!(sd.on_timer(ms(110), &facts(20, 0)), LossVerdict::Lost);
        assert_eq!(sd.threshold(), 3);
    }
}
