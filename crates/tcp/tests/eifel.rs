//! Eifel (RFC 3522, RFC 4015) against an injected receiver: a path of 40 ms that pauses.

use crate::kit::stack::{Ack, Sender};

/// Ten segments leave at 40 ms, the timer expires at 240 ms and sends the first again.
fn after_a_timeout() -> Sender {
    let mut sender = Sender::of(&[("loss", "eifel"), ("timestamps", "on")], 1_000);
    assert_eq!(sender.sent().len(), 10);
    assert_eq!(sender.until(300), vec![(240, 0)]);
    assert_eq!((sender.timeouts(), sender.cwnd_segments()), (1, 1.0));
    sender
}

/// RFC 4015 §3: new data goes on from what is outstanding and was acknowledged, and the timer
/// learns from the first sample of data sent after the timeout.
#[test]
fn a_late_original_continues_with_new_data_and_a_longer_timer() {
    let mut sender = after_a_timeout();
    // The originals come late, two to an acknowledgment: 8 outstanding and 2 acknowledged.
    assert_eq!(sender.on(Ack { next: 2, echo: Some(40), ..Ack::default() }), vec![10, 11]);
    assert_eq!((sender.cwnd_segments(), sender.retransmitted()), (10.0, 1));
    assert!(sender.ssthresh_segments() > 1e6, "pipe_prev: there was none");
    for next in 3..=10 {
        sender.on(Ack { next, echo: Some(40), ..Ack::default() });
    }
    // What left at 300 ms is acknowledged 100 ms later: that sample sets the timer.
    sender.until(400);
    sender.on(Ack { next: 12, echo: Some(300), ..Ack::default() });
    // SRTT is what the late originals made of it at the most; here the sample and what was known
    // before the timeout, 40 ms of 40 and 20 ms, decide: 100 + 4 * 50 ms.
    assert_eq!(sender.connection.srtt().map(|srtt| srtt.as_millis()), Some(100));
    assert_eq!(sender.connection.rto().as_millis(), 300);
    assert_eq!((sender.retransmitted(), sender.timeouts()), (1, 1));
}

/// RFC 3522 §3.2 step 5: it may be an answer to the duplicate, its own acknowledgment lost.
#[test]
fn an_acknowledgment_of_everything_is_no_proof() {
    let mut sender = after_a_timeout();
    sender.on(Ack { next: 10, echo: Some(40), ..Ack::default() });
    assert!(sender.cwnd_segments() <= 2.0, "{}", sender.cwnd_segments());
}

#[test]
fn an_acknowledgment_that_reports_the_duplicate_is_no_proof() {
    let mut sender = after_a_timeout();
    sender.on(Ack { next: 5, sack: &[(0, 1)], echo: Some(40), ..Ack::default() });
    assert!(sender.cwnd_segments() <= 2.0, "{}", sender.cwnd_segments());
}
