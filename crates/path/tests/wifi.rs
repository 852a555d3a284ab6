//! Links on a Wi-Fi medium: times to the nanosecond, shares and losses as theory has them.

use crate::common::{at_us, builder_with, deliver_until, drop_tail, link, packet};
use ackord_events::{DropReason, LinkId, NoSink};
use ackord_path::{
    Aggregation, Background, Graph, LinkConfig, MediumConfig, MediumId, OnOff, WifiConfig,
};
use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span, Time};
use ackord_wire::NodeId;

const MEDIUM: MediumId = MediumId(0);
const THERE: LinkId = LinkId(0);
const BACK: LinkId = LinkId(1);
/// DIFS, 57 symbols of 1536 bytes at 54 Mbit/s behind 20 us, SIFS, an acknowledgment of 28 us.
const DIFS_US: f64 = 34.0;
const DATA_US: f64 = 248.0;
const RESPONSE_US: f64 = 44.0;
const SLOT_US: f64 = 9.0;
const PACKET: u32 = 1_500;

fn wifi() -> WifiConfig {
    WifiConfig { stream: RandomStream::for_element(1, "links/air/medium"), ..WifiConfig::default() }
}

/// Two nodes, and a link each way on one medium at 54 Mbit/s without delay.
fn air(config: WifiConfig) -> Graph {
    let mut builder = builder_with(2);
    let medium = builder.add_medium(MediumConfig::Wifi(Box::new(config)));
    for (from, to) in [(0, 1), (1, 0)] {
        builder.add_link(LinkConfig {
            rate: Rate::from_mbits_per_sec(54),
            delay: Span::ZERO,
            queue: drop_tail(1_000_000),
            medium: Some(medium),
            ..link(from, to)
        });
    }
    builder.build().expect("a valid graph")
}

fn send(graph: &mut Graph, now: Time, ip_len: u32, tag: u64) {
    graph.handle_packet(now, packet(1, ip_len, tag), &mut NoSink);
}

fn send_back(graph: &mut Graph, now: Time, ip_len: u32, tag: u64) {
    let (src, dst) = (NodeId(1), NodeId(0));
    let packet = ackord_wire::Packet { src, dst, ..packet(2, ip_len, tag) };
    graph.handle_packet(now, packet, &mut NoSink);
}

/// Payload rates of both directions, each with a backlog, over this long.
fn saturated(config: WifiConfig, both: bool, seconds: u64) -> (Graph, [f64; 2]) {
    let mut graph = air(config);
    for tag in 0..seconds * 6_000 {
        send(&mut graph, Time::ZERO, PACKET, tag);
        if both {
            send_back(&mut graph, Time::ZERO, PACKET, tag);
        }
    }
    let end = Time::ZERO + Span::from_secs(seconds);
    let deliveries = deliver_until(&mut graph, end, &mut NoSink);
    let of = |node| deliveries.iter().filter(|delivery| delivery.node == NodeId(node)).count();
    let rate = |packets: usize| packets as f64 * f64::from(PACKET) * 8.0 / seconds as f64 / 1e6;
    let rates = [rate(of(1)), rate(of(0))];
    graph.conservation().check().expect("balanced");
    (graph, rates)
}

#[test]
fn a_lone_packet_on_an_idle_medium_goes_at_once() {
    let mut graph = air(wifi());
    send(&mut graph, at_us(1_000), PACKET, 0);
    assert!(deliver_until(&mut graph, at_us(1_100), &mut NoSink).is_empty());
    assert_eq!(graph.busy_for(THERE, at_us(1_100)), Span::from_micros(100));
    let deliveries = deliver_until(&mut graph, at_us(2_000), &mut NoSink);
    assert_eq!(deliveries.iter().map(|d| d.at).collect::<Vec<_>>(), [at_us(1_248)]);
    assert_eq!(graph.busy_for(THERE, at_us(2_000)), Span::from_micros(292));
    assert_eq!(graph.medium_busy_for(MEDIUM, at_us(2_000)), Span::from_micros(292));
}

