//! Events as fields of JSON: a line of the events file, what a callback receives.

use ackord_events::{EndpointId, Event, TapPoint};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{Packet, Side};
use serde_json::{Map, Value, json};

/// The names of all events, as the events file has them.
pub const EVENT_NAMES: [&str; 33] = [
    "StateChanged",
    "FlowSeen",
    "SegmentSent",
    "DataDelivered",
    "TransferBegan",
    "TransferCompleted",
    "DatagramSent",
    "DatagramDelivered",
    "AckAdvanced",
    "CwndChanged",
    "RttSampled",
    "AckTimeoutChanged",
    "SegmentLost",
    "RecoveryEntered",
    "RecoveryExited",
    "RepairUndone",
    "RetransmissionSpurious",
    "RetransmissionTimeout",
    "DeliveryTroubled",
    "SegmentRefused",
    "PacketEnqueued",
    "PacketDequeued",
    "PacketDropped",
    "PacketDuplicated",
    "OutageMet",
    "MediumTaken",
    "ProxySent",
    "ProxyAbsorbed",
    "ProxyReleased",
    "ProxyActed",
    "ProxyFailed",
    "ProxyRestarted",
    "PacketTapped",
];

/// Returns the name of an event. A name stays as it was first written to an events file, even where the code has changed.
pub fn event_name(event: &Event<'_>) -> &'static str {
    match event {
        Event::StateChanged { .. } => "StateChanged",
        Event::FlowSeen { .. } => "FlowSeen",
        Event::SegmentSent { .. } => "SegmentSent",
        Event::DataDelivered { .. } => "DataDelivered",
        Event::TransferBegan { .. } => "TransferBegan",
        Event::TransferCompleted { .. } => "TransferCompleted",
        Event::DatagramSent { .. } => "DatagramSent",
        Event::DatagramDelivered { .. } => "DatagramDelivered",
        Event::AckAdvanced { .. } => "AckAdvanced",
        Event::CwndChanged { .. } => "CwndChanged",
        Event::RttSampled { .. } => "RttSampled",
        Event::AckTimeoutChanged { .. } => "AckTimeoutChanged",
        Event::SegmentLost { .. } => "SegmentLost",
        Event::RecoveryEntered { .. } => "RecoveryEntered",
        Event::RecoveryExited { .. } => "RecoveryExited",
        Event::RecoveryUndone { .. } => "RepairUndone",
        Event::RetransmissionSpurious { .. } => "RetransmissionSpurious",
        Event::RetransmissionTimeout { .. } => "RetransmissionTimeout",
        Event::R1Reached { .. } => "DeliveryTroubled",
        Event::SegmentRefused { .. } => "SegmentRefused",
        Event::PacketEnqueued { .. } => "PacketEnqueued",
        Event::PacketDequeued { .. } => "PacketDequeued",
        Event::PacketDropped { .. } => "PacketDropped",
        Event::PacketDuplicated { .. } => "PacketDuplicated",
        Event::OutageMet { .. } => "OutageMet",
        Event::MediumTaken { .. } => "MediumTaken",
        Event::ProxySent { .. } => "ProxySent",
        Event::ProxyAbsorbed { .. } => "ProxyAbsorbed",
        Event::ProxyReleased { .. } => "ProxyReleased",
        Event::ProxyActed { .. } => "ProxyActed",
        Event::ProxyFailed { .. } => "ProxyFailed",
        Event::ProxyRestarted { .. } => "ProxyRestarted",
        Event::PacketTapped { .. } => "PacketTapped",
    }
}

/// Returns all fields of an event, with its name as `event`; the direction of a link as `link`, by number.
pub fn event_fields(event: &Event<'_>) -> Map<String, Value> {
    let Some(mut fields) = logged_fields(event) else { return path_fields(event) };
    if let Event::PacketDropped { link, .. } | Event::PacketDuplicated { link, .. } = event {
        fields.insert("link".to_owned(), json!(link.0));
    }
    fields
}

/// Returns the fields of what links, middleboxes and taps do.
fn path_fields(event: &Event<'_>) -> Map<String, Value> {
    let mut value = match *event {
        Event::FlowSeen { flow, client, server } => {
            json!({ "connection": flow.0, "client": client.0, "server": server.0 })
        }
        Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes } => json!({
            "link": link.0, "connection": flow.0, "bytes": bytes.get(),
            "queue_packets": queue_packets, "queue_bytes": queue_bytes.get(),
        }),
        Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes } => json!({
            "link": link.0, "connection": flow.0, "bytes": bytes.get(), "waited_ns": waited.as_nanos(),
            "queue_packets": queue_packets, "queue_bytes": queue_bytes.get(),
        }),
        Event::OutageMet { link, began, ends } => {
            json!({ "link": link.0, "began_ns": nanos(began), "ends_ns": nanos(ends) })
        }
        Event::MediumTaken { link, airtime, frames, outcome } => json!({
            "link": link.0, "airtime_ns": airtime.as_nanos(), "frames": frames, "outcome": word(outcome),
        }),
        Event::ProxySent { proxy, packet, what } => {
            of_proxy(proxy.0, segment(packet), Some(("what", word(what))))
        }
        Event::ProxyAbsorbed { proxy, packet } | Event::ProxyReleased { proxy, packet } => {
            of_proxy(proxy.0, segment(packet), None)
        }
        Event::ProxyActed { proxy, flow, act } => {
            of_proxy(proxy.0, json!({ "connection": flow.0 }), Some(("act", word(act))))
        }
        Event::ProxyFailed { proxy } | Event::ProxyRestarted { proxy } => {
            of_proxy(proxy.0, json!({}), None)
        }
        Event::PacketTapped { tap, packet } => {
            let (link, at) = match tap {
                TapPoint::LinkIn(link) => (link, "in"),
                TapPoint::LinkOut(link) => (link, "out"),
            };
            let mut value = segment(packet);
            (value["link"], value["at"]) = (json!(link.0), json!(at));
            value
        }
        // In the events file.
        _ => json!({}),
    };
    value["event"] = json!(event_name(event));
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn of_proxy(proxy: u32, mut value: Value, more: Option<(&str, Value)>) -> Value {
    value["proxy"] = json!(proxy);
    if let Some((key, word)) = more {
        value[key] = word;
    }
    value
}

