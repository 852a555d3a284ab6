//! What came out of the TAP device: read, told apart, and cut up where that is wanted.

use crate::bpf::Steer;
use crate::{Interface, LinkHeader, LinkKind, Sighting, Way};
use ackord_daemon::mix;
use ackord_units::{Rate, Span, Time};
use ackord_wire::{
    Decoded, Ecn, Endpoints, FlowId, IpVersion, NodeId, Packet, Piece, Side, TcpChecksum,
    decode_ip, decode_offloaded, write_piece,
};
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

/// Packets whose transmission takes longer are cut up where offloading has put them together.
pub(super) const LONGEST_TRANSMISSION: Span = Span::from_millis(1);

/// A virtio header (struct virtio_net_hdr).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VnetHeader(pub(super) [u8; VnetHeader::LEN]);

impl VnetHeader {
    pub(super) const LEN: usize = 10;
    const NEEDS_CHECKSUM: u8 = 1;
    /// The bit that says that CWR is set, beside the kind of segmentation.
    const ECN: u8 = 0x80;

    fn half(&self, at: usize) -> u16 {
        u16::from_ne_bytes([self.0[at], self.0[at + 1]])
    }

    fn move_back(&mut self, at: usize, bytes: u16) {
        let moved = self.half(at).saturating_sub(bytes);
        self.0[at..at + 2].copy_from_slice(&moved.to_ne_bytes());
    }

    /// As many bytes before the frame are gone.
    fn shorten(&mut self, bytes: u16) {
        self.move_back(2, bytes);
        if self.0[0] & VnetHeader::NEEDS_CHECKSUM != 0 {
            self.move_back(6, bytes);
        }
    }

    /// The payload of the segments of TCP that it is to become; zero where it is one.
    fn segment_size(&self) -> u32 {
        match self.0[1] & !VnetHeader::ECN {
            1 | 4 => u32::from(self.half(4)),
            _ => 0,
        }
    }
}

/// A frame on its way, behind its virtio header.
#[derive(Debug)]
pub(super) struct Frame {
    /// It is a part of these.
    buffer: Vec<u8>,
    /// Which, from the header on.
    part: Range<usize>,
    /// Where its IP packet begins in them.
    ip_at: usize,
    pub(super) mark: u32,
    pub(super) came_at: Time,
    /// Its packet, if the time to its acknowledgment is measured.
    pub(super) measured: Option<Packet>,
}

impl Frame {
    /// The virtio header and the frame.
    pub(super) fn with_header(&self) -> &[u8] {
        &self.buffer[self.part.clone()]
    }

    /// The frame.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.with_header()[VnetHeader::LEN..]
    }

    /// Its IP packet; all of it where there is none.
    pub(super) fn ip(&mut self) -> &mut [u8] {
        &mut self.buffer[self.ip_at..self.part.end]
    }

    /// Bytes of memory that it takes.
    pub(super) fn takes(&self) -> usize {
        self.buffer.len()
    }

    /// What it was in, for another one.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

/// What a frame is.
#[derive(Debug)]
pub(super) enum Sorted {
    /// The kernel's own, for nobody behind the interface.
    Noise,
    /// What a link cannot do without: neighbour discovery, and everything that is not IP. It neither waits
    /// nor is dropped.
    Control(Frame),
    /// One packet.
    Packet(Packet, Frame),
    /// Several that were one before.
    Pieces(Vec<(Packet, Frame)>),
}

/// Tells frames apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sorter {
    pub(super) kind: LinkKind,
    /// The TAP device's own address.
    pub(super) tap: [u8; 6],
    pub(super) steer: Steer,
    /// What flows are numbered by: nobody can choose ports so that two have one number.
    pub(super) salt: u64,
}

impl Sorter {
    /// A frame that was read with its virtio header: the first `len` of these.
    pub(super) fn sort(
        &self,
        now: Time,
        (mut buffer, len): (Vec<u8>, usize),
        rate: Rate,
    ) -> Sorted {
        let Some((header, bytes)) = buffer[..len].split_first_chunk() else {
            return Sorted::Noise;
        };
        let mut header = VnetHeader(*header);
        let mark = self.steer.mark_before(bytes);
        let is_ethernet = self.kind == LinkKind::Ethernet;
        if bytes.is_empty() || is_ethernet && bytes.get(6..12) == Some(&self.tap) {
            return Sorted::Noise;
        }
        let mut part = 0..len;
        if mark.is_some() {
            header.shorten(Steer::PREFIX as u16);
            part.start = Steer::PREFIX;
            buffer[part.start..part.start + VnetHeader::LEN].copy_from_slice(&header.0);
        }
        let from = part.start + VnetHeader::LEN;
        let ip_at = ip_begins(&buffer[from..len], self.kind);
        let mark = mark.unwrap_or(0);
        let frame = |buffer, at| Frame {
            buffer,
            part,
            ip_at: from + at,
            mark,
            came_at: now,
            measured: None,
        };
        let Some(at) = ip_at else { return Sorted::Control(frame(buffer, 0)) };
        let ip = &buffer[from + at..len];
        let Ok(decoded) = decode_offloaded(ip, TcpChecksum::Trusted) else {
            return match is_neighbour_discovery(ip) {
                true => Sorted::Control(frame(buffer, at)),
                false => Sorted::Packet(self.other_packet(ip), frame(buffer, at)),
            };
        };
        let size = header.segment_size();
        let whole = self.tcp_packet(&decoded, Side::Server, size);
        if size == 0 || rate.time_for(whole.len()) <= LONGEST_TRANSMISSION {
            return Sorted::Packet(whole, frame(buffer, at));
        }
        let link = &buffer[from..from + at];
        let pieces = Piece::of(decoded.segment.payload_len, size).map(|piece| {
            let segment = piece.segment(&decoded.segment);
            // Its checksum is done: there is nothing for a device to do.
            let mut buffer = VnetHeader::default().0.to_vec();
            buffer.extend_from_slice(link);
            let ip_at = buffer.len();
            write_piece(ip, &decoded, piece, &mut buffer);
            let ip_len = (buffer.len() - ip_at) as u32;
            let packet = Packet { ip_len, tcp: Some(segment), ..whole };
            let part = 0..buffer.len();
            (packet, Frame { buffer, part, ip_at, mark, came_at: now, measured: None })
        });
        Sorted::Pieces(pieces.collect())
    }

