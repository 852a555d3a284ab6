//! What happens after a packet's transmission: it travels, and arrives or dies.

use super::propagation::Propagation;
use super::wire::OnWire;
use super::{Attends, Link};
use crate::packets::{Packets, Slot};
use ackord_events::{DropReason, Event, Sink, TapPoint};
use ackord_units::Time;

impl Link {
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
        if self.attends == Attends::TransmitterToo && self.wire.next_arrival() != Some(now) {
            return None;
        }
        let OnWire { arrives_at, slot, fate, .. } =
            self.wire.pop().expect("a link is due only when something is on its wire");
        debug_assert_eq!(arrives_at, now, "the schedule and the wire agree");
        if let Some(reason) = fate {
            self.drop(now, slot, reason, packets, sink);
            return None;
        }
        if S::ACTIVE && self.tap {
            let packet = &packets[slot];
            sink.emit(now, Event::PacketTapped { tap: TapPoint::LinkOut(self.id), packet });
        }
        Some(slot)
    }

    /// The packet that arrives next, of those that are on the wire.
    #[inline]
    pub(crate) fn next_to_arrive(&self) -> Option<Slot> {
        self.wire.next_slot()
    }

    /// When the link is next to be looked at: when the next packet arrives at the far end, or
    /// sooner, where the transmitter has to be attended to.
    #[inline]
    pub(crate) fn due_at(&self) -> Option<Time> {
        let arrival = self.wire.next_arrival();
        match self.attends {
            Attends::TransmitterToo if self.waiting > 0 => {
                Some(arrival.map_or(self.free_at, |at| at.min(self.free_at)))
            }
            _ => arrival,
        }
    }

    /// The last bit of a packet is out at `out_at`.
    #[inline]
    pub(super) fn put_on_wire(&mut self, out_at: Time, slot: Slot, fate: Option<DropReason>) {
        match self.propagation {
            Propagation::Constant(delay) => {
                let arrives_at = out_at + delay;
                let since = Time::ZERO;
                self.wire.push_last(OnWire { arrives_at, since, slot, fate, is_overtaken: false });
            }
            _ => self.put_on_wire_with_jitter(out_at, slot, fate),
        }
    }

    fn put_on_wire_with_jitter(&mut self, out_at: Time, slot: Slot, fate: Option<DropReason>) {
        let since = Time::ZERO;
        let mut packet = OnWire { arrives_at: out_at, since, slot, fate, is_overtaken: false };
        let jitter = match &mut self.propagation {
            Propagation::Constant(_) => return,
            Propagation::Changed(delay) => {
                let not_before = self.wire.last_arrival().unwrap_or(Time::ZERO);
                packet.arrives_at = (out_at + *delay).max(not_before);
                return self.wire.push_last(packet);
            }
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
}
