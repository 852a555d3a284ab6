//! The real bytes of the packets of foreign hosts that are under way, by [`Packet::tag`].
//!
//! A tag names a place and how manieth packet it is for: places are used again at once, and a middle
//! box may bring up a packet that is long gone.
//!
//! [`Packet::tag`]: ackord_wire::Packet::tag

use ackord_sim::FOREIGN;
use ackord_units::Time;
use ackord_wire::{Ecn, Segment};

/// A packet's bytes, and what was read from them when they came in.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// As long as the longest packet; its first `len` are the IP packet.
    buffer: Vec<u8>,
    len: usize,
    /// The ECN field in these bytes; the path may have changed the packet's since.
    pub(crate) ecn: Ecn,
    /// The TCP segment in these bytes; nothing for other protocols.
    pub(crate) segment: Option<Segment>,
    /// When it entered the path.
    pub(crate) entered_at: Time,
    /// The how manieth packet this is.
    pub(crate) order: u64,
    /// How many packets with these bytes are under way; none: the place is free.
    copies: u32,
}

/// A packet that enters.
pub(crate) struct Entering {
    pub(crate) buffer: Vec<u8>,
    pub(crate) len: usize,
    pub(crate) ecn: Ecn,
    pub(crate) segment: Option<Segment>,
    pub(crate) at: Time,
}

/// Keeps packets while they are under way, and their buffers for the next ones.
#[derive(Debug)]
pub(crate) struct PacketStore {
    places: Vec<Stored>,
    free: Vec<u32>,
    spare: Vec<Vec<u8>>,
    /// Bytes of every buffer.
    buffer_len: usize,
    /// Packets kept so far.
    entered: u64,
}

/// Bits of a tag that say which place.
const PLACE_BITS: u32 = 24;
/// As many packets as may be under way at once.
const MOST: usize = 1 << PLACE_BITS;
/// The bits of a tag that say how manieth packet.
const ORDER: u64 = (FOREIGN - 1) >> PLACE_BITS;
/// Buffers kept for later; more are given back to the allocator.
const SPARE_BUFFERS: usize = 4096;

impl PacketStore {
    /// A store of packets of at most `longest` bytes.
    pub(crate) fn new(longest: usize) -> PacketStore {
        PacketStore {
            places: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
            buffer_len: longest,
            entered: 0,
        }
    }

    /// A buffer for the longest packet, of any contents.
    #[inline]
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| vec![0; self.buffer_len])
    }

    /// Gives a buffer back.
    #[inline]
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS {
            self.spare.push(buffer);
        }
    }

    /// Keeps a packet; the answer is its tag. Gives the buffer back if there are too many already.
    #[inline]
    pub(crate) fn insert(&mut self, packet: Entering) -> Option<u64> {
        let place = match self.free.pop() {
            Some(place) => place as usize,
            None if self.places.len() >= MOST => {
                self.recycle(packet.buffer);
                return None;
            }
            None => {
                self.places.push(Stored::default());
                self.places.len() - 1
            }
        };
        self.entered += 1;
        self.places[place] = Stored {
            buffer: packet.buffer,
            len: packet.len,
            ecn: packet.ecn,
            segment: packet.segment,
            entered_at: packet.at,
            order: self.entered,
            copies: 1,
        };
        Some(FOREIGN | (self.entered & ORDER) << PLACE_BITS | place as u64)
    }

    /// The place of a packet that is under way.
    #[inline]
    fn place(&self, tag: u64) -> Option<usize> {
        let place = (tag & (MOST as u64 - 1)) as usize;
        let order = tag >> PLACE_BITS & ORDER;
        let stored = self.places.get(place)?;
        let same = tag & FOREIGN != 0 && stored.copies > 0 && stored.order & ORDER == order;
        same.then_some(place)
    }

    /// A packet; nothing for one that is not (or no longer) here.
    #[inline]
    pub(crate) fn get(&self, tag: u64) -> Option<&Stored> {
        self.place(tag).map(|place| &self.places[place])
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, tag: u64) -> Option<&mut Stored> {
        self.place(tag).map(|place| &mut self.places[place])
    }

    /// There is one packet more with these bytes, if they are here.
    pub(crate) fn retain(&mut self, tag: u64) {
        if let Some(stored) = self.get_mut(tag) {
            stored.copies += 1;
        }
    }

    /// There is one packet fewer with these bytes; the last one takes them along.
    #[inline]
    pub(crate) fn release(&mut self, tag: u64) {
        let Some(place) = self.place(tag) else { return };
        let stored = &mut self.places[place];
        stored.copies -= 1;
        if stored.copies == 0 {
            let buffer = std::mem::take(&mut stored.buffer);
            self.free.push(place as u32);
            self.recycle(buffer);
        }
    }

    /// How many packets have their bytes here; copies count once.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

impl Stored {
    /// The IP packet.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// The IP packet, to be changed.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(store: &mut PacketStore, byte: u8) -> u64 {
        let mut buffer = store.buffer();
        buffer[..3].fill(byte);
        let packet =
            Entering { buffer, len: 3, ecn: Ecn::NotEct, segment: None, at: Time::from_nanos(7) };
        store.insert(packet).expect("there is room")
    }

    #[test]
    fn a_packet_is_there_until_its_last_copy_is_gone() {
        let mut store = PacketStore::new(100);
        let tag = keep(&mut store, 5);
        assert_eq!(store.get(tag).map(|stored| stored.bytes().to_vec()), Some(vec![5; 3]));
        store.retain(tag);
        store.release(tag);
        assert_eq!(store.len(), 1, "the copy is still under way");
        store.release(tag);
        assert!(store.get(tag).is_none() && store.len() == 0);
        store.release(tag);
        store.retain(tag);
        assert!(store.get(tag).is_none());
    }

    #[test]
    fn a_place_used_again_is_not_taken_for_the_packet_before() {
        let mut store = PacketStore::new(100);
        let first = keep(&mut store, 1);
        store.release(first);
        let second = keep(&mut store, 2);
        assert_eq!((first ^ second) & (MOST as u64 - 1), 0, "the same place");
        assert!(store.get(first).is_none());
        store.release(first);
        assert_eq!(store.get(second).map(|stored| stored.bytes()[0]), Some(2));
        assert_eq!(store.buffer().len(), 100);
    }

    #[test]
    fn tags_of_nobody_find_nothing() {
        let mut store = PacketStore::new(10);
        let tag = keep(&mut store, 1);
        for other in [0, 1, tag & !FOREIGN, u64::MAX, FOREIGN, tag + 1] {
            assert!(store.get(other).is_none(), "{other:x}");
        }
    }
}
