//! Outages: which packets they strike, to the nanosecond; both effects, both directions.

#![expect(clippy::disallowed_methods, reason = "what a test expects may be off by a bit")]

use crate::common::{at_us, builder_with, deliver_all, drop_tail, link, one_link, packet};
use ackord_events::{DropReason, Event, LinkId, NoSink, Sink};
use ackord_path::{
    GraphError, LinkConfig, MediumConfig, Outage, OutageEffect, Sojourn, SojournShape, Windows,
};
use ackord_units::{RandomStream, Rate, Span, Time};
use ackord_wire::{NodeId, Packet};

fn listed(windows_us: &[(u64, u64)], effect: OutageEffect) -> Outage {
    let us = Span::from_micros;
    let list = windows_us.iter().map(|&(from, ends)| (us(from), us(ends - from))).collect();
    Outage::new(Windows::Listed { list, every: None }, effect)
}

/// A link of 1 Mbit/s and 10 ms that is out in these windows.
fn out_in(windows_us: &[(u64, u64)], effect: OutageEffect) -> LinkConfig {
    LinkConfig { outage: Some(listed(windows_us, effect)), ..link(0, 1) }
}

/// Outages and deaths as they are told: (told at, link, began, ends), (died at, tag, reason).
#[derive(Default)]
struct Told {
    met: Vec<(Time, LinkId, Time, Time)>,
    dead: Vec<(Time, u64, DropReason)>,
}

impl Sink for Told {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::OutageMet { link, began, ends } => self.met.push((at, link, began, ends)),
            Event::PacketDropped { packet, reason, .. } => {
                self.dead.push((at, packet.tag, reason));
            }
            _ => {}
        }
    }
}

#[test]
fn a_fade_takes_what_is_transmitted_in_it_and_not_a_nanosecond_more() {
    // A packet of 1000 bytes takes 8 ms. The fade is from 20 ms to 30 ms.
    let fade = [(20_000, 30_000)];
    for (sent_ns, survives) in [
        (12_000_000, true),
        (12_000_001, false),
        (20_000_000, false),
        (29_999_999, false),
        (30_000_000, true),
    ] {
        let (mut graph, id) = one_link(out_in(&fade, OutageEffect::Loses));
        let mut told = Told::default();
        let sent_at = Time::from_nanos(sent_ns);
        graph.handle_packet(sent_at, packet(1, 1_000, 7), &mut told);
        let arrived = deliver_all(&mut graph, &mut told);
        assert_eq!(arrived.len(), usize::from(survives), "sent at {sent_ns} ns");
        let arrives_at = sent_at + Span::from_millis(18);
        if survives {
            assert!(told.met.is_empty() && arrived[0].at == arrives_at);
        } else {
            assert_eq!(told.dead, [(arrives_at, 7, DropReason::Outage)]);
            assert_eq!(told.met, [(sent_at, id, at_us(20_000), at_us(30_000))]);
        }
    }
}

#[test]
fn what_is_already_travelling_when_a_fade_begins_arrives() {
    // Out at 8 ms, at the far end at 18 ms; the fade is in between.
    let (mut graph, _) = one_link(out_in(&[(8_000, 17_000)], OutageEffect::Loses));
    graph.handle_packet(Time::ZERO, packet(1, 1_000, 0), &mut NoSink);
    assert_eq!(deliver_all(&mut graph, &mut NoSink).len(), 1);
}

#[test]
fn an_outage_is_told_once_and_one_that_nobody_meets_never() {
    let windows = [(10_000, 50_000), (60_000, 70_000), (100_000, 110_000)];
    let (mut graph, id) = one_link(out_in(&windows, OutageEffect::Loses));
    let mut told = Told::default();
    for sent_us in [0, 20_000, 30_000, 80_000, 95_000, 105_000] {
        graph.handle_packet(at_us(sent_us), packet(1, 1_000, sent_us), &mut told);
    }
    deliver_all(&mut graph, &mut told);
    let met: Vec<_> = told.met.iter().map(|&(_, _, began, ends)| (began, ends)).collect();
    let expected = [(10_000, 50_000), (100_000, 110_000)];
    assert_eq!(met, expected.map(|(began, ends)| (at_us(began), at_us(ends))));
    assert_eq!(graph.link_stats(id).outages_met, 2);
    // Sent at 20 and 30 ms; sent at 95 ms and still going at 100; queued behind it until 103.
    assert_eq!(told.dead.len(), 4);
    assert_eq!(graph.link_stats(id).drops.of(DropReason::Outage), 4);
}

