//! RACK-TLP against an injected receiver: a path of 40 ms, segments of 1000 bytes, ten at first.

use crate::kit::stack::{Ack, Sender};
use ackord_events::NoSink;

const RACK: &[(&str, &str)] = &[("loss", "rack")];

fn none() -> Vec<u32> {
    Vec::new()
}

/// A sender that has delivered its first ten segments: SRTT and minimum are 40 ms, twenty are out.
fn warm(settings: &[(&str, &str)]) -> Sender {
    let mut sender = Sender::of(settings, 1_000);
    assert_eq!(sender.sent(), (0..10).collect::<Vec<_>>());
    sender.until(80);
    for next in 1..=10 {
        sender.ack(next, &[]);
    }
    assert_eq!(sender.cwnd_segments(), 20.0);
    sender
}

/// As [`warm`], after segment 10 was overtaken by 11: reordering has been seen, 24 are out.
fn warm_with_reordering() -> Sender {
    let mut sender = warm(RACK);
    sender.until(120);
    sender.ack(10, &[(11, 12)]);
    sender.ack(12, &[]);
    assert_eq!(sender.retransmitted(), 0);
    sender
}

#[test]
fn until_reordering_is_seen_three_segments_above_a_hole_make_it_lost() {
    let mut sender = warm(RACK);
    sender.until(120);
    assert!(!sender.ack(10, &[(11, 12)]).contains(&10));
    assert!(!sender.ack(10, &[(11, 13)]).contains(&10));
    assert_eq!(sender.ack(10, &[(11, 14)])[0], 10);
    // RFC 5681 Eq. 4: half of the twenty, without the two that left meanwhile.
    assert_eq!(sender.ssthresh_segments(), 10.0);
}

#[test]
fn fewer_than_three_make_it_lost_after_a_quarter_of_the_round_trip() {
    let mut sender = warm(RACK);
    sender.until(120);
    sender.ack(10, &[(11, 12)]);
    // RACK.rtt + min_rtt / 4 = 50 ms after 80 ms.
    assert_eq!(sender.until(129), vec![]);
    assert_eq!(sender.until(130), vec![(130, 10)]);
}

#[test]
fn reordering_within_the_window_causes_no_retransmission() {
    let mut sender = warm_with_reordering();
    // Segment 12 arrives 9 ms late, behind ten others.
    sender.until(125);
    for last in 14..=23 {
        sender.ack(12, &[(13, last)]);
    }
    sender.until(133);
    sender.ack(23, &[]);
    assert_eq!((sender.retransmitted(), sender.timeouts()), (0, 0));
    assert!(sender.ssthresh_segments() > 1e6, "never reduced");
}

#[test]
fn beyond_the_window_it_does() {
    let mut sender = warm_with_reordering();
    sender.until(125);
    for last in 14..=23 {
        sender.ack(12, &[(13, last)]);
    }
    // Segment 12 left at 80 ms; RACK.rtt is 45 ms, the window 10 ms.
    assert_eq!(sender.until(134), vec![]);
    assert_eq!(sender.until(135)[0], (135, 12));
}

#[test]
fn a_dsack_widens_the_window_and_gives_the_reduction_back() {
    let mut sender = warm_with_reordering();
    let before = sender.cwnd_segments();
    sender.until(125);
    sender.ack(12, &[(13, 23)]);
    assert_eq!(sender.until(135)[0], (135, 12));
    assert!(sender.cwnd_segments() < before);
    sender.until(136);
    sender.ack(23, &[]);
    // The retransmission arrives too: what was taken comes back.
    sender.until(175);
    sender.ack(23, &[(12, 13)]);
    assert!(sender.cwnd_segments() >= before, "{} of {before}", sender.cwnd_segments());
    // The next hole waits for two quarters of the round trip.
    sender.until(215);
    let next = 23 + (sender.connection.flight_size().get() / 1_000) as u32;
    let sent = sender.ack(next, &[]);
    let last = *sent.last().expect("a window of new data");
    sender.until(255);
    sender.ack(next, &[(next + 1, last + 1)]);
    assert_eq!(sender.until(274), vec![]);
    assert_eq!(sender.until(275)[0], (275, next));
}

#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let mut sender = warm(RACK);
    sender.until(120);
    for last in 12..=14 {
        sender.ack(10, &[(11, last)]);
    }
    assert_eq!(sender.retransmitted(), 1);
    // The retransmission left at 120 ms and is lost; 33, which left after it, arrives.
    for last in 15..=20 {
        sender.ack(10, &[(11, last)]);
    }
    sender.until(160);
    assert_eq!(sender.retransmitted(), 1);
    let again = sender.ack(10, &[(11, 34)]);
    assert!(again.contains(&10), "{again:?}");
    assert_eq!(sender.timeouts(), 0);
    assert_eq!(sender.retransmitted(), 2);
}

