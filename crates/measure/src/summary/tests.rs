//! Summaries of hand-written runs.

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

#[test]
fn segments_are_counted_by_who_sent_them_and_why() {
    let mut summary = Summary::new(&one_flow_one_link());
    for event in [
        sent(SENDER, 0, SegmentKind::New),
        sent(SENDER, 0, SegmentKind::PureAck),
        sent(SENDER, 1_000, SegmentKind::New),
        sent(SENDER, 1_000, SegmentKind::Retransmission),
        sent(SENDER, 1, SegmentKind::WindowProbe),
        sent(SENDER, 0, SegmentKind::Reset),
        sent(RECEIVER, 0, SegmentKind::New),
        sent(RECEIVER, 0, SegmentKind::PureAck),
        sent(RECEIVER, 0, SegmentKind::PureAck),
    ] {
        summary.emit(ms(1), event);
    }
    let flow = &finish(&summary, ms(1_000)).flows[0];
    assert_eq!((flow.segments_sent, flow.retransmitted_segments, flow.acks_sent), (4, 1, 2));
    assert_eq!((flow.bytes_sent, flow.retransmitted_bytes), (2_001, 1_000));
}

#[test]
fn what_is_acknowledged_before_it_is_delivered_is_early_and_may_be_lost() {
    let mut summary = Summary::new(&one_flow_one_link());
    let acked = |stream_offset: u64| {
        let stream_offset = Bytes(stream_offset);
        Event::AckAdvanced { endpoint: SENDER, bytes: stream_offset, stream_offset }
    };
    summary.emit(ms(1), delivered(1_000));
    summary.emit(ms(2), acked(1_000));
    let flow = |summary: &Summary| finish(summary, ms(9)).flows.swap_remove(0);
    let honest = flow(&summary);
    assert_eq!(honest.acknowledged_early_peak_bytes, 0);
    assert_eq!(honest.acknowledged_undelivered_bytes, 0);
    summary.emit(ms(3), acked(5_000));
    summary.emit(ms(4), delivered(3_000));
    let early = flow(&summary);
    assert_eq!(early.acknowledged_early_peak_bytes, 4_000);
    assert_eq!(early.acknowledged_undelivered_bytes, 2_000);
}

#[test]
fn goodput_counts_from_the_flow_s_start_to_the_end_of_the_run() {
    let mut labels = one_flow_one_link();
    labels.flows[0].started_at = ms(500);
    let mut summary = Summary::new(&labels);
    summary.emit(ms(700), delivered(62_500));
    let flow = &finish(&summary, ms(1_000)).flows[0];
    assert_eq!((flow.goodput_bit_s, flow.completion_s), (1e6, None));
}

#[test]
fn a_sized_transfer_completes_with_its_last_byte_and_its_goodput_stops_there() {
    let mut labels = one_flow_one_link();
    labels.flows[0].size = Some(Bytes(25_000));
    labels.flows[0].started_at = ms(100);
    let mut summary = Summary::new(&labels);
    summary.emit(ms(200), delivered(24_999));
    assert_eq!(finish(&summary, ms(250)).flows[0].completion_s, None);
    summary.emit(ms(300), delivered(25_000));
    let flow = &finish(&summary, ms(1_000)).flows[0];
    assert_eq!((flow.completion_s, flow.goodput_bit_s), (Some(0.2), 1e6));
}

#[test]
fn cwnd_is_averaged_over_time_not_over_changes() {
    let mut summary = Summary::new(&one_flow_one_link());
    summary.emit(ms(100), cwnd(1_000, CwndReason::Initial));
    summary.emit(ms(200), cwnd(4_000, CwndReason::Ack));
    summary.emit(ms(250), cwnd(2_000, CwndReason::Recovery));
    summary.emit(ms(300), cwnd(4_000, CwndReason::Undo));
    let flow = &finish(&summary, ms(500)).flows[0];
    // 100 ms of 1000, 50 of 4000, 50 of 2000, 200 of 4000.
    assert_eq!(flow.cwnd_mean_bytes, Some((100.0 + 200.0 + 100.0 + 800.0) * 1_000.0 / 400.0));
    assert_eq!((flow.cwnd_max_bytes, flow.undone_reductions), (Some(4_000), 1));
}

