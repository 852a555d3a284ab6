//! What one end has sent and the other has not acknowledged, by exact byte ranges.
//!
//! Offsets count the bytes of one direction from the SYN, which is byte 0. A *hole* is a range
//! below the highest byte seen that the capture has not shown: lost before the capture point, or
//! overtaken.

use ackord_units::Time;
use std::collections::VecDeque;

/// A packet at the capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passing {
    /// When it passed.
    pub(crate) at: Time,
    /// Bytes of payload that had passed in its direction before it, modulo 2^32.
    pub(crate) before: u32,
    /// Full segments that had passed in the same burst before it.
    pub(crate) burst: u8,
}

/// A segment under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outstanding {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// When it passed the capture point, the last time.
    pub(crate) sent: Passing,
    /// How often it did.
    pub(crate) sends: u8,
    pub(crate) sacked: bool,
}

/// Bytes that the capture has not shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// When a later byte was seen.
    pub(crate) opened: Time,
    /// When its first packet should have passed.
    pub(crate) missed: Passing,
}

/// What the bytes of a segment are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Novelty {
    /// Beyond all that was seen.
    pub(crate) new: u64,
    /// In a hole: not seen before, though later bytes were.
    pub(crate) filled: u64,
    /// Seen before.
    pub(crate) again: u64,
    /// When the hole was opened that it fills, and when the first packet of it should have passed.
    pub(crate) hole_opened: Option<Time>,
    pub(crate) missed: Option<Passing>,
    /// How often a segment seen before had been sent, and the last transmission of the first of these.
    pub(crate) sends_before: u8,
    pub(crate) sent_before: Option<Passing>,
}

/// What one packet acknowledges, cumulatively and selectively.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    /// When the last of it was sent, if that was once only (Karn and Partridge).
    pub(crate) sent: Option<Time>,
    /// Bytes that were not acknowledged before.
    pub(crate) delivered: u64,
    /// Those of them that were sent once only.
    pub(crate) once: u64,
    /// Bytes that the capture never had.
    pub(crate) missing: u64,
}

impl Acknowledged {
    fn take(&mut self, segment: &Outstanding) {
        let bytes = segment.to - segment.from;
        self.delivered += bytes;
        if segment.sends == 1 {
            self.once += bytes;
            self.sent = Some(segment.sent.at);
        }
    }
}

/// More holes than this are not kept apart.
const MOST_HOLES: usize = 512;

/// One direction's segments under way, in order of their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight {
    segments: VecDeque<Outstanding>,
    holes: Vec<Hole>,
    /// Longest segment that arrived when it was sent the first time, bytes.
    pub(crate) longest_arrived: u64,
}

impl InFlight {
    /// Takes a segment in; `next` is the byte after the highest one seen before it. Bytes between them are
    /// missing: they should have passed at `missed`.
    #[inline]
    pub(crate) fn sent(
        &mut self,
        (from, to): (u64, u64),
        next: u64,
        sent: Passing,
        missed: Passing,
    ) -> Novelty {
        if from >= next {
            if from > next && self.holes.len() < MOST_HOLES {
                self.holes.push(Hole { from: next, to: from, opened: sent.at, missed });
            }
            // Most requests are one segment; a `VecDeque` would begin with room for four.
            if self.segments.capacity() == 0 {
                self.segments.reserve_exact(1);
            }
            self.segments.push_back(Outstanding { from, to, sent, sends: 1, sacked: false });
            return Novelty { new: to - from, ..Novelty::default() };
        }
        self.sent_behind(from, to, next, sent)
    }

    #[cold]
    fn sent_behind(&mut self, from: u64, to: u64, next: u64, sent: Passing) -> Novelty {
        let old_to = to.min(next);
        let mut novelty = Novelty { new: to - old_to, ..Novelty::default() };
        (novelty.filled, novelty.missed) = self.fill(from, old_to, &mut novelty.hole_opened);
        novelty.again = (old_to - from) - novelty.filled;
        let first = self.segments.partition_point(|segment| segment.to <= from);
        let mut touched = false;
        for segment in self.segments.range_mut(first..).take_while(|segment| segment.from < to) {
            novelty.sends_before = novelty.sends_before.max(segment.sends);
            novelty.sent_before.get_or_insert(segment.sent);
            segment.sends = segment.sends.saturating_add(1);
            segment.sent = sent;
            touched = true;
        }
        if novelty.filled > 0 && !touched {
            let filled = Outstanding { from, to: old_to, sent, sends: 2, sacked: false };
            self.segments.insert(first, filled);
        }
        if novelty.new > 0 {
            let fresh = Outstanding { from: next, to, sent, sends: 1, sacked: false };
            self.segments.push_back(fresh);
        }
        novelty
    }

