//! Whether a window grows by what is acknowledged (slow start) or slowly (RFC 5681 §3.1).
//!
//! Told by how much is under way in one round trip after the other. Slow start begins with the
//! connection and after a timeout, and ends with a loss, where it reaches what was under way before
//! the last loss, less a third, or where two rounds do not grow by a fifth.

/// Rounds without growth that end slow start.
const FLAT_ROUNDS: u8 = 2;

/// The growth of one direction's window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    slow_start: bool,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
    most: u64,
    most_before: u64,
    flat: u8,
    /// What slow start goes up to, after a timeout.
    threshold: u64,
}

impl Default for Phase {
    fn default() -> Phase {
        Phase {
            slow_start: true,
            round_end: 0,
            most: 0,
            most_before: 0,
            flat: 0,
            threshold: u64::MAX,
        }
    }
}

impl Phase {
    #[inline]
    pub(crate) fn is_slow_start(&self) -> bool {
        self.slow_start
    }

    /// This much is under way now.
    #[inline]
    pub(crate) fn sent(&mut self, under_way: u64) {
        self.most = self.most.max(under_way);
        if self.slow_start && under_way >= self.threshold {
            self.slow_start = false;
        }
    }

    /// Bytes that were under way at most in this round trip and the one before.
    pub(crate) fn window(&self) -> u64 {
        self.most.max(self.most_before)
    }

    /// The sender knows that everything before `una` arrived; `next` is the byte it sends next.
    #[inline]
    pub(crate) fn heard(&mut self, una: u64, next: u64) {
        if una < self.round_end || self.most == 0 {
            return;
        }
        self.round_end = next;
        if self.slow_start && self.most_before > 0 {
            let grew = self.most * 5 >= self.most_before * 6;
            self.flat = if grew { 0 } else { self.flat + 1 };
            if self.flat >= FLAT_ROUNDS {
                self.slow_start = false;
            }
        }
        self.most_before = self.most;
        self.most = 0;
    }

    /// Fast recovery: from here on the window grows slowly.
    pub(crate) fn lost(&mut self) {
        self.slow_start = false;
    }

    /// A timeout with this much under way: slow start again, up to two thirds of it.
    pub(crate) fn timed_out(&mut self, under_way: u64) {
        *self = Phase { threshold: under_way * 2 / 3, ..Phase::default() };
    }
}
