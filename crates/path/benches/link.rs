//! What a packet costs on one link, by how many are on it and whether they may overtake one another.
//!
//! As many packets as `under way` says circulate: each arrival sends the next one. `hop` does the same on
//! a chain and counts instructions. `cargo bench -p ackord-path --bench link`; time per packet.

use ackord_events::NoSink;
use ackord_path::{
    DelayDistribution, DelayShape, DropTail, Graph, Jitter, JitterConfig, Limit, LinkConfig,
    PacketOrder, Queue, Redraw, Role,
};
use ackord_units::{RandomStream, Rate, Span, Time};
use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Packet, Segment, Side};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const DELAY: Span = Span::from_millis(5);

/// A delay of its own for every packet.
fn jitter(order: PacketOrder) -> Jitter {
    let deviation = Span::from_millis(1);
    let distribution =
        DelayDistribution { shape: DelayShape::Normal, mean: DELAY, deviation, floor: Span::ZERO };
    let config = JitterConfig { distribution, when: Redraw::PerPacket, order };
    Jitter::new(config, RandomStream::for_element(1, "bench"))
}

fn link(jitter: Option<Jitter>) -> Graph {
    let mut builder = Graph::builder();
    builder.add_node(Role::Host);
    builder.add_node(Role::Host);
    builder.add_link(LinkConfig {
        from: NodeId(0),
        to: NodeId(1),
        rate: Rate::from_mbits_per_sec(1_000),
        delay: DELAY,
        queue: Queue::DropTail(DropTail::new(Limit::Packets(100_000))),
        jitter,
        outage: None,
        pace: None,
        policer: None,
        corruption: None,
        duplication: None,
        loss: None,
        medium: None,
        tap: false,
    });
    builder.build().expect("a valid link")
}

fn packet(flow: u32) -> Packet {
    Packet {
        flow: FlowId(flow),
        from: Side::Client,
        src: NodeId(0),
        dst: NodeId(1),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 1_500,
        tag: 0,
        tcp: Some(Segment { payload_len: 1_460, ..Segment::default() }),
    }
}

/// The next packet arrives, and another takes its place.
fn step(graph: &mut Graph) {
    loop {
        let now = graph.deadline().expect("packets circulate");
        if let Some(delivery) = graph.poll_delivery(now, &mut NoSink) {
            graph.handle_packet(now, delivery.packet, &mut NoSink);
            return;
        }
    }
}

fn links(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("link");
    group.throughput(Throughput::Elements(1));
    // Of 417 packets that fit into the delay: fewer, and a queue besides.
    for under_way in [10, 1_000] {
        let cases = [
            ("fixed delay", None),
            ("jitter, in order", Some(jitter(PacketOrder::Kept))),
            ("jitter, overtaking", Some(jitter(PacketOrder::Free))),
        ];
        for (name, jitter) in cases {
            let mut graph = link(jitter);
            for flow in 0..under_way {
                graph.handle_packet(Time::ZERO, packet(flow), &mut NoSink);
            }
            group.bench_function(BenchmarkId::new(name, under_way), |bencher| {
                bencher.iter(|| step(&mut graph));
            });
            graph.conservation().check().expect("packets circulate");
        }
    }
    group.finish();
}

criterion_group!(benches, links);
criterion_main!(benches);
