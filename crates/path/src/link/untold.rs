//! What a link that looks ahead has still to tell of its packets.
//!
//! It knows of a packet before that comes, and tells of it when its time has come: late, and in the order in which
//! things happened on the link. Where the sink [adds waits up](Sink::ADDS_WAITS_UP), what waits is told of when it leaves.

use super::hop::Planned;
use ackord_events::{Event, LinkId, Passed, Sink, Waited};
use ackord_units::{Bytes, Time};

/// How far a link has told of the packets whose transmission is planned.
#[derive(Clone, Debug)]
pub(super) struct Untold {
    link: LinkId,
    /// Those that have to wait, in turn. All others find the link free.
    waiters: Vec<Waiter>,
    /// How many of these have been told to leave the queue.
    gone: usize,
    /// How many of the next ones have been told to come, and their bytes.
    waiting: u32,
    waiting_bytes: Bytes,
    /// How many of the packets planned have been told to leave.
    left: usize,
    /// How many were planned before those, and are forgotten.
    forgotten: u64,
}

/// A packet that has to wait.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    comes_at: Time,
    /// How many were planned before it.
    number: u64,
    /// What waits then, this one included.
    queue_packets: u32,
    queue_bytes: Bytes,
}

impl Untold {
    pub(super) fn of(link: LinkId) -> Untold {
        Untold {
            link,
            waiters: Vec::new(),
            gone: 0,
            waiting: 0,
            waiting_bytes: Bytes::ZERO,
            left: 0,
            forgotten: 0,
        }
    }

    /// A packet comes that has to wait, and is the next of those planned, of which there are so many. So much waits then,
    /// this one included.
    #[inline(always)]
    pub(super) fn push(&mut self, comes_at: Time, planned: usize, (packets, bytes): (u32, u64)) {
        let number = self.forgotten + planned as u64;
        let (queue_packets, queue_bytes) = (packets, Bytes(bytes));
        self.waiters.push(Waiter { comes_at, number, queue_packets, queue_bytes });
    }

    /// Tells of what happens up to and including `now` to these packets, the first of those planned.
    pub(super) fn tell<S: Sink>(&mut self, planned: &[Planned], now: Time, sink: &mut S) {
        match S::ADDS_WAITS_UP {
            true => self.tell_waits(planned, now, sink),
            false => self.tell_steps(planned, now, sink),
        }
    }

    /// Tells of each packet that waits at once, when it leaves.
    fn tell_waits<S: Sink>(&mut self, planned: &[Planned], now: Time, sink: &mut S) {
        // First of those that have been told to wait still.
        while self.waiting > 0 && planned.get(self.left).is_some_and(|next| next.begins_at <= now) {
            self.tell_left(planned[self.left], sink);
        }
        while self.waiting == 0 && self.left < planned.len() {
            let before = self.left;
            self.tell_passed(planned, now, sink);
            self.tell_waited(planned, now, sink);
            if self.left == before {
                return;
            }
        }
    }

    /// Tells of everything by itself.
    fn tell_steps<S: Sink>(&mut self, planned: &[Planned], now: Time, sink: &mut S) {
        let end = self.forgotten + planned.len() as u64;
        loop {
            if self.waiting == 0 {
                self.tell_passed(planned, now, sink);
            }
            let next = self.waiters.get(self.gone + self.waiting as usize).copied();
            let next = next.filter(|next| next.comes_at <= now && next.number < end);
            let leaves = (self.waiting > 0).then(|| planned[self.left]);
            match (next, leaves.filter(|first| first.begins_at <= now)) {
                // At one instant, what leaves goes first.
                (_, Some(first)) if next.is_none_or(|next| next.comes_at >= first.begins_at) => {
                    self.tell_left(first, sink);
                }
                (Some(next), _) => self.tell_come(next, planned, sink),
                (None, _) => return,
            }
        }
    }

