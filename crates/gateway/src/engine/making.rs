//! What boxes made: frames, as far as they may be sent.

use super::{Engine, Injection, MOBILE, Order};
use crate::Interface;
use crate::watch::Decision;
use ackord_events::{ProxyAct, ProxySending};
use ackord_path::proxy::Made;
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
            self.taps.decided(connection.key, Decision::Told(note.act));
        }
        let made: Vec<(Packet, Made)> =
            self.outbox.packets().map(|(one, made)| (*one, made)).collect();
        self.outbox.clear();
        for (packet, made) in made {
            let Some(connection) = self.connections.of_flow(packet.flow) else { continue };
            let key = connection.key;
            let what = match made {
                Made::New(what) | Made::First(what) => what,
                Made::Released => ProxySending::Relay,
            };
            match self.frame_of(now, &packet) {
                Ok((link_len, injection)) => {
                    match injection.interface {
                        Interface::Lan(_) => self.stats.injected_to_mobile += 1,
                        Interface::Wan => self.stats.injected_to_fixed += 1,
                    }
                    let bytes = injection.frame.len() as u64;
                    self.stats.injected_bytes += bytes;
                    if let Interface::Lan(_) = injection.interface {
                        self.stats.injected_bytes_to_mobile += bytes;
                    }
                    if self.taps.want(key) {
                        let at = self.on_the_wall(now);
                        let ip = &injection.frame[link_len..];
                        self.taps.injected(at, (key, injection.interface), ip, what);
                    }
                    self.orders.push(Order::Inject(injection));
                }
                Err(why) => {
                    self.stats.refused[why as usize] += 1;
                    if let Some(connection) = self.connections.of_flow(packet.flow) {
                        connection.counters.refused += 1;
                    }
                    self.taps.decided(key, Decision::Refused(what, why.name()));
                }
            }
        }
    }

    /// The bytes of a packet that a box made, and how many of them stand before IP.
    fn frame_of(&mut self, at: Time, packet: &Packet) -> Result<(usize, Injection), Refusal> {
        let segment = packet.tcp.as_ref().ok_or(Refusal::NotKept)?;
        let connection = self.connections.of_flow(packet.flow).ok_or(Refusal::NotKept)?;
        let (interface, link) = match packet.dst {
            MOBILE => connection.to_lan.map(|(lan, link)| (Interface::Lan(lan), link)),
            _ => connection.to_wan.map(|link| (Interface::Wan, link)),
        }
        .ok_or(Refusal::NoWay)?;
        let mut frame = link.bytes().to_vec();
        match segment.payload_len {
            0 => {
                let ip = IpFields { ecn: packet.ecn, ..IpFields::default() };
                let endpoints = connection.key.endpoints(interface);
                encode(endpoints, ip, segment, Payload::Zeros(0), &mut frame)
                    .map_err(|_| Refusal::NotKept)?;
            }
            len if packet.dst == MOBILE => {
                let kept = connection.packet(segment.seq, len).ok_or(Refusal::NotKept)?;
                frame.extend_from_slice(kept);
            }
            // Nothing here makes data for a fixed host.
            _ => return Err(Refusal::NotKept),
        }
        let len = (frame.len() - link.bytes().len()) as u64;
        let carries_data = packet.dst == MOBILE && segment.payload_len > 0;
        if carries_data && !connection.recoveries.inject(segment.seq, segment.payload_len) {
            return Err(Refusal::SavesTooLittle);
        }
        if !connection.budget.spend(len) {
            return Err(Refusal::NotEarned);
        }
        if !self.budget.spend(len) {
            return Err(Refusal::NotEarnedByAll);
        }
        match interface {
            Interface::Lan(_) => connection.counters.injected_to_mobile += 1,
            Interface::Wan => connection.counters.injected_to_fixed += 1,
        }
        let injection = Injection { interface, frame, at, flow: packet.flow };
        Ok((link.bytes().len(), injection))
    }
}

/// Why something that a box made is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its bytes are not kept (any more).
    NotKept,
    /// Nothing has been seen to leave that way, so nobody knows what has to stand before a packet.
    NoWay,
    /// The connection would inject more than passed in it.
    NotEarned,
    /// Injections of the connection are mostly lost again, or not needed.
    SavesTooLittle,
    /// All connections would together inject more than they may.
    NotEarnedByAll,
}

impl Refusal {
    /// All of them, in the order of [`EngineStats::refused`](super::EngineStats::refused).
    pub const ALL: [Refusal; 5] = [
        Refusal::NotKept,
        Refusal::NoWay,
        Refusal::NotEarned,
        Refusal::SavesTooLittle,
        Refusal::NotEarnedByAll,
    ];

    /// In words, for counters and captures.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::NotKept => "not kept",
            Refusal::NoWay => "no way known",
            Refusal::NotEarned => "connection's budget spent",
            Refusal::SavesTooLittle => "too little saved by earlier ones",
            Refusal::NotEarnedByAll => "budget of all spent",
        }
    }
}
