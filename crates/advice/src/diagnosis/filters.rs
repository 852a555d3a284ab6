//! Display filters for Wireshark: a connection as a stream number or by its addresses, and the frames of an interval.
//!
//! Wireshark numbers streams by the first packet of each address/port pair in the file, and a pair that is used again
//! gets a new number. A number is given only where both programs divide the packets in the same way; elsewhere the
//! filter names the addresses.

use ackord_diagnose::{ArtefactKind, Cause, Connection, Diagnosis, Interval};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The filters of a diagnosis.
pub struct Filters {
    /// Stream numbers in the order of connections; empty if they are unknown.
    streams: Vec<u32>,
    /// Whether frame numbers are those of a single file.
    one_file: bool,
}

impl Filters {
    /// Computes the stream number of every connection.
    pub fn of(diagnosis: &Diagnosis) -> Filters {
        let one_file = diagnosis.captures.len() == 1;
        let whole = diagnosis.captures.iter().all(|read| read.malformed == 0);
        let in_order =
            diagnosis.artefacts.iter().all(|found| found.kind != ArtefactKind::ReorderedTimestamps);
        let numbered = one_file && whole && in_order;
        let streams = if numbered { streams(&diagnosis.connections) } else { Vec::new() };
        Filters { streams, one_file }
    }

    /// Returns the number that Wireshark gives to this connection in `tcp.stream`, if it is certain.
    pub fn stream(&self, connection: &Connection) -> Option<u32> {
        self.streams.get(connection.id as usize).copied()
    }

    /// Returns a filter for the packets of a connection.
    pub fn connection(&self, connection: &Connection) -> String {
        match self.stream(connection) {
            Some(stream) => format!("tcp.stream eq {stream}"),
            None => by_address(connection.client, connection.server),
        }
    }

    /// Returns a filter for the frames of an interval.
    pub fn interval(&self, connection: &Connection, interval: &Interval) -> String {
        let [first, last] = interval.frames;
        let frames = format!("frame.number >= {first} && frame.number <= {last}");
        match self.one_file {
            true => format!("{} && {frames}", self.connection(connection)),
            // The frames are those of one file, and it is not known of which.
            false => frames,
        }
    }

    /// Returns for each cause of a connection, greatest first, the filter for its longest interval.
    pub(super) fn causes(&self, connection: &Connection) -> Vec<CauseFilter> {
        let span = |interval: &Interval| interval.to_s - interval.from_s;
        let mut longest: BTreeMap<Cause, &Interval> = BTreeMap::new();
        for interval in &connection.intervals {
            let kept = longest.entry(interval.cause).or_insert(interval);
            if span(interval) > span(kept) {
                *kept = interval;
            }
        }
        let causes = connection.causes.iter().filter_map(|share| {
            let interval = longest.get(&share.cause)?;
            Some(CauseFilter { cause: share.cause, filter: self.interval(connection, interval) })
        });
        causes.collect()
    }
}

/// A filter for frames that show a cause.
#[derive(Serialize)]
pub(super) struct CauseFilter {
    pub(super) cause: Cause,
    pub(super) filter: String,
}

/// Counts a new stream for every connection, except those that Wireshark counts as part of an earlier one: the same
/// ends again, without a SYN.
fn streams(connections: &[Connection]) -> Vec<u32> {
    let mut by_ends: BTreeMap<[SocketAddr; 2], u32> = BTreeMap::new();
    let mut next = 0;
    let number = |connection: &Connection| {
        let mut ends = [connection.client, connection.server];
        ends.sort();
        let open =
            |found: &ackord_diagnose::Artefact| found.kind == ArtefactKind::BeginsInTheMiddle;
        let continued = connection.artefacts.iter().any(open);
        match by_ends.get(&ends).filter(|_| continued) {
            Some(stream) => *stream,
            None => {
                by_ends.insert(ends, next);
                next += 1;
                next - 1
            }
        }
    };
    connections.iter().map(number).collect()
}

fn by_address(client: SocketAddr, server: SocketAddr) -> String {
    let field = match client.ip() {
        IpAddr::V4(_) => "ip.addr",
        IpAddr::V6(_) => "ipv6.addr",
    };
    format!(
        "{field} == {} && {field} == {} && tcp.port == {} && tcp.port == {}",
        client.ip(),
        server.ip(),
        client.port(),
        server.port()
    )
}

/// A diagnosis for programs: as it is, and each connection with its filters.
#[derive(Serialize)]
struct DiagnosisJson<'a> {
    captures: &'a [ackord_diagnose::CaptureRead],
    artefacts: &'a [ackord_diagnose::Artefact],
    connections: Vec<ConnectionJson<'a>>,
}

#[derive(Serialize)]
struct ConnectionJson<'a> {
    #[serde(flatten)]
    connection: &'a Connection,
    stream: Option<u32>,
    filter: String,
    cause_filters: Vec<CauseFilter>,
}

/// Returns the diagnosis as JSON, with a display filter for every connection and cause.
pub fn diagnosis_json(diagnosis: &Diagnosis) -> String {
    let filters = Filters::of(diagnosis);
    let connections = diagnosis.connections.iter().map(|connection| ConnectionJson {
        connection,
        stream: filters.stream(connection),
        filter: filters.connection(connection),
        cause_filters: filters.causes(connection),
    });
    ackord_report::data::to_json(&DiagnosisJson {
        captures: &diagnosis.captures,
        artefacts: &diagnosis.artefacts,
        connections: connections.collect(),
    })
}
