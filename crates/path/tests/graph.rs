//! Several links: forwarding, order, conservation, and independence of how often one polls.

use crate::common::{at_us, builder_with, deliver_all, deliver_until, link, packet};
use ackord_events::{DropReason, Event, LinkId, NoSink, Sink};
use ackord_path::{
    Aggregation, CaughtBy, Cellular, CellularConfig, Changes, Corruption, DelayDistribution,
    DelayShape, Delivery, DropTail, Duplication, ErrorRate, GilbertConfig, Graph, GraphError,
    Jitter, JitterConfig, Limit, LinkConfig, LossModel, MediumConfig, MediumId, Opportunities,
    Outage, OutageEffect, Pace, PacketOrder, PaperConfig, PaperDrop, PracticalConfig,
    PracticalDrop, Queue, RateSteps, RateStepsConfig, Redraw, Request, Role, Shaper, Sojourn,
    SojournShape, Threshold, TokenBucket, Trace, TripSource, Weights, WifiConfig, Windows,
};
use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span, Time};
use ackord_wire::{NodeId, Packet};
use proptest::prelude::*;
use std::sync::Arc;

fn chain(links: u16) -> Graph {
    let mut builder = Graph::builder();
    builder.add_node(Role::Router);
    for n in 0..links {
        builder.add_node(Role::Router);
        builder.add_link(link(n, n + 1));
    }
    builder.build().expect("a valid chain")
}

#[test]
fn a_packet_crosses_a_chain_in_the_sum_of_its_hops() {
    let mut graph = chain(3);
    let sent = Packet { dst: NodeId(3), ..packet(1, 1_000, 0) };
    graph.handle_packet(Time::ZERO, sent, &mut NoSink);
    let expected = Delivery { at: at_us(3 * 18_000), node: NodeId(3), packet: sent };
    assert_eq!(deliver_all(&mut graph, &mut NoSink), [expected]);
}

#[test]
fn lateness_of_the_driver_does_not_add_up_along_the_path() {
    let mut graph = chain(3);
    let sent = Packet { dst: NodeId(3), ..packet(1, 1_000, 0) };
    graph.handle_packet(Time::ZERO, sent, &mut NoSink);
    // The driver oversleeps by a second and still learns when the packet was there.
    let delivery = graph.poll_delivery(at_us(1_000_000), &mut NoSink).expect("it has arrived");
    assert_eq!(delivery.at, at_us(54_000));
}

#[test]
fn a_packet_for_its_own_node_is_there_at_once() {
    let mut graph = chain(1);
    let sent = Packet { dst: NodeId(0), ..packet(1, 1_000, 0) };
    graph.handle_packet(at_us(5), sent, &mut NoSink);
    assert_eq!(graph.deadline(), Some(at_us(5)));
    assert_eq!(graph.poll_delivery(at_us(5), &mut NoSink).map(|d| d.at), Some(at_us(5)));
    graph.conservation().check().expect("nothing is lost");
}

#[derive(Default)]
struct Deaths(Vec<(LinkId, DropReason)>);

impl Sink for Deaths {
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        if let Event::PacketDropped { link, reason, .. } = event {
            self.0.push((link, reason));
        }
    }
}

#[test]
fn a_packet_without_a_way_dies_where_the_way_ends() {
    // Node 2 can only be left; node 1 is a dead end.
    let mut builder = builder_with(3);
    builder.add_link(link(0, 1));
    builder.add_link(link(2, 0));
    let mut graph = builder.build().expect("a valid graph");
    let mut deaths = Deaths::default();
    for (src, dst) in [(0, 2), (1, 0), (2, 1), (0, 77)] {
        let sent = Packet { src: NodeId(src), dst: NodeId(dst), ..packet(1, 100, 0) };
        graph.handle_packet(Time::ZERO, sent, &mut deaths);
    }
    assert_eq!(deliver_all(&mut graph, &mut deaths).len(), 1);
    assert_eq!(deaths.0, [(LinkId::NONE, DropReason::NoRoute); 3]);
    let conservation = graph.conservation();
    assert_eq!(conservation.dropped.of(DropReason::NoRoute), 3);
    conservation.check().expect("every death is counted");
}

