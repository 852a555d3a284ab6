//! `ackord agent status` and `stop`: a running agent as tables, once or again and again, and as JSON; its end.

use super::{Whom, tables};
use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use crate::interrupt::Interrupt;
use ackord_agent::watch::{self, Status};
use ackord_report::{data, to_terminal};
use clap::Args;
use std::time::Duration;

/// Tell how a running agent stands: applications, what they lose, levers, what these bring
///
/// Treated connections stand beside those left alone, means with 95 % intervals. Health comes first, each finding with
/// what to do. With --watch the tables are drawn anew every second until Ctrl-C.
#[derive(Args)]
pub(crate) struct StatusArguments {
    /// JSON instead of tables: to standard output, or with --json=FILE to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "-", conflicts_with = "watch")]
    json: Option<JsonTarget>,
    /// Draw the tables anew every second
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    whom: Whom,
}

/// End a running agent, and wait until it has taken back what it did
#[derive(Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    whom: Whom,
}

pub(super) fn status(arguments: &StatusArguments, console: &Console) -> Result<(), Failure> {
    let asked = || watch::status(&arguments.whom.state);
    if let Some(target) = &arguments.json {
        target.check()?;
        return target.write(&data::to_json(&asked()?), console);
    }
    let draw = |status: &Status| to_terminal(&tables::document(status), console.screen());
    if !arguments.watch {
        return Ok(console.print(&draw(&asked()?))?);
    }
    let interrupt = Interrupt::listen()?;
    while interrupt.check().is_continue() {
        // To the upper left corner, and nothing below what is drawn.
        console.print(&format!("\u{1b}[H\u{1b}[2J{}", draw(&asked()?)))?;
        for _ in 0..10 {
            if interrupt.check().is_continue() {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
    Ok(())
}

pub(super) fn stop(arguments: &StopArguments, console: &Console) -> Result<(), Failure> {
    watch::stop(&arguments.whom.state)?;
    console.remark("it has ended");
    Ok(())
}
