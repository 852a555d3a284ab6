//! What captures say, told: [`diagnosis_document`] for people, [`intervals_csv`] for tables.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | the whole capture: what would help, the causes, the connections |
//! | `summary.rs` | the answer in a few sentences, and the totals behind it |
//! | `filters.rs` | Wireshark's display filters for connections and causes; the diagnosis as JSON |
//! | `pictures.rs` | seconds per cause, and the time-sequence plot, as SVG and PNG |
//! | `detail.rs` | one connection: its account, its path, its intervals with their reasons |
//! | `advice.rs` | what would help, and whether it did |
//! | `annotate.rs` | the capture again, with comments for Wireshark |
//! | `qlog.rs` | packets for qvis |
//! | `page.rs` | the interactive page, and which connections it draws |

mod advice;
mod annotate;
mod detail;
mod filters;
mod page;
mod pictures;
mod qlog;
mod summary;

pub use advice::{Remark, verification_document};
pub use annotate::{annotate, comments_of};
pub use filters::{Filters, diagnosis_json};
pub use page::{connections_to_trace, ends_of, page_of_diagnosis};
pub use pictures::pictures_of;
pub use qlog::qlog_of;
pub use summary::{diagnosis_summary, lost_seconds};

use ackord_diagnose::{ArtefactKind, Diagnosis};
use ackord_report::document::{Block, Cell, Document, Section};
use ackord_report::table;
use std::fmt::Write;
use summary::{by_loss, totals};

/// Connections listed on a terminal at most; JSON and CSV have all.
const MOST_LISTED: usize = 20;

/// Builds the answer for people: what would help, where the time went, and the connections by the time they lost.
/// With `one`, that connection in detail.
pub fn diagnosis_document(diagnosis: &Diagnosis, one: Option<u32>, remarks: &[Remark]) -> Document {
    let mut document = Document {
        title: title(diagnosis),
        purpose: format!("{}{}", diagnosis_summary(diagnosis), hint(diagnosis)),
        facts: Vec::new(),
        sections: Vec::new(),
    };
    let chosen = one.and_then(|id| diagnosis.connections.iter().find(|found| found.id == id));
    match chosen {
        Some(connection) => {
            document.sections.extend(advice::section(&[connection], remarks));
            document.sections.extend(detail::sections(connection, &Filters::of(diagnosis)));
        }
        // The summary names what the capture contains instead of TCP.
        None if diagnosis.connections.is_empty() => {}
        None => {
            document.sections.extend(advice::section(&by_loss(diagnosis), remarks));
            document.sections.push(causes(diagnosis));
            document.sections.push(connections(diagnosis));
        }
    }
    document.sections.extend(notes(diagnosis));
    document
}

/// Returns the names of the captures, without their folders.
fn title(diagnosis: &Diagnosis) -> String {
    let mut names = diagnosis.captures.iter().map(|read| {
        let name = std::path::Path::new(&read.name).file_name().and_then(|name| name.to_str());
        name.unwrap_or(&read.name)
    });
    let first: Vec<&str> = names.by_ref().take(2).collect();
    let rest = match names.count() {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("Diagnosis of {}{rest}", first.join(", "))
}

/// Heading of the section about artefacts, which stands last.
const ARTEFACTS: &str = "What is wrong with the capture";

/// Returns a sentence that leads to the artefacts, if any of them makes the answer less certain.
fn hint(diagnosis: &Diagnosis) -> String {
    let harmless = ArtefactKind::SuperSegments;
    match diagnosis.artefacts.iter().any(|artefact| artefact.kind != harmless) {
        true => format!(" The capture has flaws: see \"{ARTEFACTS}\" below."),
        false => String::new(),
    }
}

fn notes(diagnosis: &Diagnosis) -> Option<Section> {
    let artefacts = diagnosis.artefacts.iter();
    let notes: Vec<String> = artefacts
        .map(|artefact| {
            let times = match artefact.count {
                1 => String::new(),
                count => format!("{count} times, "),
            };
            format!("{} ({times}first in frame {})", artefact.meaning, artefact.frame)
        })
        .collect();
    let section = Section::new(ARTEFACTS);
    (!notes.is_empty()).then(|| section.with(Block::Notes(notes)))
}

fn causes(diagnosis: &Diagnosis) -> Section {
    let totals = totals(diagnosis);
    let all: f64 = totals.iter().map(|(_, seconds, _)| seconds).sum();
    let table = table!(totals.iter().take(10), |(cause, seconds, count)| [
        words("cause") => cause.title(),
        numbers("time", "s") => Cell::number(*seconds, 3),
        numbers("share", "%") => Cell::number(100.0 * seconds / all.max(1e-9), 1),
        numbers("connections", "") => *count as u64,
        words("lost") => if cause.is_loss() { "yes" } else { "" },
    ]);
    Section::new("Where the time went").with(Block::Table(table))
}

fn connections(diagnosis: &Diagnosis) -> Section {
    let mut listed = by_loss(diagnosis);
    let hidden = listed.len().saturating_sub(MOST_LISTED);
    listed.truncate(MOST_LISTED);
    let caption = match hidden {
        0 => "Most time lost first. `--connection N` shows one connection.".to_owned(),
        hidden => format!(
            "Most time lost first; {hidden} more are in --json. `--connection N` shows one connection."
        ),
    };
    let table = table!(listed, |connection| {
        let worst = connection.causes.iter().find(|share| share.cause.is_loss());
        let worst = worst.filter(|share| share.seconds >= 0.01 * connection.duration_s);
        [
            numbers("", "") => connection.id,
            words("client") => connection.client.to_string(),
            words("server") => connection.server.to_string(),
            numbers("duration", "s") => Cell::number(connection.duration_s, 2),
            numbers("data", "MB") => connection.bytes as f64 / 1e6,
            numbers("retransmitted", "kB") => connection.retransmitted_bytes as f64 / 1e3,
            numbers("lost", "s") => Cell::number(lost_seconds(connection), 2),
            words("mostly by") => worst.map_or("–", |share| share.cause.title()),
        ]
    });
    Section::new("Connections").with(Block::Table(table.captioned(caption)))
}

/// Returns all intervals of all connections as CSV, one line each. Times are in seconds since the connection's first
/// packet.
pub fn intervals_csv(diagnosis: &Diagnosis) -> String {
    let mut text =
        "connection,client,server,from_s,to_s,cause,confidence,first_frame,last_frame,reason\n"
            .to_owned();
    for connection in &diagnosis.connections {
        for interval in &connection.intervals {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{},{},{:.9},{:.9},{},{:.2},{},{},\"{}\"",
                connection.id,
                connection.client,
                connection.server,
                interval.from_s,
                interval.to_s,
                interval.cause.name(),
                interval.confidence,
                interval.frames[0],
                interval.frames[1],
                interval.reason.replace('"', "'"),
            );
        }
    }
    text
}
