//! Series of hand-written runs.

use super::*;
use crate::{FlowLabel, LinkLabel};
use ackord_events::{CwndReason, DropReason, EndpointId, LinkId};
use ackord_wire::{FlowId, Packet};

const SENDER: EndpointId = EndpointId { flow: FlowId(0), side: Side::Client };
const RECEIVER: EndpointId = EndpointId { flow: FlowId(0), side: Side::Server };

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn series() -> Series {
    let flow = FlowLabel {
        name: "a".into(),
        kind: crate::FlowKind::Connection,
        mechanisms: Default::default(),
        profile: None,
        sends: Side::Client,
        size: None,
        started_at: Time::ZERO,
    };
    let rate = Rate::from_mbits_per_sec(1);
    let link = LinkLabel { name: "up".into(), rate, queue: "drop-tail".into() };
    let duration = Span::from_secs(1);
    let labels =
        RunLabels { flows: vec![flow], links: vec![link], duration, ..RunLabels::default() };
    let interval = Some(Span::from_millis(500));
    Series::new(&labels, SeriesOptions { interval, ..SeriesOptions::default() })
}

fn sent(endpoint: EndpointId, seq: u32, payload: u64, kind: SegmentKind) -> Event<'static> {
    Event::SegmentSent { endpoint, seq: Seq(seq), payload: Bytes(payload), kind }
}

fn values(trace: &Trace) -> Vec<f64> {
    trace.points().iter().map(|point| point.value).collect()
}

#[test]
fn sequence_numbers_become_offsets_across_the_wrap_and_back_for_a_retransmission() {
    let mut series = series();
    let isn = u32::MAX - 500;
    series.emit(ms(0), sent(SENDER, isn, 0, SegmentKind::New));
    series.emit(ms(1), sent(RECEIVER, 77, 0, SegmentKind::New));
    for i in 0..3u32 {
        let seq = isn.wrapping_add(1 + i * 400);
        series.emit(ms(2), sent(SENDER, seq, 400, SegmentKind::New));
    }
    series.emit(ms(9), sent(SENDER, isn.wrapping_add(401), 400, SegmentKind::Retransmission));
    series.emit(ms(10), sent(SENDER, isn.wrapping_add(1_201), 400, SegmentKind::New));
    let flow = &series.finish(ms(1_000)).flows[0];
    assert_eq!(values(&flow.sent), [400.0, 800.0, 1_200.0, 1_600.0]);
    assert_eq!(values(&flow.retransmitted), [400.0]);
}

#[test]
fn an_absent_ssthresh_is_left_out_and_only_the_sender_s_window_is_kept() {
    let mut series = series();
    let change = |endpoint, cwnd, ssthresh| Event::CwndChanged {
        endpoint,
        cwnd: Bytes(cwnd),
        ssthresh,
        reason: CwndReason::Ack,
    };
    series.emit(ms(1), change(SENDER, 1_000, Bytes::MAX));
    series.emit(ms(2), change(RECEIVER, 9_999, Bytes(9_999)));
    series.emit(ms(3), change(SENDER, 500, Bytes(500)));
    let flow = &series.finish(ms(1_000)).flows[0];
    assert_eq!(values(&flow.cwnd), [1_000.0, 500.0]);
    assert_eq!(values(&flow.ssthresh), [500.0]);
    assert_eq!(flow.ssthresh.points()[0].at, ms(3));
}

#[test]
fn throughput_is_what_was_delivered_in_each_interval() {
    let mut series = series();
    for (at, bytes, offset) in [(100, 10_000, 10_000), (400, 2_500, 12_500), (600, 6_250, 18_750)] {
        let (bytes, stream_offset) = (Bytes(bytes), Bytes(offset));
        series.emit(ms(at), Event::DataDelivered { endpoint: RECEIVER, bytes, stream_offset });
    }
    let set = series.finish(ms(1_000));
    assert_eq!(values(&set.flows[0].throughput), [200_000.0, 100_000.0]);
    assert_eq!(values(&set.flows[0].delivered), [10_000.0, 12_500.0, 18_750.0]);
}

#[test]
fn a_drop_is_marked_at_the_length_the_queue_had() {
    let mut series = series();
    let (link, flow, bytes) = (LinkId(0), FlowId(0), Bytes(1_000));
    for waiting in 1..=3 {
        let queue_bytes = Bytes(1_000 * u64::from(waiting));
        let event =
            Event::PacketEnqueued { link, flow, bytes, queue_packets: waiting, queue_bytes };
        series.emit(ms(u64::from(waiting)), event);
    }
    let packet = &Packet {
        flow,
        from: Side::Client,
        src: Default::default(),
        dst: Default::default(),
        ip: Default::default(),
        ecn: Default::default(),
        ip_len: 1_000,
        tag: 0,
        tcp: None,
    };
    series.emit(ms(4), Event::PacketDropped { link, packet, reason: DropReason::QueueFull });
    let link = &series.finish(ms(1_000)).links[0];
    assert_eq!(values(&link.queue_packets), [1.0, 2.0, 3.0]);
    assert_eq!(values(&link.queue_bytes), [1_000.0, 2_000.0, 3_000.0]);
    assert_eq!(link.drops.points(), [Point { at: ms(4), value: 3.0 }]);
}
