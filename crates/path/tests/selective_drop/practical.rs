//! The practical form.

use super::*;

/// As [`practical`] with nothing on the path, so that halving a window never leaves it idle.
fn short_path(threshold: Threshold) -> PracticalConfig {
    PracticalConfig { round_trip: TripSource::Given(Span::ZERO), ..practical(threshold) }
}

#[test]
fn three_queued_are_room_for_fast_retransmit_and_fewer_are_not() {
    assert_eq!(Bench::practical(short_path(Threshold::Fixed(1))).burst(1, 5), [3]);
}

#[test]
fn no_signal_that_would_leave_the_link_idle() {
    // 40 ms of 1 Mbit/s are 5 packets: a lone window of 5 + 5 packets leaves none waiting when
    // halved, one of 4 + 5 would leave the link idle for half a packet.
    assert_eq!(Bench::practical(practical(Threshold::Fixed(1))).burst(1, 7), [5]);
    // Beside it another keeps the link busy, until it has been asked too.
    let mut bench = Bench::practical(practical(Threshold::Fixed(1)));
    assert_eq!(bench.burst(2, 3), [] as [usize; 0]);
    assert_eq!(bench.burst(1, 4), [3], "3 of 6: 2 * 36 >= 3 * 11");
    assert_eq!(bench.burst(2, 2), [0], "6 of 6, halved by both: 2 * 36 >= 6 * 11");
}

#[test]
fn one_signal_and_patience_for_two_round_trips() {
    let mut bench = Bench::practical(practical(Threshold::Fixed(5)));
    // Five fit; the sixth is the signal; what follows is spared.
    assert_eq!(bench.burst(1, 13), [5]);
    // The signal was given with 5 packets waiting: 40 ms for them and 40 ms on the way, twice. By
    // 152 ms all have left; the seventh of a burst finds five waiting, and is spared.
    bench.after_departures(19);
    assert_eq!(bench.burst(1, 7), [] as [usize; 0]);
    // At 160 ms one more has left, and the first above five is the next signal.
    bench.after_departures(1);
    assert_eq!(bench.burst(1, 2), [0]);
}

#[test]
fn who_does_not_come_down_is_refused_until_within_its_share() {
    let mut bench = Bench::practical(short_path(Threshold::Fixed(5)));
    let mut deaths = Vec::new();
    // Twice the rate of the link, whatever happens.
    for slot in 0..2_000u32 {
        let died = bench.burst(1, 2).len();
        deaths.push(died);
        bench.after_departures(1);
        let length = bench.graph.queue(bench.link).length().packets;
        assert!(length <= 50);
        if slot >= 1_500 {
            assert!(length <= 5, "slot {slot}: {length}");
        }
    }
    // One at a time, a burst of deaths nowhere: 0.7^8 of 50 packets are fewer than three.
    let singles: usize = deaths[..1_000].iter().sum();
    assert!((5..=1_000).contains(&singles), "{singles}");
    let last: usize = deaths[1_500..].iter().sum();
    assert_eq!(last, 500, "then every second");
}

#[test]
fn an_ecn_capable_packet_is_marked_where_another_would_be_dropped() {
    let mut bench = Bench::practical(practical(Threshold::Fixed(5)));
    let ect = Packet { ecn: Ecn::Ect0, ..packet(1, 1_000, 0) };
    assert!((0..12).all(|_| bench.send_packet(ect).is_none()));
    assert_eq!(bench.marked(), 1);
    let marks: Vec<_> = deliver_all(&mut bench.graph, &mut NoSink)
        .iter()
        .filter(|delivery| delivery.packet.flow == FlowId(1))
        .map(|delivery| delivery.packet.ecn == Ecn::Ce)
        .collect();
    let sixth: Vec<_> = (1..=12).map(|n| n == 6).collect();
    assert_eq!(marks, sixth);
}

#[test]
fn what_one_was_served_beyond_its_share_counts_against_it() {
    let mut bench = Bench::practical(short_path(Threshold::Fixed(8)));
    bench.burst(2, 2);
    // Flow 1 alone is served for twelve packets, while flow 2 has had two queued lately.
    for _ in 0..14 {
        assert_eq!(bench.burst(1, 1), [] as [usize; 0]);
        bench.after_departures(1);
    }
    // Its debt is half of what it was served, flow 2's half as much credit, each as far as half
    // the link goes in 500 ms: places count from there.
    let over = bench.burst(1, 8);
    assert!(over.first().is_some_and(|first| *first < 7), "{over:?}");
    assert_eq!(bench.burst(2, 9), [] as [usize; 0], "more than its eight");
}