#[test]
fn at_one_instant_the_lower_link_delivers_first() {
    let mut builder = builder_with(3);
    builder.add_link(link(1, 0));
    builder.add_link(link(2, 0));
    let mut graph = builder.build().expect("a valid graph");
    for src in [2, 1] {
        let sent = Packet { src: NodeId(src), dst: NodeId(0), ..packet(1, 100, u64::from(src)) };
        graph.handle_packet(Time::ZERO, sent, &mut NoSink);
    }
    let tags: Vec<_> = deliver_all(&mut graph, &mut NoSink).iter().map(|d| d.packet.tag).collect();
    assert_eq!(tags, [1, 2]);
}

#[test]
fn a_graph_that_cannot_work_is_refused() {
    let build = |config: LinkConfig| {
        let mut builder = Graph::builder();
        builder.add_node(Role::Router);
        builder.add_node(Role::Router);
        builder.add_link(config);
        builder.build().map(drop)
    };
    let link0 = LinkId(0);
    assert_eq!(build(link(0, 1)), Ok(()));
    let unknown = GraphError::UnknownNode { link: link0, node: NodeId(2) };
    assert_eq!(build(link(0, 2)), Err(unknown));
    assert_eq!(build(link(1, 1)), Err(GraphError::SelfLoop { link: link0, node: NodeId(1) }));
    let adrift = LinkConfig { medium: Some(MediumId(0)), ..link(0, 1) };
    let unknown = GraphError::UnknownMedium { link: link0, medium: MediumId(0) };
    assert_eq!(build(adrift), Err(unknown));
    let stopped = LinkConfig { rate: Rate::from_bits_per_sec(0), ..link(0, 1) };
    assert_eq!(build(stopped), Err(GraphError::ZeroRate { link: link0 }));
}

/// A topology with traffic.
#[derive(Clone, Debug)]
struct World {
    nodes: u16,
    links: Vec<(u16, u16, u64, u64, u64, u64)>,
    /// (gap before it in ns, source, destination, length)
    packets: Vec<(u64, u16, u16, u32)>,
}

fn worlds() -> impl Strategy<Value = World> {
    (2_u16..6).prop_flat_map(|nodes| {
        // Few distinct rates, delays and gaps, so that many things fall on one instant.
        let rate = prop::sample::select(vec![8_000_000, 3_000_000, 80_000_000]);
        let link = (0..nodes, 0..nodes, rate, 0_u64..3, 0_u64..7, 0_u64..512);
        let packet = (0_u64..3, 0..nodes, 0..nodes, prop::sample::select(vec![1, 100, 1_500]));
        (prop::collection::vec(link, 1..12), prop::collection::vec(packet, 1..120))
            .prop_map(move |(links, packets)| World { nodes, links, packets })
    })
}

/// One of each kind, small enough to overflow.
fn queue(kind: u64, rate: Rate) -> Queue {
    let (threshold, round_trip) = (Threshold::Best { factor: 1.0 }, Span::from_micros(200));
    let (packet_length, weights) = (None, Weights::default());
    match kind {
        0 => Queue::DropTail(DropTail::new(Limit::Packets(2))),
        1 => Queue::DropTail(DropTail::new(Limit::Bytes(Bytes(3_000)))),
        2 => Queue::of(PaperDrop::new(PaperConfig {
            limit: Limit::Packets(5),
            threshold,
            arrival_counts: true,
            round_trip,
            rate,
            packet_length,
            weights,
        })),
        3 => Queue::of(PracticalDrop::new(PracticalConfig {
            limit: Limit::Bytes(Bytes(9_000)),
            threshold,
            round_trip: TripSource::Learnt { at_first: round_trip },
            rate,
            packet_length,
            active_for: Span::from_micros(500),
            weights,
        })),
        6 => Queue::DropTail(DropTail::new(Limit::Packets(3))),
        _ => Queue::DropTail(DropTail::new(Limit::Packets(1_000))),
    }
}

/// Delays that jump about, so that packets overtake one another, on some of the links.
fn jitter(link: usize, kind: u64, mean: Span) -> Option<Jitter> {
    let (when, order) = match kind {
        2 => (Redraw::Every(Span::from_micros(100)), PacketOrder::Free),
        3 | 6 => (Redraw::PerPacket, PacketOrder::Free),
        4 => (Redraw::PerPacket, PacketOrder::Kept),
        _ => return None,
    };
    let (shape, deviation) = (DelayShape::Normal, Span::from_micros(400));
    let distribution = DelayDistribution { shape, mean, deviation, floor: Span::ZERO };
    let stream = RandomStream::for_element(5, &format!("links/{link}/jitter"));
    Some(Jitter::new(JitterConfig { distribution, when, order }, stream))
}

