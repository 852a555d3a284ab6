//! When a small segment has to wait: Nagle's algorithm and its variants.

mechanisms! {
    /// Nagle's algorithm and its variants: when a small segment waits.
    pub enum NagleVariant: dyn NagleConfig {
        mod rfc => Off(NagleOffConfig), On(NagleOnConfig);
        mod minshall => Minshall(MinshallConfig);
        mod ari => Ari(AriNagleConfig);
    }
}

/// What every variant's knobs lead to.
pub trait NagleConfig {
    /// The variant at the start of a connection.
    fn build(&self) -> Box<dyn Nagle>;
}

pub use ari::Ari;
pub use minshall::Minshall;
pub use rfc::{Off, On};

use crate::plug_in::copied_in_boxes;
use ackord_units::{Seq, mechanisms};
use std::fmt;

/// A segment shorter than a full one that the sender would like to send.
#[derive(Clone, Copy, Debug)]
pub struct SmallSegment {
    /// Oldest byte not yet acknowledged.
    pub snd_una: Seq,
    /// First byte of the segment.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::Verdict;

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
