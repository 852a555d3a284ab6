//! A status of an agent as tables.

use ackord_agent::watch::{ApplicationStatus, ExplainAnswer, Standing, Status};
use ackord_daemon::status::{Compared, Estimate};
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};

/// How it stands.
pub(super) fn document(status: &Status) -> Document {
    let mut sections = vec![health(status)];
    sections.extend(losses(&status.applications));
    sections.extend(levers(&status.applications));
    sections.extend(hosts(status));
    if !status.journal.is_empty() {
        let notes = status.journal.clone();
        sections.push(Section::new("To be taken back").with(Block::Notes(notes)));
    }
    Document { title: "Agent".to_owned(), purpose: String::new(), facts: facts(status), sections }
}

fn facts(status: &Status) -> Vec<(String, String)> {
    let mut facts = vec![
        ("version".to_owned(), status.version.clone()),
        ("process".to_owned(), status.pid.to_string()),
        ("up".to_owned(), format!("{:.0} s", status.uptime_s)),
        ("heartbeat".to_owned(), format!("{:.0} ms ago", status.heartbeat_ms)),
        ("memory".to_owned(), format!("{:.1} MiB", status.resident_octets as f64 / 1_048_576.0)),
        ("control groups".to_owned(), status.cgroups.join(", ")),
        ("applications by".to_owned(), status.by.clone()),
        (
            "connections".to_owned(),
            format!(
                "{} of {} so far, {} treated, {} left alone",
                status.connections, status.connections_in_all, status.treated, status.control
            ),
        ),
    ];
    if !status.config.is_empty() {
        facts.insert(2, ("configuration".to_owned(), status.config.clone()));
    }
    facts
}

fn health(status: &Status) -> Section {
    let told = |finding: &ackord_daemon::Finding| match finding.advice.as_str() {
        "" => format!("{}: {}", finding.severity.name(), finding.what),
        advice => format!("{}: {}. {advice}", finding.severity.name(), finding.what),
    };
    let notes: Vec<String> = status.health.iter().map(told).collect();
    let block = match notes.is_empty() {
        true => Block::Text("Nothing is amiss.".to_owned()),
        false => Block::Notes(notes),
    };
    Section::new("Health").with(block)
}

fn numbers(columns: &[(&str, &str)]) -> Vec<Column> {
    columns.iter().map(|(heading, unit)| Column::numbers(heading, unit)).collect()
}

/// What applications lose.
fn losses(applications: &[ApplicationStatus]) -> Option<Section> {
    let mut columns = vec![Column::words("application")];
    columns.extend(numbers(&[
        ("connections", ""),
        ("in all", ""),
        ("data", "MB"),
        ("exchanges", "s"),
        ("lost to Nagle", "s"),
        ("waits", ""),
        ("peers' to delayed ACKs", "s"),
        ("waits", ""),
    ]));
    let row = |one: &ApplicationStatus| {
        vec![
            Cell::text(&one.name),
            Cell::Count(one.connections),
            Cell::Count(one.connections_in_all),
            Cell::about(one.octets as f64 / 1e6),
            Cell::about(one.active_s),
            Cell::about(one.nagle_s),
            Cell::Count(one.nagle_stalls),
            Cell::about(one.delayed_ack_s),
            Cell::Count(one.delayed_ack_stalls),
        ]
    };
    let table = Table {
        caption: "waits of 10 ms and longer; exchanges are gaps between packets below 300 ms"
            .to_owned(),
        columns,
        rows: applications.iter().map(row).collect(),
    };
    (!table.rows.is_empty()).then(|| Section::new("Applications").with(Block::Table(table)))
}

/// Levers that are or were at work, and what they bring.
fn levers(applications: &[ApplicationStatus]) -> Option<Section> {
    let mut columns = vec![Column::words("application"), Column::words("lever")];
    columns.push(Column::words("standing"));
    columns.extend(numbers(&[
        ("lost, treated", "%"),
        ("left alone", "%"),
        ("difference", "points"),
        ("goodput, treated", "Mbit/s"),
        ("left alone", "Mbit/s"),
    ]));
    let mut rows = Vec::new();
    for one in applications {
        for lever in &one.levers {
            let standing = match &lever.standing {
                Standing::Off | Standing::Watching => continue,
                Standing::AtWork => "at work".to_owned(),
                Standing::Withdrawn { why } => format!("withdrawn: {why}"),
            };
            let Compared { treated, control, difference } = lever.lost_percent;
            rows.push(vec![
                Cell::text(&one.name),
                Cell::text(&lever.lever),
                Cell::text(standing),
                estimate(treated, 1.0),
                estimate(control, 1.0),
                difference.map_or(Cell::Missing, |one| estimate(one, 1.0)),
                estimate(lever.goodput_bit_s.treated, 1e6),
                estimate(lever.goodput_bit_s.control, 1e6),
            ]);
        }
    }
    let caption = "share of the time of exchanges that is lost, and bytes in it".to_owned();
    let table = Table { caption, columns, rows };
    (!table.rows.is_empty()).then(|| Section::new("Levers").with(Block::Table(table)))
}

