//! The kernel's clock for acknowledgments: it counts ticks (jiffies).

use ackord_units::{Span, Time};

/// Length of a tick, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickClock(pub(super) Span);

/// A time in ticks.
pub(super) type Ticks = u64;

impl TickClock {
    pub(super) fn now(self, now: Time) -> Ticks {
        now.as_nanos() / self.0.as_nanos()
    }

    /// Whole ticks in a span of the kernel's own constants.
    pub(super) fn of(self, span: Span) -> Ticks {
        (span.as_nanos() / self.0.as_nanos()).max(1)
    }

    pub(super) fn span(self, ticks: Ticks) -> Span {
        self.0.saturating_mul(ticks)
    }

    /// When a timer set for the end of `tick` expires: the timer wheel never expires early, so it
    /// rounds up to the next tick.
    pub(super) fn strikes_at(self, tick: Ticks) -> Time {
        Time::ZERO + self.span(tick + 1)
    }
}
