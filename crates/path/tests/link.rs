//! One link: times to the nanosecond, capacity, loss, events.

use crate::common::{at_us, deliver_all, deliver_until, drop_tail, link, one_link, packet};
use ackord_events::{DropReason, Event, NoSink, Recorder, Sink, TapPoint};
use ackord_path::{DropTail, ErrorRate, Limit, LinkConfig, LossModel, Queue, QueueDiscipline};
use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span, Time};
use proptest::prelude::*;

#[test]
fn a_lone_packet_takes_its_serialization_and_the_delay() {
    let rate = Rate::from_bits_per_sec(3_000_000);
    let (mut graph, _) = one_link(LinkConfig { rate, ..link(0, 1) });
    graph.handle_packet(Time::from_nanos(7), packet(1, 1, 0), &mut NoSink);
    // One byte at 3 Mbit/s is 2666.67 ns, rounded up; then 10 ms.
    assert_eq!(graph.deadline(), Some(Time::from_nanos(7 + 2_667 + 10_000_000)));
    let early = graph.poll_delivery(Time::from_nanos(10_002_673), &mut NoSink);
    assert_eq!(early, None);
    let delivery = graph.poll_delivery(Time::from_nanos(10_002_674), &mut NoSink);
    assert_eq!(delivery.map(|d| d.at), Some(Time::from_nanos(10_002_674)));
}

#[test]
fn a_link_of_any_rate_serializes_as_the_rate_says() {
    for bits_per_sec in [512_000, 1_500_000, 2_000_000, 3_000_000, 7, 9_999_999_999] {
        let rate = Rate::from_bits_per_sec(bits_per_sec);
        let config = LinkConfig { rate, delay: Span::ZERO, ..link(0, 1) };
        let (mut graph, _) = one_link(config);
        let mut expected = Time::ZERO;
        for ip_len in [1_000, 40, 40, 1_000, 1_500] {
            graph.handle_packet(Time::ZERO, packet(1, ip_len, 0), &mut NoSink);
            expected += rate.time_for(Bytes(u64::from(ip_len)));
        }
        let last = deliver_all(&mut graph, &mut NoSink).pop().expect("five packets");
        assert_eq!(last.at, expected, "{rate}");
    }
}

#[test]
fn back_to_back_packets_are_spaced_by_their_serialization() {
    let (mut graph, _) = one_link(link(0, 1));
    for tag in 0..4 {
        graph.handle_packet(Time::ZERO, packet(1, 1_000, tag), &mut NoSink);
    }
    let arrivals: Vec<_> =
        deliver_all(&mut graph, &mut NoSink).iter().map(|d| (d.packet.tag, d.at)).collect();
    let expected: Vec<_> = (0..4).map(|n| (n, at_us(10_000 + 8_000 * (n + 1)))).collect();
    assert_eq!(arrivals, expected);
}

#[test]
fn a_saturated_link_is_never_busier_than_time_passes() {
    let config = LinkConfig { queue: drop_tail(5), ..link(0, 1) };
    let (mut graph, id) = one_link(config);
    // 1000-byte packets take 8 ms; one comes every 3 ms.
    for n in 0..1_000 {
        let now = at_us(3_000 * n);
        graph.handle_packet(now, packet(1, 1_000, n), &mut NoSink);
        deliver_until(&mut graph, now, &mut NoSink);
        let busy = graph.busy_for(id, now);
        assert!(busy <= now.saturating_since(Time::ZERO), "{busy} busy at {now}");
    }
    let end = at_us(3_000_000);
    deliver_until(&mut graph, end, &mut NoSink);
    graph.settle(end, &mut NoSink);
    assert_eq!(graph.busy_for(id, end), Span::from_secs(3), "a packet was always there");
    // 375 packets take 3 s, and at 3 s sharp the next one begins.
    assert_eq!(graph.link_stats(id).packets, 376);
    assert_eq!(graph.link_stats(id).bytes, 376_000);
}

#[test]
fn drop_tail_holds_its_capacity_beside_the_packet_being_transmitted() {
    let (mut graph, id) = one_link(LinkConfig { queue: drop_tail(3), ..link(0, 1) });
    for tag in 0..4 {
        graph.handle_packet(Time::ZERO, packet(1, 1_000, tag), &mut NoSink);
    }
    assert_eq!(graph.link_stats(id).drops.total(), 0, "one on the way, three waiting");
    graph.handle_packet(Time::ZERO, packet(1, 1_000, 4), &mut NoSink);
    assert_eq!(graph.link_stats(id).drops.of(DropReason::QueueFull), 1);
    // At 8 ms sharp the first is out and a place is free; a nanosecond earlier it is not.
    let free = at_us(8_000);
    graph.handle_packet(free - Span::from_nanos(1), packet(1, 1_000, 5), &mut NoSink);
    assert_eq!(graph.link_stats(id).drops.total(), 2);
    graph.handle_packet(free, packet(1, 1_000, 6), &mut NoSink);
    assert_eq!(graph.link_stats(id).drops.total(), 2);
    let tags: Vec<_> = deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.packet.tag).collect();
    assert_eq!(tags, [0, 1, 2, 3, 6]);
}