/// Flow 1 alone is served for fourteen packets, while flow 2 has had two queued lately. Then nothing
/// waits.
fn indebted(config: PracticalConfig) -> Bench {
    let mut bench = Bench::practical(config);
    bench.burst(2, 2);
    for _ in 0..14 {
        assert_eq!(bench.burst(1, 1), [] as [usize; 0]);
        bench.after_departures(1);
    }
    bench.after_departures(3);
    // The transmitter is busy again.
    assert_eq!(bench.send(9), None);
    bench
}

#[test]
fn who_pays_back_is_left_alone() {
    let mut bench = indebted(short_path(Threshold::Fixed(2)));
    assert_eq!(bench.burst(2, 9), [8], "what flow 2 is owed is settled there");
    // Flow 1 is far over its threshold. With eight beside it, it has fewer than half of the places
    // until its eighth.
    assert_eq!(bench.burst(1, 9), [7]);
}

#[test]
fn a_full_queue_costs_who_was_served_most_of_equals() {
    let config = PracticalConfig { limit: Limit::Packets(6), ..short_path(Threshold::Fixed(50)) };
    let mut bench = indebted(config);
    (0..6).for_each(|n| assert_eq!(bench.send([1, 2][n % 2]), None));
    assert_eq!(bench.send(3), Some(DropReason::QueueFull));
    let flows: Vec<_> =
        deliver_all(&mut bench.graph, &mut NoSink).iter().map(|d| d.packet.flow.0).collect();
    assert_eq!(flows[flows.len() - 6..], [1, 2, 1, 2, 2, 3], "the last of flow 1 made room");
}

#[test]
fn the_link_may_lose_a_fiftieth_of_what_a_connection_owes() {
    // As with no signal that would leave the link idle: a window of 4 + 5 packets, halved, falls half
    // a packet short, which costs an eighth of one. Flow 1 is over by 5 - 1 + its debt of about six.
    let mut bench = indebted(practical(Threshold::Fixed(1)));
    assert_eq!(bench.burst(1, 7), [4]);
}

#[test]
fn acknowledgments_are_not_dropped_by_share() {
    let mut bench = Bench::practical(short_path(Threshold::Fixed(4)));
    let ack =
        Packet { tcp: Some(Segment { payload_len: 0, ..data_segment() }), ..packet(1, 40, 0) };
    assert!((0..30).all(|_| bench.send_packet(ack).is_none()));
    assert_eq!(bench.burst(1, 5), [4], "and do not count against data");
}

#[test]
fn a_retransmission_is_spared_once_more_data_would_not_be() {
    let data = |seq| Packet {
        tcp: Some(Segment { seq: Seq(seq), ..data_segment() }),
        ..packet(1, 1_000, 0)
    };
    let filled = || {
        let mut bench = Bench::practical(short_path(Threshold::Fixed(4)));
        (1..=4).for_each(|n| assert_eq!(bench.send_packet(data(n * 960)), None));
        bench
    };
    assert_eq!(filled().send_packet(data(5 * 960)), Some(DropReason::OverShare));
    assert_eq!(filled().send_packet(data(2 * 960)), None);
}

#[test]
fn a_full_queue_costs_the_one_with_most_in_it() {
    let config = PracticalConfig { limit: Limit::Packets(6), ..practical(Threshold::Fixed(50)) };
    let mut bench = Bench::practical(config);
    let tagged = |flow, tag| Packet { tag, ..packet(flow, 1_000, 0) };
    for tag in 1..=5 {
        assert_eq!(bench.send_packet(tagged(1, tag)), None);
    }
    assert_eq!(bench.send_packet(tagged(2, 6)), None);
    // Full: 1 1 1 1 1 2. The heavy one is refused; the light ones take places of its last packets.
    for (flow, tag) in [(1, 7), (2, 8), (3, 9), (2, 10)] {
        assert_eq!(bench.send_packet(tagged(flow, tag)), Some(DropReason::QueueFull));
    }
    let tags: Vec<_> =
        deliver_all(&mut bench.graph, &mut NoSink).iter().map(|d| d.packet.tag).collect();
    // 8 pushed out 5, 9 pushed out 4; then flows 1 and 2 would have three each, so 10 was refused.
    assert_eq!(tags, [0, 1, 2, 3, 6, 8, 9]);
}

#[test]
fn a_full_queue_in_bytes_makes_as_much_room_as_is_needed() {
    let limit = Limit::Bytes(Bytes(6_000));
    let config = PracticalConfig { limit, ..practical(Threshold::Fixed(50)) };
    let mut bench = Bench::practical(config);
    assert_eq!((0..7).filter(|_| bench.send(1).is_some()).count(), 1, "six fit");
    let large = Packet { ip_len: 1_500, ..packet(2, 1_500, 7) };
    assert_eq!(bench.send_packet(large), Some(DropReason::QueueFull));
    // Two of 1000 B made room for 1500 B, so 500 B are free, to the byte.
    assert_eq!(bench.send_packet(Packet { ip_len: 500, ..packet(3, 500, 8) }), None);
    assert_eq!(bench.graph.queue(bench.link).length().bytes, Bytes(6_000));
    let flows: Vec<_> =
        deliver_all(&mut bench.graph, &mut NoSink).iter().map(|d| d.packet.flow.0).collect();
    assert_eq!(flows, [9, 1, 1, 1, 1, 2, 3]);
}

