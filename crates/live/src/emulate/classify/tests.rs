//! Whose a packet is, and what is none.

use super::*;
use ackord_units::Seq;
use ackord_wire::{Ecn, Flags, IpFields, Payload, Segment, encode, encode_packet, host_address};
use proptest::prelude::*;

fn scenario() -> Scenario {
    let file = ackord_scenario::ScenarioFile::from_library("lossy-wifi").expect("it is there");
    file.check().expect("sound")
}

fn table(scenario: &Scenario) -> (FlowTable, Directory) {
    (FlowTable::new(scenario), Directory::of_hosts(scenario))
}

fn tcp(src: SocketAddr, dst: SocketAddr) -> Vec<u8> {
    let segment = Segment { seq: Seq(7), flags: Flags::ACK, payload_len: 5, ..Segment::default() };
    let ip = IpFields { ecn: Ecn::Ect0, ..IpFields::default() };
    let mut bytes = Vec::new();
    encode(Endpoints { src, dst }, ip, &segment, Payload::Bytes(b"hello"), &mut bytes)
        .expect("sound");
    bytes
}

#[test]
fn a_scenario_s_flow_is_known_by_its_addresses_both_ways() {
    let scenario = scenario();
    let (mut flows, directory) = table(&scenario);
    let flow = &scenario.flows[0];
    let nodes = FlowNodes { client: flow.client, server: flow.server };
    let addresses = FlowAddresses::of(FlowId(0), nodes, IpVersion::V4);
    for (src, side) in [(flow.client, Side::Client), (flow.server, Side::Server)] {
        let endpoints = addresses.endpoints(side);
        let bytes = tcp(endpoints.src, endpoints.dst);
        let found = flows.classify(&bytes, src, &directory).expect("sound");
        assert_eq!((found.packet.flow, found.packet.from), (FlowId(0), side));
        assert_eq!((found.packet.src, found.packet.ecn), (src, Ecn::Ect0));
        assert_eq!(&bytes[found.payload], b"hello");
        assert_eq!(found.packet.ip_len as usize, bytes.len());
        assert_eq!(flows.endpoints(FlowId(0), side), Some(endpoints));
    }
}

#[test]
fn others_are_numbered_as_they_are_seen_and_the_first_to_speak_is_the_client() {
    let scenario = scenario();
    let (mut flows, directory) = table(&scenario);
    let flow = &scenario.flows[0];
    let at = |node, port, ip| SocketAddr::new(host_address(node, ip), port);
    for (ip, number) in [(IpVersion::V4, 1), (IpVersion::V6, 2)] {
        let (here, there) = (at(flow.server, 80, ip), at(flow.client, 4_000, ip));
        let mut number_of = |src: SocketAddr, dst: SocketAddr, node| {
            let found = flows.classify(&tcp(src, dst), node, &directory).expect("sound");
            (found.packet.flow, found.packet.from)
        };
        assert_eq!(number_of(here, there, flow.server), (FlowId(number), Side::Client));
        assert_eq!(number_of(there, here, flow.client), (FlowId(number), Side::Server));
        let endpoints = Endpoints { src: there, dst: here };
        assert_eq!(flows.endpoints(FlowId(number), Side::Server), Some(endpoints));
    }
    assert_eq!(flows.endpoints(FlowId(3), Side::Client), None);
}

#[test]
fn the_oldest_of_too_many_is_forgotten_and_the_rest_keep_their_numbers() {
    let scenario = scenario();
    let (mut flows, directory) = table(&scenario);
    let flow = &scenario.flows[0];
    let dst = SocketAddr::new(host_address(flow.server, IpVersion::V4), 53);
    let mut see = |n: u32| {
        let src = SocketAddr::new(IpAddr::from((n + 1).to_be_bytes()), 9);
        flows.classify(&tcp(src, dst), flow.client, &directory).expect("sound").packet.flow
    };
    for n in 0..=MOST_OTHERS as u32 {
        assert_eq!(see(n), FlowId(n + 1));
    }
    let most = MOST_OTHERS as u32;
    assert_eq!((see(5), see(0)), (FlowId(6), FlowId(most + 2)));
    assert_eq!(flows.endpoints(FlowId(1), Side::Client), None);
    assert!(flows.endpoints(FlowId(most + 2), Side::Client).is_some());
}

#[test]
fn datagrams_have_ports_and_fragments_have_none() {
    let scenario = scenario();
    let (mut flows, directory) = table(&scenario);
    let flow = &scenario.flows[0];
    let nodes = FlowNodes { client: flow.client, server: flow.server };
    let addresses = FlowAddresses::of(FlowId(9), nodes, IpVersion::V4);
    let packet = Packet {
        flow: FlowId(9),
        from: Side::Client,
        src: flow.client,
        dst: flow.server,
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 100,
        tag: 0,
        tcp: None,
    };
    let mut bytes = Vec::new();
    encode_packet(&packet, &addresses, 1, &mut bytes).expect("sound");
    let found = flows.classify(&bytes, flow.client, &directory).expect("sound").packet;
    assert_eq!((found.ip_len, found.tcp, flows.is_udp(found.flow)), (100, None, true));
    assert_eq!(flows.endpoints(found.flow, Side::Client), Some(addresses.endpoints(Side::Client)));
    // More fragments follow.
    bytes[6] = 0x20;
    bytes[10..12].fill(0);
    let words = bytes[..20].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
    let sum: u32 = words.sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    let fragment = flows.classify(&bytes, flow.client, &directory).expect("sound").packet;
    assert_eq!((fragment.ip_len, flows.is_udp(fragment.flow)), (100, false));
}

#[test]
fn what_nobody_owns_is_ignored() {
    let scenario = scenario();
    let (mut flows, directory) = table(&scenario);
    let client = scenario.flows[0].client;
    let src = SocketAddr::new(host_address(client, IpVersion::V4), 5);
    for dst in ["224.0.0.251:5353", "192.0.2.1:80", "255.255.255.255:67"] {
        let dst = dst.parse().expect("an address");
        let answer = flows.classify(&tcp(src, dst), client, &directory);
        assert_eq!(answer.map(|_| ()), Err(TurnedAway::Ignored), "{dst}");
    }
    let own = flows.classify(&tcp(src, src), client, &directory).map(|_| ());
    assert_eq!(own, Err(TurnedAway::Ignored));
    assert_eq!(flows.next, 1, "nothing was numbered");
}

proptest! {
    #[test]
    fn no_bytes_whatever_break_it(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..120),
        first in prop_oneof![Just(0x45u8), Just(0x60), Just(0x4f), any::<u8>()],
    ) {
        let scenario = scenario();
        let (mut flows, mut directory) = table(&scenario);
        directory.elsewhere = Some(NodeId(1));
        if let Some(byte) = bytes.first_mut() {
            *byte = first;
        }
        let _ = flows.classify(&bytes, NodeId(0), &directory);
    }

    #[test]
    fn a_damaged_packet_is_turned_away_or_still_a_packet(
        at in 0usize..60, change in 1u8..=255,
    ) {
        let scenario = scenario();
        let (mut flows, directory) = table(&scenario);
        let flow = &scenario.flows[0];
        let of = |node, port| SocketAddr::new(host_address(node, IpVersion::V4), port);
        let mut bytes = tcp(of(flow.client, 1), of(flow.server, 2));
        let at = at % bytes.len();
        bytes[at] ^= change;
        if let Ok(found) = flows.classify(&bytes, flow.client, &directory) {
            prop_assert!(found.packet.ip_len as usize <= bytes.len());
        }
    }
}