    /// Takes what these bytes close of holes; returns how many they were, and when they should have passed.
    fn fill(&mut self, from: u64, to: u64, opened: &mut Option<Time>) -> (u64, Option<Passing>) {
        let (mut filled, mut missed) = (0, None);
        let mut index = self.holes.partition_point(|hole| hole.to <= from);
        while let Some(hole) = self.holes.get(index).copied().filter(|hole| hole.from < to) {
            let (start, end) = (hole.from.max(from), hole.to.min(to));
            filled += end - start;
            if opened.is_none_or(|before| hole.opened < before) {
                (*opened, missed) = (Some(hole.opened), Some(hole.missed));
            }
            self.holes.remove(index);
            if end < hole.to {
                self.holes.insert(index, Hole { from: end, ..hole });
            }
            if hole.from < start {
                self.holes.insert(index, Hole { to: start, ..hole });
                index += 1;
            }
            if end < hole.to {
                break;
            }
        }
        (filled, missed)
    }

    /// Forgets what is acknowledged up to `ack`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, ack: u64) -> Acknowledged {
        let mut all = Acknowledged::default();
        while let Some(segment) = self.segments.front().copied() {
            if segment.to > ack {
                break;
            }
            if segment.sends == 1 {
                self.longest_arrived = self.longest_arrived.max(segment.to - segment.from);
            }
            if !segment.sacked {
                all.sent = None;
                all.take(&segment);
            }
            self.segments.pop_front();
        }
        while let Some(hole) = self.holes.first_mut().filter(|hole| hole.from < ack) {
            all.missing += hole.to.min(ack) - hole.from;
            if hole.to > ack {
                hole.from = ack;
                break;
            }
            self.holes.remove(0);
        }
        all.delivered += all.missing;
        all
    }

    /// Marks what a SACK block covers, and notes what is new of it.
    #[inline]
    pub(crate) fn sacked(&mut self, from: u64, to: u64, all: &mut Acknowledged) {
        let first = self.segments.partition_point(|segment| segment.from < from);
        for segment in self.segments.range_mut(first..).take_while(|segment| segment.to <= to) {
            if !segment.sacked {
                segment.sacked = true;
                all.take(segment);
            }
        }
    }

    /// Returns when the first of the segments under way passed the capture point.
    pub(crate) fn oldest(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.sent.at)
    }

    /// Segments under way: all, and those acknowledged selectively.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let sacked = self.segments.iter().filter(|segment| segment.sacked).count();
        (self.segments.len() as u32, sacked as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Passing {
        Passing { at: Time::from_nanos(millis * 1_000_000), ..Passing::default() }
    }

    #[test]
    fn bytes_are_new_once_and_again_ever_after() {
        let mut flight = InFlight::default();
        assert_eq!(flight.sent((1, 101), 1, at(0), at(0)).new, 100);
        let again = flight.sent((1, 101), 101, at(5), at(5));
        assert_eq!((again.new, again.again, again.sends_before), (0, 100, 1));
        // What was sent twice gives no round-trip time.
        let all = flight.acknowledged(101);
        assert_eq!((all.sent, all.delivered, all.missing), (None, 100, 0));
        // Half of it known, half of it new.
        let over = flight.sent((51, 151), 101, at(6), at(6));
        assert_eq!((over.new, over.again), (50, 50));
    }

    #[test]
    fn a_first_transmission_behind_later_ones_is_no_retransmission() {
        let mut flight = InFlight::default();
        flight.sent((1, 101), 1, at(0), at(0));
        flight.sent((201, 301), 101, at(1), at(1));
        let middle = flight.sent((151, 201), 301, at(2), at(2));
        assert_eq!((middle.new, middle.filled, middle.again), (0, 50, 0));
        assert_eq!(middle.hole_opened, Some(at(1).at));
        assert_eq!(flight.holes.first().map(|hole| (hole.from, hole.to)), Some((101, 151)));
        // The rest of the hole never came: acknowledged, and not in the capture.
        assert_eq!(flight.acknowledged(301).missing, 50);
    }

    #[test]
    fn one_segment_may_close_several_holes() {
        let mut flight = InFlight::default();
        flight.sent((11, 21), 1, at(0), at(0));
        flight.sent((31, 41), 21, at(1), at(1));
        let all = flight.sent((1, 41), 41, at(2), at(2));
        assert_eq!((all.filled, all.again), (20, 20));
        assert!(flight.holes.is_empty());
    }
}
