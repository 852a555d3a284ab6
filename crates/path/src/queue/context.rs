//! What a queue is given beside its packet, what it tells, and the one place where a packet is
//! marked in place of being dropped (RFC 3168 §5).

use crate::packets::{Packets, Slot};
use ackord_events::DropReason;
use ackord_units::{Bytes, Span};
use ackord_wire::Ecn;

/// What a queue works on beside itself.
#[derive(Debug)]
pub struct QueueContext<'a> {
    /// The packets behind the slots.
    pub packets: &'a mut Packets,
    /// Where it tells what it did beside its answer.
    pub drops: &'a mut DropList,
}

/// Where a queue tells what it did beside the answer to a call.
#[derive(Clone, Debug, Default)]
pub struct DropList {
    /// Packets that had been taken and were dropped after all, in order.
    pub dropped: Vec<(Slot, DropReason)>,
    /// Packets marked "congestion experienced" so far (RFC 3168).
    pub marked: u64,
}

/// A packet that has left the queue to be transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dequeued {
    /// Where the packet is.
    pub slot: Slot,
    /// How long it waited.
    pub waited: Span,
}

/// How much waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QueueLength {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes of IP packets waiting.
    pub bytes: Bytes,
}

/// What a queue has had to keep to tell flows apart, the waiting packets themselves not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FlowState {
    /// The most entries at once: flows, or the buckets into which flows are put.
    pub entries: u32,
    /// Bytes of one entry, its place in an index included; spare room of tables is not.
    pub entry_bytes: u32,
}

impl FlowState {
    /// So many entries of this type.
    pub(crate) fn of<Entry>(entries: usize) -> FlowState {
        FlowState { entries: entries as u32, entry_bytes: size_of::<Entry>() as u32 }
    }

    /// All entries together.
    pub fn bytes(self) -> Bytes {
        Bytes(u64::from(self.entries) * u64::from(self.entry_bytes))
    }
}

impl QueueContext<'_> {
    /// Signals congestion on a packet: `Ok` if the queue marks (`ecn`) and the packet takes the mark and
    /// goes on, or else the reason for which it is to be dropped.
    pub(crate) fn signal(&mut self, ecn: bool, slot: Slot) -> Result<(), DropReason> {
        if !ecn || !self.is_ecn_capable(slot) {
            return Err(DropReason::EarlyDrop);
        }
        self.mark(slot);
        Ok(())
    }

    /// Whether a packet may be marked (RFC 3168 §5).
    pub fn is_ecn_capable(&self, slot: Slot) -> bool {
        self.packets[slot].ecn != Ecn::NotEct
    }

    /// Marks an ECN-capable packet. One marked upstream carries the signal already and counts
    /// there.
    pub fn mark(&mut self, slot: Slot) {
        debug_assert!(self.is_ecn_capable(slot), "RFC 3168 §5: only ECT packets are marked");
        let ecn = &mut self.packets[slot].ecn;
        if *ecn != Ecn::Ce {
            *ecn = Ecn::Ce;
            self.drops.marked += 1;
        }
    }

    /// A packet that had been taken dies after all.
    pub fn drop(&mut self, slot: Slot, reason: DropReason) {
        self.drops.dropped.push((slot, reason));
    }
}