#[test]
fn a_fixed_threshold_leaves_a_lost_retransmission_to_the_timer() {
    let mut sender = warm(&[("loss", "fixed")]);
    sender.until(120);
    for last in 12..=20 {
        sender.ack(10, &[(11, last)]);
    }
    sender.until(160);
    for last in 21..=24 {
        sender.ack(10, &[(11, last)]);
    }
    sender.until(1_000);
    assert!(sender.timeouts() >= 1);
}

/// Ten segments and no more to send; the last three are lost.
fn tail_lost(settings: &[(&str, &str)]) -> Sender {
    let mut sender = Sender::of(settings, 10);
    assert_eq!(sender.sent().len(), 10);
    sender.until(80);
    for next in 1..=7 {
        assert_eq!(sender.ack(next, &[]), none());
    }
    sender
}

#[test]
fn a_lost_tail_is_probed_after_two_round_trips_and_repaired_without_a_timeout() {
    let mut sender = tail_lost(RACK);
    // 80 ms after the last acknowledgment the last segment is retransmitted.
    assert_eq!(sender.until(160), vec![(160, 9)]);
    sender.until(200);
    // Its SACK shows what is missing: both holes left more than a round trip before it.
    // Proportional rate reduction lets one segment out for each that arrives.
    assert_eq!(sender.ack(7, &[(9, 10)]), vec![7]);
    sender.until(240);
    assert_eq!(sender.ack(8, &[(9, 10)]), vec![8]);
    sender.until(280);
    sender.ack(10, &[]);
    assert!(sender.connection.all_acknowledged());
    assert_eq!((sender.timeouts(), sender.retransmitted()), (0, 3));
}

#[test]
fn without_probes_the_tail_waits_for_the_timer() {
    for settings in [&[("loss", "rack"), ("loss.tlp", "off")][..], &[("loss", "fixed")]] {
        let mut sender = tail_lost(settings);
        let left = sender.until(1_000);
        assert_eq!(left[0].1, 7);
        assert!(left[0].0 >= 280, "the floor of the timer after the last acknowledgment: {left:?}");
        assert!(sender.timeouts() >= 1);
    }
}

#[test]
fn a_lone_segment_is_given_time_for_a_delayed_acknowledgment() {
    let mut sender = Sender::of(&[("loss", "rack"), ("rto_min", "1 s")], 1);
    assert_eq!(sender.sent(), vec![0]);
    // 2 * 40 ms + 200 ms after 40 ms.
    assert_eq!(sender.until(319), vec![]);
    assert_eq!(sender.until(320), vec![(320, 0)]);
}

#[test]
fn a_probe_prefers_new_data_and_may_exceed_cwnd_by_a_segment() {
    let mut sender = Sender::of(RACK, 1_000);
    assert_eq!(sender.sent().len(), 10);
    assert_eq!(sender.until(120), vec![(120, 10)]);
    assert_eq!((sender.retransmitted(), sender.cwnd_segments()), (0, 10.0));
    // At most one is outstanding; then the timer's turn comes.
    let left = sender.until(1_000);
    assert_eq!((left[0].1, sender.timeouts() >= 1), (0, true));
}

/// §7.4.2: the probe was the only recovery, so that the loss has to be answered here.
#[test]
fn a_loss_that_only_the_probe_repaired_reduces_the_window_once() {
    let mut sender = Sender::of(&[("loss", "rack"), ("rto_min", "1 s")], 10);
    sender.sent();
    sender.until(80);
    for next in 1..=9 {
        sender.ack(next, &[]);
    }
    let before = sender.cwnd_segments();
    let probe = sender.until(400);
    assert_eq!(probe, vec![(360, 9)], "two round trips and 200 ms: it is alone");
    sender.ack(10, &[]);
    assert_eq!(sender.cwnd_segments(), before, "not yet known");
    sender.write(2);
    assert_eq!(sender.sent(), vec![10, 11]);
    sender.until(480);
    sender.ack(12, &[]);
    assert!(sender.cwnd_segments() < before, "{}", sender.cwnd_segments());
    let after = sender.cwnd_segments();
    sender.write(2);
    sender.sent();
    sender.until(520);
    sender.ack(14, &[]);
    assert!(sender.cwnd_segments() >= after, "once");
}

#[test]
fn a_probe_in_vain_reduces_nothing() {
    let mut sender = Sender::of(&[("loss", "rack"), ("rto_min", "1 s")], 10);
    sender.sent();
    sender.until(80);
    for next in 1..=9 {
        sender.ack(next, &[]);
    }
    assert_eq!(sender.until(370), vec![(360, 9)]);
    // The original was late: both arrive, and DSACK says so.
    sender.ack(10, &[]);
    sender.ack(10, &[(9, 10)]);
    sender.write(2);
    sender.sent();
    sender.until(410);
    sender.ack(12, &[]);
    assert!(sender.ssthresh_segments() > 1e6);
}

