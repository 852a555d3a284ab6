//! Drop-tail (RFC 7567 §2): first in, first out; a packet that does not fit is dropped.
//!
//! Not modelled: descriptor limits of real network cards, which count packets and bytes at once.

use super::Queue;
use super::fifo::{Capacity, Fifo, Limit};
use super::knobs::{LIMIT, QueueKnobs, QueuePlace, UnknownFlow};
use super::{Dequeued, QueueContext, QueueDiscipline, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Bytes, Knobs, Time};

/// First in, first out; what does not fit is dropped
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(family = "queue", name = "drop-tail", source = "RFC 7567 §2")]
pub struct DropTailKnobs {
    #[knob(like = LIMIT)]
    limit: Limit,
}

impl QueueKnobs for DropTailKnobs {
    fn build(&self, _context: &QueuePlace<'_>) -> Result<Queue, UnknownFlow> {
        Ok(Queue::DropTail(DropTail::new(self.limit)))
    }
}

/// A first-in first-out queue of bounded length.
#[derive(Clone, Debug)]
pub struct DropTail {
    fifo: Fifo,
    /// Packets that wait elsewhere and take room here.
    elsewhere: QueueLength,
}

impl DropTail {
    /// An empty queue of this capacity.
    pub fn new(limit: Limit) -> DropTail {
        DropTail { fifo: Fifo::new(limit), elsewhere: QueueLength::default() }
    }

    /// What may wait.
    pub(crate) fn capacity(&self) -> Capacity {
        self.fifo.capacity()
    }

    /// Room for a packet that its link keeps in line itself, if there is any.
    #[inline]
    pub(crate) fn admit(&mut self, ip_len: u32) -> Result<(), DropReason> {
        let QueueLength { packets, bytes } = &mut self.elsewhere;
        if !self.fifo.capacity().fits(*packets as usize, bytes.get(), ip_len) {
            return Err(DropReason::QueueFull);
        }
        *packets += 1;
        *bytes += Bytes(u64::from(ip_len));
        Ok(())
    }

    /// A packet of this length that was admitted waits no longer.
    #[inline]
    pub(crate) fn leave(&mut self, ip_len: u32) {
        self.elsewhere.packets -= 1;
        self.elsewhere.bytes -= Bytes(u64::from(ip_len));
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        _: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        self.fifo.offer(now, slot)
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut QueueContext<'_>) -> Option<Dequeued> {
        self.fifo.pop(now)
    }

    #[inline]
    fn length(&self) -> QueueLength {
        let QueueLength { packets, bytes } = self.fifo.length();
        QueueLength {
            packets: packets + self.elsewhere.packets,
            bytes: bytes + self.elsewhere.bytes,
        }
    }

    fn adopt(&mut self, fresh: DropTail) -> bool {
        self.fifo.set_capacity(fresh.fifo.capacity());
        true
    }

    /// What need not wait takes no capacity: even a packet longer than the whole queue passes.
    #[inline]
    fn pass(
        &mut self,
        _now: Time,
        slot: Slot,
        _around: &mut QueueContext<'_>,
    ) -> Result<Option<Slot>, DropReason> {
        Ok(Some(slot))
    }
}
