//! Summaries of hand-written runs: helpers.

mod flows;
mod links;

use super::*;
use crate::FlowLabel;
use ackord_events::{
    AccessOutcome, CwndReason, DropReason, EndpointId, LinkId, RecoveryKind, SegmentKind,
};
use ackord_units::{Bytes, Rate, Seq};
use ackord_wire::{Packet, Side};
use proptest::prelude::*;
use std::collections::VecDeque;

const SENDER: EndpointId = EndpointId { flow: FlowId(0), side: Side::Client };
const RECEIVER: EndpointId = EndpointId { flow: FlowId(0), side: Side::Server };
const LINK: LinkId = LinkId(0);

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn flow_label(name: &str) -> FlowLabel {
    FlowLabel {
        name: name.to_owned(),
        kind: crate::FlowKind::Connection,
        mechanisms: [("congestion".to_owned(), "reno".to_owned())].into(),
        profile: None,
        sends: Side::Client,
        size: None,
        started_at: Time::ZERO,
    }
}

fn one_flow_one_link() -> RunLabels {
    let rate = Rate::from_mbits_per_sec(1);
    RunLabels {
        flows: vec![flow_label("a")],
        links: vec![LinkLabel { name: "up".into(), rate, queue: "drop-tail".into() }],
        duration: Span::from_secs(1),
        ..RunLabels::default()
    }
}

fn sent(endpoint: EndpointId, payload: u64, kind: SegmentKind) -> Event<'static> {
    Event::SegmentSent { endpoint, seq: Seq(0), payload: Bytes(payload), kind }
}

fn delivered(stream_offset: u64) -> Event<'static> {
    let stream_offset = Bytes(stream_offset);
    Event::DataDelivered { endpoint: RECEIVER, bytes: stream_offset, stream_offset }
}

fn cwnd(bytes: u64, reason: CwndReason) -> Event<'static> {
    Event::CwndChanged { endpoint: SENDER, cwnd: Bytes(bytes), ssthresh: Bytes::MAX, reason }
}

fn packet(from: Side) -> Packet {
    Packet {
        flow: FlowId(0),
        from,
        src: Default::default(),
        dst: Default::default(),
        ip: Default::default(),
        ecn: Default::default(),
        ip_len: 1_000,
        tag: 0,
        tcp: None,
    }
}

fn finish(summary: &Summary, at: Time) -> RunSummary {
    let identity = RunIdentity { scenario_hash: "abc".into(), seed: 7, version: "0.1.0".into() };
    summary.finish(identity, at)
}
