//! The real bytes of the packets under way, by [`ackord_wire::Packet::tag`].

use ackord_wire::{Ecn, Endpoints};
use slab::Slab;
use std::ops::Range;

/// A packet's bytes, and what was read from them when they came in.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// The IP packet.
    pub(crate) bytes: Vec<u8>,
    /// The ECN field in these bytes; the path may have changed the packet's since.
    pub(crate) ecn: Ecn,
    /// Where a TCP packet comes from and goes to; nothing for other protocols.
    pub(crate) endpoints: Option<Endpoints>,
    /// Where the TCP payload lies in the bytes.
    pub(crate) payload: Range<usize>,
    /// The how manieth this is; the store says so.
    pub(crate) entered: u64,
}

/// Keeps packets while they are under way, and their buffers for the next ones.
#[derive(Debug, Default)]
pub(crate) struct PacketStore {
    packets: Slab<Stored>,
    /// Tags of packets that the path has doubled, once for each copy that is still to come.
    doubled: Vec<u64>,
    spare: Vec<Vec<u8>>,
    /// Packets kept so far.
    entered: u64,
}

/// Buffers kept for later; more are given back to the allocator.
const SPARE_BUFFERS: usize = 256;

impl PacketStore {
    /// An empty buffer.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(2048))
    }

    /// Gives a buffer back.
    pub(crate) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Keeps a packet; the answer is its tag.
    pub(crate) fn insert(&mut self, packet: Stored) -> u64 {
        self.entered += 1;
        self.packets.insert(Stored { entered: self.entered, ..packet }) as u64
    }

    /// Takes a packet out again; nothing for a tag that is not in use. Of one that the path has
    /// doubled a copy stays.
    pub(crate) fn take(&mut self, tag: u64) -> Option<Stored> {
        let key = usize::try_from(tag).ok()?;
        match self.doubled.iter().position(|doubled| *doubled == tag) {
            None => self.packets.try_remove(key),
            Some(place) => {
                self.doubled.swap_remove(place);
                self.packets.get(key).cloned()
            }
        }
    }

    /// The path has made a second packet of one: its bytes are wanted once more.
    pub(crate) fn double(&mut self, tag: u64) {
        self.doubled.push(tag);
    }

    /// A packet's bytes; nothing for a tag that is not in use.
    pub(crate) fn bytes(&self, tag: u64) -> Option<&[u8]> {
        let stored = self.packets.get(usize::try_from(tag).ok()?)?;
        Some(&stored.bytes)
    }

    /// Forgets a packet that died.
    pub(crate) fn forget(&mut self, tag: u64) {
        if let Some(stored) = self.take(tag) {
            self.recycle(stored.bytes);
        }
    }

    /// How many packets are under way.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(bytes: Vec<u8>) -> Stored {
        Stored { bytes, ecn: Ecn::NotEct, endpoints: None, payload: 0..0, entered: 0 }
    }

    #[test]
    fn a_doubled_packet_can_be_taken_twice_and_its_tag_is_free_after_that() {
        let mut store = PacketStore::default();
        let stored = stored(vec![1, 2, 3]);
        let tag = store.insert(stored);
        store.double(tag);
        assert_eq!(store.take(tag).map(|stored| stored.bytes), Some(vec![1, 2, 3]));
        assert_eq!(store.bytes(tag), Some(&[1_u8, 2, 3][..]), "the copy is still under way");
        store.forget(tag);
        assert_eq!((store.take(tag).is_none(), store.len()), (true, 0));
    }

    #[test]
    fn a_packet_is_there_until_it_is_taken() {
        let mut store = PacketStore::default();
        let bytes = vec![1, 2, 3];
        let stored = stored(bytes);
        let tag = store.insert(stored.clone());
        assert_eq!(store.take(tag).map(|s| s.bytes), Some(vec![1, 2, 3]));
        assert!(store.take(tag).is_none() && store.len() == 0);
        let tag = store.insert(stored);
        store.forget(tag);
        store.forget(u64::MAX);
        assert_eq!((store.len(), store.buffer()), (0, Vec::new()));
    }
}
