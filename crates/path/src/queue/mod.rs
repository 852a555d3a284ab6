//! What waits for a link's transmitter.
//!
//! | file | what |
//! | --- | --- |
//! | `drop_tail.rs` | [`DropTail`]: first in, first out, up to a capacity |
//! | `selective_drop.rs`, `selective_drop/` | [`PaperDrop`], [`PracticalDrop`]: a threshold per connection |
//! | `fifo.rs` | the waiting line itself, with its capacity |
//!
//! A queue never holds the packet being transmitted. It is asked to take a packet when the packet
//! arrives and to give one at the exact instant at which the transmitter becomes free.

mod drop_tail;
mod fifo;
mod selective_drop;

use crate::packets::{Packets, Slot};
use ackord_events::DropReason;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::Packet;

pub use drop_tail::DropTail;
pub use fifo::Limit;
pub use selective_drop::{
    ArrivalCounts, BestWindow, PaperConfig, PaperDrop, PracticalConfig, PracticalDrop, Threshold,
    TripSource, Weights,
};

/// Decides what waits, in which order it leaves, and what dies instead.
///
/// Work-conserving: while packets wait, [`QueueDiscipline::dequeue`] gives one, unless it drops
/// them all.
pub trait QueueDiscipline {
    /// Takes the packet in `slot`, which arrived at `now`, or says why it is dropped. Packets that
    /// were waiting and die in its place go to `outlet`. The caller releases the slots of the dead.
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        outlet: &mut Outlet,
    ) -> Result<(), DropReason>;

    /// Gives the packet to be transmitted from `now` on, if one waits. What the queue chooses to
    /// drop on the way there goes to `outlet`.
    fn dequeue(
        &mut self,
        now: Time,
        packets: &mut Packets,
        outlet: &mut Outlet,
    ) -> Option<Dequeued>;

    /// Packets waiting.
    fn len_packets(&self) -> u32;

    /// Bytes waiting.
    fn len_bytes(&self) -> Bytes;

    /// A packet met an idle transmitter and nobody waiting: it need not wait, but may be refused
    /// or changed. The default sends it through the queue.
    fn pass(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        outlet: &mut Outlet,
    ) -> Result<Option<Slot>, DropReason> {
        self.enqueue(now, slot, packets, outlet)?;
        Ok(self.dequeue(now, packets, outlet).map(|dequeued| dequeued.slot))
    }

    /// A packet came out of the link in the opposite direction. Only called for queues that
    /// [want it](QueueDiscipline::wants_reverse).
    fn observe_reverse(&mut self, _now: Time, _packet: &Packet) {}

    /// Whether the queue learns from the packets that come the other way.
    fn wants_reverse(&self) -> bool {
        false
    }
}

/// A packet that has left the queue to be transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dequeued {
    /// Where the packet is.
    pub slot: Slot,
    /// How long it waited.
    pub waited: Span,
}

/// Where a queue tells what it did beside the answer to a call.
#[derive(Clone, Debug, Default)]
pub struct Outlet {
    /// Packets that had been taken and were dropped after all, in order.
    pub dropped: Vec<(Slot, DropReason)>,
    /// Packets marked "congestion experienced" so far (RFC 3168).
    pub marked: u64,
}

/// Every queue a link may have, told apart by a match; the box of the larger ones is
/// made once per link.
#[derive(Clone, Debug)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTail),
    /// A threshold per connection, as the paper has it.
    PaperDrop(Box<PaperDrop>),
    /// A threshold per connection, for use.
    PracticalDrop(Box<PracticalDrop>),
}

macro_rules! each {
    ($queue:expr, $inner:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($inner) => $call,
            Queue::PaperDrop($inner) => $call,
            Queue::PracticalDrop($inner) => $call,
        }
    };
}

impl QueueDiscipline for Queue {
    #[inline]
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        outlet: &mut Outlet,
    ) -> Result<(), DropReason> {
        each!(self, queue => queue.enqueue(now, slot, packets, outlet))
    }

    #[inline]
    fn dequeue(
        &mut self,
        now: Time,
        packets: &mut Packets,
        outlet: &mut Outlet,
    ) -> Option<Dequeued> {
        each!(self, queue => queue.dequeue(now, packets, outlet))
    }

    #[inline]
    fn len_packets(&self) -> u32 {
        each!(self, queue => queue.len_packets())
    }

    #[inline]
    fn len_bytes(&self) -> Bytes {
        each!(self, queue => queue.len_bytes())
    }

    #[inline]
    fn pass(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        outlet: &mut Outlet,
    ) -> Result<Option<Slot>, DropReason> {
        each!(self, queue => queue.pass(now, slot, packets, outlet))
    }

    fn observe_reverse(&mut self, now: Time, packet: &Packet) {
        each!(self, queue => queue.observe_reverse(now, packet));
    }

    fn wants_reverse(&self) -> bool {
        each!(self, queue => queue.wants_reverse())
    }
}