#[test]
fn the_medium_has_to_be_idle_for_difs_first() {
    let mut graph = air(wifi());
    send(&mut graph, at_us(3), PACKET, 0);
    let first = deliver_until(&mut graph, at_us(2_000), &mut NoSink);
    assert_eq!(first[0].at, at_us(34 + 248));
}

#[test]
fn who_finds_the_medium_taken_waits_for_difs_and_a_whole_number_of_slots() {
    let mut graph = air(wifi());
    send(&mut graph, at_us(1_000), PACKET, 0);
    send_back(&mut graph, at_us(1_100), PACKET, 1);
    let deliveries = deliver_until(&mut graph, at_us(5_000), &mut NoSink);
    // The first exchange ends at 1292 us; then DIFS, slots, and the frame.
    let began = (deliveries[1].at.as_nanos() - 248_000) / 1_000;
    let slots_us = began - 1_292 - 34;
    assert_eq!((slots_us % 9, slots_us / 9 < 16), (0, true), "{slots_us} us");
}

#[test]
fn one_saturated_sender_gets_what_the_overheads_leave() {
    let (graph, [rate, _]) = saturated(wifi(), false, 10);
    // A mean of 7.5 idle slots before every exchange.
    let cycle_us = DIFS_US + 7.5 * SLOT_US + DATA_US + RESPONSE_US;
    let expected = f64::from(PACKET) * 8.0 / cycle_us;
    assert!((rate / expected - 1.0).abs() < 0.005, "{rate} Mbit/s, not {expected}");
    let busy = graph.medium_busy_for(MEDIUM, at_us(10_000_000)).as_secs_f64() / 10.0;
    let share = (DATA_US + RESPONSE_US) / cycle_us;
    assert!((busy / share - 1.0).abs() < 0.005, "{busy} of the time, not {share}");
}

/// Bianchi 2000: the throughput of `stations` saturated stations in Mbit/s, and the probability
/// that a transmission collides.
fn bianchi(stations: i32) -> (f64, f64) {
    const WINDOW: f64 = 16.0;
    const STAGES: i32 = 6;
    let tau_of = |p: f64| {
        let doubled = (2.0 * p).powi(STAGES);
        2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (WINDOW + 1.0) + p * WINDOW * (1.0 - doubled))
    };
    let mut p = 0.1;
    for _ in 0..500 {
        let next = 1.0 - (1.0 - tau_of(p)).powi(stations - 1);
        p = 0.9 * p + 0.1 * next;
    }
    let tau = tau_of(p);
    let somebody = 1.0 - (1.0 - tau).powi(stations);
    let one = f64::from(stations) * tau * (1.0 - tau).powi(stations - 1);
    let exchange = DIFS_US + DATA_US + RESPONSE_US;
    let mean_slot = (1.0 - somebody) * SLOT_US + somebody * exchange;
    (one * f64::from(PACKET) * 8.0 / mean_slot, p)
}

fn others(stations: u32) -> Background {
    Background {
        stations,
        packet: Bytes(u64::from(PACKET)),
        rate: Rate::from_mbits_per_sec(54),
        on_off: None,
    }
}

#[test]
fn saturated_stations_share_what_bianchi_says() {
    for others_too in [0, 3, 8] {
        let background = Some(others(others_too)).filter(|others| others.stations > 0);
        let config = WifiConfig { background, ..wifi() };
        let (graph, [there, back]) = saturated(config, true, 20);
        let stations = others_too as i32 + 2;
        let (all, p) = bianchi(stations);
        let each = all / f64::from(stations);
        assert!((there / back - 1.0).abs() < 0.05, "{there} and {back} Mbit/s");
        let ours = f64::midpoint(there, back);
        assert!((ours / each - 1.0).abs() < 0.05, "{stations}: {ours} Mbit/s each, not {each}");
        let stats = graph.medium_stats(MEDIUM);
        // Of n contenders, an access collides where one of those that transmit meets another.
        let collided = stats.collisions as f64 / stats.accesses as f64;
        assert!(collided < p && collided > 0.3 * p, "{stations}: {collided}, {p}");
        let end = at_us(20_000_000);
        assert!(graph.medium_busy_for(MEDIUM, end) < Span::from_secs(20));
        let both = graph.busy_for(THERE, end) + graph.busy_for(BACK, end);
        assert!(both < Span::from_secs(20), "{both}");
    }
}

