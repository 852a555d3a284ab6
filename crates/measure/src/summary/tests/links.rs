//! What links, queues and middleboxes add up to.

use super::*;

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
