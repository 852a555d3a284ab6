//! One body, two drivers: what the emulator does in time that jumps is what the simulator says; and
//! what passes through a path arrives byte by byte.

use super::testing::{EndDevice, noise};
use super::timeline::VirtualTime;
use super::watching::Tapped;
use super::{Device, Directory, EmulationCounts, Emulator, Parts, Remains};
use ackord_events::{Event, NoSink, Sink};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::{RandomStream, Span, Time};
use ackord_wire::{NodeId, Side, decode};
use std::cell::RefCell;
use std::rc::Rc;

fn scenario(name: &str, changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::from_library(name).expect("it comes along");
    file.with_overrides(changes).check().unwrap_or_else(|errors| panic!("{name}: {errors}"))
}

/// Everything that happened, with its time.
#[derive(Default, PartialEq)]
struct Log(Vec<(Time, String)>);

impl Sink for Log {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        self.0.push((at, format!("{event:?}")));
    }
}

fn simulated(scenario: &Scenario) -> Log {
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("it builds");
    let mut log = Log::default();
    simulation.run_until(Time::ZERO + scenario.duration, &mut log);
    simulation.finish(&mut log).expect("every packet is accounted for");
    log
}

fn parts(
    scenario: &Scenario,
    devices: Vec<(NodeId, Box<dyn Device>)>,
    timeline: VirtualTime,
) -> Parts<'_, VirtualTime> {
    let directory = Directory::of_hosts(scenario);
    Parts { scenario, seed: scenario.seed, devices, directory, timeline }
}

fn emulated(scenario: &Scenario, timeline: VirtualTime, longest_turn: Span) -> Log {
    let mut log = Log::default();
    let mut emulator = Emulator::new(parts(scenario, Vec::new(), timeline)).expect("it builds");
    while !emulator.is_over() {
        let until = emulator.now() + longest_turn;
        emulator.turn(until, &mut log).expect("nothing can break");
    }
    let Remains { mut simulation, lateness, counts, .. } = emulator.finish();
    simulation.finish(&mut log).expect("every packet is accounted for");
    assert_eq!(counts, EmulationCounts::default(), "there is no device");
    assert_eq!(lateness.report(Span::ZERO).packets, 0, "inside nothing is late");
    log
}

fn late_at_random(seed: u64) -> VirtualTime {
    let mut stream = RandomStream::for_element(seed, "lateness");
    VirtualTime::late(move || match stream.next_u64() % 4 {
        0 => Span::ZERO,
        1 => Span::from_micros(stream.next_u64() % 100),
        2 => Span::from_nanos(stream.next_u64() % 3),
        _ => Span::from_micros(stream.next_u64() % 20_000),
    })
}

/// Keys of a scenario, and what is put there.
type Changes = &'static [(&'static str, &'static str)];

/// Loss, bursts, reordering, fading, shared media, cellular, middleboxes of every kind, datagrams,
/// every queue that the library has, several flows.
const CONFORMS: &[(&str, u64, Changes)] = &[
    ("lossy-wifi", 4, &[]),
    ("burst-loss", 4, &[]),
    ("fades", 4, &[("flows.*.start", "0 s")]),
    ("recovery-compared", 2, &[]),
    ("wifi-acks", 1, &[]),
    ("cellular-hop", 2, &[("flows.*.start", "0 s")]),
    ("phone", 3, &[("flows.*.start", "0 s")]),
    ("aqm-unresponsive", 2, &[("flows.*.start", "0 s")]),
    ("telnet-and-web", 4, &[]),
    ("dumbbell", 1, &[]),
    ("fading-access-point", 4, &[]),
    ("fading-access-point", 4, &[("proxies.base.proxy", "snoop")]),
    ("fading-access-point", 4, &[("proxies.base.proxy", "proxy-tcp")]),
    ("fading-access-point", 4, &[("proxies.base.proxy", "m-tcp")]),
    ("fading-access-point", 4, &[("proxies.base.proxy", "i-tcp")]),
    ("fading-access-point", 4, &[("proxies.base.proxy", "mtcp")]),
];

