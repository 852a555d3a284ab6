//! The interactive page of a diagnosis, kept to a size that a browser opens at once.

use super::advice::Remark;
use super::filters::Filters;
use super::summary::by_loss;
use ackord_diagnose::{Address, Connection, Diagnosis, Point, PointKind, Trace};
use ackord_report::document::Document;
use ackord_report::{PageData, PageDiagnosis, diagnosis_page};
use std::net::{IpAddr, SocketAddr};

/// Packets of these connections at most, all in all: they are held in memory.
const MOST_PACKETS: u64 = 5_000_000;
/// Points in a page at most.
const MOST_POINTS: usize = 200_000;
/// Connections in a page at most.
const MOST_CONNECTIONS: usize = 1000;
/// Intervals in a page at most.
const MOST_INTERVALS: usize = 200_000;

/// Returns the connections whose packets are kept: the requested one, and `most` that lost the most time; fewer if
/// they have too many packets.
pub fn connections_to_trace(diagnosis: &Diagnosis, asked: Option<u32>, most: usize) -> Vec<u32> {
    let mut packets = 0;
    let mut chosen = Vec::new();
    let is_asked = |connection: &&&Connection| Some(connection.id) == asked;
    let ranked = by_loss(diagnosis);
    let first = ranked.iter().filter(is_asked);
    let others = ranked.iter().filter(|connection| !is_asked(connection)).take(most);
    for connection in first.chain(others) {
        packets += connection.packets.iter().sum::<u64>();
        if packets > MOST_PACKETS && !chosen.is_empty() {
            break;
        }
        chosen.push(connection.id);
    }
    chosen
}

/// Returns the ends of these connections.
pub fn ends_of(diagnosis: &Diagnosis, ids: &[u32]) -> Vec<[Address; 2]> {
    let chosen = diagnosis.connections.iter().filter(|connection| ids.contains(&connection.id));
    chosen.map(|one| [address(one.client), address(one.server)]).collect()
}

fn address(socket: SocketAddr) -> Address {
    let ip = match socket.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    Address { ip: ip.octets(), port: socket.port() }
}

/// Builds the page. It lists what it leaves out because of its size.
pub fn page_of_diagnosis(
    document: &Document,
    diagnosis: &Diagnosis,
    traces: Vec<Trace>,
    remarks: &[Remark],
) -> String {
    let mut notes = Vec::new();
    let kept = keep(diagnosis, &mut notes);
    let traces = thin(traces, MOST_POINTS, &mut notes);
    let remarks: Vec<String> = remarks.iter().map(ToString::to_string).collect();
    let all_filters = Filters::of(diagnosis);
    let filters: Vec<String> =
        kept.connections.iter().map(|connection| all_filters.connection(connection)).collect();
    let traced =
        kept.connections.iter().filter(|one| traces.iter().any(|trace| trace.connection == one.id));
    let (traced, all) = (traced.count(), diagnosis.connections.len());
    if traced < all && traced > 0 {
        notes.push(format!(
            "{traced} of {all} connections have a graph of their packets: those that lost the most time."
        ));
    }
    let filters = &filters;
    let diagnoses = [PageDiagnosis { label: "", diagnosis: &kept, filters, traces: &traces }];
    diagnosis_page(&PageData {
        title: &document.title,
        version: ackord_study::VERSION,
        summary: &document.purpose,
        remarks: &remarks,
        notes: &notes,
        diagnoses: &diagnoses,
    })
}

