//! `ackord gateway check`: whether a configuration is sound, and what it comes to mean here.

use super::ConfigArguments;
use crate::console::Console;
use crate::daemons::WarnedArguments;
use crate::daemons::standing::section;
use crate::errors::Failure;
use ackord_gateway::config::{GatewayConfig, warnings};
use ackord_report::document::{Block, Document, Section};
use ackord_report::{table, to_terminal};
use ackord_scenario::choice_text;
use ackord_units::Knobs;
use clap::Args;

/// Check a configuration without touching anything
///
/// Everything wrong with it is told at once, each with its line, what is allowed there, and the name that was
/// probably meant; the exit code is then 2. What is sound and cannot help on this machine, such as an
/// interface that is not there, is a warning (the gateway waits for it), with exit code 3 if --exit-code is given.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Print the configuration as a file: what options mean, to begin a file with
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    warned: WarnedArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord gateway check gateway.toml
  ackord gateway check --wan eth0 --lan wlan0 --queue fq-codel --rate 18mbit";

pub(crate) fn check(arguments: &CheckArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.config.file()?;
    let config = file.check()?;
    let warnings = warnings(&file, &config, &super::machine(&config));
    if let Some(warnings) = &warnings {
        console.complain(&warnings.render_warnings(console.error_style()));
    }
    if arguments.print {
        console.print(file.text())?;
    } else {
        console.print(&format!("{} is sound\n", file.name()))?;
        console.print(&to_terminal(&overview(&config), console.screen()))?;
    }
    arguments.warned.end(warnings.is_some())
}

/// Which connections get which remedy, and which queues there are.
fn overview(config: &GatewayConfig) -> Document {
    let rules = table!(config.rules.iter(), |(index, name, remedy)| {
        let which = match config.rules.rules().get(index.0) {
            Some(rule) => rule.conditions.said(&config.lan),
            None if index.0 == 0 => "all".to_owned(),
            None => "all others".to_owned(),
        };
        [
            words("rule") => name,
            words("connections") => which,
            words("remedy") => remedy.map_or("none", |remedy| remedy.mechanism().name),
        ]
    });
    let queues = table!(config.queues(), |(interface, queue)| [
        words("interface") => interface,
        words("queue") => choice_text(&queue.discipline),
        words("rate") => queue.rate.to_string(),
    ]);
    let between = format!("Between {} and {}", config.wan, config.lan.join(", "));
    let mut sections = vec![Section::new(&between).with(Block::Table(rules))];
    sections.extend(section("In the path", queues));
    Document { sections, ..Document::default() }
}