#[test]
fn only_the_sender_s_timers_recoveries_and_round_trips_count() {
    let mut summary = Summary::new(&one_flow_one_link());
    for (endpoint, times) in [(SENDER, 2), (RECEIVER, 5)] {
        for _ in 0..times {
            let kind = RecoveryKind::Fast;
            summary.emit(ms(1), Event::RecoveryEntered { endpoint, kind });
            let next_rto = Span::from_secs(2);
            summary
                .emit(ms(2), Event::RetransmissionTimeout { endpoint, next_rto, consecutive: 1 });
            let (seq, bytes) = (Seq(0), Bytes(1_000));
            summary.emit(ms(2), Event::RetransmissionSpurious { endpoint, seq, bytes });
            let rtt = Span::from_millis(40);
            summary.emit(ms(3), Event::RttSampled { endpoint, rtt, srtt: rtt, rto: next_rto });
        }
    }
    let flow = &finish(&summary, ms(10)).flows[0];
    assert_eq!((flow.timeouts, flow.fast_recoveries, flow.spurious_retransmissions), (2, 2, 2));
    let rtt = flow.rtt.expect("two samples");
    assert_eq!((rtt.samples, rtt.mean_ms, rtt.p99_ms), (2, 40.0, 40.0));
}

#[test]
fn drops_are_listed_under_every_reason_and_charged_to_the_flow() {
    let mut summary = Summary::new(&one_flow_one_link());
    for (times, reason) in DropReason::ALL.into_iter().enumerate() {
        for _ in 0..times {
            let packet = &packet(Side::Client);
            summary.emit(ms(1), Event::PacketDropped { link: LINK, packet, reason });
        }
    }
    let packet = &packet(Side::Server);
    let reason = DropReason::NoRoute;
    summary.emit(ms(1), Event::PacketDropped { link: LINK, packet, reason });
    let run = finish(&summary, ms(10));
    let json = serde_json::to_string(&run.queues[0].drops).expect("a map");
    assert_eq!(
        json,
        r#"{"queue-full":0,"over-share":1,"early-drop":2,"random-loss":3,"#.to_owned()
            + r#""outage":4,"corrupted":5,"bad-checksum":6,"retry-limit":7,"no-route":9,"policed":9}"#
    );
    assert_eq!((run.queues[0].dropped_packets, run.queues[0].dropped_bytes), (46, 46_000));
    assert_eq!(run.flows[0].packets_dropped, 45);
}

#[test]
fn a_packet_without_a_way_is_counted_though_it_died_on_no_link() {
    let mut summary = Summary::new(&one_flow_one_link());
    let (packet, link) = (&packet(Side::Client), LinkId(u32::MAX));
    summary.emit(ms(1), Event::PacketDropped { link, packet, reason: DropReason::NoRoute });
    let run = finish(&summary, ms(10));
    assert_eq!((run.unroutable_packets, run.flows[0].packets_dropped), (1, 1));
    assert_eq!(run.queues[0].dropped_packets, 0);
}

#[test]
fn a_saturated_link_is_used_fully_and_never_more() {
    let mut summary = Summary::new(&one_flow_one_link());
    // At 1 Mbit/s a packet of 1000 bytes takes 8 ms; the last begins 4 ms before the end.
    for i in 0..3 {
        summary.emit(
            ms(i * 8),
            Event::PacketDequeued {
                link: LINK,
                flow: FlowId(0),
                bytes: Bytes(1_000),
                waited: Span::ZERO,
                queue_packets: 0,
                queue_bytes: Bytes::ZERO,
            },
        );
    }
    let run = finish(&summary, ms(20));
    assert_eq!(run.links[0].utilisation, Some(1.0));
    assert_eq!((run.links[0].bytes, run.links[0].packets), (3_000, 3));
    let later = finish(&summary, ms(48)).links[0].utilisation.expect("a rate");
    assert!((later - 0.5).abs() < 1e-12, "{later}");
}

#[test]
fn a_queue_nobody_used_has_no_delay_rather_than_a_delay_of_zero() {
    let run = finish(&Summary::new(&one_flow_one_link()), ms(1_000));
    assert_eq!((run.queues[0].mean_delay_ms, run.queues[0].p99_delay_ms), (None, None));
    assert_eq!((run.links[0].utilisation, run.fairness.jain_index), (Some(0.0), None));
}

#[test]
fn fairness_is_that_of_the_flows_which_delivered_data() {
    let mut labels = one_flow_one_link();
    labels.flows = vec![flow_label("a"), flow_label("b"), flow_label("idle")];
    let mut summary = Summary::new(&labels);
    for (flow, offset) in [(0, 30_000), (1, 10_000)] {
        let endpoint = EndpointId { flow: FlowId(flow), side: Side::Server };
        let stream_offset = Bytes(offset);
        let event = Event::DataDelivered { endpoint, bytes: stream_offset, stream_offset };
        summary.emit(ms(10), event);
    }
    let fairness = finish(&summary, ms(1_000)).fairness;
    assert_eq!((fairness.flows, fairness.jain_index), (2, Some(0.8)));
    let percent = fairness.min_max_percent.expect("two flows");
    assert!((percent - 100.0 / 3.0).abs() < 1e-9, "{percent}");
}

