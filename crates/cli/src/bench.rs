//! `ackord bench`: the dumbbell on which simulators are compared, untraced.
//!
//! The time is also taken by whoever calls, over the whole process.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use ackord_report::{data, write_one};
use ackord_study::{Dumbbell, DumbbellRun, DumbbellStack};
use ackord_units::{Quantity, Span};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use std::num::NonZeroU32;
use std::path::PathBuf;
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
    flows: NonZeroU32,
    /// A pair of hosts per flow, or one pair for all
    #[arg(long, value_enum, default_value = "leaf")]
    topology: Shape,
    /// Congestion control and what goes with it
    #[arg(long, value_enum, default_value = "newreno")]
    tcp: Stack,
    /// Simulated time
    #[arg(long, value_name = "SPAN", value_parser = Span::parse, default_value = "20 s")]
    duration: Span,
    /// Where the result goes: a file, or `-` for standard output
    #[arg(long, value_name = "FILE|-", default_value = "-")]
    json: JsonTarget,
    /// Write the network as a scenario to this file, for other commands, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    scenario: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Leaf,
    Host,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Stack {
    /// NewReno without SACK and timestamps
    Newreno,
    /// Reno's window with SACK, without timestamps
    RenoSack,
    /// CUBIC with SACK and timestamps
    Cubic,
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
    let stack = match arguments.tcp {
        Stack::Newreno => DumbbellStack::NewReno,
        Stack::RenoSack => DumbbellStack::RenoSack,
        Stack::Cubic => DumbbellStack::Cubic,
    };
    let dumbbell = Dumbbell { flows, own_hosts, stack };
    let scenario = dumbbell.scenario()?;
    if let Some(path) = &arguments.scenario {
        return Ok(write_one(path, dumbbell.text().as_bytes())?);
    }
    let began = Instant::now();
    let run = dumbbell.run(&scenario, arguments.duration)?;
    let wall = began.elapsed().as_nanos() as f64;
    let each = |packets: u64| (packets > 0).then(|| (wall / packets as f64).round());
    let measured = Measured { wall_ns_per_packet: each(run.packets), run };
    // One line, so that several runs read as a table.
    let json = data::to_json(&measured).split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    arguments.json.write(&json, console)
}
