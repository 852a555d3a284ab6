//! Where RACK in Linux departs from RFC 8985, and which reports of duplicates Linux believes: a
//! path of 40 ms, segments of 1000 bytes, ten at first.

use crate::kit::stack::{Ack, Sender};

const RFC: &[(&str, &str)] = &[("loss", "rack")];
const LINUX: &[(&str, &str)] =
    &[("loss", "rack"), ("loss.rules", "linux"), ("duplicate_reports", "plausible")];

/// Ten segments delivered, twenty out: SRTT and minimum are 40 ms, and it is 120 ms.
fn warm(settings: &[(&str, &str)], more: &[(&str, &str)]) -> Sender {
    let mut sender = Sender::of(&[settings, more].concat(), 1_000);
    assert_eq!(sender.sent().len(), 10);
    sender.until(80);
    for next in 1..=10 {
        sender.ack(next, &[]);
    }
    sender.until(120);
    sender
}

/// Three segments above a hole: it is retransmitted. The original then comes, 5 ms later.
fn repair_in_vain(sender: &mut Sender, echo: Option<u64>) {
    for last in 12..=14 {
        sender.ack(10, &[(11, last)]);
    }
    assert_eq!(sender.retransmitted(), 1);
    sender.until(125);
    sender.on(Ack { next: 14, sack: &[], echo, ..Ack::default() });
}

/// Four more of what left by 120 ms arrive, all but the first: after how long that one is sent
/// again, in milliseconds, if within 40.
fn next_hole(sender: &mut Sender, next: u32) -> Option<u64> {
    let from = sender.millis();
    let now = sender.ack(next, &[(next + 1, next + 5)]);
    if now.contains(&next) {
        return Some(0);
    }
    let left = sender.until(from + 40);
    left.iter().find(|(_, number)| *number == next).map(|(at, _)| at - from)
}

#[test]
fn to_linux_an_original_that_was_late_by_its_stamp_is_reordering() {
    let stamps = [("timestamps", "on")];
    let mut rfc = warm(RFC, &stamps);
    repair_in_vain(&mut rfc, Some(80));
    // The recovery has been undone, and DupThresh stands.
    assert!(rfc.ssthresh_segments() > 1e6);
    assert_eq!(next_hole(&mut rfc, 14), Some(0));
    let mut linux = warm(LINUX, &stamps);
    repair_in_vain(&mut linux, Some(80));
    assert!(linux.ssthresh_segments() > 1e6);
    // A quarter of the round trip, whatever lies above.
    assert!(next_hole(&mut linux, 14).is_some_and(|waited| (5..=15).contains(&waited)));
}

#[test]
fn to_linux_a_late_original_without_a_stamp_looks_like_the_repair() {
    let mut linux = warm(LINUX, &[]);
    repair_in_vain(&mut linux, None);
    assert!(linux.ssthresh_segments() < 1e6, "not undone");
    assert_eq!(next_hole(&mut linux, 14), Some(0));
}

/// The report of a duplicate that the sender had nothing to do with.
fn report_foreign(sender: &mut Sender, next: u32) {
    sender.ack(next, &[(3, 4)]);
}

#[test]
fn linux_believes_no_report_once_there_are_more_than_it_sent_again() {
    for (settings, foreign, undone) in [(RFC, 2, true), (LINUX, 0, true), (LINUX, 1, false)] {
        let mut sender = warm(settings, &[]);
        repair_in_vain(&mut sender, None);
        for _ in 0..foreign {
            report_foreign(&mut sender, 14);
        }
        sender.until(160);
        let all = 1 + sender.log.iter().map(|(number, ..)| *number).max().expect("sent");
        sender.ack(all, &[]);
        assert!(sender.ssthresh_segments() < 1e6);
        // The recovery arrives too.
        sender.ack(all, &[(10, 11)]);
        assert_eq!(sender.ssthresh_segments() > 1e6, undone, "{settings:?} {foreign}");
    }
}
