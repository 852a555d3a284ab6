//! What the statuses of both daemons have in common: how they are shown, and tables.

use super::web::{self, Shown};
use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use crate::interrupt::Interrupt;
use ackord_daemon::Finding;
use ackord_daemon::control::ControlError;
use ackord_daemon::status::{Change, Estimate, Process};
use ackord_report::document::{Block, Cell, Section, Table};
use ackord_report::{data, to_terminal};
use clap::Args;
use serde::Serialize;
use std::net::SocketAddr;
use std::time::Duration;

/// How a status is shown.
#[derive(Args)]
pub(crate) struct ShownArguments {
    /// JSON instead of tables: to standard output, or with --json=FILE to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "-", conflicts_with = "watch")]
    json: Option<JsonTarget>,
    /// Draw the tables anew every second
    #[arg(long)]
    watch: bool,
    /// Serve tables and graphs as a page that refreshes itself, for browsers of this host; prints its address
    ///
    /// ADDRESS is a loopback address; without one it is 127.0.0.1 with any port. The page has a random path, changes
    /// nothing, and ends with Ctrl-C. For a browser elsewhere, forward the port: ssh -L 8080:127.0.0.1:PORT HOST.
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = web::ADDRESS, conflicts_with_all = ["watch", "json"])]
    web: Option<SocketAddr>,
}

impl ShownArguments {
    /// Shows what is answered as JSON or as this document, once or again and again.
    pub(crate) fn show<S: Serialize>(
        &self,
        ask: impl Fn() -> Result<S, ControlError>,
        shown: &Shown<S>,
        console: &Console,
    ) -> Result<(), Failure> {
        if let Some(target) = &self.json {
            target.check()?;
            return target.write(&data::to_json(&ask()?), console);
        }
        if let Some(address) = self.web {
            return web::serve(address, ask, shown, console);
        }
        let draw = |status: &S| to_terminal(&(shown.document)(status), console.screen());
        if !self.watch {
            return Ok(console.print(&draw(&ask()?))?);
        }
        let interrupt = Interrupt::listen()?;
        while interrupt.check().is_continue() {
            // To the upper left corner, and nothing below what is drawn.
            console.print(&format!("\u{1b}[H\u{1b}[2J{}", draw(&ask()?)))?;
            for _ in 0..10 {
                if interrupt.check().is_continue() {
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        }
        Ok(())
    }
}

/// What a daemon tells of its process; `up` is how long it has run.
pub(crate) fn facts(process: &Process, up: String) -> Vec<(String, String)> {
    let mebibytes = process.resident_bytes as f64 / 1_048_576.0;
    let facts = [
        ("version", process.version.clone()),
        ("process", process.pid.to_string()),
        ("configuration", process.config.clone()),
        ("up", up),
        ("heartbeat", format!("{:.0} ms ago", process.heartbeat_ms)),
        ("memory", format!("{mebibytes:.1} MiB")),
    ];
    let is_known = |(what, told): &(&str, String)| *what != "configuration" || !told.is_empty();
    let known = facts.into_iter().filter(is_known);
    known.map(|(what, told)| (what.to_owned(), told)).collect()
}

/// What is amiss, the worst first.
pub(crate) fn health(findings: &[Finding]) -> Section {
    let told = |finding: &Finding| match finding.advice.as_str() {
        "" => format!("{}: {}", finding.severity.name(), finding.what),
        advice => format!("{}: {}. {advice}", finding.severity.name(), finding.what),
    };
    Section::new("Health").with(match findings {
        [] => Block::Text("Nothing is amiss.".to_owned()),
        _ => Block::Notes(findings.iter().map(told).collect()),
    })
}

/// Writes a change in percent with the ends of its interval.
pub(crate) fn change(change: Option<Change>) -> String {
    let sign = |percent: f64| format!("{percent:+.1}");
    let text = |it: Change| format!("{} [{}, {}]", sign(it.mean), sign(it.low), sign(it.high));
    change.map_or_else(|| "not yet known".to_owned(), text)
}

/// A table under a heading; nothing where it has no rows.
pub(crate) fn section(heading: &str, table: Table) -> Option<Section> {
    (!table.rows.is_empty()).then(|| Section::new(heading).with(Block::Table(table)))
}

/// A difference of two means in this unit, which may be negative; nothing without samples.
pub(crate) fn difference(Estimate { samples, mean, ci95 }: Estimate, unit: f64) -> Cell {
    match samples {
        0 => Cell::Missing,
        _ => Cell::Interval {
            mean: mean / unit,
            half_width: ci95.map(|half| half / unit),
            decimals: 2,
        },
    }
}

/// A mean of what cannot be negative, in this unit; nothing without samples.
pub(crate) fn estimate(Estimate { samples, mean, ci95 }: Estimate, unit: f64) -> Cell {
    match samples {
        0 => Cell::Missing,
        _ => Cell::Amount {
            mean: mean / unit,
            half_width: ci95.map(|half| half / unit),
            decimals: 2,
        },
    }
}
