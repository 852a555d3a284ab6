//! UDP and echo through the gateway.

use super::bench::{BASE, Bench, MTU};
use crate::relay::{Relay, RelayOptions};
use ackord_units::{Span, Time};
use ackord_wire::{Endpoints, IpFields, Payload, decode_ip, decode_udp, encode_udp};
use etherparse::PacketBuilder;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread;

const CLIENT: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 2);
const CLIENT_V6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2);

fn ends(port: u16, to: SocketAddr) -> Endpoints {
    let own: IpAddr = if to.is_ipv4() { CLIENT.into() } else { CLIENT_V6.into() };
    Endpoints { src: SocketAddr::new(own, port), dst: to }
}

fn datagram(ends: Endpoints, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_udp(ends, IpFields::default(), Payload::Bytes(payload), &mut bytes).expect("fits");
    bytes
}

/// A server that answers `count` datagrams with what they carry, `times` over.
fn echo(at: &str, count: usize, times: usize) -> u16 {
    let socket = UdpSocket::bind((at, 0)).expect("a port");
    let port = socket.local_addr().expect("its own").port();
    thread::spawn(move || {
        let mut buffer = [0; 2_000];
        for _ in 0..count {
            let (len, from) = socket.recv_from(&mut buffer).expect("a datagram");
            let answer = buffer[..len].repeat(times);
            socket.send_to(&answer, from).expect("sent");
        }
    });
    port
}

#[test]
fn a_datagram_is_answered_from_where_it_was_sent_to() {
    for (own, base) in [("127.0.0.1", IpAddr::V4(BASE.v4)), ("::1", IpAddr::V6(BASE.v6))] {
        let port = echo(own, 2, 1);
        let mut bench = Bench::new();
        let (one, other) =
            (ends(700, SocketAddr::new(base, port)), ends(701, SocketAddr::new(base, port)));
        bench.write(&datagram(one, b"one"));
        bench.write(&datagram(other, b"another"));
        assert!(bench.until(|bench| bench.others.len() == 2));
        for (ends, payload) in [(one, &b"one"[..]), (other, b"another")] {
            let found = bench.others.iter().any(|bytes| {
                let read = decode_udp(bytes).expect("a sound datagram");
                read.endpoints == ends.reversed() && bytes[read.payload] == *payload
            });
            assert!(found, "no answer to {ends:?}");
        }
        assert_eq!(bench.relay.report().flows, 2);
    }
}

#[test]
fn a_flow_ends_when_it_is_idle_and_too_many_push_out_the_oldest() {
    let mut relay = Relay::new(&RelayOptions::new(BASE, MTU)).expect("a descriptor");
    let sink = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = sink.local_addr().expect("its own").port();
    let to = SocketAddr::new(BASE.v4.into(), port);
    let at = |secs| Time::ZERO + Span::from_secs(secs);
    relay.write(at(0), &datagram(ends(1, to), b"x"));
    relay.write(at(100), &datagram(ends(2, to), b"x"));
    relay.write(at(110), &datagram(ends(1, to), b"x"));
    let mut left = Vec::new();
    while let Some(due) = relay.deadline() {
        relay.handle_deadline(due);
        left.push((due.saturating_since(Time::ZERO).as_nanos() / 1_000_000_000, relay.flows.len()));
    }
    let ended = |count| left.iter().find(|(_, flows)| *flows < count).expect("it ends").0;
    assert!((220..=225).contains(&ended(2)), "{left:?}");
    assert!((230..=235).contains(&ended(1)), "{left:?}");
    for port in 0..300 {
        relay.write(at(1_000 + u64::from(port)), &datagram(ends(port + 1, to), b"x"));
    }
    let report = relay.report();
    assert_eq!((report.most_flows, report.flows_cut_short), (256, 44));
    assert_eq!(relay.flows.len(), 256);
}

#[test]
fn an_answer_longer_than_the_device_takes_is_dropped_and_counted() {
    let port = echo("127.0.0.1", 1, 2);
    let mut bench = Bench::new();
    let ends = ends(700, SocketAddr::new(BASE.v4.into(), port));
    bench.write(&datagram(ends, &[7; 1_000]));
    assert!(bench.until(|bench| bench.relay.report().datagrams_dropped == 1));
    assert!(bench.others.is_empty());
}

#[test]
fn a_closed_port_is_told_as_the_kernel_tells_it() {
    for (own, base) in [("127.0.0.1:0", IpAddr::V4(BASE.v4)), ("[::1]:0", IpAddr::V6(BASE.v6))] {
        let closed = UdpSocket::bind(own).expect("a port").local_addr().expect("its own").port();
        let mut bench = Bench::new();
        let ends = ends(700, SocketAddr::new(base, closed));
        bench.write(&datagram(ends, b"anybody?"));
        assert!(bench.until(|bench| !bench.others.is_empty()));
        let error = &bench.others[0];
        let ip = decode_ip(error).expect("sound");
        assert_eq!((ip.src, ip.dst), (base, ends.src.ip()));
        let message = &error[ip.payload];
        let (kind, quoted) = if base.is_ipv4() { ([3, 3], 20) } else { ([1, 4], 40) };
        assert_eq!(message[..2], kind);
        let ports = &message[8 + quoted..][..4];
        assert_eq!(ports, [700_u16.to_be_bytes(), closed.to_be_bytes()].concat());
    }
}

#[test]
fn echo_to_the_base_address_is_answered_here() {
    let mut bench = Bench::new();
    let mut request = Vec::new();
    PacketBuilder::ipv4(CLIENT.octets(), BASE.v4.octets(), 64)
        .icmpv4_echo_request(7, 9)
        .write(&mut request, b"are you there?")
        .expect("fits");
    bench.write(&request);
    assert!(bench.until(|bench| bench.others.len() == 1));
    assert!(bench.others[0].ends_with(b"are you there?"));
    assert_eq!(bench.relay.report().flows, 0);
}

/// The kernel lets a group of users have ping sockets (net.ipv4.ping_group_range), often nobody: then
/// the refusal is told.
#[test]
fn echo_to_others_goes_through_a_ping_socket_or_the_refusal_is_told() {
    let mut bench = Bench::new();
    let mut request = Vec::new();
    let dst = own_address();
    PacketBuilder::ipv4(CLIENT.octets(), dst.octets(), 64)
        .icmpv4_echo_request(7, 9)
        .write(&mut request, b"are you there?")
        .expect("fits");
    bench.write(&request);
    assert!(bench.until(|bench| {
        !bench.others.is_empty() || bench.relay.report().pings_refused.is_some()
    }));
    let Some(answer) = bench.others.first() else {
        let report = bench.relay.report();
        assert_eq!((report.datagrams_dropped, report.flows), (1, 0));
        return;
    };
    let ip = decode_ip(answer).expect("sound");
    assert_eq!((ip.src, ip.dst), (dst.into(), CLIENT.into()));
    assert_eq!(answer[ip.payload][..8][4..], [0, 7, 0, 9], "identifier and number of the request");
    assert!(answer.ends_with(b"are you there?"));
}

/// An address of this machine that is not the loopback's, or one that is as good.
fn own_address() -> Ipv4Addr {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a port");
    // Nothing is sent: this only chooses the way.
    let chosen = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    match chosen.map(|address| address.ip()) {
        Ok(IpAddr::V4(address)) => address,
        _ => Ipv4Addr::new(192, 0, 2, 1),
    }
}
