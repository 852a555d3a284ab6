//! How cwnd grows by Reno's rules, which several controls share: slow start and additive increase,
//! for every acknowledgment alike or for the bytes it acknowledges.

use super::{AckSample, Window};
use ackord_units::{Bytes, Keyword, Knob, KnobKind, Knobs};

/// What makes cwnd grow in slow start and congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Every acknowledgment counts alike (RFC 5681 §3.1 as first deployed).
    PerAck,
    /// The bytes it acknowledges count (RFC 3465).
    PerByte {
        /// L: in slow start at most so many segments' worth for one acknowledgment (§2.2).
        limit_segments: u64,
        /// The same in the slow start that follows a timeout, where §2.3 asks for one.
        limit_after_timeout_segments: u64,
    },
    /// Linux's: what an acknowledgment shows to be delivered counts, without a limit and whether
    /// it says so cumulatively or by SACK, once; what slow start leaves over counts beyond
    /// ssthresh, where one that covers several windows counts for each; ssthresh is whole segments.
    PerSegment,
}

/// Which of them, as a user says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum GrowthBy {
    /// [`Growth::PerAck`].
    PerAck,
    /// [`Growth::PerByte`].
    PerByte,
    /// [`Growth::PerSegment`].
    PerSegment,
}

pub(super) const GROWTH: Knob = Knob {
    name: "growth",
    kind: KnobKind::Choice(GrowthBy::WORDS),
    default: "per-ack",
    doc: "What makes cwnd grow: every acknowledgment alike, the bytes it acknowledges, or those it shows to \
          be delivered, without a limit, with what slow start leaves over counted beyond ssthresh, \
          which is whole segments",
    source: "RFC 5681 §3.1; RFC 3465 for per-byte; per-segment is Linux's",
};

/// Appropriate byte counting.
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
pub struct AbcKnobs {
    /// L of growth per byte: what an acknowledgment may count for in slow start at most
    #[knob(
        min = 1,
        max = 1_000,
        unit = "segments",
        default = "2",
        source = "RFC 3465 §2.2 (1 or 2); hystart = plus-plus has its own, RFC 9406 §4.3"
    )]
    abc_limit: u64,
    /// L of growth per byte in the slow start that follows a timeout; abc_limit when absent
    #[knob(min = 1, max = 1_000, unit = "segments", source = "RFC 3465 §2.3 asks for 1")]
    abc_limit_after_timeout: Option<u64>,
}

impl AbcKnobs {
    /// The growth with these limits.
    pub(super) fn growth(&self, by: GrowthBy) -> Growth {
        match by {
            GrowthBy::PerAck => Growth::PerAck,
            GrowthBy::PerByte => Growth::PerByte {
                limit_segments: self.abc_limit,
                limit_after_timeout_segments: self
                    .abc_limit_after_timeout
                    .unwrap_or(self.abc_limit),
            },
            GrowthBy::PerSegment => Growth::PerSegment,
        }
    }
}

/// What a slow start follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowStartAfter {
    /// A retransmission timeout: an acknowledgment may cover much that has left the network long ago.
    Timeout,
    /// The handshake, an idle time, or a loss detected otherwise.
    Other,
}

impl Growth {
    /// Growth per byte with the same limit always.
    pub const fn per_byte(limit_segments: u64) -> Growth {
        Growth::PerByte { limit_segments, limit_after_timeout_segments: limit_segments }
    }

    /// The bytes that an acknowledgment counts for.
    pub(crate) fn counted(self, ack: &AckSample) -> Bytes {
        match self {
            Growth::PerSegment => ack.delivered,
            Growth::PerAck | Growth::PerByte { .. } => ack.acked,
        }
    }

    /// What an acknowledgment of `acked` bytes counts for in slow start.
    pub(crate) fn slow_start_step(self, acked: Bytes, smss: Bytes, after: SlowStartAfter) -> Bytes {
        match (self, after) {
            (Growth::PerAck, _) => smss,
            (Growth::PerByte { limit_segments, .. }, SlowStartAfter::Other) => {
                acked.min(smss * limit_segments)
            }
            (Growth::PerByte { limit_after_timeout_segments, .. }, SlowStartAfter::Timeout) => {
                acked.min(smss * limit_after_timeout_segments)
            }
            (Growth::PerSegment, _) => acked,
        }
    }

    /// What an acknowledgment of `acked` bytes counts for beyond it, where RFC 3465 has no limit.
    pub(crate) fn avoidance_step(self, acked: Bytes, smss: Bytes) -> Bytes {
        match self {
            Growth::PerAck => smss,
            Growth::PerByte { .. } | Growth::PerSegment => acked,
        }
    }

    /// What is left of `acked` bytes for congestion avoidance once slow start has used `step`.
    pub(crate) fn left_over(self, acked: Bytes, step: Bytes) -> Bytes {
        match self {
            Growth::PerAck | Growth::PerByte { .. } => Bytes::ZERO,
            Growth::PerSegment => acked.saturating_sub(step),
        }
    }
}

/// Reno's growth: the window doubles in a round trip below ssthresh and gains a segment above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Increase {
    growth: Growth,
    /// Growth in congestion avoidance that does not yet make a whole byte (per ack) or a whole
    /// window (per byte).
    carried: u64,
}

