//! Whole runs: physics first, then determinism.

use ackord_events::{EndpointId, Event, LinkId, NoSink, Recorder, Sink};
use ackord_scenario::{Scenario, ScenarioFile, Way};
use ackord_sim::{Simulation, Topology};
use ackord_units::{Bytes, Time};
use ackord_wire::FlowId;
use std::collections::BTreeMap;

fn library(name: &str) -> Scenario {
    ScenarioFile::from_library(name).and_then(|file| file.check()).expect("a library scenario")
}

fn run(scenario: &Scenario, seed: u64) -> Simulation {
    let mut simulation = Simulation::new(scenario, seed).expect("a checked scenario builds");
    simulation.run_until(Time::ZERO + scenario.duration, &mut NoSink);
    simulation.finish(&mut NoSink).expect("packets are conserved");
    simulation
}

/// The scenario's link of this name as the graph numbers it.
fn link(scenario: &Scenario, name: &str) -> LinkId {
    let index = scenario.links.iter().position(|link| link.name == name).expect("a link");
    Topology::link_id(index, Way::Forward)
}

/// Bytes of a flow's workload that have arrived.
fn received(scenario: &Scenario, simulation: &Simulation, flow: usize) -> u64 {
    let side = scenario.flows[flow].sends.other();
    let endpoint = EndpointId { flow: FlowId(flow as u32), side };
    simulation.connection(endpoint).bytes_received()
}

#[test]
fn ten_flows_fill_the_bottleneck_and_never_more() {
    let scenario = library("dumbbell");
    let simulation = run(&scenario, 1);
    let bottleneck = link(&scenario, "bottleneck");
    let busy = simulation.graph().busy_for(bottleneck, simulation.now());
    let share = busy.as_secs_f64() / simulation.now().as_secs_f64();
    assert!((0.85..=1.0).contains(&share), "busy for {share} of the run");
    let capacity = scenario.links[0].forward.rate.bytes_in(scenario.duration);
    let goodput: Bytes =
        (0..scenario.flows.len()).map(|flow| Bytes(received(&scenario, &simulation, flow))).sum();
    assert!(goodput < capacity, "{goodput} through a link that carries {capacity}");
}

#[test]
fn every_library_scenario_runs_and_conserves_packets() {
    for (name, _) in ackord_scenario::library() {
        let mut scenario = library(name);
        // Long enough for loss and recovery, short enough for a debug build.
        scenario.duration = scenario.duration.min(ackord_units::Span::from_secs(3));
        let simulation = run(&scenario, scenario.seed);
        assert!(
            received(&scenario, &simulation, 0) > 0,
            "{name}: the first flow delivers something"
        );
    }
}

/// Keeps what each link tells, and what all others do, taps apart.
#[derive(Debug, Default, PartialEq)]
struct ByLink {
    links: BTreeMap<u32, Vec<String>>,
    others: Vec<String>,
}

impl Sink for ByLink {
    fn needs_order(&self) -> bool {
        false
    }

    fn emit(&mut self, at: Time, event: Event<'_>) {
        let told = format!("{at} {event:?}");
        match event {
            Event::PacketEnqueued { link, .. }
            | Event::PacketDequeued { link, .. }
            | Event::PacketDropped { link, .. } => self.links.entry(link.0).or_default().push(told),
            Event::PacketTapped { .. } => {}
            _ => self.others.push(told),
        }
    }
}

/// Whether packets take one step per link or as few as they can: for every path of the library.
#[test]
fn looking_ahead_changes_nothing() {
    for (name, _) in ackord_scenario::library() {
        let mut scenario = library(name);
        scenario.duration = scenario.duration.min(ackord_units::Span::from_secs(3));
        let come_to = |looks_ahead: bool| {
            let mut simulation = Simulation::new(&scenario, 1).expect("builds");
            if looks_ahead {
                simulation.look_ahead();
            }
            let mut told = ByLink::default();
            simulation.run_until(Time::ZERO + scenario.duration, &mut told);
            let packets = simulation.finish(&mut told).expect("packets are conserved");
            let (graph, now) = (simulation.graph(), simulation.now());
            let links = (0..graph.links() as u32).map(LinkId);
            let links = links.map(|id| (graph.link_stats(id).clone(), graph.busy_for(id, now)));
            let flows = 0..scenario.flows.len();
            let flows = flows.map(|flow| received(&scenario, &simulation, flow));
            (now, packets, links.collect::<Vec<_>>(), flows.collect::<Vec<_>>(), told)
        };
        let (expected, found) = (come_to(false), come_to(true));
        assert!(expected == found, "{name}");
    }
}

#[test]
fn the_same_seed_gives_the_same_events_and_another_seed_others() {
    let mut scenario = library("lossy-wifi");
    scenario.duration = ackord_units::Span::from_secs(2);
    let events = |seed| {
        let mut simulation = Simulation::new(&scenario, seed).expect("builds");
        let mut recorder = Recorder::default();
        simulation.run_until(Time::ZERO + scenario.duration, &mut recorder);
        simulation.finish(&mut recorder).expect("packets are conserved");
        recorder.0
    };
    let first = events(1);
    assert!(first.len() > 1_000);
    assert!(first == events(1), "the same seed gives the same events");
    assert!(first != events(2), "another seed gives others");
}

#[test]
fn running_in_steps_changes_nothing() {
    let mut scenario = library("lossy-wifi");
    scenario.duration = ackord_units::Span::from_secs(2);
    let events = |steps: u64| {
        let mut simulation = Simulation::new(&scenario, 1).expect("builds");
        let mut recorder = Recorder::default();
        for step in 1..=steps {
            let until = Time::ZERO + scenario.duration * step / steps;
            simulation.run_until(until, &mut recorder);
        }
        simulation.finish(&mut recorder).expect("packets are conserved");
        recorder.0
    };
    assert!(events(1) == events(97));
}

/// Three flows between hosts of their own, alike in everything, started at the same instant.
const ALIKE: &str = r#"
version = 1
name = "alike"
purpose = "everything happens three times at the same nanosecond"
source = "this project"
seed = 1
duration = "1 s"
[hosts.left]
count = 3
[hosts.right]
count = 3
[[links]]
from = "left-*"
to = "right-*"
rate = "10 Mbit/s"
delay = "5 ms"
[[flows]]
name = "flow-*"
from = "left-*"
to = "right-*"
traffic = { kind = "bulk", size = "200 kB" }
"#;

/// The written order: at one instant, what happens on the path by link, then timers of endpoints
/// by flow, then applications by flow. Flows that are alike therefore take turns in their order.
#[test]
fn what_happens_at_the_same_instant_happens_in_order_of_kind_and_number() {
    let scenario = ScenarioFile::new("alike", ALIKE).check().expect("a sound scenario");
    let mut simulation = Simulation::new(&scenario, 1).expect("builds");
    let mut log = InOrder::default();
    simulation.run_until(Time::ZERO + scenario.duration, &mut log);
    assert!(log.turns > 300, "only {} events of endpoints", log.turns);
}

/// Asserts that the endpoints' events of one instant come in order of flow.
#[derive(Default)]
struct InOrder {
    last: (Time, u32),
    turns: usize,
}

impl ackord_events::Sink for InOrder {
    fn emit(&mut self, at: Time, event: ackord_events::Event<'_>) {
        if let ackord_events::Event::SegmentSent { endpoint, .. } = event {
            let key = (at, endpoint.flow.0);
            assert!(key >= self.last, "{key:?} after {:?}", self.last);
            self.last = key;
            self.turns += 1;
        }
    }
}
