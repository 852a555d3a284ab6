//! What an engine costs: frames a second on one core, and memory, for so many connections at once.
//!
//! ```text
//! cargo run --release --package ackord-gateway --example cost -- proxy-tcp 10000
//! ```
//!
//! Downloads with a window of ten segments each, acknowledged every second segment, all connections in turn.

use ackord_gateway::{
    ClassConfig, Engine, EngineConfig, Interface, Limits, LinkKind, Order, Sighting, StandDown, Way,
};
use ackord_path::registry::ProxyChoice;
use ackord_units::{Bytes, Choice, Rate, Seq, Span, Time};
use ackord_wire::{Endpoints, Flags, IpFields, Payload, Segment, TcpChecksum, Timestamps, encode};
use std::net::SocketAddr;

const MSS: u32 = 1_448;
const FRAMES: u64 = 3_000_000;
const WINDOW: u32 = 10;

fn main() {
    let words: Vec<String> = args().collect();
    let name = words.get(1).map_or("proxy-tcp", String::as_str);
    let connections: u32 = words.get(2).map_or(10_000, |word| word.parse().expect("a number"));
    let remedy = ProxyChoice::named(name);
    assert!(remedy.is_some(), "a box that is listed");
    let class = ClassConfig { name: "default".into(), remedy };
    let mut engine = Engine::new(config(connections), vec![class], Box::new(|_| 0));
    let mut frame = Vec::new();
    let began = clock();
    let (mut seen, mut injected, mut round) = (0_u64, 0_u64, 0_u32);
    // 200,000 frames a second on the engine's clock.
    let at = |seen: u64| Time::from_nanos(seen * 5_000);
    while seen < FRAMES {
        for number in 0..connections {
            let endpoints = Endpoints { src: fixed(), dst: mobile(number) };
            let millis = (at(seen).as_nanos() / 1_000_000) as u32;
            let mut segment = Segment {
                flags: Flags::ACK,
                window: 60_000,
                seq: Seq(1 + round * MSS),
                ack: Seq(1),
                payload_len: MSS,
                ..Segment::default()
            };
            segment.options.timestamps = Some(Timestamps { value: millis, echo: millis });
            show(&mut engine, at(seen), (Way::Out, endpoints), &segment, &mut frame);
            seen += 1;
            if round >= WINDOW && round % 2 == 0 {
                segment.ack = Seq(1 + (round - WINDOW) * MSS);
                (segment.seq, segment.payload_len) = (Seq(1), 0);
                show(&mut engine, at(seen), (Way::In, endpoints.reversed()), &segment, &mut frame);
                seen += 1;
            }
        }
        round += 1;
        engine.handle_deadlines(at(seen));
        injected +=
            engine.orders().filter(|order| matches!(order, Order::Inject(_))).count() as u64;
    }
    let seconds = (clock() - began) as f64 / 1e9;
    println!(
        "{name}, {connections} connections: {:.0} frames a second, {:.2} us each; {} MiB resident, \
         {} MiB of them kept bytes; {injected} injected",
        seen as f64 / seconds,
        seconds * 1e6 / seen as f64,
        resident() >> 20,
        engine.connections().kept().get() >> 20,
    );
}

fn config(connections: u32) -> EngineConfig {
    let limits = Limits {
        connections: connections as usize,
        bytes_each: Bytes(1 << 20),
        bytes_in_all: Bytes(128 << 20),
        idle_for: Span::from_secs(600),
        injected_per_mille: 1_000,
        injected_rate: Rate::from_mbits_per_sec(1_000),
        fast: Rate::from_mbits_per_sec(100_000),
    };
    EngineConfig {
        limits,
        wan: LinkKind::Bare,
        lan: vec![LinkKind::Bare],
        control_per_mille: 0,
        turns: None,
        stand_down: StandDown {
            confidence: 0.999,
            sustained: Span::from_secs(10),
            connections: 8,
            retry: None,
        },
    }
}

fn show(
    engine: &mut Engine,
    now: Time,
    (way, endpoints): (Way, Endpoints),
    segment: &Segment,
    frame: &mut Vec<u8>,
) {
    frame.clear();
    let payload = Payload::Zeros(segment.payload_len);
    encode(endpoints, IpFields::default(), segment, payload, frame).expect("sound");
    engine.see(
        now,
        &Sighting {
            interface: Interface::Lan(0),
            way,
            frame,
            vlan: None,
            segment_size: 0,
            checksum: TcpChecksum::Trusted,
            mark: None,
            is_sample: false,
        },
    );
}

fn fixed() -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 1], 443))
}

fn mobile(number: u32) -> SocketAddr {
    SocketAddr::from((
        [10, 0, (number >> 14) as u8, (number >> 6) as u8],
        40_000 + (number & 63) as u16,
    ))
}

#[expect(clippy::disallowed_methods, reason = "a program of its own")]
fn args() -> impl Iterator<Item = String> {
    std::env::args()
}

fn clock() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).expect("there is one");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// Bytes of memory in use (proc_pid_statm(5)).
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0_u64);
    pages * 4_096
}
