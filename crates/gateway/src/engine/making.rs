//! What boxes made: frames, as far as they may be sent.

use super::{Engine, Injection, MOBILE, Order};
use crate::Interface;
use ackord_events::ProxyAct;
use ackord_units::Time;
use ackord_wire::{IpFields, Packet, Payload, encode};

impl Engine {
    pub(super) fn send_what_was_made(&mut self, now: Time) {
        for note in self.outbox.notes() {
            let Some(connection) = self.connections.of_flow(note.flow) else { continue };
            let is_held = match note.act {
                ProxyAct::HoldBegan => true,
                ProxyAct::HoldEnded | ProxyAct::HoldWasFalse => false,
                ProxyAct::Evicted => continue,
            };
            self.stats.held += u64::from(is_held && !connection.is_held);
            self.stats.held -= u64::from(!is_held && connection.is_held);
            connection.is_held = is_held;
        }
        let made: Vec<Packet> = self.outbox.packets().map(|(packet, _)| *packet).collect();
        self.outbox.clear();
        for packet in made {
            match self.frame_of(now, &packet) {
                Some(injection) => {
                    self.stats.injected += 1;
                    self.stats.injected_octets += injection.frame.len() as u64;
                    self.orders.push(Order::Inject(injection));
                }
                None => {
                    self.stats.refused += 1;
                    if let Some(connection) = self.connections.of_flow(packet.flow) {
                        connection.counters.refused += 1;
                    }
                }
            }
        }
    }

    /// The octets of a packet that a box made; nothing where they are gone, where nobody knows what has to
    /// stand before them, or where the connection, or all of them, has spent its budget.
    fn frame_of(&mut self, at: Time, packet: &Packet) -> Option<Injection> {
        let segment = packet.tcp.as_ref()?;
        let connection = self.connections.of_flow(packet.flow)?;
        let (interface, link) = match packet.dst {
            MOBILE => connection.to_lan.map(|(lan, link)| (Interface::Lan(lan), link))?,
            _ => (Interface::Wan, connection.to_wan?),
        };
        let mut frame = link.octets().to_vec();
        match segment.payload_len {
            0 => {
                let ip = IpFields { ecn: packet.ecn, ..IpFields::default() };
                let endpoints = connection.key.endpoints(interface);
                encode(endpoints, ip, segment, Payload::Zeros(0), &mut frame).ok()?;
            }
            len if packet.dst == MOBILE => {
                frame.extend_from_slice(connection.packet(segment.seq, len)?);
            }
            // Nothing here makes data for a fixed host.
            _ => return None,
        }
        let len = frame.len() as u64;
        if !(connection.budget.spend(len) && self.budget.spend(len)) {
            return None;
        }
        match interface {
            Interface::Lan(_) => connection.counters.injected_to_mobile += 1,
            Interface::Wan => connection.counters.injected_to_fixed += 1,
        }
        Some(Injection { interface, frame, at, flow: packet.flow })
    }
}
