//! Captures into transfers by application, an application being what a server's port or address
//! stands for.

use ackord_history::{Captured, Counted, FoundTransfer, Transfer, TransferFinder};
use ackord_report::document::{Block, Document, Section};
use ackord_report::{data, table};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{CaptureReader, FrameError, ReadError, glimpse};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read;

use crate::reports::Report;

/// What stands for an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// The server's port: `port-443`.
    Port,
    /// The server's address: `192.0.2.1`.
    Address,
}

/// What was in captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportCounts {
    /// Packets of TCP connections.
    pub tcp_packets: u64,
    /// Packets of anything else, fragments included.
    pub other_packets: u64,
    /// Packets too short or contradicting themselves.
    pub malformed_packets: u64,
    /// Packets of link types that nobody here knows.
    pub unknown_link_packets: u64,
}

/// Reads captures, one after the other; connections may reach from one into the next.
#[derive(Debug)]
pub struct CaptureImport {
    finder: TransferFinder,
    counts: ImportCounts,
}

impl CaptureImport {
    /// An import for which a pause longer than `idle` ends a transfer; packets without a time are of
    /// `now`.
    pub fn new(idle: Span, counted: Counted, now: Time) -> CaptureImport {
        let counts = ImportCounts::default();
        CaptureImport { finder: TransferFinder::new(idle, counted, now), counts }
    }

    /// Reads a capture.
    ///
    /// # Errors
    /// [`ReadError`]. Where the capture is damaged, what came before counts.
    pub fn read(&mut self, input: impl Read) -> Result<(), ReadError> {
        let mut capture = CaptureReader::new(input)?;
        while let Some((link_type, packet)) = capture.next_packet()? {
            let counts = &mut self.counts;
            match glimpse(link_type, &packet.bytes, packet.original_len) {
                Ok(glimpse) => {
                    counts.tcp_packets += 1;
                    self.finder.handle_packet(&Captured { at: packet.at, glimpse });
                }
                Err(FrameError::Malformed) => counts.malformed_packets += 1,
                Err(FrameError::UnknownLink(_)) => counts.unknown_link_packets += 1,
                Err(FrameError::NotIp | FrameError::NotTcp | FrameError::Fragment) => {
                    counts.other_packets += 1;
                }
            }
        }
        Ok(())
    }

    /// What was found: transfers by application, each in the order in which they ended.
    pub fn finish(self, by: GroupBy) -> (Vec<(String, Vec<Transfer>)>, ImportCounts) {
        let mut by_application: BTreeMap<String, Vec<Transfer>> = BTreeMap::new();
        for found in self.finder.finish() {
            let FoundTransfer { server, size, began_at, ended_at, .. } = found;
            let application = match by {
                GroupBy::Port => format!("port-{}", server.port()),
                GroupBy::Address => server.ip().to_string(),
            };
            let took = Some(ended_at.saturating_since(began_at));
            let transfer = Transfer { size, ended_at, took };
            by_application.entry(application).or_default().push(transfer);
        }
        (by_application.into_iter().collect(), self.counts)
    }
}

#[derive(Serialize)]
struct Imported<'a> {
    #[serde(flatten)]
    counts: ImportCounts,
    applications: Vec<ImportedApplication<'a>>,
}

#[derive(Serialize)]
struct ImportedApplication<'a> {
    application: &'a str,
    transfers: u64,
    bytes: u64,
    smallest_bytes: u64,
    largest_bytes: u64,
}

/// What an import came to.
pub fn import_report(found: &[(String, Vec<Transfer>)], counts: ImportCounts) -> Report {
    let applications: Vec<_> = found
        .iter()
        .map(|(application, transfers)| {
            let sizes = || transfers.iter().map(|transfer| transfer.size);
            let or_none = |size: Option<Bytes>| size.map_or(0, Bytes::get);
            ImportedApplication {
                application,
                transfers: transfers.len() as u64,
                bytes: sizes().map(Bytes::get).sum(),
                smallest_bytes: or_none(sizes().min()),
                largest_bytes: or_none(sizes().max()),
            }
        })
        .collect();
    let table = table!(&applications, |entry| [
        words("application") => entry.application,
        numbers("transfers", "") => entry.transfers,
        numbers("bytes", "") => entry.bytes,
        numbers("smallest", "bytes") => entry.smallest_bytes,
        numbers("largest", "bytes") => entry.largest_bytes,
    ]);
    let fact = |name: &str, count: u64| (name.to_owned(), count.to_string());
    let facts = [
        fact("TCP packets", counts.tcp_packets),
        fact("other packets", counts.other_packets),
        fact("malformed", counts.malformed_packets),
        fact("of unknown link types", counts.unknown_link_packets),
    ];
    let heading = if table.rows.is_empty() { "No transfer was found" } else { "Imported" };
    let document = Document {
        title: "Transfers in captures".to_owned(),
        facts: facts.into(),
        sections: vec![Section::new(heading).with(Block::Table(table))],
        ..Document::default()
    };
    Report { document, json: data::to_json(&Imported { counts, applications }) }
}
