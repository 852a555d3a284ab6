//! An ordinary link where the graph looks ahead: perhaps one of a chain.
//!
//! It may be told of a packet before that comes, and knows then when the packet will be at the far end. What it has
//! counted is exact for every instant up to the present: a transmission is kept until its time has come.

use super::serializer::Serializer;
use super::untold::Untold;
use super::{Attends, Link};
use crate::packets::Slot;
use crate::queue::{Capacity, Queue};
use crate::routes::Row;
use ackord_events::Sink;
use ackord_units::{Span, Time};
use ackord_wire::{FlowId, NodeId, Packet};
use prefetch_index::prefetch_index;
use std::collections::VecDeque;

/// So many packets before one arrives, it is fetched from memory.
const FETCHED_AHEAD: usize = 8;

/// What a packet that has come through a link meets there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beyond {
    /// Its destination, whatever it is.
    Destination,
    /// This link, of the same chain.
    Link(u32),
    /// The junction of this number.
    Junction(u32),
    /// Its destination, or a link of the same chain or behind a junction.
    ByRoute(Row),
    /// What is not known ahead.
    Unknown,
}

impl Beyond {
    /// Where some of its packets meet this, and others that.
    pub(crate) fn or(self, other: Beyond, row: Row) -> Beyond {
        match (self, other) {
            (Beyond::Unknown, _) | (_, Beyond::Unknown) => Beyond::Unknown,
            (Beyond::Destination, Beyond::Destination) => self,
            (Beyond::Link(one), Beyond::Link(two)) if one == two => self,
            (Beyond::Junction(one), Beyond::Junction(two)) if one == two => self,
            _ => Beyond::ByRoute(row),
        }
    }
}

/// What an ordinary link needs to know when a packet will be at its far end.
// In this order: what every packet asks for comes first, in as few lines of the processor's cache as it can.
#[repr(C)]
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    /// Transmissions that are not counted yet, in turn.
    planned: Vec<Planned>,
    /// When it will have transmitted all that it was given.
    free_at: Time,
    delay: Span,
    /// Packets that wait when the latest comes, the last ones of those planned.
    waiting: u32,
    to: NodeId,
    /// The next link of the chain, where that is the same for all: as `beyond` says, but asked for first.
    next: Option<u32>,
    beyond: Beyond,
    /// The junction before it.
    junction: Option<u32>,
    /// Whether somebody looks at what comes out of it.
    is_watched: bool,
    serializer: Serializer,
    /// The bytes of those that wait.
    waiting_bytes: u64,
    capacity: Capacity,
    counted: Counted,
    /// The packets on their way to the far end, where that is always their destination.
    arrivals: VecDeque<(Time, Packet)>,
    /// Packets for which there will be no room when they come.
    drops: VecDeque<Dropped>,
    /// What is to be told, if anybody wants to hear of it.
    untold: Untold,
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) begins_at: Time,
    pub(super) ip_len: u32,
    /// Only where somebody wants to hear of it.
    pub(super) flow: FlowId,
}

/// What becomes of a packet that comes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass {
    /// It will be at the far end then.
    Arrives(Time),
    /// There is no room for it.
    FullQueue,
    /// There is no room to plan its transmission, before [`Hop::make_room`].
    FullPlan,
}

/// What a link asks of a packet that comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) ip_len: u32,
    pub(crate) dst: NodeId,
    /// Only where somebody wants to hear of it.
    pub(crate) flow: FlowId,
}

/// A packet for which there will be no room.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    at: Time,
    slot: Slot,
    /// Packets that have come before it and were taken.
    after: u64,
}

/// Transmissions that have begun.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    packets: u64,
    bytes: u64,
    busy_for: Span,
    /// When the latest of them ends.
    busy_until: Time,
}

impl Hop {
    /// The same link, if it is ordinary.
    pub(crate) fn of(link: &Link, beyond: Beyond, junction: Option<u32>) -> Option<Hop> {
        let (Attends::PlannedArrivals(delay), Queue::DropTail(queue)) = (link.attends, &link.queue)
        else {
            return None;
        };
        Some(Hop {
            to: link.to,
            next: if let Beyond::Link(next) = beyond { Some(next) } else { None },
            beyond,
            junction,
            is_watched: link.watcher.is_some(),
            delay,
            serializer: link.serializer.clone(),
            free_at: link.free_at,
            capacity: queue.capacity(),
            waiting: 0,
            waiting_bytes: 0,
            planned: Vec::with_capacity(16),
            counted: Counted::default(),
            arrivals: VecDeque::new(),
            drops: VecDeque::new(),
            untold: Untold::of(link.id),
        })
    }

    /// The far end.
    #[inline]
    pub(crate) fn to(&self) -> NodeId {
        self.to
    }

    /// The next link of the chain, where that is the same for all packets.
    #[inline]
    pub(crate) fn next(&self) -> Option<u32> {
        self.next
    }

    #[inline]
    pub(crate) fn beyond(&self) -> Beyond {
        self.beyond
    }

    /// The number of the junction before it, if there is one.
    #[inline]
    pub(crate) fn junction(&self) -> Option<u32> {
        self.junction
    }

    /// Whether all that happens to this packet at the far end is that it is delivered.
    #[inline]
    pub(crate) fn is_end_of(&self, slot: Slot) -> bool {
        slot.dst == self.to && !self.is_watched
    }

    /// A packet will be at its destination, which this link leads to. Whether it is the only one on its way.
    #[inline]
    pub(crate) fn launch(&mut self, arrives_at: Time, packet: &Packet) -> bool {
        self.arrivals.push_back((arrives_at, *packet));
        self.arrivals.len() == 1
    }

