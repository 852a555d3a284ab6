//! The capture's clock as the connection's time: jumps of the clock are left out.

use super::order;
use ackord_units::{Span, Time};

/// Times of captures beyond this are not believed: half of what 64 bits of nanoseconds hold.
const LATEST: Time = Time::from_nanos(u64::MAX / 2);
/// No connection rests for longer: a longer gap is a clock that was set.
const LONGEST_REST: Span = Span::from_secs(30 * 86_400);

/// What a packet's time shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Forward,
    /// Earlier than a packet before it, by so much.
    Backward(Span),
    /// The clock was set between the two.
    Set,
}

/// The time of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeline {
    /// The latest time of a packet by the capture's clock, since that was set.
    last: Time,
    /// Nanoseconds added to the capture's clock, which its jumps took.
    shift: i64,
}

impl Timeline {
    pub(super) fn begin(at: Time) -> Timeline {
        Timeline { last: at.min(LATEST), shift: 0 }
    }

    /// Returns the latest time by the capture's clock.
    pub(super) fn last(&self) -> Time {
        self.last
    }

    /// Returns the time of a packet captured at `at`, and how it follows the packet before it.
    #[inline]
    pub(super) fn step(&mut self, at: Time) -> (Time, Step) {
        let at = at.min(LATEST);
        let mut step = Step::Forward;
        let (forward, backward) = (at.saturating_since(self.last), self.last.saturating_since(at));
        if forward > LONGEST_REST || backward > order::LARGEST {
            let jump = at.as_nanos() as i64 - self.last.as_nanos() as i64;
            self.shift = self.shift.saturating_sub(jump);
            step = Step::Set;
            self.last = at;
        } else if backward > Span::ZERO {
            step = Step::Backward(backward);
        }
        self.last = self.last.max(at);
        let shifted = (at.as_nanos() as i64).saturating_add(self.shift);
        (Time::from_nanos(shifted.max(0) as u64), step)
    }
}
