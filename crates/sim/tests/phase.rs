//! Phase effects: Floyd and Jacobson 1992. Where access links are as fast as the bottleneck, what
//! arrives at the full queue arrives in step with what leaves it, and which of two packets at one
//! instant comes first decides the same way every time.

use ackord_events::{EndpointId, Event, Sink};
use ackord_scenario::{Scenario, ScenarioFile};
use ackord_sim::Simulation;
use ackord_units::Time;
use ackord_wire::FlowId;

/// Reno and Vegas over equal links of 10 Mbit/s and 1 ms, whose links stand in this order.
fn dumbbell(order: [&str; 2], host: &str, tcp: &str) -> Scenario {
    let mut text = format!(
        r#"
version = 1
name = "phase"
purpose = "access links as fast as the bottleneck"
source = "Floyd and Jacobson 1992"
seed = 1
duration = "30 s"
tcp = {{ {tcp}profile = "ns2", mss = "1000 B" }}
[hosts]
reno = {{ {host} }}
vegas = {{ {host} }}
receiver = {{ {host} }}
[routers]
n1 = {{}}
n2 = {{}}
[[flows]]
name = "reno"
from = "reno"
to = "receiver"
start = {{ from = "0 s", to = "1 s" }}
traffic = "bulk"
[[flows]]
name = "vegas"
from = "vegas"
to = "receiver"
start = {{ from = "0 s", to = "1 s" }}
traffic = "bulk"
tcp = {{ congestion = "vegas", loss = "vegas" }}
"#
    );
    let queues = ["50 packets", "1000 packets", "1000 packets", "1000 packets"];
    let ends = [("n1", "n2"), (order[0], "n1"), (order[1], "n1"), ("n2", "receiver")];
    for ((from, to), limit) in ends.into_iter().zip(queues) {
        text += &format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\n\
             delay = \"1 ms\"\nqueue = {{ kind = \"drop-tail\", limit = \"{limit}\" }}\n"
        );
    }
    ScenarioFile::new("phase", text.as_str()).check().expect("a sound scenario")
}

/// Vegas's rate in percent of Reno's.
fn share_of_vegas(scenario: &Scenario, seed: u64) -> f64 {
    let mut simulation = Simulation::new(scenario, seed).expect("builds");
    let mut nobody = ackord_events::NoSink;
    simulation.run_until(Time::ZERO + scenario.duration, &mut nobody);
    simulation.finish(&mut nobody).expect("packets are conserved");
    let octets = |flow: u32| {
        let side = scenario.flows[flow as usize].sends.other();
        let endpoint = EndpointId { flow: FlowId(flow), side };
        simulation.connection(endpoint).bytes_received() as f64
    };
    100.0 * octets(1) / octets(0)
}

const ORDERS: [[&str; 2]; 2] = [["reno", "vegas"], ["vegas", "reno"]];

#[test]
fn which_packet_comes_first_at_one_instant_decides_who_starves_until_hosts_take_a_time() {
    let jitter = r#"processing = { kind = "jitter", up_to = "832 us" }"#;
    for seed in 1..=3 {
        // ns-2 2.35 says the same: with Vegas's access a picosecond longer 0.4 %, with Reno's 29 %,
        // whenever the two start.
        let shares = ORDERS.map(|order| share_of_vegas(&dumbbell(order, "", ""), seed));
        println!("seed {seed}, in step: {shares:.2?} %");
        assert!(shares[0] < 5.0, "{}", shares[0]);
        assert!(shares[1] > 15.0, "{}", shares[1]);
        // A packet takes the bottleneck 832 us. With that as the longest time nothing comes at one
        // instant, and the order of links means nothing. (How much Vegas then gets varies: 0.1 to 22 %
        // in ns-2 with the same times of its senders.)
        let shares = ORDERS.map(|order| share_of_vegas(&dumbbell(order, jitter, ""), seed));
        println!("seed {seed}, with jitter: {shares:.2?} %");
        assert!((shares[0] - shares[1]).abs() < 1e-9, "{shares:?}");
    }
}

/// With windows of twenty nothing is lost. Of `n` packets in flight beside Reno's twenty,
/// n (1 - base / rtt) wait, where a bottleneck of 832 us gives rtt = (20 + n) 832 us and the empty
/// path, six hops of 1 ms, three of 832 us and three of 32 us, base = 8.59 ms: 1.1 of two, 2.9 of
/// five, 3.6 of six. So Vegas may keep two to five; ns-2 2.35 keeps five. Which it is, slow start says.
#[test]
fn with_windows_of_twenty_vegas_keeps_between_alpha_and_beta_packets_waiting() {
    for order in ORDERS {
        for seed in 1..=3 {
            let share = share_of_vegas(&dumbbell(order, "", "max_window = 20, "), seed);
            let in_flight = share / 100.0 * 20.0;
            let rtt_ms = (20.0 + in_flight) * 0.832;
            let waiting = in_flight * (1.0 - 8.59 / rtt_ms);
            println!("{order:?}: {in_flight:.2} in flight, {waiting:.2} of them wait");
            assert!((1.0..=3.0).contains(&waiting), "{waiting}");
        }
    }
}

/// When each of one flow's data segments was sent.
#[derive(Default)]
struct Sent(Vec<(Time, u32)>);

impl Sink for Sent {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Event::SegmentSent { endpoint, seq, .. } = event
            && endpoint.flow == FlowId(1)
        {
            self.0.push((at, seq.0));
        }
    }
}

#[test]
fn one_host_s_time_changes_nothing_that_others_draw() {
    let run = |processing: &str| {
        let text = format!(
            r#"
version = 1
name = "apart"
purpose = "two paths with nothing in common"
source = "this project"
seed = 5
duration = "5 s"
hosts = {{ a = {{ {processing} }}, b = {{}}, c = {{ processing = "jitter" }}, d = {{}} }}
[[links]]
from = "a"
to = "b"
rate = "5 Mbit/s"
delay = "10 ms"
[[links]]
from = "c"
to = "d"
rate = "5 Mbit/s"
delay = "10 ms"
loss = {{ kind = "random", per_packet = "1 %" }}
[[flows]]
name = "other"
from = "a"
to = "b"
traffic = "bulk"
[[flows]]
name = "watched"
from = "c"
to = "d"
start = {{ from = "0 s", to = "1 s" }}
traffic = "bulk"
"#
        );
        let scenario = ScenarioFile::new("apart", text.as_str()).check().expect("a sound scenario");
        let mut simulation = Simulation::new(&scenario, scenario.seed).expect("builds");
        let mut sent = Sent::default();
        simulation.run_until(Time::ZERO + scenario.duration, &mut sent);
        simulation.finish(&mut sent).expect("packets are conserved");
        sent.0
    };
    let without = run("");
    assert!(without.len() > 500, "{}", without.len());
    assert!(without == run("processing = \"jitter\""), "another host's draws moved this flow");
}