#[test]
fn the_json_has_the_keys_of_its_contract() {
    let json = serde_json::to_value(finish(&Summary::new(&one_flow_one_link()), ms(1_000)))
        .expect("plain data");
    for key in ["scenario_hash", "seed", "version", "flows", "queues", "links"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    for key in [
        "name",
        "mechanisms",
        "bytes_delivered",
        "goodput_bit_s",
        "segments_sent",
        "retransmitted_segments",
        "timeouts",
        "acks_sent",
        "completion_s",
    ] {
        assert!(json["flows"][0].get(key).is_some(), "{key}");
    }
    assert!(json["flows"][0]["completion_s"].is_null());
    assert!(json["queues"][0]["drops"]["queue-full"].is_u64());
    assert!(json["links"][0]["utilisation"].is_f64());
}

proptest! {
    /// Whatever a FIFO does, what went in has come out or is still there, and the mean length is
    /// what Little's law says: waits added up, over the time observed.
    #[test]
    fn a_queue_conserves_packets_and_obeys_little(
        steps in prop::collection::vec((1u64..50, any::<bool>()), 1..300),
    ) {
        let mut summary = Summary::new(&one_flow_one_link());
        let mut queue = VecDeque::new();
        let (mut now, mut waits) = (Time::ZERO, 0u128);
        let (mut joined, mut left) = (0u64, 0u64);
        for (gap, join) in steps {
            now += Span::from_millis(gap);
            let (link, flow, bytes) = (LINK, FlowId(0), Bytes(1_000));
            let event = if join {
                queue.push_back(now);
                joined += 1;
                let (queue_packets, queue_bytes) = (queue.len() as u32, bytes * queue.len() as u64);
                Event::PacketEnqueued { link, flow, bytes, queue_packets, queue_bytes }
            } else if let Some(since) = queue.pop_front() {
                let waited = now - since;
                waits += u128::from(waited.as_nanos());
                left += 1;
                let (queue_packets, queue_bytes) = (queue.len() as u32, bytes * queue.len() as u64);
                Event::PacketDequeued { link, flow, bytes, waited, queue_packets, queue_bytes }
            } else {
                continue;
            };
            summary.emit(now, event);
        }
        let queued = &finish(&summary, now).queues[0];
        prop_assert_eq!((queued.enqueued_packets, queued.dequeued_packets), (joined, left));
        prop_assert_eq!(joined, left + queued.queued_packets_at_end);
        waits += queue.iter().map(|since| u128::from((now - *since).as_nanos())).sum::<u128>();
        let little = waits as f64 / now.as_nanos() as f64;
        prop_assert!((queued.mean_length_packets - little).abs() < 1e-9 * (1.0 + little));
        prop_assert!((queued.mean_length_bytes - 1_000.0 * little).abs() < 1e-6 * (1.0 + little));
    }
}

#[test]
fn on_a_shared_medium_use_is_airtime_and_what_lies_beyond_the_end_does_not_count() {
    let mut summary = Summary::new(&one_flow_one_link());
    let outcomes = [AccessOutcome::Acknowledged, AccessOutcome::Damaged, AccessOutcome::Collided];
    for (at, outcome) in [10, 20, 90].into_iter().zip(outcomes) {
        let (airtime, frames) = (Span::from_millis(20), 3);
        summary.emit(ms(at), Event::MediumTaken { link: LINK, airtime, frames, outcome });
    }
    let link = finish(&summary, ms(100)).links[0].clone();
    let used = link.medium.expect("it took the medium");
    assert_eq!(link.utilisation, Some(0.5));
    assert_eq!((used.airtime_s, used.transmissions, used.frames), (0.05, 3, 9));
    assert_eq!((used.damaged, used.collided), (1, 1));
    let unused = Summary::new(&one_flow_one_link());
    assert_eq!(finish(&unused, ms(100)).links[0].medium, None);
}

#[test]
fn the_timeouts_of_the_receivers_acknowledgments_are_summed_up_and_the_senders_are_not() {
    let mut summary = Summary::new(&one_flow_one_link());
    for (endpoint, millis) in [(RECEIVER, 10), (RECEIVER, 30), (SENDER, 500)] {
        let ato = Span::from_millis(millis);
        summary.emit(ms(1), Event::AckTimeoutChanged { endpoint, ato });
    }
    let found = finish(&summary, ms(10)).flows[0].ack_timeout.expect("two values");
    assert_eq!((found.samples, found.min_ms, found.mean_ms, found.max_ms), (2, 10.0, 20.0, 30.0));
}

#[test]
fn datagrams_are_counted_by_packets_and_take_no_part_in_fairness() {
    let datagrams = FlowLabel {
        name: "noise".to_owned(),
        kind: crate::FlowKind::Datagrams,
        mechanisms: [("traffic".to_owned(), "cbr".to_owned())].into(),
        started_at: Time::ZERO,
        ..flow_label("noise")
    };
    let labels = RunLabels { flows: vec![datagrams], ..one_flow_one_link() };
    let mut summary = Summary::new(&labels);
    let payload = Bytes(972);
    for _ in 0..4 {
        summary.emit(Time::ZERO, Event::DatagramSent { endpoint: SENDER, payload });
    }
    let one_way_delay = Span::from_millis(9);
    let arrived = Event::DatagramDelivered { endpoint: RECEIVER, payload, one_way_delay };
    summary.emit(Time::ZERO + one_way_delay, arrived);
    summary.emit(Time::ZERO + one_way_delay, arrived);
    let packet = packet(Side::Client);
    let reason = DropReason::QueueFull;
    let dropped = Event::PacketDropped { link: LinkId(0), packet: &packet, reason };
    summary.emit(Time::ZERO, dropped);
    let run = finish(&summary, Time::ZERO + Span::from_secs(1));
    let found = run.flows[0].datagrams.expect("it is no connection");
    assert_eq!((found.sent, found.delivered, found.lost_percent), (4, 2, Some(25.0)));
    assert_eq!(found.one_way_delay.map(|delay| delay.mean_ms), Some(9.0));
    assert_eq!(run.flows[0].goodput_bit_s, 2.0 * 972.0 * 8.0);
    assert_eq!((run.fairness.flows, run.fairness.jain_index), (0, None));
}

#[test]
fn waits_are_told_apart_by_flow_where_there_are_several() {
    let dequeued = |flow: u32, waited: u64| Event::PacketDequeued {
        link: LINK,
        flow: FlowId(flow),
        bytes: Bytes(1_000),
        waited: Span::from_millis(waited),
        queue_packets: 0,
        queue_bytes: Bytes::ZERO,
    };
    let labels = RunLabels {
        flows: vec![flow_label("a"), flow_label("b"), flow_label("c")],
        ..one_flow_one_link()
    };
    let mut several = Summary::new(&labels);
    let mut one = Summary::new(&one_flow_one_link());
    for (at, wait) in [(1, 10), (2, 20), (3, 30)] {
        several.emit(ms(at), dequeued(0, wait));
        several.emit(ms(at), dequeued(1, wait * 10));
        one.emit(ms(at), dequeued(0, wait));
    }
    let queue = &finish(&several, ms(10)).queues[0];
    let told: Vec<_> = queue
        .flows
        .iter()
        .map(|of| (of.flow.as_str(), of.delay.samples, of.delay.mean_ms))
        .collect();
    assert_eq!(told, [("a", 3, 20.0), ("b", 3, 200.0)], "nothing of the third has queued");
    assert!(finish(&one, ms(10)).queues[0].flows.is_empty());
}

#[test]
fn a_box_notices_an_outage_by_its_first_hold_in_it() {
    let label = crate::ProxyLabel { name: "box".into(), kind: "proxy-tcp".into() };
    let mut summary = Summary::new(&RunLabels { proxies: vec![label], ..one_flow_one_link() });
    let proxy = ProxyId(0);
    let hold =
        || Event::ProxyActed { proxy, flow: FlowId(0), act: ackord_events::ProxyAct::HoldBegan };
    let met = |began, ends| Event::OutageMet { link: LINK, began: ms(began), ends: ms(ends) };
    // A mistake before; then two directions of one outage, and two connections that stop.
    summary.emit(ms(50), hold());
    for (at, event) in
        [(1_001, met(1_000, 2_000)), (1_010, met(1_000, 2_000)), (1_250, hold()), (1_300, hold())]
    {
        summary.emit(ms(at), event);
    }
    // One that nobody notices.
    summary.emit(ms(3_000), met(3_000, 3_100));
    // And one after its death.
    summary.emit(ms(4_000), Event::ProxyFailed { proxy });
    summary.emit(ms(5_000), met(5_000, 6_000));
    summary.count_proxy(proxy, ProxyCounters { seen: 9, holds: 3, ..ProxyCounters::default() });
    let run = finish(&summary, ms(7_000));
    let [of_box] = run.proxies.as_slice() else { panic!("{:?}", run.proxies) };
    assert_eq!((of_box.outages, of_box.outages_noticed, of_box.deaths), (2, 1, 1));
    assert_eq!(of_box.detection.map(|detection| detection.mean_ms), Some(250.0));
    assert_eq!((of_box.counters.seen, of_box.counters.holds), (9, 3));
    let json = serde_json::to_string(&run).expect("plain data");
    assert!(json.contains(r#""proxies":[{"name":"box","#), "{json}");
    let without = finish(&Summary::new(&one_flow_one_link()), ms(1));
    let json = serde_json::to_string(&without).expect("plain data");
    assert!(!json.contains("proxies"), "{json}");
}