#[test]
fn a_transmission_that_lasts_over_two_outages_tells_of_both() {
    let windows = [(1_000, 2_000), (3_000, 4_000), (9_000, 10_000)];
    let (mut graph, _) = one_link(out_in(&windows, OutageEffect::Loses));
    let mut told = Told::default();
    graph.handle_packet(Time::ZERO, packet(1, 1_000, 0), &mut told);
    graph.handle_packet(at_us(20_000), packet(1, 1_000, 1), &mut told);
    assert_eq!(deliver_all(&mut graph, &mut told).len(), 1);
    assert_eq!((told.met.len(), told.dead.len()), (2, 1));
}

#[test]
fn a_hand_over_lets_packets_wait_and_finishes_what_it_has_begun() {
    let (mut graph, id) = one_link(out_in(&[(4_000, 100_000)], OutageEffect::Holds));
    let mut told = Told::default();
    for tag in 0..3 {
        graph.handle_packet(at_us(1_000 * tag), packet(1, 1_000, tag), &mut told);
    }
    let arrivals: Vec<_> =
        deliver_all(&mut graph, &mut told).iter().map(|d| d.at.as_nanos() / 1_000).collect();
    // The first is out at 8 ms; the others begin at 100 ms, 8 ms apart; then 10 ms of delay.
    assert_eq!(arrivals, [18_000, 118_000, 126_000]);
    assert_eq!(told.met, [(at_us(8_000), id, at_us(4_000), at_us(100_000))]);
    assert_eq!(graph.busy_for(id, at_us(200_000)), Span::from_millis(24), "waiting is not sending");
}

#[test]
fn a_packet_that_finds_an_idle_link_held_waits_in_the_queue() {
    let config = LinkConfig { queue: drop_tail(2), ..out_in(&[(0, 50_000)], OutageEffect::Holds) };
    let (mut graph, id) = one_link(config);
    for tag in 0..3 {
        graph.handle_packet(at_us(1_000), packet(1, 1_000, tag), &mut NoSink);
    }
    assert_eq!(
        graph.link_stats(id).drops.of(DropReason::QueueFull),
        1,
        "nobody is in transmission"
    );
    assert_eq!(graph.deadline(), Some(at_us(50_000)));
    assert_eq!(graph.busy_for(id, at_us(40_000)), Span::ZERO);
    let arrivals: Vec<_> =
        deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.at.as_nanos() / 1_000).collect();
    assert_eq!(arrivals, [68_000, 76_000]);
}

/// A stream of outages with these mean times up and down.
fn random(up: Span, down: Span, stream: RandomStream) -> Outage {
    let sojourn = |mean| Sojourn { mean, shape: SojournShape::Exponential };
    let windows = Windows::Drawn { between: sojourn(up), length: sojourn(down), stream };
    Outage::new(windows, OutageEffect::Loses)
}

