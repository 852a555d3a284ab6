//! What the bytes of a packet cost: written, read with their checksums, written into a capture.
//!
//! `cargo bench -p ackord-wire --bench codec`; time per packet.

use ackord_units::Seq;
use ackord_units::Time;
use ackord_wire::{
    Flags, FlowAddresses, FlowId, FlowNodes, IpFields, IpVersion, NodeId, Options, PacketRecord,
    Payload, PcapngWriter, SackBlock, Segment, Side, Timestamps, decode, encode,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io;

/// A full data segment with timestamps.
fn data() -> Segment {
    Segment {
        seq: Seq(1_000_000),
        ack: Seq(5_000),
        flags: Flags::ACK,
        window: 500,
        payload_len: 1_448,
        options: Options {
            timestamps: Some(Timestamps { value: 17, echo: 4 }),
            ..Options::default()
        },
    }
}

/// An acknowledgment with three SACK blocks.
fn acknowledgment() -> Segment {
    let mut segment = Segment { payload_len: 0, ..data() };
    for block in 0..3_u32 {
        let start = Seq(2_000_000 + 10_000 * block);
        segment.options.sack.push(SackBlock { start, end: Seq(start.0 + 1_448) });
    }
    segment
}

fn codec(criterion: &mut Criterion) {
    let nodes = FlowNodes { client: NodeId(1), server: NodeId(2) };
    let addresses = FlowAddresses::of(FlowId(3), nodes, IpVersion::V4);
    let endpoints = addresses.endpoints(Side::Client);
    let real = vec![0x5a; 1_448];
    let cases = [
        ("data, 1448 zeros", data(), Payload::Zeros(1_448)),
        ("data, 1448 bytes", data(), Payload::Bytes(&real)),
        ("acknowledgment, 3 blocks", acknowledgment(), Payload::Zeros(0)),
    ];
    let mut group = criterion.benchmark_group("codec");
    group.throughput(Throughput::Elements(1));
    for (name, segment, payload) in &cases {
        let mut bytes = Vec::new();
        encode(endpoints, IpFields::default(), segment, *payload, &mut bytes)
            .expect("a sound segment");
        group.bench_function(format!("encode/{name}"), |bencher| {
            let mut out = Vec::with_capacity(2_048);
            bencher.iter(|| {
                out.clear();
                let segment = black_box(segment);
                encode(endpoints, IpFields::default(), segment, *payload, &mut out)
            });
        });
        group.bench_function(format!("decode/{name}"), |bencher| {
            bencher.iter(|| decode(black_box(&bytes)));
        });
        let mut capture = PcapngWriter::new(io::sink(), "bench").expect("a sink takes everything");
        let interface = capture.add_interface("link", "").expect("a sink takes everything");
        group.bench_function(format!("pcapng/{name}"), |bencher| {
            bencher.iter(|| {
                let original_len = bytes.len() as u32;
                let (at, comment) = (Time::ZERO, None);
                capture.write_packet(&PacketRecord {
                    interface,
                    at,
                    bytes: &bytes,
                    original_len,
                    comment,
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
