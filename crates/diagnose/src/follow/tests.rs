//! Totals only grow, have every second once, and take no more memory than allowed.

use super::*;
use crate::{CaptureRead, Diagnoser, Sacks};
use proptest::collection::vec;
use proptest::prelude::*;

const HERE: [u8; 4] = [10, 0, 0, 1];
const THERE: [u8; 4] = [10, 0, 0, 2];
const MSS: u32 = 1448;

/// A packet of the connection from this port here to port 80 there, at this millisecond.
fn packet(millis: u64, port: u16, sent: bool, (seq, ack): (u32, u32), len: u32) -> Seen {
    let (here, there) = (Address::v4(HERE, port), Address::v4(THERE, 80));
    let (src, dst) = if sent { (here, there) } else { (there, here) };
    Seen {
        frame: millis,
        at: at(millis),
        file: 0,
        interface: 0,
        src,
        dst,
        seq,
        ack,
        window: 60_000,
        flags: Flags::ACK,
        payload_len: len,
        ip_len: len + 40,
        ip_id: 0,
        ttl: 64,
        ecn: 0,
        mss: None,
        wscale: None,
        sack_permitted: false,
        timestamps: None,
        sacks: Sacks::default(),
        options_cut: false,
        hop: 0,
        radio: None,
    }
}

fn at(millis: u64) -> Time {
    Time::from_nanos(1_700_000_000_000_000_000 + millis * 1_000_000)
}

/// The handshake from here, with a round trip of 20 ms.
fn handshake(millis: u64, port: u16) -> [Seen; 3] {
    let syn = packet(millis, port, true, (0, 0), 0);
    let syn = Seen { flags: Flags::SYN, mss: Some(1460), wscale: Some(0), ..syn };
    let answer = packet(millis + 20, port, false, (0, 1), 0);
    let flags = Flags::SYN | Flags::ACK;
    let answer = Seen { flags, mss: Some(1460), wscale: Some(0), ..answer };
    [syn, answer, packet(millis + 20, port, true, (1, 1), 0)]
}

fn follower(most: usize) -> Follower {
    let mut follower = Follower::new(most);
    follower.set_local([IpAddr::from(HERE)]);
    follower
}

fn all_seconds(totals: &Totals) -> f64 {
    totals.seconds.values().sum()
}

fn all_retransmitted(totals: &Totals, way: Way) -> Retransmitted {
    let of_way = totals.retransmitted.values().filter_map(|ways| ways.get(&way));
    of_way.fold(Retransmitted::default(), |sum, one| Retransmitted {
        segments: sum.segments + one.segments,
        bytes: sum.bytes + one.bytes,
    })
}

/// No counter of `after` is below that of `before`.
fn assert_grown(before: &Totals, after: &Totals) {
    for (cause, seconds) in &before.seconds {
        assert!(after.seconds[cause] >= *seconds, "{cause:?}");
    }
    for (cause, ways) in &before.retransmitted {
        for (way, sum) in ways {
            let later = after.retransmitted[cause][way];
            assert!(later.segments >= sum.segments && later.bytes >= sum.bytes, "{cause:?}");
        }
    }
    for (way, zero) in &before.zero_windows {
        let later = after.zero_windows[way];
        assert!(later.count >= zero.count && later.seconds >= zero.seconds);
    }
    let counts = |it: &Totals| (it.opened, it.closed, it.forgotten, it.round_trips.within);
    let (old, new) = (counts(before), counts(after));
    assert!(new.0 >= old.0 && new.1 >= old.1 && new.2 >= old.2);
    assert!(new.3.iter().zip(old.3).all(|(new, old)| *new >= old));
    assert_eq!(after.opened, after.open + after.closed + after.forgotten);
}

