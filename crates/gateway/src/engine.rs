//! Frames in, frames out, and a box of `path` between them, which stands beside the path whatever it asks for.

use crate::{Connections, Interface, Key, Limits, LinkHeader, LinkKind, Sighting, Way};
use ackord_path::proxy::{Heading, Outbox, Proxy, ProxyStats, Verdict};
use ackord_units::Time;
use ackord_wire::{
    DecodeError, Decoded, Flags, FlowId, IpFields, LinkType, NodeId, Packet, Payload, Piece,
    Segment, Side, decode_offloaded, encode, glimpse, write_piece,
};

/// Where the fixed hosts are, to a box.
const FIXED: NodeId = NodeId(0);
/// Where the mobile ones are.
const MOBILE: NodeId = NodeId(1);

/// What an engine may use.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// How much it may know.
    pub limits: Limits,
    /// The kind of the WAN interface's link.
    pub wan: LinkKind,
    /// The kind of the LAN interface's link.
    pub lan: LinkKind,
    /// Of a thousand connections so many are left alone, to be compared with.
    pub control_per_mille: u16,
}

/// A frame to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// By which interface.
    pub interface: Interface,
    /// The frame, from its link header on.
    pub frame: Vec<u8>,
}

/// What an engine saw and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Frames it was shown.
    pub frames: u64,
    /// Of those, which carried TCP it could read.
    pub tcp: u64,
    /// Frames cut off before their data ended, malformed packets, fragments, wrong checksums.
    pub unreadable: u64,
    /// Segments that those of TCP were, or became.
    pub segments: u64,
    /// Frames injected.
    pub injected: u64,
    /// What a box wanted to inject and could not.
    pub refused: u64,
    /// What a box wanted to remove or change, which went on as it was.
    pub not_removed: u64,
}

/// A box at work on a router.
#[derive(Debug)]
pub struct Engine {
    config: EngineConfig,
    proxy: Proxy,
    connections: Connections,
    /// When something last happened: time does not go back.
    now: Time,
    outbox: Outbox,
    injections: Vec<Injection>,
    /// For a packet under way from one place to the next.
    packet: Vec<u8>,
    stats: EngineStats,
}

impl Engine {
    /// With a box that knows nothing yet.
    pub fn new(config: EngineConfig, proxy: Proxy) -> Engine {
        Engine {
            connections: Connections::new(config.limits, config.control_per_mille),
            config,
            proxy,
            now: Time::ZERO,
            outbox: Outbox::default(),
            injections: Vec::new(),
            packet: Vec::new(),
            stats: EngineStats::default(),
        }
    }

    /// A frame was seen, at this time; what is due before that is done first.
    pub fn see(&mut self, now: Time, sighting: &Sighting<'_>) {
        // Two interfaces tell what passed one after the other, and a clock may be set.
        let now = now.max(self.now);
        self.handle_deadlines(now);
        self.now = now;
        self.stats.frames += 1;
        let kind = match sighting.interface {
            Interface::Wan => self.config.wan,
            Interface::Lan => self.config.lan,
        };
        let Some((link, ip)) = LinkHeader::cut(sighting, kind) else { return };
        // Towards the WAN only what stands before the packets is of interest: they were seen already.
        match (sighting.interface, sighting.way) {
            (Interface::Wan, Way::In) => {}
            (Interface::Wan, Way::Out) => self.learn_wan(now, link, ip),
            (Interface::Lan, Way::Out) => {
                self.take_in(now, sighting, Some(link), ip, Heading::Mobile);
            }
            (Interface::Lan, Way::In) => self.take_in(now, sighting, None, ip, Heading::Fixed),
        }
    }

    /// A packet of a connection that is known leaves by the WAN interface: whoever is told that interface's
    /// header need not know a route.
    fn learn_wan(&mut self, now: Time, link: LinkHeader, ip: &[u8]) {
        let Ok(seen) = glimpse(LinkType::RAW, ip, ip.len() as u32) else { return };
        let key = Key::towards(Interface::Wan, seen.endpoints);
        self.connections.touch(now, key).to_wan = Some(link);
    }

    fn take_in(
        &mut self,
        now: Time,
        sighting: &Sighting<'_>,
        to_lan: Option<LinkHeader>,
        ip: &[u8],
        heading: Heading,
    ) {
        let decoded = match decode_offloaded(ip, sighting.checksum) {
            Ok(decoded) => decoded,
            Err(DecodeError::NotTcp { .. } | DecodeError::NotIp(_)) => return,
            Err(_) => {
                self.stats.unreadable += 1;
                return;
            }
        };
        self.stats.tcp += 1;
        let towards = match heading {
            Heading::Mobile => Interface::Lan,
            Heading::Fixed => Interface::Wan,
        };
        let key = Key::towards(towards, decoded.endpoints);
        let connection = self.connections.touch(now, key);
        connection.to_lan = to_lan.or(connection.to_lan);
        let flow = connection.flow;
        for piece in Piece::of(decoded.segment.payload_len, sighting.segment_size) {
            self.stats.segments += 1;
            self.pass(now, (flow, heading), ip, &decoded, piece);
        }
        if decoded.segment.flags.contains(Flags::RST) {
            self.connections.remove(key);
        }
    }

