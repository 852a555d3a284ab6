//! `ackord gateway plan`: what a gateway would change on this machine, as commands.

use super::ConfigArguments;
use crate::console::Console;
use crate::daemons::WarnedArguments;
use crate::errors::Failure;
use ackord_gateway::Plan;
use ackord_gateway::config::warnings;
use clap::Args;

/// Print every change that a gateway would make, and its undoing
///
/// As a script for a shell that does the same by ip(8) and tc(8), each command with a word why.
/// Changes that no shell command makes, such as loading a BPF program, are comments with the command that displays them.
/// Nothing is changed now.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Print JSON instead: each change with its command, its undoing, and what a crash leaves of it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    warned: WarnedArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord gateway plan --wan eth0 --lan wlan0 --remedy proxy-tcp --queue fq-codel --rate 18mbit
  ackord gateway plan gateway.toml --json";

pub(crate) fn plan(arguments: &PlanArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.config.file()?;
    let config = file.check()?;
    let machine = super::machine(&config);
    let warnings = warnings(&file, &config, &machine);
    if let Some(warnings) = &warnings {
        console.complain(&warnings.render_warnings(console.error_style()));
    }
    let plan = Plan::of(&config, &machine);
    let text = match arguments.json {
        true => ackord_report::data::to_json(&plan.to_json()),
        false => plan.to_string(),
    };
    console.print(&text)?;
    arguments.warned.end(warnings.is_some())
}
