//! Packets on their way in and out by the devices of an emulation.

use super::super::PacketObserver;
use super::super::bytes::Found;
use super::super::classify::TurnedAway;
use super::super::store::Entering;
use super::super::timeline::Timeline;
use super::super::watching::Watching;
use super::Emulator;
use ackord_events::{EndpointId, Event, Sink};
use ackord_path::Delivery;
use ackord_sim::{FOREIGN, datagram_delay};
use ackord_units::Time;
use ackord_wire::Packet;
use std::io;

/// Packets read from one device before the others get their turn.
const READS_IN_A_ROW: usize = 64;

impl<T: Timeline, O: PacketObserver> Emulator<T, O> {
    pub(super) fn deliver<S: Sink>(&mut self, delivery: &Delivery, sink: &mut S) {
        let Delivery { at, node, packet } = delivery;
        if packet.tcp.is_none() && !self.is_router(*node) {
            self.tell_datagram(*at, packet, sink);
        }
        if let Some(device) = self.device_at[node.0 as usize] {
            self.let_out(device, delivery, sink);
        }
        self.bytes.store.release(packet.tag);
    }

    /// A packet leaves by a device.
    fn let_out<S: Sink>(&mut self, device: usize, delivery: &Delivery, sink: &mut S) {
        let Delivery { at, packet, node } = delivery;
        let passes = self.is_router(*node);
        if !passes {
            self.observer.left(*at, packet, sink);
            self.bytes.arrived(packet);
            if self.cut.is_some() {
                self.count_sound(packet);
            }
        }
        let now = self.timeline.now();
        self.lateness.record(*at, now);
        let place = &mut self.devices[device];
        let bytes = match self.bytes.of(packet, &self.flows) {
            Found::Kept(bytes, order) => {
                if let Some(from) = self.device_at[packet.src.0 as usize] {
                    let latest = &mut place.latest[from];
                    self.counts.overtaken += u64::from(order < *latest);
                    *latest = order.max(*latest);
                }
                bytes
            }
            Found::Made(bytes) => {
                self.counts.made += 1;
                bytes
            }
            Found::HeaderOnly(_) | Found::Nothing => {
                self.counts.without_bytes += 1;
                return;
            }
        };
        let handed_over = if self.local == Some(device) { *at } else { now };
        match place.device.write_packet(handed_over, packet.flow, bytes) {
            Ok(()) if passes => {}
            Ok(()) => {
                self.counts.delivered += 1;
                self.counts.delivered_bytes += bytes.len() as u64;
            }
            Err(_) => self.counts.refused += 1,
        }
    }

    /// Looks at the bytes that a host is about to get, which passed a router that is not ours.
    fn count_sound(&mut self, packet: &Packet) {
        let with_data = packet.tcp.is_some_and(|segment| segment.payload_len > 0);
        match self.bytes.is_sound(packet) {
            Some(true) => {}
            Some(false) => self.counts.altered += 1,
            None => self.counts.unchecked += u64::from(with_data),
        }
    }

    /// A datagram has arrived at a foreign host, or came from one; a simulation tells only of those
    /// between its own.
    #[cold]
    fn tell_datagram<S: Sink>(&self, at: Time, packet: &Packet, sink: &mut S) {
        let one_way_delay = match self.bytes.store.get(packet.tag) {
            Some(stored) => at.saturating_since(stored.entered_at),
            None => datagram_delay(packet, at),
        };
        if self.flows.is_udp(packet.flow) {
            let endpoint = EndpointId { flow: packet.flow, side: packet.from.other() };
            let payload = datagram_payload(packet);
            sink.emit(at, Event::DatagramDelivered { endpoint, payload, one_way_delay });
        }
    }

    /// Lets in what waits at a device.
    pub(super) fn read_device<S: Sink>(&mut self, device: usize, sink: &mut S) -> io::Result<()> {
        let mut now = self.timeline.now();
        for _ in 0..READS_IN_A_ROW {
            let mut buffer = self.bytes.store.buffer();
            let place = &mut self.devices[device];
            let len = match place.device.read_packet(now, &mut buffer) {
                Ok(Some(len)) => len,
                nothing => {
                    self.bytes.store.recycle(buffer);
                    return nothing.map(drop);
                }
            };
            // What was due before this packet came happens before it enters.
            now = self.timeline.now();
            self.catch_up(now, sink);
            self.let_in(device, now, (buffer, len), sink);
        }
        self.backlog = true;
        Ok(())
    }

    /// A packet of a foreign host comes through its device.
    pub(super) fn let_in<S: Sink>(
        &mut self,
        device: usize,
        now: Time,
        (buffer, len): (Vec<u8>, usize),
        sink: &mut S,
    ) {
        let now = now.max(self.simulation.now());
        let node = self.devices[device].node;
        let unknown = self.flows.next_unknown();
        let classified = match self.flows.classify(&buffer[..len], node, &self.directory) {
            Ok(classified) if !self.simulation.is_over() => classified,
            Ok(_) => return self.bytes.store.recycle(buffer),
            Err(why) => {
                match why {
                    TurnedAway::Ignored => self.counts.ignored += 1,
                    TurnedAway::Malformed => self.counts.malformed += 1,
                }
                return self.bytes.store.recycle(buffer);
            }
        };
        let packet = classified.packet;
        if packet.flow == unknown {
            let Packet { flow, src: client, dst: server, .. } = packet;
            sink.emit(now, Event::FlowSeen { flow, client, server });
        }
        if !self.is_router(node) {
            self.bytes.entered(&packet, &buffer[classified.payload]);
        }
        let (ecn, segment) = (packet.ecn, packet.tcp);
        let entering = Entering { buffer, len, ecn, segment, at: now };
        let Some(tag) = self.bytes.store.insert(entering) else {
            self.counts.too_many += 1;
            return;
        };
        debug_assert!(tag & FOREIGN != 0);
        let mut packet = Packet { tag, ..packet };
        if !self.is_router(node) {
            self.counts.entered += 1;
            self.counts.entered_bytes += u64::from(packet.ip_len);
            self.observer.entered(now, &packet, sink);
            if packet.tcp.is_none() && self.flows.is_udp(packet.flow) {
                let endpoint = EndpointId { flow: packet.flow, side: packet.from };
                let payload = datagram_payload(&packet);
                sink.emit(now, Event::DatagramSent { endpoint, payload });
            }
        }
        if let Some(cut) = &self.cut {
            packet = cut.leg(packet);
        }
        let mut watching =
            Watching::new(sink, &mut self.changes, (&mut self.taps, &mut self.bytes, &self.flows));
        self.simulation.handle_foreign(now, packet, &mut watching);
        self.hand_over(sink);
    }
}

/// What a datagram carries.
fn datagram_payload(packet: &Packet) -> ackord_units::Bytes {
    const UDP_HEADER: u32 = 8;
    ackord_units::Bytes(u64::from(
        packet.ip_len.saturating_sub(packet.ip.header_len() + UDP_HEADER),
    ))
}
