//! `ackord check`: whether a scenario file is sound, and what it comes to mean.

use crate::console::Console;
use crate::cost;
use crate::errors::Failure;
use crate::input::ScenarioArguments;
use ackord_scenario::{NodeKind, Scenario};
use clap::Args;

/// Check a scenario file without running it
///
/// Everything wrong with it is told at once, each with its line, what is allowed there, and the
/// name that was probably meant.
#[derive(Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Print the file with everything written out: groups, both directions of links, every knob
    #[arg(long)]
    canonical: bool,
}

pub(crate) fn check(arguments: &CheckArguments, console: &Console) -> Result<(), Failure> {
    let scenario = arguments.scenario.open()?.check()?;
    let text = if arguments.canonical { scenario.canonical() } else { overview(&scenario) };
    console.print(&text)?;
    for missing in scenario.directions_not_captured() {
        console.remark(&missing);
    }
    Ok(())
}

fn overview(scenario: &Scenario) -> String {
    let of = |kind| scenario.nodes.iter().filter(|node| node.kind == kind).count();
    format!(
        "{} is sound: {}, {}, {}, {}, {} of simulated time, seed {}, hash {}; a run takes up to about {}\n",
        scenario.name,
        counted(of(NodeKind::Host), "host"),
        counted(of(NodeKind::Router), "router"),
        counted(scenario.links.len(), "link"),
        counted(scenario.flows.len(), "flow"),
        scenario.duration,
        scenario.seed,
        scenario.hash(),
        cost::words(ackord_study::cost(scenario, scenario.seed))
    )
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
