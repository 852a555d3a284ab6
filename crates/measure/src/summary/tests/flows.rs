//! What connections and datagrams add up to.

use super::*;

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
    assert_eq!((flow.payload.bytes_sent, flow.payload.retransmitted_bytes), (2_001, 1_000));
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
    assert_eq!((flow.cwnd_max_bytes, flow.recovery.undone_reductions), (Some(4_000), 1));
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
    assert_eq!(
        (flow.timeouts, flow.recovery.fast_recoveries, flow.recovery.spurious_retransmissions),
        (2, 2, 2)
    );
    let rtt = flow.rtt.expect("two samples");
    assert_eq!((rtt.samples, rtt.mean_ms, rtt.p99_ms), (2, 40.0, 40.0));
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
