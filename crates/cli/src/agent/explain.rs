//! `ackord agent explain` and `adopt`: single connections.

use super::{Whom, tables};
use crate::console::Console;
use crate::errors::Failure;
use ackord_agent::watch::{self, Of};
use ackord_report::{data, to_terminal};
use clap::Args;

/// Say what a running agent does with some connections, and why
///
/// What it has seen of each, which levers are at work on it and why not others: which group it is in, what the
/// application has set itself, how the levers of its application stand.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ackord agent explain 4711                  of this process\n  ackord agent explain :5432                 with this port\n  ackord agent explain redis-server          of this application"
)]
pub(crate) struct ExplainArguments {
    /// A process (its number), a port (`:443`), or an application as `status` calls it
    #[arg(value_name = "WHICH")]
    which: String,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    whom: Whom,
}

/// Have a running agent follow connections that were open before it
///
/// They get what can be given to a living connection; Nagle's algorithm is as it was when they began.
#[derive(Args)]
pub(crate) struct AdoptArguments {
    #[command(flatten)]
    whom: Whom,
}

pub(super) fn explain(arguments: &ExplainArguments, console: &Console) -> Result<(), Failure> {
    let answer = watch::explain(&arguments.whom.state, of(&arguments.which))?;
    let text = match arguments.json {
        true => data::to_json(&answer),
        false => to_terminal(&tables::explained(&answer), console.screen()),
    };
    Ok(console.print(&text)?)
}

fn of(which: &str) -> Of {
    match which.strip_prefix(':').map(str::parse) {
        Some(Ok(port)) => Of::Port(port),
        _ => which.parse().map_or_else(|_| Of::Application(which.to_owned()), Of::Pid),
    }
}

pub(super) fn adopt(arguments: &AdoptArguments, console: &Console) -> Result<(), Failure> {
    let count = watch::adopt(&arguments.whom.state)?;
    console.remark(&format!("{count} connections that were open before are followed from now on"));
    Ok(())
}
