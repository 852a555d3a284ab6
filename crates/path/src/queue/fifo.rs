//! A waiting line: packets in order of arrival, with the time each came, up to a capacity.

use super::{Dequeued, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
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

/// A [`Limit`] as it is compared: one of the two numbers is out of reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    packets: usize,
    bytes: u64,
}

impl From<Limit> for Capacity {
    fn from(limit: Limit) -> Capacity {
        match limit {
            Limit::Packets(packets) => Capacity { packets: packets as usize, bytes: u64::MAX },
            Limit::Bytes(bytes) => Capacity { packets: usize::MAX, bytes: bytes.get() },
        }
    }
}

impl Capacity {
    /// Whether so much may wait.
    pub(crate) fn holds(self, packets: usize, bytes: u64) -> bool {
        packets <= self.packets && bytes <= self.bytes
    }

    /// Whether a packet of `ip_len` bytes fits beside so much.
    #[inline]
    pub(crate) fn fits(self, packets: usize, bytes: u64, ip_len: u32) -> bool {
        packets < self.packets && bytes + u64::from(ip_len) <= self.bytes
    }
}

/// The waiting line.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: u64,
    capacity: Capacity,
}

/// One packet in line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) since: Time,
    pub(crate) slot: Slot,
}

impl Waiting {
    /// It leaves the line.
    #[inline]
    pub(crate) fn leave(self, now: Time) -> Dequeued {
        Dequeued { slot: self.slot, waited: now.saturating_since(self.since) }
    }
}

impl Fifo {
    pub(crate) fn new(limit: Limit) -> Fifo {
        // Grown when used, then kept: hundreds of access links that never queue stay small.
        Fifo { waiting: VecDeque::new(), bytes: 0, capacity: limit.into() }
    }

    /// Changes the capacity. Packets that already wait stay, even beyond it.
    pub(crate) fn set_capacity(&mut self, capacity: Capacity) {
        self.capacity = capacity;
    }

    #[inline]
    pub(crate) fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// Whether a packet of this length would still fit.
    #[inline]
    pub(crate) fn has_room_for(&self, ip_len: u32) -> bool {
        self.capacity.fits(self.waiting.len(), self.bytes, ip_len)
    }

    /// Adds a packet at the end if it fits.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, slot: Slot) -> Result<(), DropReason> {
        if !self.has_room_for(slot.ip_len) {
            return Err(DropReason::QueueFull);
        }
        self.bytes += u64::from(slot.ip_len);
        self.waiting.push_back(Waiting { since: now, slot });
        Ok(())
    }

    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Dequeued> {
        let waiting = self.waiting.pop_front()?;
        self.bytes -= u64::from(waiting.slot.ip_len);
        Some(waiting.leave(now))
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
    pub(crate) fn length(&self) -> QueueLength {
        QueueLength { packets: self.waiting.len() as u32, bytes: Bytes(self.bytes) }
    }
}
