//! The bytes of segments on their way to a mobile host, until it has acknowledged them: what a box sends
//! again is what the sender sent, options and all.

use ackord_units::{Bytes, Seq};
use std::collections::VecDeque;

/// The segments of one connection, in order of sequence number.
#[derive(Debug, Default)]
pub struct Store {
    segments: VecDeque<Kept>,
    bytes: u64,
}

#[derive(Debug)]
struct Kept {
    seq: Seq,
    len: u32,
    /// The IP packet.
    packet: Box<[u8]>,
}

impl Store {
    /// Keeps an IP packet whose payload of `len` bytes begins at `seq`; one that is known is replaced. Where
    /// more than `limit` would be kept it is not: the oldest is needed first. Answers whether it is.
    pub fn keep(&mut self, seq: Seq, len: u32, packet: &[u8], limit: Bytes) -> bool {
        let place = self.segments.partition_point(|kept| kept.seq.before(seq));
        let known = self.segments.get(place).is_some_and(|kept| kept.seq == seq);
        let before = if known { self.segments[place].packet.len() as u64 } else { 0 };
        if self.bytes - before + packet.len() as u64 > limit.get() {
            return false;
        }
        self.bytes = self.bytes - before + packet.len() as u64;
        let kept = Kept { seq, len, packet: packet.into() };
        match known {
            true => self.segments[place] = kept,
            false => self.segments.insert(place, kept),
        }
        true
    }

    /// The IP packet whose payload begins at `seq` and is `len` bytes long.
    pub fn packet(&self, seq: Seq, len: u32) -> Option<&[u8]> {
        let place = self.segments.partition_point(|kept| kept.seq.before(seq));
        let kept = self.segments.get(place)?;
        (kept.seq == seq && kept.len == len).then_some(&*kept.packet)
    }

    /// Up to where bytes from `seq` on are kept without a hole; `seq` where none is.
    pub fn without_hole_from(&self, seq: Seq) -> Seq {
        let place = self.segments.partition_point(|kept| kept.seq.before(seq));
        let mut end = seq;
        for kept in self.segments.range(place..) {
            if kept.seq.after(end) {
                break;
            }
            end = if (kept.seq + kept.len).after(end) { kept.seq + kept.len } else { end };
        }
        end
    }

    /// Forgets what ends at or below `ack`.
    pub fn forget_below(&mut self, ack: Seq) {
        while let Some(first) = self.segments.front()
            && !(first.seq + first.len).after(ack)
        {
            self.bytes -= first.packet.len() as u64;
            self.segments.pop_front();
        }
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Bytes = Bytes(350);

    fn filled(seqs: &[u32]) -> Store {
        let mut store = Store::default();
        for &seq in seqs {
            store.keep(Seq(seq), 60, &[seq as u8; 100], LIMIT);
        }
        store
    }

    #[test]
    fn order_is_that_of_sequence_numbers_also_where_they_wrap() {
        let mut store = filled(&[u32::MAX - 59, 60, 0]);
        assert_eq!(store.packet(Seq(0), 60), Some(&[0; 100][..]));
        store.forget_below(Seq(59));
        assert_eq!((store.bytes(), store.packet(Seq(u32::MAX - 59), 60)), (Bytes(200), None));
        store.forget_below(Seq(60));
        assert_eq!(store.bytes(), Bytes(100));
        assert_eq!((store.packet(Seq(60), 61), store.packet(Seq(61), 60)), (None, None));
        let store = filled(&[u32::MAX - 59, 0, 120]);
        let ends = [u32::MAX - 59, 0, 60, 120].map(|from| store.without_hole_from(Seq(from)).0);
        assert_eq!(ends, [60, 60, 60, 180]);
    }

    #[test]
    fn what_does_not_fit_is_not_kept_and_what_comes_again_is_kept_once() {
        let mut store = filled(&[0, 60, 120, 180, 60]);
        assert_eq!((store.bytes(), store.packet(Seq(180), 60)), (Bytes(300), None));
        store.keep(Seq(60), 60, &[9; 150], LIMIT);
        assert_eq!((store.bytes(), store.packet(Seq(60), 60)), (Bytes(350), Some(&[9; 150][..])));
    }
}
