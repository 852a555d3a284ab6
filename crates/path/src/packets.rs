//! The packets under way, each in one place from entry to exit, but for those that a link which looks ahead keeps
//! until they are at their destination (`link/hop.rs`).
//!
//! A packet is copied in when it enters the graph and out when it leaves; in between, queues and
//! wires hand on the number of its slot. Places are used in turn, round and round, those passed over that are
//! taken: so packets that left one after the other lie one after the other, and as they mostly arrive in that order,
//! too, the processor fetches the next ones before they are asked for. There is never more than a quarter
//! more of places than there ever were packets under way.
//!
//! A slot knows which of the packets that its place has held it stands for. Whoever keeps one
//! beyond its release, and reads or releases it again, is found out, unless the place has been used
//! a multiple of 128 times in between.

use ackord_wire::{NodeId, Packet};
use prefetch_index::prefetch_index;
use std::ops::{Index, IndexMut};

/// The packets of one graph.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    places: Vec<Place>,
    /// The place whose turn it is.
    next: usize,
    /// Packets under way.
    len: usize,
}

#[derive(Clone, Debug)]
struct Place {
    packet: Packet,
    /// How many packets have come and how many have left, together, modulo 256: odd while one is there.
    generation: u8,
}

/// Where in [`Packets`] a packet is, with what links ask of it at every hop: thousands of packets
/// under way do not fit into a processor's nearest cache, and need not be touched on the way.
/// Whoever holds it holds the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    index: u32,
    /// Length of the IP packet.
    pub(crate) ip_len: u32,
    /// Where it leaves the path.
    pub(crate) dst: NodeId,
    /// Whether it was damaged on the way, so that its checksum does not hold.
    pub(crate) is_damaged: bool,
    /// That of its place while the packet is there.
    generation: u8,
}

impl Slot {
    /// The same packet, damaged.
    pub(crate) fn damaged(self) -> Slot {
        Slot { is_damaged: true, ..self }
    }
}

impl Packets {
    /// Takes a packet in.
    #[inline]
    pub fn insert(&mut self, packet: &Packet) -> Slot {
        self.len += 1;
        let (ip_len, dst) = (packet.ip_len, packet.dst);
        if let Some(place) = self.places.get_mut(self.next)
            && place.generation % 2 == 0
        {
            let index = self.next as u32;
            self.next += 1;
            place.packet = *packet;
            place.generation = place.generation.wrapping_add(1);
            return Slot { index, ip_len, dst, is_damaged: false, generation: place.generation };
        }
        let (index, generation) = self.insert_elsewhere(packet);
        Slot { index, ip_len, dst, is_damaged: false, generation }
    }

    /// The place whose turn it is is taken, or the last has had its turn.
    #[inline(never)]
    fn insert_elsewhere(&mut self, packet: &Packet) -> (u32, u8) {
        if self.places.len() < self.len + self.len / 4 {
            self.places.push(Place { packet: *packet, generation: 1 });
            return ((self.places.len() - 1) as u32, 1);
        }
        let taken = |place: &Place| place.generation % 2 == 1;
        while self.places.get(self.next).is_none_or(taken) {
            self.next = if self.next < self.places.len() { self.next + 1 } else { 0 };
        }
        let place = &mut self.places[self.next];
        place.packet = *packet;
        place.generation = place.generation.wrapping_add(1);
        self.next += 1;
        ((self.next - 1) as u32, place.generation)
    }

    /// Takes in a second packet like this one.
    pub(crate) fn duplicate(&mut self, slot: Slot) -> Slot {
        let packet = self[slot];
        Slot { is_damaged: slot.is_damaged, ..self.insert(&packet) }
    }

    /// This packet will be released soon: the processor fetches it while there is other work, for with thousands under
    /// way it lies in no near cache.
    #[inline]
    pub(crate) fn fetch(&self, slot: Slot) {
        // It may lie across several lines of the cache: its first one, and the one where the next place begins.
        prefetch_index(&self.places, slot.index as usize);
        prefetch_index(&self.places, slot.index as usize + 1);
    }

    /// Gives a packet's slot up, and the packet out.
    ///
    /// # Panics
    /// If that has been done already; as reading it has from then on.
    #[inline]
    pub fn release(&mut self, slot: Slot) -> Packet {
        let place = &mut self.places[slot.index as usize];
        if place.generation != slot.generation {
            released(slot);
        }
        place.generation = place.generation.wrapping_add(1);
        self.len -= 1;
        place.packet
    }

    /// Packets under way.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no packet is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Index<Slot> for Packets {
    type Output = Packet;

    #[inline]
    fn index(&self, slot: Slot) -> &Packet {
        let place = &self.places[slot.index as usize];
        if place.generation != slot.generation {
            released(slot);
        }
        &place.packet
    }
}

impl IndexMut<Slot> for Packets {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Packet {
        let place = &mut self.places[slot.index as usize];
        if place.generation != slot.generation {
            released(slot);
        }
        &mut place.packet
    }
}

#[cold]
#[inline(never)]
fn released(slot: Slot) -> ! {
    panic!("{slot:?} stands for a packet that was released")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Side};

    fn packet(tag: u64) -> Packet {
        Packet {
            flow: FlowId(0),
            from: Side::Client,
            src: NodeId(0),
            dst: NodeId(1),
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 40,
            tag,
            tcp: None,
        }
    }

    #[test]
    fn places_are_used_in_turn_and_those_taken_are_passed_over() {
        let mut packets = Packets::default();
        let (first, stays) = (packets.insert(&packet(1)), packets.insert(&packet(2)));
        assert_eq!(packets.release(first).tag, 1);
        for tag in 3..1_000 {
            let slot = packets.insert(&packet(tag));
            assert_eq!((packets[slot].tag, packets[stays].tag, packets.len()), (tag, 2, 2));
            assert_ne!(slot.index, stays.index);
            packets.release(slot);
        }
        assert!(packets.places.len() <= 3, "a quarter more than were ever under way");
    }

    #[test]
    fn what_links_hand_on_is_no_longer_for_knowing_its_packet() {
        assert_eq!(size_of::<Slot>(), 12);
    }

    #[test]
    #[should_panic = "a packet that was released"]
    fn a_packet_is_not_read_after_its_release() {
        let mut packets = Packets::default();
        let slot = packets.insert(&packet(1));
        packets.release(slot);
        let _ = packets[slot];
    }

    #[test]
    #[should_panic = "a packet that was released"]
    fn a_slot_is_not_released_twice_though_another_packet_is_there() {
        let mut packets = Packets::default();
        let slot = packets.insert(&packet(1));
        packets.release(slot);
        packets.insert(&packet(2));
        packets.release(slot);
    }
}
