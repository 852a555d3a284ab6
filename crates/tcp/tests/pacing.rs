//! Data that is paced leaves no faster than its rate, and no slower than the driver polls.

use crate::kit::stack::Sender;
use ackord_units::Span;

/// When each segment of the next `millis` leaves, in microseconds from now, if the driver wakes at
/// the connection's deadlines.
fn departures(peer: &mut Sender, millis: u64) -> Vec<u64> {
    let (begin, end) = (peer.now, peer.now + Span::from_millis(millis));
    let mut left = Vec::new();
    loop {
        let at = (peer.now - begin).as_nanos() / 1000;
        left.extend(peer.sent().iter().map(|_| at));
        let Some(next) = peer.connection.deadline().filter(|&at| at <= end) else { return left };
        peer.now = peer.now.max(next);
        peer.connection.handle_deadline(peer.now, &mut ackord_events::NoSink);
    }
}

/// Ten segments a round trip of 100 ms, and twice that in slow start: one every 5 ms.
#[test]
fn an_initial_window_is_spread_over_half_a_round_trip() {
    let mut peer = Sender::plain(&[("pacing", "on")]);
    assert_eq!(departures(&mut peer, 99), (0..10).map(|n| n * 5_000).collect::<Vec<_>>());
}

#[test]
fn without_pacing_it_leaves_at_once() {
    for pacing in ["off", "auto"] {
        let mut peer = Sender::plain(&[("pacing", pacing)]);
        assert_eq!(departures(&mut peer, 99), vec![0; 10]);
    }
}

/// A retransmission is data like any other: it waits for its turn.
#[test]
fn a_retransmission_is_paced_too() {
    let mut peer = Sender::plain(&[("pacing", "on")]);
    departures(&mut peer, 50);
    peer.wait(50);
    // The first of the segments that leave now takes the pace up: twenty segments in 100 ms.
    let first = peer.ack(1, &[]);
    assert_eq!(first.len(), 1);
    for _ in 0..2 {
        assert_eq!(peer.ack(1, &[]), Vec::<u32>::new());
    }
    assert_eq!(peer.ack(1, &[]), Vec::<u32>::new(), "lost, but the pace holds it");
    let before = peer.connection.stats().retransmitted_segments;
    assert_eq!(before, 0);
    let left = departures(&mut peer, 10);
    assert_eq!(peer.connection.stats().retransmitted_segments, 1);
    assert!(left.first().is_some_and(|&at| at > 1_000), "{left:?}");
}

/// A driver that always comes 0.9 ms late loses no time: the rate holds on average.
#[test]
fn a_late_driver_keeps_the_rate() {
    let mut peer = Sender::plain(&[("pacing", "on"), ("initial_window", "50")]);
    let begin = peer.now;
    let mut sent = peer.sent().len();
    while sent < 50 {
        let next = peer.connection.deadline().expect("something waits");
        peer.now = peer.now.max(next + Span::from_micros(900));
        peer.connection.handle_deadline(peer.now, &mut ackord_events::NoSink);
        sent += peer.sent().len();
    }
    // Fifty segments at one a millisecond, the last one 0.9 ms late.
    let took = (peer.now - begin).as_secs_f64();
    assert!((0.049..=0.0501).contains(&took), "{took} s");
}
