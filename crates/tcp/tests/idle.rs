//! Windows that are not used, against an injected receiver: a path of 40 ms, segments of 1000
//! bytes, ten at first.

use crate::kit::stack::Sender;

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

/// Forty segments delivered in slow start, so that cwnd is 26; then so many a round trip.
fn trickle(settings: &[(&str, &str)], segments: u32, rounds: u32) -> (Sender, u32) {
    let mut sender = Sender::of(settings, 40);
    let mut out = sender.sent().len();
    let mut next = 0;
    while out > 0 {
        let now = sender.millis();
        sender.until(now + 40);
        for _ in 0..std::mem::take(&mut out) {
            next += 1;
            out += sender.ack(next, &[]).len();
        }
    }
    assert_eq!((next, sender.cwnd_segments()), (40, 26.0));
    for _ in 0..rounds {
        sender.write(segments);
        assert_eq!(sender.sent().len() as u32, segments);
        let now = sender.millis();
        sender.until(now + 40);
        for _ in 0..segments {
            next += 1;
            sender.ack(next, &[]);
        }
    }
    (sender, next)
}

/// RFC 2861 §3: after a timeout (200 ms, five rounds) of a window used in part, half of the way to
/// what was used.
#[test]
fn rfc_2861_lowers_a_window_that_is_used_in_part() {
    let rule = [("idle_restart", "rfc-2861")];
    assert_eq!(trickle(&rule, 4, 4).0.cwnd_segments(), 26.0);
    let (lowered, _) = trickle(&rule, 4, 7);
    assert_eq!(lowered.cwnd_segments(), 15.0);
    // ssthresh was unlimited and stays so: slow start brings the window back.
    assert!(lowered.ssthresh_segments() > 1e6);
    // Others do not.
    for other in ["off", "decay", "rfc-7661"] {
        assert_eq!(trickle(&[("idle_restart", other)], 4, 20).0.cwnd_segments(), 26.0, "{other}");
    }
}

/// RFC 2861 §3: down to a segment, where `decay` stops at the initial window.
#[test]
fn rfc_2861_lowers_an_idle_window_to_a_segment() {
    let (sender, left) = after_a_pause("rfc-2861", 100_000);
    assert_eq!((left, sender.cwnd_segments()), (1, 1.0));
}

/// RFC 7661 §4.4.3: an idle window stays for five minutes and is then halved, not below the initial
/// window.
#[test]
fn rfc_7661_keeps_an_idle_window_for_five_minutes() {
    let (kept, _) = after_a_pause("rfc-7661", 299_000);
    let before = kept.cwnd_segments();
    assert_eq!(before, 26.0);
    let (halved, _) = after_a_pause("rfc-7661", 301_000);
    assert_eq!(halved.cwnd_segments(), before / 2.0);
    let (least, _) = after_a_pause("rfc-7661", 3_000_000);
    assert_eq!(least.cwnd_segments(), 10.0);
}

/// RFC 7661 §4.4.1: ten segments a round trip for more than the sampling period of a second; then
/// four are out and the first is lost. What the path has carried lately counts, not the four, and in
/// the end the one retransmitted is taken off.
#[test]
fn rfc_7661_answers_a_loss_by_what_was_carried_lately() {
    let at_loss = |rule| {
        let settings = [("idle_restart", rule), ("recovery.prr", "off")];
        let (mut sender, next) = trickle(&settings, 10, 30);
        sender.write(4);
        assert_eq!(sender.sent().len(), 4);
        let now = sender.millis();
        sender.until(now + 40);
        let mut again = Vec::new();
        for sacked in 1..4 {
            again.extend(sender.ack(next, &[(next + 1, next + 1 + sacked)]));
        }
        assert_eq!(again, vec![next]);
        let entered = sender.cwnd_segments();
        let now = sender.millis();
        sender.until(now + 40);
        sender.ack(next + 4, &[]);
        (entered, sender.cwnd_segments())
    };
    assert_eq!(at_loss("off"), (2.0, 2.0), "half of four");
    let (entered, left) = at_loss("rfc-7661");
    assert_eq!(entered, 5.0, "half of ten");
    assert_eq!(left, 4.5, "half of what was not lost of ten");
}

/// RFC 7661 §4.3: a window that is used by half is validated, and a loss is answered as ever.
#[test]
fn rfc_7661_changes_nothing_for_a_window_in_use() {
    let settings = [("idle_restart", "rfc-7661"), ("recovery.prr", "off")];
    let (mut sender, next) = trickle(&settings, 14, 30);
    sender.write(8);
    sender.sent();
    let now = sender.millis();
    sender.until(now + 40);
    for sacked in 1..4 {
        sender.ack(next, &[(next + 1, next + 1 + sacked)]);
    }
    assert_eq!(sender.cwnd_segments(), 4.0, "half of the eight outstanding");
}