/// Packets without sense, with times that pass now and then by minutes.
fn stream() -> impl Strategy<Value = Vec<Seen>> {
    let step = prop_oneof![8 => 0..50_u64, 2 => 50..5_000_u64, 1 => 20_000..90_000_u64];
    let one = (step, 1..6_u16, any::<bool>(), 0..40_u32, 0..40_u32, 0..3_u32, 0..40_u8);
    vec(one, 1..300).prop_map(|steps| {
        let mut millis = 0;
        let packets = steps.into_iter().map(|(step, port, sent, seq, ack, len, kind)| {
            millis += step;
            let numbers = (seq * MSS + 1, ack * MSS + 1);
            let seen = packet(millis, port, sent, numbers, len * MSS / 2);
            match kind {
                0 => Seen { flags: Flags::SYN, ..seen },
                1 => Seen { flags: Flags::ACK | Flags::FIN, ..seen },
                2 => Seen { flags: Flags::RST, ..seen },
                3..6 => Seen { window: 0, ..seen },
                _ => seen,
            }
        });
        packets.collect()
    })
}

proptest! {
    #[test]
    fn totals_only_grow_and_have_every_second_and_every_retransmitted_byte_once(
        packets in stream(),
        every in 1..40_usize,
    ) {
        let mut follower = follower(1_000);
        let mut whole = Diagnoser::default();
        let mut before = Totals::default();
        for (number, seen) in packets.iter().enumerate() {
            follower.take(seen);
            whole.take(seen);
            if number % every == 0 {
                follower.settle(seen.at);
                assert_grown(&before, follower.totals());
                before = follower.totals().clone();
            }
        }
        let last = packets.last().expect("at least one").at;
        let totals = follower.finish(last);
        assert_grown(&before, &totals);
        let whole = whole.answer(vec![CaptureRead::default()]).connections;
        let duration: f64 = whole.iter().map(|one| one.duration_s).sum();
        let seconds = all_seconds(&totals);
        // What a closed connection is forgotten after is the first packet of another one here.
        let linger_s = LINGER.as_secs_f64();
        let longest = packets.windows(2).map(|pair| pair[1].at.saturating_since(pair[0].at));
        if longest.max().unwrap_or_default().as_secs_f64() < linger_s / 10.0 {
            prop_assert!((seconds - duration).abs() < 1e-6, "{seconds} of {duration}");
            prop_assert_eq!(totals.opened, whole.len() as u64);
            let bytes: u64 = whole.iter().map(|one| one.retransmitted_bytes).sum();
            let ways = [Way::Sent, Way::Received].map(|way| all_retransmitted(&totals, way).bytes);
            prop_assert_eq!(ways.iter().sum::<u64>(), bytes);
        } else {
            prop_assert!(seconds <= duration + 1e-6, "{seconds} of {duration}");
        }
    }

    #[test]
    fn no_more_connections_are_kept_than_allowed(
        ports in vec(1..200_u16, 1..400),
        most in 1..40_usize,
    ) {
        let mut follower = follower(most);
        for (millis, port) in (0..).zip(ports) {
            follower.take(&packet(millis, port, true, (1, 1), 100));
            prop_assert!(follower.tracked.len() <= most);
            prop_assert_eq!(follower.table.connections().len(), follower.tracked.len());
        }
        let totals = follower.totals();
        prop_assert_eq!(totals.open, follower.tracked.len() as u64);
        prop_assert_eq!(totals.opened, totals.open + totals.forgotten);
    }
}

#[test]
fn the_connection_idle_longest_is_forgotten_first() {
    let mut follower = follower(2);
    for (millis, port) in [(0, 1), (10, 2), (20, 1), (30, 3)] {
        follower.take(&packet(millis, port, true, (1, 1), 100));
    }
    let ports: Vec<u16> = follower
        .table
        .connections()
        .iter()
        .map(|one| one.ends[0].port.max(one.ends[1].port))
        .collect();
    assert_eq!(ports, [80, 80]);
    let lasts: Vec<Time> = follower.table.connections().iter().map(|one| one.last).collect();
    assert_eq!(lasts, [at(20), at(30)]);
    assert_eq!(follower.totals().forgotten, 1);
}

