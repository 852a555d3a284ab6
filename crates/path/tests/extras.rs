//! Damage and duplication, and everything a link may have at once.

use crate::common::{at_us, builder_with, deliver_all, drop_tail, link, one_link, packet};
use ackord_events::{DropReason, Event, LinkId, NoSink, Sink};
use ackord_path::{
    CaughtBy, Changes, Corruption, Duplication, ErrorRate, GilbertConfig, Graph, LinkConfig,
    LossModel, Outage, OutageEffect, Pace, RateSteps, RateStepsConfig, Windows,
};
use ackord_units::{RandomStream, Rate, Ratio, Span, Time};
use ackord_wire::NodeId;

fn ratio(value: f64) -> Ratio {
    Ratio::new(value).expect("a share")
}

fn stream(of: &str) -> RandomStream {
    RandomStream::for_element(1, &format!("links/a/{of}"))
}

fn damage(share: f64, caught_by: CaughtBy) -> Option<Corruption> {
    let rate = ErrorRate::PerPacket(ratio(share));
    Some(Corruption::new(rate, caught_by, stream("corrupt")))
}

/// Deaths by link, time and reason.
#[derive(Default)]
struct Deaths(Vec<(LinkId, Time, DropReason)>);

impl Sink for Deaths {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        if let Event::PacketDropped { link, reason, .. } = event {
            self.0.push((link, at, reason));
        }
    }
}

#[test]
fn damage_that_the_link_catches_dies_there_and_other_damage_travels_on_to_the_host() {
    for (caught_by, dies_on, dies_at_us, reason) in [
        (CaughtBy::Link, 0, 18_000, DropReason::Corrupted),
        (CaughtBy::Host, 1, 36_000, DropReason::BadChecksum),
    ] {
        let mut builder = builder_with(3);
        builder.add_link(LinkConfig { corruption: damage(1.0, caught_by), ..link(0, 1) });
        builder.add_link(link(1, 2));
        let mut graph = builder.build().expect("a valid graph");
        let mut deaths = Deaths::default();
        let sent = ackord_wire::Packet { dst: NodeId(2), ..packet(1, 1_000, 0) };
        graph.handle_packet(Time::ZERO, sent, &mut deaths);
        assert!(deliver_all(&mut graph, &mut deaths).is_empty());
        assert_eq!(deaths.0, [(LinkId(dies_on), at_us(dies_at_us), reason)]);
        let second = graph.link_stats(LinkId(1)).packets;
        assert_eq!(second, u64::from(caught_by == CaughtBy::Host), "carried on or not");
        graph.conservation().check().expect("accounted for");
    }
}

#[test]
fn damage_strikes_as_often_as_it_says_by_packet_by_byte_and_by_bit() {
    let packets = 40_000_u64;
    for (rate, share) in [
        (ErrorRate::PerPacket(ratio(0.02)), 0.02),
        (ErrorRate::PerByte(ratio(1e-5)), 1.0 - (1.0 - 1e-5_f64).powi(1_000)),
        (ErrorRate::PerBit(ratio(1e-5)), 1.0 - (1.0 - 1e-5_f64).powi(8_000)),
    ] {
        let corruption = Some(Corruption::new(rate, CaughtBy::Host, stream("corrupt")));
        let rate = Rate::from_mbits_per_sec(100);
        let (mut graph, id) = one_link(LinkConfig { corruption, rate, ..link(0, 1) });
        for n in 0..packets {
            graph.handle_packet(at_us(100 * n), packet(1, 1_000, n), &mut NoSink);
        }
        deliver_all(&mut graph, &mut NoSink);
        let found = graph.link_stats(id).drops.of(DropReason::BadChecksum) as f64;
        let mean = packets as f64 * share;
        // Binomial: four standard deviations.
        let bound = 4.0 * (mean * (1.0 - share)).sqrt();
        assert!((found - mean).abs() < bound, "{found} for {mean}");
    }
}

