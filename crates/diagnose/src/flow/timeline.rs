//! The capture's clock as the connection's time: jumps of the clock are left out.

use ackord_units::{Span, Time};

/// Times of captures beyond this are not believed: half of what 64 bits of nanoseconds hold.
const LATEST: Time = Time::from_nanos(u64::MAX / 2);
/// No connection rests for longer: a longer gap is a clock that was set.
const LONGEST_REST: Span = Span::from_secs(30 * 86_400);
/// A packet that is earlier than the one before it by more than this shows a clock that was set back; by less,
/// packets in another order than their times.
const DISORDER: Span = Span::from_secs(1);

/// What a packet's time shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Forward,
    /// Earlier than the packet before it.
    Backward,
    /// The clock was set between the two.
    Set,
}

/// The time of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeline {
    /// The time of the last packet by the capture's clock.
    last: Time,
    /// Nanoseconds added to the capture's clock, which its jumps took.
    shift: i64,
}

impl Timeline {
    pub(super) fn begin(at: Time) -> Timeline {
        Timeline { last: at.min(LATEST), shift: 0 }
    }

    /// Returns the time of the last packet by the capture's clock.
    pub(super) fn last(&self) -> Time {
        self.last
    }

    /// Returns the time of a packet captured at `at`, and how it follows the packet before it.
    #[inline]
    pub(super) fn step(&mut self, at: Time) -> (Time, Step) {
        let at = at.min(LATEST);
        let mut step = Step::Forward;
        let (forward, backward) = (at.saturating_since(self.last), self.last.saturating_since(at));
        if forward > LONGEST_REST || backward > DISORDER {
            let jump = at.as_nanos() as i64 - self.last.as_nanos() as i64;
            self.shift = self.shift.saturating_sub(jump);
            step = Step::Set;
        } else if backward > Span::ZERO {
            step = Step::Backward;
        }
        self.last = at;
        let shifted = (at.as_nanos() as i64).saturating_add(self.shift);
        (Time::from_nanos(shifted.max(0) as u64), step)
    }
}
