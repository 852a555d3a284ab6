//! Policers and shapers on links: what passes is bounded by burst and rate, whatever comes.

use crate::common::{deliver_all, deliver_until, drop_tail, link, one_link, packet};
use ackord_events::{DropReason, NoSink};
use ackord_path::{LinkConfig, LinkStats, Pace, Shaper, TokenBucket};
use ackord_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

/// Packets as they come: after so many microseconds, so long.
type Coming = Vec<(u64, u32)>;

/// What has left a link: when, and how many bytes; and what it counted.
fn passed(config: LinkConfig, packets: &Coming) -> (Vec<(u64, u64)>, LinkStats) {
    let (mut graph, id) = one_link(LinkConfig { delay: Span::ZERO, ..config });
    let (mut now, mut out) = (Time::ZERO, Vec::new());
    for (tag, &(gap, ip_len)) in (0..).zip(packets) {
        now += Span::from_micros(gap);
        out.extend(deliver_until(&mut graph, now, &mut NoSink));
        graph.handle_packet(now, packet(1, ip_len, tag), &mut NoSink);
    }
    out.extend(deliver_all(&mut graph, &mut NoSink));
    graph.conservation().check().expect("accounted for");
    let octets = |d: &ackord_path::Delivery| (d.at.as_nanos(), u64::from(d.packet.ip_len));
    (out.iter().map(octets).collect(), graph.link_stats(id).clone())
}

/// A line on which a packet takes no time to speak of.
fn fast() -> LinkConfig {
    LinkConfig {
        rate: Rate::from_mbits_per_sec(1_000_000),
        queue: drop_tail(100_000),
        ..link(0, 1)
    }
}

fn policed(rate: Rate, burst: u64) -> LinkConfig {
    LinkConfig { policer: Some(TokenBucket::new(rate, Bytes(burst))), ..fast() }
}

fn shaped(rate: Rate, burst: u64) -> LinkConfig {
    let shaper = Shaper::new(TokenBucket::new(rate, Bytes(burst)), fast().rate);
    LinkConfig { pace: Some(Pace::Shaped(Box::new(shaper))), ..fast() }
}

/// In no interval more than the burst, and what the rate gives in its time, has passed: `late_ns` is how
/// much later than its tokens were taken a packet may be out.
fn holds_the_bound(out: &[(u64, u64)], rate: Rate, burst: u64, late_ns: u64) {
    for (first, &(from, _)) in out.iter().enumerate() {
        let mut octets = 0;
        for &(to, ip_len) in &out[first..] {
            octets += ip_len;
            let came = u128::from(rate.as_bits_per_sec()) * u128::from(to - from + late_ns);
            let bound = u128::from(burst) * 8_000_000_000 + came;
            assert!(u128::from(octets) * 8_000_000_000 <= bound, "{octets} in {} ns", to - from);
        }
    }
}

fn coming() -> impl Strategy<Value = Coming> {
    let gap = prop_oneof![3 => 0..200_u64, 1 => 0..50_000_u64];
    prop::collection::vec((gap, 40..=1_500_u32), 1..120)
}

proptest! {
    #[test]
    fn what_passes_is_at_most_the_burst_and_the_rate_times_the_time(
        packets in coming(),
        kbit in 1..20_000_u64,
        burst in 1_500..30_000_u64,
    ) {
        let rate = Rate::from_bits_per_sec(kbit * 1_000);
        let takes = fast().rate.time_for(Bytes(1_500)).as_nanos();
        let (out, stats) = passed(policed(rate, burst), &packets);
        holds_the_bound(&out, rate, burst, takes);
        let dropped = stats.drops.of(DropReason::Policed);
        prop_assert_eq!((dropped, dropped), (stats.drops.total(), (packets.len() - out.len()) as u64));
        let (out, stats) = passed(shaped(rate, burst), &packets);
        holds_the_bound(&out, rate, burst, takes);
        prop_assert_eq!((stats.drops.total(), out.len()), (0, packets.len()), "a shaper drops nothing");
        prop_assert_eq!(&passed(shaped(rate, burst), &packets).0, &out, "always the same");
    }
}

#[test]
fn a_policer_passes_the_burst_at_line_rate_and_drops_the_rest_without_delay() {
    // 8 Mbit/s: 1000 bytes a millisecond. Twice as many come, for 100 ms, then nothing for a while.
    let packets: Coming = vec![(500, 1_000); 200];
    let (out, stats) = passed(policed(Rate::from_mbits_per_sec(8), 20_000), &packets);
    // The first at 0.5 ms, the last at 100 ms: 20 of the burst, and one for each of 99.5 ms.
    assert_eq!((out.len() as u64, stats.drops.of(DropReason::Policed)), (119, 81));
    let on_time = |(at, _): &(u64, u64)| at % 500_000 < 10;
    assert!(out.iter().all(on_time), "nothing waits");
    // No two in a row are lost: the bucket is full enough for every other one.
    assert!(out.windows(2).all(|pair| pair[1].0 - pair[0].0 < 1_000_010));
}

#[test]
fn a_shaper_lets_the_burst_go_at_line_rate_and_then_keeps_exactly_to_its_rate() {
    let packets: Coming = vec![(0, 1_000); 50];
    let line = Rate::from_mbits_per_sec(80);
    let bucket = TokenBucket::new(Rate::from_mbits_per_sec(8), Bytes(10_000));
    let pace = Some(Pace::Shaped(Box::new(Shaper::new(bucket, line))));
    let (out, stats) = passed(LinkConfig { pace, rate: line, ..fast() }, &packets);
    // 0.1 ms each; after 1 ms the bucket has 1000 bytes of what has come meanwhile, and so on: the first
    // to wait is number 12, at 2 ms.
    let at: Vec<u64> = out.iter().map(|(at, _)| at / 1_000).collect();
    assert_eq!(at[..11], [100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000, 1_100]);
    assert_eq!(at[11..15], [2_100, 3_100, 4_100, 5_100]);
    assert_eq!(at[49], 2_100 + 38 * 1_000);
    assert_eq!(stats.busy_for, Span::from_micros(at[49]), "held back is busy");
}
