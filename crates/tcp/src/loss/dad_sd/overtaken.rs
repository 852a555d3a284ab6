//! Since when a segment has been overtaken: when the first one above it was reported to have
//! arrived, for whichever segment is the oldest later on.

use ackord_units::{Seq, Time};
use std::collections::VecDeque;

/// How far SACK had reached, and when it first reached so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Overtaken {
    reached: VecDeque<Reached>,
}

#[derive(Clone, Copy, Debug)]
struct Reached {
    highest: Seq,
    at: Time,
}

/// Steps that are remembered; beyond it every other one is forgotten, so that times become a little
/// later than they were.
const MOST_STEPS: usize = 128;

impl Overtaken {
    /// SACK reaches to `highest` at `now`, and `oldest` is the oldest byte not acknowledged.
    pub(super) fn note(&mut self, now: Time, oldest: Seq, highest: Option<Seq>) {
        while self.reached.front().is_some_and(|first| first.highest.at_or_before(oldest)) {
            self.reached.pop_front();
        }
        let Some(highest) = highest.filter(|highest| highest.after(oldest)) else { return };
        if self.reached.back().is_none_or(|last| highest.after(last.highest)) {
            if self.reached.len() == MOST_STEPS {
                let mut index = 0;
                self.reached.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
            }
            self.reached.push_back(Reached { highest, at: now });
        }
    }

    /// When the first segment above the oldest one arrived, by what was noted last.
    pub(super) fn since(&self) -> Option<Time> {
        self.reached.front().map(|first| first.at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::ms;
    use super::*;

    #[test]
    fn the_next_hole_is_missing_since_something_above_it_came() {
        let mut overtaken = Overtaken::default();
        // Segments 0 and 5 of a thousand bytes each are missing.
        for (at, highest) in [(10, 2), (11, 3), (12, 5), (20, 7), (21, 8)] {
            overtaken.note(ms(at), Seq(0), Some(Seq(highest * 1000)));
        }
        assert_eq!(overtaken.since(), Some(ms(10)));
        overtaken.note(ms(30), Seq(5000), Some(Seq(8000)));
        assert_eq!(overtaken.since(), Some(ms(20)));
        overtaken.note(ms(40), Seq(8000), None);
        assert_eq!(overtaken.since(), None);
    }

    #[test]
    fn memory_is_bounded_and_times_err_late() {
        let mut overtaken = Overtaken::default();
        for step in 1..=1000 {
            overtaken.note(ms(u64::from(step)), Seq(0), Some(Seq(step * 1000)));
        }
        assert!(overtaken.reached.len() <= MOST_STEPS);
        assert_eq!(overtaken.since(), Some(ms(1)));
        overtaken.note(ms(1001), Seq(900_000), Some(Seq(1_000_000)));
        let since = overtaken.since().expect("something is above");
        assert!(since >= ms(901) && since < ms(1000), "{since}");
    }
}