#[test]
fn with_every_host_ours_the_emulator_tells_what_the_simulator_tells() {
    for (number, (name, seconds, changes)) in CONFORMS.iter().enumerate() {
        let mut scenario = scenario(name, changes);
        // Cut off here: as a change it would be refused where flows start later.
        scenario.duration = Span::from_secs(*seconds);
        let simulated = simulated(&scenario);
        assert!(simulated.0.len() > 100, "{name}: {} events", simulated.0.len());
        let timelines = [
            (VirtualTime::exact(), Span::from_secs(60), "on time"),
            (late_at_random(number as u64), Span::from_millis(7), "late at random, in slices"),
        ];
        for (timeline, longest_turn, how) in timelines {
            let emulated = emulated(&scenario, timeline, longest_turn);
            let both = simulated.0.iter().zip(&emulated.0);
            let differs = both.clone().position(|(a, b)| a != b);
            let first = differs.map(|at| (&simulated.0[at], &emulated.0[at]));
            assert!(first.is_none(), "{name} {changes:?} {how}, event {differs:?}: {first:#?}");
            assert_eq!(simulated.0.len(), emulated.0.len(), "{name} {how}");
        }
    }
}

const REORDERS: &str =
    r#"{ kind = "per-packet", distribution = "uniform", deviation = "5 ms", order = "free" }"#;

/// What happened on the path, but for the numbers that drivers give to packets.
#[derive(Default)]
struct PathLog(Vec<(Time, String)>);

impl Sink for PathLog {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        let text = match event {
            Event::PacketEnqueued { .. }
            | Event::PacketDequeued { .. }
            | Event::PacketDropped { .. }
            | Event::PacketDuplicated { .. }
            | Event::PacketTapped { .. } => format!("{event:?}"),
            _ => return,
        };
        let mut parts = text.split("tag: ");
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            kept.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
        }
        self.0.push((at, kept));
    }
}

