//! What waits for a link's transmitter.
//!
//! | file | what |
//! | --- | --- |
//! | `drop_tail.rs` | [`DropTail`]: first in, first out, up to a capacity |
//! | `red.rs`, `red/` | [`Red`]: drops at random, by the average length |
//! | `codel.rs` | [`Codel`]: drops at the head, by how long packets wait |
//! | `pie.rs`, `pie/` | [`Pie`]: drops at random, by how long packets wait |
//! | `drr.rs` | [`Drr`]: a line per connection, served in turn by bytes |
//! | `sfq.rs` | [`Sfq`]: a line per bucket of connections, served in turn |
//! | `fq_codel.rs` | [`FqCodel`]: a line per bucket, each under CoDel |
//! | `selective_drop.rs`, `selective_drop/` | [`PaperDrop`], [`PracticalDrop`]: a threshold per connection |
//! | `any.rs` | [`Queue`]: every queue a link may have |
//! | `context.rs` | what a queue is given and tells; marking in place of dropping |
//! | `fifo.rs`, `lines.rs` | one waiting line; many in one room |
//! | `knobs.rs` | what builds a queue, and the knobs that several have |
//! | `flow_table.rs` | what is kept of each flow, found by its number |
//! | `buckets.rs` | which bucket a flow's packets go into |
//!
//! A queue never holds the packet being transmitted. It is asked to take a packet when the packet
//! arrives and to give one at the exact instant at which the transmitter becomes free. It has no
//! timer: what it does periodically it catches up with when it is called, at the instants at which
//! it would have happened.

mod any;
mod buckets;
mod context;
mod fifo;
mod flow_table;
mod knobs;
mod lines;
#[cfg(test)]
mod testing;

mechanisms! {
    /// Queues of a link: what waits for the transmitter.
    pub enum QueueChoice: dyn QueueKnobs {
        mod drop_tail => DropTail(DropTailKnobs);
        mod selective_drop => SelectiveDrop(SelectiveDropKnobs);
        mod red => Red(RedKnobs);
        mod codel => Codel(CodelKnobs);
        mod pie => Pie(PieKnobs);
        mod drr => Drr(DrrKnobs);
        mod sfq => Sfq(SfqKnobs);
        mod fq_codel => FqCodel(FqCodelKnobs);
    }
}

use crate::packets::Slot;
use ackord_events::DropReason;
use ackord_units::{Time, mechanisms};
use ackord_wire::Packet;

pub use any::Queue;
pub use buckets::BucketBy;
pub use codel::{Codel, CodelConfig};
pub use context::{Dequeued, DropList, FlowState, QueueContext, QueueLength};
pub use drop_tail::DropTail;
pub use drr::{Drr, DrrConfig, PushOut};
pub(crate) use fifo::Capacity;
pub use fifo::Limit;
pub use fq_codel::{FqCodel, FqCodelConfig};
pub use knobs::{QueueKnobs, QueuePlace, UnknownFlow};
pub use pie::{DelayEstimate, Pie, PieConfig};
pub use red::{CountIn, Red, RedConfig, Spacing};
pub use selective_drop::{
    BestWindow, PaperConfig, PaperDrop, PracticalConfig, PracticalDrop, Threshold, TripSource,
    Weights,
};
pub use sfq::{Sfq, SfqConfig, SfqTurn};

/// Decides what waits, in which order it leaves, and what dies instead.
///
/// Work-conserving: while packets wait, [`QueueDiscipline::dequeue`] gives one, unless it drops
/// them all.
pub trait QueueDiscipline {
    /// Takes the packet in `slot`, which arrived at `now`, or says why it is dropped. Packets that
    /// were waiting and die in its place go to the drops. The caller releases the slots of the
    /// dead.
    fn enqueue(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<(), DropReason>;

    /// Gives the packet to be transmitted from `now` on, if one waits. What the queue chooses to
    /// drop on the way there goes to the drops.
    fn dequeue(&mut self, now: Time, context: &mut QueueContext<'_>) -> Option<Dequeued>;

    /// How much waits.
    fn length(&self) -> QueueLength;

    /// A packet met an idle transmitter and nobody waiting: it need not wait, but may be refused
    /// or changed. The default sends it through the queue.
    fn pass(
        &mut self,
        now: Time,
        slot: Slot,
        context: &mut QueueContext<'_>,
    ) -> Result<Option<Slot>, DropReason> {
        self.enqueue(now, slot, context)?;
        Ok(self.dequeue(now, context).map(|dequeued| dequeued.slot))
    }

    /// A packet came out of the link in the opposite direction. Only called for queues that
    /// [want it](QueueDiscipline::wants_reverse).
    fn observe_reverse(&mut self, _now: Time, _packet: &Packet) {}

    /// Whether the queue learns from the packets that come the other way.
    fn wants_reverse(&self) -> bool {
        false
    }

    /// Adopts the settings of `fresh`, an empty queue of the same kind, and keeps what waits; false where this kind of
    /// queue cannot, or not these settings.
    fn adopt(&mut self, _fresh: Self) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// What it has had to keep to tell flows apart; nothing where it does not.
    fn flow_state(&self) -> FlowState {
        FlowState::default()
    }
}
