//! What came out of the TAP device: read, told apart, and cut up where that is wanted.

use crate::bpf::Steer;
use crate::control::mix;
use crate::{Interface, LinkHeader, LinkKind, Sighting, Way};
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

    fn move_back(&mut self, at: usize, octets: u16) {
        let moved = self.half(at).saturating_sub(octets);
        self.0[at..at + 2].copy_from_slice(&moved.to_ne_bytes());
    }

    /// As many octets before the frame are gone.
    fn shorten(&mut self, octets: u16) {
        self.move_back(2, octets);
        if self.0[0] & VnetHeader::NEEDS_CHECKSUM != 0 {
            self.move_back(6, octets);
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
}

impl Frame {
    /// The virtio header and the frame.
    pub(super) fn with_header(&self) -> &[u8] {
        &self.buffer[self.part.clone()]
    }

    /// The frame.
    pub(super) fn octets(&self) -> &[u8] {
        &self.with_header()[VnetHeader::LEN..]
    }

    /// Its IP packet; all of it where there is none.
    pub(super) fn ip(&mut self) -> &mut [u8] {
        &mut self.buffer[self.ip_at..self.part.end]
    }

    /// Octets of memory that it takes.
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
        let Some((header, octets)) = buffer[..len].split_first_chunk() else {
            return Sorted::Noise;
        };
        let mut header = VnetHeader(*header);
        let mark = self.steer.mark_before(octets);
        let is_ethernet = self.kind == LinkKind::Ethernet;
        if octets.is_empty() || is_ethernet && octets.get(6..12) == Some(&self.tap) {
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
        let frame = |buffer, at| Frame { buffer, part, ip_at: from + at, mark, came_at: now };
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
            (packet, Frame { buffer, part, ip_at, mark, came_at: now })
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
fn ip_begins(octets: &[u8], kind: LinkKind) -> Option<usize> {
    let at = match kind {
        LinkKind::Bare => 0,
        LinkKind::Ethernet => {
            let mut at = 12;
            while matches!(octets.get(at..at + 2)?, [0x81, 0x00] | [0x88, 0xa8]) {
                at += 4;
            }
            matches!(octets.get(at..at + 2)?, [0x08, 0x00] | [0x86, 0xdd]).then_some(at + 2)?
        }
    };
    matches!(octets.get(at)? >> 4, 4 | 6).then_some(at)
}

/// RFC 4861 §4: the ICMPv6 types 133 to 137.
fn is_neighbour_discovery(ip: &[u8]) -> bool {
    let is_v6 = ip.first().is_some_and(|first| first >> 4 == 6);
    is_v6 && ip.get(6) == Some(&58) && matches!(ip.get(40), Some(133..=137))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Seq;
    use ackord_wire::{
        Flags, IpFields, Options, Payload, Segment, decode, encode, encode_udp, set_ecn,
    };
    use proptest::prelude::*;

    const TAP: [u8; 6] = [2, 9, 9, 9, 9, 9];
    const SLOW: Rate = Rate::from_mbits_per_sec(20);
    const FAST: Rate = Rate::from_mbits_per_sec(10_000);

    fn sorter(kind: LinkKind) -> Sorter {
        let steer = Steer { to: 1, cookie: 1, secret: 7, kind };
        Sorter { kind, tap: TAP, steer, salt: 3 }
    }

    fn sort(sorter: &Sorter, read: &[u8], rate: Rate) -> Sorted {
        // A buffer is longer than what was read.
        let mut buffer = read.to_vec();
        buffer.resize(read.len() + 100, 0xaa);
        sorter.sort(Time::ZERO, (buffer, read.len()), rate)
    }

    fn ends(ip: u8) -> Endpoints {
        let (src, dst) = match ip {
            4 => ("192.0.2.1:443", "198.51.100.7:50000"),
            _ => ("[2001:db8::1]:443", "[2001:db8::7]:50000"),
        };
        Endpoints { src: src.parse().expect("one"), dst: dst.parse().expect("one") }
    }

    /// A packet of TCP with this much payload as a TAP device gives it: tags, what offloading is to do.
    fn offloaded(ip: u8, tags: &[u8], len: u32, size: u16) -> Vec<u8> {
        let segment = Segment {
            seq: Seq(u32::MAX - 99),
            ack: Seq(5),
            flags: Flags::ACK,
            window: 100,
            payload_len: len,
            options: Options::default(),
        };
        let mut read = vec![1, if ip == 4 { 1 } else { 4 }, 0, 0, 0, 0, 0, 0, 16, 0];
        read[4..6].copy_from_slice(&size.to_ne_bytes());
        if size == 0 {
            read[1] = 0;
        }
        read.extend([2; 12]);
        read.extend(tags);
        read.extend(if ip == 4 { [8, 0] } else { [0x86, 0xdd] });
        let data: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        let fields = IpFields { ecn: Ecn::Ect0, ..IpFields::default() };
        encode(ends(ip), fields, &segment, Payload::Bytes(&data), &mut read).expect("sound");
        read
    }

    #[test]
    fn what_takes_more_than_a_millisecond_is_cut_up_into_sound_packets_and_the_rest_stays_whole() {
        for (ip, headers) in [(4, 40), (6, 60)] {
            for tags in [&[][..], &[0x81, 0, 0, 7]] {
                let read = offloaded(ip, tags, 40_000, 1_400);
                let sorter = sorter(LinkKind::Ethernet);
                let Sorted::Packet(packet, frame) = sort(&sorter, &read, FAST) else {
                    panic!("32 us at 10 Gbit/s")
                };
                // As long as its 29 segments are on the link.
                assert_eq!(packet.ip_len, 40_000 + 29 * headers);
                assert_eq!(frame.with_header(), read);
                let Sorted::Pieces(pieces) = sort(&sorter, &read, SLOW) else {
                    panic!("16 ms at 20 Mbit/s")
                };
                let mut carried = Vec::new();
                let count = pieces.len();
                for (one, mut frame) in pieces {
                    assert_eq!(frame.with_header()[..10], [0; 10]);
                    assert_eq!(frame.octets()[..12 + tags.len()], read[10..22 + tags.len()]);
                    let ip = &*frame.ip();
                    let decoded = decode(ip).expect("checksums and all");
                    assert_eq!((one.flow, Some(decoded.segment)), (packet.flow, one.tcp));
                    assert_eq!(one.ip_len as usize, ip.len());
                    carried.extend_from_slice(&ip[decoded.payload.clone()]);
                }
                assert_eq!((count, &carried[..]), (29, &read[read.len() - 40_000..]));
            }
        }
    }

    #[test]
    fn a_mark_in_front_is_taken_away_and_kept() {
        let sorter = sorter(LinkKind::Ethernet);
        let plain = offloaded(4, &[], 1_000, 0);
        let mut prefix = vec![3, 0, 0, 0];
        prefix.extend(7_u64.to_be_bytes());
        prefix.extend([0x88, 0xb5]);
        prefix.extend(0x0304_u16.to_ne_bytes());
        prefix.extend(0x0102_u16.to_ne_bytes());
        let mut read = plain.clone();
        read.splice(10..10, prefix);
        // Where its checksum begins, counted from the beginning of what was read.
        read[6..8].copy_from_slice(&(18_u16 + 34).to_ne_bytes());
        let Sorted::Packet(_, frame) = sort(&sorter, &read, FAST) else { panic!("one") };
        assert_eq!((frame.mark, frame.octets()), (0x0102_0304, &plain[10..]));
        assert_eq!(frame.with_header()[6..8], 34_u16.to_ne_bytes());
    }

    #[test]
    fn what_a_link_needs_does_not_wait_and_the_kernels_own_goes_nowhere() {
        let sorter = sorter(LinkKind::Ethernet);
        let framed = |rest: &[u8]| [&[0; 10][..], &[2; 12], rest].concat();
        let mut discovery = vec![0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 58, 255];
        discovery.extend([0; 32]);
        discovery.extend([135, 0, 0, 0, 0, 0, 0, 0]);
        for control in [framed(&[8, 6, 0, 1]), framed(&[0x88, 0x8e, 1]), framed(&discovery)] {
            let sorted = sort(&sorter, &control, SLOW);
            assert!(matches!(sorted, Sorted::Control(_)), "{sorted:?}");
        }
        let mut own = framed(&discovery);
        own[16..22].copy_from_slice(&TAP);
        assert!(matches!(sort(&sorter, &own, SLOW), Sorted::Noise));
        let mut echo = discovery;
        echo[42] = 128;
        assert!(matches!(sort(&sorter, &framed(&echo), SLOW), Sorted::Packet(..)));
    }

    #[test]
    fn both_directions_of_a_connection_are_one_flow_and_others_are_others() {
        let sorter = sorter(LinkKind::Ethernet);
        let flow = |read: &[u8]| match sort(&sorter, read, FAST) {
            Sorted::Packet(packet, _) => packet.flow,
            other => panic!("{other:?}"),
        };
        let there = offloaded(4, &[], 10, 0);
        let mut back = vec![2; 12];
        back.extend([8, 0]);
        let ack = decode(&there[24..]).expect("sound").segment;
        let ends = ends(4);
        encode(ends.reversed(), IpFields::default(), &ack, Payload::Zeros(10), &mut back)
            .expect("sound");
        let sighting = Sighting {
            interface: Interface::Lan(0),
            mark: None,
            is_sample: false,
            way: Way::In,
            frame: &back,
            vlan: None,
            segment_size: 0,
            checksum: TcpChecksum::Verified,
        };
        assert_eq!(sorter.reverse(&sighting).map(|packet| packet.flow), Some(flow(&there)));
        let mut datagram = [&[0; 10][..], &[2; 12], &[8, 0]].concat();
        encode_udp(ends, IpFields::default(), Payload::Zeros(9), &mut datagram).expect("sound");
        assert_ne!(flow(&datagram), flow(&there));
        assert_ne!(flow(&offloaded(6, &[], 10, 0)), flow(&there));
        let salted = Sorter { salt: 4, ..sorter };
        let Sorted::Packet(other, _) = sort(&salted, &there, FAST) else { panic!() };
        assert_ne!(other.flow, flow(&there));
    }

    proptest! {
        /// Whatever is read, what goes on is what was read.
        #[test]
        fn any_octets_go_on_as_they_came(
            read in proptest::collection::vec(any::<u8>(), 0..200),
            bare in any::<bool>(),
            shape in 0..5_usize,
        ) {
            let mut read = read;
            let starts = [&[][..], &[8, 0, 0x45], &[0x86, 0xdd, 0x60], &[0x81, 0], &[8, 0, 0x4f]];
            for (at, octet) in starts[shape].iter().enumerate() {
                if let Some(place) = read.get_mut(22 + at) {
                    *place = *octet;
                }
            }
            let kind = if bare { LinkKind::Bare } else { LinkKind::Ethernet };
            match sort(&sorter(kind), &read, SLOW) {
                Sorted::Noise => {}
                Sorted::Control(mut frame) | Sorted::Packet(_, mut frame) => {
                    prop_assert_eq!(frame.with_header(), read);
                    set_ecn(frame.ip(), Ecn::Ce);
                }
                Sorted::Pieces(pieces) => prop_assert!(pieces.len() <= 1 << 16),
            }
        }

        /// A packet that offloading has put together, with any octets in its headers changed.
        #[test]
        fn headers_that_were_tampered_with_are_cut_up_or_not_but_never_end_it(
            changes in proptest::collection::vec((0..80_usize, any::<u8>()), 0..6),
            size in 0..2_000_u16,
        ) {
            let mut read = offloaded(4, &[], 9_000, size);
            for (at, octet) in changes {
                read[at] = octet;
            }
            let sorted = sort(&sorter(LinkKind::Ethernet), &read, SLOW);
            if let Sorted::Pieces(pieces) = sorted {
                prop_assert!(pieces.iter().all(|(_, frame)| frame.octets().len() <= read.len()));
            }
        }
    }
}
