//! What is made of stamps, on stamps that are known.

use super::load::Got;
use super::*;

fn at_intervals(count: u64, every_nanos: u64) -> Vec<Got> {
    (0..count)
        .map(|number| Got { number, at_nanos: 1_000_000_000 + number * every_nanos })
        .collect()
}

#[test]
fn a_rate_is_counted_without_the_packet_that_begins_it() {
    // 1500 bytes every 12 ms are 1 Mbit/s, to the bit.
    let got = at_intervals(1_000, 12_000_000);
    assert_eq!(rate_of(&got, 1_500, Span::from_secs(5)), Rate::from_mbits_per_sec(1));
    assert_eq!(rate_of(&got[..1], 1_500, Span::from_secs(5)), Rate::default());
    assert_eq!(rate_of(&[], 1_500, Span::from_secs(5)), Rate::default());
    // The start does not count: a link that was slower in the first fifth shows at its rate.
    let mut late = got.clone();
    late[1..].iter_mut().for_each(|got| got.at_nanos += 500_000_000);
    assert_eq!(rate_of(&late, 1_500, Span::from_secs(5)), Rate::from_mbits_per_sec(1));
}

#[test]
fn a_streams_rate_is_that_of_its_packets() {
    // 1448 bytes of 1500 are payload; one segment every 12 ms.
    let points = (0..1_000u64).map(|n| (n * 12_000_000, (n + 1) * 1_448)).collect();
    let stream = ReceivedStream { points, damaged: 0, mss: 1_448 };
    let rate = rate_of_points(&stream, Span::from_secs(12)).as_bits_per_sec();
    assert!(rate.abs_diff(1_000_000) < 2, "{rate}");
}

#[test]
fn paces_are_the_shares_of_the_rate_that_they_say() {
    for mbits in [1, 100, 700] {
        let rate = Rate::from_mbits_per_sec(mbits);
        for (numerator, denominator) in [(4, 5), (11, 10)] {
            let pace = full_pace(rate, numerator, denominator);
            let bytes = Bytes(u64::from(pace.burst) * u64::from(MTU));
            let offered = bytes.over(pace.every).as_bits_per_sec();
            let asked = rate.as_bits_per_sec() * numerator / denominator;
            assert!(offered.abs_diff(asked) * 1_000 < asked, "{offered} for {asked}");
        }
        // An idle link is idle: its probes take less than a fifth of it.
        let probe = Bytes(SMALL as u64 + u64::from(HEADERS));
        assert!(probe.over(idle_pace().every).as_bits_per_sec() * 5 < rate.as_bits_per_sec());
    }
}

#[test]
fn disorder_is_seen() {
    let got = |numbers: &[u64]| Received {
        datagrams: numbers.iter().map(|&number| Got { number, at_nanos: 0 }).collect(),
        damaged: 0,
    };
    assert_eq!(disordered(&got(&[0, 1, 5, 6])), 0);
    assert_eq!(disordered(&got(&[0, 2, 1, 3, 3])), 2);
}