#[test]
fn a_retransmission_has_its_cause_its_direction_and_its_bytes() {
    let mut follower = follower(10);
    handshake(0, 1).iter().for_each(|seen| follower.take(seen));
    for (millis, seq) in [(21, 1), (22, 1 + MSS), (400, 1), (401, 1 + MSS)] {
        follower.take(&packet(millis, 1, true, (seq, 1), MSS));
    }
    follower.take(&packet(421, 1, false, (1, 1 + 2 * MSS), 0));
    let totals = follower.finish(at(500));
    let sent = all_retransmitted(&totals, Way::Sent);
    assert_eq!(sent, Retransmitted { segments: 2, bytes: 2 * u64::from(MSS) });
    assert_eq!(all_retransmitted(&totals, Way::Received), Retransmitted::default());
    assert_eq!(totals.retransmitted[&Cause::Unknown][&Way::Sent].segments, 0, "{totals:?}");
    assert!(totals.seconds.iter().any(|(cause, seconds)| cause.is_loss() && *seconds > 0.2));
}

#[test]
fn round_trips_are_measured_in_the_middle_of_a_connection() {
    let mut follower = follower(10);
    handshake(0, 1).iter().for_each(|seen| follower.take(seen));
    let handshake_only = follower.totals().round_trips.within.iter().sum::<u64>();
    for round in 0..10_u32 {
        let (millis, seq) = (1_000 + u64::from(round) * 100, 1 + round * MSS);
        follower.take(&packet(millis, 1, true, (seq, 1), MSS));
        follower.take(&packet(millis + 30, 1, false, (1, seq + MSS), 0));
    }
    let RoundTrips { within, sum_s } = &follower.totals().round_trips;
    assert_eq!(within.iter().sum::<u64>() - handshake_only, 10);
    // 30 ms: longer than 20 and no longer than 50.
    assert_eq!(within[ROUND_TRIP_BOUNDS_US.partition_point(|bound| *bound < 30_000)], 10);
    assert!((sum_s - 0.3).abs() < 0.05, "{sum_s}");
}

#[test]
fn zero_windows_are_counted_when_they_close_and_measured_when_they_open() {
    let mut follower = follower(10);
    handshake(0, 1).iter().for_each(|seen| follower.take(seen));
    let window = |millis, window| Seen { window, ..packet(millis, 1, false, (1, 1), 0) };
    for (millis, size) in [(100, 0), (300, 0), (700, 5_000), (900, 0), (1_000, 1)] {
        follower.take(&window(millis, size));
    }
    let received = follower.totals().zero_windows[&Way::Received];
    assert_eq!(received.count, 2);
    assert!((received.seconds - 0.7).abs() < 1e-9, "{received:?}");
    assert_eq!(follower.totals().zero_windows[&Way::Sent], ZeroWindows::default());
}

#[test]
fn an_open_connection_is_settled_up_to_a_minute_ago() {
    let mut follower = follower(10);
    handshake(0, 1).iter().for_each(|seen| follower.take(seen));
    for second in 1..=200_u32 {
        let seq = 1 + second * MSS;
        follower.take(&packet(u64::from(second) * 1_000, 1, true, (seq, 1), MSS));
        follower.take(&packet(u64::from(second) * 1_000 + 20, 1, false, (1, seq + MSS), 0));
        follower.settle(at(u64::from(second) * 1_000));
        let settled = all_seconds(follower.totals());
        assert!(settled <= f64::from(second.saturating_sub(60)) + 1e-6, "{settled} at {second} s");
    }
    let settled = all_seconds(follower.totals());
    assert!(settled > 100.0, "{settled}");
    let totals = follower.finish(at(201_000));
    assert!((all_seconds(&totals) - 200.02).abs() < 1e-6, "{}", all_seconds(&totals));
    assert_eq!((totals.open, totals.closed, totals.forgotten), (1, 0, 0));
}