/// Troubles on top of a link, each bit of `troubles` one of them. Media cannot be held and have a
/// pace of their own.
fn with_troubles(link: usize, troubles: u64, config: LinkConfig) -> LinkConfig {
    let stream = |of: &str| RandomStream::for_element(5, &format!("links/{link}/{of}"));
    let share = |share| Ratio::new(share).unwrap();
    let has = |bit: u64| troubles >> bit & 1 == 1;
    let gilbert = GilbertConfig {
        changes: match has(6) {
            true => Changes::PerPacket { good_to_bad: share(0.2), bad_to_good: share(0.4) },
            false => Changes::InTime {
                good_for: Span::from_micros(300),
                bad_for: Span::from_micros(100),
            },
        },
        loss_in_good: share(0.05),
        loss_in_bad: share(0.7),
    };
    let caught_by = if has(6) { CaughtBy::Link } else { CaughtBy::Host };
    let per_byte = ErrorRate::PerByte(share(1e-4));
    let on_medium = config.medium.is_some();
    let effect = if on_medium || has(6) { OutageEffect::Loses } else { OutageEffect::Holds };
    LinkConfig {
        outage: has(0).then(|| outage(effect, stream("outage"))),
        loss: if has(1) { Some(LossModel::gilbert(gilbert, stream("loss"))) } else { config.loss },
        policer: has(7).then(|| TokenBucket::new(Rate::from_mbits_per_sec(2), Bytes(3_000))),
        corruption: has(2).then(|| Corruption::new(per_byte, caught_by, stream("corrupt"))),
        duplication: has(3).then(|| Duplication::new(share(0.2), stream("duplicate"))),
        pace: if on_medium {
            None
        } else {
            pace((troubles >> 4 & 3) + 4 * (troubles >> 8 & 1), config.rate, stream("pace"))
        },
        ..config
    }
}

/// Outages of a tenth of a millisecond.
fn outage(effect: OutageEffect, stream: RandomStream) -> Outage {
    let sojourn = |micros| Sojourn {
        mean: Span::from_micros(micros),
        shape: SojournShape::Lognormal { variation: 1.0 },
    };
    let windows = Windows::Drawn { between: sojourn(400), length: sojourn(100), stream };
    Outage::new(windows, effect)
}

/// One of each, or none.
fn pace(kind: u64, rate: Rate, stream: RandomStream) -> Option<Pace> {
    let us = Span::from_micros;
    match kind {
        1 => Some(Pace::Steps(Box::new(RateSteps::new(RateStepsConfig {
            at_first: rate,
            changes: vec![(us(100), Rate::from_mbits_per_sec(1)), (us(350), rate)],
            every: Some(us(400)),
        })))),
        2 => {
            let trace = Trace::parse("0\n1\n1\n1\n1\n3\n4\n").expect("a valid trace");
            Some(Pace::Opportunities(Box::new(Opportunities::new(Arc::new(trace)))))
        }
        3 => Some(Pace::Cellular(Box::new(Cellular::new(CellularConfig {
            rate,
            slot: us(50),
            block_error: Ratio::new(0.3).unwrap(),
            retry_after_slots: 3,
            retries: 2,
            request: (rate.as_bits_per_sec() > 5_000_000)
                .then_some(Request { every: us(100), grant_after: us(70) }),
            stream,
        })))),
        4 => {
            let bucket = TokenBucket::new(Rate::from_mbits_per_sec(2), Bytes(3_000));
            Some(Pace::Shaped(Box::new(Shaper::new(bucket, rate))))
        }
        _ => None,
    }
}

impl World {
    fn graph(&self) -> Graph {
        let mut builder = builder_with(self.nodes);
        // Links of the last two kinds are on one medium, whichever nodes they join.
        let air = builder.add_medium(MediumConfig::Wifi(Box::new(WifiConfig {
            frame_error: Ratio::new(0.2).unwrap(),
            retries: 2,
            aggregation: Some(Aggregation { frames: 4, bytes: Bytes(5_000) }),
            stream: RandomStream::for_element(5, "links/air/medium"),
            ..WifiConfig::default()
        })));
        for (n, &(from, to, rate, delay, kind, troubles)) in self.links.iter().enumerate() {
            if from == to {
                continue;
            }
            let rate = Rate::from_bits_per_sec(rate);
            let stream = RandomStream::for_element(5, &format!("links/{n}/loss"));
            let config = LinkConfig {
                rate,
                delay: Span::from_micros(50 * delay),
                queue: queue(kind, rate),
                jitter: jitter(n, kind, Span::from_micros(50 * delay)),
                medium: (kind >= 5).then_some(air),
                loss: (kind == 1).then(|| {
                    LossModel::random(ErrorRate::PerPacket(Ratio::new(0.1).unwrap()), stream)
                }),
                ..link(from, to)
            };
            builder.add_link(with_troubles(n, troubles, config));
        }
        builder.build().expect("a valid graph")
    }

