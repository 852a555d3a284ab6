//! The run's clock: nanoseconds of CLOCK_MONOTONIC since the run began.

use ackord_units::{Span, Time};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

    /// A clock that starts when CLOCK_MONOTONIC says so many nanoseconds; waits until then.
    pub(crate) fn starting_at(monotonic: u64) -> Clock {
        let at = TimeSpec::from(Duration::from_nanos(monotonic));
        // It is only ended early by a signal, of which there are none yet.
        let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &at);
        let late = clock_gettime(ClockId::CLOCK_MONOTONIC)
            .map_or(Duration::ZERO, |now| Duration::from(now).saturating_sub(Duration::from(at)));
        let clock = Clock::start();
        Clock { started: clock.started - late, ..clock }
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
