//! The packet in frames of the rarer link layers, and in tunnels of access points and switches.

use super::files::{self, Order};
use super::frames::{Framed, PAYLOAD, ethernet, ipv4, joined, tcp, udp};
use super::{sound, wireless};

/// The packet in each of these.
pub(super) fn all(version: u8, ether_type: u16, ip: &[u8]) -> Vec<Framed> {
    let links = links(version, ether_type, ip).into_iter();
    let tunnels = tunnels(version, ether_type, ip).into_iter();
    let tunnels = tunnels.map(|(name, bytes)| (name, 1, bytes));
    // The first version of WCCP redirects IPv4 only.
    let redirected = ethernet(0x0800, &ipv4(47, &joined(&[&[0, 0, 0x88, 0x3e], ip])));
    let redirected = (version == 4).then_some(("WCCP", 1, redirected));
    let all = links.chain(tunnels).chain(redirected);
    all.map(|(name, link, bytes)| Framed { name, link, version, bytes }).collect()
}

fn links(version: u8, ether_type: u16, ip: &[u8]) -> Vec<(&'static str, u16, Vec<u8>)> {
    let kind = ether_type.to_be_bytes();
    let ppp = if version == 4 { [0, 0x21] } else { [0, 0x57] };
    let family: u8 = if version == 4 { 2 } else { 30 };
    // OpenBSD's and macOS's numbers of IPv6.
    let enc_family: u8 = if version == 4 { 2 } else { 24 };
    let frame = ethernet(ether_type, ip);
    let tagged = |tag: &[u8]| joined(&[&frame[..12], tag, &frame[12..]]);
    let pppoe_len = (ip.len() as u16 + 2).to_be_bytes();
    let cisco = joined(&[&[0x0f, 0], &kind, ip]);
    let pflog =
        joined(&[&[61, family, 0, 0], b"em0\0\0\0\0\0\0\0\0\0\0\0\0\0", &[0; 40], &[1, 0, 0, 0]]);
    let local = |next: u8| [0, next, 0, 7, 0, 40, 0, 9];
    let transport = |operation: u8| [operation, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1];
    vec![
        ("Cisco's framing as PPP", 50, cisco.clone()),
        ("Cisco's framing as PPP, to all", 50, joined(&[&[0x8f, 0], &kind, ip])),
        ("PPPoE session", 51, joined(&[&[0x11, 0, 0, 9], &pppoe_len, &ppp, ip])),
        ("pppd", 166, joined(&[&[1, 3], &ppp, ip])),
        ("PPP with direction", 204, joined(&[&[1, 0xff, 3], &ppp, ip])),
        ("Cisco HDLC with direction", 205, joined(&[&[0], &cisco])),
        ("FDDI", 10, joined(&[&[0x50], &frame[..12], &wireless::snap(ether_type, ip)])),
        ("LLC over ATM", 100, wireless::snap(ether_type, ip)),
        ("enc", 109, joined(&[&[enc_family, 0, 0, 0], &[1; 8], ip])),
        ("pflog", 117, joined(&[&pflog, ip])),
        ("MPLS link", 219, joined(&[&[0, 1, 0x11, 64], ip])),
        ("netANALYZER", 240, joined(&[&[0x10, 1, 0, 0], &frame])),
        (
            "netANALYZER with preamble",
            241,
            joined(&[&[0x10, 1, 0, 0], &[0x55; 7], &[0xd5], &frame]),
        ),
        ("IP over InfiniBand", 242, joined(&[&[0; 8], &[3; 32], &kind, &[0, 0], ip])),
        (
            "InfiniBand datagram",
            247,
            joined(&[&local(2), &transport(0x64), &[0; 8], &kind, &[0, 0], ip]),
        ),
        (
            "InfiniBand, routed, connected",
            247,
            joined(&[&local(3), &[0x60], &[9; 39], &transport(4), &kind, &[0, 0], ip]),
        ),
        ("Broadcom's switch tag", 281, tagged(&[0, 0, 0, 3])),
        ("Broadcom's switch tag in front", 282, joined(&[&[0, 0, 0, 3], &frame])),
        ("Marvell's switch tag", 284, tagged(&[0xc0, 3 << 3, 0, 0])),
        ("Marvell's switch tag with a type", 285, tagged(&[0xda, 0xda, 0, 0, 0xc0, 3 << 3, 0, 0])),
        ("Marvell's switch tag on Ethernet", 1, tagged(&[0xda, 0xda, 0, 0, 0xc0, 3 << 3, 0, 0])),
        ("I-TAG", 1, ethernet(0x88e7, &joined(&[&[0, 0, 0, 5], &frame]))),
        ("VN-Tag", 1, ethernet(0x8926, &joined(&[&[0, 1, 0, 2], &kind, ip]))),
        ("R-Tag", 1, ethernet(0xf1c1, &joined(&[&[0, 0, 0, 2], &kind, ip]))),
    ]
}

