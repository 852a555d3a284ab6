//! How fast a connection is: what is much faster than any link that a remedy is for is let pass.

use ackord_units::{Rate, Span, Time};

/// Over so long a pace is taken.
const WINDOW: Span = Span::from_millis(100);

/// The pace of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    began: Time,
    bytes: u64,
    is_fast: bool,
}

impl Pace {
    /// Of one that begins.
    pub fn new(now: Time) -> Pace {
        Pace { began: now, bytes: 0, is_fast: false }
    }

    /// So much passed.
    pub fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Looks at it where enough time has passed. Answers whether it has become fast just now, faster than
    /// `limit`, or is so no longer: half as fast.
    pub fn look(&mut self, now: Time, limit: Rate) -> bool {
        let since = now.saturating_since(self.began);
        if since < WINDOW {
            return false;
        }
        let was_fast = self.is_fast;
        let most = limit.bytes_in(since).get();
        self.is_fast = self.bytes > if was_fast { most / 2 } else { most };
        self.begin(now);
        self.is_fast != was_fast
    }

    /// What passed before is not looked at.
    pub fn begin(&mut self, now: Time) {
        (self.began, self.bytes) = (now, 0);
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
        // So many bytes a millisecond, for a second each.
        let mut millis = 0;
        let mut turns = Vec::new();
        for bytes in [900, 1_100, 600, 400, 900, 0, 1_100] {
            for _ in 0..1_000 {
                let now = Time::ZERO + Span::from_millis(millis);
                if pace.look(now, limit) && pace.is_fast() {
                    turns.push(millis / 1_000);
                }
                pace.add(bytes);
                millis += 1;
            }
            turns.push(u64::from(pace.is_fast()) + 100);
        }
        assert_eq!(turns, [100, 1, 101, 101, 100, 100, 100, 6, 101]);
    }
}
