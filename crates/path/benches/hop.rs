//! What a hop costs: packets circulate through a chain of three links, a slow one in the middle.
//!
//! `cargo bench -p ackord-path --bench hop` prints nanoseconds of CPU per hop; under
//! `valgrind --tool=callgrind` give a number of deliveries as the argument to count instructions.
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock")]

use ackord_events::NoSink;
use ackord_path::{DropTail, Graph, Limit, LinkConfig, Queue, Role};
use ackord_units::{Rate, Span, Time};
use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Packet, Segment, Side};
use std::time::Instant;

const LINKS: u16 = 3;

fn chain() -> Graph {
    let mut builder = Graph::builder();
    builder.add_node(Role::Router);
    for n in 0..LINKS {
        builder.add_node(Role::Router);
        let mbits = if n == 1 { 10 } else { 100 };
        builder.add_link(LinkConfig {
            from: NodeId(n),
            to: NodeId(n + 1),
            rate: Rate::from_mbits_per_sec(mbits),
            delay: Span::from_millis(5),
            queue: Queue::DropTail(DropTail::new(Limit::Packets(1_000))),
            jitter: None,
            outage: None,
            pace: None,
            policer: None,
            corruption: None,
            duplication: None,
            loss: None,
            medium: None,
            tap: false,
        });
    }
    builder.build().expect("a valid chain")
}

/// Delivers so many packets; each delivery sends the next packet of its flow.
fn circulate(flows: u32, window: u32, deliveries: u64) -> u64 {
    let mut graph = chain();
    let mut sink = NoSink;
    let packet = |flow| Packet {
        flow: FlowId(flow),
        from: Side::Client,
        src: NodeId(0),
        dst: NodeId(LINKS),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len: 1_500,
        tag: 0,
        tcp: Some(Segment { payload_len: 1_460, ..Segment::default() }),
    };
    for flow in 0..flows {
        for _ in 0..window {
            graph.handle_packet(Time::ZERO, packet(flow), &mut sink);
        }
    }
    let mut delivered = 0;
    while delivered < deliveries {
        let now = graph.deadline().expect("packets circulate");
        while let Some(delivery) = graph.poll_delivery(now, &mut sink) {
            delivered += 1;
            graph.handle_packet(now, delivery.packet, &mut sink);
        }
    }
    graph.conservation().check().expect("packets circulate");
    delivered
}

fn main() {
    let counted = std::env::args().skip(1).find_map(|argument| argument.parse::<u64>().ok());
    if let Some(deliveries) = counted {
        println!("{} deliveries over {LINKS} links", circulate(10, 10, deliveries));
        return;
    }
    println!("{:>6} {:>8} {:>10}", "flows", "window", "ns/hop");
    for (flows, window) in [(1, 1), (1, 20), (10, 10), (100, 8)] {
        let best = (0..5)
            .map(|_| {
                let start = Instant::now();
                let delivered = circulate(flows, window, 1_000_000);
                start.elapsed().as_secs_f64() * 1e9 / (delivered * u64::from(LINKS)) as f64
            })
            .fold(f64::INFINITY, f64::min);
        println!("{flows:>6} {window:>8} {best:>10.1}");
    }
}