#[test]
fn a_limit_in_bytes_is_filled_to_the_byte() {
    let queue = Queue::DropTail(DropTail::new(Limit::Bytes(Bytes(1_500))));
    let (mut graph, id) = one_link(LinkConfig { queue, ..link(0, 1) });
    // The first is longer than the whole queue, but it need not wait.
    for ip_len in [2_000, 1_000, 501, 500, 1] {
        graph.handle_packet(Time::ZERO, packet(1, ip_len, u64::from(ip_len)), &mut NoSink);
    }
    assert_eq!(graph.link_stats(id).drops.of(DropReason::QueueFull), 2);
    let tags: Vec<_> = deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.packet.tag).collect();
    assert_eq!(tags, [2_000, 1_000, 500]);
}

fn lossy(seed: u64, share: f64) -> LinkConfig {
    let per_packet = Ratio::new(share).expect("a share");
    let loss = Some(LossModel::random(
        ErrorRate::PerPacket(per_packet),
        RandomStream::for_element(seed, "links/a/loss"),
    ));
    LinkConfig { rate: Rate::from_mbits_per_sec(100), loss, queue: drop_tail(1), ..link(0, 1) }
}

fn survivors(seed: u64, share: f64, packets: u64) -> Vec<u64> {
    let (mut graph, id) = one_link(lossy(seed, share));
    for n in 0..packets {
        graph.handle_packet(at_us(1_000 * n), packet(1, 1_000, n), &mut NoSink);
    }
    let tags: Vec<_> = deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.packet.tag).collect();
    let lost = graph.link_stats(id).drops.of(DropReason::RandomLoss);
    assert_eq!(lost + tags.len() as u64, packets);
    assert_eq!(graph.link_stats(id).packets, packets, "lost packets were transmitted too");
    tags
}

#[test]
fn random_loss_stays_within_binomial_bounds() {
    let packets = 20_000;
    for (seed, share) in [(1, 0.01), (2, 0.1), (3, 0.5)] {
        let lost = packets as f64 - survivors(seed, share, packets).len() as f64;
        let mean = packets as f64 * share;
        // Four standard deviations: one seed in 16 000 lies outside.
        let bound = 4.0 * (mean * (1.0 - share)).sqrt();
        assert!((lost - mean).abs() < bound, "{lost} of {packets} lost at {share}");
    }
}

#[test]
fn long_packets_suffer_more_from_damaged_bytes_than_short_ones() {
    let per_byte = Ratio::new(1e-4).expect("a share");
    for ip_len in [40_u32, 1_500] {
        let stream = RandomStream::for_element(5, "links/a/loss");
        let loss = Some(LossModel::random(ErrorRate::PerByte(per_byte), stream));
        let rate = Rate::from_mbits_per_sec(100);
        let (mut graph, id) = one_link(LinkConfig { rate, loss, ..link(0, 1) });
        let packets = 40_000;
        for n in 0..packets {
            graph.handle_packet(at_us(1_000 * n), packet(1, ip_len, n), &mut NoSink);
        }
        deliver_all(&mut graph, &mut NoSink);
        let lost = graph.link_stats(id).drops.of(DropReason::Corrupted) as f64;
        let share = 1.0 - (1.0 - per_byte.get()).powi(ip_len as i32);
        let mean = packets as f64 * share;
        let bound = 4.0 * (mean * (1.0 - share)).sqrt();
        assert!((lost - mean).abs() < bound, "{lost} of {packets} lost at {ip_len} B, not {mean}");
    }
}

#[test]
fn the_certain_losses_are_certain() {
    assert_eq!(survivors(1, 0.0, 1_000).len(), 1_000);
    assert_eq!(survivors(1, 1.0, 1_000).len(), 0);
}

#[test]
fn the_seed_decides_which_packets_are_lost() {
    assert_eq!(survivors(7, 0.1, 500), survivors(7, 0.1, 500));
    assert_ne!(survivors(7, 0.1, 500), survivors(8, 0.1, 500));
}

/// What happened, in short.
#[derive(Default)]
struct Story(Vec<String>);

