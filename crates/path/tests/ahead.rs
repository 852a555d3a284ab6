//! A graph that looks ahead delivers and counts what one does that takes one link at a time.

use crate::common::{at_us, deliver_until, link, packet};
use ackord_events::{Event, LinkId, Sink};
use ackord_path::{
    CaughtBy, Conservation, Corruption, DropTail, ErrorRate, Graph, Limit, LinkConfig, LinkStats,
    LossModel, Queue, Role,
};
use ackord_units::{Bytes, RandomStream, Rate, Ratio, Span, Time};
use ackord_wire::NodeId;
use proptest::prelude::*;

/// A link of the chain: rate, delay and room at random, and now and then something that is not ordinary.
#[derive(Clone, Copy, Debug)]
struct Hop {
    bits_per_sec: u64,
    delay_us: u64,
    room: Limit,
    loses: bool,
    damages: bool,
}

/// Two hosts, three routers in a row, two hosts, and one at the router between; both ways.
const ENDS: [(u16, u16); 7] = [(0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (3, 7)];
const LINKS: usize = 2 * ENDS.len();

fn chain(hops: &[Hop]) -> Graph {
    let mut builder = Graph::builder();
    for role in [Role::Host, Role::Host, Role::Router, Role::Router, Role::Router, Role::Host] {
        builder.add_node(role);
    }
    builder.add_node(Role::Host);
    builder.add_node(Role::Host);
    let both_ways = ENDS.into_iter().flat_map(|(from, to)| [(from, to), (to, from)]);
    for ((from, to), hop) in both_ways.zip(hops) {
        let stream = |what| RandomStream::for_element(u64::from(from), what);
        let share = ErrorRate::PerPacket(Ratio::new(0.2).expect("a share"));
        builder.add_link(LinkConfig {
            rate: Rate::from_bits_per_sec(hop.bits_per_sec),
            delay: Span::from_micros(hop.delay_us),
            queue: Queue::DropTail(DropTail::new(hop.room)),
            loss: hop.loses.then(|| LossModel::random(share, stream("links/a/loss"))),
            corruption: hop
                .damages
                .then(|| Corruption::new(share, CaughtBy::Host, stream("links/a/damage"))),
            ..link(from, to)
        });
    }
    builder.build().expect("a sound graph")
}

/// What has arrived, what every link has counted, how long it was busy and what it has told of, and where packets are.
#[derive(Debug, PartialEq)]
struct Seen {
    arrived: Vec<(Time, u64)>,
    links: Vec<(LinkStats, Span, Vec<String>)>,
    packets: Conservation,
}

/// Keeps what each link tells.
#[derive(Default)]
struct ByLink([Vec<String>; LINKS]);

impl Sink for ByLink {
    fn needs_order(&self) -> bool {
        false
    }

    fn emit(&mut self, at: Time, event: Event<'_>) {
        let (Event::PacketEnqueued { link, .. }
        | Event::PacketDequeued { link, .. }
        | Event::PacketDropped { link, .. }) = event
        else {
            return;
        };
        self.0[link.0 as usize].push(format!("{at} {event:?}"));
    }
}

/// From the hosts on one side to those on the other and between, and back.
fn ways() -> Vec<(NodeId, NodeId)> {
    let there = [(0, 5), (0, 6), (1, 5), (1, 6), (0, 7), (1, 7)]
        .map(|(from, to)| (NodeId(from), NodeId(to)));
    there.into_iter().flat_map(|(from, to)| [(from, to), (to, from)]).collect()
}

/// Lets packets of some length enter, each so long after the one before, and looks after most.
fn seen(graph: &mut Graph, packets: &[(u64, u32, u16, u16)]) -> Vec<Seen> {
    let mut now = Time::ZERO;
    let mut seen = Vec::new();
    let mut told = ByLink::default();
    for (tag, &(after_us, ip_len, src, dst)) in (0..).zip(packets) {
        now += Span::from_micros(after_us);
        let (src, dst) = if tag % 3 == 0 { (dst, src) } else { (src, dst) };
        let mut packet = packet(1, ip_len, tag);
        (packet.src, packet.dst) = (NodeId(src), NodeId(dst));
        graph.handle_packet(now, packet, &mut told);
        if tag % 5 > 0 {
            seen.push(look(graph, now, &mut told));
        }
    }
    seen.push(look(graph, now + Span::from_secs(1_000), &mut told));
    seen
}

fn look(graph: &mut Graph, now: Time, told: &mut ByLink) -> Seen {
    let arrived = deliver_until(graph, now, told);
    graph.settle(now, told);
    let links = (0..LINKS as u32).map(LinkId).map(|id| {
        let told = std::mem::take(&mut told.0[id.0 as usize]);
        (graph.link_stats(id).clone(), graph.busy_for(id, now), told)
    });
    let packets = graph.conservation();
    packets.check().expect("no packet appears or vanishes");
    Seen {
        arrived: arrived.iter().map(|d| (d.at, d.packet.tag)).collect(),
        links: links.collect(),
        packets,
    }
}

fn hop() -> impl Strategy<Value = Hop> {
    let room = prop_oneof![
        (0_u32..8).prop_map(Limit::Packets),
        (0_u64..6_000).prop_map(|bytes| Limit::Bytes(Bytes(bytes))),
    ];
    let bits_per_sec = prop_oneof![Just(1_000_000_u64), 300_000_u64..10_000_000];
    let seldom = prop::bool::weighted;
    (bits_per_sec, 0_u64..20_000, room, seldom(0.05), seldom(0.02)).prop_map(
        |(bits_per_sec, delay_us, room, loses, damages)| Hop {
            bits_per_sec,
            delay_us,
            room,
            loses,
            damages,
        },
    )
}

proptest! {
    #[test]
    fn nobody_can_tell_a_graph_that_looks_ahead(
        hops in prop::collection::vec(hop(), LINKS),
        packets in prop::collection::vec((0_u64..20_000, 40_u32..1_500, 0_u16..2, 5_u16..8), 1..80),
    ) {
        let mut one_by_one = chain(&hops);
        let mut looks_ahead = one_by_one.clone();
        looks_ahead.look_ahead(&ways());
        let (expected, found) = (seen(&mut one_by_one, &packets), seen(&mut looks_ahead, &packets));
        for (expected, found) in expected.iter().zip(&found) {
            prop_assert_eq!(expected, found);
        }
    }
}

/// Where ways join, packets go on when the first of them could be at the far end, and only their ends are looked at.
#[test]
fn a_packet_goes_on_from_where_ways_join_and_is_looked_at_at_its_end() {
    let ordinary = Hop {
        bits_per_sec: 1_000_000,
        delay_us: 1_000,
        room: Limit::Packets(10),
        loses: false,
        damages: false,
    };
    let mut graph = chain(&[ordinary; LINKS]);
    graph.look_ahead(&ways());
    let mut packet = packet(1, 1_000, 1);
    packet.dst = NodeId(5);
    graph.handle_packet(Time::ZERO, packet, &mut ByLink::default());
    let goes_on_at = at_us(8_000 + 1_000 + 1_000) - Span::from_nanos(1);
    assert_eq!(graph.deadline(), Some(goes_on_at));
    assert_eq!(graph.poll_delivery(goes_on_at, &mut ByLink::default()), None);
    assert_eq!(graph.deadline(), Some(at_us(4 * (8_000 + 1_000))));
}
