//! When a small segment has to wait: Nagle's algorithm and Minshall's variant.

use crate::ack::Verdict;
use crate::plug_in::copied_in_boxes;
use ackord_units::Seq;
use std::fmt;

/// A segment shorter than a full one that the sender would like to send.
#[derive(Clone, Copy, Debug)]
pub struct SmallSegment {
    /// Oldest octet not yet acknowledged.
    pub snd_una: Seq,
    /// First octet of the segment.
    pub snd_nxt: Seq,
}

copied_in_boxes!(Nagle, CopiedNagle);

/// Decides whether a small segment may leave now. Full-sized segments and the last of a closed
/// stream are never asked about.
pub trait Nagle: CopiedNagle + Send + fmt::Debug {
    /// Whether the segment may leave.
    fn may_send(&self, segment: &SmallSegment) -> bool;

    /// A small segment that ends before `end` has left.
    fn on_small_sent(&mut self, _end: Seq) {}
}

/// Never waits (TCP_NODELAY).
#[derive(Clone, Copy, Debug, Default)]
pub struct Off;

impl Nagle for Off {
    fn may_send(&self, _: &SmallSegment) -> bool {
        true
    }
}

/// Waits while anything is unacknowledged (RFC 896, RFC 1122 §4.2.3.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct On;

impl Nagle for On {
    fn may_send(&self, segment: &SmallSegment) -> bool {
        segment.snd_una == segment.snd_nxt
    }
}

/// Waits only while an earlier small segment is unacknowledged (Minshall; what Linux does).
#[derive(Clone, Copy, Debug, Default)]
pub struct Minshall {
    last_small_end: Option<Seq>,
}

impl Nagle for Minshall {
    fn may_send(&self, segment: &SmallSegment) -> bool {
        self.last_small_end.is_none_or(|end| end.at_or_before(segment.snd_una))
    }

    fn on_small_sent(&mut self, end: Seq) {
        self.last_small_end = Some(end);
    }
}

/// ARI's half at the sender (Lee et al. 2016, Algorithm 1 line 2 and §3.2): never waits, unless the
/// application's history says that it moves bulk; then Nagle's algorithm is back.
#[derive(Clone, Copy, Debug)]
pub struct Ari {
    verdict: Verdict,
}

impl Ari {
    /// Nagle's algorithm by the verdict on the application.
    pub fn new(verdict: Verdict) -> Ari {
        Ari { verdict }
    }
}

impl Nagle for Ari {
    fn may_send(&self, segment: &SmallSegment) -> bool {
        match self.verdict {
            Verdict::Short => Off.may_send(segment),
            Verdict::Bulk => On.may_send(segment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(snd_una: u32, snd_nxt: u32) -> SmallSegment {
        SmallSegment { snd_una: Seq(snd_una), snd_nxt: Seq(snd_nxt) }
    }

    #[test]
    fn nagle_holds_a_small_segment_while_anything_is_outstanding() {
        assert!(!On.may_send(&small(0, 100)));
        assert!(On.may_send(&small(100, 100)));
    }

    #[test]
    fn minshall_holds_only_behind_another_small_segment() {
        let mut minshall = Minshall::default();
        assert!(minshall.may_send(&small(0, 1460)));
        minshall.on_small_sent(Seq(1500));
        assert!(!minshall.may_send(&small(0, 2960)));
        assert!(minshall.may_send(&small(1500, 2960)));
    }

    #[test]
    fn ari_holds_small_segments_of_bulk_applications_only() {
        assert!(Ari::new(Verdict::Short).may_send(&small(0, 100)));
        assert!(!Ari::new(Verdict::Bulk).may_send(&small(0, 100)));
        assert!(Ari::new(Verdict::Bulk).may_send(&small(100, 100)));
    }
}
