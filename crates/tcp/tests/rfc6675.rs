//! The scoreboard's rules (RFC 6675), one by one, against an injected receiver.

use crate::kit::stack::{Ack, Sender};

/// Ten segments are out, nothing more is to be sent, and the peer speaks SACK. Without proportional
/// rate reduction, so that pipe and cwnd alone decide.
fn ten_and_no_more() -> Sender {
    let mut sender = Sender::of(&[("recovery.prr", "off")], 10);
    assert_eq!(sender.sent().len(), 10);
    sender.until(80);
    sender
}

/// §4 NextSeg (4): the tail, above which nothing can be SACKed, is retransmitted once the first recovery
/// has got through; without it the timer would have to.
#[test]
fn the_tail_is_rescued_once_the_first_repair_is_acknowledged() {
    let mut sender = ten_and_no_more();
    // 0 and 9 are lost.
    for count in 1..=8 {
        let sent = sender.ack(0, &[(1, 1 + count)]);
        let repair = if count == 3 { vec![0] } else { vec![] };
        assert_eq!(sent, repair, "{count} reported");
    }
    sender.until(120);
    assert_eq!(sender.ack(9, &[]), vec![9]);
    sender.until(160);
    assert_eq!(sender.ack(10, &[]), Vec::<u32>::new());
    assert_eq!((sender.timeouts(), sender.retransmitted()), (0, 2));
}

/// The rescue is spent once a recovery, and not while the first recovery is under way.
#[test]
fn one_rescue_a_recovery() {
    let mut sender = ten_and_no_more();
    // 0, 8 and 9 are lost.
    for count in 1..=7 {
        sender.ack(0, &[(1, 1 + count)]);
    }
    sender.until(120);
    assert_eq!(sender.ack(8, &[]), vec![9], "the highest, not the next");
    sender.until(160);
    assert_eq!(sender.ack(8, &[(9, 10)]), vec![8], "rule 3 now");
    sender.until(200);
    sender.ack(10, &[]);
    assert_eq!((sender.timeouts(), sender.retransmitted()), (0, 3));
}

/// §4 NextSeg (3) and SetPipe: a segment retransmitted though it is not lost counts twice, so that no
/// more leave than cwnd has room for.
#[test]
fn holes_that_are_not_lost_yet_leave_one_by_one() {
    let settings = [("recovery.prr", "off"), ("initial_window", "20")];
    let mut sender = Sender::of(&settings, 20);
    assert_eq!(sender.sent().len(), 20);
    sender.until(80);
    for count in 1..=11 {
        sender.ack(0, &[(1, 1 + count)]);
    }
    // 20 out, 11 arrived, 0 is lost and under way again: pipe 9, cwnd 10.
    assert_eq!(sender.retransmitted(), 1);
    // 15 arrives: pipe 8, and room for two of the three holes below it.
    assert_eq!(sender.ack(0, &[(15, 16), (1, 12)]), vec![12, 13]);
    // 16 arrives: pipe 9 of 10.
    assert_eq!(sender.ack(0, &[(15, 17), (1, 12)]), vec![14]);
    // 17 arrives: 12 to 14 are lost after all, and count once.
    sender.ack(0, &[(15, 18), (1, 12)]);
    assert_eq!(sender.retransmitted(), 4);
    assert_eq!(sender.ack(20, &[]), Vec::<u32>::new());
    assert_eq!(sender.connection.flight_size().get(), 0);
}

/// RFC 2018 §8: after a timeout the oldest segment is retransmitted, reported or not. A receiver that
/// has thrown away what it had reported gets all of it.
#[test]
fn a_receiver_that_reneges_gets_everything_again() {
    for loss in ["fixed", "rack"] {
        let mut sender = Sender::of(&[("loss", loss), ("loss.tlp", "off")], 4);
        assert_eq!(sender.sent().len(), 4);
        sender.until(80);
        // 1 to 3 are reported, and forgotten before 0 comes.
        sender.ack(0, &[(1, 3)]);
        sender.ack(1, &[]);
        let sent: Vec<u32> = sender.until(5_000).into_iter().map(|(_, number)| number).collect();
        assert_eq!(sent.first(), Some(&1), "{loss}");
        let mut next = 2;
        while next < 4 {
            sender.until(sender.millis() + 40);
            sender.ack(next, &[]);
            next += 1;
        }
        sender.until(sender.millis() + 10_000);
        sender.ack(4, &[]);
        assert!(sender.connection.all_acknowledged(), "{loss}");
    }
}

/// What one acknowledgment reports may end within a segment, behind a box that cuts segments: the
/// rest of it is taken in with the next.
#[test]
fn a_block_that_grows_from_within_a_segment_reports_all_of_it() {
    let mut sender = Sender::of(&[("recovery.prr", "off")], 10);
    sender.sent();
    sender.until(80);
    sender.report_bytes(0, (1_000, 1_500));
    sender.report_bytes(0, (1_000, 2_500));
    sender.report_bytes(0, (1_000, 3_500));
    // 1 and 2 are there: two segments, not more.
    assert_eq!(sender.retransmitted(), 0);
    sender.report_bytes(0, (1_000, 4_000));
    assert_eq!(sender.retransmitted(), 1);
    sender.on(Ack { next: 10, ..Ack::default() });
    assert!(sender.connection.all_acknowledged());
}
