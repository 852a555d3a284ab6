//! Every queue a link may have, behind one type.

use super::{
    Around, Codel, Dequeued, DropTail, Drr, FlowState, FqCodel, PaperDrop, Pie, PracticalDrop,
    QueueDiscipline, QueueLength, Red, Sfq,
};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::Time;
use ackord_wire::Packet;

/// Every queue a link may have, told apart by a match; the box of the larger ones is
/// made once per link.
#[derive(Clone, Debug)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTail),
    /// Drops at random, by the average length.
    Red(Box<Red>),
    /// Drops at the head, by how long packets wait.
    Codel(Box<Codel>),
    /// Drops at random, by how long packets wait.
    Pie(Box<Pie>),
    /// A line per connection, served in turn by bytes.
    Drr(Box<Drr>),
    /// A line per bucket of connections, served in turn.
    Sfq(Box<Sfq>),
    /// A line per bucket of connections, each under CoDel, served in turn by bytes.
    FqCodel(Box<FqCodel>),
    /// A threshold per connection, as the paper has it.
    PaperDrop(Box<PaperDrop>),
    /// A threshold per connection, for use.
    PracticalDrop(Box<PracticalDrop>),
}

macro_rules! each {
    ($queue:expr, $inner:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($inner) => $call,
            Queue::Red($inner) => $call,
            Queue::Codel($inner) => $call,
            Queue::Pie($inner) => $call,
            Queue::Drr($inner) => $call,
            Queue::Sfq($inner) => $call,
            Queue::FqCodel($inner) => $call,
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
        around: &mut Around<'_>,
    ) -> Result<(), DropReason> {
        each!(self, queue => queue.enqueue(now, slot, around))
    }

    #[inline]
    fn dequeue(&mut self, now: Time, around: &mut Around<'_>) -> Option<Dequeued> {
        each!(self, queue => queue.dequeue(now, around))
    }

    #[inline]
    fn length(&self) -> QueueLength {
        each!(self, queue => queue.length())
    }

    #[inline]
    fn pass(
        &mut self,
        now: Time,
        slot: Slot,
        around: &mut Around<'_>,
    ) -> Result<Option<Slot>, DropReason> {
        each!(self, queue => queue.pass(now, slot, around))
    }

    fn observe_reverse(&mut self, now: Time, packet: &Packet) {
        each!(self, queue => queue.observe_reverse(now, packet));
    }

    fn wants_reverse(&self) -> bool {
        each!(self, queue => queue.wants_reverse())
    }

    fn flow_state(&self) -> FlowState {
        each!(self, queue => queue.flow_state())
    }
}
