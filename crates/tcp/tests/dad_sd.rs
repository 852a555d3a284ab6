//! TCP-DAD-SD in practical mode against an injected receiver: lost retransmissions and lost tails
//! over a path of 40 ms, segments of 1000 bytes, ten at first.

use crate::kit::stack::Sender;

const DAD_SD: &[(&str, &str)] = &[("loss", "dad-sd")];

/// What both modes of it, and probes or none, make of the same.
const WITHOUT: &[&[(&str, &str)]] =
    &[&[("loss", "dad-sd"), ("loss.mode", "paper")], &[("loss", "dad-sd"), ("loss.tlp", "off")]];

/// A sender that has delivered its first ten segments: SRTT and minimum are 40 ms, twenty are out.
fn warm(settings: &[(&str, &str)]) -> Sender {
    let mut sender = Sender::of(settings, 1_000);
    assert_eq!(sender.sent().len(), 10);
    sender.until(80);
    for next in 1..=10 {
        sender.ack(next, &[]);
    }
    assert_eq!(sender.cwnd_segments(), 20.0);
    sender
}

/// Segment 10 is lost, retransmitted at 120 ms and lost once more; 33, which left after that, arrives
/// at 160 ms. What leaves until 250 ms, after which the timer would have its turn.
fn lost_twice(settings: &[(&str, &str)]) -> (Sender, Vec<(u64, u32)>) {
    let mut sender = warm(settings);
    sender.until(120);
    for last in 12..=20 {
        sender.ack(10, &[(11, last)]);
    }
    assert_eq!(sender.retransmitted(), 1, "{settings:?}");
    sender.until(160);
    let left = sender.ack(10, &[(11, 34)]).into_iter().map(|number| (160, number));
    let mut all: Vec<_> = left.collect();
    all.extend(sender.until(250));
    (sender, all)
}

#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let (mut sender, left) = lost_twice(DAD_SD);
    let again: Vec<_> = left.iter().filter(|(_, number)| *number == 10).collect();
    assert_eq!(again.len(), 1, "{left:?}");
    // A quarter of a round trip and a whole one are the bounds of what it waits.
    assert!((170..=200).contains(&again[0].0), "{left:?}");
    assert_eq!((sender.timeouts(), sender.retransmitted()), (0, 2));
    // It belongs to a window that has been answered: no second reduction.
    assert_eq!(sender.ssthresh_segments(), 10.0);
    sender.ack(34, &[]);
    sender.until(260);
    assert_eq!(sender.timeouts(), 0);
}

#[test]
fn the_paper_leaves_a_lost_retransmission_to_the_timer() {
    let (mut sender, left) = lost_twice(WITHOUT[0]);
    assert!(left.iter().all(|(_, number)| *number != 10), "{left:?}");
    sender.until(1_000);
    assert!(sender.timeouts() >= 1);
}

/// Ten segments and no more to send; the last three are lost. What is retransmitted arrives. How many
/// timeouts that costs, and when all had arrived.
fn tail_lost(settings: &[(&str, &str)]) -> (u32, u64) {
    let mut sender = Sender::of(settings, 10);
    assert_eq!(sender.sent().len(), 10);
    sender.until(80);
    for next in 1..=7 {
        sender.ack(next, &[]);
    }
    let mut missing: Vec<u32> = vec![7, 8, 9];
    let mut on_the_way: Vec<(u64, u32)> = Vec::new();
    while !missing.is_empty() && sender.millis() < 5_000 {
        let now = sender.millis() + 1;
        on_the_way.extend(sender.until(now));
        while let Some(index) = on_the_way.iter().position(|(left, _)| left + 40 <= now) {
            let (_, number) = on_the_way.remove(index);
            missing.retain(|other| *other != number);
            let next = missing.first().copied().unwrap_or(10);
            let blocks: Vec<_> =
                (next..10).filter(|n| !missing.contains(n)).map(|n| (n, n + 1)).collect();
            on_the_way.extend(sender.ack(next, &blocks).into_iter().map(|n| (now, n)));
        }
    }
    assert!(sender.connection.all_acknowledged(), "{settings:?}");
    (sender.timeouts() as u32, sender.millis())
}

