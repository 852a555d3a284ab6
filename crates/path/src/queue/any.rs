//! Every queue a link may have, behind one type.

use super::{Dequeued, DropTail, FlowState, QueueContext, QueueDiscipline, QueueLength};
use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::Time;
use ackord_wire::Packet;
use std::any::Any;
use std::fmt::Debug;

/// Every queue a link may have. Drop-tail, which nearly every link has, is told apart from the others,
/// so that what need not wait passes it without a call.
#[derive(Clone, Debug)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTail),
    /// Another, in a box that is made once per link.
    Other(Box<dyn BoxedQueue>),
}

/// A queue that can be copied with what waits in it: every one that is [`Clone`].
pub trait BoxedQueue: QueueDiscipline + Any + Debug + Send {
    /// Itself, as it stands.
    fn boxed_clone(&self) -> Box<dyn BoxedQueue>;

    /// Adopts the settings of another queue; false if that is of another kind or this kind cannot.
    fn adopt_boxed(&mut self, fresh: Box<dyn BoxedQueue>) -> bool;
}

impl<Q: QueueDiscipline + Clone + Debug + Send + 'static> BoxedQueue for Q {
    fn boxed_clone(&self) -> Box<dyn BoxedQueue> {
        Box::new(self.clone())
    }

    fn adopt_boxed(&mut self, fresh: Box<dyn BoxedQueue>) -> bool {
        let fresh: Box<dyn Any> = fresh;
        fresh.downcast::<Q>().is_ok_and(|fresh| self.adopt(*fresh))
    }
}

impl Clone for Box<dyn BoxedQueue> {
    fn clone(&self) -> Box<dyn BoxedQueue> {
        (**self).boxed_clone()
    }
}

impl Queue {
    /// A queue that is not drop-tail.
    pub fn of(queue: impl BoxedQueue + 'static) -> Queue {
        Queue::Other(Box::new(queue))
    }

    /// Adopts the settings of another queue, and keeps what waits; false, and nothing is changed, if that is of another
    /// kind or this kind of queue cannot.
    pub(crate) fn adopt_settings(&mut self, fresh: Queue) -> bool {
        match (self, fresh) {
            (Queue::DropTail(queue), Queue::DropTail(fresh)) => queue.adopt(fresh),
            (Queue::Other(queue), Queue::Other(fresh)) => queue.adopt_boxed(fresh),
            (Queue::DropTail(_), Queue::Other(_)) | (Queue::Other(_), Queue::DropTail(_)) => false,
        }
    }
}

macro_rules! each {
    ($queue:expr, $inner:ident => $call:expr) => {
        match $queue {
            Queue::DropTail($inner) => $call,
            Queue::Other($inner) => $call,
        }
    };
}

impl QueueDiscipline for Queue {
    #[inline]
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason> {
        each!(self, queue => queue.enqueue(now, slot, context))
    }

    #[inline]
    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued> {
        each!(self, queue => queue.dequeue(now, context))
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
        context: &mut QueueContext<'_>,
    ) -> Result<Option<Slot>, DropReason> {
        each!(self, queue => queue.pass(now, slot, context))
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
