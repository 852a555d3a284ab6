//! TCP-DAD: the threshold is the length of the last run of duplicate acknowledgments that turned
//! out to be reordering (Park et al. 2007, as described in Park et al. 2008 §2.1).
//!
//! Its sources leave three things open: how low the threshold may go (a knob; its step down is read as ending
//! at the default of 3); every duplicate acknowledgment below it lets one new segment out, and a spurious fast retransmit is
//! answered by Eq. 2 and 3, both as in TCP-DAD-SD, so that the two differ only in how the threshold
//! moves. Duplicate acknowledgments are counted; what SACK says is not looked at.

use super::detection_timer::{DetectionTimer, Verified};
use super::{
    Advance, DetectorView, LossConfig, LossDetector, LossEvent, LossFacts, LossVerdict, Undo,
};
use ackord_events::RecoveryKind;
use ackord_units::{Knob, KnobKind, Knobs, Time};

/// Where the threshold starts and whither it goes back.
pub(super) const DEFAULT_THRESHOLD: u32 = 3;

pub(super) const FLOOR: Knob = Knob {
    name: "floor",
    kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
    default: "3",
    doc: "The threshold never falls below this (of dad-sd: in paper mode)",
    source: "Park et al. 2008 set none for DAD-SD, and for DAD only where it is lowered by one; RFC 5681 has \
             3. Both are shown in papers/dad-sd",
};

/// TCP-DAD: the threshold is the length of the last run that proved to be reordering
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "loss", name = "dad", source = "Park et al. 2007; Park et al. 2008 §2.1")]
pub struct DadConfig {
    #[knob(like = FLOOR)]
    floor: u32,
}

impl LossConfig for DadConfig {
    fn build(&self) -> Box<dyn LossDetector> {
        Box::new(Dad::new(self.floor))
    }
}

/// A threshold that jumps to the last reordering seen and creeps down.
#[derive(Clone, Copy, Debug)]
pub struct Dad {
    threshold: u32,
    /// The threshold never goes below this.
    floor: u32,
    timer: DetectionTimer,
}

impl Dad {
    /// A threshold that never goes below `floor`, one or more.
    pub fn new(floor: u32) -> Dad {
        Dad { threshold: DEFAULT_THRESHOLD, floor, timer: DetectionTimer::default() }
    }

    fn on_duplicate_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        self.timer.on_duplicate_ack(now, facts);
        if facts.duplicate_acks >= self.threshold {
            LossVerdict::Lost
        } else {
            LossVerdict::NotYet { beyond_cwnd: facts.smss * u64::from(facts.duplicate_acks) }
        }
    }

    fn on_new_ack(&mut self, facts: &LossFacts, advance: &Advance) -> LossVerdict {
        let verified = self.timer.on_new_ack(facts, advance);
        if verified != Verified::No {
            self.threshold = advance.duplicate_acks.max(self.floor);
        }
        match verified {
            Verified::LateAfterFastRetransmit => LossVerdict::Spurious(Undo::DoubleCwnd),
            Verified::No | Verified::Late => LossVerdict::WAIT,
        }
    }

    fn on_recovery(&mut self, kind: RecoveryKind) {
        self.timer.on_recovery(kind);
        self.threshold = match kind {
            RecoveryKind::Fast => (self.threshold - 1).max(self.floor),
            RecoveryKind::Timeout => DEFAULT_THRESHOLD,
        };
    }
}

impl LossDetector for Dad {
    fn view(&self) -> DetectorView {
        DetectorView::threshold(self.threshold)
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
        self.threshold = DEFAULT_THRESHOLD;
        LossVerdict::Lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advance, facts, ms, not_yet};
    use super::*;

    /// A run of so many duplicates from 10 ms on, one a millisecond.
    fn run(dad: &mut Dad, duplicates: u32) -> Vec<LossVerdict> {
        let at = |count: u32| ms(9 + u64::from(count));
        let mut verdicts = Vec::new();
        for count in 1..=duplicates {
            let verdict = dad.on_duplicate_ack(at(count), &facts(count, 0));
            if verdict == LossVerdict::Lost {
                dad.on_recovery(RecoveryKind::Fast);
            }
            verdicts.push(verdict);
        }
        verdicts
    }

    #[test]
    fn verified_reordering_sets_the_threshold_to_the_duplicates_of_that_event() {
        let mut dad = Dad::new(DEFAULT_THRESHOLD);
        assert_eq!(run(&mut dad, 3), vec![not_yet(1), not_yet(2), LossVerdict::Lost]);
        // Twelve came in all before the original did.
        let verdict = dad.on_new_ack(&facts(0, 0), &advance(12));
        assert_eq!(verdict, LossVerdict::Spurious(Undo::DoubleCwnd));
        assert_eq!(dad.threshold, 12);
        // The next event of eleven starts no fast retransmit.
        assert!(!run(&mut dad, 11).contains(&LossVerdict::Lost));
        assert_eq!(dad.on_new_ack(&facts(0, 0), &advance(11)), LossVerdict::WAIT);
        assert_eq!(dad.threshold, 11);
    }

    #[test]
    fn every_fast_retransmit_takes_one_off_but_never_below_three() {
        let mut dad = Dad { threshold: 5, ..Dad::new(DEFAULT_THRESHOLD) };
        for expected in [4, 3, 3] {
            run(&mut dad, 5);
            dad.on_timer(ms(110), &facts(5, 0));
            assert_eq!(dad.threshold, expected);
        }
    }

    #[test]
    fn the_timer_runs_one_round_trip_from_the_first_duplicate_and_then_retransmits() {
        let mut dad = Dad { threshold: 50, ..Dad::new(DEFAULT_THRESHOLD) };
        run(&mut dad, 4);
        assert_eq!(dad.deadline(), Some(ms(110)));
        assert_eq!(dad.on_timer(ms(110), &facts(4, 0)), LossVerdict::Lost);
        assert_eq!(dad.threshold, 3);
        assert_eq!(dad.deadline(), None);
    }

    #[test]
    fn an_acknowledgment_after_the_timer_shows_nothing() {
        let mut dad = Dad::new(DEFAULT_THRESHOLD);
        run(&mut dad, 3);
        assert_eq!(dad.on_timer(ms(110), &facts(3, 0)), LossVerdict::WAIT);
        assert_eq!(dad.on_new_ack(&facts(0, 0), &advance(9)), LossVerdict::WAIT);
        assert_eq!(dad.threshold, 3);
    }

    #[test]
    fn a_timeout_brings_the_threshold_back_to_three() {
        let mut dad = Dad { threshold: 50, ..Dad::new(DEFAULT_THRESHOLD) };
        run(&mut dad, 4);
        dad.on_recovery(RecoveryKind::Timeout);
        assert_eq!((dad.threshold, dad.deadline()), (3, None));
    }
}
