//! How long the way is from the capture point to one end and back.
//!
//! An end that takes a packet of the other one with TSval `v` echoes `v` in what it sends then
//! (RFC 7323 §4.3): from the first packet with `v` to the first echo of `v`, both seen at the capture
//! point, a packet went to that end and one came back. Where there are no timestamps the handshake
//! and the quickest answers say it.

use ackord_units::{Span, Time};
use std::collections::VecDeque;

/// Timestamps kept; one for each millisecond that is under way.
const MOST_STAMPS: usize = 4096;

/// Rises of half and this much more are leaps; so many in a row are believed.
const LEAP: Span = Span::from_millis(20);
const LEAPS: u8 = 2;

/// The round trip between the capture point and one end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delay {
    /// The shortest.
    pub(crate) least: Option<Span>,
    /// The latest.
    pub(crate) now: Span,
    /// How many samples.
    pub(crate) samples: u32,
    leaps: u8,
    /// What the end has yet to echo: TSval, and when it passed first.
    stamps: VecDeque<(u32, Time)>,
    /// The latest TSval. Slow clocks repeat it after it was echoed.
    latest: Option<u32>,
}

impl Delay {
    /// One measurement. A leap is believed when it stays: an end that waits for a timer echoes late, too.
    #[inline]
    pub(crate) fn sample(&mut self, span: Span) {
        let leap = span > self.now + Span::from_nanos(self.now.as_nanos() / 2) + LEAP;
        self.leaps = if leap { self.leaps + 1 } else { 0 };
        if !leap || self.samples == 0 || self.leaps > LEAPS {
            self.now = span;
            self.leaps = 0;
        }
        self.samples = self.samples.saturating_add(1);
        self.least = Some(self.least.map_or(span, |least| least.min(span)));
    }

    /// One measurement by an answer that may have waited: only the shortest counts.
    #[inline]
    pub(crate) fn sample_answer(&mut self, span: Span) {
        self.samples = self.samples.saturating_add(1);
        let least = self.least.map_or(span, |least| least.min(span));
        self.least = Some(least);
        self.now = least;
    }

    /// A packet with this TSval passed on its way to the end.
    #[inline]
    pub(crate) fn passed(&mut self, value: u32, at: Time) {
        match self.latest {
            Some(last) if (value.wrapping_sub(last) as i32) <= 0 => {}
            _ => {
                self.latest = Some(value);
                if self.stamps.len() == MOST_STAMPS {
                    self.stamps.pop_front();
                }
                self.stamps.push_back((value, at));
            }
        }
    }

    /// The end has echoed this TSval; a sample the first time it does.
    #[inline]
    pub(crate) fn echoed(&mut self, value: u32, at: Time) -> Option<Span> {
        while let Some((first, passed)) = self.stamps.front().copied() {
            let ahead = value.wrapping_sub(first) as i32;
            if ahead < 0 {
                return None;
            }
            self.stamps.pop_front();
            if ahead == 0 {
                return Some(at.saturating_since(passed));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_echo_of_a_timestamp_is_a_round_trip() {
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        let mut delay = Delay::default();
        for (value, passed) in [(u32::MAX, 0), (u32::MAX, 1), (0, 2), (3, 5)] {
            delay.passed(value, at(passed));
        }
        assert_eq!(delay.echoed(u32::MAX, at(30)), Some(Span::from_millis(30)));
        assert_eq!(delay.echoed(u32::MAX, at(31)), None);
        // The one between was overtaken by an echo of the next.
        assert_eq!(delay.echoed(3, at(40)), Some(Span::from_millis(35)));
        assert_eq!(delay.echoed(0, at(41)), None);
    }
}
