//! What has arrived ahead of the next byte expected, and the SACK blocks that tell of it.

use ackord_units::Seq;
use ackord_wire::{MAX_SACK_BLOCKS, SackBlock, SackBlocks};

/// Ranges of bytes above `rcv_nxt`, disjoint, not adjacent, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    ranges: Vec<SackBlock>,
    /// Those of them last reported, most recent first (RFC 2018 §4).
    recent: Vec<SackBlock>,
}

impl Reassembly {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether every byte of the range has arrived.
    pub(crate) fn contains(&self, start: Seq, end: Seq) -> bool {
        self.around(start, end).is_some()
    }

    /// Whether everything lies before `start`.
    #[inline]
    fn lies_before(&self, start: Seq) -> bool {
        self.ranges.last().is_none_or(|highest| highest.end.at_or_before(start))
    }

    /// The range in which these bytes lie, if they have arrived.
    fn around(&self, start: Seq, end: Seq) -> Option<&SackBlock> {
        if self.lies_before(start) && start.before(end) {
            return None;
        }
        // Of those that begin no later, the last reaches farthest.
        let begun = self.ranges.partition_point(|range| range.start.at_or_before(start));
        let range = self.ranges.get(begun.checked_sub(1)?)?;
        end.at_or_before(range.end).then_some(range)
    }

    /// The lowest bytes of the range that have arrived.
    pub(crate) fn overlap(&self, start: Seq, end: Seq) -> Option<SackBlock> {
        if self.lies_before(start) {
            return None;
        }
        let past = self.ranges.partition_point(|range| range.end.at_or_before(start));
        let range = self.ranges.get(past)?;
        let block = SackBlock { start: range.start.max(start), end: range.end.min(end) };
        block.start.before(block.end).then_some(block)
    }

    /// Adds a range, merging it with those it touches.
    pub(crate) fn insert(&mut self, start: Seq, end: Seq) {
        if !self.lengthen_highest(start, end) {
            self.insert_anywhere(start, end);
        }
    }

    /// What comes after a loss mostly lengthens the highest range, which was the last to grow.
    #[inline]
    fn lengthen_highest(&mut self, start: Seq, end: Seq) -> bool {
        let (Some(highest), Some(latest)) = (self.ranges.last_mut(), self.recent.first_mut())
        else {
            return false;
        };
        let lengthens = highest.end == start && start.before(end) && highest == latest;
        if lengthens {
            highest.end = end;
            latest.end = end;
        }
        lengthens
    }

    fn insert_anywhere(&mut self, start: Seq, end: Seq) {
        let first = self.ranges.partition_point(|range| range.end.before(start));
        let past = self.ranges.partition_point(|range| range.start.at_or_before(end));
        let merged = match self.ranges.get(first..past) {
            Some([lowest, .., highest]) => {
                SackBlock { start: lowest.start.min(start), end: highest.end.max(end) }
            }
            Some([only]) => SackBlock { start: only.start.min(start), end: only.end.max(end) },
            _ => SackBlock { start, end },
        };
        self.ranges.splice(first..past, [merged]);
        let is_apart = |range: &SackBlock| {
            range.start.before(merged.start) || range.start.at_or_after(merged.end)
        };
        self.recent.retain(is_apart);
        self.recent.insert(0, merged);
        self.recent.truncate(MAX_SACK_BLOCKS);
    }

    /// Takes out the range that `rcv_nxt` has reached, if any, and returns its end.
    pub(crate) fn take_reached(&mut self, rcv_nxt: Seq) -> Option<Seq> {
        let mut reached = None;
        while let Some(range) = self.ranges.first() {
            if range.start.after(rcv_nxt) {
                break;
            }
            let range = self.ranges.remove(0);
            self.recent.retain(|recent| *recent != range);
            if range.end.after(rcv_nxt) {
                reached = Some(range.end);
            }
        }
        reached
    }

