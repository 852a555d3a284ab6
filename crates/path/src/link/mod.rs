//! One direction of a link: a queue, a transmitter of a fixed rate, a propagation delay, a medium.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | the link and its configuration |
//! | `serializer.rs` | how long a packet's transmission takes |
//! | `wire.rs` | the packets whose transmission has begun |
//! | `loss.rs` | [`LossModel`]: what the medium loses |
//! | `jitter.rs` | [`Jitter`]: a propagation delay that is drawn at random |
//! | `stats.rs` | [`LinkStats`]: plain counters, always on |
//!
//! The transmitter is lazy. It keeps the instant at which it becomes free, and catches up whenever
//! the link is looked at: each packet leaves the queue at the exact instant the one before it was
//! out, then sits on the wire until it arrives. So a packet costs one event, its arrival.
//!
//! *A queue with packets in it implies packets on the wire*: the one being transmitted is there,
//! and it arrives no earlier than its transmission ends, which is when the next one leaves the
//! queue. The next arrival is therefore always the head of the wire.
//!
//! Where packets may overtake one another that does not hold: the next one out may arrive before
//! everything that is on the wire. Such a link is also due whenever its transmitter becomes free
//! with packets waiting, so a packet that waited costs two events there.
//!
//! At the same instant the transmitter goes first: a packet that arrives just as a place in the
//! queue becomes free finds it free.

mod jitter;
mod loss;
mod serializer;
mod stats;
mod wire;

use crate::medium::MediumId;
use crate::packets::{Packets, Slot};
use crate::queue::{Around, Outlet, Queue, QueueDiscipline, QueueLength};
use crate::routes::Row;
use ackord_events::{DropReason, Event, LinkId, Sink, TapPoint};
use ackord_units::{Rate, Span, Time};
use ackord_wire::{NodeId, Packet};
use serializer::Serializer;
use wire::{OnWire, Overtaken, Wire};

pub use jitter::{DelayDistribution, DelayShape, Jitter, JitterConfig, PacketOrder, Redraw};
pub use loss::{ErrorRate, LossModel};
pub use stats::{DropCounts, LinkStats};

/// What a link is made of.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// The node whose packets it takes.
    pub from: NodeId,
    /// The node it leads to.
    pub to: NodeId,
    /// How fast the transmitter is; not zero.
    pub rate: Rate,
    /// Propagation delay, from the end of a packet's transmission to its arrival.
    pub delay: Span,
    /// How the delay is drawn, in place of `delay`; nothing for a delay that never changes.
    pub jitter: Option<Jitter>,
    /// What waits for the transmitter.
    pub queue: Queue,
    /// What the medium loses; nothing for a perfect medium.
    pub loss: Option<LossModel>,
    /// The medium it shares, which then does the transmitting at `rate`; nothing for a link with a
    /// transmitter of its own.
    pub medium: Option<MediumId>,
    /// Whether captures are taken at its two ends.
    pub tap: Tap,
}

/// Whether a link tells of every packet that enters and leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tap {
    /// No.
    #[default]
    Off,
    /// [`TapPoint::LinkIn`] and [`TapPoint::LinkOut`] events for every packet.
    On,
}

/// One direction of a link at work.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    id: LinkId,
    to: NodeId,
    /// Where packets go from there.
    onward: Row,
    /// The link whose queue watches what comes out of this one.
    watcher: Option<LinkId>,
    serializer: Serializer,
    propagation: Propagation,
    /// Whether packets may overtake one another, kept here because it is asked for at every turn.
    order: PacketOrder,
    medium: Option<MediumId>,
    /// When the transmitter has finished what it has begun; never, where a medium transmits.
    free_at: Time,
    /// Packets in the queue, kept here because it is asked for at every turn.
    waiting: u32,
    queue: Queue,
    loss: Option<LossModel>,
    tap: Tap,
    wire: Wire,
    outlet: Outlet,
    stats: LinkStats,
}

/// What a link knows of the graph around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The routes of the node it leads to.
    pub(crate) onward: Row,
    /// The opposite link, if its queue watches what comes out of this one.
    pub(crate) watcher: Option<LinkId>,
}

/// How long a packet travels after its transmission.
#[derive(Clone, Debug)]
enum Propagation {
    /// Always as long: packets stay in order.
    Constant(Span),
    /// As drawn; a packet arrives no sooner than the one before it.
    InOrder(Jitter),
    /// As drawn; packets may overtake one another.
    Free(Jitter),
}

