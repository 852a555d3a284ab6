//! What captures say, told: [`diagnosis_document`] for people, [`intervals_csv`] for tables.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | the whole capture: the causes, the connections |
//! | `summary.rs` | the answer in a sentence, and what it adds up |
//! | `detail.rs` | one connection: its account, its path, its intervals with their reasons |
//! | `advice.rs` | what would help, and whether it did |
//! | `annotate.rs` | the capture again, with comments for Wireshark |
//! | `qlog.rs` | packets for qvis |
//! | `page.rs` | the interactive page, and which connections it draws |

mod advice;
mod annotate;
mod detail;
mod page;
mod qlog;
mod summary;

pub use advice::{Remark, verification_document};
pub use annotate::{annotate, comments_of};
pub use page::{connections_to_trace, ends_of, page_of_diagnosis};
pub use qlog::qlog_of;
pub use summary::{diagnosis_summary, lost_seconds};

use ackord_diagnose::Diagnosis;
use ackord_report::document::{Block, Cell, Document, Section};
use ackord_report::table;
use std::fmt::Write;
use summary::{by_loss, totals};

/// Connections listed on a terminal at most; JSON and CSV have all.
const MOST_LISTED: usize = 20;

/// The answer for people: the capture as a whole, and connections by the time they lost. With `one`,
/// that connection in detail.
pub fn diagnosis_document(diagnosis: &Diagnosis, one: Option<u32>, remarks: &[Remark]) -> Document {
    let mut document = Document {
        title: title(diagnosis),
        purpose: diagnosis_summary(diagnosis),
        facts: Vec::new(),
        sections: Vec::new(),
    };
    if let Some(section) = notes(diagnosis) {
        document.sections.push(section);
    }
    let chosen = one.and_then(|id| diagnosis.connections.iter().find(|found| found.id == id));
    match chosen {
        Some(connection) => {
            document.sections.extend(detail::sections(connection));
            document.sections.extend(advice::section(&[connection], remarks));
        }
        // What there is instead of TCP has been told.
        None if diagnosis.connections.is_empty() => {}
        None => {
            document.sections.push(causes(diagnosis));
            document.sections.push(connections(diagnosis));
            document.sections.extend(advice::section(&by_loss(diagnosis), remarks));
        }
    }
    document
}

/// The captures by their names, without the folders they are in.
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
    let section = Section::new("What is wrong with the capture");
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
        words("to be gained") => if cause.is_loss() { "yes" } else { "" },
    ]);
    Section::new("Where the time went").with(Block::Table(table))
}

fn connections(diagnosis: &Diagnosis) -> Section {
    let mut listed = by_loss(diagnosis);
    let hidden = listed.len().saturating_sub(MOST_LISTED);
    listed.truncate(MOST_LISTED);
    let caption = match hidden {
        0 => "Most lost first; `--connection N` shows one.".to_owned(),
        hidden => {
            format!("Most lost first; {hidden} more are in --json. `--connection N` shows one.")
        }
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
            words("mostly by") => worst.map_or("nothing to gain", |share| share.cause.title()),
        ]
    });
    Section::new("Connections").with(Block::Table(table.captioned(caption)))
}

/// All intervals of all connections: one line each, times in seconds since the connection's first packet.
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
