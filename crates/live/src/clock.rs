//! The run's clock: nanoseconds of CLOCK_MONOTONIC since the run began.

use ackord_units::{Span, Time};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Tells the time of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
    /// When that was, since 1970: for captures only, never for deadlines.
    started_wall: Span,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn start() -> Clock {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock {
            started: Instant::now(),
            started_wall: Span::from_nanos(since_1970.as_nanos() as u64),
        }
    }

    /// Since the start of the run.
    pub(crate) fn now(&self) -> Time {
        Time::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// An instant of the run since 1970.
    pub(crate) fn wall(&self, at: Time) -> Time {
        at + self.started_wall
    }
}
