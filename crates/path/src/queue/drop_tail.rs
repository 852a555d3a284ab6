//! Drop-tail (RFC 7567 §2): first in, first out; a packet that does not fit is dropped.
//!
//! Not modelled: descriptor limits of real network cards, which count packets and bytes at once.

use super::fifo::{Fifo, Limit, Waiting};
use super::{Dequeued, Outlet, QueueDiscipline};
use crate::packets::{Packets, Slot};
use ackord_events::DropReason;
use ackord_units::{Bytes, Time};

/// A first-in first-out queue of bounded length.
#[derive(Clone, Debug)]
pub struct DropTail {
    fifo: Fifo,
}

impl DropTail {
    /// An empty queue of this capacity.
    pub fn new(limit: Limit) -> DropTail {
        DropTail { fifo: Fifo::new(limit) }
    }
}

impl QueueDiscipline for DropTail {
    #[inline]
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        _packets: &mut Packets,
        _outlet: &mut Outlet,
    ) -> Result<(), DropReason> {
        if !self.fifo.has_room_for(slot.ip_len) {
            return Err(DropReason::QueueFull);
        }
        self.fifo.push(Waiting { since: now, slot });
        Ok(())
    }

    #[inline]
    fn dequeue(
        &mut self,
        now: Time,
        _packets: &mut Packets,
        _outlet: &mut Outlet,
    ) -> Option<Dequeued> {
        self.fifo.pop(now)
    }

    #[inline]
    fn len_packets(&self) -> u32 {
        self.fifo.len_packets()
    }

    #[inline]
    fn len_bytes(&self) -> Bytes {
        self.fifo.len_bytes()
    }

    /// What need not wait takes no capacity: even a packet longer than the whole queue passes.
    #[inline]
    fn pass(
        &mut self,
        _now: Time,
        slot: Slot,
        _packets: &mut Packets,
        _outlet: &mut Outlet,
    ) -> Result<Option<Slot>, DropReason> {
        Ok(Some(slot))
    }
}
