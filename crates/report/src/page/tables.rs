//! The tables of a diagnosis.

use super::data::{PageData, PageDiagnosis};
use crate::document::{Block, Cell, Document, Section, Table};
use crate::reports::table_with_rows;
use crate::table;
use ackord_diagnose::{Artefact, Cause, Connection, Diagnosis};
use std::collections::BTreeMap;

/// Most connections that the list has.
const MOST_LISTED: usize = 200;
/// Most connections with an account of their own.
const MOST_ACCOUNTS: usize = 20;
const MEGA: f64 = 1e6;

/// The sections of a page, in its order.
pub(super) struct Sections {
    /// What would help, and where the time went.
    pub(super) answer: Vec<Section>,
    /// The connections, those first that lost most time. Scripts replace them by the graphs.
    pub(super) connections: Vec<Section>,
    /// What was read, and what is wrong with it.
    pub(super) read: Vec<Section>,
}

/// Builds the tables of a page, and its document without any section.
pub(super) fn diagnosis_sections(data: &PageData) -> (Document, Sections) {
    let mut flaws = Section::new("What is wrong with the capture");
    let mut read = Section::new("What was read");
    let mut help = Section::new("What would help");
    let mut answer = Vec::new();
    let mut connections = Vec::new();
    for one in data.diagnoses {
        let whose = whose(data, one);
        help.blocks.extend(table_with_rows(remedy_table(one.diagnosis, &whose)));
        answer.push(causes(one.diagnosis, &whose));
        connections.extend(sections(one, &whose));
        flaws.blocks.extend(artefact_notes(one.diagnosis, &whose));
        read.blocks.extend(table_with_rows(capture_table(one.diagnosis, &whose)));
    }
    if !data.remarks.is_empty() {
        help.blocks.push(Block::Notes(data.remarks.to_vec()));
    }
    if !help.blocks.is_empty() {
        answer.insert(0, help);
    }
    if !data.notes.is_empty() {
        read.blocks.push(Block::Notes(data.notes.to_vec()));
    }
    read.blocks.push(Block::Text(format!("Written by ackord {}.", data.version)));
    let (title, purpose) = (data.title.to_owned(), data.summary.to_owned());
    let document = Document { title, purpose, ..Document::default() };
    let closing = [flaws, read].into_iter().filter(|section| !section.blocks.is_empty());
    (document, Sections { answer, connections, read: closing.collect() })
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
    let lead = "These come from the capture, not from the network, and no time is attributed to the path for them:";
    vec![Block::Text(lead.to_owned()), Block::Notes(notes)]
}

fn capture_table(diagnosis: &Diagnosis, whose: &str) -> Table {
    table!(diagnosis.captures.iter(), |capture| {
        let others = capture.others.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>();
        [
            words("capture") => format!("{whose}{}", capture.name),
            words("format") => &capture.format,
            numbers("frames", "") => capture.frames,
            numbers("TCP", "frames") => capture.tcp,
            numbers("malformed", "frames") => capture.malformed,
            numbers("lost by capturing", "packets") => capture.dropped,
            numbers("kept of a frame", "B") => capture.snap_len,
            words("not TCP") => others.join(", "),
        ]
    })
}

/// Seconds of a connection that were lost.
fn lost(connection: &Connection) -> f64 {
    let losses = connection.causes.iter().filter(|share| share.cause.is_loss());
    losses.map(|share| share.seconds).sum()
}

fn sections(one: &PageDiagnosis, whose: &str) -> Vec<Section> {
    let connections = by_loss(one.diagnosis);
    let list = Block::Table(connection_table(&connections));
    let mut sections = vec![Section::new(&format!("{whose}Connections")).with(list)];
    for connection in connections.iter().take(MOST_ACCOUNTS) {
        let heading = format!("{whose}{} to {}", connection.client, connection.server);
        let mut section = Section::new(&heading);
        let place = one.diagnosis.connections.iter().position(|found| found.id == connection.id);
        if let Some(filter) = place.and_then(|place| one.filters.get(place)) {
            section.blocks.push(Block::Text(format!("In Wireshark: {filter}")));
        }
        sections.push(section.with(Block::Table(account_table(connection))));
    }
    sections
}

