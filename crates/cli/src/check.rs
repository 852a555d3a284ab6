//! `ackord check`: whether a scenario file is sound, and what it comes to mean.

use crate::console::Console;
use crate::cost;
use crate::errors::Failure;
use crate::input::ScenarioArguments;
use ackord_report::data;
use ackord_scenario::{NodeKind, Scenario};
use clap::Args;

/// Check a scenario file without running it
///
/// Everything wrong with it is reported at once, each with its line, what is allowed there, and the
/// name that was probably meant.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Print the file with everything written out: groups, both directions of links, every knob
    #[arg(long)]
    canonical: bool,
    /// Print every problem as JSON to standard output, for editors: `[]` where there is none
    ///
    /// An array of objects: `file`, `line` and `column` (from one; null for the file as such), `override` (the
    /// `--set` that is wrong, else null), `key`, `message`, `help` (what is allowed or known) and `suggestion` (the name that was
    /// probably meant, or the line that is missing; else null). The exit code is 2 if there is a problem.
    #[arg(long, conflicts_with = "canonical")]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ackord check my.toml
  ackord check my.toml --canonical
  ackord check my.toml --json | jq -r '.[] | \"\\(.file):\\(.line):\\(.column): \\(.message)\"'";

pub(crate) fn check(arguments: &CheckArguments, console: &Console) -> Result<(), Failure> {
    let checked = arguments.scenario.open().and_then(|file| Ok(file.check()?));
    if arguments.json {
        return list_problems(checked, console);
    }
    let scenario = checked?;
    let text = if arguments.canonical { scenario.canonical() } else { overview(&scenario) };
    console.print(&text)?;
    for missing in scenario.directions_not_captured() {
        console.remark(&missing);
    }
    Ok(())
}

/// Prints the problems of a scenario as JSON.
fn list_problems(checked: Result<Scenario, Failure>, console: &Console) -> Result<(), Failure> {
    let problems = match checked {
        Ok(_) => Vec::new(),
        Err(Failure::Scenario(errors)) => errors.listed(),
        Err(other) => return Err(other),
    };
    console.print(&data::to_json(&problems))?;
    if problems.is_empty() { Ok(()) } else { Err(Failure::ProblemsListed) }
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
