//! A download through a gateway whose radio link is out for a while, frame by frame.

use super::*;
use crate::config::MarkMatch;
use ackord_path::registry::ProxyChoice;
use ackord_units::{Bytes, Choice, Rate, Seq};
use ackord_wire::{Endpoints, Flags, IpFields, Payload, Segment, TcpChecksum, Timestamps};
use ackord_wire::{decode, encode};
use proptest::prelude::*;
use std::collections::VecDeque;

const MSS: u32 = 1_448;

fn engine(name: &str) -> Engine {
    engine_with(name, 0)
}

fn classes(name: &str) -> Vec<ClassConfig> {
    let remedy = ProxyChoice::named(name);
    assert!(remedy.is_some(), "{name} is listed");
    vec![ClassConfig { name: "default".into(), remedy }]
}

fn config(control_per_mille: u16) -> EngineConfig {
    EngineConfig {
        limits: Limits {
            connections: 100,
            bytes_each: Bytes(1 << 20),
            bytes_in_all: Bytes(1 << 24),
            idle_for: Span::from_secs(60),
            injected_per_mille: 1_000,
            injected_rate: Rate::from_mbits_per_sec(100),
            fast: Rate::from_mbits_per_sec(500),
        },
        wan: LinkKind::Ethernet,
        lan: vec![LinkKind::Bare],
        control_per_mille,
        turns: None,
        stand_down: StandDown {
            confidence: 0.999,
            sustained: Span::from_secs(2),
            connections: 8,
            retry: Some(Span::from_secs(900)),
        },
    }
}

fn engine_with(name: &str, control_per_mille: u16) -> Engine {
    Engine::new(config(control_per_mille), classes(name), Box::new(|_| 0))
}

