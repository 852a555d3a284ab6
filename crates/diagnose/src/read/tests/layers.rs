//! Every way down to TCP, cut at every length; what is not TCP.

use super::super::layers::{Stamp, frame};
use super::super::tally::{Kind, Outcome};
use super::frames::{self, Framed, TCP_LEN, ethernet, expected, ipv4, ipv6, joined, tcp, udp};
use crate::Seen;
use ackord_units::Time;

const STAMP: Stamp = Stamp { frame: 1, at: Time::ZERO, file: 0, interface: 0, direction: 0 };

fn down(link: u16, bytes: &[u8], wire: usize) -> (Outcome, Option<Seen>) {
    let mut out = Vec::new();
    let outcome = frame(link, bytes, wire as u32, STAMP, &mut out);
    assert_eq!(out.len(), usize::from(outcome == Outcome::Tcp));
    (outcome, out.pop())
}

#[test]
fn every_link_layer_and_every_tunnel_leads_to_the_same_packet() {
    for Framed { name, link, version, bytes } in frames::all() {
        let (outcome, seen) = down(link, &bytes, bytes.len());
        assert_eq!(outcome, Outcome::Tcp, "{name}, version {version}");
        let seen = seen.map(|seen| Seen { hop: 0, radio: None, ..seen });
        let mut expected = expected(version);
        if link == 101 {
            // Extension headers are bytes of the packet.
            expected.ip_len = bytes.len() as u32;
        }
        assert_eq!(seen, Some(expected), "{name}, version {version}");
    }
}

#[test]
fn a_frame_cut_anywhere_tells_as_much_as_is_there() {
    for Framed { name, link, version, bytes } in frames::all() {
        let whole = bytes.len();
        let header = whole - frames::PAYLOAD as usize - TCP_LEN;
        let full = down(link, &bytes, whole).1.expect("TCP");
        for len in 0..whole {
            let context = format!("{name}, version {version}, cut at {len} of {whole}");
            let (outcome, seen) = down(link, &bytes[..len], whole);
            assert_eq!(outcome == Outcome::Tcp, len >= header + 16, "{context}: {outcome:?}");
            let Some(seen) = seen else { continue };
            // What was cut off is not there; what is there is the same.
            let timestamps = full.timestamps.filter(|_| len >= header + 32);
            let sacks = if len >= header + 44 { full.sacks } else { Default::default() };
            let options_cut = len < header + TCP_LEN;
            assert_eq!(seen, Seen { timestamps, sacks, options_cut, ..full }, "{context}");
        }
    }
}

#[test]
fn snap_lengths_of_64_bytes_hold_ethernet_and_ipv4_with_timestamps() {
    let bytes = ethernet(0x0800, &ipv4(6, &tcp()));
    let (outcome, seen) = down(1, &bytes[..66], bytes.len());
    assert_eq!(outcome, Outcome::Tcp);
    assert_eq!(seen.expect("TCP").timestamps, expected(4).timestamps);
    assert_eq!(down(1, &bytes[..64], bytes.len()).0, Outcome::Tcp);
}

#[test]
fn options_are_cut_off_only_where_there_are_some() {
    for with_options in [false, true] {
        let header = if with_options { TCP_LEN } else { 20 };
        let mut tcp = tcp();
        tcp[12] = (header as u8 / 4) << 4;
        let bytes = ethernet(0x0800, &ipv4(6, &tcp));
        for len in 34 + 16..bytes.len() {
            let seen = down(1, &bytes[..len], bytes.len()).1.expect("TCP");
            assert_eq!(
                seen.options_cut,
                with_options && len < 34 + header,
                "{header}, cut at {len}"
            );
        }
    }
}

#[test]
fn a_length_of_zero_is_that_on_the_wire() {
    let mut v4 = ipv4(6, &tcp());
    v4[2..4].copy_from_slice(&[0, 0]);
    let len = v4.len();
    let (_, seen) = down(101, &v4[..60], 70_000 + len);
    assert_eq!(seen.map(|seen| seen.payload_len), Some(frames::PAYLOAD + 70_000));
    let mut v6 = ipv6(6, &tcp());
    v6[4..6].copy_from_slice(&[0, 0]);
    let (_, seen) = down(1, &ethernet(0x86dd, &v6)[..110], 14 + v6.len() + 100_000);
    let seen = seen.expect("TCP");
    assert_eq!((seen.payload_len, seen.ip_len), (frames::PAYLOAD + 100_000, 100_116));
    // With the option that says so (RFC 2675).
    let jumbo = joined(&[&[6, 0, 0xc2, 4, 0, 1, 0x86, 0xa0], &tcp()]);
    let mut v6 = ipv6(0, &jumbo);
    v6[4..6].copy_from_slice(&[0, 0]);
    let (_, seen) = down(101, &v6, v6.len() + 100_000);
    assert_eq!(seen.map(|seen| seen.payload_len), Some(frames::PAYLOAD + 100_000));
}

#[test]
fn padding_of_short_frames_is_no_payload() {
    let mut ip = ipv4(6, &tcp()[..TCP_LEN]);
    ip.extend([0; 40]);
    let bytes = ethernet(0x0800, &ip);
    let (_, seen) = down(1, &bytes, bytes.len());
    assert_eq!(seen.map(|seen| seen.payload_len), Some(0));
}

