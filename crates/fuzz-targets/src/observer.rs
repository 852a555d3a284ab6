//! What a gateway observes, whatever that is: it never injects what nobody earned.
//!
//! An input is a list of steps of eight bytes: what passes, of which connection, where, and how much later the
//! next one is. Whole packets are sound, with bytes that follow from their sequence numbers; others are
//! damaged, or bytes of the input itself.

use ackord_gateway::{
    ClassConfig, Cover, Engine, EngineConfig, Interface, Limits, LinkKind, Order, Sighting,
    StandDown, Turns, Way,
};
use ackord_path::registry::ProxyChoice;
use ackord_units::{Bytes, Choice, Rate, Seq, Span, Time};
use ackord_wire::{
    Endpoints, Flags, IpFields, Options, Payload, Segment, TcpChecksum, Timestamps, decode, encode,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The boxes that stand beside the path, or may.
const BOXES: [&str; 3] = ["proxy-tcp", "snoop", "m-tcp"];
const CONNECTIONS: usize = 6;
const KEPT: u64 = 40_000;

/// Steps of traffic.
pub fn observer(data: &[u8]) {
    let Some((&first, steps)) = data.split_first() else { return };
    let name = BOXES[usize::from(first) % BOXES.len()];
    let mut trial = Trial::new(name, first & 0x80 != 0);
    for step in steps.chunks_exact(8) {
        trial.step(step);
    }
    // Whatever is held or waited for ends, or goes on at a bounded rate.
    for _ in 0..100 {
        trial.now += Span::from_millis(100);
        trial.engine.handle_deadlines(trial.now);
        trial.look();
    }
}

struct Trial {
    engine: Engine,
    now: Time,
    /// IP bytes of data segments that passed towards the mobile host of a port, and that were injected there.
    passed: BTreeMap<u16, u64>,
    injected: BTreeMap<u16, u64>,
}

impl Trial {
    fn new(name: &str, has_control: bool) -> Trial {
        let mechanism =
            ProxyChoice::MECHANISMS.iter().find(|one| one.name == name).expect("registered");
        let config = EngineConfig {
            limits: Limits {
                connections: CONNECTIONS,
                bytes_each: Bytes(KEPT / 2),
                bytes_in_all: Bytes(KEPT),
                idle_for: Span::from_secs(5),
                injected_per_mille: 1_000,
                injected_rate: Rate::from_mbits_per_sec(10),
                fast: Rate::from_mbits_per_sec(2),
            },
            wan: LinkKind::Bare,
            lan: vec![LinkKind::Bare],
            control_per_mille: if has_control { 300 } else { 0 },
            turns: Some(Turns {
                length: Span::from_secs(2),
                settle: Span::from_millis(500),
                in_block: 2,
            }),
            stand_down: StandDown {
                confidence: 0.95,
                sustained: Span::from_secs(1),
                connections: 2,
                retry: Some(Span::from_secs(3)),
            },
        };
        let class = ClassConfig { name: "all".into(), remedy: ProxyChoice::named(mechanism.name) };
        let engine = Engine::new(config, vec![class], Box::new(|_| 0));
        Trial { engine, now: Time::ZERO, passed: BTreeMap::new(), injected: BTreeMap::new() }
    }

    fn step(&mut self, step: &[u8]) {
        let [kind, port, seq, ack, len, options, way, later] = step.try_into().expect("eight");
        let towards_mobile = way & 1 == 0;
        let endpoints = Endpoints { src: fixed(), dst: mobile(u16::from(port % 9)) };
        let endpoints = if towards_mobile { endpoints } else { endpoints.reversed() };
        let segment = Segment {
            seq: Seq(u32::MAX - 20_000) + u32::from(seq) * 500,
            ack: Seq(u32::MAX - 20_000) + u32::from(ack) * 500,
            flags: Flags::from_bits(if kind & 0x40 == 0 { 0x10 } else { options }),
            window: u16::from(len) << 6,
            payload_len: u32::from(len) * if way & 2 == 0 { 40 } else { 4 },
            options: Options {
                timestamps: (port & 0x80 == 0)
                    .then(|| Timestamps { value: u32::from(seq), echo: u32::from(ack) }),
                ..Options::default()
            },
        };
        let data: Vec<u8> = (0..segment.payload_len).map(|at| byte(segment.seq + at)).collect();
        let mut packet = Vec::new();
        encode(endpoints, IpFields::default(), &segment, Payload::Bytes(&data), &mut packet)
            .expect("it fits");
        match kind % 8 {
            0 => packet = step.to_vec(),
            1 => {
                let at = usize::from(options) % packet.len();
                packet[at] ^= way | 1;
            }
            2 => packet.truncate(usize::from(options) % (packet.len() + 1)),
            _ => {}
        }
        let (interface, way) = match (towards_mobile, kind % 8) {
            (true, 3) => (Interface::Wan, Way::In),
            (false, 3) => (Interface::Wan, Way::Out),
            (true, _) => (Interface::Lan(0), Way::Out),
            (false, _) => (Interface::Lan(0), Way::In),
        };
        let sighting = Sighting {
            interface,
            way,
            frame: &packet,
            vlan: None,
            segment_size: if kind & 0x20 == 0 { 0 } else { 400 },
            checksum: TcpChecksum::Verified,
            mark: None,
            is_sample: false,
        };
        if interface != Interface::Wan {
            self.count(&packet);
        }
        self.engine.see(self.now, &sighting);
        self.look();
        self.now += Span::from_millis(u64::from(later));
        self.engine.handle_deadlines(self.now);
        self.look();
    }

    /// What a packet that passes on the LAN side earns a mobile host.
    fn count(&mut self, packet: &[u8]) {
        if let Ok(read) = decode(packet)
            && read.endpoints.src == fixed()
            && read.segment.payload_len > 0
        {
            // As many headers as there are segments at most.
            let pieces = u64::from(read.segment.payload_len).div_ceil(400);
            let headers = read.payload.start as u64;
            *self.passed.entry(read.endpoints.dst.port()).or_default() +=
                u64::from(read.segment.payload_len) + headers * pieces;
        }
    }

    fn look(&mut self) {
        let orders: Vec<Order> = self.engine.orders().collect();
        for order in orders {
            let injection = match order {
                Order::Inject(injection) => injection,
                Order::Cover(Cover::On { from, to, until, .. }) => {
                    assert!(!to.before(from) && until > self.now.min(until), "{from} {to}");
                    continue;
                }
                Order::Cover(Cover::Off { .. }) => continue,
            };
            let read = decode(&injection.frame).expect("what is injected is sound");
            let payload = &injection.frame[read.payload.clone()];
            let to_mobile = matches!(injection.interface, Interface::Lan(_));
            let port = if to_mobile { read.endpoints.dst } else { read.endpoints.src }.port();
            assert!(to_mobile || payload.is_empty(), "no data is made up for a fixed host");
            for (at, is) in (0_u32..).zip(payload) {
                assert_eq!(*is, byte(read.segment.seq + at), "bytes are those that were sent");
            }
            *self.injected.entry(port).or_default() += injection.frame.len() as u64;
        }
        for (port, injected) in &self.injected {
            let passed = self.passed.get(port).copied().unwrap_or(0);
            assert!(*injected <= passed, "{injected} of {passed} bytes, port {port}");
        }
        assert!(self.engine.connections().len() <= CONNECTIONS);
        assert!(self.engine.connections().kept() <= Bytes(KEPT));
        assert!(self.engine.stats().held <= CONNECTIONS as u64);
    }
}

/// The byte of a stream with this number.
fn byte(seq: Seq) -> u8 {
    (seq.0.wrapping_mul(2_654_435_761) >> 24) as u8
}

fn fixed() -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 1], 443))
}

fn mobile(port: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 7], 50_000 + port))
}
