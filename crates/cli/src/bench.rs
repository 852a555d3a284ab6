//! `ackord bench`: the dumbbell on which simulators are compared, untraced.
//!
//! The network is the one that `benches/peers/README.md` describes; the other simulators' programs
//! lie beside that file. The time is taken by whoever calls, over the whole process.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use ackord_events::NoSink;
use ackord_report::data;
use ackord_scenario::{Override, Scenario, ScenarioFile, Way};
use ackord_sim::{Simulation, Topology};
use ackord_units::{Quantity, Span, Time};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use std::num::NonZeroU16;
use std::time::Instant;

/// What a packet costs in the simulator
#[derive(Args)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    network: Network,
}

#[derive(Subcommand)]
enum Network {
    Dumbbell(DumbbellArguments),
}

/// N senders, a bottleneck of 10 Mbit/s times N, N receivers
#[derive(Args)]
struct DumbbellArguments {
    /// How many flows
    #[arg(long, value_name = "N")]
    flows: NonZeroU16,
    /// A pair of hosts per flow, or one pair for all
    #[arg(long, value_enum, default_value = "leaf")]
    topology: Shape,
    /// Simulated time
    #[arg(long, value_name = "SPAN", value_parser = Span::parse, default_value = "20 s")]
    duration: Span,
    /// Where the result goes: a file, or `-` for standard output
    #[arg(long, value_name = "FILE|-", default_value = "-")]
    json: JsonTarget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Leaf,
    Host,
}

#[derive(Serialize)]
struct Measured {
    topology: &'static str,
    flows: u16,
    simulated_s: f64,
    /// Data packets whose transmission over the bottleneck began.
    packets: u64,
    drops: u64,
    utilisation: f64,
    wall_ns_per_packet: Option<f64>,
}

pub(crate) fn bench(arguments: &BenchArguments, console: &Console) -> Result<(), Failure> {
    let Network::Dumbbell(arguments) = &arguments.network;
    let file = ScenarioFile::new("the dumbbell", text(arguments.flows.get(), arguments.topology));
    // Flows start within the first second; a shorter run builds the network and sends little.
    let scenario = file.with_overrides([Override::new("duration", LONGEST)]).check()?;
    let measured = measure(&scenario, arguments)?;
    // One line, so that several runs read as a table.
    let json = data::to_json(&measured).split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    arguments.json.write(&json, console)
}

fn measure(scenario: &Scenario, arguments: &DumbbellArguments) -> Result<Measured, Failure> {
    let began = Instant::now();
    let mut simulation =
        Simulation::new(scenario, scenario.seed).map_err(ackord_study::ExecuteError::from)?;
    simulation.run_until(Time::ZERO + arguments.duration, &mut NoSink);
    simulation.finish(&mut NoSink).map_err(ackord_study::ExecuteError::from)?;
    let wall = began.elapsed();
    let place = scenario.links.iter().position(|link| link.name == BOTTLENECK);
    let place = place.expect("the text below has it");
    let stats = simulation.graph().link_stats(Topology::link_id(place, Way::Forward));
    let capacity = scenario.links[place].forward.rate.bytes_in(arguments.duration);
    Ok(Measured {
        topology: match arguments.topology {
            Shape::Leaf => "leaf",
            Shape::Host => "host",
        },
        flows: arguments.flows.get(),
        simulated_s: simulation.now().as_secs_f64(),
        packets: stats.packets,
        drops: stats.drops.total(),
        utilisation: stats.bytes as f64 / capacity.get() as f64,
        wall_ns_per_packet: (stats.packets > 0)
            .then(|| (wall.as_nanos() as f64 / stats.packets as f64).round()),
    })
}

/// No run is longer than this.
const LONGEST: &str = "3600 s";
const BOTTLENECK: &str = "bottleneck";

/// The scenario, with the numbers of `benches/peers/README.md`.
fn text(flows: u16, shape: Shape) -> String {
    let rate_mbit = 10 * u64::from(flows);
    let bdp_packets = rate_mbit * 1_000_000 * 40 / 1_000 / 8 / 1_500;
    let (hosts, access_mbit) = match shape {
        Shape::Leaf => (flows, 100),
        Shape::Host => (1, 10 * rate_mbit),
    };
    let ample = "{ kind = 'drop-tail', limit = '1000000 packets' }";
    let traffic = "start = { from = '0 s', to = '1 s' }\ntraffic = 'bulk'\n";
    let flow = |name: &str, ends: &str| format!("[[flows]]\nname = '{name}'\n{ends}\n{traffic}");
    let all_flows: String = match shape {
        Shape::Leaf => flow("flow-*", "from = 'left-*'\nto = 'right-*'"),
        Shape::Host => (1..=flows)
            .map(|number| flow(&format!("flow-{number}"), "from = 'left-1'\nto = 'right-1'"))
            .collect(),
    };
    format!(
        "version = 1
name = 'dumbbell-{flows}'
purpose = 'what a packet costs'
source = 'benches/peers'
seed = 1
duration = '20 s'
[hosts.left]
count = {hosts}
[hosts.right]
count = {hosts}
[routers.a]
[routers.b]
[tcp]
congestion = 'reno'
recovery = 'newreno'
ack = 'immediate'
nagle = 'off'
mss = '1460 B'
initial_window = 10
sack = 'off'
timestamps = 'off'
rto_min = '200 ms'
send_buffer = '1 MB'
receive_buffer = '1 MB'
[[links]]
from = 'left-*'
to = 'a'
rate = '{access_mbit} Mbit/s'
delay = '1 ms'
queue = {ample}
[[links]]
from = 'b'
to = 'right-*'
rate = '{access_mbit} Mbit/s'
delay = '1 ms'
queue = {ample}
[[links]]
name = '{BOTTLENECK}'
from = 'a'
to = 'b'
rate = '{rate_mbit} Mbit/s'
delay = '18 ms'
queue = {{ kind = 'drop-tail', limit = '{bdp_packets} packets' }}
reverse = {{ queue = {ample} }}
{all_flows}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_topologies_carry_as_many_flows_as_were_asked_for() {
        for (flows, shape) in
            [(1, Shape::Leaf), (7, Shape::Leaf), (1, Shape::Host), (7, Shape::Host)]
        {
            let file = ScenarioFile::new("the dumbbell", text(flows, shape));
            let scenario = file.check().expect("sound");
            assert_eq!(scenario.flows.len(), usize::from(flows), "{shape:?}");
        }
    }
}