#[test]
fn a_random_fade_takes_its_share_of_the_time() {
    let (up, down) = (Span::from_millis(300), Span::from_millis(100));
    let outage = Some(random(up, down, RandomStream::for_element(1, "links/a/outage")));
    let rate = Rate::from_mbits_per_sec(1_000);
    let (mut graph, id) = one_link(LinkConfig { outage, rate, ..link(0, 1) });
    // A packet every 10 ms for 4000 s: 10 000 cycles of 400 ms.
    let packets = 400_000;
    for n in 0..packets {
        graph.handle_packet(at_us(10_000 * n), packet(1, 1_000, n), &mut NoSink);
        crate::common::deliver_until(&mut graph, at_us(10_000 * n), &mut NoSink);
    }
    let lost = graph.link_stats(id).drops.of(DropReason::Outage) as f64 / packets as f64;
    // The share of a cycle has a variance of 2 (p q)^2 per cycle for exponential times (delta
    // method on the ratio of means), here 0.265^2: over 10 000 cycles, four deviations are 1.06 %.
    assert!((lost - 0.25).abs() < 0.0106, "{lost}");
    // An outage is met if a packet is sent in it: all but those that fall between two packets,
    // that is 1 - (1 - e^-x) / x of them with x = 10 ms / 100 ms.
    let met = graph.link_stats(id).outages_met as f64;
    let x = 0.1_f64;
    let expected = 10_000.0 * (1.0 - (-x).exp()) / x;
    assert!((met - expected).abs() < 4.0 * expected.sqrt(), "{met} of {expected}");
}

#[test]
fn two_directions_with_one_stream_are_out_together() {
    let stream = || RandomStream::for_element(1, "links/a/both/outage");
    let outage = |stream| random(Span::from_millis(40), Span::from_millis(40), stream);
    let mut builder = builder_with(2);
    let rate = Rate::from_mbits_per_sec(1_000);
    let config =
        |from, to, stream| LinkConfig { rate, outage: Some(outage(stream)), ..link(from, to) };
    builder.add_link(config(0, 1, stream()));
    builder.add_link(config(1, 0, stream()));
    let mut graph = builder.build().expect("a valid graph");
    let mut told = Told::default();
    for n in 0..10_000 {
        let forth = packet(1, 100, n);
        let back = Packet { src: NodeId(1), dst: NodeId(0), ..forth };
        // The far side asks less often, so that the two processes are drawn at different times.
        graph.handle_packet(at_us(1_000 * n), forth, &mut told);
        if n % 7 == 0 {
            graph.handle_packet(at_us(1_000 * n), back, &mut told);
        }
    }
    let arrived = deliver_all(&mut graph, &mut told);
    let there = |tag, node| arrived.iter().any(|d| d.packet.tag == tag && d.node == NodeId(node));
    let agree = (0..10_000).filter(|n| n % 7 == 0).all(|n| there(n, 0) == there(n, 1));
    assert!(agree, "a packet and its answer have the same fate");
    assert!((2_000..8_000).contains(&told.dead.len()));
}

#[test]
fn a_medium_cannot_be_held() {
    for (effect, expected) in [
        (OutageEffect::Loses, Ok(())),
        (OutageEffect::Holds, Err(GraphError::WaitsOnMedium { link: LinkId(0) })),
    ] {
        let mut builder = builder_with(2);
        let air = builder.add_medium(MediumConfig::Wifi(Box::default()));
        builder.add_link(LinkConfig { medium: Some(air), ..out_in(&[(0, 10)], effect) });
        assert_eq!(builder.build().map(drop), expected);
    }
}

#[test]
fn on_wifi_a_fade_takes_what_is_through_in_it() {
    let mut builder = builder_with(2);
    let air = builder.add_medium(MediumConfig::Wifi(Box::default()));
    let rate = Rate::from_mbits_per_sec(54);
    let fade = out_in(&[(50_000, 150_000)], OutageEffect::Loses);
    let id = builder.add_link(LinkConfig { medium: Some(air), rate, ..fade });
    let mut graph = builder.build().expect("a valid graph");
    let mut told = Told::default();
    for n in 0..200 {
        graph.handle_packet(at_us(1_000 * n), packet(1, 1_000, n), &mut told);
    }
    let arrived = deliver_all(&mut graph, &mut told);
    // A frame takes well under 1 ms here, so each is through before the next comes; at the edges
    // of the fade one may go either way.
    let tags: Vec<_> = arrived.iter().map(|d| d.packet.tag).collect();
    assert!((0..49).chain(150..200).all(|tag| tags.contains(&tag)), "{tags:?}");
    assert!((50..149).all(|tag| !tags.contains(&tag)), "{tags:?}");
    let met: Vec<_> = told.met.iter().map(|&(_, link, ..)| link).collect();
    assert_eq!(met, [id]);
}
