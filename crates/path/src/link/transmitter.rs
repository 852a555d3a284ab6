//! What happens before a packet is on the wire: the queue, and the transmitter that empties it.
//!
//! The transmitter is lazy: it does what it would have done whenever the link is looked at, each
//! thing at its own instant. See the module above for why nobody can tell.

use super::{Link, PacketOrder, Tap};
use crate::packets::{Packets, Slot};
use crate::queue::{Around, Queue, QueueDiscipline, QueueLength};
use ackord_events::{DropReason, Event, Sink, TapPoint};
use ackord_units::{Span, Time};

/// Whether a queue with packets in it gave one, or dropped them all.
enum Sent {
    Yes,
    No,
}

impl Link {
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
}
