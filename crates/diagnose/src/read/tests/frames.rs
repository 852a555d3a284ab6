//! One packet in every link layer and tunnel, put together by hand.

use crate::{Address, Sacks, Seen};
use ackord_units::Time;
use ackord_wire::Flags;

/// Bytes of payload of the packet.
pub(super) const PAYLOAD: u32 = 32;
/// Its TCP header: timestamps and one SACK block.
pub(super) const TCP_LEN: usize = 44;

/// What is to be seen of the packet in any frame, by the version of IP.
pub(super) fn expected(version: u8) -> Seen {
    let mut sacks = Sacks::default();
    sacks.push((0x0102_0304, 0x0102_0a04));
    let (src, dst, ip_header) = if version == 4 {
        (Address::v4([10, 1, 2, 3], 443), Address::v4([10, 9, 8, 7], 50000), 20)
    } else {
        let ip = |last| {
            let mut ip = [0; 16];
            ip[0] = 0xfd;
            ip[15] = last;
            ip
        };
        (Address { ip: ip(1), port: 443 }, Address { ip: ip(2), port: 50000 }, 40)
    };
    Seen {
        frame: 1,
        at: Time::ZERO,
        file: 0,
        interface: 0,
        src,
        dst,
        seq: 0xdead_beef,
        ack: 0xcafe_f00d,
        window: 0x1234,
        flags: Flags::ACK | Flags::PSH,
        payload_len: PAYLOAD,
        ip_len: ip_header + TCP_LEN as u32 + PAYLOAD,
        ip_id: if version == 4 { 0xabcd } else { 0 },
        ttl: 61,
        ecn: 2,
        mss: None,
        wscale: None,
        sack_permitted: false,
        timestamps: Some((0x1111_2222, 0x3333_4444)),
        sacks,
        options_cut: false,
        hop: 0,
        radio: None,
    }
}

/// Pieces one after the other.
pub(super) fn joined(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

/// The TCP header and its payload.
pub(super) fn tcp() -> Vec<u8> {
    let mut tcp = vec![0x01, 0xbb, 0xc3, 0x50];
    tcp.extend(0xdead_beef_u32.to_be_bytes());
    tcp.extend(0xcafe_f00d_u32.to_be_bytes());
    tcp.extend([(TCP_LEN as u8 / 4) << 4, 0x18, 0x12, 0x34, 0, 0, 0, 0]);
    tcp.extend([1, 1, 8, 10, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44]);
    tcp.extend([1, 1, 5, 10, 1, 2, 3, 4, 1, 2, 10, 4]);
    tcp.extend([0x55; PAYLOAD as usize]);
    tcp
}

/// An IPv4 packet.
pub(super) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len()) as u16;
    let mut ip = vec![0x45, 0x02];
    ip.extend(len.to_be_bytes());
    ip.extend([0xab, 0xcd, 0x40, 0, 61, protocol, 0, 0, 10, 1, 2, 3, 10, 9, 8, 7]);
    ip.extend(payload);
    ip
}

/// An IPv6 packet.
pub(super) fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut ip = vec![0x60, 0x20, 0, 0];
    ip.extend((payload.len() as u16).to_be_bytes());
    ip.extend([next, 61]);
    for last in [1, 2] {
        ip.push(0xfd);
        ip.extend([0; 14]);
        ip.push(last);
    }
    ip.extend(payload);
    ip
}

/// A UDP datagram.
pub(super) fn udp(src: u16, dst: u16, payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len()) as u16;
    let ports = [src.to_be_bytes(), dst.to_be_bytes(), len.to_be_bytes(), [0, 0]].concat();
    joined(&[&ports, payload])
}

/// An Ethernet frame.
pub(super) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    joined(&[&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], &ether_type.to_be_bytes(), payload])
}

/// A frame of a kind.
pub(super) struct Framed {
    pub(super) name: &'static str,
    pub(super) link: u16,
    pub(super) version: u8,
    pub(super) bytes: Vec<u8>,
}

/// The packet in every kind of frame that is understood.
pub(super) fn all() -> Vec<Framed> {
    let mut all = Vec::new();
    for version in [4, 6] {
        let ip = if version == 4 { ipv4(6, &tcp()) } else { ipv6(6, &tcp()) };
        let ether_type = if version == 4 { 0x0800 } else { 0x86dd };
        for (name, link, bytes) in links(version, ether_type, &ip) {
            all.push(Framed { name, link, version, bytes });
        }
        for (name, bytes) in tunnels(version, ether_type, &ip) {
            all.push(Framed { name, link: 1, version, bytes });
        }
        all.extend(super::devices::all(version, ether_type, &ip));
        all.extend(super::wireless::all(version, ether_type, &ip));
    }
    for (name, bytes) in extended() {
        all.push(Framed { name, link: 101, version: 6, bytes });
    }
    all
}