#[test]
fn without_sack_three_duplicates_take_over() {
    let mut sender = Sender::of(&[("loss", "rack"), ("sack", "off")], 1_000);
    sender.sent();
    sender.until(80);
    sender.ack(1, &[]);
    sender.ack(1, &[]);
    assert_eq!(sender.retransmitted(), 0);
    sender.ack(1, &[]);
    assert_eq!(sender.ack(1, &[])[0], 1);
}

/// RFC 8985 §6.3: what left too short a time ago stays in flight.
#[test]
fn a_timeout_takes_only_what_has_been_out_for_too_long() {
    let settings = [("loss", "rack"), ("loss.tlp", "off")];
    let mut sender = Sender::of(&settings, 10);
    sender.sent();
    sender.until(80);
    sender.ack(5, &[]);
    // The timer restarted at 80 ms; 200 ms later it expires, just after two more have left.
    sender.until(270);
    sender.write(2);
    assert_eq!(sender.sent(), vec![10, 11]);
    let left = sender.until(280);
    assert_eq!(left, vec![(280, 5)]);
    // 10 and 11 are acknowledged in time; only 5 to 9 are retransmitted.
    sender.until(320);
    sender.ack(6, &[(10, 12)]);
    sender.until(360);
    sender.ack(10, &[]);
    sender.until(400);
    sender.ack(12, &[]);
    assert!(sender.connection.all_acknowledged());
    assert!(sender.retransmitted() <= 5, "{}", sender.retransmitted());
}

#[test]
fn a_first_window_lost_whole_costs_one_timeout() {
    for tlp in ["on", "off"] {
        let mut sender = Sender::of(&[("loss", "rack"), ("loss.tlp", tlp)], 10);
        assert_eq!(sender.sent().len(), 10);
        let last = sender.until(400).pop();
        assert_eq!(last.map(|(_, number)| number), Some(0), "the timer's retransmission");
        let mut out = sender.ack(1, &[]).len();
        assert_eq!(out, 2, "slow start");
        let mut next = 1;
        while next < 10 {
            let now = sender.millis();
            sender.until(now + 40);
            for _ in 0..std::mem::take(&mut out) {
                next += 1;
                out += sender.ack(next, &[]).len();
            }
        }
        assert!(sender.connection.all_acknowledged());
        assert_eq!(sender.timeouts(), 1, "probes {tlp}");
    }
}

#[test]
fn a_stamp_older_than_the_retransmission_shows_the_repair_was_not_needed() {
    let mut sender = warm(&[("loss", "rack"), ("timestamps", "on")]);
    let before = sender.cwnd_segments();
    sender.until(120);
    for last in 12..=14 {
        sender.ack(10, &[(11, last)]);
    }
    assert_eq!(sender.retransmitted(), 1);
    sender.until(125);
    sender.on(Ack { next: 14, sack: &[], echo: Some(80), ..Ack::default() });
    assert!(sender.cwnd_segments() >= before, "{}", sender.cwnd_segments());
    assert!(sender.ssthresh_segments() > 1e6);
}

/// A probe that is due may be held back, by pacing or by a busy host, until an acknowledgment says
/// that there is nothing to probe for: then none leaves, and none is accounted for (RFC 8985 §7.3).
#[test]
fn a_probe_that_never_left_repairs_nothing() {
    let mut sender = Sender::of(RACK, 2);
    assert_eq!(sender.sent(), [0, 1]);
    let due = sender.connection.deadline().expect("the probe timer");
    sender.now = due;
    sender.connection.handle_deadline(due, &mut NoSink);
    // The tail has arrived.
    assert_eq!(sender.ack(0, &[(1, 2)]), none());
    let cwnd = sender.cwnd_segments();
    sender.ack(1, &[(1, 2)]);
    sender.write(1);
    assert_eq!(sender.sent(), [2]);
    sender.ack(3, &[]);
    assert_eq!(sender.retransmitted(), 0);
    assert!(sender.cwnd_segments() >= cwnd, "cut for a loss that no probe repaired");
}

/// The same where everything is acknowledged before the probe can leave: the next segments are no
/// probe.
#[test]
fn a_probe_that_is_not_needed_any_more_is_forgotten() {
    let mut sender = Sender::of(RACK, 2);
    assert_eq!(sender.sent(), [0, 1]);
    let due = sender.connection.deadline().expect("the probe timer");
    sender.now = due;
    sender.connection.handle_deadline(due, &mut NoSink);
    assert_eq!(sender.ack(1, &[]), none(), "the other segment may be on its way");
    assert_eq!(sender.ack(2, &[]), none());
    assert_eq!(sender.retransmitted(), 0);
}
