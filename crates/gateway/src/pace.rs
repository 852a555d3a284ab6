//! How fast a connection is: what is much faster than any link that a remedy is for is let pass.

use ackord_units::{Rate, Span, Time};

/// Over so long a pace is taken.
const WINDOW: Span = Span::from_millis(100);

/// The pace of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    began: Time,
    octets: u64,
    is_fast: bool,
}

impl Pace {
    /// Of one that begins.
    pub fn new(now: Time) -> Pace {
        Pace { began: now, octets: 0, is_fast: false }
    }

    /// So much passed. Answers whether it has become fast just now: faster than `limit`. It is no longer when
    /// it is half as fast.
    pub fn passed(&mut self, now: Time, octets: u64, limit: Rate) -> bool {
        let since = now.saturating_since(self.began);
        let mut has_become_fast = false;
        if since >= WINDOW {
            let most = limit.bytes_in(since).get();
            let was_fast = self.is_fast;
            self.is_fast = self.octets > if was_fast { most / 2 } else { most };
            has_become_fast = self.is_fast && !was_fast;
            (self.began, self.octets) = (now, 0);
        }
        self.octets = self.octets.saturating_add(octets);
        has_become_fast
    }

    /// Whether it is.
    pub fn is_fast(&self) -> bool {
        self.is_fast
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_is_who_exceeds_the_limit_until_half_of_it() {
        let limit = Rate::from_mbits_per_sec(8);
        let mut pace = Pace::new(Time::ZERO);
        // So many octets a millisecond, for a second each.
        let mut millis = 0;
        let mut turns = Vec::new();
        for octets in [900, 1_100, 600, 400, 900, 0, 1_100] {
            for _ in 0..1_000 {
                let now = Time::ZERO + Span::from_millis(millis);
                if pace.passed(now, octets, limit) {
                    turns.push(millis / 1_000);
                }
                millis += 1;
            }
            turns.push(u64::from(pace.is_fast()) + 100);
        }
        assert_eq!(turns, [100, 1, 101, 101, 100, 100, 100, 6, 101]);
    }
}
