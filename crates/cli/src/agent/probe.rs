//! `ackord agent probe`: what this kernel lets an agent do.

use crate::console::Console;
#[cfg(not(feature = "agent"))]
use crate::daemons::DaemonFailure;
use crate::daemons::WarnedArguments;
use crate::errors::Failure;
use clap::Args;

/// Tell what an agent could do here: kernel, rights and levers, each tried on a socket of its own
///
/// What is tried is undone at once: this process moves to a control group of its own for a moment and connects to
/// itself. The exit code is 1 if no agent can run; with --exit-code it is 3 if a lever or an option is missing.
#[derive(Args)]
#[command(after_help = "For example:\n  sudo ackord agent probe")]
pub(crate) struct ProbeArguments {
    /// Print JSON instead
    #[arg(long)]
    #[cfg_attr(
        not(feature = "agent"),
        allow(dead_code, reason = "nothing is found without programs")
    )]
    json: bool,
    #[command(flatten)]
    #[cfg_attr(
        not(feature = "agent"),
        allow(dead_code, reason = "nothing is found without programs")
    )]
    warned: WarnedArguments,
}

#[cfg(not(feature = "agent"))]
pub(super) fn probe(_: &ProbeArguments, _: &Console) -> Result<(), Failure> {
    Err(DaemonFailure::WithoutAgent.into())
}

#[cfg(feature = "agent")]
pub(super) fn probe(arguments: &ProbeArguments, console: &Console) -> Result<(), Failure> {
    use ackord_report::document::{Block, Document, Section};
    use ackord_report::{data, table, to_terminal};
    use serde_json::json;
    let findings = ackord_agent::probe::probe();
    let missing: Vec<_> = findings.iter().filter(|one| !one.is_there()).collect();
    let outcome = match missing.iter().any(|one| one.is_needed) {
        true => Err(crate::daemons::DaemonFailure::NoAgentHere.into()),
        false => arguments.warned.end(!missing.is_empty()),
    };
    if arguments.json {
        let each: Vec<_> = findings
            .iter()
            .map(|one| {
                json!({
                    "what": one.what,
                    "is_there": one.is_there(),
                    "is_needed": one.is_needed,
                    "found": one.told(),
                    "remark": one.remark,
                })
            })
            .collect();
        console.print(&data::to_json(&each))?;
        return outcome;
    }
    let table = table!(&findings, |one| [
        words("what") => one.what,
        words("there") => if one.is_there() { "yes" } else { "no" },
        words("found") => one.told(),
        words("least kernel, and what for") => &one.remark,
    ]);
    let document = Document {
        title: "What an agent could do here".to_owned(),
        purpose: String::new(),
        facts: vec![("missing".to_owned(), missing.len().to_string())],
        sections: vec![Section::new("Found").with(Block::Table(table))],
    };
    console.print(&to_terminal(&document, console.screen()))?;
    outcome
}
