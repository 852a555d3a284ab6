//! When a timer expires: to the nanosecond, or by the ticks of a kernel's timer wheel.
//!
//! Linux counts in ticks of 1/HZ. A timeout is rounded up to whole ones, and a timer never expires
//! within the tick in which it ends. The further away it is, the coarser: up to 62 ticks ahead each
//! tick has a slot of its own, up to 503 eight share one, and so on (kernel/time/timer.c,
//! calc_wheel_index). At HZ=250 a timer of 27 ms expires after 28 to 32 ms, one of a second up to
//! 36 ms late.

use ackord_units::{Span, Time};

/// Ticks ahead from which slots are coarser: LVL_START(1).
const FINE_TICKS: u64 = 63;
/// Each level's slots are eight times as long as those before: LVL_CLK_SHIFT.
const LEVEL_SHIFT: u32 = 3;
/// LVL_DEPTH at HZ above 100.
const LEVELS: u32 = 9;

/// How timers are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerWheel {
    /// 1/HZ; zero if timers expire to the nanosecond.
    tick: Span,
}

impl TimerWheel {
    pub(crate) fn new(tick: Span) -> TimerWheel {
        TimerWheel { tick }
    }

    /// When a timer expires that is set now for a time `after` it.
    #[inline]
    pub(crate) fn expires_at(self, now: Time, after: Span) -> Time {
        if self.tick == Span::ZERO { now + after } else { self.slot(now, after) }
    }

    fn slot(self, now: Time, after: Span) -> Time {
        let tick = self.tick.as_nanos();
        let ahead = after.as_nanos().div_ceil(tick);
        let ends = now.as_nanos() / tick + ahead;
        let level = (0..LEVELS - 1).find(|level| ahead < FINE_TICKS << (LEVEL_SHIFT * level));
        let shift = LEVEL_SHIFT * level.unwrap_or(LEVELS - 1);
        let slot = ((ends >> shift) + 1) << shift;
        Time::ZERO + self.tick.saturating_mul(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    const HZ_250: TimerWheel = TimerWheel { tick: Span::from_millis(4) };

    #[test]
    fn without_ticks_it_expires_to_the_nanosecond() {
        let wheel = TimerWheel::new(Span::ZERO);
        assert_eq!(wheel.expires_at(at_us(7), Span::from_nanos(3)), at_us(7) + Span::from_nanos(3));
    }

    /// 27 ms are seven ticks, and it expires with the one after them.
    #[test]
    fn a_short_timer_expires_with_the_tick_after_its_last() {
        assert_eq!(HZ_250.expires_at(at_us(0), Span::from_millis(27)), at_us(32_000));
        assert_eq!(HZ_250.expires_at(at_us(3_999), Span::from_millis(27)), at_us(32_000));
        assert_eq!(HZ_250.expires_at(at_us(4_000), Span::from_millis(27)), at_us(36_000));
    }

    /// A second is 250 ticks: slots of eight.
    #[test]
    fn a_long_timer_expires_with_the_next_multiple_of_its_slot() {
        assert_eq!(HZ_250.expires_at(at_us(0), Span::from_secs(1)), at_us(1_024_000));
        assert_eq!(HZ_250.expires_at(at_us(24_000), Span::from_secs(1)), at_us(1_056_000));
    }

    proptest! {
        /// Never early; late by two ticks, or an eighth of the timeout and what ticks round up.
        #[test]
        fn it_is_never_early_and_at_most_a_slot_late(
            now in 0_u64..10_000_000,
            after in 0_u64..120_000_000,
        ) {
            let (now, after) = (at_us(now), Span::from_micros(after));
            let late = HZ_250.expires_at(now, after).saturating_since(now + after);
            prop_assert!(HZ_250.expires_at(now, after) > now + after);
            let tick = Span::from_millis(4);
            prop_assert!(late <= tick * 2 || late <= after / 7 + tick * 2, "{late}");
        }
    }
}
