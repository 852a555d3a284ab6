//! What a connection shows of itself, beside what was sent and acknowledged.

use crate::kit::stack::Sender;
use ackord_tcp::RecoveryState;
use ackord_units::Span;

#[test]
fn a_snapshot_counts_what_is_outstanding_arrived_lost_and_sent_again() {
    let mut peer = Sender::plain(&[("recovery", "sack"), ("sack", "on")]);
    peer.sent();
    peer.wait(40);
    let before = peer.connection.snapshot();
    assert_eq!((before.recovery, before.segments.all), (RecoveryState::None, 10));
    assert!(before.agreed.sack);

    // The first of ten is missing; one later segment is reported, then three.
    peer.ack(0, &[(1, 2)]);
    let doubtful = peer.connection.snapshot();
    assert_eq!((doubtful.recovery, doubtful.segments.sacked), (RecoveryState::Doubtful, 1));
    peer.ack(0, &[(1, 3)]);
    peer.ack(0, &[(1, 4)]);
    let recovering = peer.connection.snapshot();
    assert_eq!((recovering.recovery, recovering.segments.sacked), (RecoveryState::Fast, 3));
    assert_eq!((recovering.segments.lost, recovering.segments.retransmitted), (0, 1));
    assert_eq!(recovering.duplicate_threshold, 3);

    peer.wait(5_000);
    let after = peer.connection.snapshot();
    assert_eq!(after.recovery, RecoveryState::Timeout);
    assert!(after.timeouts_in_row >= 1 && after.backoff == after.timeouts_in_row, "{after:?}");
    assert!(after.rto >= Span::from_secs(2) && after.rto > before.rto, "{after:?}");
    assert!(after.cwnd <= before.cwnd && after.ssthresh < before.ssthresh);
}