impl Link {
    pub(crate) fn new(id: LinkId, config: LinkConfig, place: Place) -> Link {
        let propagation = Propagation::new(config.delay, config.jitter);
        let order = match propagation {
            Propagation::Constant(_) | Propagation::InOrder(_) => PacketOrder::Kept,
            Propagation::Free(_) => PacketOrder::Free,
        };
        Link {
            id,
            to: config.to,
            onward: place.onward,
            watcher: place.watcher,
            serializer: Serializer::new(config.rate),
            propagation,
            order,
            medium: config.medium,
            free_at: if config.medium.is_some() { Time::NEVER } else { Time::ZERO },
            waiting: config.queue.length().packets,
            queue: config.queue,
            loss: config.loss,
            tap: config.tap,
            wire: Wire::default(),
            outlet: Outlet::default(),
            stats: LinkStats::default(),
        }
    }

    /// A packet enters at `now`. Returns when the link is next due if that has changed.
    #[inline(always)]
    pub(crate) fn accept<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Option<Time> {
        if S::ACTIVE && self.tap == Tap::On {
            let packet = &packets[slot];
            sink.emit(now, Event::PacketTapped { tap: TapPoint::LinkIn(self.id), packet });
        }
        self.run_until(now, packets, sink);
        let was_empty = self.wire.is_empty();
        if self.free_at <= now {
            self.pass(now, slot, packets, sink);
        } else {
            self.enqueue(now, slot, packets, sink);
        }
        // In order, what is sent later arrives later: only the first on the wire changes it.
        let may_be_sooner = was_empty || self.order == PacketOrder::Free;
        if may_be_sooner { self.due_at() } else { None }
    }

    /// Lets the transmitter do everything it does up to and including `now`.
    #[inline]
    pub(crate) fn run_until<S: Sink>(&mut self, now: Time, packets: &mut Packets, sink: &mut S) {
        while self.waiting > 0 && self.free_at <= now {
            let Sent::Yes = self.transmit_next(packets, sink) else { break };
        }
    }

    /// The transmitter is free and takes what the queue gives it.
    fn transmit_next<S: Sink>(&mut self, packets: &mut Packets, sink: &mut S) -> Sent {
        let at = self.free_at;
        let Some(slot) = self.dequeue(at, packets, sink) else { return Sent::No };
        self.transmit(at, slot);
        Sent::Yes
    }

    #[inline]
    fn dequeue<S: Sink>(&mut self, at: Time, packets: &mut Packets, sink: &mut S) -> Option<Slot> {
        let around = &mut Around { packets, outlet: &mut self.outlet };
        let dequeued = self.queue.dequeue(at, around);
        self.waiting = self.queue.length().packets;
        self.drain_outlet(at, packets, sink);
        let dequeued = dequeued?;
        self.tell_dequeued(at, &packets[dequeued.slot], dequeued.waited, sink);
        Some(dequeued.slot)
    }

