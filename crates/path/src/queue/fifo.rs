//! A waiting line: packets in order of arrival, with the time each came, up to a capacity.

use super::Dequeued;
use crate::packets::Slot;
use ackord_units::{Bytes, Time};
use std::collections::VecDeque;

/// How much may wait. The packet being transmitted has left the queue and does not count.
///
/// ns-2's `DropTail` refuses the packet that would fill it: its limit of 50 is 49 here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets of whatever size.
    Packets(u32),
    /// So many bytes of IP packets.
    Bytes(Bytes),
}

/// The waiting line.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: u64,
    max_packets: usize,
    max_bytes: u64,
}

/// One packet in line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) since: Time,
    pub(crate) slot: Slot,
}

impl Fifo {
    pub(crate) fn new(limit: Limit) -> Fifo {
        let (max_packets, max_bytes) = match limit {
            Limit::Packets(packets) => (packets as usize, u64::MAX),
            Limit::Bytes(bytes) => (usize::MAX, bytes.get()),
        };
        // Grown when used, then kept: hundreds of access links that never queue stay small.
        Fifo { waiting: VecDeque::new(), bytes: 0, max_packets, max_bytes }
    }

    /// Whether a packet of this length would still fit.
    #[inline]
    pub(crate) fn has_room_for(&self, ip_len: u32) -> bool {
        self.waiting.len() < self.max_packets && self.bytes + u64::from(ip_len) <= self.max_bytes
    }

    /// Adds a packet at the end, whether it fits or not.
    #[inline]
    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.bytes += u64::from(waiting.slot.ip_len);
        self.waiting.push_back(waiting);
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Dequeued> {
        let Waiting { since, slot } = self.waiting.pop_front()?;
        self.bytes -= u64::from(slot.ip_len);
        Some(Dequeued { slot, waited: now.saturating_since(since) })
    }

    /// Takes out the last packet in line of which this holds. Costs as many steps as there are
    /// packets behind it.
    pub(crate) fn remove_last(&mut self, is_it: impl Fn(Slot) -> bool) -> Option<Slot> {
        let place = self.waiting.iter().rposition(|waiting| is_it(waiting.slot))?;
        let Waiting { slot, .. } = self.waiting.remove(place)?;
        self.bytes -= u64::from(slot.ip_len);
        Some(slot)
    }

    #[inline]
    pub(crate) fn len_packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    #[inline]
    pub(crate) fn len_bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }
}
