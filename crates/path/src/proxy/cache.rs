//! Data that passed and is not acknowledged yet, kept for local retransmission.
//!
//! One connection's data, in order of sequence numbers. Sequence numbers wrap, so order is kept
//! by distance from what the mobile has acknowledged, which moves with the window: nothing older
//! is ever cached and nothing newer is 2^31 away.

use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Packet, Segment};
use std::collections::VecDeque;

/// The cached data of one connection.
#[derive(Clone, Debug)]
pub struct SegmentCache {
    /// In order of sequence number, not overlapping at their starts.
    segments: VecDeque<Cached>,
    bytes: u64,
    limit: u64,
}

/// A cached segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cached {
    /// As the sender sent it.
    pub packet: Packet,
    /// When it last went towards the mobile host.
    pub sent_at: Time,
    /// When it went there the second time, and who sent it.
    pub repeated: Option<(Time, Repeater)>,
    /// How often the box itself has sent it, since it last came from the sender.
    pub resent: u32,
    /// How often it came from the sender.
    pub passed: u32,
    /// The mobile has it, says a SACK block.
    pub sacked: bool,
    /// What the box means to do about it.
    pub mark: Mark,
    /// How it last went.
    pub lane: Lane,
}

/// Who sent a segment the second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeater {
    /// The box.
    Box,
    /// The fixed host.
    Sender,
}

/// What a box means to do about a cached segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: it may be on its way.
    #[default]
    None,
    /// It was lost, and is to be retransmitted.
    Wanted,
    /// It was lost, and that is left to the sender.
    Left,
}

/// How a packet goes over the wireless link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Behind what waits in the link's queue.
    Queue,
    /// Ahead of it.
    First,
}

impl Cached {
    /// The segment.
    ///
    /// # Panics
    /// Never: only TCP is cached.
    pub fn segment(&self) -> &Segment {
        self.packet.tcp.as_ref().expect("only TCP is cached")
    }

    /// The box sends it again.
    pub fn resend(&mut self, now: Time) {
        self.sent_at = now;
        self.repeated.get_or_insert((now, Repeater::Box));
        self.resent += 1;
        self.mark = Mark::None;
    }
}

impl SegmentCache {
    /// An empty cache for at most so much data.
    pub fn new(limit: Bytes) -> SegmentCache {
        SegmentCache { segments: VecDeque::new(), bytes: 0, limit: limit.get() }
    }

    /// Keeps a data segment that passed at `now`. A segment cached before is replaced and counts
    /// as sent now; what a SACK block said of it stays. Answers whether it is in the cache: what does
    /// not fit is not kept, and what is cached stays, because the oldest is needed first.
    pub fn insert(&mut self, now: Time, packet: &Packet) -> bool {
        let Some(segment) = &packet.tcp else { return false };
        if segment.payload_len == 0 {
            return false;
        }
        let seq = segment.seq;
        let place = self.segments.partition_point(|cached| cached.segment().seq.before(seq));
        let mut fresh = Cached {
            packet: *packet,
            sent_at: now,
            repeated: None,
            resent: 0,
            passed: 1,
            sacked: false,
            mark: Mark::None,
            lane: Lane::Queue,
        };
        if let Some(same) = self.segments.get_mut(place).filter(|same| same.segment().seq == seq) {
            let had = u64::from(same.segment().payload_len);
            let has = u64::from(segment.payload_len);
            if self.bytes - had + has > self.limit {
                return false;
            }
            self.bytes = self.bytes - had + has;
            fresh.passed = same.passed.saturating_add(1);
            fresh.sacked = same.sacked && had == has;
            fresh.repeated = same.repeated.or(Some((now, Repeater::Sender)));
            *same = fresh;
            return true;
        }
        if self.bytes + u64::from(segment.payload_len) > self.limit {
            return false;
        }
        self.bytes += u64::from(segment.payload_len);
        self.segments.insert(place, fresh);
        true
    }

    /// Forgets what lies below `ack`; answers how many bytes that were.
    pub fn acknowledge(&mut self, ack: Seq) -> Bytes {
        let mut freed = 0;
        while let Some(first) = self.segments.front() {
            if !first.segment().end_seq().at_or_before(ack) {
                break;
            }
            freed += u64::from(first.segment().payload_len);
            self.segments.pop_front();
        }
        self.bytes -= freed;
        Bytes(freed)
    }

    /// How long ago the newest segment passed that an acknowledgment up to `ack` covers; nothing if
    /// any of them was sent twice (Karn's rule: it would not be known which was answered).
    pub fn sample(&self, now: Time, ack: Seq) -> Option<Span> {
        let covered =
            self.segments.iter().take_while(|cached| cached.segment().end_seq().at_or_before(ack));
        let mut newest = None;
        for cached in covered {
            if cached.resent > 0 || cached.passed > 1 {
                return None;
            }
            newest = Some(cached).filter(|cached| !cached.sacked);
        }
        newest.map(|cached| now.saturating_since(cached.sent_at))
    }

