//! The tables of a diagnosis.

use super::{PageData, PageDiagnosis};
use crate::document::{Block, Cell, Column, Document, Section, Table};
use crate::reports::table_with_rows;
use ackord_diagnose::{Artefact, Connection, Diagnosis};

/// Heading of the section that tells what was read; it stays above the graph.
pub(super) const READ: &str = "What was read";

/// Most connections that the list has.
const MOST_LISTED: usize = 200;
/// Most connections with an account of their own.
const MOST_ACCOUNTS: usize = 20;
const MEGA: f64 = 1e6;

/// The diagnoses as tables, those connections first that lost most time.
pub(super) fn diagnosis_document(data: &PageData) -> Document {
    let mut read = Section::new(READ);
    let mut rest = Vec::new();
    for one in data.diagnoses {
        let whose = whose(data, one);
        read.blocks.extend(artefact_notes(one.diagnosis, &whose));
        read.blocks.extend(table_with_rows(capture_table(one.diagnosis, &whose)));
        rest.extend(sections(one.diagnosis, &whose));
    }
    if !data.notes.is_empty() {
        read.blocks.push(Block::Notes(data.notes.to_vec()));
    }
    let mut sections = vec![read];
    sections.extend(rest);
    let facts = vec![("version".to_owned(), data.version.to_owned())];
    let (title, purpose) = (data.title.to_owned(), data.summary.to_owned());
    Document { title, purpose, facts, sections }
}

/// "before: ", where there are two.
fn whose(data: &PageData, one: &PageDiagnosis) -> String {
    if data.diagnoses.len() > 1 { format!("{}: ", one.label) } else { String::new() }
}

/// What is wrong with the captures, before anything that follows from them.
fn artefact_notes(diagnosis: &Diagnosis, whose: &str) -> Vec<Block> {
    let told = |artefact: &Artefact| {
        let times = if artefact.count == 1 { "once" } else { "times" };
        let count = match artefact.count {
            1 => String::new(),
            count => format!("{count} "),
        };
        format!("{whose}{} ({count}{times}, first in frame {})", artefact.meaning, artefact.frame)
    };
    let told_already =
        |damage: &str| diagnosis.artefacts.iter().any(|artefact| artefact.meaning.contains(damage));
    let damaged = diagnosis.captures.iter().filter_map(|capture| {
        let damage = capture.damage.as_ref().filter(|damage| !told_already(damage))?;
        Some(format!("{whose}{}: {damage}", capture.name))
    });
    let notes: Vec<_> = diagnosis.artefacts.iter().map(told).chain(damaged).collect();
    if notes.is_empty() {
        return Vec::new();
    }
    let lead =
        "Not the network's doing, but the capture's; the account does not blame the path for it:";
    vec![Block::Text(lead.to_owned()), Block::Notes(notes)]
}

fn capture_table(diagnosis: &Diagnosis, whose: &str) -> Table {
    let columns = vec![
        Column::words("capture"),
        Column::words("format"),
        Column::numbers("frames", ""),
        Column::numbers("TCP", "frames"),
        Column::numbers("malformed", "frames"),
        Column::numbers("lost by capturing", "packets"),
        Column::numbers("kept of a frame", "B"),
        Column::words("not TCP"),
    ];
    let rows = diagnosis.captures.iter().map(|capture| {
        let others: Vec<_> =
            capture.others.iter().map(|(what, count)| format!("{what} {count}")).collect();
        vec![
            Cell::text(format!("{whose}{}", capture.name)),
            Cell::text(&capture.format),
            Cell::Count(capture.frames),
            Cell::Count(capture.tcp),
            Cell::Count(capture.malformed),
            capture.dropped.map_or(Cell::Missing, Cell::Count),
            capture.snap_len.map_or(Cell::Missing, |octets| Cell::Count(octets.into())),
            Cell::text(others.join(", ")),
        ]
    });
    Table { caption: String::new(), columns, rows: rows.collect() }
}

/// Seconds of a connection that a remedy could give back.
fn lost(connection: &Connection) -> f64 {
    let losses = connection.causes.iter().filter(|share| share.cause.is_loss());
    losses.map(|share| share.seconds).sum()
}

fn sections(diagnosis: &Diagnosis, whose: &str) -> Vec<Section> {
    let mut connections: Vec<_> = diagnosis.connections.iter().collect();
    connections.sort_by(|one, other| lost(other).total_cmp(&lost(one)));
    let list = Block::Table(connection_table(&connections));
    let mut sections = vec![Section::new(&format!("{whose}Connections")).with(list)];
    for connection in connections.iter().take(MOST_ACCOUNTS) {
        let heading = format!("{whose}{} to {}", connection.client, connection.server);
        let mut section = Section::new(&heading).with(Block::Table(account_table(connection)));
        section.blocks.extend(table_with_rows(remedy_table(connection)));
        sections.push(section);
    }
    sections
}

fn connection_table(connections: &[&Connection]) -> Table {
    let columns = vec![
        Column::words("client"),
        Column::words("server"),
        Column::numbers("duration", "s"),
        Column::numbers("payload", "MB"),
        Column::numbers("retransmitted", "MB"),
        Column::numbers("time lost", "s"),
        Column::numbers("of its time", "%"),
        Column::words("most of it"),
    ];
    let rows = connections.iter().take(MOST_LISTED).map(|connection| {
        let lost = lost(connection);
        let worst = connection.causes.iter().find(|share| share.cause.is_loss());
        vec![
            Cell::text(connection.client.to_string()),
            Cell::text(connection.server.to_string()),
            Cell::about(connection.duration_s),
            Cell::about(connection.bytes as f64 / MEGA),
            Cell::about(connection.retransmitted_bytes as f64 / MEGA),
            Cell::about(lost),
            Cell::number(100.0 * lost / connection.duration_s, 1),
            worst.map_or(Cell::Missing, |share| Cell::text(share.cause.title())),
        ]
    });
    let rest = connections.len().saturating_sub(MOST_LISTED);
    let caption = match rest {
        0 => String::new(),
        _ => format!("{rest} more connections lost less; they are in the JSON."),
    };
    Table { caption, columns, rows: rows.collect() }
}

fn account_table(connection: &Connection) -> Table {
    let columns = vec![
        Column::words("cause"),
        Column::numbers("time", "s"),
        Column::numbers("share", "%"),
        Column::numbers("confidence", "%"),
        Column::words("frames"),
    ];
    let rows = connection.causes.iter().map(|share| {
        let frames: Vec<_> = share.frames.iter().map(u64::to_string).collect();
        vec![
            Cell::text(share.cause.title()),
            Cell::about(share.seconds),
            Cell::number(100.0 * share.seconds / connection.duration_s, 1),
            Cell::number(100.0 * share.confidence, 0),
            Cell::text(frames.join(", ")),
        ]
    });
    Table { caption: "Where the time went".to_owned(), columns, rows: rows.collect() }
}

fn remedy_table(connection: &Connection) -> Table {
    let columns = vec![
        Column::words("remedy"),
        Column::numbers("less time", "%"),
        Column::numbers("95 % interval", "%"),
        Column::words("where"),
        Column::words("how"),
    ];
    let rows = connection.remedies.iter().map(|remedy| {
        let [low, high] = remedy.ci95;
        vec![
            Cell::text(&remedy.remedy),
            Cell::number(remedy.gain_percent, 1),
            Cell::text(format!("{low:.1} to {high:.1}")),
            Cell::text(&remedy.r#where),
            Cell::text(&remedy.command),
        ]
    });
    Table { caption: "What would help".to_owned(), columns, rows: rows.collect() }
}
