//! `ackord agent plan`: what an agent would change on this machine; `check`: whether its configuration is sound.

use super::{ConfigArguments, Named};
use crate::console::Console;
use crate::daemons::WarnedArguments;
use crate::errors::Failure;
use ackord_agent::{Step, plan as steps};
use ackord_report::data;
use clap::Args;
use serde_json::json;

/// Print every change that an agent would make, and its undoing
///
/// As commands that one can paste, where there are some, each with a word why. Nothing is changed now.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ackord agent plan\n  ackord agent plan --quick\n  ackord agent plan agent.toml --json"
)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Check a configuration without touching anything
///
/// Everything wrong with it is told at once, each with its line, what is allowed there, and the name that was probably
/// meant; the exit code is then 2. With --exit-code it is 3 if there is a warning only.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ackord agent check agent.toml\n  ackord agent check --all --quick --print > agent.toml"
)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Print the configuration as a file: what options mean, to begin a file with
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    warned: WarnedArguments,
}

pub(super) fn plan(arguments: &PlanArguments, console: &Console) -> Result<(), Failure> {
    let steps = steps(&arguments.config.config(Named::OrAll)?);
    if arguments.json {
        let each: Vec<_> = steps
            .iter()
            .map(|step| json!({ "what": step.what, "commands": step.commands, "undo": step.undo }))
            .collect();
        return Ok(console.print(&data::to_json(&each))?);
    }
    Ok(console.print(&steps.iter().map(told).collect::<String>())?)
}

fn told(step: &Step) -> String {
    let mut text = format!("# {}\n", step.what);
    for command in &step.commands {
        text.push_str(&format!("{command}\n"));
    }
    for command in &step.undo {
        text.push_str(&format!("#   undone by: {command}\n"));
    }
    text
}

pub(super) fn check(arguments: &CheckArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.config.file()?;
    let config = file.check()?;
    if arguments.print {
        return Ok(console.print(file.text())?);
    }
    let warnings = ackord_agent::config::warnings(&config);
    for warning in &warnings {
        console.complain(&format!("warning: {warning}\n"));
    }
    console.print(&format!("{} is sound\n", file.name()))?;
    arguments.warned.end(!warnings.is_empty())
}
