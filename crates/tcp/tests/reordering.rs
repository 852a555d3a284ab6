//! Loss policies under reordering: what they do about segments that are only late, what they give
//! back, and that nothing is lost by it.

use crate::kit::Pair;
use crate::kit::stack::{Ack, Sender, stack};
use ackord_tcp::registry;
use ackord_units::{Bytes, Choice, Span, Time};
use ackord_wire::{Segment, Side};

/// Every registered policy, and the modes and variants that behave differently.
fn policies() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut all: Vec<_> =
        registry::Loss::MECHANISMS.iter().map(|loss| vec![("loss", loss.name)]).collect();
    for (name, knob, value) in [
        ("dad-sd", "loss.mode", "paper"),
        ("blanton-allman", "loss.variant", "max"),
        ("ncr", "loss.variant", "aggressive"),
        ("fixed", "loss.threshold", "30"),
    ] {
        all.push(vec![("loss", name), (knob, value)]);
    }
    all.push(vec![("loss", "dad-sd"), ("loss.mode", "paper"), ("loss.undo", "literal-table")]);
    all
}

/// A sender with twenty segments out, of which the first is overtaken by `extent` others a
/// millisecond apart, beginning 40 ms after it was sent; what it sent meanwhile. Then the original
/// arrives, and its acknowledgment comes.
fn overtaken(settings: &[(&str, &str)], extent: u32) -> (Sender, Vec<u32>) {
    let mut all = vec![("initial_window", "20")];
    all.extend_from_slice(settings);
    let mut sender = Sender::of(&all, 1000);
    assert_eq!(sender.sent().len(), 20);
    let mut sent = Vec::new();
    for count in 1..=extent {
        let at = sender.millis() + if count == 1 { 40 } else { 1 };
        sent.extend(sender.until(at).into_iter().map(|(_, number)| number));
        sent.extend(sender.on(Ack {
            next: 0,
            sack: &[(1, 1 + count)],
            echo: Some(40),
            ..Ack::default()
        }));
    }
    sender.until(sender.millis() + 1);
    sent.extend(sender.on(Ack { next: 1 + extent, sack: &[], echo: Some(40), ..Ack::default() }));
    (sender, sent)
}

#[test]
fn two_segments_that_overtake_a_third_are_no_loss_to_any_policy() {
    for settings in policies() {
        for timestamps in ["on", "off"] {
            for extent in 1..=2 {
                let mut all = settings.clone();
                all.push(("timestamps", timestamps));
                let (sender, _) = overtaken(&all, extent);
                assert_eq!(sender.retransmitted(), 0, "{all:?}, {extent}");
                assert!(sender.cwnd_segments() >= 20.0, "{all:?}, {extent}");
            }
        }
    }
}

#[test]
fn a_policy_that_undoes_by_timestamps_gives_back_exactly_what_it_took() {
    for loss in ["dad-sd", "eifel", "rack"] {
        for extent in 3..=10 {
            for congestion in ["reno", "cubic", "vegas"] {
                let settings = [("loss", loss), ("timestamps", "on"), ("congestion", congestion)];
                let (sender, _) = overtaken(&settings, extent);
                assert_eq!(sender.retransmitted(), 1, "{settings:?}, {extent}");
                assert_eq!(sender.cwnd_segments(), 20.0, "{settings:?}, {extent}");
                assert_eq!(sender.connection.ssthresh(), Bytes::MAX, "{settings:?}");
            }
        }
    }
}

#[test]
fn fixed_keeps_what_it_took() {
    let (sender, _) = overtaken(&[("loss", "fixed"), ("timestamps", "on")], 10);
    assert_eq!((sender.retransmitted(), sender.ssthresh_segments()), (1, 10.0));
}

