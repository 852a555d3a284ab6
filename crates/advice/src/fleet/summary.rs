//! Sums over the data set of a fleet.

use super::rows::Rows;
use super::tables::Tables;
use serde::Serialize;
use std::collections::BTreeMap;

/// Connections that are listed.
const MOST_LISTED: usize = 20;
/// Nanoseconds of an hour.
const HOUR_NS: u64 = 3_600_000_000_000;

/// What the captures of a fleet add up to. Parts may be added in any order; sums of seconds are rounded
/// differently then.
#[derive(Clone, Debug, Default)]
pub struct FleetSummary {
    pub(super) files: u64,
    pub(super) unreadable: Vec<Trouble>,
    pub(super) damaged: Vec<Trouble>,
    pub(super) connections: u64,
    pub(super) duration_s: f64,
    pub(super) lost_s: f64,
    /// First and last beginning of a connection, nanoseconds since 1970.
    pub(super) times: Option<[u64; 2]>,
    pub(super) causes: BTreeMap<String, CauseSum>,
    pub(super) hosts: BTreeMap<String, HostSum>,
    /// Seconds that remedies could give back, by hour since 1970 and cause.
    pub(super) hours: BTreeMap<u64, BTreeMap<String, f64>>,
    /// The connections that lost most time, worst first.
    pub(super) worst: Vec<WorstConnection>,
    pub(super) remedies: BTreeMap<String, RemedySum>,
}

/// What is wrong with a capture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Trouble {
    pub(super) file: String,
    pub(super) why: String,
}

/// Time spent on a cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CauseSum {
    pub(super) seconds: f64,
    pub(super) lost_s: f64,
    pub(super) connections: u64,
}

/// What the captures of a host add up to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HostSum {
    pub(super) files: u64,
    pub(super) connections: u64,
    pub(super) duration_s: f64,
    pub(super) lost_s: f64,
    /// Seconds that remedies could give back, by cause.
    pub(super) causes: BTreeMap<String, f64>,
}

impl HostSum {
    /// The cause that cost most.
    pub(super) fn worst(&self) -> Option<&str> {
        let worst = self.causes.iter().max_by(|a, b| a.1.total_cmp(b.1));
        worst.map(|(cause, _)| cause.as_str())
    }
}

/// A connection that lost much time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct WorstConnection {
    pub(super) file: String,
    pub(super) host: Option<String>,
    pub(super) connection: u64,
    pub(super) time_ns: Option<u64>,
    pub(super) client: String,
    pub(super) server: String,
    pub(super) duration_s: f64,
    pub(super) lost_s: f64,
    pub(super) mostly_by: Option<String>,
    /// The best remedy that was predicted.
    pub(super) remedy: Option<String>,
    pub(super) gain_percent: Option<f64>,
}

/// What a remedy is predicted to save where it is the best one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RemedySum {
    pub(super) connections: u64,
    pub(super) saved_s: f64,
}

impl FleetSummary {
    /// Adds the rows of one capture.
    pub fn add(&mut self, tables: &Tables) {
        let [connections, causes, remedies, files] = tables;
        self.add_files(Rows(files));
        self.add_causes(Rows(causes));
        self.add_connections(Rows(connections), Rows(remedies));
    }

    fn add_files(&mut self, files: Rows<'_>) {
        for row in 0..files.len() {
            let file = files.word("file", row).unwrap_or_default().to_owned();
            self.files += 1;
            if let Some(host) = files.word("host", row) {
                self.hosts.entry(host.to_owned()).or_default().files += 1;
            }
            let trouble = |why: &str| Trouble { file: file.clone(), why: why.to_owned() };
            self.unreadable.extend(files.word("error", row).map(trouble));
            self.damaged.extend(files.word("damage", row).map(trouble));
        }
        self.unreadable.sort();
        self.damaged.sort();
    }