#[test]
fn acknowledgments_the_other_way_cost_airtime() {
    let alone = saturated(wifi(), false, 5).1[0];
    let mut graph = air(wifi());
    for tag in 0..30_000 {
        send(&mut graph, Time::ZERO, PACKET, tag);
    }
    let end = at_us(5_000_000);
    let mut delivered = 0_u64;
    // One 52-byte packet back for each that arrives.
    while let Some(now) = graph.deadline().filter(|&due| due <= end) {
        while let Some(delivery) = graph.poll_delivery(now, &mut NoSink) {
            if delivery.node == NodeId(1) {
                delivered += 1;
                send_back(&mut graph, now, 52, delivered);
            }
        }
    }
    let rate = delivered as f64 * f64::from(PACKET) * 8.0 / 5e6;
    // Each costs 34 us of preamble and payload (88 bytes in 4 symbols), SIFS and acknowledgment, and
    // its own DIFS and slots: less than a data frame, but far more than its 52 bytes.
    assert!(rate < 0.85 * alone && rate > 0.6 * alone, "{rate} of {alone} Mbit/s");
}

#[test]
fn a_frame_is_lost_when_every_attempt_fails() {
    let p = 0.5_f64;
    for retries in [0, 2, 7] {
        let frame_error = Ratio::new(p).expect("a share");
        let config = WifiConfig { frame_error, retries, ..wifi() };
        let mut graph = air(config);
        let packets = 20_000_u64;
        for tag in 0..packets {
            send(&mut graph, Time::ZERO, 200, tag);
        }
        deliver_until(&mut graph, at_us(400_000_000), &mut NoSink);
        assert_eq!(graph.conservation().in_flight, 0);
        let lost = graph.link_stats(THERE).drops.of(DropReason::RetryLimit) as f64;
        let share = p.powi(retries as i32 + 1);
        let mean = packets as f64 * share;
        let bound = 4.0 * (mean * (1.0 - share)).sqrt();
        assert!((lost - mean).abs() < bound, "{retries} retries: {lost} lost, not {mean}");
        // The attempts of a frame are a geometric series that the limit cuts off.
        let attempts = graph.medium_stats(MEDIUM).accesses as f64 / packets as f64;
        let expected = (1.0 - share) / (1.0 - p);
        assert!((attempts / expected - 1.0).abs() < 0.03, "{attempts} attempts, not {expected}");
    }
}

#[test]
fn damage_per_bit_hits_long_frames_harder() {
    let bit_error = Ratio::new(2e-5).expect("a share");
    let survivors = |ip_len: u32| {
        let mut graph = air(WifiConfig { bit_error, retries: 0, ..wifi() });
        (0..20_000).for_each(|tag| send(&mut graph, Time::ZERO, ip_len, tag));
        deliver_until(&mut graph, at_us(400_000_000), &mut NoSink).len() as f64 / 20_000.0
    };
    for ip_len in [52, PACKET] {
        let expected = (1.0 - bit_error.get()).powi((ip_len as i32 + 36) * 8);
        let bound = 4.0 * (expected * (1.0 - expected) / 20_000.0).sqrt();
        let found = survivors(ip_len);
        assert!((found - expected).abs() < bound, "{ip_len} B: {found}, not {expected}");
    }
}

