//! What the statuses of both daemons have in common, as tables.

use ackord_daemon::Finding;
use ackord_daemon::status::{Estimate, Process};
use ackord_report::document::{Block, Cell, Section, Table};

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

/// A table under a heading; nothing where it has no rows.
pub(crate) fn section(heading: &str, table: Table) -> Option<Section> {
    (!table.rows.is_empty()).then(|| Section::new(heading).with(Block::Table(table)))
}

/// A mean in this unit; nothing without samples.
pub(crate) fn estimate(Estimate { samples, mean, ci95 }: Estimate, unit: f64) -> Cell {
    match samples {
        0 => Cell::Missing,
        _ => Cell::Interval {
            mean: mean / unit,
            half_width: ci95.map(|half| half / unit),
            decimals: 2,
        },
    }
}
