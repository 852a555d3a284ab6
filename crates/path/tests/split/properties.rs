//! What holds whatever the wireless link does and whatever packets come.

use super::bench::{Bench, Who, config, ms};
use super::both_hops;
use ackord_path::proxy::{Heading, InPath, Middlebox, Outbox, Split, SplitConfig, Verdict};
use ackord_units::{Bytes, Seq, Span};
use ackord_wire::{
    Ecn, Flags, FlowId, IpVersion, NodeId, Options, Packet, SackBlock, Segment, Side, Timestamps,
};
use proptest::prelude::*;

/// A wireless link that loses, repeats and overtakes, by a sequence that a seed begins.
fn rough(seed: u64, loss_percent: u64) -> super::bench::Fate {
    let mut state = seed;
    let mut draw = move |below: u64| {
        // Steele, Lea and Flood 2014: SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    };
    Box::new(move |_, _| {
        if draw(100) < loss_percent {
            return Vec::new();
        }
        let copies = if draw(100) < 3 { 2 } else { 1 };
        let late = |draw: &mut dyn FnMut(u64) -> u64| match draw(10) {
            0 => Span::from_micros(draw(40_000)),
            _ => Span::ZERO,
        };
        (0..copies).map(|_| late(&mut draw)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_octet_arrives_once_and_in_order_over_a_rough_link(
        seed: u64,
        loss_percent in 0_u64..15,
        bounded: bool,
        hop in 0_usize..2,
        opener in prop_oneof![Just(Who::Fixed), Just(Who::Mobile)],
        down in 1_u64..150_000,
        up in 1_u64..60_000,
    ) {
        let buffer = bounded.then_some(Bytes(20_000));
        let config = SplitConfig { hop: both_hops()[hop], buffer, ..config() };
        let mut bench = Bench::new(config, opener, (down, up));
        bench.fate = rough(seed, loss_percent);
        bench.run_until(ms(3_000_000));
        // Receivers count bytes in order of sequence: neither more nor fewer may come.
        prop_assert_eq!(bench.host(Who::Mobile).received, down);
        prop_assert_eq!(bench.host(Who::Fixed).received, up);
        if bounded {
            prop_assert!(bench.most_held <= Bytes(2 * 20_000));
        }
        let left = *bench.split.as_ref().expect("the box is there").stats();
        prop_assert_eq!((left.flows, left.cached), (0, Bytes::ZERO));
        prop_assert_eq!((left.acknowledged_early, left.acknowledged_lost), (Bytes(0), Bytes(0)));
    }
}

fn any_segment() -> impl Strategy<Value = Segment> {
    let seq = prop_oneof![any::<u32>(), 0_u32..4_000, Just(u32::MAX)];
    let options = (
        proptest::option::of(any::<u16>()),
        proptest::option::of(any::<u8>()),
        any::<bool>(),
        proptest::option::of((any::<u32>(), any::<u32>())),
        proptest::collection::vec((any::<u32>(), any::<u32>()), 0..3),
    );
    (seq.clone(), seq, any::<u8>(), any::<u16>(), 0_u32..1_500, options).prop_map(
        |(
            seq,
            ack,
            flags,
            window,
            payload_len,
            (mss, window_scale, sack_permitted, stamps, sack),
        )| {
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let mut options =
                Options { mss, window_scale, sack_permitted, timestamps, ..Options::default() };
            for (start, end) in sack {
                options.sack.push(SackBlock { start: Seq(start), end: Seq(end) });
            }
            Segment {
                seq: Seq(seq),
                ack: Seq(ack),
                flags: Flags::from_bits(flags),
                window,
                payload_len,
                options,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_packets_make_it_panic_send_without_end_or_lose_count(
        hop in 0_usize..2,
        packets in proptest::collection::vec(
            (any_segment(), 0_u32..4, any::<bool>(), any::<bool>(), 0_u64..3_000),
            1..60,
        ),
    ) {
        let config = SplitConfig {
            hop: both_hops()[hop],
            buffer: Some(Bytes(8_000)),
            flows: 2,
            ..config()
        };
        let mut split = Split::new(config);
        let mut now = ms(0);
        let (mut absorbed, mut sent) = (0, 0);
        let mut out = Outbox::default();
        for (tag, (segment, flow, opener, back, wait)) in packets.into_iter().enumerate() {
            now += Span::from_millis(wait);
            while split.deadline().is_some_and(|at| at <= now) {
                split.handle_deadline(now, &mut out);
            }
            let (src, dst) = if back { (NodeId(2), NodeId(0)) } else { (NodeId(0), NodeId(2)) };
            let packet = Packet {
                flow: FlowId(flow),
                from: if opener { Side::Client } else { Side::Server },
                src,
                dst,
                ip: IpVersion::V4,
                ecn: Ecn::NotEct,
                ip_len: 20 + segment.header_len() + segment.payload_len,
                tag: tag as u64,
                tcp: Some(segment),
            };
            let heading = if back { Heading::Fixed } else { Heading::Mobile };
            if split.handle(now, &packet, heading, &mut out) == Verdict::Absorb {
                absorbed += 1;
            }
            sent += out.packets().count();
            out.clear();
            prop_assert!(split.deadline().is_none_or(|at| at >= now));
        }
        let stats = *split.stats();
        prop_assert_eq!(stats.absorbed, absorbed);
        // Two connections, both ways.
        prop_assert!(stats.peak_flows <= 2 && stats.peak_cached <= Bytes(4 * 8_000));
        prop_assert!(sent < 10_000);
    }
}