fn tunnels(version: u8, ether_type: u16, ip: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let over_ip = |protocol, inner: &[u8]| ethernet(0x0800, &ipv4(protocol, inner));
    let over = |port, inner: &[u8]| over_ip(17, &udp(40_000, port, inner));
    let kind = ether_type.to_be_bytes();
    let next = if version == 4 { 1 } else { 2 };
    let frame = ethernet(ether_type, ip);
    let wifi = joined(&[&wireless::header(0x88, 2, &[0, 0]), &wireless::snap(ether_type, ip)]);
    let mut swapped = wifi.clone();
    swapped.swap(0, 1);
    // Header of two words; of four with an address of the radio; native frames of binding 1.
    let capwap = [0, 2 << 3, 0x43, 0x00, 0, 0, 0, 0];
    let with_radio = joined(&[&[0, 4 << 3, 0x43, 0x10, 0, 0, 0, 0], &[6, 2, 0, 0, 0, 0, 1, 0]]);
    vec![
        ("VXLAN-GPE", over(4790, &joined(&[&[0x0c, 0, 0, next, 0, 0, 5, 0], ip]))),
        ("VXLAN-GPE, Ethernet", over(4790, &joined(&[&[0x0c, 0, 0, 3, 0, 0, 5, 0], &frame]))),
        (
            "VXLAN-GPE, NSH",
            over(
                4790,
                &joined(&[
                    &[0x0c, 0, 0, 4, 0, 0, 5, 0],
                    &[0x0f, 0xc6, 1, next, 0, 0, 1, 255],
                    &[0; 16],
                    ip,
                ]),
            ),
        ),
        ("NSH", ethernet(0x894f, &joined(&[&[0x0f, 0xc2, 2, 3, 0, 0, 1, 255], &frame]))),
        ("GRE in UDP", over(4754, &joined(&[&[0x20, 0], &kind, &[0, 0, 0, 7], ip]))),
        ("MPLS in UDP", over(6635, &joined(&[&[0, 1, 0x11, 64], ip]))),
        ("EoIP", over_ip(47, &joined(&[&[0x20, 1, 0x64, 0, 0, 60, 7, 0], &frame]))),
        ("WCCP 2", over_ip(47, &joined(&[&[0, 0, 0x88, 0x3e], &[0, 0, 1, 2], ip]))),
        ("Aruba", over_ip(47, &joined(&[&[0, 0, 0x82, 0], &wifi]))),
        ("CAPWAP", over(5247, &joined(&[&capwap, &wifi]))),
        ("CAPWAP, swapped", over(5247, &joined(&[&with_radio, &swapped]))),
        ("CAPWAP, Ethernet", over(5247, &joined(&[&[0, 2 << 3, 0x42, 0, 0, 0, 0, 0], &frame]))),
    ]
}

/// Not among those above: its frames have a check sequence, which tshark takes off.
#[test]
fn fabric_path_carries_ethernet() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    let file = files::pcap(
        Order::Big,
        files::MICROS,
        1,
        &[ethernet(0x8903, &joined(&[&[0, 5], &frame, &[9; 4]]))],
    );
    let seen = sound(&file).0[0];
    assert_eq!((seen.payload_len, seen.ip_len), (PAYLOAD, frame.len() as u32 - 14));
}
