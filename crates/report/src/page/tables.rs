//! The tables of a diagnosis.

use super::data::{PageData, PageDiagnosis};
use crate::document::{Block, Cell, Document, Section, Table};
use crate::reports::table_with_rows;
use crate::table;
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
    let rest = connections.len().saturating_sub(MOST_LISTED);
    let caption = match rest {
        0 => String::new(),
        _ => format!("{rest} more connections lost less; they are in the JSON."),
    };
    table!(connections.iter().take(MOST_LISTED), |connection| {
        let lost = lost(connection);
        let worst = connection.causes.iter().find(|share| share.cause.is_loss());
        [
            words("client") => connection.client.to_string(),
            words("server") => connection.server.to_string(),
            numbers("duration", "s") => connection.duration_s,
            numbers("payload", "MB") => connection.bytes as f64 / MEGA,
            numbers("retransmitted", "MB") => connection.retransmitted_bytes as f64 / MEGA,
            numbers("time lost", "s") => lost,
            numbers("of its time", "%") => Cell::number(100.0 * lost / connection.duration_s, 1),
            words("most of it") => worst.map(|share| share.cause.title()),
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

fn remedy_table(connection: &Connection) -> Table {
    table!(connection.remedies.iter(), |remedy| {
        let [low, high] = remedy.ci95;
        [
            words("remedy") => &remedy.remedy,
            numbers("less time", "%") => Cell::number(remedy.gain_percent, 1),
            numbers("95 % interval", "%") => format!("{low:.1} to {high:.1}"),
            words("where") => &remedy.r#where,
            words("how") => &remedy.command,
        ]
    })
    .captioned("What would help".to_owned())
}
