//! The clock of the timestamps option (RFC 7323 §4.1).

use ackord_units::{Seq, Span, Time};

/// Ticks of the configured granularity from an offset that makes zero (which some stacks take for
/// "no echo") unlikely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TsClock {
    tick: Span,
    offset: u64,
}

impl TsClock {
    pub(crate) fn new(tick: Span, iss: Seq) -> TsClock {
        TsClock { tick: tick.max(Span::from_nanos(1)), offset: u64::from(iss.0 >> 8) + 1 }
    }

    /// A clock that shows `offset` at time zero.
    pub(crate) fn from_offset(tick: Span, offset: u32) -> TsClock {
        TsClock { tick: tick.max(Span::from_nanos(1)), offset: u64::from(offset) }
    }

    /// What TSval says at `now`.
    pub(crate) fn at(&self, now: Time) -> u32 {
        (now.as_nanos() / self.tick.as_nanos()).wrapping_add(self.offset) as u32
    }

    /// Whether a segment stamped `echo` was sent in an earlier tick than one sent at `time`.
    pub(crate) fn is_before(&self, echo: u32, time: Time) -> bool {
        (echo.wrapping_sub(self.at(time)) as i32) < 0
    }
}

/// The echo of our own clock in a segment.
#[derive(Clone, Copy, Debug)]
pub struct TimestampEcho {
    /// What was echoed: TSecr.
    pub value: u32,
    pub(crate) clock: TsClock,
}

impl TimestampEcho {
    /// The round-trip time it tells of at `now`, to the tick; longer than the path's where the
    /// peer took its time. An echo from the future, or an hour old, is none of ours.
    pub fn rtt(&self, now: Time) -> Option<Span> {
        let TsClock { tick, .. } = self.clock;
        let ticks = self.clock.at(now).wrapping_sub(self.value);
        let rtt = tick.saturating_mul(u64::from(ticks));
        (self.value != 0 && rtt < Span::from_secs(3600)).then(|| rtt.max(tick))
    }
}
