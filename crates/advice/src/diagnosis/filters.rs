//! Display filters for Wireshark: a connection as a stream number or by its addresses, and the frames of an interval.
//!
//! Wireshark numbers streams by the first packet of each address/port pair in the file; a SYN with another sequence
//! number between the same ends starts a new stream. The list of connections does not always show how Wireshark
//! divides the packets. A number is given only where it does; elsewhere the filter names the addresses, and the frames
//! if several connections have the same ends.

use ackord_diagnose::{Artefact, ArtefactKind, Cause, Connection, Diagnosis, Interval};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

/// The filters of a diagnosis.
pub struct Filters {
    /// Stream numbers in the order of connections, up to the first that is unknown.
    streams: Vec<u32>,
    /// Connections whose stream may contain packets of a later connection.
    shared: BTreeSet<u32>,
    /// Number of connections between the same ends.
    by_ends: BTreeMap<[SocketAddr; 2], u32>,
    /// Whether frame numbers are those of a single file.
    one_file: bool,
}

impl Filters {
    /// Computes the stream number of every connection.
    pub fn of(diagnosis: &Diagnosis) -> Filters {
        let one_file = diagnosis.captures.len() == 1;
        let whole = diagnosis.captures.iter().all(|read| read.malformed == 0);
        // An ICMP error contains a TCP header, which may start a stream in Wireshark.
        let is_icmp = |(kind, _): &(String, u64)| kind.starts_with("ICMP");
        let errors = diagnosis.captures.iter().flat_map(|read| &read.others).any(is_icmp);
        let in_order =
            diagnosis.artefacts.iter().all(|found| found.kind != ArtefactKind::ReorderedTimestamps);
        let numbered = one_file && whole && !errors && in_order;
        let (streams, shared) =
            if numbered { streams(&diagnosis.connections) } else { Default::default() };
        let mut by_ends = BTreeMap::new();
        for connection in &diagnosis.connections {
            *by_ends.entry(ends(connection)).or_default() += 1;
        }
        Filters { streams, shared, by_ends, one_file }
    }

    /// Returns the number that Wireshark gives to this connection in `tcp.stream`, if it is certain.
    pub fn stream(&self, connection: &Connection) -> Option<u32> {
        self.streams.get(connection.id as usize).copied()
    }

    /// Returns a filter for the packets of a connection.
    pub fn connection(&self, connection: &Connection) -> String {
        let several = self.by_ends.get(&ends(connection)).is_some_and(|count| *count > 1);
        let (filter, ambiguous) = match self.stream(connection) {
            Some(stream) => {
                (format!("tcp.stream eq {stream}"), self.shared.contains(&connection.id))
            }
            None => (by_address(connection.client, connection.server), several && self.one_file),
        };
        match (connection.intervals.first(), connection.intervals.last()) {
            (Some(first), Some(last)) if ambiguous => {
                format!("{filter} && {}", frames(first.frames[0], last.frames[1]))
            }
            _ => filter,
        }
    }

    /// Returns a filter for the frames of an interval.
    pub fn interval(&self, connection: &Connection, interval: &Interval) -> String {
        let [first, last] = interval.frames;
        let of_connection = match (self.one_file, self.stream(connection)) {
            (true, Some(stream)) => format!("tcp.stream eq {stream}"),
            (true, None) => by_address(connection.client, connection.server),
            // The frames are those of one file, and it is not known of which.
            (false, _) => return frames(first, last),
        };
        format!("{of_connection} && {}", frames(first, last))
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

/// Counts a new stream for every connection, up to the first of which it is uncertain. Returns the numbers, and the
/// connections whose stream may contain packets of a later connection.
fn streams(connections: &[Connection]) -> (Vec<u32>, BTreeSet<u32>) {
    // The latest connection between these ends, and whether it carried data.
    let mut latest: BTreeMap<[SocketAddr; 2], (u32, bool)> = BTreeMap::new();
    let (mut streams, mut shared) = (Vec::new(), BTreeSet::new());
    let mut uncertain = false;
    for (stream, connection) in (0..).zip(connections) {
        let Connection { id, bytes, .. } = *connection;
        let before = latest.insert(ends(connection), (id, bytes > 0));
        let has = |kind| connection.artefacts.iter().any(|found: &Artefact| found.kind == kind);
        let continued = has(ArtefactKind::BeginsInTheMiddle);
        // What seems to be a hole in a connection that was open before may be another connection's SYN.
        uncertain |= continued && has(ArtefactKind::MissingPackets);
        // Without a SYN, Wireshark counts the packets as part of the connection before. A client that was refused
        // may repeat its SYN with the same sequence number, which is no new stream.
        shared.extend(before.filter(|(_, data)| continued || !data).map(|(id, _)| id));
        uncertain |= !shared.is_empty();
        if !uncertain {
            streams.push(stream);
        }
    }
    (streams, shared)
}

/// Both ends, the lesser first.
fn ends(connection: &Connection) -> [SocketAddr; 2] {
    let mut ends = [connection.client, connection.server];
    ends.sort();
    ends
}

fn frames(first: u64, last: u64) -> String {
    format!("frame.number >= {first} && frame.number <= {last}")
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
    artefacts: &'a [Artefact],
    connections: ConnectionsJson<'a>,
}

/// Connections whose filters are built one by one while they are written: those of all connections take much memory.
struct ConnectionsJson<'a> {
    filters: &'a Filters,
    connections: &'a [Connection],
}

impl Serialize for ConnectionsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.connections.iter().map(|connection| ConnectionJson {
            connection,
            stream: self.filters.stream(connection),
            filter: self.filters.connection(connection),
            cause_filters: self.filters.causes(connection),
        }))
    }
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
    ackord_report::data::to_json(&DiagnosisJson {
        captures: &diagnosis.captures,
        artefacts: &diagnosis.artefacts,
        connections: ConnectionsJson { filters: &filters, connections: &diagnosis.connections },
    })
}
