//! When a packet was sent, by the sender's own clock.
//!
//! TSval (RFC 7323) is a clock of the sender: what it says, less what it says of the packet that came
//! with the least delay, is how long a packet waited on its way to the capture point.

use ackord_units::{Span, Time};

/// Ticks per second are known after this.
const LEARN: Span = Span::from_millis(300);
/// Clocks that stacks have, Hz.
const KNOWN: [f64; 5] = [10.0, 100.0, 200.0, 250.0, 1000.0];
/// The two clocks may part by this share.
const DRIFT: f64 = 1e-4;

/// The clock of one end.
#[derive(Clone, Copy, Debug, Default)]
struct StampClock {
    first: Option<(u32, Time)>,
    /// Ticks per second, once known.
    hz: f64,
    /// The least difference, s, and when it was seen, s; a first one has been seen.
    least: f64,
    least_at: f64,
    anchored: bool,
}

impl StampClock {
    /// Takes a packet with this TSval for one that did not wait.
    fn anchor(&mut self, value: u32, at: Time) {
        if let Some((first, began)) = self.first.as_mut() {
            (*first, *began) = (value, at);
            (self.least, self.least_at, self.anchored) = (0.0, 0.0, true);
        }
    }

    /// How long a packet with this TSval waited on its way here; nothing while that cannot be told.
    fn waited(&mut self, value: u32, at: Time) -> Option<Span> {
        let Some((first, began)) = self.first else {
            self.first = Some((value, at));
            return None;
        };
        let elapsed = at.saturating_since(began).as_secs_f64();
        let ticks = f64::from(value.wrapping_sub(first) as i32);
        if self.hz == 0.0 {
            if elapsed >= LEARN.as_secs_f64() {
                let near = |hz: &&f64| (ticks / elapsed - **hz).abs() < 0.2 * **hz;
                self.hz = KNOWN.iter().find(near).copied().unwrap_or(-1.0);
            }
            return None;
        }
        if self.hz < 0.0 {
            return None;
        }
        let late = elapsed - ticks / self.hz;
        let floor = self.least + (elapsed - self.least_at) * DRIFT;
        if late <= floor || !self.anchored {
            (self.least, self.least_at, self.anchored) = (late, elapsed, true);
            return Some(Span::ZERO);
        }
        // Known to a tick.
        Some(Span::from_secs_f64((late - floor - 1.0 / self.hz).max(0.0)))
    }
}

/// How long packets of one end waited on their way here, by its clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lateness {
    clock: StampClock,
    /// The last packet, and the one before that.
    pub(crate) now: Span,
    pub(crate) before: Span,
    /// TSval of the last packet.
    last: u32,
}

impl Lateness {
    /// Returns true if a packet with these timestamps was sent no later than the last one.
    pub(crate) fn is_behind(&self, timestamps: Option<(u32, u32)>) -> bool {
        timestamps.is_some_and(|(value, _)| (value.wrapping_sub(self.last) as i32) <= 0)
    }

    /// Takes the TSval of a packet. If the connection `rested` before it, nothing shows how long it waited, and
    /// the clock is anchored anew.
    pub(crate) fn take(&mut self, value: u32, at: Time, rested: bool) {
        self.before = self.now;
        self.last = value;
        if rested {
            self.clock.anchor(value, at);
        }
        self.now = self.clock.waited(value, at).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_after_a_rest_has_not_waited_though_the_clock_was_suspended() {
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        let mut lateness = Lateness::default();
        for millis in 0..500_u64 {
            lateness.take(7000 + millis as u32, at(millis), false);
        }
        // 205 s pass, of which the clock counts 10 ms.
        lateness.take(7510, at(205_500), true);
        assert_eq!(lateness.now, Span::ZERO);
        lateness.take(7610, at(205_650), false);
        assert_eq!(lateness.now.as_millis(), 48);
    }

    #[test]
    fn a_packet_that_waited_is_late_by_its_own_clock() {
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        let mut clock = StampClock::default();
        for millis in 0..500_u64 {
            clock.waited(7000 + millis as u32, at(20 + millis));
        }
        // Sent at 600, it came 80 ms later than it could.
        let waited = clock.waited(7600, at(20 + 680)).map_or(0, Span::as_millis);
        assert_eq!(waited, 78);
        assert_eq!(clock.waited(7700, at(20 + 700)).map(Span::as_millis), Some(0));
    }
}