    /// Forgets the segment that begins at `seq`; answers how many bytes that were.
    pub fn remove(&mut self, seq: Seq) -> Bytes {
        let place = self.segments.partition_point(|cached| cached.segment().seq.before(seq));
        if self.segments.get(place).is_none_or(|cached| cached.segment().seq != seq) {
            return Bytes::ZERO;
        }
        let freed = self.segments.remove(place).map_or(0, |cached| cached.segment().payload_len);
        self.bytes -= u64::from(freed);
        Bytes(u64::from(freed))
    }

    /// Marks what the blocks of an acknowledgment cover.
    pub fn mark_sacked(&mut self, acknowledgment: &Segment) {
        for block in acknowledgment.options.sack.as_slice() {
            for cached in &mut self.segments {
                let (start, end) = (cached.segment().seq, cached.segment().end_seq());
                if start.at_or_after(block.start) && end.at_or_before(block.end) {
                    cached.sacked = true;
                }
            }
        }
    }

    /// The segment that begins at `seq` or holds it.
    pub fn at_mut(&mut self, seq: Seq) -> Option<&mut Cached> {
        self.segments.iter_mut().find(|cached| {
            let segment = cached.segment();
            segment.seq.at_or_before(seq) && segment.end_seq().after(seq)
        })
    }

    /// The oldest.
    pub fn first(&self) -> Option<&Cached> {
        self.segments.front()
    }

    /// The oldest.
    pub fn first_mut(&mut self) -> Option<&mut Cached> {
        self.segments.front_mut()
    }

    /// All of it, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Cached> {
        self.segments.iter()
    }

    /// All of it, oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Cached> {
        self.segments.iter_mut()
    }

    /// How much is kept.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// Segments kept.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Forgets everything; answers how many bytes that were.
    pub fn clear(&mut self) -> Bytes {
        self.segments.clear();
        Bytes(std::mem::take(&mut self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{Ecn, Flags, FlowId, IpVersion, NodeId, SackBlock, Side};

    fn data(seq: u32, payload_len: u32) -> Packet {
        let segment =
            Segment { seq: Seq(seq), flags: Flags::ACK, payload_len, ..Segment::default() };
        Packet {
            flow: FlowId(0),
            from: Side::Server,
            src: NodeId(0),
            dst: NodeId(1),
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 40 + payload_len,
            tag: u64::from(seq),
            tcp: Some(segment),
        }
    }

    fn seqs(cache: &SegmentCache) -> Vec<u32> {
        cache.iter().map(|cached| cached.segment().seq.0).collect()
    }

    #[test]
    fn segments_stand_in_order_across_the_wrap_and_leave_with_the_acknowledgment() {
        let mut cache = SegmentCache::new(Bytes(10_000));
        for seq in [0xffff_ff00, 0x0000_0100, 0x0000_0000] {
            assert!(cache.insert(Time::ZERO, &data(seq, 0x100)));
        }
        assert_eq!(seqs(&cache), [0xffff_ff00, 0, 0x100]);
        assert_eq!(cache.acknowledge(Seq(0x100)), Bytes(0x200));
        assert_eq!((seqs(&cache), cache.bytes()), (vec![0x100], Bytes(0x100)));
        // Part of a segment keeps it.
        assert_eq!(cache.acknowledge(Seq(0x180)), Bytes::ZERO);
        assert_eq!(cache.at_mut(Seq(0x180)).map(|cached| cached.packet.tag), Some(0x100));
    }

    #[test]
    fn what_does_not_fit_is_not_kept_and_the_oldest_stays() {
        let mut cache = SegmentCache::new(Bytes(2_000));
        let kept = [0, 1_000, 2_000].map(|seq| cache.insert(Time::ZERO, &data(seq, 1_000)));
        assert_eq!(kept, [true, true, false]);
        // The same segment again costs nothing; a longer one at its place would.
        assert!(cache.insert(Time::from_nanos(5), &data(1_000, 1_000)));
        assert!(!cache.insert(Time::from_nanos(6), &data(1_000, 1_460)));
        assert_eq!((cache.len(), cache.bytes()), (2, Bytes(2_000)));
        assert_eq!((cache.remove(Seq(500)), cache.len()), (Bytes::ZERO, 2));
        assert_eq!((cache.remove(Seq(0)), cache.bytes()), (Bytes(1_000), Bytes(1_000)));
        assert!(cache.insert(Time::ZERO, &data(0, 1_000)));
        assert_eq!(cache.clear(), Bytes(2_000));
        assert!(cache.is_empty());
    }

    #[test]
    fn a_block_marks_the_segments_it_covers_whole() {
        let mut cache = SegmentCache::new(Bytes(10_000));
        for seq in [0, 1_000, 2_000] {
            cache.insert(Time::ZERO, &data(seq, 1_000));
        }
        let mut ack = Segment::default();
        ack.options.sack.push(SackBlock { start: Seq(500), end: Seq(2_000) });
        cache.mark_sacked(&ack);
        assert_eq!(
            cache.iter().map(|cached| cached.sacked).collect::<Vec<_>>(),
            [false, true, false]
        );
    }
}
