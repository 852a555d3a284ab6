//! Windows that are not used, against an injected receiver: a path of 40 ms, segments of 1000
//! octets, ten at first.

mod kit;

use kit::stack::Sender;

/// Forty segments delivered; then nothing to send for `pause` milliseconds, then 100 more.
fn after_a_pause(idle_restart: &str, pause: u64) -> (Sender, usize) {
    let mut sender = Sender::of(&[("idle_restart", idle_restart)], 40);
    sender.sent();
    sender.until(80);
    for next in 1..=10 {
        sender.ack(next, &[]);
    }
    sender.until(120);
    for next in 11..=40 {
        sender.ack(next, &[]);
    }
    assert!(sender.connection.all_acknowledged());
    let before = sender.cwnd_segments();
    assert!(before >= 20.0, "{before}");
    sender.until(120 + pause);
    sender.write(100);
    let left = sender.sent().len();
    (sender, left)
}

#[test]
fn without_a_restart_the_window_of_before_leaves_at_once() {
    let (sender, left) = after_a_pause("off", 10_000);
    assert_eq!(left as f64, sender.cwnd_segments());
}

/// The timeout is 200 ms; the last data left at 120 ms.
#[test]
fn after_a_pause_longer_than_the_timeout_the_initial_window_leaves() {
    let (sender, left) = after_a_pause("initial-window", 201);
    assert_eq!((left, sender.cwnd_segments()), (10, 10.0));
    let (_, at_once) = after_a_pause("initial-window", 200);
    assert!(at_once >= 20, "a pause of the timeout itself is none: {at_once}");
}

#[test]
fn decay_halves_it_for_each_timeout_and_ssthresh_remembers() {
    let (off, _) = after_a_pause("off", 300);
    let (one, left) = after_a_pause("decay", 250);
    // One whole timeout of 200 ms lies behind.
    assert_eq!(left as f64, (off.cwnd_segments() / 2.0).floor());
    assert_eq!(one.cwnd_segments(), off.cwnd_segments() / 2.0);
    // ssthresh was unlimited, and more than three quarters of cwnd.
    assert!(one.ssthresh_segments() > 1e6);
    let (_, long) = after_a_pause("decay", 100_000);
    assert_eq!(long, 10, "never below the initial window");
}

/// An application that keeps six of ten segments in flight.
fn half_used(cwnd_use: &str) -> f64 {
    let mut sender = Sender::of(&[("cwnd_use", cwnd_use)], 6);
    sender.sent();
    sender.until(80);
    for next in 1..=6 {
        sender.ack(next, &[]);
    }
    sender.cwnd_segments()
}

#[test]
fn a_window_that_is_used_by_half_grows_in_slow_start_only_where_chosen() {
    assert_eq!(half_used("full"), 10.0);
    // Six were in use: up to twelve.
    assert_eq!(half_used("half-in-slow-start"), 12.0);
}