    /// When the next packet arrives; [`Time::NEVER`] if none is on its way.
    #[inline]
    pub(crate) fn next_lands_at(&self) -> Time {
        self.arrivals.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The packet that arrives next. The processor fetches those that come after it, and where others will be put.
    #[inline]
    pub(crate) fn next_to_land(&self) -> Option<&Packet> {
        let (first, rest) = self.arrivals.as_slices();
        let last = if rest.is_empty() { first } else { rest };
        prefetch_index(first, FETCHED_AHEAD);
        prefetch_index(last, last.len() + FETCHED_AHEAD);
        self.arrivals.front().map(|(_, packet)| packet)
    }

    /// It arrives.
    #[inline]
    pub(crate) fn land(&mut self) -> Option<Packet> {
        self.arrivals.pop_front().map(|(_, packet)| packet)
    }

    /// Packets on their way to where this link always leads to.
    pub(crate) fn on_its_way(&self) -> u64 {
        self.arrivals.len() as u64
    }

    /// A packet comes at `at`.
    #[inline(always)]
    pub(crate) fn pass<S: Sink>(&mut self, at: Time, load: Load) -> Pass {
        if self.waiting > 0 {
            self.leave_line(at);
        }
        let (ip_len, begins_at) = (load.ip_len, self.free_at.max(at));
        let waits = begins_at > at;
        if waits && !self.capacity.fits(self.waiting as usize, self.waiting_bytes, ip_len) {
            return Pass::FullQueue;
        }
        if self.planned.len() == self.planned.capacity() {
            return Pass::FullPlan;
        }
        if waits {
            self.waiting += 1;
            self.waiting_bytes += u64::from(ip_len);
            if S::ACTIVE {
                self.untold.push(at, self.planned.len(), (self.waiting, self.waiting_bytes));
            }
        }
        self.planned.push(Planned { begins_at, ip_len, flow: load.flow });
        self.free_at = begins_at + self.serializer.time_for(ip_len);
        Pass::Arrives(self.free_at + self.delay)
    }

    /// Lets packets whose transmission begins up to and including `at` leave the queue.
    #[inline]
    fn leave_line(&mut self, at: Time) {
        let line = &self.planned[self.planned.len() - self.waiting as usize..];
        for first in line.iter().take_while(|first| first.begins_at <= at) {
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(first.ip_len);
        }
    }

    /// Counts what can be counted, and makes more room where that is not half of it.
    pub(crate) fn make_room<S: Sink>(&mut self, now: Time, sink: &mut S) {
        self.count_until(now, sink);
        if self.planned.len() > self.planned.capacity() / 2 {
            self.planned.reserve(self.planned.capacity());
        }
    }

    /// Counts the transmissions that begin up to and including `now`, and tells of what happens until then. After the
    /// packets that are dropped until then.
    pub(crate) fn count_until<S: Sink>(&mut self, now: Time, sink: &mut S) {
        self.leave_line(now);
        self.tell_until(now, self.planned.len(), sink);
        let begun = self.planned.partition_point(|planned| planned.begins_at <= now);
        let Some(last) = begun.checked_sub(1).map(|last| self.planned[last]) else { return };
        if S::ACTIVE {
            self.untold.forget(begun);
        }
        let lens = self.planned[..begun].iter().map(|planned| planned.ip_len);
        let sum = self.serializer.sum_of(lens);
        self.planned.drain(..begun);
        self.counted.packets += begun as u64;
        self.counted.bytes += sum.bytes;
        self.counted.busy_for += sum.takes;
        self.counted.busy_until = last.begins_at + self.serializer.time_for(last.ip_len);
    }

    /// Tells of what happens to the first `most` of the packets planned for.
    #[inline]
    fn tell_until<S: Sink>(&mut self, now: Time, most: usize, sink: &mut S) {
        if S::ACTIVE {
            self.untold.tell(&self.planned[..most], now, sink);
        }
    }

    /// Tells of what waits at `now`, after all that happens until then.
    pub(crate) fn tell_waiting<S: Sink>(&mut self, now: Time, sink: &mut S) {
        if S::ACTIVE {
            self.untold.tell_waiting(&self.planned, now, sink);
        }
    }

    /// There will be no room for a packet when it comes.
    pub(crate) fn refuse(&mut self, at: Time, slot: Slot) {
        let after = self.counted.packets + self.planned.len() as u64;
        self.drops.push_back(Dropped { at, slot, after });
    }

    /// The next packet for which there was no room when it came, up to and including `now`. What happened before that is
    /// told.
    pub(crate) fn dropped<S: Sink>(&mut self, now: Time, sink: &mut S) -> Option<(Time, Slot)> {
        let Dropped { at, slot, after } = self.drops.pop_front_if(|drop| drop.at <= now)?;
        self.tell_until(at, (after - self.counted.packets) as usize, sink);
        Some((at, slot))
    }

    /// Packets that are still to be dropped.
    pub(crate) fn to_be_dropped(&self) -> usize {
        self.drops.len()
    }
}

impl Link {
    /// Takes over what this link has counted while the graph looked ahead.
    pub(crate) fn count_as(&mut self, hop: &Hop) {
        let Counted { packets, bytes, busy_for, busy_until } = hop.counted;
        (self.stats.packets, self.stats.bytes) = (packets, bytes);
        (self.stats.busy_for, self.free_at) = (busy_for, busy_until);
    }
}