#[test]
fn options_are_read_in_any_order_and_strange_ones_are_passed_over() {
    let with = |options: &[u8]| {
        let mut tcp = tcp()[..20].to_vec();
        tcp.extend(options);
        tcp.resize(tcp.len().next_multiple_of(4), 0);
        tcp[12] = (tcp.len() as u8 / 4) << 4;
        let ip = ipv4(6, &tcp);
        down(101, &ip, ip.len()).1.expect("TCP")
    };
    let syn = with(&[2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7]);
    assert_eq!((syn.mss, syn.wscale, syn.sack_permitted), (Some(1460), Some(7), true));
    assert_eq!(syn.timestamps, Some((1, 2)));
    let unknown = with(&[254, 6, 1, 2, 3, 4, 28, 4, 0, 1, 3, 3, 9]);
    assert_eq!(unknown.wscale, Some(9));
    let ended = with(&[0, 3, 3, 9]);
    assert_eq!(ended.wscale, None, "behind the end there are no options");
    for malformed in [&[3, 0, 3, 3, 9][..], &[3, 1, 3, 3, 9], &[2, 40, 1, 1], &[8], &[3, 4, 1, 1]] {
        let seen = with(malformed);
        assert_eq!((seen.mss, seen.wscale, seen.timestamps), (None, None, None), "{malformed:?}");
    }
    let blocks = with(&[
        5, 34, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7,
        0, 0, 0, 8,
    ]);
    assert_eq!(blocks.sacks.blocks(), [(1, 2), (3, 4), (5, 6), (7, 8)]);
    let after = with(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!((after.timestamps, after.sacks.blocks()), (Some((1, 2)), &[(1, 2)][..]));
}

#[test]
fn first_fragments_count_and_others_are_fragments() {
    let mut first = ipv4(6, &tcp());
    first[6] = 0x20;
    assert_eq!(down(101, &first, first.len()).0, Outcome::Tcp);
    let mut second = first.clone();
    second[7] = 9;
    let fragment = Outcome::Other(Kind::Fragment);
    assert_eq!(down(101, &second, second.len()).0, fragment);
    let v6 = ipv6(44, &joined(&[&[6, 0, 0, 8 | 1, 0, 0, 0, 1], &tcp()]));
    assert_eq!(down(101, &v6, v6.len()).0, fragment);
}

#[test]
fn what_contradicts_itself_is_malformed() {
    let sound = ipv4(6, &tcp());
    for (at, byte) in [(0, 0x41), (0, 0x4f), (0, 0x75), (3, 30), (32, 0x40)] {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        let outcome = down(101, &bytes[..60.min(bytes.len())], sound.len()).0;
        assert_eq!(outcome, Outcome::Malformed, "byte {at} as {byte:#x}");
    }
    assert_eq!(down(1, &[], 0).0, Outcome::Malformed);
    assert_eq!(down(1, &ethernet(0x0800, &[]), 14).0, Outcome::Malformed);
}

#[test]
fn tunnels_within_tunnels_end() {
    let mut bytes = ipv4(6, &tcp());
    for depth in 1..40 {
        bytes = ipv4(4, &bytes);
        let tcp = depth < 8;
        let outcome = down(101, &bytes, bytes.len()).0;
        assert_eq!(outcome == Outcome::Tcp, tcp, "{depth}: {outcome:?}");
    }
    let tags = [0, 5, 0x81, 0].repeat(100_000);
    assert_eq!(down(1, &ethernet(0x8100, &tags), 1_000).0, Outcome::Malformed);
}

#[test]
fn what_is_not_tcp_has_a_name() {
    let over = |dst, payload: &[u8]| ipv4(17, &udp(40_000, dst, payload));
    let long_header = [&[0xc3, 0, 0, 0, 1, 8][..], &[7; 40]].concat();
    let cases = [
        (over(53, &[1; 30]), Kind::Udp),
        (over(443, &[0x40; 30]), Kind::Quic),
        (over(8443, &long_header), Kind::Quic),
        (over(51820, &[4, 0, 0, 0, 1, 2, 3, 4]), Kind::WireGuard),
        (over(4500, &[0, 0, 0, 0, 1, 2, 3, 4]), Kind::Ike),
        (over(4500, &[1, 0, 0, 0, 1, 2, 3, 4]), Kind::Esp),
        (over(1194, &[1; 30]), Kind::OpenVpn),
        (over(5000, &[23, 0xfe, 0xfd, 0, 0, 0, 0, 0]), Kind::Dtls),
        (over(4789, &[0; 30]), Kind::Udp),
        (ipv4(1, &[8; 30]), Kind::Icmp),
        (ipv6(58, &[8; 30]), Kind::IcmpV6),
        (ipv4(50, &[8; 30]), Kind::Esp),
        (ipv4(132, &[8; 30]), Kind::Sctp),
        (ipv4(47, &[0, 0, 0x12, 0x34, 1, 2, 3, 4]), Kind::Gre),
        (ipv4(89, &[8; 30]), Kind::OtherIp),
        (ipv6(59, &[]), Kind::OtherIp),
    ];
    for (bytes, kind) in cases {
        assert_eq!(down(101, &bytes, bytes.len()).0, Outcome::Other(kind));
    }
    for (ether_type, kind) in [
        (0x0806, Kind::Arp),
        (0x88cc, Kind::Lldp),
        (0x88e5, Kind::MacSec),
        (0x0026, Kind::Llc),
        (0x9999, Kind::OtherEther),
    ] {
        let bytes = ethernet(ether_type, &[0x42; 46]);
        assert_eq!(down(1, &bytes, bytes.len()).0, Outcome::Other(kind));
    }
    assert_eq!(down(147, &[0; 60], 60).0, Outcome::UnknownLink(147));
}
