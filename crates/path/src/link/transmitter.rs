//! What happens before a packet is on the wire: the queue, and the transmitter that empties it.
//!
//! The transmitter is lazy: it does what it would have done whenever the link is looked at, each
//! thing at its own instant. See the module above for why nobody can tell.

use super::extras::{Fate, Transmission};
use super::pace::sent::{Asks, Sent};
use super::telling::tell_met;
use super::{Attends, Link};
use crate::packets::{Packets, Slot};
use crate::queue::{Queue, QueueContext, QueueDiscipline, QueueLength};
use ackord_events::{DropReason, Event, Sink, TapPoint};
use ackord_units::{Span, Time};

/// What came of a packet that arrived at a link.
pub(crate) struct Accepted {
    /// When the link is next due, if that has changed.
    pub(crate) due_at: Option<Time>,
    /// Why the packet itself, whatever else the queue dropped, was refused, if it was.
    pub(crate) taken: Result<(), DropReason>,
}

/// Packets that may go before others at once.
const MOST_FIRST: usize = 64;

impl Link {
    /// A packet enters at `now`.
    #[inline(always)]
    pub(crate) fn accept<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Accepted {
        if S::ACTIVE && self.tap {
            let packet = &packets[slot];
            sink.emit(now, Event::PacketTapped { tap: TapPoint::LinkIn(self.id), packet });
        }
        if let Attends::PlannedArrivals(delay) = self.attends {
            return self.plan(now, delay, slot, packets, sink);
        }
        self.run_until(now, packets, sink);
        if self.extras.is_some() && !self.admit(now, slot, packets, sink) {
            return Accepted { due_at: None, taken: Err(DropReason::Policed) };
        }
        let was_empty = self.wire.is_empty();
        let taken = if self.free_at <= now {
            self.pass(now, slot, packets, sink)
        } else {
            self.enqueue(now, slot, packets, sink)
        };
        // Where what is sent later arrives later, only the first on the wire changes it.
        let may_be_sooner = was_empty || self.attends == Attends::TransmitterToo;
        Accepted { due_at: if may_be_sooner { self.due_at() } else { None }, taken }
    }

    /// The same for a packet that goes before those that wait in the queue, as far as there are not
    /// too many such: its queue neither drops nor marks it.
    pub(crate) fn accept_first<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Accepted {
        self.run_until(now, packets, sink);
        if self.free_at <= now || self.first.len() >= MOST_FIRST {
            return self.accept(now, slot, packets, sink);
        }
        if !self.admit(now, slot, packets, sink) {
            return Accepted { due_at: None, taken: Err(DropReason::Policed) };
        }
        if S::ACTIVE && self.tap {
            let packet = &packets[slot];
            sink.emit(now, Event::PacketTapped { tap: TapPoint::LinkIn(self.id), packet });
        }
        self.first.push_back((slot, now));
        self.waiting += 1;
        let queue = QueueLength { packets: self.waiting, bytes: self.queue.length().bytes };
        self.tell_enqueued(now, &packets[slot], queue, sink);
        let may_be_sooner = self.attends == Attends::TransmitterToo;
        Accepted { due_at: if may_be_sooner { self.due_at() } else { None }, taken: Ok(()) }
    }

    /// Whether the policer, if there is one, lets a packet pass; one that it does not is dropped.
    #[inline(never)]
    fn admit<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> bool {
        let extras = self.extras.as_mut();
        let passes = extras.is_none_or(|extras| extras.admit(now, slot.ip_len));
        if !passes {
            self.drop(now, slot, DropReason::Policed, packets, sink);
        }
        passes
    }

    /// Takes the packet that goes before the others.
    #[inline(never)]
    fn dequeue_first<S: Sink>(
        &mut self,
        at: Time,
        packets: &Packets,
        sink: &mut S,
    ) -> Option<Slot> {
        let (slot, came_at) = self.first.pop_front()?;
        self.waiting -= 1;
        self.tell_dequeued(at, &packets[slot], at.saturating_since(came_at), sink);
        Some(slot)
    }

    /// Lets the transmitter do everything it does up to and including `now`.
    #[inline(always)]
    pub(crate) fn run_until<S: Sink>(&mut self, now: Time, packets: &mut Packets, sink: &mut S) {
        if let Attends::PlannedArrivals(delay) = self.attends {
            return self.begin_until(now, delay, packets, sink);
        }
        while self.waiting > 0 && self.free_at <= now && self.transmit_next(packets, sink) {}
    }

    /// The transmitter is free and takes what the queue gives it. Whether it may have more to do: not
    /// where the queue dropped all it had.
    fn transmit_next<S: Sink>(&mut self, packets: &mut Packets, sink: &mut S) -> bool {
        if self.extras.is_some() {
            return self.transmit_next_with_extras(packets, sink);
        }
        let at = self.free_at;
        let Some(slot) = self.dequeue(at, packets, sink) else { return false };
        self.transmit(at, slot);
        true
    }

    #[inline(never)]
    fn transmit_next_with_extras<S: Sink>(&mut self, packets: &mut Packets, sink: &mut S) -> bool {
        let at = self.free_at;
        if let Some(later) = self.wait_until(at, Asks::FromQueue, sink) {
            self.free_at = later;
            return true;
        }
        let Some(slot) = self.dequeue(at, packets, sink) else { return false };
        self.transmit_with_extras(at, slot, packets, sink);
        true
    }