fn connection_table(connections: &[&Connection]) -> Table {
    let rest = connections.len().saturating_sub(MOST_LISTED);
    let caption = match rest {
        0 => String::new(),
        _ => format!("{rest} more connections lost less; they are in the JSON."),
    };
    table!(connections.iter().take(MOST_LISTED), |connection| {
        let lost = lost(connection);
        let worst = connection.causes.iter().find(|share| share.cause.is_loss());
        [
            numbers("", "") => connection.id,
            words("client") => connection.client.to_string(),
            words("server") => connection.server.to_string(),
            numbers("duration", "s") => connection.duration_s,
            numbers("payload", "MB") => connection.bytes as f64 / MEGA,
            numbers("retransmitted", "MB") => connection.retransmitted_bytes as f64 / MEGA,
            numbers("time lost", "s") => lost,
            numbers("of its time", "%") => Cell::number(100.0 * lost / connection.duration_s, 1),
            words("largest cause") => worst.map(|share| share.cause.title()),
        ]
    })
    .captioned(caption)
}

fn account_table(connection: &Connection) -> Table {
    table!(connection.causes.iter(), |share| {
        let frames = share.frames.iter().map(u64::to_string).collect::<Vec<_>>();
        [
            words("cause") => share.cause.title(),
            numbers("time", "s") => share.seconds,
            numbers("share", "%") => Cell::number(100.0 * share.seconds / connection.duration_s, 1),
            numbers("confidence", "%") => Cell::number(100.0 * share.confidence, 0),
            words("frames") => frames.join(", "),
        ]
    })
    .captioned("Where the time went".to_owned())
}

/// Returns the remedies of all connections that have any, those first that lost most time.
fn remedy_table(diagnosis: &Diagnosis, whose: &str) -> Table {
    let of_each = by_loss(diagnosis).into_iter().flat_map(|connection| {
        connection.remedies.iter().map(move |remedy| (connection.id, remedy))
    });
    table!(of_each, |(connection, remedy)| {
        let [low, high] = remedy.ci95;
        [
            words("connection") => format!("{whose}{connection}"),
            words("remedy") => &remedy.remedy,
            numbers("less time", "%") => Cell::number(remedy.gain_percent, 1),
            numbers("95 % interval", "%") => format!("{low:.1} to {high:.1}"),
            words("where") => &remedy.r#where,
            words("command") => &remedy.command,
        ]
    })
    .captioned("Predicted by simulation: how much less time the same transfer would take")
}

/// Returns the seconds of every cause over all connections, most first.
fn causes(diagnosis: &Diagnosis, whose: &str) -> Section {
    let mut totals: BTreeMap<Cause, (f64, u64)> = BTreeMap::new();
    for share in diagnosis.connections.iter().flat_map(|connection| &connection.causes) {
        let total = totals.entry(share.cause).or_default();
        total.0 += share.seconds;
        total.1 += 1;
    }
    let all: f64 = totals.values().map(|(seconds, _)| seconds).sum();
    let mut totals: Vec<_> = totals.into_iter().collect();
    totals.sort_by(|one, other| other.1.0.total_cmp(&one.1.0));
    let table = table!(totals, |(cause, (seconds, count))| [
        words("cause") => cause.title(),
        numbers("time", "s") => Cell::number(seconds, 3),
        numbers("share", "%") => Cell::number(100.0 * seconds / all.max(1e-9), 1),
        numbers("connections", "") => count,
        words("lost") => if cause.is_loss() { "yes" } else { "" },
    ]);
    Section::new(&format!("{whose}Where the time went")).with(Block::Table(table))
}

/// Returns the connections by the time they lost, most first.
fn by_loss(diagnosis: &Diagnosis) -> Vec<&Connection> {
    let mut connections: Vec<_> = diagnosis.connections.iter().collect();
    connections.sort_by(|one, other| lost(other).total_cmp(&lost(one)));
    connections
}
