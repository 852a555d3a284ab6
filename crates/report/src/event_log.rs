//! The events of a run as lines of JSON, while it goes on.
//!
//! A line has the time since the run began (`at_ns`), the event's name, the connection and the side
//! whose event it is, and what the event says. A run in real time has a line before the others that says
//! when it began since 1970: an event's time and that make the time in a capture. Events of
//! endpoints, and the packets that died or were doubled on the path, are written; what a link's
//! queue does is not.

use crate::files::WriteError;
use ackord_events::{EndpointId, Event, Sink};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Packet, Side};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An event log that is being written.
pub struct EventLog {
    path: PathBuf,
    out: BufWriter<File>,
    /// The first thing that went wrong; told at the end.
    failure: Option<io::Error>,
    has_begun: bool,
}

impl EventLog {
    /// Begins the file.
    ///
    /// # Errors
    /// What the system answers.
    pub fn create(path: &Path) -> Result<EventLog, WriteError> {
        let file = File::create(path).map_err(|source| unwritable(path, source))?;
        Ok(EventLog {
            path: path.to_owned(),
            out: BufWriter::new(file),
            failure: None,
            has_begun: false,
        })
    }

    /// Says when a run in real time began.
    pub fn began(&mut self, since_1970: Span) {
        self.line(&json!({ "began_unix_ns": since_1970.as_nanos() }));
    }

    /// Writes what is still to be written; the first failure of the disk comes out here.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let flushed = self.out.flush();
        let result = self.failure.take().map_or(flushed, Err);
        result.map_err(|source| unwritable(&self.path, source))
    }

    fn line(&mut self, value: &Value) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{value}").err();
        }
        // A reader at the other end of a pipe sees at once that the run has begun.
        if !std::mem::replace(&mut self.has_begun, true) && self.failure.is_none() {
            self.failure = self.out.flush().err();
        }
    }
}

impl Sink for EventLog {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Some(mut fields) = fields(&event) {
            fields.insert("at_ns".to_owned(), json!(at.saturating_since(Time::ZERO).as_nanos()));
            self.line(&Value::Object(fields));
        }
    }
}

fn unwritable(path: &Path, source: io::Error) -> WriteError {
    WriteError::Io { what: "write", path: path.to_owned(), source }
}