/// The connections that lost most, as far as they go into a page.
fn keep(diagnosis: &Diagnosis, notes: &mut Vec<String>) -> Diagnosis {
    let mut intervals = 0;
    let within = |connection: &&&Connection| {
        intervals += connection.intervals.len();
        intervals <= MOST_INTERVALS
    };
    let ranked = by_loss(diagnosis);
    let mut kept: Vec<Connection> =
        ranked.iter().take(MOST_CONNECTIONS).take_while(within).map(|one| (*one).clone()).collect();
    if let (true, Some(first)) = (kept.is_empty(), ranked.first()) {
        let mut first = (*first).clone();
        first.intervals.truncate(MOST_INTERVALS);
        kept.push(first);
    }
    kept.sort_by_key(|connection| connection.id);
    let hidden = diagnosis.connections.len() - kept.len();
    if hidden > 0 {
        notes.push(format!(
            "The page shows the {} connections that lost the most time; {hidden} more are in diagnosis.json.",
            kept.len()
        ));
    }
    Diagnosis {
        captures: diagnosis.captures.clone(),
        artefacts: diagnosis.artefacts.clone(),
        connections: kept,
    }
}

/// Keeps at most `most` points, of every trace and direction the same share; retransmissions are dropped last.
fn thin(traces: Vec<Trace>, most: usize, notes: &mut Vec<String>) -> Vec<Trace> {
    let count = |traces: &[Trace]| -> usize {
        traces.iter().map(|trace| trace.points.len() + trace.reverse.len()).sum()
    };
    let all = count(&traces);
    if all <= most {
        return traces;
    }
    let share = |points: Vec<Point>| {
        let budget = (points.len() as u128 * most as u128 / all as u128) as usize;
        thin_points(points, budget)
    };
    let thinned: Vec<Trace> = traces
        .into_iter()
        .map(|trace| Trace {
            connection: trace.connection,
            points: share(trace.points),
            reverse: share(trace.reverse),
        })
        .collect();
    let left = count(&thinned);
    notes.push(format!(
        "The graphs show {left} of {all} packets, evenly chosen; of retransmissions as many as fit."
    ));
    thinned
}

fn thin_points(points: Vec<Point>, budget: usize) -> Vec<Point> {
    let telling =
        |kind: PointKind| matches!(kind, PointKind::Retransmission | PointKind::OutOfOrder);
    let special = points.iter().filter(|point| telling(point.kind)).count();
    // At most half of the room is for what is special.
    let special_room = special.min(budget / 2);
    let plain = points.len() - special;
    let mut special = Evenly { room: special_room, of: special, sum: 0 };
    let mut plain = Evenly { room: budget - special_room, of: plain, sum: 0 };
    let keep = |point: &Point| match telling(point.kind) {
        true => special.next(),
        false => plain.next(),
    };
    points.into_iter().filter(keep).collect()
}

/// `room` out of `of`, as far apart as can be.
struct Evenly {
    room: usize,
    of: usize,
    sum: usize,
}

impl Evenly {
    fn next(&mut self) -> bool {
        self.sum += self.room.min(self.of);
        let chosen = self.sum >= self.of;
        if chosen {
            self.sum -= self.of;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(connection: u32, plain: u64, special: u64) -> Trace {
        let point = |number: u64| {
            let kind = if number < special { PointKind::Retransmission } else { PointKind::Data };
            Point { t: number as f64, kind, from: number, to: number + 1, frame: number }
        };
        let points = (0..plain + special).map(point).collect();
        Trace { connection, points, reverse: Vec::new() }
    }

    #[test]
    fn what_is_too_much_is_thinned_evenly_and_told_and_retransmissions_stay() {
        let mut notes = Vec::new();
        let kept = thin(vec![trace(0, 900, 100), trace(7, 9_000, 0)], 5_000, &mut notes);
        let counts: Vec<usize> = kept.iter().map(|trace| trace.points.len()).collect();
        assert!(counts.iter().sum::<usize>() <= 5_000 && counts[0] >= 440, "{counts:?}");
        let special = |point: &&Point| point.kind == PointKind::Retransmission;
        assert_eq!(kept[0].points.iter().filter(special).count(), 100);
        let gaps = kept[1].points.windows(2).map(|two| two[1].frame - two[0].frame);
        assert!(gaps.max() <= Some(3), "evenly");
        assert_eq!(notes.len(), 1, "{notes:?}");
        let few = thin(vec![trace(0, 10, 1)], 5_000, &mut notes);
        assert_eq!((few[0].points.len(), notes.len()), (11, 1), "nothing to be told");
    }
}