    /// A segment that came in by the interface; nothing for whatever else did.
    pub(super) fn reverse(&self, sighting: &Sighting<'_>) -> Option<Packet> {
        if sighting.way != Way::In || sighting.interface != Interface::Lan(0) {
            return None;
        }
        let (_, ip) = LinkHeader::cut(sighting, self.kind)?;
        let decoded = decode_offloaded(ip, TcpChecksum::HeadersOnly).ok()?;
        Some(self.tcp_packet(&decoded, Side::Client, sighting.segment_size))
    }

    fn tcp_packet(&self, decoded: &Decoded, from: Side, segment_size: u32) -> Packet {
        let payload = decoded.segment.payload_len;
        let segments = if segment_size == 0 { 1 } else { payload.div_ceil(segment_size).max(1) };
        let headers = decoded.payload.start as u32;
        // What goes over the link: each segment has headers of its own.
        let ip_len = payload + headers * segments;
        let ends = match from {
            Side::Server => decoded.endpoints,
            Side::Client => decoded.endpoints.reversed(),
        };
        let flow = self.flow(ends, 6);
        let (ip, ecn) = (decoded.ip.version, decoded.ip.ecn);
        self.packet(from, flow, Packet { ip, ecn, ip_len, tcp: Some(decoded.segment), ..EMPTY })
    }

    /// Anything else that says it is IP: datagrams, fragments, what is malformed.
    fn other_packet(&self, ip: &[u8]) -> Packet {
        let (version, ecn) = match ip {
            [first, second, ..] if first >> 4 == 6 => (IpVersion::V6, second >> 4),
            [_, second, ..] => (IpVersion::V4, *second),
            _ => (IpVersion::V4, 0),
        };
        let ecn = match ecn & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        };
        let flow = match decode_ip(ip) {
            Ok(of) => {
                let ports = ip.get(of.payload.clone()).and_then(|payload| payload.first_chunk());
                let [src, dst] = match ports {
                    Some([a, b, c, d]) if of.protocol == UDP => {
                        [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])]
                    }
                    _ => [0, 0],
                };
                let (src, dst) = (SocketAddr::new(of.src, src), SocketAddr::new(of.dst, dst));
                self.flow(Endpoints { src, dst }, of.protocol)
            }
            Err(_) => FlowId(0),
        };
        let ip_len = ip.len() as u32;
        self.packet(Side::Server, flow, Packet { ip: version, ecn, ip_len, ..EMPTY })
    }

    fn packet(&self, from: Side, flow: FlowId, packet: Packet) -> Packet {
        let (src, dst) = match from {
            Side::Server => (NodeId(0), NodeId(1)),
            Side::Client => (NodeId(1), NodeId(0)),
        };
        Packet { flow, from, src, dst, ..packet }
    }

    /// The number of a flow by the ends of its packets towards the interface. Two share one in one of four
    /// thousand million cases, and then are one flow to the queue.
    fn flow(&self, ends: Endpoints, protocol: u8) -> FlowId {
        let start = mix(self.salt ^ u64::from(protocol));
        let mixed = [ends.src, ends.dst].into_iter().fold(start, |mixed, end| {
            let address = match end.ip() {
                IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
                IpAddr::V6(address) => address.to_bits(),
            };
            [(address >> 64) as u64, address as u64, u64::from(end.port())]
                .into_iter()
                .fold(mixed, |mixed, word| mix(mixed ^ word))
        });
        FlowId(mixed as u32)
    }
}

const UDP: u8 = 17;

/// A packet of which nothing is known.
const EMPTY: Packet = Packet {
    flow: FlowId(0),
    from: Side::Server,
    src: NodeId(0),
    dst: NodeId(1),
    ip: IpVersion::V4,
    ecn: Ecn::NotEct,
    ip_len: 0,
    tag: 0,
    tcp: None,
};

/// Where the IP packet of a frame begins; nothing for a frame without one.
fn ip_begins(bytes: &[u8], kind: LinkKind) -> Option<usize> {
    let at = match kind {
        LinkKind::Bare => 0,
        LinkKind::Ethernet => {
            let mut at = 12;
            while matches!(bytes.get(at..at + 2)?, [0x81, 0x00] | [0x88, 0xa8]) {
                at += 4;
            }
            matches!(bytes.get(at..at + 2)?, [0x08, 0x00] | [0x86, 0xdd]).then_some(at + 2)?
        }
    };
    matches!(bytes.get(at)? >> 4, 4 | 6).then_some(at)
}

/// RFC 4861 §4: the ICMPv6 types 133 to 137.
fn is_neighbour_discovery(ip: &[u8]) -> bool {
    let is_v6 = ip.first().is_some_and(|first| first >> 4 == 6);
    is_v6 && ip.get(6) == Some(&58) && matches!(ip.get(40), Some(133..=137))
}

#[cfg(test)]
mod tests;
