//! An ordinary link where the graph looks ahead: perhaps one of a chain.
//!
//! It may be told of a packet before that comes, and knows then when the packet will be at the far end. What it has
//! counted is exact for every instant up to the present: a transmission is kept until its time has come.

use super::serializer::Serializer;
use super::{Attends, Link};
use crate::packets::Slot;
use crate::queue::{Capacity, Queue};
use crate::routes::Row;
use ackord_units::{Span, Time};
use ackord_wire::NodeId;
use std::collections::VecDeque;

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
    /// Whether its packets are given to the next link at once, unless they are there.
    feeds: bool,
    onward: Row,
    serializer: Serializer,
    /// The bytes of those that wait.
    waiting_bytes: u64,
    capacity: Capacity,
    counted: Counted,
    /// Packets for which there will be no room when they come.
    drops: VecDeque<(Time, Slot)>,
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
struct Planned {
    begins_at: Time,
    ip_len: u32,
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
    /// The same link, if it is ordinary. `feeds` says that all links that its packets may take next are fed by it.
    pub(crate) fn of(link: &Link, feeds: bool) -> Option<Hop> {
        let (Attends::PlannedArrivals(delay), Queue::DropTail(queue)) = (link.attends, &link.queue)
        else {
            return None;
        };
        Some(Hop {
            to: link.to,
            onward: link.onward,
            feeds,
            delay,
            serializer: link.serializer.clone(),
            free_at: link.free_at,
            capacity: queue.capacity(),
            waiting: 0,
            waiting_bytes: 0,
            planned: Vec::with_capacity(16),
            counted: Counted::default(),
            drops: VecDeque::new(),
        })
    }

    /// Where a packet that has come through goes on at once; nothing where it is looked at there.
    #[inline]
    pub(crate) fn onward(&self, dst: NodeId) -> Option<Row> {
        (self.feeds && dst != self.to).then_some(self.onward)
    }

    /// A packet comes at `at`, of which is known at `now`. When it will be at the far end, if there is room for it.
    #[inline]
    pub(crate) fn pass(&mut self, (now, at): (Time, Time), ip_len: u32) -> Option<Time> {
        if self.planned.len() == self.planned.capacity() {
            self.make_room(now);
        }
        if self.waiting > 0 {
            self.leave_line(at);
        }
        let begins_at = self.free_at.max(at);
        if begins_at > at {
            if !self.capacity.fits(self.waiting as usize, self.waiting_bytes, ip_len) {
                return None;
            }
            self.waiting += 1;
            self.waiting_bytes += u64::from(ip_len);
        }
        self.planned.push(Planned { begins_at, ip_len });
        self.free_at = begins_at + self.serializer.time_for(ip_len);
        Some(self.free_at + self.delay)
    }

    /// Lets packets whose transmission begins up to and including `at` leave the queue.
    #[inline]
    fn leave_line(&mut self, at: Time) {
        while self.waiting > 0
            && let Some(first) = self.planned.get(self.planned.len() - self.waiting as usize)
            && first.begins_at <= at
        {
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(first.ip_len);
        }
    }

    /// Counts what can be counted, and makes more room where that is not half of it.
    #[cold]
    fn make_room(&mut self, now: Time) {
        self.count_until(now);
        if self.planned.len() > self.planned.capacity() / 2 {
            self.planned.reserve(self.planned.capacity());
        }
    }

    /// Counts the transmissions that begin up to and including `now`.
    fn count_until(&mut self, now: Time) {
        self.leave_line(now);
        let begun = self.planned.partition_point(|planned| planned.begins_at <= now);
        for Planned { begins_at, ip_len } in self.planned.drain(..begun) {
            let takes = self.serializer.time_for(ip_len);
            self.counted.packets += 1;
            self.counted.bytes += u64::from(ip_len);
            self.counted.busy_for += takes;
            self.counted.busy_until = begins_at + takes;
        }
    }

    /// There will be no room for a packet when it comes.
    pub(crate) fn refuse(&mut self, at: Time, slot: Slot) {
        self.drops.push_back((at, slot));
    }

    /// The next packet for which there was no room when it came, up to and including `now`.
    pub(crate) fn dropped(&mut self, now: Time) -> Option<(Time, Slot)> {
        self.drops.pop_front_if(|(at, _)| *at <= now)
    }

    /// Packets that are still to be dropped.
    pub(crate) fn to_be_dropped(&self) -> usize {
        self.drops.len()
    }
}

impl Link {
    /// Takes over what this link has counted up to and including `now` while the graph looked ahead.
    pub(crate) fn count_as(&mut self, hop: &mut Hop, now: Time) {
        hop.count_until(now);
        let Counted { packets, bytes, busy_for, busy_until } = hop.counted;
        (self.stats.packets, self.stats.bytes) = (packets, bytes);
        (self.stats.busy_for, self.free_at) = (busy_for, busy_until);
    }
}