    /// Up to `room` blocks: the one that grew last first, then those reported before it. Bytes
    /// received twice come before them all, followed by the block they lie in, if they do
    /// (RFC 2883 §4).
    pub(crate) fn sack_blocks(&self, room: usize, duplicate: Option<SackBlock>) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let mut around = None;
        if let Some(duplicate) = duplicate {
            blocks.push(duplicate);
            around = self.around(duplicate.start, duplicate.end);
            if let Some(around) = around.filter(|_| room > 1) {
                blocks.push(*around);
            }
        }
        for range in &self.recent {
            if blocks.len() >= room {
                break;
            }
            if Some(range) != around {
                blocks.push(*range);
            }
        }
        // RFC 2018 §4: as many as fit. Those reported longest ago are the highest, mostly.
        if blocks.len() < room && self.recent.len() < self.ranges.len() {
            let others = self.ranges.iter().rev().filter(|range| !self.recent.contains(range));
            for range in others.filter(|range| Some(*range) != around).take(room - blocks.len()) {
                blocks.push(*range);
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(reassembly: &Reassembly) -> Vec<(u32, u32)> {
        reassembly.ranges.iter().map(|range| (range.start.0, range.end.0)).collect()
    }

    #[test]
    fn ranges_merge_when_they_touch() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(Seq(100), Seq(200));
        reassembly.insert(Seq(300), Seq(400));
        assert_eq!(ranges(&reassembly), vec![(100, 200), (300, 400)]);
        reassembly.insert(Seq(200), Seq(300));
        assert_eq!(ranges(&reassembly), vec![(100, 400)]);
    }

    #[test]
    fn ranges_merge_across_the_wrap() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(Seq(u32::MAX - 9), Seq(0));
        reassembly.insert(Seq(0), Seq(10));
        assert_eq!(ranges(&reassembly), vec![(u32::MAX - 9, 10)]);
    }

    #[test]
    fn the_block_that_grew_last_is_reported_first() {
        let mut reassembly = Reassembly::default();
        for start in [100, 300, 500, 700, 900] {
            reassembly.insert(Seq(start), Seq(start + 100));
        }
        reassembly.insert(Seq(400), Seq(450));
        let starts: Vec<u32> =
            reassembly.sack_blocks(3, None).as_slice().iter().map(|block| block.start.0).collect();
        assert_eq!(starts, vec![300, 900, 700]);
    }

    /// RFC 2883 §4.2: a duplicate inside a block is followed by that block, however long ago it
    /// grew.
    #[test]
    fn bytes_received_twice_come_first_and_the_block_around_them_second() {
        let mut reassembly = Reassembly::default();
        for start in [100, 300, 500] {
            reassembly.insert(Seq(start), Seq(start + 100));
        }
        let blocks = |duplicate: Option<SackBlock>| -> Vec<(u32, u32)> {
            let blocks = reassembly.sack_blocks(3, duplicate);
            blocks.as_slice().iter().map(|block| (block.start.0, block.end.0)).collect()
        };
        let inside = reassembly.overlap(Seq(110), Seq(150));
        assert_eq!(blocks(inside), vec![(110, 150), (100, 200), (500, 600)]);
        let below = Some(SackBlock { start: Seq(0), end: Seq(50) });
        assert_eq!(blocks(below), vec![(0, 50), (500, 600), (300, 400)]);
        assert_eq!(reassembly.overlap(Seq(200), Seq(300)), None);
        let part = SackBlock { start: Seq(300), end: Seq(350) };
        assert_eq!(reassembly.overlap(Seq(250), Seq(350)), Some(part));
    }

    /// RFC 2018 §4: as many distinct blocks as fit, also those reported longest ago, once the recent
    /// ones have merged.
    #[test]
    fn room_that_is_left_is_filled_with_older_blocks() {
        let mut reassembly = Reassembly::default();
        for start in [100, 300, 500, 700, 900, 1100] {
            reassembly.insert(Seq(start), Seq(start + 100));
        }
        // The last four become one.
        reassembly.insert(Seq(600), Seq(1100));
        let blocks = |room| -> Vec<(u32, u32)> {
            let blocks = reassembly.sack_blocks(room, None);
            blocks.as_slice().iter().map(|block| (block.start.0, block.end.0)).collect()
        };
        assert_eq!(blocks(3), vec![(500, 1200), (300, 400), (100, 200)]);
        assert_eq!(blocks(1), vec![(500, 1200)]);
    }

    /// One block's room is the duplicate's alone.
    #[test]
    fn no_more_blocks_than_there_is_room_for() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(Seq(100), Seq(200));
        let duplicate = Some(SackBlock { start: Seq(110), end: Seq(120) });
        assert_eq!(reassembly.sack_blocks(1, duplicate).len(), 1);
        assert_eq!(reassembly.sack_blocks(2, duplicate).len(), 2);
    }

    #[test]
    fn reaching_a_range_takes_it_out() {
        let mut reassembly = Reassembly::default();
        reassembly.insert(Seq(100), Seq(200));
        assert_eq!(reassembly.take_reached(Seq(99)), None);
        assert_eq!(reassembly.take_reached(Seq(150)), Some(Seq(200)));
        assert!(reassembly.is_empty());
    }
}
