//! The events of flows that are no connections: a sender is due, a packet has arrived.

use super::Simulation;
use super::ends::transmit;
use crate::datagrams;
use ackord_events::{EndpointId, Event, Sink};
use ackord_wire::Packet;

impl Simulation {
    #[cold]
    pub(super) fn deliver_datagram<S: Sink>(&self, packet: &Packet, sink: &mut S) {
        let event = Event::DatagramDelivered {
            endpoint: EndpointId { flow: packet.flow, side: packet.from.other() },
            payload: datagrams::payload(packet),
            one_way_delay: datagrams::one_way_delay(packet, self.now),
        };
        sink.emit(self.now, event);
    }

    /// The sender of a datagram flow is due.
    #[cold]
    pub(super) fn send_datagram<S: Sink>(&mut self, index: u32, id: u32, sink: &mut S) {
        let now = self.now;
        let sender = &mut self.senders[index as usize];
        if let Some(packet) = sender.next(now, self.packets_sent + 1) {
            self.packets_sent += 1;
            let endpoint = EndpointId { flow: packet.flow, side: packet.from };
            let payload = datagrams::payload(&packet);
            sink.emit(now, Event::DatagramSent { endpoint, payload });
            transmit(&mut self.topology, &mut self.processing, now, &packet, sink);
        }
        self.app_timers.set(id, sender.deadline());
    }
}