    fn add_causes(&mut self, causes: Rows<'_>) {
        for row in 0..causes.len() {
            let Some(cause) = causes.word("cause", row) else { continue };
            let lost_s = causes.number("lost_s", row);
            let sum = self.causes.entry(cause.to_owned()).or_default();
            sum.seconds += causes.number("seconds", row);
            sum.lost_s += lost_s;
            sum.connections += 1;
            if lost_s <= 0.0 {
                continue;
            }
            if let Some(host) = causes.word("host", row) {
                let host = self.hosts.entry(host.to_owned()).or_default();
                *host.causes.entry(cause.to_owned()).or_default() += lost_s;
            }
            if let Some(time) = causes.count("time", row) {
                let hour = self.hours.entry(time / HOUR_NS).or_default();
                *hour.entry(cause.to_owned()).or_default() += lost_s;
            }
        }
    }

    fn add_connections(&mut self, connections: Rows<'_>, remedies: Rows<'_>) {
        let mut found = Vec::new();
        let best = best_remedies(remedies);
        for row in 0..connections.len() {
            let word = |name: &str| connections.word(name, row).map(str::to_owned);
            let (duration_s, lost_s) =
                (connections.number("duration_s", row), connections.number("lost_s", row));
            self.connections += 1;
            self.duration_s += duration_s;
            self.lost_s += lost_s;
            if let Some(host) = connections.word("host", row) {
                let host = self.hosts.entry(host.to_owned()).or_default();
                host.connections += 1;
                host.duration_s += duration_s;
                host.lost_s += lost_s;
            }
            let time_ns = connections.count("time", row);
            if let Some(time) = time_ns {
                let [first, last] = self.times.unwrap_or([time; 2]);
                self.times = Some([first.min(time), last.max(time)]);
            }
            let connection = connections.count("connection", row).unwrap_or(0);
            let file = word("file").unwrap_or_default();
            let remedy = best.get(&(file.as_str(), connection)).copied();
            if let Some((name, gain)) = remedy {
                let sum = self.remedies.entry(name.to_owned()).or_default();
                sum.connections += 1;
                sum.saved_s += duration_s * gain / 100.0;
            }
            if lost_s > 0.0 {
                let end = |address: &str, port: &str| {
                    let port = connections.count(port, row).and_then(|port| port.try_into().ok());
                    socket(connections.word(address, row).unwrap_or_default(), port.unwrap_or(0))
                };
                found.push(WorstConnection {
                    host: word("host"),
                    connection,
                    time_ns,
                    client: end("client", "client_port"),
                    server: end("server", "server_port"),
                    duration_s,
                    lost_s,
                    mostly_by: word("mostly_by"),
                    remedy: remedy.map(|(name, _)| name.to_owned()),
                    gain_percent: remedy.map(|(_, gain)| gain),
                    file,
                });
            }
        }
        self.worst.append(&mut found);
        let place = |one: &WorstConnection| (one.file.clone(), one.connection);
        self.worst.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(place(a).cmp(&place(b))));
        self.worst.truncate(MOST_LISTED);
    }

    /// Hosts by the time they lost, worst first.
    pub(super) fn worst_hosts(&self) -> Vec<(&str, &HostSum)> {
        let mut hosts: Vec<_> =
            self.hosts.iter().map(|(name, host)| (name.as_str(), host)).collect();
        hosts.sort_by(|a, b| b.1.lost_s.total_cmp(&a.1.lost_s).then(a.0.cmp(b.0)));
        hosts
    }

    /// Causes by their time, greatest first.
    pub(super) fn greatest_causes(&self) -> Vec<(&str, CauseSum)> {
        let mut causes: Vec<_> =
            self.causes.iter().map(|(name, sum)| (name.as_str(), *sum)).collect();
        causes.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then(a.0.cmp(b.0)));
        causes
    }
}

/// The first remedy of each connection, which is the best one, and its gain in percent.
fn best_remedies(remedies: Rows<'_>) -> BTreeMap<(&str, u64), (&str, f64)> {
    let mut best = BTreeMap::new();
    for row in 0..remedies.len() {
        let connection = remedies.word("file", row).zip(remedies.count("connection", row));
        if let Some((connection, remedy)) = connection.zip(remedies.word("remedy", row)) {
            best.entry(connection).or_insert((remedy, remedies.number("gain_percent", row)));
        }
    }
    best
}

/// An address and a port as `192.0.2.1:443` or `[2001:db8::1]:443`.
fn socket(address: &str, port: u16) -> String {
    match address.parse() {
        Ok(ip) => std::net::SocketAddr::new(ip, port).to_string(),
        Err(_) => format!("{address}:{port}"),
    }
}
