//! The tables of a fleet and their columns. Names and units are those of the JSON of a diagnosis where it has
//! the same quantity.

use super::files::FleetFile;
use super::part::FleetOptions;
use crate::lost_seconds;
use ackord_diagnose::{CaptureRead, CauseShare, Connection, Diagnosis};
use ackord_report::data_set::Column;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

/// Names of the tables, each a folder of the data set. That of files is written last: a capture is in the data
/// set when it has its row there.
pub const TABLES: [&str; 4] = ["connections", "causes", "remedies", "files"];

/// Columns of each table, in the order of [`TABLES`].
pub type Tables = [Vec<Column>; 4];

/// What there is of a capture.
pub(super) enum Read<'a> {
    /// Its diagnosis.
    Diagnosed(&'a Diagnosis),
    /// Why it could not be read.
    Failed(&'a str),
}

/// The rows of a capture.
pub(super) fn tables_of(file: &FleetFile, options: &FleetOptions, read: Read<'_>) -> Tables {
    let (connections, diagnosis, error) = match read {
        Read::Diagnosed(diagnosis) => (&diagnosis.connections[..], Some(diagnosis), None),
        Read::Failed(why) => (&[][..], None, Some(why)),
    };
    let host = options.host.clone().or_else(|| host_of(connections).map(|host| host.to_string()));
    let of = Of { file: file.name(), host };
    [
        of.connections(connections),
        of.causes(connections),
        of.remedies(connections),
        row_of_file(file, &of, diagnosis, error),
    ]
}

/// Every table without a row.
pub fn no_rows() -> Tables {
    let of = Of { file: String::new(), host: None };
    let none = FleetFile { path: String::new().into(), size: 0, modified_ns: 0, refused: None };
    let files = row_of_file(&none, &of, None, None).into_iter().map(Column::without_rows).collect();
    [of.connections(&[]), of.causes(&[]), of.remedies(&[]), files]
}

/// The columns of all tables as a text: rows of another program's columns are made again.
pub(super) fn schema() -> String {
    let mut text = String::new();
    for column in no_rows().iter().flatten() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}:{:?},", column.name, column.unit);
    }
    text
}

/// The address of the end that most connections of a capture have in common: at a server its own, at a client its
/// own. Of several the one that is nearer to the capture point, or else the lowest.
fn host_of(connections: &[Connection]) -> Option<IpAddr> {
    #[derive(Clone, Copy)]
    struct End {
        connections: u64,
        rtt_s: f64,
    }
    let mut ends: BTreeMap<IpAddr, End> = BTreeMap::new();
    for connection in connections {
        let [client, server] = [connection.client.ip(), connection.server.ip()];
        for (ip, rtt_s) in [client, server].into_iter().zip(connection.rtt_to_s) {
            let end = ends.entry(ip).or_insert(End { connections: 0, rtt_s: f64::INFINITY });
            end.connections += 1;
            end.rtt_s = end.rtt_s.min(rtt_s.unwrap_or(f64::INFINITY));
        }
    }
    let better = |(a, of_a): &(IpAddr, End), (b, of_b): &(IpAddr, End)| -> Ordering {
        let most = of_b.connections.cmp(&of_a.connections);
        most.then(of_a.rtt_s.total_cmp(&of_b.rtt_s)).then(a.cmp(b))
    };
    ends.into_iter().min_by(better).map(|(ip, _)| ip)
}

/// What every row of a capture has.
struct Of {
    file: String,
    host: Option<String>,
}