#[test]
fn a_lost_tail_is_probed_and_repaired_without_a_timeout() {
    let (timeouts, done) = tail_lost(DAD_SD);
    assert_eq!(timeouts, 0);
    // Two round trips to the probe, one to its SACK, one of doubt, and one for each of two holes.
    assert!(done <= 80 + 80 + 40 + 40 + 80 + 5, "{done}");
    for settings in WITHOUT {
        assert!(tail_lost(settings).0 >= 1, "{settings:?}");
    }
}

/// Segment `hole` is lost and retransmitted; something sent after that arrives a round trip later, the
/// retransmission `late` ms behind it. How often it had left by then.
fn retransmission_overtaken(sender: &mut Sender, hole: u32, late: u64) -> u64 {
    let before = sender.retransmitted();
    let began = sender.millis() + 40;
    sender.until(began);
    sender.ack(hole, &[(hole + 1, hole + 11)]);
    // Doubt may last a round trip.
    let mut at = began;
    while sender.retransmitted() == before {
        at += 1;
        assert!(at <= began + 45);
        sender.until(at);
    }
    let flight = (sender.connection.flight_size().get() / 1_000) as u32;
    sender.until(at + 1);
    let mut newest = hole + flight - 1;
    for last in 12..=flight {
        let left = sender.ack(hole, &[(hole + 1, hole + last)]);
        newest = left.into_iter().fold(newest, u32::max);
    }
    assert!(newest >= hole + flight, "new data left after the retransmission");
    sender.until(at + 41);
    sender.ack(hole, &[(hole + 1, newest + 1)]);
    sender.until(at + 41 + late);
    sender.ack(newest + 1, &[]);
    assert_eq!(sender.timeouts(), 0);
    sender.retransmitted() - before
}

#[test]
fn a_retransmission_overtaken_within_the_learnt_lateness_is_not_sent_again() {
    for late in [0, 15, 30] {
        let mut learnt = warm(DAD_SD);
        // Segment 10 comes 20 ms after 11: a bound of more than a round trip.
        learnt.until(120);
        learnt.ack(10, &[(11, 12)]);
        learnt.until(140);
        learnt.ack(30, &[]);
        assert_eq!(learnt.retransmitted(), 0);
        assert_eq!(retransmission_overtaken(&mut learnt, 30, late), 1, "{late} ms late");
    }
}

#[test]
fn one_that_comes_later_than_any_lateness_is() {
    let mut learnt = warm(DAD_SD);
    learnt.until(120);
    learnt.ack(30, &[]);
    assert_eq!(retransmission_overtaken(&mut learnt, 30, 60), 2);
}

#[test]
fn without_sack_duplicates_count_and_nothing_is_probed() {
    let mut sender = Sender::of(&[("loss", "dad-sd"), ("sack", "off")], 1_000);
    sender.sent();
    // Two round trips and more without an acknowledgment: no probe.
    assert_eq!(sender.until(180), vec![]);
    sender.ack(1, &[]);
    for _ in 0..2 {
        sender.ack(1, &[]);
        assert_eq!(sender.retransmitted(), 0);
    }
    assert_eq!(sender.ack(1, &[])[0], 1);
}

/// By how many segments cwnd grows in slow start when segment 12 arrives after 13 and 14; before that, 10
/// arrived after 11, or in order.
fn growth_past_a_late_segment(seen_before: bool) -> f64 {
    let mut sender = warm(&[DAD_SD, &[("congestion.growth", "per-segment")]].concat());
    sender.until(120);
    if seen_before {
        sender.ack(10, &[(11, 12)]);
    }
    sender.ack(12, &[]);
    let before = sender.cwnd_segments();
    sender.ack(12, &[(13, 15)]);
    sender.ack(15, &[]);
    assert_eq!(sender.retransmitted(), 0);
    sender.cwnd_segments() - before
}

#[test]
fn cwnd_grows_by_what_sack_reports_once_reordering_has_been_seen() {
    // Three segments were delivered, two of them reported first.
    assert_eq!(growth_past_a_late_segment(true), 3.0);
    assert_eq!(growth_past_a_late_segment(false), 1.0);
}
