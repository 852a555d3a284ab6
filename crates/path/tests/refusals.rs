//! What a middlebox is told of the queue that its packets meet: of the packet that came, not of
//! the one that made room for it.

use crate::common::boxed::data_of;
use crate::common::yard::registered;
use crate::common::{at_us, deliver_all, link};
use ackord_events::{Event, LinkId, NoSink, ProxyId, Sink, TapPoint};
use ackord_path::proxy::{Heading, InPath, Middlebox, Outbox, Verdict};
use ackord_path::registry::{ProxyChoice, QueueChoice};
use ackord_path::{Graph, Lifetime, Proxy, ProxyConfig, ProxyStats, Queue, Role};
use ackord_units::{Bytes, Choice, KnobValue, RandomStream, Rate, Time};
use ackord_wire::{NodeId, Packet};
use std::sync::{Arc, Mutex};

/// The queues that may drop a waiting packet to take one that comes.
const PUSH_OUT: [(&str, &[(&str, &str)]); 6] = [
    ("drr", &[("push_out", "head")]),
    ("drr", &[("push_out", "tail")]),
    ("sfq", &[("push_out", "head"), ("bucket_by", "flow")]),
    ("sfq", &[("push_out", "tail"), ("bucket_by", "flow")]),
    ("fq-codel", &[("bucket_by", "flow")]),
    ("selective-drop", &[]),
];

/// A queue for five packets.
fn of_five(name: &str, words: &[(&str, &'static str)]) -> Queue {
    let mut knobs = vec![("limit", KnobValue::Packets(5))];
    knobs.extend(words.iter().map(|&(knob, word)| (knob, KnobValue::Choice(word))));
    registered(name, &knobs)
}

/// fixed 0 -- router 1 -- mobile 2, with this box at the router and this queue before the slow link
/// to the mobile host.
fn graph(proxy: Proxy, queue: Queue) -> Graph {
    let mut slow = link(1, 2);
    (slow.queue, slow.tap) = (queue, true);
    slow.rate = Rate::from_bits_per_sec(100_000);
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
        proxy,
        lifetime: Lifetime::default(),
    });
    builder.build().expect("a valid graph")
}

/// Passes everything on, and remembers the tags of what was refused.
#[derive(Clone, Debug, Default)]
struct Told(ProxyStats, Arc<Mutex<Vec<u64>>>);

impl Middlebox for Told {
    fn deadline(&self) -> Option<Time> {
        None
    }

    fn handle_deadline(&mut self, _: Time, _: &mut Outbox) {}

    fn stats(&self) -> &ProxyStats {
        &self.0
    }

    fn handle_refused(&mut self, _: Time, packet: &Packet) {
        self.1.lock().expect("one thread").push(packet.tag);
    }
}

impl InPath for Told {
    fn handle(&mut self, _: Time, _: &Packet, _: Heading, _: &mut Outbox) -> Verdict {
        Verdict::Forward
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}

/// The tags of packets that died at the instant at which they came to the link.
#[derive(Default)]
struct DeadOnArrival {
    came: Option<(Time, u64)>,
    tags: Vec<u64>,
    others: u64,
}

impl Sink for DeadOnArrival {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::PacketTapped { tap: TapPoint::LinkIn(LinkId(2)), packet } => {
                self.came = Some((at, packet.tag));
            }
            Event::PacketDropped { packet, .. } if self.came == Some((at, packet.tag)) => {
                self.tags.push(packet.tag);
            }
            Event::PacketDropped { .. } => self.others += 1,
            _ => {}
        }
    }
}

#[test]
fn a_box_is_told_of_the_packets_that_are_refused_and_of_no_others() {
    let named = QueueChoice::MECHANISMS.iter().map(|queue| (queue.name, &[][..]));
    for (name, words) in PUSH_OUT.into_iter().chain(named) {
        let told = Told::default();
        let mut graph = graph(Proxy::InPath(Box::new(told.clone())), of_five(name, words));
        let mut sink = DeadOnArrival::default();
        let mut draws = RandomStream::for_element(1, name);
        for n in 0..400_u64 {
            // One flow has most of the packets, three others the rest.
            let flow = if draws.below(2) == 0 { 0 } else { draws.below(4) };
            let packet = data_of(flow, n as u32 * 1_000, 1_000);
            let at = at_us(n * 40_000 + u64::from(draws.below(20_000)));
            graph.handle_packet(at, Packet { tag: n, ..packet }, &mut sink);
        }
        deliver_all(&mut graph, &mut sink);
        let told = told.1.lock().expect("one thread").clone();
        assert_eq!(told, sink.tags, "{name} {words:?}");
        assert!(!told.is_empty() || sink.others > 0, "{name}: it was overloaded");
        graph.conservation().check().expect("every packet is somewhere");
    }
}

#[test]
fn what_a_queue_took_at_another_s_cost_stays_in_the_cache() {
    for (name, words) in PUSH_OUT {
        for kind in ["snoop", "m-tcp"] {
            let proxy = ProxyChoice::named(kind).expect("listed").config().build();
            let mut graph = graph(proxy, of_five(name, words));
            // The first six of one flow: one is being transmitted, five wait. Then one of another.
            for (flow, seq) in (0..6).map(|n| (0, n * 1_000)).chain([(1, 0)]) {
                let packet = data_of(flow, seq, 1_000);
                graph.handle_packet(Time::ZERO, packet, &mut NoSink);
            }
            let all_there = at_us(70_000 + 10_000);
            while graph.poll_delivery(all_there, &mut NoSink).is_some() {}
            let drops = graph.link_stats(LinkId(2)).drops.total();
            assert!(drops > 0, "{name} {words:?}: somebody made room");
            let cached = graph.proxy_stats(ProxyId(0)).cached;
            assert_eq!(cached, Bytes(7_000), "{kind} before {name} {words:?}: all it passed on");
        }
    }
}