fn estimate(Estimate { samples, mean, ci95 }: Estimate, unit: f64) -> Cell {
    match samples {
        0 => Cell::Missing,
        _ => Cell::Interval {
            mean: mean / unit,
            half_width: ci95.map(|half| half / unit),
            decimals: 2,
        },
    }
}

fn hosts(status: &Status) -> Option<Section> {
    let mut columns = vec![Column::words("host")];
    columns.push(Column::numbers("reordering", "segments"));
    let row = |one: &ackord_agent::watch::HostStatus| {
        vec![Cell::text(one.address.to_string()), Cell::Count(u64::from(one.reordering_segments))]
    };
    let rows: Vec<_> = status.hosts.iter().map(row).collect();
    let table = Table { caption: String::new(), columns, rows };
    (!table.rows.is_empty())
        .then(|| Section::new("Routes where packets overtake each other").with(Block::Table(table)))
}

/// What levers would gain. The shortest delayed acknowledgment that this kernel lets a lever ask for is left of each
/// wait.
#[cfg_attr(not(feature = "agent"), allow(dead_code, reason = "only `advise` shows it"))]
pub(super) fn advice(status: &Status) -> Document {
    let least = ackord_agent::probe::least_delack().as_secs_f64();
    let mut columns = vec![Column::words("application")];
    columns.extend(numbers(&[
        ("connections", ""),
        ("exchanges", "s"),
        ("lost to Nagle", "s"),
        ("nodelay gains", "s"),
        ("peers' to delayed ACKs", "s"),
        ("delayed-ack gains", "s"),
        ("with [quick]", "s"),
    ]));
    let row = |one: &ApplicationStatus| {
        let left = one.delayed_ack_stalls as f64 * least;
        vec![
            Cell::text(&one.name),
            Cell::Count(one.connections_in_all),
            Cell::about(one.active_s),
            Cell::about(one.nagle_s),
            Cell::about(one.nagle_s),
            Cell::about(one.delayed_ack_s),
            Cell::about((one.delayed_ack_s - left).max(0.0)),
            Cell::about(one.delayed_ack_s),
        ]
    };
    let table = Table {
        caption: "a gain is at most this, and that of the peers for the third".to_owned(),
        columns,
        rows: status.applications.iter().map(row).collect(),
    };
    let verdict = match (status.connections_in_all, status.nothing_to_gain) {
        (0, _) => "No connection was seen.",
        (_, true) => "Nothing to gain here.",
        (_, false) => "Levers would begin where 1 % of the time of exchanges is lost.",
    };
    let section = Section::new("What would be gained").with(Block::Text(verdict.to_owned()));
    Document {
        title: "What an agent would gain here".to_owned(),
        purpose: String::new(),
        facts: vec![("looked on".to_owned(), format!("{:.0} s", status.uptime_s))],
        sections: vec![match table.rows.is_empty() {
            true => section,
            false => section.with(Block::Table(table)),
        }],
    }
}

/// Connections, each with what is done about it and why.
pub(super) fn explained(answer: &ExplainAnswer) -> Document {
    let sections = answer.connections.iter().map(|one| {
        let mut notes = vec![format!(
            "lost to Nagle's algorithm {:.3} s in {} waits; its peer's to our delayed acknowledgments {:.3} s in {}; of \
             {:.3} s in exchanges",
            one.nagle_s, one.nagle_stalls, one.delayed_ack_s, one.delayed_ack_stalls, one.active_s
        )];
        if !one.levers.is_empty() {
            notes.push(format!("at work on it: {}", one.levers.join(", ")));
        }
        if let Some(bound) = one.delack_max_ms {
            notes.push(format!("acknowledgments wait for {bound:.0} ms at most"));
        }
        if one.was_there {
            notes.push("it was there before the agent".to_owned());
        }
        notes.extend(one.why.iter().cloned());
        let heading = format!("{} to {} of {} (process {})", one.local, one.remote, one.application, one.pid);
        Section::new(&heading).with(Block::Notes(notes))
    });
    Document {
        title: "Connections".to_owned(),
        purpose: String::new(),
        facts: vec![("found".to_owned(), answer.in_all.to_string())],
        sections: sections.collect(),
    }
}