impl Sink for Story {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        let what = match event {
            Event::PacketEnqueued { queue_packets, queue_bytes, .. } => {
                format!("in, {queue_packets} packets {queue_bytes}")
            }
            Event::PacketDequeued { waited, queue_packets, .. } => {
                format!("out after {waited}, {queue_packets} left")
            }
            Event::PacketDropped { packet, reason, .. } => {
                format!("{} died of {}", packet.tag, reason.name())
            }
            Event::PacketTapped { tap: TapPoint::LinkIn(_), packet } => {
                format!("{} enters", packet.tag)
            }
            Event::PacketTapped { tap: TapPoint::LinkOut(_), packet } => {
                format!("{} leaves", packet.tag)
            }
            other => format!("{other:?}"),
        };
        self.0.push(format!("{} us: {what}", at.as_nanos() / 1_000));
    }
}

#[test]
fn a_tapped_link_tells_the_whole_story_of_each_packet() {
    let (mut graph, _) = one_link(LinkConfig { tap: true, queue: drop_tail(1), ..link(0, 1) });
    let mut story = Story::default();
    for tag in 0..3 {
        graph.handle_packet(at_us(1_000 * tag), packet(1, 1_000, tag), &mut story);
    }
    deliver_all(&mut graph, &mut story);
    let expected = [
        "0 us: 0 enters",
        "0 us: in, 1 packets 1000 B",
        "0 us: out after 0 s, 0 left",
        "1000 us: 1 enters",
        "1000 us: in, 1 packets 1000 B",
        "2000 us: 2 enters",
        "2000 us: 2 died of queue-full",
        "8000 us: out after 7 ms, 0 left",
        "18000 us: 0 leaves",
        "26000 us: 1 leaves",
    ];
    assert_eq!(story.0, expected);
}

#[test]
fn an_untapped_link_tells_nothing_of_taps() {
    let (mut graph, _) = one_link(link(0, 1));
    let mut recorder = Recorder::default();
    graph.handle_packet(Time::ZERO, packet(1, 1_000, 0), &mut recorder);
    deliver_all(&mut graph, &mut recorder);
    assert_eq!(recorder.0.len(), 2, "{:?}", recorder.0);
}

#[test]
fn a_lost_packet_dies_where_it_would_have_arrived() {
    let (mut graph, _) = one_link(lossy(1, 1.0));
    let mut story = Story::default();
    graph.handle_packet(Time::ZERO, packet(1, 1_000, 9), &mut story);
    assert!(graph.poll_delivery(at_us(20_000), &mut story).is_none());
    // 80 us of serialization at 100 Mbit/s, 10 ms of delay.
    assert_eq!(story.0.last().map(String::as_str), Some("10080 us: 9 died of random-loss"));
}

/// All that a link shows of packets that come with these gaps, in microseconds, and lengths.
fn shown(config: LinkConfig, packets: &[(u64, u32)]) -> Vec<String> {
    let (mut graph, id) = one_link(config);
    let mut now = Time::ZERO;
    let (mut recorder, mut shown) = (Recorder::default(), Vec::new());
    for (tag, (gap, ip_len)) in (0..).zip(packets) {
        now += Span::from_micros(*gap);
        graph.handle_packet(now, packet(1, *ip_len, tag), &mut recorder);
        let delivered = deliver_until(&mut graph, now, &mut recorder);
        let (busy, length) = (graph.busy_for(id, now), graph.queue(id).length());
        let (stats, places) = (graph.link_stats(id), graph.conservation());
        shown.push(format!("{delivered:?} {busy} {length:?} {stats:?} {places:?}"));
    }
    shown.push(format!("{:?}", deliver_all(&mut graph, &mut recorder)));
    shown.extend(recorder.0.iter().map(|stamped| format!("{stamped:?}")));
    shown
}

proptest! {
    #[test]
    fn nobody_can_tell_a_link_that_plans_ahead_from_one_that_looks_at_its_queue(
        packets in prop::collection::vec((0_u64..40_000, 40_u32..1_500), 1..60),
        capacity in prop_oneof![
            (0_u32..8).prop_map(Limit::Packets),
            (0_u64..6_000).prop_map(|bytes| Limit::Bytes(Bytes(bytes))),
        ],
        bits_per_sec in prop_oneof![Just(1_000_000_u64), 300_000_u64..3_000_000],
    ) {
        let rate = Rate::from_bits_per_sec(bits_per_sec);
        let queue = Queue::DropTail(DropTail::new(capacity));
        let ordinary = LinkConfig { rate, queue, tap: true, ..link(0, 1) };
        // What loses nothing has to be asked at every transmission.
        let stream = RandomStream::for_element(1, "links/a/loss");
        let never = ErrorRate::PerPacket(Ratio::new(0.0).expect("a share"));
        let asks = LinkConfig { loss: Some(LossModel::random(never, stream)), ..ordinary.clone() };
        prop_assert_eq!(shown(ordinary, &packets), shown(asks, &packets));
    }
}
