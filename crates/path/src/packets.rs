//! The packets under way, each in one place from entry to exit.
//!
//! A packet is copied in when it enters the graph and out when it leaves; in between, queues and
//! wires hand on the number of its slot. Slots are used again, latest first, so a run needs as many
//! as it ever has packets under way and allocates nothing after that.

use ackord_wire::{NodeId, Packet};
use std::ops::{Index, IndexMut};

/// The packets of one graph.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    slots: Vec<Packet>,
    free: Vec<u32>,
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
    /// Whether it was damaged on the way.
    pub(crate) damage: Damage,
}

/// Whether a packet was damaged on the way, so that its checksum does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    None,
    Done,
}

impl Slot {
    /// The same packet, damaged.
    pub(crate) fn damaged(self) -> Slot {
        Slot { damage: Damage::Done, ..self }
    }
}

impl Packets {
    /// Takes a packet in.
    #[inline]
    pub fn insert(&mut self, packet: &Packet) -> Slot {
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = *packet;
                index
            }
            None => {
                self.slots.push(*packet);
                (self.slots.len() - 1) as u32
            }
        };
        Slot { index, ip_len: packet.ip_len, dst: packet.dst, damage: Damage::None }
    }

    /// Takes in a second packet like this one.
    pub(crate) fn duplicate(&mut self, slot: Slot) -> Slot {
        let packet = self[slot];
        Slot { damage: slot.damage, ..self.insert(&packet) }
    }

    /// Gives a packet's slot up.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        self.free.push(slot.index);
    }

    /// Packets under way.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
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
        &self.slots[slot.index as usize]
    }
}

impl IndexMut<Slot> for Packets {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Packet {
        &mut self.slots[slot.index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Side};

    #[test]
    fn a_released_slot_is_used_again() {
        let packet = |tag| Packet {
            flow: FlowId(0),
            from: Side::Client,
            src: NodeId(0),
            dst: NodeId(1),
            ip: IpVersion::V4,
            ecn: Ecn::NotEct,
            ip_len: 40,
            tag,
            tcp: None,
        };
        let mut packets = Packets::default();
        let (first, second) = (packets.insert(&packet(1)), packets.insert(&packet(2)));
        packets.release(first);
        assert_eq!(packets.insert(&packet(3)), first);
        assert_eq!((packets[first].tag, packets[second].tag, packets.len()), (3, 2, 2));
    }
}
