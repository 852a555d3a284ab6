//! Hosts that are not simulated: a run in which a test stands for one of them is the same run.

use ackord_events::{EndpointId, Event, NoSink, Recorder, Sink};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_sim::{FOREIGN, Simulation, initial_sequence, start_time};
use ackord_tcp::{Connection, Outbound};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, FlowId, IpVersion, NodeId, Packet, Segment, Side};

fn scenario(name: &str, changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let file = ScenarioFile::from_library(name).expect("it comes along");
    file.with_overrides(changes).check().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Everything that happened, but for the numbers that drivers give to packets.
#[derive(Default)]
struct Log(Vec<(Time, String)>);

impl Sink for Log {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        let text = format!("{event:?}");
        let without_tags: String = text
            .split("tag: ")
            .map(|part| part.trim_start_matches(|digit: char| digit.is_ascii_digit()))
            .collect();
        self.0.push((at, without_tags));
    }
}

/// The scenario's receiver, outside of the simulation: it reads whatever comes.
struct Outside {
    connection: Connection,
    node: NodeId,
    peer: NodeId,
    sent: u64,
}

impl Outside {
    fn receiver(scenario: &Scenario, side: Side) -> Outside {
        let flow = &scenario.flows[0];
        let (node, peer) = match side {
            Side::Client => (flow.client, flow.server),
            Side::Server => (flow.server, flow.client),
        };
        let choices = flow.tcp(side);
        let connection = Connection::listen(
            choices.config(),
            choices.mechanisms(),
            EndpointId { flow: FlowId(0), side },
            initial_sequence(scenario.seed, flow, side),
        );
        Outside { connection, node, peer, sent: 0 }
    }

    /// Reads, and sends what there is to send.
    fn work(&mut self, now: Time, side: Side, simulation: &mut Simulation, log: &mut Log) {
        let readable = self.connection.readable();
        if readable > Bytes::ZERO {
            self.connection.read(readable);
        }
        if self.connection.peer_finished() {
            self.connection.close();
        }
        while let Some(Outbound { segment, ecn }) = self.connection.poll_segment(now, log) {
            self.sent += 1;
            let ip = IpVersion::V4;
            let packet = Packet {
                flow: FlowId(0),
                from: side,
                src: self.node,
                dst: self.peer,
                ip,
                ecn,
                ip_len: ip.header_len() + segment.header_len() + segment.payload_len,
                tag: FOREIGN | self.sent,
                tcp: Some(segment),
            };
            simulation.handle_foreign(now, packet, log);
        }
    }
}

/// The log of `scenario` with the receiver of its flow outside.
fn with_receiver_outside(scenario: &Scenario) -> Vec<(Time, String)> {
    let side = scenario.flows[0].sends.other();
    let mut outside = Outside::receiver(scenario, side);
    let mut simulation = Simulation::with_foreign(scenario, scenario.seed, &[outside.node])
        .expect("a checked scenario builds");
    let mut log = Log::default();
    if side == Side::Client {
        let at = start_time(scenario.seed, &scenario.flows[0]);
        simulation.run_until(at, &mut log);
        outside.connection.open(at, &mut log);
        outside.work(at, side, &mut simulation, &mut log);
    }
    let end = Time::ZERO + scenario.duration;
    while !simulation.is_over() {
        let timer = outside.connection.deadline().unwrap_or(Time::NEVER);
        let next = simulation.deadline().unwrap_or(Time::NEVER).min(timer).min(end);
        simulation.run_until(next, &mut log);
        while let Some(delivery) = simulation.poll_foreign() {
            if delivery.node != outside.node {
                assert_ne!(delivery.packet.tag & FOREIGN, 0, "it came from outside");
                continue;
            }
            assert_eq!(delivery.at, next, "told when it happens");
            let segment = delivery.packet.tcp.expect("TCP");
            let ecn = delivery.packet.ecn;
            outside.connection.handle_segment(next, &segment, ecn, &mut log);
            outside.work(next, side, &mut simulation, &mut log);
        }
        if outside.connection.deadline().is_some_and(|at| at <= next) {
            outside.connection.handle_deadline(next, &mut log);
            outside.work(next, side, &mut simulation, &mut log);
        }
    }
    simulation.finish(&mut log).expect("every packet is accounted for");
    log.0
}

fn all_inside(scenario: &Scenario) -> Vec<(Time, String)> {
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("it builds");
    let mut log = Log::default();
    simulation.run_until(Time::ZERO + scenario.duration, &mut log);
    simulation.finish(&mut log).expect("every packet is accounted for");
    log.0
}

#[test]
fn a_receiver_outside_that_does_as_the_one_inside_gives_the_same_log() {
    for (name, changes) in [
        ("lossy-wifi", &[("duration", "3 s")][..]),
        ("fading-access-point", &[("duration", "4 s")]),
        ("one-flow", &[("duration", "2 s")]),
    ] {
        let scenario = scenario(name, changes);
        let (inside, outside) = (all_inside(&scenario), with_receiver_outside(&scenario));
        assert!(inside.len() > 500, "{name}: something has happened");
        let differs = inside.iter().zip(&outside).position(|(a, b)| a != b);
        let at = differs.map(|at| (&inside[at], &outside[at]));
        assert!(at.is_none(), "{name} differs at event {differs:?}: {at:#?}");
        assert_eq!(inside.len(), outside.len(), "{name}");
    }
}

