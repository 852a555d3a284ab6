//! Ordinary links: of one rate and one delay, with a drop-tail queue and nothing else.
//!
//! When a packet comes to such a link, all that becomes of it is known: the packets before it take as long as they
//! take, nothing overtakes it, and nothing drops it later. So it goes onto the wire at once, with its arrival, behind
//! those that wait, and counts as waiting until its transmission begins. Nobody can tell this from a queue
//! that gives its packets one by one; `tests/link.rs` compares the two.

use super::transmitter::Accepted;
use super::wire::OnWire;
use super::{Link, LinkConfig, Place};
use crate::packets::{Packets, Slot};
use crate::queue::{Queue, QueueDiscipline, QueueLength};
use ackord_events::{DropReason, Sink};
use ackord_units::{Span, Time};

/// Whether a link without [`Extras`](super::extras::Extras) and of constant delay is ordinary.
pub(super) fn is_planned(config: &LinkConfig, place: Place) -> bool {
    let drops_tail = matches!(&config.queue, Queue::DropTail(queue) if queue.length().packets == 0);
    drops_tail && config.medium.is_none() && place.may_plan
}

impl Link {
    /// A packet that it need not look at any more is going to arrive after all others. When the link is due, if that has
    /// changed.
    #[inline]
    pub(crate) fn launch_last(&mut self, arrives_at: Time, slot: Slot) -> Option<Time> {
        let was_empty = self.wire.is_empty();
        let since = Time::ZERO;
        self.wire.push_last(OnWire { arrives_at, since, slot, fate: None, is_overtaken: false });
        was_empty.then_some(arrives_at)
    }

    /// Whether it plans ahead.
    pub(crate) fn is_planned(&self) -> bool {
        self.planned_delay().is_some()
    }

    /// A packet enters at `now` a link of this delay.
    #[inline(always)]
    pub(super) fn plan<S: Sink>(
        &mut self,
        now: Time,
        delay: Span,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Accepted {
        self.begin_until(now, delay, packets, sink);
        let was_empty = self.wire.is_empty();
        let takes = self.serializer.time_for(slot.ip_len);
        if self.free_at <= now {
            self.free_at = now + takes;
            if S::ACTIVE {
                self.tell_passed(now, &packets[slot], sink);
            }
            self.count_transmission(slot.ip_len, takes);
        } else {
            if let Err(reason) = self.wait_in_line(now, slot, packets, sink) {
                return Accepted { due_at: None, taken: Err(reason) };
            }
            self.free_at += takes;
        }
        let arrives_at = self.free_at + delay;
        self.wire.push_last(OnWire {
            arrives_at,
            since: now,
            slot,
            fate: None,
            is_overtaken: false,
        });
        Accepted { due_at: was_empty.then_some(arrives_at), taken: Ok(()) }
    }

    /// Another is being transmitted: the packet waits, if there is room.
    #[inline]
    fn wait_in_line<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Result<(), DropReason> {
        let Queue::DropTail(line) = &mut self.queue else { return Ok(()) };
        if let Err(reason) = line.admit(slot.ip_len) {
            self.drop(now, slot, reason, packets, sink);
            return Err(reason);
        }
        if self.waiting == 0 {
            self.next_at = self.free_at;
        }
        self.waiting += 1;
        if S::ACTIVE {
            let queue = QueueLength { packets: self.waiting, bytes: self.queue.length().bytes };
            self.tell_enqueued(now, &packets[slot], queue, sink);
        }
        Ok(())
    }

    /// Lets all transmissions begin that begin up to and including `now`.
    #[inline(always)]
    pub(super) fn begin_until<S: Sink>(
        &mut self,
        now: Time,
        delay: Span,
        packets: &Packets,
        sink: &mut S,
    ) {
        if self.waiting > 0 && self.next_at <= now {
            self.begin_waiting(now, delay, packets, sink);
        }
    }

    #[inline(never)]
    fn begin_waiting<S: Sink>(&mut self, now: Time, delay: Span, packets: &Packets, sink: &mut S) {
        while self.waiting > 0 && self.next_at <= now {
            self.waiting -= 1;
            let Some(&OnWire { arrives_at, since, slot, .. }) = self.wire.before(self.waiting)
            else {
                return;
            };
            let Queue::DropTail(line) = &mut self.queue else { return };
            line.leave(slot.ip_len);
            if S::ACTIVE {
                let waited = self.next_at.saturating_since(since);
                self.tell_dequeued(self.next_at, &packets[slot], waited, sink);
            }
            let ends_at = arrives_at - delay;
            self.count_transmission(slot.ip_len, ends_at - self.next_at);
            self.next_at = ends_at;
        }
    }

    #[inline]
    fn count_transmission(&mut self, ip_len: u32, takes: Span) {
        self.stats.packets += 1;
        self.stats.bytes += u64::from(ip_len);
        self.stats.busy_for += takes;
    }
}