/// In every link layer.
fn links(version: u8, ether_type: u16, ip: &[u8]) -> Vec<(&'static str, u16, Vec<u8>)> {
    let kind = ether_type.to_be_bytes();
    let ppp = if version == 4 { [0, 0x21] } else { [0, 0x57] };
    let family: u8 = if version == 4 { 2 } else { 10 };
    let bsd_family: u8 = if version == 4 { 2 } else { 30 };
    let nflog = joined(&[&[
        family, 0, 0, 5, 8, 0, 1, 0, kind[0], kind[1], 3, 0, 7, 0, 10, 0, b'p', b'i', b'n', 0,
    ]]);
    let payload_len = (ip.len() as u16 + 4).to_le_bytes();
    let pktap = |link: u8| {
        let mut head = vec![0; 108];
        head[0] = 108;
        head[4] = 1;
        head[8] = link;
        head
    };
    vec![
        ("Ethernet", 1, ethernet(ether_type, ip)),
        ("VLAN", 1, ethernet(0x8100, &joined(&[&[0, 5], &kind, ip]))),
        ("QinQ", 1, ethernet(0x88a8, &joined(&[&[0, 5, 0x81, 0, 0, 6], &kind, ip]))),
        (
            "SNAP",
            1,
            ethernet(ip.len() as u16 + 8, &joined(&[&[0xaa, 0xaa, 3, 0, 0, 0], &kind, ip])),
        ),
        ("raw", 101, ip.to_vec()),
        ("raw 12", 12, ip.to_vec()),
        ("raw 14", 14, ip.to_vec()),
        ("raw of one version", if version == 4 { 228 } else { 229 }, ip.to_vec()),
        ("cooked 1", 113, joined(&[&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0], &kind, ip])),
        ("cooked 2", 276, joined(&[&kind, &[0, 0, 0, 0, 0, 2, 0, 1, 0, 6], &[2; 8], ip])),
        ("null", 0, joined(&[&[bsd_family, 0, 0, 0], ip])),
        ("loop", 108, joined(&[&[0, 0, 0, bsd_family], ip])),
        ("PPP", 9, joined(&[&ppp, ip])),
        ("PPP, compressed", 9, joined(&[&ppp[1..], ip])),
        ("PPP in HDLC", 50, joined(&[&[0xff, 3], &ppp, ip])),
        ("Cisco HDLC", 104, joined(&[&[0x0f, 0], &kind, ip])),
        ("NFLOG", 239, joined(&[&nflog, &payload_len, &[9, 0], ip])),
        ("PKTAP, Ethernet", 258, joined(&[&pktap(1), &ethernet(ether_type, ip)])),
        ("PKTAP, raw", 258, joined(&[&pktap(101), ip])),
    ]
}

/// In every tunnel, over Ethernet and IPv4.
fn tunnels(version: u8, ether_type: u16, ip: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let kind = ether_type.to_be_bytes();
    let ppp: [u8; 2] = if version == 4 { [0, 0x21] } else { [0, 0x57] };
    let over_ip = |protocol, inner: &[u8]| ethernet(0x0800, &ipv4(protocol, inner));
    let over_ip6 = |next, inner: &[u8]| ethernet(0x86dd, &ipv6(next, inner));
    let frame = ethernet(ether_type, ip);
    let pppoe_len = (ip.len() as u16 + 2).to_be_bytes();
    let ip_in_ip = if version == 4 { 4 } else { 41 };
    let gtp_len = (ip.len() as u16 + 4).to_be_bytes();
    let ppp_len = (ip.len() as u16 + 2).to_be_bytes();
    vec![
        ("PPPoE", ethernet(0x8864, &joined(&[&[0x11, 0, 0, 9], &pppoe_len, &ppp, ip]))),
        ("MPLS", ethernet(0x8847, &joined(&[&[0, 1, 0, 64, 0, 1, 0x11, 64], ip]))),
        ("IP in IPv4", over_ip(ip_in_ip, ip)),
        ("IP in IPv6", over_ip6(ip_in_ip, ip)),
        ("MPLS in IP", over_ip(137, &joined(&[&[0, 1, 0x11, 64], ip]))),
        ("EtherIP", over_ip(97, &joined(&[&[0x30, 0], &frame]))),
        ("GRE", over_ip(47, &joined(&[&[0, 0], &kind, ip]))),
        ("GRE with key and sequence", over_ip(47, &joined(&[&[0x30, 0], &kind, &[0; 8], ip]))),
        ("GRE, bridged", over_ip(47, &joined(&[&[0, 0, 0x65, 0x58], &frame]))),
        (
            "PPTP",
            over_ip(
                47,
                &joined(&[&[0x30, 0x81, 0x88, 0x0b], &ppp_len, &[0, 1], &[0; 8], &ppp, ip]),
            ),
        ),
        ("ERSPAN I", over_ip(47, &joined(&[&[0, 0, 0x88, 0xbe], &frame]))),
        (
            "ERSPAN II",
            over_ip(
                47,
                &joined(&[
                    &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1],
                    &[0x10, 0, 0, 0, 0, 0, 0, 0],
                    &frame,
                ]),
            ),
        ),
        ("VXLAN", over_ip(17, &udp(9, 4789, &joined(&[&[8, 0, 0, 0, 0, 0, 5, 0], &frame])))),
        (
            "Geneve",
            over_ip(
                17,
                &udp(9, 6081, &joined(&[&[1, 0, 0x65, 0x58, 0, 0, 5, 0, 0, 1, 0, 0], &frame])),
            ),
        ),
        (
            "GTP",
            over_ip(
                17,
                &udp(9, 2152, &joined(&[&[0x32, 0xff], &gtp_len, &[0, 0, 0, 7, 0, 1, 0, 0], ip])),
            ),
        ),
    ]
}

/// Behind extension headers of IPv6.
fn extended() -> Vec<(&'static str, Vec<u8>)> {
    let tcp = tcp();
    let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let options = [6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let authentication = [6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    vec![
        ("hop-by-hop and destination options", ipv6(0, &joined(&[&hop_by_hop, &options, &tcp]))),
        ("authentication", ipv6(51, &joined(&[&authentication, &tcp]))),
        ("a fragment that is the whole", ipv6(44, &joined(&[&[6, 0, 0, 0, 0, 0, 0, 1], &tcp]))),
    ]
}
