//! What a link tells of its packets.

use super::windows::Window;
use super::{Link, LinkStats};
use crate::packets::Packets;
use crate::queue::{QueueDiscipline, QueueLength};
use ackord_events::{Event, LinkId, Sink};
use ackord_units::{Span, Time};
use ackord_wire::Packet;

impl Link {
    /// Counts and tells what the queue dropped or marked beside its answer.
    #[inline]
    pub(super) fn drain_outlet<S: Sink>(&mut self, now: Time, packets: &mut Packets, sink: &mut S) {
        self.stats.marked = self.drops.marked;
        if !self.drops.dropped.is_empty() {
            self.drop_from_outlet(now, packets, sink);
        }
    }

    #[cold]
    pub(super) fn drop_from_outlet<S: Sink>(
        &mut self,
        now: Time,
        packets: &mut Packets,
        sink: &mut S,
    ) {
        // The vector is put back so that its room is used again.
        let mut dropped = std::mem::take(&mut self.drops.dropped);
        for (slot, reason) in dropped.drain(..) {
            self.drop(now, slot, reason, packets, sink);
        }
        self.drops.dropped = dropped;
    }

    /// A packet found the transmitter free: it enters the queue, and leaves it at once.
    #[inline]
    pub(super) fn tell_passed<S: Sink>(&self, now: Time, packet: &Packet, sink: &mut S) {
        sink.emit_passed(now, self.id, packet.flow, packet.len());
    }

    #[inline]
    pub(super) fn tell_entered_empty<S: Sink>(&self, now: Time, packet: &Packet, sink: &mut S) {
        if S::ACTIVE {
            let queue = QueueLength { packets: 1, bytes: packet.len() };
            self.tell_enqueued(now, packet, queue, sink);
        }
    }

    #[inline]
    pub(super) fn tell_enqueued<S: Sink>(
        &self,
        now: Time,
        packet: &Packet,
        queue: QueueLength,
        sink: &mut S,
    ) {
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
    pub(super) fn tell_dequeued<S: Sink>(
        &self,
        now: Time,
        packet: &Packet,
        waited: Span,
        sink: &mut S,
    ) {
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

/// A packet is the first to meet an outage.
pub(super) fn tell_met<S: Sink>(
    met: Window,
    link: LinkId,
    at: Time,
    stats: &mut LinkStats,
    sink: &mut S,
) {
    stats.outages_met += 1;
    sink.emit(at, Event::OutageMet { link, began: met.began, ends: met.ends });
}
