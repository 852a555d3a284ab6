//! Short ways to say "a packet", "a link", "run it all".
pub(crate) mod boxed;
pub(crate) mod yard;

use ackord_events::{LinkId, Sink};
use ackord_path::{Delivery, DropTail, Graph, GraphBuilder, Limit, LinkConfig, Queue, Role};
use ackord_units::{Rate, Span, Time};
use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Packet, Side};

/// A packet without a TCP segment.
pub(crate) fn packet(flow: u32, ip_len: u32, tag: u64) -> Packet {
    Packet {
        flow: FlowId(flow),
        from: Side::Client,
        src: NodeId(0),
        dst: NodeId(1),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len,
        tag,
        tcp: None,
    }
}

pub(crate) fn drop_tail(packets: u32) -> Queue {
    Queue::DropTail(DropTail::new(Limit::Packets(packets)))
}

/// A link of 1 Mbit/s (8 us a byte) and 10 ms with room for 100 packets.
pub(crate) fn link(from: u16, to: u16) -> LinkConfig {
    LinkConfig {
        from: NodeId(from),
        to: NodeId(to),
        rate: Rate::from_mbits_per_sec(1),
        delay: Span::from_millis(10),
        jitter: None,
        queue: drop_tail(100),
        outage: None,
        pace: None,
        policer: None,
        corruption: None,
        duplication: None,
        loss: None,
        medium: None,
        tap: false,
    }
}

/// A graph to be filled with links between so many nodes.
pub(crate) fn builder_with(nodes: u16) -> GraphBuilder {
    let mut builder = Graph::builder();
    for _ in 0..nodes {
        builder.add_node(Role::Router);
    }
    builder
}

/// Two nodes and one link from the first to the second.
pub(crate) fn one_link(config: LinkConfig) -> (Graph, LinkId) {
    let mut builder = builder_with(2);
    let link = builder.add_link(config);
    (builder.build().expect("a valid graph"), link)
}

/// Everything that is still under way.
pub(crate) fn deliver_all<S: Sink>(graph: &mut Graph, sink: &mut S) -> Vec<Delivery> {
    deliver_until(graph, Time::from_nanos(u64::MAX - 1), sink)
}

pub(crate) fn deliver_until<S: Sink>(graph: &mut Graph, now: Time, sink: &mut S) -> Vec<Delivery> {
    std::iter::from_fn(|| graph.poll_delivery(now, sink)).collect()
}

pub(crate) const fn at_us(micros: u64) -> Time {
    Time::from_nanos(micros * 1_000)
}
