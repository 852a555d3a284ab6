//! Middleboxes in a graph: what they see, what they may do, and that they can die at any moment.

use crate::common::{at_us, deliver_all, deliver_until, link, packet};
use ackord_events::{LinkId, NoSink, ProxyId, ProxySending};
use ackord_path::proxy::{Heading, InPath, Middlebox, OnPath, Outbox, Verdict};
use ackord_path::{Graph, Lifetime, Proxy, ProxyConfig, ProxyStats, Role};
use ackord_units::{Span, Time};
use ackord_wire::{NodeId, Packet};

/// Counts what it sees; sends a copy of every packet it sees, and one more a second later.
#[derive(Clone, Debug, Default)]
struct Echo {
    stats: ProxyStats,
    headings: Vec<Heading>,
    later: Option<(Time, Packet)>,
}

impl Middlebox for Echo {
    fn deadline(&self) -> Option<Time> {
        self.later.map(|(at, _)| at)
    }

    fn handle_deadline(&mut self, _now: Time, out: &mut Outbox) {
        if let Some((_, packet)) = self.later.take() {
            out.send(Packet { tag: packet.tag + 200, ..packet }, ProxySending::Probe);
        }
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl OnPath for Echo {
    fn observe(&mut self, now: Time, packet: &Packet, heading: Heading, out: &mut Outbox) {
        self.stats.seen += 1;
        self.headings.push(heading);
        self.later = Some((now + Span::from_secs(1), *packet));
        out.send(Packet { tag: packet.tag + 100, ..*packet }, ProxySending::Retransmission);
    }

    fn boxed_clone(&self) -> Box<dyn OnPath> {
        Box::new(self.clone())
    }
}

/// Absorbs odd tags, halves the length of those divisible by four, and lets an absorbed packet go
/// when its time has come.
#[derive(Clone, Debug, Default)]
struct Sieve {
    stats: ProxyStats,
    held: Option<(Time, Packet)>,
}

impl Middlebox for Sieve {
    fn deadline(&self) -> Option<Time> {
        self.held.map(|(at, _)| at)
    }

    fn handle_deadline(&mut self, _now: Time, out: &mut Outbox) {
        if let Some((_, packet)) = self.held.take() {
            out.release(packet);
        }
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl InPath for Sieve {
    fn handle(&mut self, now: Time, packet: &Packet, _: Heading, _: &mut Outbox) -> Verdict {
        self.stats.seen += 1;
        if packet.tag % 2 == 1 {
            self.held = Some((now + Span::from_millis(100), *packet));
            return Verdict::Absorb;
        }
        if packet.tag.is_multiple_of(4) {
            return Verdict::Rewrite(Packet { ip_len: packet.ip_len / 2, ..*packet });
        }
        Verdict::Forward
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}

/// fixed 0 -- router 1 -- mobile 2, both ways; the box at the router.
fn graph(proxy: Proxy, lifetime: Lifetime) -> Graph {
    let mut builder = Graph::builder();
    builder.add_node(Role::Host);
    builder.add_node(Role::Router);
    builder.add_node(Role::Host);
    for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
        builder.add_link(link(from, to));
    }
    builder.add_proxy(ProxyConfig {
        at: NodeId(1),
        to_mobile: LinkId(2),
        from_mobile: LinkId(3),
        proxy,
        lifetime,
    });
    builder.build().expect("a valid graph")
}

fn to_mobile(tag: u64) -> Packet {
    Packet { src: NodeId(0), dst: NodeId(2), ..packet(0, 1_000, tag) }
}

fn tags(graph: &mut Graph, until: Time) -> Vec<u64> {
    deliver_until(graph, until, &mut NoSink).iter().map(|there| there.packet.tag).collect()
}

#[test]
fn a_box_beside_the_path_adds_packets_and_takes_none() {
    let mut graph = graph(Proxy::OnPath(Box::new(Echo::default())), Lifetime::default());
    for tag in 1..=3 {
        graph.handle_packet(Time::ZERO, to_mobile(tag), &mut NoSink);
    }
    let back = Packet { src: NodeId(2), dst: NodeId(0), ..packet(0, 1_000, 4) };
    graph.handle_packet(Time::ZERO, back, &mut NoSink);
    let mut there: Vec<_> =
        deliver_all(&mut graph, &mut NoSink).iter().map(|there| there.packet.tag).collect();
    there.sort_unstable();
    // Each with its copy; the last packet that was seen once more, a second later.
    assert_eq!(there, [1, 2, 3, 4, 101, 102, 103, 104, 203]);
    assert_eq!(graph.proxy_stats(ProxyId(0)).seen, 4);
    let all = graph.conservation();
    assert_eq!((all.injected, all.made, all.absorbed), (4, 5, 0));
    all.check().expect("every packet is somewhere");
}

#[test]
fn a_box_in_the_path_absorbs_rewrites_and_releases() {
    let mut graph = graph(Proxy::InPath(Box::new(Sieve::default())), Lifetime::default());
    for tag in [1, 2, 4] {
        graph.handle_packet(Time::ZERO, to_mobile(tag), &mut NoSink);
    }
    let there: Vec<_> = deliver_all(&mut graph, &mut NoSink)
        .iter()
        .map(|there| (there.packet.tag, there.packet.ip_len))
        .collect();
    assert_eq!(there, [(2, 1_000), (4, 500), (1, 1_000)]);
    let all = graph.conservation();
    assert_eq!((all.made, all.absorbed), (1, 1));
    all.check().expect("every packet is somewhere");
}

/// Sends a packet ahead of the queue when it sees one with tag 9.
#[derive(Clone, Debug, Default)]
struct Urgent(ProxyStats);

impl Middlebox for Urgent {
    fn deadline(&self) -> Option<Time> {
        None
    }

    fn handle_deadline(&mut self, _: Time, _: &mut Outbox) {}

    fn stats(&self) -> &ProxyStats {
        &self.0
    }

    fn handle_refused(&mut self, _: Time, packet: &Packet) {
        self.0.seen += packet.tag;
    }
}

impl InPath for Urgent {
    fn handle(&mut self, _: Time, packet: &Packet, _: Heading, out: &mut Outbox) -> Verdict {
        if packet.tag == 9 {
            out.send_first(Packet { tag: 100, ..*packet }, ProxySending::Retransmission);
        }
        Verdict::Forward
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}

#[test]
fn a_retransmission_may_go_ahead_of_the_queue_and_what_the_queue_refuses_is_told() {
    let mut slow = link(1, 2);
    slow.queue = crate::common::drop_tail(5);
    slow.rate = ackord_units::Rate::from_bits_per_sec(100_000);
    let mut builder = Graph::builder();
    for role in [Role::Host, Role::Router, Role::Host] {
        builder.add_node(role);
    }
    for config in [link(0, 1), link(1, 0), slow, link(2, 1)] {
        builder.add_link(config);
    }
    builder.add_proxy(ProxyConfig {
        at: NodeId(1),
        to_mobile: LinkId(2),
        from_mobile: LinkId(3),
        proxy: Proxy::InPath(Box::new(Urgent::default())),
        lifetime: Lifetime::default(),
    });
    let mut graph = builder.build().expect("a valid graph");
    for tag in [1, 2, 3, 9, 4, 5, 6, 7] {
        graph.handle_packet(Time::ZERO, to_mobile(tag), &mut NoSink);
    }
    // One is being transmitted, five wait, and so does the one that goes before them.
    let there = tags(&mut graph, at_us(5_000_000));
    assert_eq!(there, [1, 100, 2, 3, 9, 4, 5]);
    assert_eq!(graph.proxy_stats(ProxyId(0)).seen, 6 + 7, "the tags of those refused");
    graph.conservation().check().expect("every packet is somewhere");
}

#[test]
fn what_a_box_held_dies_with_it_and_the_packets_after_it_pass() {
    let dies = Lifetime { dies: Some(at_us(50_000)), restarts: Some(at_us(500_000)) };
    let mut graph = graph(Proxy::InPath(Box::new(Sieve::default())), dies);
    // Held at 18 ms until 118 ms: the box is dead by then.
    graph.handle_packet(Time::ZERO, to_mobile(1), &mut NoSink);
    graph.handle_packet(at_us(60_000), to_mobile(3), &mut NoSink);
    assert_eq!(tags(&mut graph, at_us(400_000)), [3], "dead boxes let pass");
    assert_eq!(graph.proxy_stats(ProxyId(0)).seen, 1, "the last words stay");
    graph.handle_packet(at_us(600_000), to_mobile(5), &mut NoSink);
    assert_eq!(tags(&mut graph, at_us(700_000)), [0_u64; 0], "a new one holds again");
    assert_eq!(tags(&mut graph, at_us(900_000)), [5]);
    graph.conservation().check().expect("every packet is somewhere");
}

#[test]
fn a_box_killed_at_any_moment_leaves_every_packet_accounted_for() {
    for kill in (0..2_000_000).step_by(7_919) {
        let dies = Lifetime { dies: Some(at_us(kill)), restarts: None };
        for proxy in
            [Proxy::InPath(Box::new(Sieve::default())), Proxy::OnPath(Box::new(Echo::default()))]
        {
            let mut graph = graph(proxy, dies);
            for tag in 0..20 {
                graph.handle_packet(at_us(tag * 90_000), to_mobile(tag), &mut NoSink);
            }
            let all = deliver_all(&mut graph, &mut NoSink).len() as u64;
            let found = graph.conservation();
            found.check().expect("every packet is somewhere");
            assert_eq!(all, found.injected + found.made - found.absorbed);
        }
    }
}

#[test]
fn two_boxes_on_one_link_are_refused_and_so_is_one_elsewhere() {
    let place = |at, to_mobile| ProxyConfig {
        at: NodeId(at),
        to_mobile: LinkId(to_mobile),
        from_mobile: LinkId(3),
        proxy: Proxy::OnPath(Box::new(Echo::default())),
        lifetime: Lifetime::default(),
    };
    for boxes in [vec![place(1, 2), place(1, 2)], vec![place(0, 2)], vec![place(1, 9)]] {
        let mut builder = Graph::builder();
        for _ in 0..3 {
            builder.add_node(Role::Router);
        }
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1)] {
            builder.add_link(link(from, to));
        }
        for place in boxes {
            builder.add_proxy(place);
        }
        assert!(builder.build().is_err());
    }
}