#[test]
fn a_packet_that_arrives_twice_is_accounted_for_twice() {
    let duplication = Some(Duplication::new(ratio(0.1), stream("duplicate")));
    let rate = Rate::from_mbits_per_sec(100);
    let (mut graph, id) = one_link(LinkConfig { duplication, rate, ..link(0, 1) });
    let packets = 20_000;
    for n in 0..packets {
        graph.handle_packet(at_us(100 * n), packet(1, 1_000, n), &mut NoSink);
    }
    let arrived = deliver_all(&mut graph, &mut NoSink);
    let stats = graph.link_stats(id).clone();
    assert_eq!(arrived.len() as u64, packets + stats.duplicated);
    assert_eq!(stats.packets, packets, "a copy is not transmitted a second time");
    let twice = arrived.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    assert_eq!(twice, stats.duplicated, "both copies are the same and arrive together");
    // Binomial(20000, 0.1): a deviation of 42.4.
    assert!(stats.duplicated.abs_diff(2_000) < 170, "{}", stats.duplicated);
    let conservation = graph.conservation();
    assert_eq!((conservation.injected, conservation.made), (packets, stats.duplicated));
    conservation.check().expect("accounted for");
}

/// A link with all of it, on top of `base`.
fn with_everything(base: LinkConfig) -> LinkConfig {
    let ms = Span::from_millis;
    let mbit = Rate::from_mbits_per_sec;
    let windows =
        |from, lasts| Windows::Listed { list: vec![(ms(from), ms(lasts))], every: Some(ms(1_000)) };
    let changes = Changes::PerPacket { good_to_bad: ratio(0.02), bad_to_good: ratio(0.2) };
    let gilbert = GilbertConfig { changes, loss_in_good: Ratio::ZERO, loss_in_bad: ratio(0.7) };
    LinkConfig {
        pace: Some(Pace::Steps(Box::new(RateSteps::new(RateStepsConfig {
            at_first: mbit(8),
            changes: vec![(ms(300), mbit(2)), (ms(600), mbit(8))],
            every: Some(ms(1_000)),
        })))),
        outage: Some(Outage::new(windows(100, 50), OutageEffect::Loses)),
        loss: Some(LossModel::gilbert(gilbert, stream("loss"))),
        corruption: damage(0.03, CaughtBy::Host),
        duplication: Some(Duplication::new(ratio(0.05), stream("duplicate"))),
        ..base
    }
}

fn tags_that_die_of(graph_of: LinkConfig, reason: DropReason) -> Vec<u64> {
    struct Tags(Vec<(u64, DropReason)>);
    impl Sink for Tags {
        fn emit(&mut self, _at: Time, event: Event<'_>) {
            if let Event::PacketDropped { packet, reason, .. } = event {
                self.0.push((packet.tag, reason));
            }
        }
    }
    let (mut graph, _): (Graph, _) = one_link(graph_of);
    let mut tags = Tags(Vec::new());
    for n in 0..5_000 {
        graph.handle_packet(at_us(5_000 * n), packet(1, 1_000, n), &mut tags);
    }
    deliver_all(&mut graph, &mut tags);
    graph.conservation().check().expect("accounted for");
    let mut died: Vec<_> =
        tags.0.iter().filter(|(_, of)| *of == reason).map(|(tag, _)| *tag).collect();
    died.dedup();
    died
}

#[test]
fn adding_one_trouble_does_not_move_another() {
    let base = || LinkConfig { queue: drop_tail(1_000), ..link(0, 1) };
    let all = || with_everything(base());
    let alone = |config: LinkConfig| LinkConfig { pace: all().pace, ..config };
    let outage = tags_that_die_of(all(), DropReason::Outage);
    let only = alone(LinkConfig { outage: all().outage, ..base() });
    assert_eq!(outage, tags_that_die_of(only, DropReason::Outage));
    // What the loss model takes is what it takes alone, less what the outage took first.
    let lost = tags_that_die_of(all(), DropReason::RandomLoss);
    let only = alone(LinkConfig { loss: all().loss, ..base() });
    let mut expected = tags_that_die_of(only, DropReason::RandomLoss);
    expected.retain(|tag| !outage.contains(tag));
    assert_eq!(lost, expected);
    let damaged = tags_that_die_of(all(), DropReason::BadChecksum);
    let only = alone(LinkConfig { corruption: all().corruption, ..base() });
    let mut expected = tags_that_die_of(only, DropReason::BadChecksum);
    expected.retain(|tag| !outage.contains(tag) && !lost.contains(tag));
    assert_eq!(damaged, expected);
    assert!(outage.len() > 200 && lost.len() > 200 && damaged.len() > 80, "all of them strike");
}
