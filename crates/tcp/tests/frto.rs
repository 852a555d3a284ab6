//! F-RTO (RFC 5682) against an injected receiver: a path of 40 ms that pauses.

use crate::kit::stack::Sender;

fn none() -> Vec<u32> {
    Vec::new()
}

/// Ten segments are out and nothing comes back until the timer has expired at 240 ms.
fn after_a_timeout(settings: &[(&str, &str)]) -> Sender {
    let mut all = vec![("frto", "on")];
    all.extend_from_slice(settings);
    let mut sender = Sender::of(&all, 1_000);
    assert_eq!(sender.sent().len(), 10);
    assert_eq!(sender.until(300), vec![(240, 0)]);
    assert_eq!((sender.timeouts(), sender.cwnd_segments()), (1, 1.0));
    sender
}

#[test]
fn a_pause_of_the_path_is_undone_with_cwnd_as_it_was() {
    for sack in ["on", "off"] {
        let mut sender = after_a_timeout(&[("sack", sack)]);
        // The originals arrive late: two new segments, and no retransmission.
        assert_eq!(sender.ack(1, &[]), vec![10, 11], "sack {sack}");
        sender.ack(2, &[]);
        assert_eq!(sender.cwnd_segments(), 10.0);
        assert!(sender.ssthresh_segments() > 1e6, "none, as before");
        assert_eq!(sender.retransmitted(), 1);
        for next in 3..=12 {
            sender.ack(next, &[]);
        }
        assert_eq!((sender.retransmitted(), sender.timeouts()), (1, 1));
    }
}

#[test]
fn a_pause_of_several_timeouts_is_undone_too() {
    let mut sender = Sender::of(&[("frto", "on")], 1_000);
    sender.sent();
    assert_eq!(sender.until(1_500), vec![(240, 0), (640, 0), (1_440, 0)]);
    assert_eq!(sender.ack(1, &[]), vec![10, 11]);
    sender.ack(2, &[]);
    assert_eq!(sender.cwnd_segments(), 10.0);
    assert!(sender.ssthresh_segments() > 1e6);
}

#[test]
fn without_frto_everything_is_sent_again() {
    let mut sender = Sender::of(&[("frto", "off")], 1_000);
    sender.sent();
    sender.until(300);
    assert_eq!(sender.ack(1, &[]), vec![1, 2]);
    sender.ack(2, &[]);
    assert!(sender.cwnd_segments() < 5.0);
}

#[test]
fn duplicates_of_the_new_data_mean_that_the_loss_is_real() {
    let mut sender = after_a_timeout(&[("sack", "off")]);
    assert_eq!(sender.ack(1, &[]), vec![10, 11]);
    sender.until(340);
    assert_eq!(sender.ack(1, &[]), vec![1]);
    let mut next = 1;
    while !sender.connection.stats().timeouts > 1 && next < 10 {
        next += 1;
        sender.until(300 + u64::from(next) * 20);
        sender.ack(next, &[]);
    }
    assert_eq!(sender.timeouts(), 1, "the repair needs no second timeout");
    assert!(sender.cwnd_segments() < 10.0);
}

#[test]
fn with_sack_a_report_of_the_new_data_means_that_the_loss_is_real() {
    let mut sender = after_a_timeout(&[]);
    assert_eq!(sender.ack(1, &[]), vec![10, 11]);
    sender.until(340);
    let answer = sender.ack(1, &[(10, 11)]);
    assert!(answer.contains(&1), "{answer:?}");
    assert!(sender.cwnd_segments() <= 3.0, "step 3 a");
}

#[test]
fn with_sack_a_late_original_shows_it_spurious() {
    let mut sender = after_a_timeout(&[]);
    assert_eq!(sender.ack(1, &[]), vec![10, 11]);
    // 1 is lost, 2 arrives late: the timeout was not needed, the recovery of 1 is.
    sender.ack(1, &[(2, 3)]);
    assert_eq!(sender.cwnd_segments(), 10.0);
    sender.ack(1, &[(2, 4)]);
    assert_eq!(sender.ack(1, &[(2, 5)])[0], 1);
}

#[test]
fn the_timer_striking_in_its_own_recovery_is_not_looked_into() {
    let mut sender = after_a_timeout(&[("sack", "off")]);
    sender.ack(1, &[]);
    sender.until(340);
    sender.ack(1, &[]);
    // Nothing more comes: a second timeout while 10 is not acknowledged.
    sender.until(2_000);
    assert!(sender.timeouts() >= 2);
    assert_ne!(sender.ack(2, &[]), none());
    sender.ack(3, &[]);
    assert!(sender.cwnd_segments() < 10.0);
}

#[test]
fn with_rack_the_undone_timeout_leaves_loss_detection_working() {
    let mut sender = after_a_timeout(&[("loss", "rack"), ("loss.tlp", "off")]);
    assert_eq!(sender.ack(1, &[]), vec![10, 11]);
    sender.ack(2, &[]);
    assert_eq!(sender.cwnd_segments(), 10.0);
    // 2 was lost after all; what left at the same time arrives.
    for last in 4..=6 {
        sender.ack(2, &[(3, last)]);
    }
    assert_eq!(sender.retransmitted(), 2);
    assert_eq!(sender.timeouts(), 1);
}