    #[inline]
    fn dequeue<S: Sink>(&mut self, at: Time, packets: &mut Packets, sink: &mut S) -> Option<Slot> {
        if !self.first.is_empty() {
            return self.dequeue_first(at, packets, sink);
        }
        let context = &mut QueueContext { packets, drops: &mut self.drops };
        let dequeued = self.queue.dequeue(at, context);
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
    pub(crate) fn launch<S: Sink>(
        &mut self,
        at: Time,
        slot: Slot,
        fate: Option<DropReason>,
        packets: &mut Packets,
        sink: &mut S,
    ) {
        let of = Transmission { from: at, out_at: at, ip_len: slot.ip_len };
        let drawn = self.fate(of, sink);
        let fate = Fate { dies_of: fate.or(drawn.dies_of), ..drawn };
        self.meet_fate(at, slot, (at, fate), packets, sink);
    }

    /// The medium was taken for this link's packets.
    pub(crate) fn count_airtime(&mut self, airtime: Span) {
        self.stats.busy_for += airtime;
    }

    /// Nobody waits and the transmitter is free: the packet is transmitted at once.
    #[inline(always)]
    fn pass<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Result<(), DropReason> {
        // What need not wait is nothing to drop-tail; it is asked by its name because it is what
        // nearly every link has.
        if self.extras.is_none() && matches!(self.queue, Queue::DropTail(_)) {
            if S::ACTIVE {
                self.tell_passed(now, &packets[slot], sink);
            }
            self.transmit(now, slot);
            Ok(())
        } else {
            self.pass_with_care(now, slot, packets, sink)
        }
    }

    /// The same for any queue, and for a transmitter that may have to wait.
    #[inline(never)]
    fn pass_with_care<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Result<(), DropReason> {
        if let Some(later) = self.wait_until(now, Asks::Fresh, sink) {
            self.free_at = later;
            return self.enqueue(now, slot, packets, sink);
        }
        let context = &mut QueueContext { packets, drops: &mut self.drops };
        let passed = match self.queue.pass(now, slot, context) {
            Ok(passed) => passed,
            Err(reason) => {
                self.drop(now, slot, reason, packets, sink);
                return Err(reason);
            }
        };
        self.tell_entered_empty(now, &packets[slot], sink);
        self.drain_outlet(now, packets, sink);
        if let Some(slot) = passed {
            self.tell_dequeued(now, &packets[slot], Span::ZERO, sink);
            match self.extras.is_some() {
                true => self.transmit_with_extras(now, slot, packets, sink),
                false => self.transmit(now, slot),
            }
        }
        Ok(())
    }

    #[inline]
    fn enqueue<S: Sink>(
        &mut self,
        now: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) -> Result<(), DropReason> {
        let context = &mut QueueContext { packets, drops: &mut self.drops };
        let taken = self.queue.enqueue(now, slot, context);
        self.waiting = self.queue.length().packets + self.first.len() as u32;
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
        taken
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
        self.put_on_wire(self.free_at, slot, None);
    }

    fn transmit_with_extras<S: Sink>(
        &mut self,
        from: Time,
        slot: Slot,
        packets: &mut Packets,
        sink: &mut S,
    ) {
        let ip_len = slot.ip_len;
        let Some(extras) = &mut self.extras else { return self.transmit(from, slot) };
        let sent = match &mut extras.pace {
            Some(pace) => pace.send(from, ip_len),
            None => Sent::evenly(from, self.serializer.time_for(ip_len)),
        };
        extras.busy_until = sent.busy_until;
        self.free_at = sent.free_at;
        self.stats.packets += 1;
        self.stats.bytes += u64::from(ip_len);
        self.stats.busy_for += sent.takes;
        let drawn = self.fate(Transmission { from, out_at: sent.out_at, ip_len }, sink);
        let fate = Fate { dies_of: sent.fate.or(drawn.dies_of), ..drawn };
        self.meet_fate(from, slot, (sent.released_at, fate), packets, sink);
    }

    /// A packet transmitted from `from` on is on its way from `out_at` on, perhaps twice.
    fn meet_fate<S: Sink>(
        &mut self,
        from: Time,
        slot: Slot,
        (out_at, fate): (Time, Fate),
        packets: &mut Packets,
        sink: &mut S,
    ) {
        let slot = if fate.is_damaged { slot.damaged() } else { slot };
        self.put_on_wire(out_at, slot, fate.dies_of);
        if fate.is_duplicated && fate.dies_of.is_none() {
            self.stats.duplicated += 1;
            sink.emit(from, Event::PacketDuplicated { link: self.id, packet: &packets[slot] });
            let copy = packets.duplicate(slot);
            self.put_on_wire(out_at, copy, None);
        }
    }

    /// When a packet that could be transmitted at `at` may be, if not at once.
    fn wait_until<S: Sink>(&mut self, at: Time, asks: Asks, sink: &mut S) -> Option<Time> {
        let Link { extras, id, stats, .. } = self;
        extras.as_mut()?.wait_until(at, asks, |met| tell_met(met, *id, at, stats, sink))
    }

    /// What becomes of a packet on the way.
    fn fate<S: Sink>(&mut self, of: Transmission, sink: &mut S) -> Fate {
        let Link { extras, id, stats, .. } = self;
        let Some(extras) = extras else { return Fate::ARRIVES };
        extras.fate(of, |met| tell_met(met, *id, of.from, stats, sink))
    }
}
