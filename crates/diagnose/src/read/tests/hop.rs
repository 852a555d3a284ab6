//! Fingerprints of capture points: [`Seen::hop`].

use super::files::{self, ORDERS, Order};
use super::frames::{self, ethernet, ipv4, joined, tcp};
use super::sound;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The fingerprints of the frames of a pcap file.
fn hops(link: u32, frames: &[Vec<u8>]) -> Vec<u32> {
    let (seen, about) = sound(&files::pcap(Order::Little, files::MICROS, link, frames));
    assert_eq!(about.tcp, frames.len() as u64);
    seen.iter().map(|seen| seen.hop).collect()
}

/// Holds that all of them differ, and that none is zero.
fn differ(hops: &[u32]) {
    let distinct: BTreeSet<_> = hops.iter().collect();
    assert_eq!(distinct.len(), hops.len(), "{hops:?}");
    assert!(!distinct.contains(&0), "{hops:?}");
}

/// Another packet of the same direction of the connection.
fn next_packet() -> Vec<u8> {
    let mut next = tcp();
    next[7] ^= 0x55;
    next[15] ^= 0x0f;
    let mut ip = ipv4(6, &next);
    ip[5] ^= 1;
    ip[8] -= 1;
    ip
}

/// A frame of Linux's first cooked header.
fn cooked(packet_type: u8, address: &[u8; 8], ip: &[u8]) -> Vec<u8> {
    joined(&[&[0, packet_type, 0, 1, 0, 6], address, &[8, 0], ip])
}

/// A frame of the second.
fn cooked2(interface: u8, packet_type: u8, address: &[u8; 8], ip: &[u8]) -> Vec<u8> {
    joined(&[&[8, 0, 0, 0, 0, 0, 0, interface, 0, 1, packet_type, 6], address, ip])
}

#[test]
fn copies_at_two_interfaces_of_a_router_differ() {
    let ip = ipv4(6, &tcp());
    let (peer, own) = (&[2, 0, 0, 0, 0, 1, 0, 0], &[2, 0, 0, 0, 0, 2, 0, 0]);
    differ(&hops(113, &[cooked(0, peer, &ip), cooked(4, own, &ip)]));
    // Devices without addresses, as tunnels.
    differ(&hops(113, &[cooked(4, &[0; 8], &ip), cooked(4, own, &ip)]));
    let frames = [cooked2(2, 0, peer, &ip), cooked2(3, 4, peer, &ip), cooked2(4, 4, peer, &ip)];
    differ(&hops(276, &frames));
    // A relay or a router seen from one interface; a switch, from a trunk.
    let mut relayed = ethernet(0x0800, &ip);
    relayed[5] = 9;
    let [tagged, other] = [5, 6].map(|vlan| ethernet(0x8100, &joined(&[&[0, vlan, 8, 0], &ip])));
    differ(&hops(1, &[ethernet(0x0800, &ip), relayed, tagged, other]));
}

#[test]
fn copies_in_a_mirror_differ_by_the_mirrored_addresses() {
    let mirror = |frame: &[u8]| ethernet(0x0800, &ipv4(47, &joined(&[&[0, 0, 0x88, 0xbe], frame])));
    let inner = ethernet(0x0800, &ipv4(6, &tcp()));
    let mut relayed = inner.clone();
    relayed[11] ^= 1;
    differ(&hops(1, &[mirror(&inner), mirror(&relayed)]));
}

#[test]
fn copies_on_two_interfaces_of_a_file_differ_and_so_do_directions() {
    let frame = ethernet(0x0800, &ipv4(6, &tcp()));
    for (link, frame) in [(1, &frame[..]), (101, &frame[14..])] {
        for order in ORDERS {
            let flags = |bits: u32| files::option(order, 2, &order.u32(bits));
            let mut file = files::section(order);
            for _ in 0..3 {
                file.extend(files::interface(order, link, 0, &[]));
            }
            for (interface, bits) in [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (1, 2)] {
                file.extend(files::enhanced(order, interface, 1, frame, &flags(bits)));
            }
            // The kind of reception and the length of the check sequence are of single packets.
            file.extend(files::enhanced(order, 1, 1, frame, &flags(0b1010_0110)));
            let (seen, _) = sound(&file);
            let hops: Vec<_> = seen.iter().map(|seen| seen.hop).collect();
            differ(&hops[..6]);
            assert_eq!(hops[6], hops[5]);
        }
    }
}

#[test]
fn packets_without_anything_of_the_capture_point_have_no_fingerprint() {
    assert_eq!(hops(101, &[ipv4(6, &tcp()), next_packet()]), [0, 0]);
}

#[test]
fn packets_of_one_direction_at_one_point_agree() {
    let (first, next) = (ipv4(6, &tcp()), next_packet());
    let same = |link: u32, frame: &dyn Fn(&[u8]) -> Vec<u8>| {
        let hops = hops(link, &[frame(&first), frame(&next)]);
        assert_eq!(hops[0], hops[1], "link type {link}");
    };
    same(1, &|ip| ethernet(0x0800, ip));
    same(113, &|ip| cooked(4, &[2, 0, 0, 0, 0, 1, 0, 0], ip));
    same(276, &|ip| cooked2(7, 4, &[2, 0, 0, 0, 0, 1, 0, 0], ip));
}

#[test]
fn padding_of_addresses_and_priorities_are_no_part_of_it() {
    let ip = ipv4(6, &tcp());
    let [zeros, other] = [0, 0xee].map(|tail| cooked(4, &[2, 0, 0, 0, 0, 1, tail, tail], &ip));
    let hops_cooked = hops(113, &[zeros, other]);
    assert_eq!(hops_cooked[0], hops_cooked[1]);
    let tagged = |priority: u8| ethernet(0x8100, &joined(&[&[priority << 5, 5, 8, 0], &ip]));
    let hops_tagged = hops(1, &[tagged(0), tagged(5)]);
    assert_eq!(hops_tagged[0], hops_tagged[1]);
}

proptest! {
    #[test]
    fn payload_and_what_varies_from_packet_to_packet_are_no_part_of_it(
        which in any::<prop::sample::Index>(),
        changed in vec(any::<u8>(), frames::PAYLOAD as usize),
    ) {
        let all = frames::all();
        let framed = which.get(&all);
        let mut other = framed.bytes.clone();
        let len = other.len();
        other[len - frames::PAYLOAD as usize..].copy_from_slice(&changed);
        let head = len - frames::PAYLOAD as usize - frames::TCP_LEN;
        // Sequence number, acknowledgment number, window.
        other[head + 4..head + 12].copy_from_slice(&changed[..8]);
        other[head + 14..head + 16].copy_from_slice(&changed[8..10]);
        let hops = hops(u32::from(framed.link), &[framed.bytes.clone(), other]);
        prop_assert_eq!(hops[0], hops[1], "{}", framed.name);
    }
}
