//! Series of hand-written runs.

use super::*;
use crate::{FlowLabel, LinkLabel};
use ackord_events::TapPoint;
use ackord_events::{CwndReason, DropReason, EndpointId, LinkId};
use ackord_wire::{Flags, FlowId, Packet, SackBlock, Segment};

const SENDER: EndpointId = EndpointId { flow: FlowId(0), side: Side::Client };
const RECEIVER: EndpointId = EndpointId { flow: FlowId(0), side: Side::Server };

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn series() -> Series {
    series_of(SeriesOptions::default())
}

fn series_of(options: SeriesOptions) -> Series {
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
    Series::new(&labels, SeriesOptions { interval, ..options })
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

const TAP: SenderTap = SenderTap { departs: LinkId(0), arrives: LinkId(1) };

fn tapped(series: &mut Series, at: Time, from: Side, segment: Segment) {
    let packet = &Packet { from, tcp: Some(segment), ..packet() };
    let tap = match from {
        Side::Client => TapPoint::LinkIn(TAP.departs),
        Side::Server => TapPoint::LinkOut(TAP.arrives),
    };
    series.emit(at, Event::PacketTapped { tap, packet });
}

fn packet() -> Packet {
    Packet {
        flow: FlowId(0),
        from: Side::Client,
        src: Default::default(),
        dst: Default::default(),
        ip: Default::default(),
        ecn: Default::default(),
        ip_len: 40,
        tag: 0,
        tcp: None,
    }
}

fn syn(flags: Flags, seq: u32, scale: u8) -> Segment {
    let mut segment = Segment { seq: Seq(seq), flags, window: 1_000, ..Segment::default() };
    segment.options.window_scale = Some(scale);
    segment
}

#[test]
fn a_tap_gives_acks_with_scaled_windows_and_sack_blocks_across_the_wrap() {
    let isn = u32::MAX - 500;
    let mut series = series().with_sender_taps([Some(TAP)]);
    series.emit(ms(0), sent(SENDER, isn, 0, SegmentKind::New));
    tapped(&mut series, ms(0), Side::Client, syn(Flags::SYN, isn, 3));
    let mut answer = syn(Flags::SYN | Flags::ACK, 77, 7);
    answer.ack = Seq(isn) + 1;
    tapped(&mut series, ms(1), Side::Server, answer);
    for i in 0..4u32 {
        series.emit(ms(2), sent(SENDER, isn.wrapping_add(1 + i * 400), 400, SegmentKind::New));
    }
    let mut ack = Segment { flags: Flags::ACK, window: 10, ..Segment::default() };
    ack.ack = Seq(isn) + 401;
    ack.options.sack.push(SackBlock { start: Seq(isn) + 801, end: Seq(isn) + 1_601 });
    // A DSACK block lies below the ACK (RFC 2883).
    ack.options.sack.push(SackBlock { start: Seq(isn) + 1, end: Seq(isn) + 401 });
    tapped(&mut series, ms(5), Side::Server, ack);
    series.emit(ms(6), sent(SENDER, isn.wrapping_add(401), 400, SegmentKind::Retransmission));
    let advanced =
        Event::AckAdvanced { endpoint: SENDER, bytes: Bytes(400), stream_offset: Bytes(400) };
    series.emit(ms(5), advanced);
    let segments = &series.finish(ms(1_000)).flows[0].segments;
    assert_eq!(segments.exact_until, Time::NEVER);
    let point = |at, mark, from, to| SegmentPoint { at: ms(at), mark, from, to };
    let data = |number: u64| point(2, SegmentMark::Data, number * 400, number * 400 + 400);
    let expected = [
        point(1, SegmentMark::Ack, 0, 1_000),
        data(0),
        data(1),
        data(2),
        data(3),
        point(5, SegmentMark::Sack, 800, 1_600),
        point(5, SegmentMark::Sack, 0, 400),
        point(5, SegmentMark::Ack, 400, 400 + 1_280),
        point(6, SegmentMark::Retransmission, 400, 800),
    ];
    assert_eq!(segments.points, expected);
}

#[test]
fn without_a_tap_acks_come_from_the_sender_and_have_no_window() {
    let mut series = series();
    series.emit(ms(0), sent(SENDER, 0, 0, SegmentKind::New));
    let (endpoint, bytes, stream_offset) = (SENDER, Bytes(400), Bytes(400));
    series.emit(ms(5), Event::AckAdvanced { endpoint, bytes, stream_offset });
    let segments = &series.finish(ms(1_000)).flows[0].segments;
    let ack = SegmentPoint { at: ms(5), mark: SegmentMark::Ack, from: 400, to: 400 };
    assert_eq!(segments.points, [ack]);
}

#[test]
fn beyond_its_bound_a_trace_of_segments_is_complete_up_to_an_instant_and_names_it() {
    let mut series = series_of(SeriesOptions { max_segments: 5, ..SeriesOptions::default() });
    series.emit(ms(0), sent(SENDER, 0, 0, SegmentKind::New));
    for i in 0..8u32 {
        series.emit(ms(u64::from(i / 2)), sent(SENDER, 1 + i * 100, 100, SegmentKind::New));
    }
    let flow = &series.finish(ms(1_000)).flows[0];
    // The sixth was at 2 ms, as was the fifth: of that instant not all are known.
    assert_eq!((flow.segments.points.len(), flow.segments.exact_until), (4, ms(2)));
}
