//! Every segment that is taken for lost is told of once, whoever takes it for lost: RFC 6298's timer,
//! RFC 8985's clock or duplicate acknowledgments.

use crate::kit::stack::{Ack, Sender};
use ackord_events::{Event, Sink};
use ackord_units::{Bytes, Time};

/// Bytes declared lost, and what else moved.
#[derive(Default)]
struct DeclaredLost(Vec<u64>);

impl Sink for DeclaredLost {
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        if let Event::SegmentLost { bytes: Bytes(bytes), .. } = event {
            self.0.push(bytes);
        }
    }
}

/// What is declared lost up to the first retransmission timeout and at it.
fn by_the_timer(settings: &[(&str, &str)], sack: &[(u32, u32)]) -> Vec<u64> {
    let mut sender = Sender::of(settings, 10);
    assert_eq!(sender.sent().len(), 10);
    if !sack.is_empty() {
        sender.until(80);
        sender.on(Ack { sack, ..Ack::default() });
    }
    let mut lost = DeclaredLost::default();
    while sender.timeouts() == 0 {
        sender.now = sender.connection.deadline().expect("a timer runs");
        sender.connection.handle_deadline(sender.now, &mut lost);
        sender.sent();
    }
    lost.0
}

/// RFC 6675 §5.1: after a timeout everything counts as lost that was not reported.
#[test]
fn a_timeout_declares_all_that_was_not_reported() {
    let plain = [("loss", "fixed")];
    assert_eq!(by_the_timer(&plain, &[]), [1000; 10]);
    assert_eq!(by_the_timer(&plain, &[(3, 5)]), [1000; 8]);
}

/// RFC 8985 §6.3: the oldest, and those that have been out for long enough.
#[test]
fn with_rack_a_timeout_declares_the_same_before_anything_has_arrived() {
    assert_eq!(by_the_timer(&[("loss", "rack"), ("loss.tlp", "off")], &[]), [1000; 10]);
}

/// What duplicates have shown to be lost is not declared once more by the timer that finds its
/// recovery missing: that recovery is, once.
#[test]
fn what_is_lost_already_is_not_declared_again() {
    let mut sender = Sender::of(&[("loss", "fixed")], 10);
    assert_eq!(sender.sent().len(), 10);
    sender.until(80);
    sender.on(Ack { sack: &[(1, 4)], ..Ack::default() });
    let mut lost = DeclaredLost::default();
    for next in 5..=7 {
        sender.on(Ack { sack: &[(1, next)], ..Ack::default() });
    }
    assert_eq!(sender.retransmitted(), 1, "the hole has been retransmitted");
    while sender.timeouts() == 0 {
        sender.now = sender.connection.deadline().expect("a timer runs");
        sender.connection.handle_deadline(sender.now, &mut lost);
    }
    // Its recovery, and what lies above what was reported.
    let outstanding = sender.connection.flight_size().get();
    assert_eq!(lost.0.iter().sum::<u64>(), outstanding - 6 * 1000);
    // Nothing has left since: a second timeout finds all of it lost already.
    let mut again = DeclaredLost::default();
    while sender.timeouts() == 1 {
        sender.now = sender.connection.deadline().expect("a timer runs");
        sender.connection.handle_deadline(sender.now, &mut again);
    }
    assert_eq!(again.0, [0_u64; 0]);
}