/// DSACK comes a round trip after the retransmission it is about.
#[test]
fn a_policy_that_undoes_by_dsack_waits_for_every_retransmission_to_be_reported() {
    for (settings, cwnd) in [
        (vec![("loss", "dad-sd")], 20.0),
        // The window comes back by slow start: from half.
        (vec![("loss", "blanton-allman"), ("loss.variant", "max")], 10.0),
    ] {
        let (mut sender, sent) = overtaken(&settings, 8);
        assert!(sent.contains(&0));
        assert_eq!(sender.ssthresh_segments(), 10.0, "{settings:?}: not known yet");
        sender.until(sender.millis() + 33);
        let before = sender.cwnd_segments();
        sender.on(Ack { next: 9, sack: &[(0, 1)], ..Ack::default() });
        assert_eq!(sender.connection.ssthresh(), Bytes::MAX, "{settings:?}");
        assert!(sender.cwnd_segments() >= before.max(cwnd), "{settings:?}");
        // As many as were late but one start no recovery any more.
        let resent = sender.retransmitted();
        let next = 10;
        for count in 1..=7 {
            sender.until(sender.millis() + 1);
            sender.on(Ack { next: 9, sack: &[(next, next + count)], ..Ack::default() });
        }
        assert_eq!(sender.retransmitted(), resent, "{settings:?}: the threshold is 8");
    }
}

#[test]
fn a_network_that_duplicates_proves_nothing() {
    let (mut sender, _) = overtaken(&[("loss", "dad-sd")], 8);
    // A segment that was never retransmitted was received twice.
    sender.on(Ack { next: 9, sack: &[(3, 4)], ..Ack::default() });
    assert_eq!(sender.ssthresh_segments(), 10.0);
}

#[test]
fn a_window_that_has_grown_since_is_not_cut_down_by_the_undo() {
    let (mut sender, _) = overtaken(&[("loss", "dad-sd"), ("congestion.growth", "per-byte")], 8);
    // All is acknowledged, and two windows more, before the report comes.
    let mut next = 9;
    for _ in 0..40 {
        sender.until(sender.millis() + 1);
        next += 1;
        sender.ack(next, &[]);
    }
    let before = sender.cwnd_segments();
    sender.on(Ack { next, sack: &[(0, 1)], ..Ack::default() });
    assert!(sender.cwnd_segments() >= before.max(20.0), "{before} before");
    assert_eq!(sender.connection.ssthresh(), Bytes::MAX);
}

/// In paper mode an acknowledgment within the detection timer is the proof, and Eq. 3 doubles what
/// is left of the window.
#[test]
fn the_papers_undo_doubles_cwnd_and_restores_ssthresh() {
    for settings in [vec![("loss", "dad")], vec![("loss", "dad-sd"), ("loss.mode", "paper")]] {
        let (sender, sent) = overtaken(&settings, 8);
        assert!(sent.contains(&0));
        assert_eq!(sender.cwnd_segments(), 20.0, "{settings:?}: half of twenty, doubled");
        assert_eq!(sender.connection.ssthresh(), Bytes::MAX);
    }
}

/// A sender that has seen fifty segments overtake one, with nothing outstanding after 60.
fn that_has_learnt_fifty(timestamps: &str) -> Sender {
    let settings = [("loss", "dad-sd"), ("timestamps", timestamps), ("initial_window", "60")];
    let mut sender = Sender::of(&settings, 60);
    assert_eq!(sender.sent().len(), 60);
    for count in 1..=50 {
        sender.until(sender.millis() + if count == 1 { 40 } else { 1 });
        sender.on(Ack { next: 0, sack: &[(1, 1 + count)], echo: Some(40), ..Ack::default() });
    }
    sender.on(Ack { next: 51, sack: &[], echo: Some(40), ..Ack::default() });
    sender.on(Ack { next: 60, sack: &[], echo: Some(40), ..Ack::default() });
    sender.until(sender.millis() + 40);
    sender.on(Ack { next: 60, sack: &[(0, 1)], ..Ack::default() });
    assert_eq!(sender.retransmitted(), 1);
    sender
}