#[test]
fn weights_divide_the_link_not_only_multiply() {
    // 40 ms of 1 Mbit/s are 5 packets. Weights 3 and 1: flow 1 gets 5 * 3/4 + 2 * 3 = 9 packets,
    // flow 2 gets 5/4 + 2 = 3.
    let config = practical(Threshold::Best { factor: 1.0 });
    let config = PracticalConfig { weights: weigh(1, 3.0), ..config };
    let mut bench = Bench::practical(config);
    assert_eq!(bench.burst(2, 2), [] as [usize; 0]);
    assert_eq!(bench.burst(1, 10), [9]);
    assert_eq!(bench.burst(2, 2), [1]);
}

#[test]
fn a_connection_counts_while_it_is_held_back_and_a_while_longer() {
    // Two connections and 5 packets on the path: 5/2 + 2 = 4.5. Alone: 7.
    let mut bench = Bench::practical(practical(Threshold::Best { factor: 1.0 }));
    assert_eq!(bench.burst(2, 2), [] as [usize; 0]);
    assert_eq!(bench.burst(1, 5), [4]);
    bench.after_departures(80);
    bench.send(1);
    assert_eq!(bench.burst(1, 8), [7], "640 ms later the other does not count");
    // One packet at a time is served as fast as it comes: flow 2 takes no share.
    let mut bench = Bench::practical(practical(Threshold::Best { factor: 1.0 }));
    bench.send(2);
    assert_eq!(bench.burst(1, 8), [7]);
}

/// Sender 0 - router 1 = receiver 2, with 20 ms on the near side and 30 ms on the far side.
fn two_way(queue: Queue) -> Graph {
    let mut builder = builder_with(3);
    let fast = Rate::from_mbits_per_sec(1_000);
    for (from, to, millis) in [(0, 1, 20), (1, 0, 20), (2, 1, 30)] {
        let delay = Span::from_millis(millis);
        builder.add_link(LinkConfig { rate: fast, delay, ..link(from, to) });
    }
    let delay = Span::from_millis(30);
    builder.add_link(LinkConfig { queue, delay, ..link(1, 2) });
    builder.build().expect("a valid graph")
}

/// Carries a connection's first packets, each sent when the one before has arrived.
fn handshake(graph: &mut Graph) -> Time {
    let forward = Packet { dst: NodeId(2), ip_len: 40, ..packet(1, 40, 0) };
    let back = Packet { src: NodeId(2), dst: NodeId(0), from: Side::Server, ..forward };
    let control = |flags, seq, ack| {
        Some(Segment { flags, seq: Seq(seq), ack: Seq(ack), ..Segment::default() })
    };
    let mut now = Time::ZERO;
    for sent in [
        Packet { tcp: control(Flags::SYN, 99, 0), ..forward },
        Packet { tcp: control(Flags::SYN | Flags::ACK, 499, 100), ..back },
        Packet { tcp: control(Flags::ACK, 100, 500), ..forward },
    ] {
        graph.handle_packet(now, sent, &mut NoSink);
        now = deliver_all(graph, &mut NoSink).pop().expect("it arrives").at;
    }
    now
}

#[test]
fn the_round_trip_is_learnt_from_both_directions() {
    let learnt = PracticalConfig {
        round_trip: TripSource::Learnt { at_first: Span::from_millis(8) },
        packet_length: Some(Bytes(1_000)),
        ..practical(Threshold::Best { factor: 1.0 })
    };
    let mut graph = two_way(Queue::of(PracticalDrop::new(learnt)));
    let start = handshake(&mut graph) + Span::from_millis(100);
    for n in 1..=18 {
        let tcp = Some(Segment { ack: Seq(500), seq: Seq(100 + 960 * n), ..data_segment() });
        let sent = Packet { dst: NodeId(2), tcp, ..packet(1, 1_000, u64::from(n)) };
        graph.handle_packet(start, sent, &mut NoSink);
    }
    let arrived: Vec<_> =
        deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.packet.tag).collect();
    // The halves: 60.32 ms to the receiver and back (the 40 B of the SYN take 0.32 ms), 40 ms to
    // the sender and back. 100.32 ms of 1 Mbit/s are 12.5 packets of 1000 B, plus 2: 14 may queue
    // beside the one being transmitted, and the sixteenth is the signal.
    let expected: Vec<_> = (1..=18).filter(|&n| n != 16).collect();
    assert_eq!(arrived, expected);
}

fn data_segment() -> Segment {
    Segment { payload_len: 960, flags: Flags::ACK, ..Segment::default() }
}