fn nanos(at: Time) -> u64 {
    at.saturating_since(Time::ZERO).as_nanos()
}

/// Returns what the events file has of an event under its name; nothing for what links, middleboxes and taps do, which
/// are not written there.
pub(crate) fn logged_fields(event: &Event<'_>) -> Option<Map<String, Value>> {
    let mut value = match *event {
        Event::StateChanged { endpoint, from, to } => {
            of(endpoint, json!({ "from": word(from), "to": word(to) }))
        }
        Event::SegmentSent { endpoint, seq, payload, kind } => {
            of(endpoint, numbered(seq, payload, "kind", word(kind)))
        }
        Event::DataDelivered { endpoint, bytes, stream_offset } => {
            of(endpoint, json!({ "bytes": bytes.get(), "stream_offset": stream_offset.get() }))
        }
        Event::AckAdvanced { endpoint, bytes, stream_offset } => {
            of(endpoint, json!({ "bytes": bytes.get(), "stream_offset": stream_offset.get() }))
        }
        Event::CwndChanged { endpoint, cwnd, ssthresh, reason } => {
            let ssthresh = (ssthresh != Bytes::MAX).then_some(ssthresh.get());
            let values =
                json!({ "cwnd": cwnd.get(), "ssthresh": ssthresh, "reason": word(reason) });
            of(endpoint, values)
        }
        Event::RttSampled { endpoint, rtt, srtt, rto } => {
            let [rtt, srtt, rto] = [rtt, srtt, rto].map(Span::as_nanos);
            let values = json!({ "rtt_ns": rtt, "srtt_ns": srtt, "rto_ns": rto });
            of(endpoint, values)
        }
        Event::SegmentLost { endpoint, seq, bytes, reason } => {
            of(endpoint, numbered(seq, bytes, "reason", word(reason)))
        }
        Event::RecoveryEntered { endpoint, kind } => of(endpoint, json!({ "kind": word(kind) })),
        Event::RecoveryExited { endpoint, kind } => of(endpoint, json!({ "kind": word(kind) })),
        Event::RecoveryUndone { endpoint, kind, evidence } => {
            let values = json!({ "kind": word(kind), "evidence": word(evidence) });
            of(endpoint, values)
        }
        Event::RetransmissionSpurious { endpoint, seq, bytes } => {
            let values = json!({ "seq": seq.0, "bytes": bytes.get() });
            of(endpoint, values)
        }
        Event::RetransmissionTimeout { endpoint, next_rto, consecutive } => {
            let values = json!({ "next_rto_ns": next_rto.as_nanos(), "consecutive": consecutive });
            of(endpoint, values)
        }
        Event::TransferBegan { endpoint, index, bytes } => {
            of(endpoint, json!({ "index": index, "bytes": bytes.get() }))
        }
        Event::TransferCompleted { endpoint, index, bytes } => {
            of(endpoint, json!({ "index": index, "bytes": bytes.get() }))
        }
        Event::DatagramSent { endpoint, payload } => {
            of(endpoint, json!({ "bytes": payload.get() }))
        }
        Event::DatagramDelivered { endpoint, payload, one_way_delay } => {
            let delay = one_way_delay.as_nanos();
            let values = json!({ "bytes": payload.get(), "one_way_delay_ns": delay });
            of(endpoint, values)
        }
        Event::AckTimeoutChanged { endpoint, ato } => {
            of(endpoint, json!({ "ato_ns": ato.as_nanos() }))
        }
        Event::R1Reached { endpoint, consecutive } => {
            of(endpoint, json!({ "consecutive": consecutive }))
        }
        Event::SegmentRefused { endpoint, seq, reason, answer } => {
            let values = json!({ "seq": seq.0, "reason": word(reason), "answer": word(answer) });
            of(endpoint, values)
        }
        Event::PacketDropped { packet, reason, .. } => {
            let mut value = segment(packet);
            value["reason"] = word(reason);
            value
        }
        Event::PacketDuplicated { packet, .. } => segment(packet),
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
    value["event"] = json!(event_name(event));
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