impl Of {
    /// The columns that identify the connection of each row.
    fn which<'a>(&self, rows: impl Iterator<Item = &'a Connection> + Clone) -> Vec<Column> {
        let ends = |end: fn(&Connection) -> IpAddr| -> Vec<String> {
            rows.clone().map(|connection| end(connection).to_string()).collect()
        };
        let client = ends(|connection| connection.client.ip());
        let server = ends(|connection| connection.server.ip());
        let port = |port: u16| Some(u64::from(port));
        vec![
            Column::words("file", rows.clone().map(|_| self.file.as_str())),
            Column::maybe_words("host", rows.clone().map(|_| self.host.as_deref())),
            Column::numbered("connection", rows.clone().map(|one| one.id.into())),
            Column::times("time", rows.clone().map(|one| Some(one.began_ns))),
            Column::words("client", client.iter().map(String::as_str)),
            Column::counts("client_port", "", rows.clone().map(|one| port(one.client.port()))),
            Column::words("server", server.iter().map(String::as_str)),
            Column::counts("server_port", "", rows.map(|one| port(one.server.port()))),
        ]
    }

    fn connections(&self, all: &[Connection]) -> Vec<Column> {
        let counts = |name: &str, unit: &str, of: fn(&Connection) -> u64| {
            Column::counts(name, unit, all.iter().map(|one| Some(of(one))))
        };
        let numbers = |name: &str, unit: &str, of: fn(&Connection) -> Option<f64>| {
            Column::numbers(name, unit, all.iter().map(of))
        };
        let vantage: Vec<String> = all.iter().map(|one| name_of(&one.vantage)).collect();
        let artefacts: Vec<String> = all.iter().map(artefacts).collect();
        let mut columns = self.which(all.iter());
        columns.extend([
            numbers("duration_s", "s", |one| Some(one.duration_s)),
            numbers("lost_s", "s", |one| Some(lost_seconds(one))),
            Column::maybe_words("mostly_by", all.iter().map(worst)),
            counts("packets_client", "packets", |one| one.packets[0]),
            counts("packets_server", "packets", |one| one.packets[1]),
            counts("bytes_client", "B", |one| one.bytes_by[0]),
            counts("bytes_server", "B", |one| one.bytes_by[1]),
            counts("retransmitted_bytes", "B", |one| one.retransmitted_bytes),
            Column::words("vantage", vantage.iter().map(String::as_str)),
            numbers("vantage_confidence", "", |one| Some(one.vantage_confidence)),
            numbers("rtt_to_client_s", "s", |one| one.rtt_to_s[0]),
            numbers("rtt_to_server_s", "s", |one| one.rtt_to_s[1]),
            numbers("base_rtt_s", "s", |one| one.path.base_rtt_s),
            numbers("queue_s", "s", |one| one.path.queue_s),
            numbers("rate_bit_s", "bit/s", |one| one.path.rate_bit_s),
            counts("lost", "segments", |one| one.path.lost),
            counts("segments", "segments", |one| one.path.segments),
            counts("loss_events", "", |one| one.path.loss_events),
            counts("reordered", "segments", |one| one.path.reordered),
            counts("mss", "B", |one| one.path.mss.into()),
            numbers("rwin_s", "s", |one| Some(one.limits.rwin_s)),
            numbers("cwnd_s", "s", |one| Some(one.limits.cwnd_s)),
            numbers("snd_s", "s", |one| Some(one.limits.snd_s)),
            Column::words("artefacts", artefacts.iter().map(String::as_str)),
        ]);
        columns
    }

    fn causes(&self, all: &[Connection]) -> Vec<Column> {
        let rows = || all.iter().flat_map(|one| one.causes.iter().map(move |cause| (one, cause)));
        let lost = |cause: &CauseShare| if cause.cause.is_loss() { cause.seconds } else { 0.0 };
        let share = |(one, cause): (&Connection, &CauseShare)| {
            (one.duration_s > 0.0).then(|| cause.seconds / one.duration_s)
        };
        let mut columns = self.which(rows().map(|(one, _)| one).collect::<Vec<_>>().into_iter());
        columns.extend([
            Column::words("cause", rows().map(|(_, cause)| cause.cause.name())),
            Column::numbers("seconds", "s", rows().map(|(_, cause)| Some(cause.seconds))),
            Column::numbers("lost_s", "s", rows().map(|(_, cause)| Some(lost(cause)))),
            Column::numbers("share", "", rows().map(share)),
            Column::numbers("confidence", "", rows().map(|(_, cause)| Some(cause.confidence))),
        ]);
        columns
    }

    fn remedies(&self, all: &[Connection]) -> Vec<Column> {
        let rows = || all.iter().flat_map(|one| one.remedies.iter().map(move |it| (one, it)));
        let mut columns = self.which(rows().map(|(one, _)| one).collect::<Vec<_>>().into_iter());
        columns.extend([
            Column::words("remedy", rows().map(|(_, it)| it.remedy.as_str())),
            Column::numbers("gain_percent", "%", rows().map(|(_, it)| Some(it.gain_percent))),
            Column::numbers("low_percent", "%", rows().map(|(_, it)| Some(it.ci95[0]))),
            Column::numbers("high_percent", "%", rows().map(|(_, it)| Some(it.ci95[1]))),
            Column::words("where", rows().map(|(_, it)| it.r#where.as_str())),
            Column::words("command", rows().map(|(_, it)| it.command.as_str())),
        ]);
        columns
    }
}

/// The one row of a capture in the table of files.
fn row_of_file(
    file: &FleetFile,
    of: &Of,
    diagnosis: Option<&Diagnosis>,
    error: Option<&str>,
) -> Vec<Column> {
    let read = diagnosis.and_then(|found| found.captures.first());
    let count = |of: fn(&CaptureRead) -> Option<u64>| [read.and_then(of)];
    let connections = diagnosis.map(|found| &found.connections[..]);
    let sum = |of: fn(&Connection) -> f64| connections.map(|all| all.iter().map(of).sum::<f64>());
    let framed = read.filter(|read| read.frames > 0);
    vec![
        Column::words("file", [of.file.as_str()]),
        Column::maybe_words("host", [of.host.as_deref()]),
        Column::times("time", [framed.map(|read| read.began_ns)]),
        Column::times("ended", [framed.map(|read| read.ended_ns)]),
        Column::counts("size_bytes", "B", [Some(file.size)]),
        Column::times("modified", [Some(file.modified_ns)]),
        Column::maybe_words("format", [read.map(|read| read.format.as_str())]),
        Column::counts("frames", "frames", count(|read| Some(read.frames))),
        Column::counts("tcp", "frames", count(|read| Some(read.tcp))),
        Column::counts("malformed", "frames", count(|read| Some(read.malformed))),
        Column::counts("dropped", "packets", count(|read| read.dropped)),
        Column::counts("snap_len", "B", count(|read| read.snap_len.map(u64::from))),
        Column::maybe_words("damage", [read.and_then(|read| read.damage.as_deref())]),
        Column::counts("connections", "", [connections.map(|all| all.len() as u64)]),
        Column::numbers("duration_s", "s", [sum(|one| one.duration_s)]),
        Column::numbers("lost_s", "s", [sum(lost_seconds)]),
        Column::maybe_words("error", [error]),
        Column::words("version", [ackord_study::VERSION]),
    ]
}

/// The cause that a remedy could give back most time of.
fn worst(connection: &Connection) -> Option<&'static str> {
    let worst = connection.causes.iter().find(|share| share.cause.is_loss());
    worst.map(|share| share.cause.name())
}

fn artefacts(connection: &Connection) -> String {
    let kinds: Vec<String> = connection.artefacts.iter().map(|it| name_of(&it.kind)).collect();
    kinds.join(" ")
}

/// The name that a value has in JSON.
fn name_of(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