/// What an event says; nothing for those that are not written.
fn fields(event: &Event<'_>) -> Option<Map<String, Value>> {
    let (name, mut value) = match *event {
        Event::StateChanged { endpoint, from, to } => {
            ("StateChanged", of(endpoint, json!({ "from": word(from), "to": word(to) })))
        }
        Event::SegmentSent { endpoint, seq, payload, kind } => {
            ("SegmentSent", of(endpoint, numbered(seq, payload, "kind", word(kind))))
        }
        Event::DataDelivered { endpoint, bytes, stream_offset } => (
            "DataDelivered",
            of(endpoint, json!({ "bytes": bytes.get(), "stream_offset": stream_offset.get() })),
        ),
        Event::AckAdvanced { endpoint, bytes, stream_offset } => (
            "AckAdvanced",
            of(endpoint, json!({ "bytes": bytes.get(), "stream_offset": stream_offset.get() })),
        ),
        Event::CwndChanged { endpoint, cwnd, ssthresh, reason } => {
            let ssthresh = (ssthresh != Bytes::MAX).then_some(ssthresh.get());
            let values =
                json!({ "cwnd": cwnd.get(), "ssthresh": ssthresh, "reason": word(reason) });
            ("CwndChanged", of(endpoint, values))
        }
        Event::RttSampled { endpoint, rtt, srtt, rto } => {
            let [rtt, srtt, rto] = [rtt, srtt, rto].map(Span::as_nanos);
            let values = json!({ "rtt_ns": rtt, "srtt_ns": srtt, "rto_ns": rto });
            ("RttSampled", of(endpoint, values))
        }
        Event::SegmentLost { endpoint, seq, bytes, reason } => {
            ("SegmentLost", of(endpoint, numbered(seq, bytes, "reason", word(reason))))
        }
        Event::RecoveryEntered { endpoint, kind } => {
            ("RecoveryEntered", of(endpoint, json!({ "kind": word(kind) })))
        }
        Event::RecoveryExited { endpoint, kind } => {
            ("RecoveryExited", of(endpoint, json!({ "kind": word(kind) })))
        }
        Event::RecoveryUndone { endpoint, kind, evidence } => {
            let values = json!({ "kind": word(kind), "evidence": word(evidence) });
            ("RepairUndone", of(endpoint, values))
        }
        Event::RetransmissionSpurious { endpoint, seq, bytes } => {
            let values = json!({ "seq": seq.0, "bytes": bytes.get() });
            ("RetransmissionSpurious", of(endpoint, values))
        }
        Event::RetransmissionTimeout { endpoint, next_rto, consecutive } => {
            let values = json!({ "next_rto_ns": next_rto.as_nanos(), "consecutive": consecutive });
            ("RetransmissionTimeout", of(endpoint, values))
        }
        Event::TransferBegan { endpoint, index, bytes } => {
            ("TransferBegan", of(endpoint, json!({ "index": index, "bytes": bytes.get() })))
        }
        Event::TransferCompleted { endpoint, index, bytes } => {
            ("TransferCompleted", of(endpoint, json!({ "index": index, "bytes": bytes.get() })))
        }
        Event::DatagramSent { endpoint, payload } => {
            ("DatagramSent", of(endpoint, json!({ "bytes": payload.get() })))
        }
        Event::DatagramDelivered { endpoint, payload, one_way_delay } => {
            let delay = one_way_delay.as_nanos();
            let values = json!({ "bytes": payload.get(), "one_way_delay_ns": delay });
            ("DatagramDelivered", of(endpoint, values))
        }
        Event::AckTimeoutChanged { endpoint, ato } => {
            ("AckTimeoutChanged", of(endpoint, json!({ "ato_ns": ato.as_nanos() })))
        }
        Event::R1Reached { endpoint, consecutive } => {
            ("DeliveryTroubled", of(endpoint, json!({ "consecutive": consecutive })))
        }
        Event::SegmentRefused { endpoint, seq, reason, answer } => {
            let values = json!({ "seq": seq.0, "reason": word(reason), "answer": word(answer) });
            ("SegmentRefused", of(endpoint, values))
        }
        Event::PacketDropped { packet, reason, .. } => {
            let mut value = segment(packet);
            value["reason"] = word(reason);
            ("PacketDropped", value)
        }
        Event::PacketDuplicated { packet, .. } => ("PacketDuplicated", segment(packet)),
        // What links, boxes and taps do; foreign hosts have no connection here.
        Event::FlowSeen { .. }
        | Event::PacketEnqueued { .. }
        | Event::PacketDequeued { .. }
        | Event::OutageMet { .. }
        | Event::MediumTaken { .. }
        | Event::ProxySent { .. }
        | Event::ProxyAbsorbed { .. }
        | Event::ProxyReleased { .. }
        | Event::ProxyActed { .. }
        | Event::ProxyFailed { .. }
        | Event::ProxyRestarted { .. }
        | Event::PacketTapped { .. } => {
            return None;
        }
    };
    value["event"] = json!(name);
    match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

/// The name of a variant.
fn word(value: impl std::fmt::Debug) -> Value {
    json!(format!("{value:?}"))
}

fn of(endpoint: EndpointId, mut fields: Value) -> Value {
    fields["connection"] = json!(endpoint.flow.0);
    fields["side"] = json!(side(endpoint.side));
    fields
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}

fn numbered(seq: Seq, bytes: Bytes, why: &str, word: Value) -> Value {
    json!({ "seq": seq.0, "bytes": bytes.get(), why: word })
}

fn segment(packet: &Packet) -> Value {
    let tcp = packet.tcp.as_ref();
    json!({
        "connection": packet.flow.0,
        "from": side(packet.from),
        "seq": tcp.map(|segment| segment.seq.0),
        "bytes": tcp.map(|segment| segment.payload_len),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_events::{RefusalAnswer, RefusalReason};
    use ackord_wire::{FlowId, Side};

    #[test]
    fn what_an_endpoint_does_is_written() {
        let endpoint = EndpointId { flow: FlowId(3), side: Side::Client };
        let (reason, answer) = (RefusalReason::OutsideWindow, RefusalAnswer::Throttled);
        for (event, expected) in [
            (
                Event::SegmentRefused { endpoint, seq: Seq(7), reason, answer },
                json!({ "event": "SegmentRefused", "connection": 3, "side": "client", "seq": 7,
                        "reason": format!("{reason:?}"), "answer": format!("{answer:?}") }),
            ),
            (
                Event::R1Reached { endpoint, consecutive: 3 },
                json!({ "event": "DeliveryTroubled", "connection": 3, "side": "client", "consecutive": 3 }),
            ),
            (
                Event::AckTimeoutChanged { endpoint, ato: Span::from_millis(40) },
                json!({ "event": "AckTimeoutChanged", "connection": 3, "side": "client", "ato_ns": 40_000_000 }),
            ),
        ] {
            assert_eq!(fields(&event).map(Value::Object), Some(expected));
        }
    }
}