    /// One segment of a connection passes.
    fn pass(
        &mut self,
        now: Time,
        (flow, heading): (FlowId, Heading),
        ip: &[u8],
        decoded: &Decoded,
        piece: Piece,
    ) {
        let Some(connection) = self.connections.of_flow(flow) else { return };
        let (segment, len) = (piece.segment(&decoded.segment), u64::from(piece.len));
        let is_control = connection.is_control;
        match heading {
            Heading::Mobile => {
                connection.counters.octets_to_mobile += len;
                connection.budget.earn(len);
                if len > 0 && !is_control {
                    self.packet.clear();
                    write_piece(ip, decoded, piece, &mut self.packet);
                    self.connections.keep(flow, segment.seq, piece.len, &self.packet);
                }
            }
            Heading::Fixed => {
                connection.counters.octets_from_mobile += len;
                if segment.flags.contains(Flags::ACK) {
                    self.connections.acknowledge(flow, segment.ack);
                }
            }
        }
        if is_control {
            return;
        }
        let packet = as_packet(flow, heading, decoded, segment);
        // A box in the path is asked what becomes of the packet, which is on its way already.
        if self.proxy.handle(now, &packet, heading, &mut self.outbox) != Verdict::Forward {
            self.stats.not_removed += 1;
        }
        self.send_what_the_box_made();
    }

    /// When it wants to be called, if nothing is seen first.
    pub fn deadline(&self) -> Option<Time> {
        self.proxy.deadline()
    }

    /// Does what is due by now.
    pub fn handle_deadlines(&mut self, now: Time) {
        while let Some(due) = self.proxy.deadline().filter(|due| *due <= now) {
            self.now = self.now.max(due);
            self.proxy.handle_deadline(self.now, &mut self.outbox);
            self.send_what_the_box_made();
        }
    }

    fn send_what_the_box_made(&mut self) {
        let made: Vec<Packet> = self.outbox.packets().map(|(packet, _)| *packet).collect();
        self.outbox.clear();
        for packet in made {
            match self.frame_of(&packet) {
                Some(injection) => {
                    self.stats.injected += 1;
                    self.injections.push(injection);
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
    /// stand before them, or where the connection has spent its budget.
    fn frame_of(&mut self, packet: &Packet) -> Option<Injection> {
        let segment = packet.tcp.as_ref()?;
        let interface = if packet.dst == MOBILE { Interface::Lan } else { Interface::Wan };
        let connection = self.connections.of_flow(packet.flow)?;
        let link = match interface {
            Interface::Lan => connection.to_lan?,
            Interface::Wan => connection.to_wan?,
        };
        let mut frame = link.octets().to_vec();
        match segment.payload_len {
            0 => {
                let ip = IpFields { ecn: packet.ecn, ..IpFields::default() };
                let endpoints = connection.key.endpoints(interface);
                encode(endpoints, ip, segment, Payload::Zeros(0), &mut frame).ok()?;
            }
            len if interface == Interface::Lan => {
                frame.extend_from_slice(connection.packet(segment.seq, len)?);
            }
            // Nothing here makes data for a fixed host.
            _ => return None,
        }
        if !connection.budget.spend(frame.len() as u64) {
            return None;
        }
        match interface {
            Interface::Lan => connection.counters.injected_to_mobile += 1,
            Interface::Wan => connection.counters.injected_to_fixed += 1,
        }
        Some(Injection { interface, frame })
    }

    /// What is to be sent, in order; it is then no longer here.
    pub fn injections(&mut self) -> impl Iterator<Item = Injection> {
        self.injections.drain(..)
    }

    /// The connections it knows.
    pub fn connections(&self) -> &Connections {
        &self.connections
    }

    /// What it saw and did.
    pub fn stats(&self) -> EngineStats {
        self.stats
    }

    /// What its box counted.
    pub fn proxy_stats(&self) -> &ProxyStats {
        self.proxy.stats()
    }
}

/// A segment as a box sees it. Who opened the connection matters to no box: the mobile host is the client.
fn as_packet(flow: FlowId, heading: Heading, decoded: &Decoded, segment: Segment) -> Packet {
    let (from, src, dst) = match heading {
        Heading::Mobile => (Side::Server, FIXED, MOBILE),
        Heading::Fixed => (Side::Client, MOBILE, FIXED),
    };
    let headers = decoded.payload.start as u32;
    Packet {
        flow,
        from,
        src,
        dst,
        ip: decoded.ip.version,
        ecn: decoded.ip.ecn,
        ip_len: headers + segment.payload_len,
        tag: 0,
        tcp: Some(segment),
    }
}

#[cfg(test)]
mod tests;
