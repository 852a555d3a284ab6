//! The packets under way, each in one place from entry to exit.
//!
//! A packet is copied in when it enters the graph and out when it leaves; in between, queues and
//! wires hand on the number of its slot. Slots are used again, latest first, so a run needs as many
//! as it ever has packets under way and allocates nothing after that.
//!
//! A slot knows which of the packets that its place has held it stands for. Whoever keeps one
//! beyond its release, and reads or releases it again, is found out, unless the place has been used
//! a multiple of 256 times in between.

use ackord_wire::{NodeId, Packet};
use std::ops::{Index, IndexMut};

/// The packets of one graph.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    places: Vec<Place>,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Place {
    packet: Packet,
    /// How many packets have left it, modulo 256.
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
        let (index, generation) = match self.free.pop() {
            Some(index) => {
                let place = &mut self.places[index as usize];
                place.packet = *packet;
                (index, place.generation)
            }
            None => {
                self.places.push(Place { packet: *packet, generation: 0 });
                ((self.places.len() - 1) as u32, 0)
            }
        };
        let (ip_len, dst) = (packet.ip_len, packet.dst);
        Slot { index, ip_len, dst, is_damaged: false, generation }
    }

    /// Takes in a second packet like this one.
    pub(crate) fn duplicate(&mut self, slot: Slot) -> Slot {
        let packet = self[slot];
        Slot { is_damaged: slot.is_damaged, ..self.insert(&packet) }
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
        self.free.push(slot.index);
        place.packet
    }

    /// Packets under way.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
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
    fn a_released_slot_is_used_again() {
        let mut packets = Packets::default();
        let (first, second) = (packets.insert(&packet(1)), packets.insert(&packet(2)));
        assert_eq!(packets.release(first).tag, 1);
        let third = packets.insert(&packet(3));
        assert_eq!(third.index, first.index);
        assert_eq!((packets[third].tag, packets[second].tag, packets.len()), (3, 2, 2));
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