    /// Nothing waits: tells of the next packets as far as they find the link free.
    #[inline(always)]
    fn tell_passed<S: Sink>(&mut self, planned: &[Planned], now: Time, sink: &mut S) {
        let waits =
            self.waiters.get(self.gone).map(|first| (first.number - self.forgotten) as usize);
        let free = &planned[self.left..waits.unwrap_or(usize::MAX).min(planned.len())];
        let passed = free.partition_point(|packet| packet.begins_at <= now);
        let each = |packet: &Planned| {
            let bytes = Bytes(u64::from(packet.ip_len));
            Passed { at: packet.begins_at, flow: packet.flow, bytes }
        };
        sink.emit_all_passed(self.link, free[..passed].iter().map(each));
        self.left += passed;
    }

    /// Tells of the next packets as far as they have had to wait.
    #[inline(always)]
    fn tell_waited<S: Sink>(&mut self, planned: &[Planned], now: Time, sink: &mut S) {
        let next = planned[self.left..].iter().zip(&self.waiters[self.gone..]);
        let numbered = next.zip(self.forgotten + self.left as u64..);
        let mut waited = 0;
        let each = |((packet, waiter), number): ((&Planned, &Waiter), u64)| {
            let has_waited = waiter.number == number && packet.begins_at <= now;
            waited += usize::from(has_waited);
            has_waited.then(|| waiter.until(packet.begins_at, packet))
        };
        sink.emit_all_waited(self.link, numbered.map_while(each));
        self.left += waited;
        self.gone += waited;
    }

    /// Tells of packets that wait still at `now`, where nobody was told when they came.
    pub(super) fn tell_waiting<S: Sink>(&mut self, planned: &[Planned], now: Time, sink: &mut S) {
        if !S::ADDS_WAITS_UP {
            return;
        }
        for waiter in &self.waiters[self.gone + self.waiting as usize..] {
            if waiter.comes_at > now {
                return;
            }
            let packet = &planned[(waiter.number - self.forgotten) as usize];
            let waited = waiter.until(now, packet);
            self.waiting += 1;
            self.waiting_bytes += waited.bytes;
            sink.emit_waiting(self.link, waited);
        }
    }

    #[inline(always)]
    fn tell_come<S: Sink>(&mut self, waiter: Waiter, planned: &[Planned], sink: &mut S) {
        let Waiter { comes_at, number, queue_packets, queue_bytes } = waiter;
        let Planned { ip_len, flow, .. } = planned[(number - self.forgotten) as usize];
        let (link, bytes) = (self.link, Bytes(u64::from(ip_len)));
        self.waiting += 1;
        self.waiting_bytes += bytes;
        sink.emit(
            comes_at,
            Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes },
        );
    }

    #[inline(always)]
    fn tell_left<S: Sink>(&mut self, first: Planned, sink: &mut S) {
        let Planned { begins_at, ip_len, flow } = first;
        let (link, bytes) = (self.link, Bytes(u64::from(ip_len)));
        let waited = begins_at.saturating_since(self.waiters[self.gone].comes_at);
        self.left += 1;
        self.gone += 1;
        self.waiting -= 1;
        self.waiting_bytes -= bytes;
        let (queue_packets, queue_bytes) = (self.waiting, self.waiting_bytes);
        sink.emit(
            begins_at,
            Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes },
        );
    }

    /// Forgets the first packets, of which all is told.
    pub(super) fn forget(&mut self, begun: usize) {
        self.left -= begun;
        self.forgotten += begun as u64;
        self.waiters.drain(..self.gone);
        self.gone = 0;
    }
}

impl Waiter {
    /// What this packet has waited until then.
    #[inline(always)]
    fn until(&self, until: Time, packet: &Planned) -> Waited {
        let Waiter { comes_at, queue_packets, queue_bytes, .. } = *self;
        let (flow, bytes) = (packet.flow, Bytes(u64::from(packet.ip_len)));
        Waited { came: comes_at, until, flow, bytes, queue_packets, queue_bytes }
    }
}