    /// Takes the packet that arrives at `now`, or drops it there if the medium lost it; nothing
    /// where only the transmitter was due.
    ///
    /// # Panics
    /// If nothing is on the wire.
    #[inline(always)]
    pub(crate) fn take_arrival<S: Sink>(
        &mut self,
        now: Time,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Option<Slot> {
        self.run_until(now, packets, sink);
        if self.order == PacketOrder::Free && self.wire.next_arrival() > Some(now) {
            return None;
        }
        let OnWire { arrives_at, slot, fate, .. } =
            self.wire.pop().expect("a link is due only when something is on its wire");
        debug_assert_eq!(arrives_at, now, "the schedule and the wire agree");
        if let Some(reason) = fate {
            self.drop(now, slot, reason, packets, sink);
            return None;
        }
        if S::ACTIVE && self.tap == Tap::On {
            let packet = &packets[slot];
            sink.emit(now, Event::PacketTapped { tap: TapPoint::LinkOut(self.id), packet });
        }
        Some(slot)
    }

    /// When the link is next to be looked at: when the next packet arrives at the far end, or
    /// sooner, where the next one out may overtake it.
    #[inline]
    pub(crate) fn due_at(&self) -> Option<Time> {
        let arrival = self.wire.next_arrival();
        match self.order {
            PacketOrder::Free if self.waiting > 0 => arrival.map(|at| at.min(self.free_at)),
            PacketOrder::Kept | PacketOrder::Free => arrival,
        }
    }

    #[inline]
    pub(crate) fn to(&self) -> NodeId {
        self.to
    }

    #[inline]
    pub(crate) fn onward(&self) -> Row {
        self.onward
    }

    #[inline]
    pub(crate) fn watcher(&self) -> Option<LinkId> {
        self.watcher
    }

    pub(crate) fn stats(&self) -> &LinkStats {
        &self.stats
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    pub(crate) fn queue_mut(&mut self) -> &mut Queue {
        &mut self.queue
    }

    #[inline]
    pub(crate) fn medium(&self) -> Option<MediumId> {
        self.medium
    }

    /// Whether its queue has packets.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// The medium takes the next packet out of the queue.
    pub(crate) fn take_for_medium<S: Sink>(
        &mut self,
        now: Time,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Option<Slot> {
        if self.waiting == 0 {
            return None;
        }
        let slot = self.dequeue(now, packets, sink)?;
        self.stats.packets += 1;
        self.stats.bytes += u64::from(slot.ip_len);
        Some(slot)
    }

    /// The medium is done with a packet: it is on its way from `at` on, or lost for this reason.
    pub(crate) fn launch(&mut self, at: Time, slot: Slot, fate: Option<DropReason>) {
        let lost = self.loss.as_mut().and_then(|loss| loss.draw(slot.ip_len));
        self.put_on_wire(at, slot, fate.or(lost));
    }

    /// The medium was taken for this link's packets.
    pub(crate) fn count_airtime(&mut self, airtime: Span) {
        self.stats.busy_for += airtime;
    }

    /// How long the transmitter has been sending, up to `now`, if it has caught up with `now`. Not
    /// for links on a medium.
    pub(crate) fn busy_for(&self, now: Time) -> Span {
        self.stats.busy_for.saturating_sub(self.free_at.saturating_since(now))
    }

    /// Packets in the queue and on the wire.
    pub(crate) fn in_flight(&self) -> u64 {
        u64::from(self.waiting) + self.wire.len() as u64
    }

    /// A packet dies here: counted, told, and its slot given up.
    #[cold]
    pub(crate) fn drop<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        reason: DropReason,
        packets: &mut Packets,
        sink: &mut S,
    ) {
        self.stats.drops.count(reason);
        if S::ACTIVE {
            let packet = &packets[slot];
            sink.emit(now, Event::PacketDropped { link: self.id, packet, reason });
        }
        packets.release(slot);
    }

    /// Nobody waits and the transmitter is free: the packet is transmitted at once.
    #[inline(always)]
    fn pass<S: Sink>(&mut self, now: Time, slot: Slot, packets: &mut Packets, sink: &mut S) {
        // What need not wait is nothing to drop-tail; it is asked by its name because it is what
        // nearly every link has.
        if matches!(self.queue, Queue::DropTail(_)) {
            if S::ACTIVE {
                self.tell_passed(now, &packets[slot], sink);
            }
            self.transmit(now, slot);
        } else {
            self.pass_by_queue(now, slot, packets, sink);
        }
    }

    #[inline(never)]
    fn pass_by_queue<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) {
        let around = &mut Around { packets, outlet: &mut self.outlet };
        let passed = match self.queue.pass(now, slot, around) {
            Ok(passed) => passed,
            Err(reason) => return self.drop(now, slot, reason, packets, sink),
        };
        self.tell_entered_empty(now, &packets[slot], sink);
        self.drain_outlet(now, packets, sink);
        if let Some(slot) = passed {
            self.tell_dequeued(now, &packets[slot], Span::ZERO, sink);
            self.transmit(now, slot);
        }
    }

    #[inline]
    fn enqueue<S: Sink>(&mut self, now: Time, slot: Slot, packets: &mut Packets, sink: &mut S) {
        let around = &mut Around { packets, outlet: &mut self.outlet };
        let taken = self.queue.enqueue(now, slot, around);
        self.waiting = self.queue.length().packets;
        self.drain_outlet(now, packets, sink);
        match taken {
            Err(reason) => self.drop(now, slot, reason, packets, sink),
            Ok(()) => {
                if S::ACTIVE {
                    let queue =
                        QueueLength { packets: self.waiting, bytes: self.queue.length().bytes };
                    self.tell_enqueued(now, &packets[slot], queue, sink);
                }
            }
        }
    }

    // Called at two places of every hop; a call of its own costs a third of what it does.
    #[inline(always)]
    fn transmit(&mut self, now: Time, slot: Slot) {
        let ip_len = slot.ip_len;
        let takes = self.serializer.time_for(ip_len);
        self.free_at = now + takes;
        self.stats.packets += 1;
        self.stats.bytes += u64::from(ip_len);
        self.stats.busy_for += takes;
        let fate = self.loss.as_mut().and_then(|loss| loss.draw(ip_len));
        self.put_on_wire(self.free_at, slot, fate);
    }

    /// The last bit of a packet is out at `out_at`.
    #[inline]
    fn put_on_wire(&mut self, out_at: Time, slot: Slot, fate: Option<DropReason>) {
        match self.propagation {
            Propagation::Constant(delay) => {
                let arrives_at = out_at + delay;
                self.wire.push_last(OnWire { arrives_at, slot, fate, overtaken: Overtaken::No });
            }
            _ => self.put_on_wire_with_jitter(out_at, slot, fate),
        }
    }

    fn put_on_wire_with_jitter(&mut self, out_at: Time, slot: Slot, fate: Option<DropReason>) {
        let mut packet = OnWire { arrives_at: out_at, slot, fate, overtaken: Overtaken::No };
        let jitter = match &mut self.propagation {
            Propagation::Constant(_) => return,
            Propagation::InOrder(jitter) => {
                let not_before = self.wire.last_arrival().unwrap_or(Time::ZERO);
                packet.arrives_at = (out_at + jitter.delay_at(out_at)).max(not_before);
                self.wire.push_last(packet);
                jitter
            }
            Propagation::Free(jitter) => {
                packet.arrives_at = out_at + jitter.delay_at(out_at);
                self.stats.overtaken += self.wire.push_by_arrival(packet);
                jitter
            }
        };
        self.stats.delays_drawn = jitter.draws();
        self.stats.delays_clipped = jitter.clipped();
    }

    /// Counts and tells what the queue dropped or marked beside its answer.
    #[inline]
    fn drain_outlet<S: Sink>(&mut self, now: Time, packets: &mut Packets, sink: &mut S) {
        self.stats.marked = self.outlet.marked;
        if !self.outlet.dropped.is_empty() {
            self.drop_from_outlet(now, packets, sink);
        }
    }

    #[cold]
    fn drop_from_outlet<S: Sink>(&mut self, now: Time, packets: &mut Packets, sink: &mut S) {
        // The vector is put back so that its room is used again.
        let mut dropped = std::mem::take(&mut self.outlet.dropped);
        for (slot, reason) in dropped.drain(..) {
            self.drop(now, slot, reason, packets, sink);
        }
        self.outlet.dropped = dropped;
    }

    /// A packet found the transmitter free: it enters the queue, and leaves it at once.
    #[inline]
    fn tell_passed<S: Sink>(&self, now: Time, packet: &Packet, sink: &mut S) {
        self.tell_entered_empty(now, packet, sink);
        self.tell_dequeued(now, packet, Span::ZERO, sink);
    }

    #[inline]
    fn tell_entered_empty<S: Sink>(&self, now: Time, packet: &Packet, sink: &mut S) {
        if S::ACTIVE {
            let queue = QueueLength { packets: 1, bytes: packet.len() };
            self.tell_enqueued(now, packet, queue, sink);
        }
    }

    #[inline]
    fn tell_enqueued<S: Sink>(&self, now: Time, packet: &Packet, queue: QueueLength, sink: &mut S) {
        let event = Event::PacketEnqueued {
            link: self.id,
            flow: packet.flow,
            bytes: packet.len(),
            queue_packets: queue.packets,
            queue_bytes: queue.bytes,
        };
        sink.emit(now, event);
    }

    #[inline]
    fn tell_dequeued<S: Sink>(&self, now: Time, packet: &Packet, waited: Span, sink: &mut S) {
        if !S::ACTIVE {
            return;
        }
        let event = Event::PacketDequeued {
            link: self.id,
            flow: packet.flow,
            bytes: packet.len(),
            waited,
            queue_packets: self.waiting,
            queue_bytes: self.queue.length().bytes,
        };
        sink.emit(now, event);
    }
}

impl Propagation {
    fn new(delay: Span, jitter: Option<Jitter>) -> Propagation {
        match jitter {
            None => Propagation::Constant(delay),
            Some(jitter) => match jitter.order() {
                PacketOrder::Kept => Propagation::InOrder(jitter),
                PacketOrder::Free => Propagation::Free(jitter),
            },
        }
    }
}

/// Whether a queue with packets in it gave one, or dropped them all.
enum Sent {
    Yes,
    No,
}
