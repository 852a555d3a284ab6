//! Flows that are no connections: where their packets go, and what they do to those that are.

use ackord_events::{Event, Sink};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::{Bytes, Span, Time};
use ackord_wire::FlowId;

fn one_link(changes: &[(&str, &str)]) -> Scenario {
    let changes = changes.iter().map(|(path, value)| Override::new(*path, *value));
    let text = r#"
version = 1
name = "one-link"
purpose = "Datagrams over one link, alone or beside a transfer"
source = "this project"
seed = 3
duration = "10 s"
[hosts.a]
[hosts.b]
[[links]]
name = "link"
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = "5 ms"
queue = { kind = "drop-tail", limit = "20 packets" }
[[flows]]
name = "noise"
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "1 Mbit/s", packet = "1000 B" }
"#;
    ScenarioFile::new("one-link", text.to_owned())
        .with_overrides(changes)
        .check()
        .unwrap_or_else(|errors| panic!("{errors}"))
}

#[derive(Default)]
struct Seen {
    sent: u64,
    delays: Vec<Span>,
    dropped: u64,
    transferred: Bytes,
}

impl Sink for Seen {
    fn emit(&mut self, _: Time, event: Event<'_>) {
        match event {
            Event::DatagramSent { payload, .. } => {
                assert_eq!(payload, Bytes(972));
                self.sent += 1;
            }
            Event::DatagramDelivered { one_way_delay, .. } => self.delays.push(one_way_delay),
            Event::PacketDropped { packet, .. } if packet.flow == FlowId(0) => self.dropped += 1,
            Event::DataDelivered { bytes, .. } => self.transferred += bytes,
            _ => {}
        }
    }
}

fn run(scenario: &Scenario) -> Seen {
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("builds");
    let mut seen = Seen::default();
    simulation.run_until(Time::ZERO + scenario.duration, &mut seen);
    let conservation = simulation.finish(&mut seen).expect("packets are conserved");
    assert_eq!(simulation.now(), Time::ZERO + scenario.duration, "datagrams never end a run");
    let accounted = seen.delays.len() as u64 + seen.dropped;
    assert!(seen.sent - accounted <= conservation.in_flight);
    seen
}

#[test]
fn alone_below_the_rate_of_the_link_everything_arrives_after_one_transmission_and_the_way() {
    let seen = run(&one_link(&[]));
    // One every 8 ms from the start, both ends of the run included.
    assert_eq!((seen.sent, seen.dropped), (1_251, 0));
    // 1000 B at 2 Mbit/s are 4 ms.
    assert!(seen.delays.iter().all(|delay| *delay == Span::from_millis(9)));
}

#[test]
fn above_the_rate_of_the_link_the_excess_dies_and_the_rest_waits_for_a_full_queue() {
    let seen = run(&one_link(&[("flows.noise.traffic.rate", "4 Mbit/s")]));
    let lost = seen.dropped as f64 / seen.sent as f64;
    assert!((lost - 0.5).abs() < 0.01, "{lost}");
    // 20 packets in line, one in transmission, one's own: 22 * 4 ms less at most one, and 5 ms.
    let longest = seen.delays.iter().max().copied();
    assert!(longest.is_some_and(|longest| longest <= Span::from_millis(89)), "{longest:?}");
    let median = seen.delays[seen.delays.len() / 2];
    assert!(median >= Span::from_millis(81), "{median}");
}

#[test]
fn a_transfer_beside_datagrams_gets_what_they_leave() {
    let bulk = "[{ name = 'noise', from = 'a', to = 'b', traffic = { kind = 'cbr', packet = '1000 B' } }, \
                { name = 'bulk', from = 'a', to = 'b', traffic = 'bulk', tcp = { congestion = 'reno' } }]";
    let seen = run(&one_link(&[("flows", bulk)]));
    let goodput = seen.transferred.get() as f64 * 8.0 / 10.0;
    // Half the link is left, of which headers take about 4 %.
    assert!((0.7e6..1.0e6).contains(&goodput), "{goodput}");
    // Every loss halves Reno; what datagrams lose, nobody answers.
    assert!(seen.delays.len() as f64 > 0.9 * seen.sent as f64);
}

#[test]
fn a_poisson_flow_and_bursts_repeat_with_their_seed() {
    let changes = [
        ("flows.noise.traffic.timing", "exponential"),
        ("flows.noise.traffic.off", "500 ms"),
        ("flows.noise.traffic.on", "500 ms"),
        ("flows.noise.traffic.off_distribution", "pareto"),
    ];
    let scenario = one_link(&changes);
    let delays = |seed| run(&Scenario { seed, ..scenario.clone() }).delays;
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}
