//! What would help, and whether it did.

use crate::remedies::Verification;
use ackord_diagnose::{Connection, Diagnosis};
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;
use std::fmt;

/// A remark about the prediction for a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Number of the connection.
    pub connection: u32,
    /// The remark, without the connection's number.
    pub words: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {}: {}", self.connection, self.words)
    }
}

/// Returns the remedies of these connections, best first within each, and the remarks; nothing where there is
/// neither.
pub(super) fn section(connections: &[&Connection], remarks: &[Remark]) -> Option<Section> {
    let advised: Vec<&&Connection> =
        connections.iter().filter(|connection| !connection.remedies.is_empty()).collect();
    if advised.is_empty() && remarks.is_empty() {
        return None;
    }
    let mut section = Section::new("What would help");
    if !advised.is_empty() {
        section.blocks.push(Block::Table(remedies(&advised)));
        let commands = advised.iter().flat_map(|connection| &connection.remedies);
        let mut notes: Vec<String> = Vec::new();
        for remedy in commands {
            let note = format!("{} ({}): {}", remedy.remedy, remedy.r#where, remedy.command);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        section.blocks.push(Block::Notes(notes));
    }
    if !remarks.is_empty() {
        section.blocks.push(Block::Notes(remarks.iter().map(Remark::to_string).collect()));
    }
    Some(section)
}

fn remedies(connections: &[&&Connection]) -> Table {
    let of_each = connections.iter().flat_map(|connection| {
        connection.remedies.iter().map(move |remedy| (connection.id, remedy))
    });
    table!(of_each, |(connection, remedy)| {
        let [low, high] = remedy.ci95;
        [
            numbers("connection", "") => connection,
            words("remedy") => &remedy.remedy,
            numbers("less time", "%") => Cell::number(remedy.gain_percent, 1),
            words("95 % interval") => format!("{low:.1} to {high:.1}"),
            words("where") => &remedy.r#where,
        ]
    })
    .captioned("Predicted: how much less time the same transfer would take, without the time of idle applications.")
}

/// Builds the comparison of the predicted gain with the measured one, for people.
pub fn verification_document(
    before: &Diagnosis,
    after: &Diagnosis,
    verification: &Verification,
) -> Document {
    let both = [
        ("predicted", verification.predicted_percent, verification.predicted_ci95),
        ("measured", verification.measured_percent, verification.measured_ci95),
    ];
    let table = table!(both, |(what, gain, interval)| [
        words("gain") => what,
        numbers("less time", "%") => Cell::number(gain, 1),
        words("95 % interval") => interval.map(|[low, high]| format!("{low:.1} to {high:.1}")),
    ])
    .captioned(
        "How much less time the same transfer takes, without the time of idle applications.",
    );
    let [old, new] = verification.connections;
    let remedy = verification.remedy.clone().unwrap_or_else(|| "none was predicted".to_owned());
    let facts = vec![
        ("remedy".to_owned(), remedy),
        ("connections before".to_owned(), format!("{old} of {}", before.connections.len())),
        ("predicted for".to_owned(), format!("{} of {old}", verification.predicted_for)),
        ("connections after".to_owned(), format!("{new} of {}", after.connections.len())),
    ];
    let mut purpose = verification.words.clone();
    if let Some(first) = purpose.get(..1).map(str::to_uppercase) {
        purpose.replace_range(..1, &first);
        purpose.push('.');
    }
    Document {
        title: "Before and after".to_owned(),
        purpose,
        facts,
        sections: vec![Section::new("Whether the gain came").with(Block::Table(table))],
    }
}
