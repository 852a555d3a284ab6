//! One direction of a link: a queue, a transmitter of a fixed rate, a propagation delay, a medium.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | the link and its configuration |
//! | `loss.rs` | [`LossModel`]: what the medium loses |
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
//! At the same instant the transmitter goes first: a packet that arrives just as a place in the
//! queue becomes free finds it free.

mod loss;
mod stats;

use crate::packets::{Packets, Slot};
use crate::queue::{Outlet, Queue, QueueDiscipline};
use crate::routes::Row;
use ackord_events::{DropReason, Event, LinkId, Sink, TapPoint};
use ackord_units::{Bytes, Rate, Span, Time};
use ackord_wire::{NodeId, Packet};
use std::collections::VecDeque;

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
    /// What waits for the transmitter.
    pub queue: Queue,
    /// What the medium loses; nothing for a perfect medium.
    pub loss: Option<LossModel>,
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
    delay: Span,
    /// When the transmitter has finished what it has begun.
    free_at: Time,
    /// Packets in the queue, kept here because it is asked for at every turn.
    waiting: u32,
    queue: Queue,
    loss: Option<LossModel>,
    tap: Tap,
    wire: VecDeque<OnWire>,
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

/// A packet whose transmission has begun.
#[derive(Clone, Copy, Debug)]
struct OnWire {
    arrives_at: Time,
    slot: Slot,
    fate: Option<DropReason>,
}

impl Link {
    pub(crate) fn new(id: LinkId, config: LinkConfig, place: Place) -> Link {
        Link {
            id,
            to: config.to,
            onward: place.onward,
            watcher: place.watcher,
            serializer: Serializer::new(config.rate),
            delay: config.delay,
            free_at: Time::ZERO,
            waiting: config.queue.len_packets(),
            queue: config.queue,
            loss: config.loss,
            tap: config.tap,
            wire: VecDeque::new(),
            outlet: Outlet::default(),
            stats: LinkStats::default(),
        }
    }

    /// A packet enters at `now`. Returns when the link is next due if that has changed.
    #[inline]
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
        if was_empty { self.due_at() } else { None }
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
        let dequeued = self.queue.dequeue(at, packets, &mut self.outlet);
        self.waiting = self.queue.len_packets();
        self.drain_outlet(at, packets, sink);
        let Some(dequeued) = dequeued else { return Sent::No };
        self.tell_dequeued(at, &packets[dequeued.slot], dequeued.waited, sink);
        self.transmit(at, dequeued.slot);
        Sent::Yes
    }

    /// Takes the packet that arrives at `now`, or drops it there if the medium lost it.
    ///
    /// # Panics
    /// If nothing is on the wire.
    #[inline]
    pub(crate) fn take_arrival<S: Sink>(
        &mut self,
        now: Time,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Option<Slot> {
        self.run_until(now, packets, sink);
        let OnWire { arrives_at, slot, fate } =
            self.wire.pop_front().expect("a link is due only when something is on its wire");
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

    /// When the next packet arrives at the far end.
    #[inline]
    pub(crate) fn due_at(&self) -> Option<Time> {
        self.wire.front().map(|head| head.arrives_at)
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

    /// How long the transmitter has been sending, up to `now`, if it has caught up with `now`.
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
    #[inline]
    fn pass<S: Sink>(&mut self, now: Time, slot: Slot, packets: &mut Packets, sink: &mut S) {
        let passed = match self.queue.pass(now, slot, packets, &mut self.outlet) {
            Ok(passed) => passed,
            Err(reason) => return self.drop(now, slot, reason, packets, sink),
        };
        if S::ACTIVE {
            let packet = &packets[slot];
            let queue = QueueLength { packets: 1, bytes: packet.len() };
            self.tell_enqueued(now, packet, queue, sink);
        }
        self.drain_outlet(now, packets, sink);
        if let Some(slot) = passed {
            self.tell_dequeued(now, &packets[slot], Span::ZERO, sink);
            self.transmit(now, slot);
        }
    }

    #[inline]
    fn enqueue<S: Sink>(&mut self, now: Time, slot: Slot, packets: &mut Packets, sink: &mut S) {
        let taken = self.queue.enqueue(now, slot, packets, &mut self.outlet);
        self.waiting = self.queue.len_packets();
        self.drain_outlet(now, packets, sink);
        match taken {
            Err(reason) => self.drop(now, slot, reason, packets, sink),
            Ok(()) => {
                if S::ACTIVE {
                    let queue =
                        QueueLength { packets: self.waiting, bytes: self.queue.len_bytes() };
                    self.tell_enqueued(now, &packets[slot], queue, sink);
                }
            }
        }
    }

    #[inline]
    fn transmit(&mut self, now: Time, slot: Slot) {
        let ip_len = slot.ip_len;
        let takes = self.serializer.time_for(ip_len);
        self.free_at = now + takes;
        self.stats.packets += 1;
        self.stats.bytes += u64::from(ip_len);
        self.stats.busy_for += takes;
        let fate = self.loss.as_mut().and_then(|loss| loss.draw(ip_len));
        self.wire.push_back(OnWire { arrives_at: self.free_at + self.delay, slot, fate });
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
            queue_bytes: self.queue.len_bytes(),
        };
        sink.emit(now, event);
    }
}

/// Whether a queue with packets in it gave one, or dropped them all.
enum Sent {
    Yes,
    No,
}

struct QueueLength {
    packets: u32,
    bytes: Bytes,
}

/// Works out transmission times as [`Rate::time_for`] does, without a division where it can.
#[derive(Clone, Debug)]
struct Serializer {
    rate: Rate,
    /// Nanoseconds per byte where that is a whole number, or zero.
    nanos_per_byte: u64,
    /// The latest answer: traffic has few packet lengths, mostly one per direction.
    last_len: u32,
    last_span: Span,
}

impl Serializer {
    fn new(rate: Rate) -> Serializer {
        let bits_per_sec = rate.as_bits_per_sec();
        let whole = bits_per_sec > 0 && 8_000_000_000 % bits_per_sec == 0;
        Serializer {
            rate,
            nanos_per_byte: if whole { 8_000_000_000 / bits_per_sec } else { 0 },
            last_len: 0,
            last_span: Span::ZERO,
        }
    }

    #[inline]
    fn time_for(&mut self, ip_len: u32) -> Span {
        if self.nanos_per_byte != 0 {
            return Span::from_nanos(self.nanos_per_byte * u64::from(ip_len));
        }
        if ip_len != self.last_len {
            self.last_len = ip_len;
            self.last_span = self.rate.time_for(Bytes(u64::from(ip_len)));
        }
        self.last_span
    }
}