fn foreign_packet(src: NodeId, dst: NodeId, flow: u32, flags: Flags) -> Packet {
    let segment = Segment { seq: Seq(9), flags, ..Segment::default() };
    Packet {
        flow: FlowId(flow),
        from: Side::Client,
        src,
        dst,
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 40,
        tag: FOREIGN | 1,
        tcp: Some(segment),
    }
}

#[test]
fn a_segment_for_nobody_is_reset_and_a_reset_for_nobody_is_not() {
    let scenario = scenario("lossy-wifi", &[("flows.*.start", "3 s")]);
    let flow = &scenario.flows[0];
    for (flags, answers) in [(Flags::SYN, 1), (Flags::RST, 0)] {
        let mut simulation =
            Simulation::with_foreign(&scenario, 1, &[flow.client]).expect("it builds");
        let packet = foreign_packet(flow.client, flow.server, 70_000, flags);
        simulation.handle_foreign(Time::from_nanos(5), packet, &mut NoSink);
        simulation.run_until(Time::ZERO + Span::from_secs(1), &mut NoSink);
        let got: Vec<_> = std::iter::from_fn(|| simulation.poll_foreign()).collect();
        let resets = got.iter().filter(|got| got.node == flow.client).collect::<Vec<_>>();
        assert_eq!((got.len(), resets.len()), (1 + answers, answers), "{flags:?}");
        let acks = resets.iter().filter_map(|got| got.packet.tcp).map(|segment| segment.ack);
        assert_eq!(acks.collect::<Vec<_>>(), vec![Seq(10); answers]);
    }
}

#[test]
fn a_foreign_sender_is_not_driven_and_its_flow_is_over_when_both_say_so() {
    let scenario = scenario("lossy-wifi", &[("duration", "5 s")]);
    let flow = &scenario.flows[0];
    let sender = if flow.sends == Side::Client { flow.client } else { flow.server };
    let mut simulation =
        Simulation::with_foreign(&scenario, scenario.seed, &[flow.client, flow.server])
            .expect("it builds");
    let mut log = Recorder::default();
    assert_eq!(simulation.deadline(), None, "nobody does anything by himself");
    simulation.run_until(Time::ZERO + Span::from_secs(1), &mut log);
    assert!(log.0.is_empty() && !simulation.is_over() && simulation.is_foreign(sender));
    simulation.flow_over(FlowId(7));
    assert!(!simulation.is_over(), "there is no such flow");
    simulation.flow_over(FlowId(0));
    assert!(simulation.is_over());
    let late = foreign_packet(flow.client, flow.server, 0, Flags::ACK);
    simulation.handle_foreign(Time::ZERO + Span::from_secs(2), late, &mut log);
    assert!(simulation.poll_foreign().is_none() && log.0.is_empty(), "it is over");
    simulation.finish(&mut log).expect("nothing was sent");
}

#[test]
fn foreign_datagrams_arrive_and_ours_arrive_there() {
    let changes =
        [("flows.*.traffic", r#"{ kind = "cbr", rate = "1 Mbit/s", packet = "1000 B" }"#)];
    let scenario = scenario("one-flow", &[&changes[..], &[("duration", "2 s")]].concat());
    let flow = &scenario.flows[0];
    let run = |foreign: &[NodeId], packet: Option<Packet>| {
        let mut simulation =
            Simulation::with_foreign(&scenario, scenario.seed, foreign).expect("it builds");
        let mut log = Recorder::default();
        if let Some(packet) = packet {
            simulation.handle_foreign(Time::from_nanos(5), packet, &mut log);
        }
        simulation.run_until(Time::ZERO + scenario.duration, &mut log);
        let got: Vec<_> = std::iter::from_fn(|| simulation.poll_foreign()).collect();
        let told = |what| log.0.iter().filter(|stamped| stamped.what.contains(what)).count();
        (got, told("DatagramSent"), told("DatagramDelivered"))
    };
    let (from, to) = match flow.sends {
        Side::Client => (flow.client, flow.server),
        Side::Server => (flow.server, flow.client),
    };
    let (inside, sent, delivered) = run(&[], None);
    assert!(inside.is_empty() && sent >= 200 && delivered > 100);
    // A receiver outside gets all of them, and nobody tells of it but the driver.
    let (got, sent_there, told) = run(&[to], None);
    assert_eq!((got.len(), sent_there, told), (delivered, sent, 0));
    assert!(got.iter().all(|got| got.packet.tag & FOREIGN == 0 && got.node == to));
    // A sender outside sends what the driver says and nothing else.
    let packet = Packet { tcp: None, ..foreign_packet(from, to, 0, Flags::ACK) };
    let packet = Packet { from: flow.sends, ..packet };
    let (got, sent, told) = run(&[from], Some(packet));
    assert_eq!((got.len(), sent, told), (1, 0, 0));
    assert_eq!(got[0].packet.len(), Bytes(40));
}
