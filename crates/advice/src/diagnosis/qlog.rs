//! Connections as qlog (draft-ietf-quic-qlog-main-schema-02, version "0.3": the newest that qvis takes).
//!
//! TCP has no packet numbers: data segments are numbered as they passed, and what an ACK or a SACK covers
//! is told in these numbers. A segment whose bytes are retransmitted while they are not acknowledged counts
//! as lost then. Round trips and bytes in flight are those that the capture point sees.
//! Not modelled: handshakes, FIN and RST; the direction of less data.

use ackord_diagnose::{Connection, Diagnosis, Point, PointKind, Trace, Vantage};
use serde::Serialize;
use std::collections::BTreeMap;

/// Points of one connection that go into a file at most.
const MOST_POINTS: usize = 1_000_000;

#[derive(Serialize)]
struct File {
    qlog_version: &'static str,
    qlog_format: &'static str,
    title: String,
    description: String,
    traces: Vec<FileTrace>,
}

#[derive(Serialize)]
struct FileTrace {
    title: String,
    description: String,
    vantage_point: VantagePoint,
    common_fields: CommonFields,
    events: Vec<Event>,
}

#[derive(Serialize)]
struct VantagePoint {
    name: &'static str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<&'static str>,
}

#[derive(Serialize)]
struct CommonFields {
    time_format: &'static str,
    reference_time: f64,
    protocol_type: [&'static str; 1],
}

#[derive(Serialize)]
struct Event {
    /// Milliseconds.
    time: f64,
    name: &'static str,
    data: Data,
    /// Number of the frame in the capture.
    frame: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Data {
    Packet {
        header: Header,
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<Raw>,
        frames: [Frame; 1],
    },
    Lost {
        header: Header,
    },
    Metrics {
        #[serde(skip_serializing_if = "Option::is_none")]
        min_rtt: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        smoothed_rtt: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        latest_rtt: Option<f64>,
        bytes_in_flight: u64,
    },
}

#[derive(Serialize)]
struct Header {
    packet_type: &'static str,
    packet_number: u64,
}

#[derive(Serialize)]
struct Raw {
    length: u64,
    payload_length: u64,
}

#[derive(Serialize)]
#[serde(tag = "frame_type", rename_all = "snake_case")]
enum Frame {
    Stream { stream_id: u64, offset: u64, length: u64 },
    Ack { acked_ranges: Vec<[u64; 2]> },
}

/// The packets of these connections for qvis and other tools.
pub fn qlog_of(title: &str, diagnosis: &Diagnosis, traces: &[Trace]) -> Vec<u8> {
    let by_id: BTreeMap<u32, &Connection> =
        diagnosis.connections.iter().map(|connection| (connection.id, connection)).collect();
    let known = traces.iter().filter_map(|trace| Some((by_id.get(&trace.connection)?, trace)));
    let file = File {
        qlog_version: "0.3",
        qlog_format: "JSON",
        title: title.to_owned(),
        description: "TCP, from a capture; data segments are numbered as they passed".to_owned(),
        traces: known.map(|(connection, trace)| trace_of(connection, trace)).collect(),
    };
    serde_json::to_vec(&file).expect("only names are keys")
}

fn trace_of(connection: &Connection, trace: &Trace) -> FileTrace {
    let sender = if connection.bytes_by[1] > connection.bytes_by[0] { "server" } else { "client" };
    // "Sent" is what the sender of most data sends, wherever it was captured.
    let (r#type, flow) = match connection.vantage {
        Vantage::NearSender => (sender, None),
        _ => ("network", Some(sender)),
    };
    let shown = &trace.points[..trace.points.len().min(MOST_POINTS)];
    let hidden = trace.points.len() - shown.len();
    let mut description = format!("{:.3} s", connection.duration_s);
    for share in connection.causes.iter().take(3) {
        description += &format!("; {} {:.3} s", share.cause.title(), share.seconds);
    }
    if hidden > 0 {
        description += &format!("; the last {hidden} packets are left out");
    }
    let mut sent = Sent::default();
    for point in shown {
        sent.point(point);
    }
    FileTrace {
        title: format!("{}: {} to {}", connection.id, connection.client, connection.server),
        description,
        vantage_point: VantagePoint { name: "capture", r#type, flow },
        common_fields: CommonFields {
            time_format: "relative",
            reference_time: connection.began_ns as f64 / 1e6,
            protocol_type: ["TCP"],
        },
        events: sent.events,
    }
}

/// A segment that is not acknowledged.
struct Outstanding {
    to: u64,
    number: u64,
    at: f64,
    /// Sent more than once: no round trip can be measured by it (RFC 6298 §3).
    again: bool,
}

/// What was sent, as far as it has come.
#[derive(Default)]
struct Sent {
    events: Vec<Event>,
    /// By its first byte.
    outstanding: BTreeMap<u64, Outstanding>,
    in_flight: u64,
    next_number: u64,
    next_ack: u64,
    least_ms: Option<f64>,
    smoothed_ms: Option<f64>,
    /// What the packet being looked at has acknowledged so far.
    acked: Vec<Outstanding>,
}

impl Sent {
    fn point(&mut self, point: &Point) {
        match point.kind {
            PointKind::Data | PointKind::OutOfOrder | PointKind::Retransmission => self.data(point),
            PointKind::Sack => self.take(point.from, point.to),
            PointKind::Ack => self.ack(point),
        }
    }

    fn event(&mut self, point: &Point, name: &'static str, data: Data) {
        // To a nanosecond, as captures have it.
        let time = (point.t * 1e9).round() / 1e6;
        self.events.push(Event { time, name, data, frame: point.frame });
    }

    fn data(&mut self, point: &Point) {
        let before = self.outstanding.range(..point.from).next_back();
        let first =
            before.filter(|(_, one)| one.to > point.from).map_or(point.from, |(from, _)| *from);
        let overlapping: Vec<u64> =
            self.outstanding.range(first..point.to).map(|(from, _)| *from).collect();
        let again = !overlapping.is_empty() || point.kind == PointKind::Retransmission;
        for from in overlapping {
            let Some(lost) = self.outstanding.remove(&from) else { continue };
            self.in_flight -= lost.to - from;
            self.event(point, "recovery:packet_lost", Data::Lost { header: header(lost.number) });
        }
        let (number, length) = (self.next_number, point.to.saturating_sub(point.from));
        self.next_number += 1;
        if length > 0 {
            let sent = Outstanding { to: point.to, number, at: point.t, again };
            self.in_flight += length;
            self.outstanding.insert(point.from, sent);
        }
        let data = Data::Packet {
            header: header(number),
            raw: Some(Raw { length, payload_length: length }),
            frames: [Frame::Stream { stream_id: 0, offset: point.from, length }],
        };
        self.event(point, "transport:packet_sent", data);
    }

    /// Bytes from `from` to `to` have arrived.
    fn take(&mut self, from: u64, to: u64) {
        let whole = self.outstanding.range(from..to.max(from)).filter(|(_, one)| one.to <= to);
        let whole: Vec<u64> = whole.map(|(from, _)| *from).collect();
        for from in whole {
            if let Some(one) = self.outstanding.remove(&from) {
                self.in_flight -= one.to - from;
                self.acked.push(one);
            }
        }
    }

    fn ack(&mut self, point: &Point) {
        self.take(0, point.from);
        let acked = std::mem::take(&mut self.acked);
        if acked.is_empty() {
            return;
        }
        let sample = acked.iter().filter(|one| !one.again).map(|one| one.at).reduce(f64::max);
        let latest_rtt = sample.map(|at| ((point.t - at) * 1e9).round() / 1e6);
        if let Some(latest) = latest_rtt {
            self.least_ms = Some(self.least_ms.map_or(latest, |least| least.min(latest)));
            // RFC 6298 §2.3.
            let before = self.smoothed_ms.unwrap_or(latest);
            self.smoothed_ms = Some(before + (latest - before) / 8.0);
        }
        let mut numbers: Vec<u64> = acked.iter().map(|one| one.number).collect();
        numbers.sort_unstable();
        let number = self.next_ack;
        self.next_ack += 1;
        let frames = [Frame::Ack { acked_ranges: ranges(&numbers) }];
        let packet = Data::Packet { header: header(number), raw: None, frames };
        self.event(point, "transport:packet_received", packet);
        let metrics = Data::Metrics {
            min_rtt: self.least_ms.filter(|_| latest_rtt.is_some()),
            smoothed_rtt: self.smoothed_ms.filter(|_| latest_rtt.is_some()),
            latest_rtt,
            bytes_in_flight: self.in_flight,
        };
        self.event(point, "recovery:metrics_updated", metrics);
    }
}

fn header(packet_number: u64) -> Header {
    Header { packet_type: "1RTT", packet_number }
}

/// Numbers in order, as ranges of first and last.
fn ranges(numbers: &[u64]) -> Vec<[u64; 2]> {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == *number => *last = *number,
            _ => ranges.push([*number, *number]),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_sent_again_are_lost_and_acks_cover_the_last_that_was_sent() {
        let point = |t, kind, from, to| Point { t, kind, from, to, frame: 1 };
        let mut sent = Sent::default();
        for one in [
            point(0.0, PointKind::Data, 0, 100),
            point(0.1, PointKind::Data, 100, 200),
            point(0.2, PointKind::Sack, 100, 200),
            point(0.2, PointKind::Ack, 0, 9_000),
            point(0.3, PointKind::Retransmission, 0, 100),
            point(0.5, PointKind::Ack, 200, 9_000),
        ] {
            sent.point(&one);
        }
        let json = serde_json::to_value(&sent.events).expect("JSON");
        let names: Vec<&str> = sent.events.iter().map(|event| event.name).collect();
        let [sends, receives, metrics, lost] = [
            "transport:packet_sent",
            "transport:packet_received",
            "recovery:metrics_updated",
            "recovery:packet_lost",
        ];
        assert_eq!(names, [sends, sends, receives, metrics, lost, sends, receives, metrics]);
        assert_eq!(json[2]["data"]["frames"][0]["acked_ranges"], serde_json::json!([[1, 1]]));
        assert_eq!(json[3]["data"]["latest_rtt"], 100.0);
        assert_eq!(json[4]["data"]["header"]["packet_number"], 0);
        assert_eq!(json[6]["data"]["frames"][0]["acked_ranges"], serde_json::json!([[2, 2]]));
        assert_eq!(
            json[7]["data"],
            serde_json::json!({"bytes_in_flight": 0}),
            "no sample of a retransmission"
        );
    }
}