#[test]
fn packets_stay_in_order_through_retries_and_aggregates() {
    let frame_error = Ratio::new(0.4).expect("a share");
    for aggregation in [None, Some(Aggregation { frames: 16, bytes: Bytes(65_535) })] {
        let config = WifiConfig { frame_error, retries: 3, aggregation, ..wifi() };
        let mut graph = air(config);
        for tag in 0..5_000 {
            send(&mut graph, at_us(tag * 100), 700, tag);
        }
        let deliveries = deliver_until(&mut graph, at_us(100_000_000), &mut NoSink);
        assert!(deliveries.is_sorted_by_key(|delivery| (delivery.at, delivery.packet.tag)));
        assert!(deliveries.is_sorted_by_key(|delivery| delivery.packet.tag));
        let lost = graph.link_stats(THERE).drops.of(DropReason::RetryLimit);
        assert_eq!(deliveries.len() as u64 + lost, 5_000);
        assert!(lost > 0, "some are lost at 0.4^4");
    }
}

#[test]
fn aggregates_share_one_overhead() {
    let aggregation = Some(Aggregation { frames: 10, bytes: Bytes(65_535) });
    let (graph, [rate, _]) = saturated(WifiConfig { aggregation, ..wifi() }, false, 10);
    // Ten MPDUs of 1536 bytes behind delimiters: 15 400 bytes, 571 symbols; a block ack of 32 us.
    let cycle_us = DIFS_US + 7.5 * SLOT_US + (20.0 + 571.0 * 4.0) + 16.0 + 32.0;
    let expected = 10.0 * f64::from(PACKET) * 8.0 / cycle_us;
    assert!((rate / expected - 1.0).abs() < 0.005, "{rate} Mbit/s, not {expected}");
    let accesses = graph.medium_stats(MEDIUM).accesses as f64;
    assert!((accesses * cycle_us / 1e7 - 1.0).abs() < 0.01, "{accesses} accesses");
}

#[test]
fn an_aggregate_stops_at_its_bytes_and_at_the_longest_transmission() {
    let data_rate = |bytes, frames| {
        let aggregation = Some(Aggregation { frames, bytes: Bytes(bytes) });
        let (graph, _) = saturated(WifiConfig { aggregation, ..wifi() }, false, 2);
        let stats = graph.link_stats(THERE);
        stats.packets as f64 / graph.medium_stats(MEDIUM).accesses as f64
    };
    // Two subframes of 1540 bytes fit into 4000, and into 3080 to the byte.
    assert!((data_rate(4_000, 64) - 2.0).abs() < 0.01);
    assert!((data_rate(3_080, 64) - 2.0).abs() < 0.01);
    assert!((data_rate(3_079, 64) - 1.0).abs() < 0.01);
    // 5484 us at 54 Mbit/s: 1366 symbols, 36 879 bytes, 23 subframes.
    assert!((data_rate(65_535, 64) - 23.0).abs() < 0.1, "{}", data_rate(65_535, 64));
}

#[test]
fn stations_that_come_and_go_take_their_share_of_the_time() {
    let share = |on_off| {
        let background = Some(Background { on_off, ..others(1) });
        saturated(WifiConfig { background, ..wifi() }, false, 30).1[0]
    };
    let (alone, always) = (saturated(wifi(), false, 10).1[0], share(None));
    let half = Some(OnOff { on: Span::from_millis(50), off: Span::from_millis(50) });
    let (sometimes, expected) = (share(half), f64::midpoint(alone, always));
    assert!((sometimes / expected - 1.0).abs() < 0.05, "{sometimes}, not {expected} Mbit/s");
}

#[test]
fn when_one_polls_changes_nothing() {
    let run = |step_us: u64| {
        let frame_error = Ratio::new(0.2).expect("a share");
        let background = Some(others(2));
        let mut graph = air(WifiConfig { frame_error, background, ..wifi() });
        let mut deliveries = Vec::new();
        for n in 0..2_000 {
            let now = at_us(n * 300);
            if n * 300 % step_us == 0 {
                deliveries.extend(deliver_until(&mut graph, now, &mut NoSink));
            }
            send(&mut graph, now, 1_000, n);
            if n % 3 == 0 {
                send_back(&mut graph, now, 52, n);
            }
        }
        deliveries.extend(deliver_until(&mut graph, at_us(2_000_000), &mut NoSink));
        deliveries
    };
    let often = run(300);
    assert_eq!(often, run(300_000));
    assert!(often.len() > 1_000, "{}", often.len());
}