#[test]
fn hosts_behind_devices_that_do_as_ours_make_the_path_do_what_it_does_in_the_simulator() {
    let size = [("flows.*.traffic.size", "300 kB")];
    let paths: &[Changes] = &[
        &[],
        &[("links.wifi.loss.per_packet", "5 %")],
        &[("links.wifi.jitter", REORDERS)],
        &[("links.wifi.queue", r#"{ kind = "red", ecn = true }"#), ("flows.*.tcp.ecn", "on")],
    ];
    for changes in paths {
        let scenario = scenario("lossy-wifi", &[&size, *changes].concat());
        let mut simulation = Simulation::new(&scenario, scenario.seed).expect("it builds");
        let mut inside = PathLog::default();
        simulation.run_until(Time::ZERO + scenario.duration, &mut inside);
        simulation.finish(&mut inside).expect("every packet is accounted for");
        let zeros = vec![0; 300_000];
        let (client_at, client, _) = EndDevice::new(&scenario, Side::Client, &[]);
        let (server_at, server, _) = EndDevice::new(&scenario, Side::Server, &zeros);
        let devices: Vec<(NodeId, Box<dyn Device>)> =
            vec![(client_at, Box::new(client)), (server_at, Box::new(server))];
        let parts = parts(&scenario, devices, VirtualTime::exact());
        let mut emulator = Emulator::new(parts).expect("it builds");
        let mut through_devices = PathLog::default();
        while emulator.simulation().now() < simulation.now() {
            emulator.turn(simulation.now(), &mut through_devices).expect("nothing can break");
        }
        let Remains { mut simulation, counts, .. } = emulator.finish();
        simulation.finish(&mut through_devices).expect("every packet is accounted for");
        assert_eq!((counts.malformed, counts.ignored, counts.made), (0, 0, 0));
        let differs = inside.0.iter().zip(&through_devices.0).position(|(a, b)| a != b);
        let first = differs.map(|at| (&inside.0[at], &through_devices.0[at]));
        assert!(first.is_none(), "{changes:?}, event {differs:?}: {first:#?}");
        let lengths = (inside.0.len(), through_devices.0.len());
        assert!(lengths.0 > 1_000 && lengths.0 == lengths.1, "{changes:?}: {lengths:?}");
    }
}

/// What a run between two devices came to.
struct Moved {
    up: Vec<u8>,
    down: Vec<u8>,
    counts: EmulationCounts,
    /// Packets that passed taps: whole, and cut off.
    tapped: (u64, u64),
}

/// Moves `up` bytes from the first flow's client to its server, and as many as `down` back.
fn move_bytes(scenario: &Scenario, timeline: VirtualTime, up: &[u8], down: &[u8]) -> Moved {
    let (client_at, client, down_got) = EndDevice::new(scenario, Side::Client, up);
    let (server_at, server, up_got) = EndDevice::new(scenario, Side::Server, down);
    let devices: Vec<(NodeId, Box<dyn Device>)> =
        vec![(client_at, Box::new(client)), (server_at, Box::new(server))];
    let mut emulator = Emulator::new(parts(scenario, devices, timeline)).expect("it builds");
    let tapped = Rc::new(RefCell::new((0, 0)));
    let seen = Rc::clone(&tapped);
    emulator.tap(Box::new(move |tapped: Tapped<'_>| {
        let mut seen = seen.borrow_mut();
        match decode(tapped.bytes) {
            Ok(decoded) if decoded.ip.ip_len == tapped.original_len => seen.0 += 1,
            Ok(_) => seen.1 += 1,
            Err(error) => panic!("a tap shows what is no packet: {error}"),
        }
    }));
    while !emulator.is_over()
        && (up_got.borrow().len() < up.len() || down_got.borrow().len() < down.len())
    {
        emulator.turn(Time::ZERO + scenario.duration, &mut NoSink).expect("nothing can break");
    }
    let Remains { mut simulation, counts, .. } = emulator.finish();
    simulation.finish(&mut NoSink).expect("every packet is accounted for");
    Moved { up: up_got.take(), down: down_got.take(), counts, tapped: tapped.take() }
}

const LENGTH: usize = 300_000;

#[test]
fn bytes_arrive_as_they_were_sent_whatever_the_path_does_to_their_packets() {
    let paths: &[Changes] = &[
        &[],
        &[("links.wifi.loss.per_packet", "5 %")],
        &[("links.wifi.duplicate", r#"{ kind = "random", per_packet = "10 %" }"#)],
        &[("links.wifi.queue", r#"{ kind = "red", ecn = true }"#), ("flows.*.tcp.ecn", "on")],
        &[("links.wifi.jitter", REORDERS)],
    ];
    let data = noise(LENGTH);
    for changes in paths {
        let scenario = scenario("lossy-wifi", changes);
        let moved = move_bytes(&scenario, late_at_random(5), &data, &data[..50_000]);
        assert!(moved.up == data, "{changes:?}: {} bytes, not as sent", moved.up.len());
        assert!(moved.down == data[..50_000], "{changes:?}");
        let counts = moved.counts;
        assert_eq!((counts.without_bytes, counts.made, counts.malformed), (0, 0, 0));
        assert!(counts.delivered > 200 && counts.entered >= counts.delivered / 2, "{counts:?}");
        // Every packet that entered passed the tap at the beginning of its link, and those that left
        // the one at its end.
        let (whole, cut) = moved.tapped;
        assert!(whole >= counts.entered + counts.delivered && cut == 0, "{:?}", moved.tapped);
        let reorders = changes.iter().any(|(path, _)| path.ends_with("jitter"));
        assert_eq!(counts.overtaken > 20, reorders, "{counts:?}");
    }
}

#[test]
fn bytes_arrive_as_they_were_sent_through_every_middlebox() {
    let data = noise(LENGTH);
    for proxy in ["none", "snoop", "proxy-tcp", "m-tcp", "i-tcp", "mtcp"] {
        // Far from the fixed host, so that a box may answer before it does.
        let (far, long) = (("links.wired.delay", "70 ms"), ("duration", "60 s"));
        let changes = [("proxies.base.proxy", proxy), far, long];
        let scenario = scenario("fading-access-point", &changes);
        for timeline in [VirtualTime::exact(), late_at_random(9)] {
            let moved = move_bytes(&scenario, timeline, &data, &data[..50_000]);
            assert_eq!((moved.up.len(), moved.down.len()), (LENGTH, 50_000), "{proxy}");
            assert!(moved.up == data && moved.down == data[..50_000], "{proxy}: not as sent");
            let counts = moved.counts;
            assert_eq!((counts.without_bytes, counts.malformed), (0, 0), "{proxy}: {counts:?}");
            let split = ["i-tcp", "mtcp"].contains(&proxy);
            assert!(!split || counts.made > 200, "{proxy} makes every packet anew: {counts:?}");
            assert!(proxy != "none" || counts.made == 0, "{counts:?}");
        }
    }
}
