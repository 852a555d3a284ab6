//! `ackord bench`: the dumbbell on which simulators are compared, untraced.
//!
//! The time is also taken by whoever calls, over the whole process.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use ackord_report::data;
use ackord_study::{Dumbbell, DumbbellRun};
use ackord_units::{Quantity, Span};
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
    #[serde(flatten)]
    run: DumbbellRun,
    wall_ns_per_packet: Option<f64>,
}

pub(crate) fn bench(arguments: &BenchArguments, console: &Console) -> Result<(), Failure> {
    let Network::Dumbbell(arguments) = &arguments.network;
    let (flows, own_hosts) = (arguments.flows.get(), arguments.topology == Shape::Leaf);
    let dumbbell = Dumbbell { flows, own_hosts };
    let scenario = dumbbell.scenario()?;
    let began = Instant::now();
    let run = dumbbell.run(&scenario, arguments.duration)?;
    let wall = began.elapsed().as_nanos() as f64;
    let each = |packets: u64| (packets > 0).then(|| (wall / packets as f64).round());
    let measured = Measured { wall_ns_per_packet: each(run.packets), run };
    // One line, so that several runs read as a table.
    let json = data::to_json(&measured).split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    arguments.json.write(&json, console)
}