    fn sendings(&self) -> impl Iterator<Item = (Time, Packet)> + '_ {
        let mut now = Time::ZERO;
        self.packets.iter().enumerate().map(move |(tag, &(gap, src, dst, ip_len))| {
            now += Span::from_micros(50 * gap);
            let (src, dst) = (NodeId(src), NodeId(dst));
            (now, Packet { src, dst, ..packet(tag as u32 % 4, ip_len, tag as u64) })
        })
    }

    /// Polls at exactly every deadline, as the simulator does.
    fn run_on_time(&self) -> (Vec<Delivery>, Graph) {
        let (mut graph, mut deliveries) = (self.graph(), Vec::new());
        for (now, sent) in self.sendings() {
            while let Some(due) = graph.deadline().filter(|&due| due <= now) {
                deliveries.extend(graph.poll_delivery(due, &mut NoSink));
            }
            graph.handle_packet(now, sent, &mut NoSink);
            graph.conservation().check().expect("balanced at every step");
        }
        deliveries.extend(deliver_all(&mut graph, &mut NoSink));
        (deliveries, graph)
    }

    /// Polls so many times, so much later than the packet sent before.
    fn run_sloppily(&self, polls: &[(bool, u64)]) -> (Vec<Delivery>, Graph) {
        let (mut graph, mut deliveries) = (self.graph(), Vec::new());
        let mut polls = polls.iter().cycle();
        let mut sendings = self.sendings().peekable();
        while let Some((now, sent)) = sendings.next() {
            graph.handle_packet(now, sent, &mut NoSink);
            let (all, late) = *polls.next().expect("endless");
            let next = sendings.peek().map_or(now, |&(next, _)| next);
            let poll_at = (now + Span::from_micros(10 * late)).min(next);
            match all {
                true => deliveries.extend(deliver_until(&mut graph, poll_at, &mut NoSink)),
                false => deliveries.extend(graph.poll_delivery(poll_at, &mut NoSink)),
            }
        }
        deliveries.extend(deliver_all(&mut graph, &mut NoSink));
        (deliveries, graph)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn packets_are_neither_made_nor_lost(world in worlds()) {
        let (deliveries, graph) = world.run_on_time();
        let conservation = graph.conservation();
        prop_assert!(conservation.check().is_ok(), "{conservation:?}");
        prop_assert_eq!(conservation.in_flight, 0);
        prop_assert_eq!(conservation.injected, world.packets.len() as u64);
        let copies: u64 =
            (0..graph.links()).map(|n| graph.link_stats(LinkId(n as u32)).duplicated).sum();
        prop_assert_eq!(conservation.made, copies);
        for link in (0..graph.links() as u32).map(LinkId) {
            let end = deliveries.last().map_or(Time::ZERO, |last| last.at) + Span::from_secs(1);
            prop_assert!(graph.busy_for(link, end) <= end - Time::ZERO);
        }
        prop_assert_eq!(conservation.delivered, deliveries.len() as u64);
        for (delivery, sent) in deliveries.iter().map(|d| (d, &world.packets[d.packet.tag as usize])) {
            prop_assert_eq!((delivery.node.0, delivery.packet.ip_len), (sent.2, sent.3));
        }
        prop_assert!(deliveries.is_sorted_by_key(|delivery| delivery.at));
    }

    #[test]
    fn deliveries_do_not_depend_on_when_one_polls(
        world in worlds(),
        polls in prop::collection::vec((any::<bool>(), 0_u64..40), 1..20),
    ) {
        let (on_time, graph) = world.run_on_time();
        let (sloppy, late_graph) = world.run_sloppily(&polls);
        prop_assert_eq!(on_time, sloppy);
        for link in 0..graph.links() as u32 {
            prop_assert_eq!(graph.link_stats(LinkId(link)), late_graph.link_stats(LinkId(link)));
        }
    }
}
