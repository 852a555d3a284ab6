//! `ackord gateway probe`: what kernel, process and interfaces allow.

use crate::console::Console;
use crate::daemons::WarnedArguments;
use crate::errors::Failure;
use ackord_gateway::{Allowed, Finding, probe as look};
use ackord_report::document::{Block, Document, Section};
use ackord_report::{data, table, to_terminal};
use clap::Args;
use serde_json::json;

/// Tell what a gateway could do here: kernel, rights and interfaces, with what to do about what is missing
///
/// Everything is tried and undone at once; nothing stays. Without interfaces only the machine is looked
/// at, and without root much is missing that root would have. With --exit-code the exit code is 3 if
/// anything is missing.
#[derive(Args)]
#[command(after_help = "For example:\n  sudo ackord gateway probe eth0 wlan0")]
pub(super) struct ProbeArguments {
    /// Interfaces to look at
    #[arg(value_name = "INTERFACE")]
    interfaces: Vec<String>,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    warned: WarnedArguments,
}

pub(super) fn probe(arguments: &ProbeArguments, console: &Console) -> Result<(), Failure> {
    let names: Vec<&str> = arguments.interfaces.iter().map(String::as_str).collect();
    let findings = look(&names);
    if arguments.json {
        let each: Vec<_> = findings.iter().map(as_json).collect();
        console.print(&data::to_json(&each))?;
    } else {
        console.print(&to_terminal(&document(&findings), console.screen()))?;
    }
    arguments.warned.end(findings.iter().any(|one| one.state == Allowed::Missing))
}

fn as_json(finding: &Finding) -> serde_json::Value {
    json!({
        "what": finding.what,
        "interface": finding.interface,
        "state": finding.state.name(),
        "reason": finding.reason,
        "to_do": finding.to_do,
    })
}

fn document(findings: &[Finding]) -> Document {
    let table = table!(findings, |one| [
        words("what") => one.what,
        words("at") => one.interface.as_deref().unwrap_or("this machine"),
        words("state") => one.state.name(),
        words("found") => &one.reason,
        words("what to do") => &one.to_do,
    ]);
    let missing = findings.iter().filter(|one| one.state == Allowed::Missing).count();
    Document {
        title: "What a gateway could do here".to_owned(),
        purpose: String::new(),
        facts: vec![("missing".to_owned(), missing.to_string())],
        sections: vec![Section::new("Found").with(Block::Table(table))],
    }
}