/// A real loss: whatever the threshold has become, the retransmission leaves well before the
/// retransmission timer would expire.
#[test]
fn a_threshold_larger_than_the_flight_never_causes_a_timeout() {
    for timestamps in ["on", "off"] {
        for flight in 2..=40 {
            let mut sender = that_has_learnt_fifty(timestamps);
            sender.write(flight);
            assert_eq!(sender.sent().len(), flight as usize);
            let began = sender.millis();
            sender.until(began + 40);
            for count in 1..flight {
                sender.ack(60, &[(61, 61 + count)]);
            }
            let rto_at = began + sender.connection.rto().as_millis();
            sender.until(rto_at - 50);
            assert_eq!(sender.retransmitted(), 2, "{flight} segments");
            sender.until(rto_at + 20);
            sender.ack(60 + flight, &[]);
            assert_eq!((sender.timeouts(), sender.retransmitted()), (0, 2), "{flight} segments");
        }
    }
}

/// Numbers without a pattern, the same every time.
fn scattered(n: u64, below: u64) -> u64 {
    let mut x = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 31;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (x ^ (x >> 29)) % below
}

#[test]
fn every_byte_arrives_once_under_every_policy_however_the_path_reorders_and_drops() {
    const BYTES: u64 = 400_000;
    for settings in policies() {
        for (sack, timestamps) in [("on", "on"), ("on", "off"), ("off", "off")] {
            let mut all = settings.clone();
            all.extend([("sack", sack), ("timestamps", timestamps), ("congestion", "cubic")]);
            let (config, client) = stack(&all);
            let (_, server) = stack(&all);
            let mut pair = Pair::established(config, [client, server]);
            pair.late_by = (0..5_000).map(|n| (n, Span::from_millis(scattered(n, 30)))).collect();
            pair.client.write(Bytes(BYTES));
            pair.client.close();
            let until = pair.now + Span::from_secs(120);
            pair.run(until, |n, _: Side, _: &Segment| scattered(n + 1_000_000, 100) == 0);
            assert_eq!(pair.server.bytes_received(), BYTES, "{all:?}");
            assert!(pair.client.all_acknowledged(), "{all:?}");
            let took = pair.log.iter().filter(|one| one.from == Side::Client).map(|one| one.at);
            let last = took.max().expect("something was sent");
            assert!(last < Time::ZERO + Span::from_secs(60), "{all:?} took until {last}");
        }
    }
}

/// How long 300 kB take under a policy on a path that keeps order, drops one segment in a hundred
/// and is otherwise the same.
fn seconds_in_order(loss: &str, seed: u64) -> f64 {
    const BYTES: u64 = 300_000;
    let settings = [("loss", loss), ("congestion", "cubic"), ("rto_min", "200 ms")];
    let ((config, client), (_, server)) = (stack(&settings), stack(&settings));
    let mut pair = Pair::established(config, [client, server]);
    let began = pair.now;
    pair.client.write(Bytes(BYTES));
    let until = pair.now + Span::from_secs(60);
    pair.run(until, |n, _: Side, _: &Segment| scattered(n + seed * 1_000_000, 100) == 0);
    assert_eq!(pair.server.bytes_received(), BYTES);
    let last = pair.log.iter().filter(|one| one.segment.payload_len > 0).map(|one| one.at).max();
    (last.expect("something was sent") - began).as_secs_f64()
}

#[test]
fn without_reordering_dad_sd_is_no_slower_than_three_duplicates() {
    let total = |loss| -> f64 { (1..=60).map(|seed| seconds_in_order(loss, seed)).sum() };
    let (fixed, sd) = (total("fixed"), total("dad-sd"));
    assert!(sd <= fixed * 1.02, "{sd} s against {fixed} s");
}

/// Three segments, the first of them lost: two duplicates at most.
#[test]
fn a_short_flow_does_not_wait_for_the_retransmission_timer() {
    for (loss, within) in [("dad-sd", 85), ("fixed", 200)] {
        let mut sender = Sender::of(&[("loss", loss), ("timestamps", "on")], 3);
        assert_eq!(sender.sent(), vec![0, 1, 2]);
        sender.until(sender.millis() + 40);
        sender.on(Ack { next: 0, sack: &[(1, 3)], echo: Some(40), ..Ack::default() });
        let left = sender.until(2_000);
        let (at, number) = *left.first().expect("it is retransmitted");
        assert_eq!(number, 0);
        assert!(at - 40 <= within, "{loss}: after {} ms", at - 40);
    }
}