impl Increase {
    /// An acknowledgment may open the window.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.grow(window, self.growth.counted(ack));
    }

    /// Lowers ssthresh to this share (RFC 5681 Eq. 4), as the growth counts.
    pub(crate) fn reduce_ssthresh(&self, window: &mut Window, flight_size: Bytes, factor: f64) {
        match self.growth {
            Growth::PerSegment => window.reduce_ssthresh_to_whole_segments(flight_size, factor),
            Growth::PerAck | Growth::PerByte { .. } => window.reduce_ssthresh(flight_size, factor),
        }
    }

    pub(crate) fn new(growth: Growth) -> Increase {
        Increase { growth, carried: 0 }
    }

    /// The same for one that counts for `acked` bytes.
    fn grow(&mut self, window: &mut Window, acked: Bytes) {
        if !window.in_slow_start() {
            return self.avoid(window, acked);
        }
        let before = window.cwnd;
        window.slow_start(acked, self.growth);
        let left = self.growth.left_over(acked, window.cwnd - before);
        if left > Bytes::ZERO {
            self.avoid(window, left);
        }
    }

    fn avoid(&mut self, window: &mut Window, acked: Bytes) {
        let Window { smss, cwnd, .. } = *window;
        match self.growth {
            // RFC 5681 Eq. 3: cwnd += SMSS * SMSS / cwnd, the remainder kept so that rounding
            // does not slow large windows down.
            Growth::PerAck => {
                self.carried += smss.get() * smss.get();
                window.cwnd += Bytes(self.carried / cwnd.get());
                self.carried %= cwnd.get();
            }
            // RFC 3465 §2.1: one segment for every full window acknowledged.
            Growth::PerByte { .. } => {
                self.carried += acked.get();
                if self.carried >= cwnd.get() {
                    self.carried -= cwnd.get();
                    window.cwnd += smss;
                }
            }
            // The same, but all at once, by the window as it was.
            Growth::PerSegment => {
                self.carried += acked.get();
                window.cwnd += smss * (self.carried / cwnd.get());
                self.carried %= cwnd.get();
            }
        }
    }

    /// The window was reduced: growth begins anew.
    pub(crate) fn forget(&mut self) {
        self.carried = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3465 §2.1 with nothing rounded away: after windows of 10, 11, 12 .. segments' worth of
    /// bytes the window has grown by exactly one segment each, however they were acknowledged.
    #[test]
    fn per_byte_avoidance_is_exact_for_any_size_of_acknowledgment() {
        for size in [1, 536, 1000, 1460, 2920, 7300] {
            let (smss, cwnd) = (Bytes(1460), Bytes(14_600));
            let mut window = Window { smss, cwnd, ssthresh: Bytes(2), ..Window::new() };
            let mut increase = Increase::new(Growth::per_byte(2));
            let (mut acked, mut due) = (0u64, 0u64);
            for windows in 0..30 {
                due += 14_600 + 1460 * windows;
                while acked < due {
                    let bytes = size.min(due - acked);
                    increase.grow(&mut window, Bytes(bytes));
                    acked += bytes;
                }
                assert_eq!(window.cwnd, Bytes(14_600 + 1460 * (windows + 1)), "by {size}");
            }
            assert_eq!(increase.carried, 0);
        }
    }

    /// Ten segments acknowledged at once, one below an ssthresh of two: nine are left, which are
    /// four windows of two.
    #[test]
    fn per_segment_nothing_of_an_acknowledgment_is_lost() {
        let (smss, cwnd) = (Bytes(1000), Bytes(1000));
        let window = Window { smss, cwnd, ssthresh: Bytes(2000), ..Window::new() };
        let grown = |growth| {
            let mut window = window;
            Increase::new(growth).grow(&mut window, Bytes(10_000));
            window.cwnd
        };
        assert_eq!(grown(Growth::PerSegment), Bytes(6000));
        assert_eq!(grown(Growth::per_byte(1000)), Bytes(2000));
        // Segment by segment it makes no difference.
        let one_by_one = |growth| {
            let (mut window, mut increase) = (window, Increase::new(growth));
            (0..100).for_each(|_| increase.grow(&mut window, Bytes(1000)));
            window.cwnd
        };
        let per_byte = Growth::per_byte(2);
        assert_eq!(one_by_one(Growth::PerSegment), one_by_one(per_byte));
    }

    #[test]
    fn slow_start_counts_at_most_l_segments_of_an_acknowledgment() {
        for (limit_segments, step) in [(1, 1000), (2, 2000), (3, 3000), (8, 3000)] {
            let growth = Growth::per_byte(limit_segments);
            let counted = growth.slow_start_step(Bytes(3000), Bytes(1000), SlowStartAfter::Other);
            assert_eq!(counted, Bytes(step));
        }
        let per_ack = Growth::PerAck;
        let counted = per_ack.slow_start_step(Bytes(3000), Bytes(1000), SlowStartAfter::Other);
        assert_eq!(counted, Bytes(1000));
    }

    /// RFC 3465 §2.3: one segment in the slow start after a timeout, the ordinary limit in others.
    #[test]
    fn after_a_timeout_another_limit_holds_until_another_slow_start() {
        let growth = Growth::PerByte { limit_segments: 2, limit_after_timeout_segments: 1 };
        let mut window = Window { smss: Bytes(1000), cwnd: Bytes(10_000), ..Window::new() };
        window.slow_start(Bytes(3000), growth);
        assert_eq!(window.cwnd, Bytes(12_000));
        window.time_out();
        window.slow_start(Bytes(3000), growth);
        assert_eq!(window.cwnd, Bytes(2000));
        window.set(Bytes(10_000), Bytes::MAX);
        window.slow_start(Bytes(3000), growth);
        assert_eq!(window.cwnd, Bytes(12_000));
    }
}