/// What is to be injected; it is then no longer to be done.
fn injections(engine: &mut Engine) -> Vec<Injection> {
    let injections = engine.orders().filter_map(|order| match order {
        Order::Inject(injection) => Some(injection),
        Order::Cover(_) => None,
    });
    injections.collect()
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn to_mobile() -> Endpoints {
    Endpoints {
        src: "198.51.100.1:443".parse().expect("one"),
        dst: "192.0.2.7:50000".parse().expect("one"),
    }
}

/// A packet of the download towards the mobile host (data) or from it.
fn packet(towards: Interface, segment: Segment, fill: u8) -> Vec<u8> {
    let endpoints = match towards {
        Interface::Lan(_) => to_mobile(),
        Interface::Wan => to_mobile().reversed(),
    };
    let payload = vec![fill; segment.payload_len as usize];
    let mut bytes = Vec::new();
    encode(endpoints, IpFields::default(), &segment, Payload::Bytes(&payload), &mut bytes)
        .expect("sound");
    bytes
}

fn segment(seq: u32, ack: u32, payload_len: u32, millis: u64) -> Segment {
    let mut segment = Segment {
        seq: Seq(seq),
        ack: Seq(ack),
        flags: Flags::ACK,
        window: 60_000,
        payload_len,
        ..Segment::default()
    };
    let (value, echo) = (millis as u32 + 1_000, millis as u32);
    segment.options.timestamps = Some(Timestamps { value, echo });
    segment
}

fn see(engine: &mut Engine, millis: u64, interface: Interface, way: Way, frame: &[u8], size: u32) {
    let (vlan, checksum) = (None, TcpChecksum::Verified);
    let sighting = Sighting {
        interface,
        way,
        frame,
        vlan,
        segment_size: size,
        checksum,
        mark: None,
        is_sample: false,
    };
    engine.handle_deadlines(at(millis));
    engine.see(at(millis), &sighting);
}

/// What leaves for the mobile host arrives 20 ms later and is acknowledged at once, but for what is under way
/// from second 1 to 2, which is lost. The engine, and what was injected when.
fn outage(name: &str, super_packets: bool) -> (Engine, Vec<(u64, Injection)>) {
    let mut engine = engine(name);
    let mut injected = Vec::new();
    let mut arrivals: VecDeque<(u64, u32)> = VecDeque::new();
    let (mut next, mut acked) = (1, 1);
    let segments = if super_packets { 4 } else { 1 };
    for millis in 0..3_000_u64 {
        engine.handle_deadlines(at(millis));
        if millis < 1_100 && millis % (4 * segments) == 0 {
            let len = MSS * segments as u32;
            let data = packet(Interface::Lan(0), segment(next, 1, len, millis), millis as u8);
            see(&mut engine, millis, Interface::Lan(0), Way::Out, &data, MSS);
            arrivals.push_back((millis + 20, next));
            next += len;
        }
        for injection in injections(&mut engine) {
            if injection.interface == Interface::Lan(0) {
                let seq = decode(&injection.frame).expect("checksums and all").segment.seq;
                arrivals.push_back((millis + 20, seq.0));
            }
            injected.push((millis, injection));
        }
        while let Some((_, seq)) = arrivals.pop_front_if(|(due, _)| *due <= millis) {
            if (1_000..2_000).contains(&millis) {
                continue;
            }
            if seq == acked {
                acked += if injected.is_empty() { MSS * segments as u32 } else { MSS };
            }
            let ack = packet(Interface::Wan, segment(1, acked, 0, millis), 0);
            let mut frame = vec![7; 12];
            frame.extend([0x08, 0x00]);
            frame.extend(&ack);
            see(&mut engine, millis, Interface::Lan(0), Way::In, &ack, 0);
            see(&mut engine, millis, Interface::Wan, Way::Out, &frame, 0);
        }
    }
    assert_eq!((name, acked), (name, next));
    (engine, injected)
}

#[test]
fn after_an_outage_the_bytes_that_were_lost_are_retransmitted_as_they_were() {
    for super_packets in [false, true] {
        let (engine, injected) = outage("proxy-tcp", super_packets);
        let data: Vec<_> =
            injected.iter().filter(|(_, one)| one.interface == Interface::Lan(0)).collect();
        assert!(
            data.iter().any(|(at, _)| *at >= 2_000),
            "{:?} {:?}",
            engine.stats(),
            engine.classes()[0].stats()
        );
        let mut carried = 0;
        for (_, injection) in data {
            let decoded = decode(&injection.frame).expect("checksums and all");
            assert_eq!(decoded.endpoints, to_mobile());
            assert!(decoded.segment.payload_len <= MSS);
            carried += u64::from(decoded.segment.payload_len);
            let seq = decoded.segment.seq.0 - 1;
            // Which write it was of, and so with what it was filled.
            let per_write = if super_packets { 4 * MSS } else { MSS };
            let millis = u64::from(seq / per_write) * if super_packets { 16 } else { 4 };
            let payload = &injection.frame[decoded.payload];
            assert!(payload.iter().all(|byte| *byte == millis as u8), "{seq}");
        }
        assert!(carried > 0);
        let connection = engine.connections().iter().next().expect("one");
        assert!(carried <= connection.counters.bytes_to_mobile);
    }
}

#[test]
fn a_fin_that_is_never_acknowledged_is_no_time_under_way() {
    let mut engine = engine("proxy-tcp");
    let lan = Interface::Lan(0);
    let data = packet(lan, segment(1, 1, MSS, 0), 0);
    see(&mut engine, 0, lan, Way::Out, &data, MSS);
    let ack = packet(Interface::Wan, segment(1, 1 + MSS, 0, 20), 0);
    see(&mut engine, 20, lan, Way::In, &ack, 0);
    let mut fin = segment(1 + MSS, 1, 0, 20);
    fin.flags = Flags::ACK | Flags::FIN;
    see(&mut engine, 30, lan, Way::Out, &packet(lan, fin, 0), 0);
    let connection = engine.connections().iter().next().expect("one");
    let progress = connection.to_mobile.until(at(9_000));
    assert_eq!((progress.active, progress.stalls), (Span::from_millis(20), 0));
}

#[test]
fn towards_the_fixed_host_a_frame_has_the_header_that_its_interface_is_known_to_need() {
    let (_, injected) = outage("m-tcp", false);
    let acks: Vec<_> = injected.iter().filter(|(_, one)| one.interface == Interface::Wan).collect();
    assert!(!acks.is_empty());
    for (_, injection) in acks {
        assert_eq!(injection.frame[..14], [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0x08, 0x00]);
        let decoded = decode(&injection.frame[14..]).expect("checksums and all");
        assert_eq!(decoded.endpoints, to_mobile().reversed());
    }
}

#[test]
fn who_is_left_alone_gets_nothing() {
    let mut engine = engine_with("snoop", 1_000);
    let data = packet(Interface::Lan(0), segment(1, 1, MSS, 0), 1);
    see(&mut engine, 0, Interface::Lan(0), Way::Out, &data, 0);
    assert_eq!((engine.connections().len(), engine.connections().kept()), (1, Bytes::ZERO));
    assert_eq!((engine.classes()[0].stats().expect("a box").seen, engine.deadline()), (0, None));
}

#[test]
fn a_mark_that_becomes_known_later_moves_a_connection_to_its_rule() {
    let class = |name: &str, remedy| ClassConfig { name: name.to_owned(), remedy };
    let snoop = ProxyChoice::named("snoop");
    let wanted = MarkMatch { value: 0x10, mask: 0xff };
    let classify = move |facts: &FlowFacts| usize::from(!wanted.covers(facts.mark));
    let classes = vec![class("marked", None), class("default", snoop)];
    let config = engine("snoop").config.clone();
    let mut engine = Engine::new(config, classes, Box::new(classify));
    let lan = Interface::Lan(0);
    let data = |number| packet(lan, segment(1 + number * MSS, 1, MSS, 0), 1);
    let marked = |engine: &mut Engine, millis, frame: &[u8], mark| {
        let (vlan, checksum) = (None, TcpChecksum::Verified);
        // As a ring of headers shows it.
        let frame = &frame[..60];
        let sighting = Sighting {
            interface: lan,
            way: Way::Out,
            frame,
            vlan,
            segment_size: 0,
            checksum,
            mark: Some(mark),
            is_sample: false,
        };
        engine.see(at(millis), &sighting);
    };
    let class_of = |engine: &Engine| engine.connections().iter().next().map(|one| one.class);
    marked(&mut engine, 0, &data(0), wanted);
    assert_eq!(class_of(&engine), None, "a mark alone is no packet");
    see(&mut engine, 0, lan, Way::Out, &data(0), 0);
    assert_eq!((class_of(&engine), engine.deadline().is_some()), (Some(1), true));
    marked(&mut engine, 1, &data(0), MarkMatch { value: 0x11, mask: 0xf1f });
    assert_eq!(class_of(&engine), Some(1));
    let mut other = engine;
    // What was told first stays, so only bits that are new can tell more.
    marked(&mut other, 2, &data(0), MarkMatch { value: 0, mask: 0xff });
    assert_eq!(class_of(&other), Some(1));
    see(&mut other, 3, lan, Way::In, &packet(Interface::Wan, rst(), 0), 0);
    see(&mut other, 4, lan, Way::Out, &data(1), 0);
    marked(&mut other, 5, &data(1), wanted);
    assert_eq!(class_of(&other), Some(0));
    // Its box has forgotten it, and nothing of it is counted twice.
    assert_eq!((other.deadline(), other.stats().segments), (None, 3));
    see(&mut other, 6, lan, Way::Out, &data(2), 0);
    assert_eq!((other.deadline(), other.classes()[1].stats().expect("a box").seen), (None, 3));
}

fn rst() -> Segment {
    Segment { flags: Flags::RST | Flags::ACK, ..segment(1, 1, 0, 0) }
}

proptest! {
    /// Whatever is on the wire, nothing panics, and nothing is injected that a sender did not send.
    #[test]
    fn any_frames_in_any_order(
        frames in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 0..80), 0_u8..4, 0_u32..3_000, any::<bool>()), 0..40)
    ) {
        for name in ["proxy-tcp", "snoop", "m-tcp"] {
            let mut engine = engine(name);
            let good = packet(Interface::Lan(0), segment(1, 1, MSS, 0), 1);
            for (number, (bytes, place, size, damaged)) in frames.iter().enumerate() {
                let mut frame = if *damaged { good.clone() } else { bytes.clone() };
                if *damaged {
                    for (at, byte) in bytes.iter().enumerate() {
                        frame[at * 7 % 60] ^= byte;
                    }
                }
                let interface = if place & 1 == 0 { Interface::Lan(0) } else { Interface::Wan };
                let way = if place & 2 == 0 { Way::Out } else { Way::In };
                let sighting = Sighting {
                    interface, way, frame: &frame, vlan: None, segment_size: *size,
                    checksum: TcpChecksum::Trusted, mark: None, is_sample: false,
                };
                engine.see(at(number as u64 * 50), &sighting);
                engine.handle_deadlines(at(number as u64 * 50 + 25));
            }
            let (sent, mut injected) = (engine.stats().bytes_to_mobile, 0);
            for injection in injections(&mut engine) {
                let at = if injection.interface == Interface::Wan { 14 } else { 0 };
                injected += decode(&injection.frame[at..]).expect("sound").payload.len() as u64;
            }
            prop_assert!(injected <= sent);
        }
    }
}

mod fast;
mod listening;
mod turns;
