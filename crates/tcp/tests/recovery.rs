//! Loss and its recovery, segment by segment, against an injected receiver.

use crate::kit::stack::Sender;

/// `count` duplicate acknowledgments of everything before `next`; what leaves in answer to each.
fn duplicates(peer: &mut Sender, next: u32, count: u32) -> Vec<Vec<u32>> {
    (0..count).map(|_| peer.ack(next, &[])).collect()
}

fn none() -> Vec<u32> {
    Vec::new()
}

#[test]
fn the_initial_window_leaves_at_once_and_each_acknowledgment_releases_two_in_slow_start() {
    let mut peer = Sender::plain(&[]);
    assert_eq!(peer.sent(), (0..10).collect::<Vec<_>>());
    peer.wait(40);
    assert_eq!(peer.ack(1, &[]), vec![10, 11]);
    assert_eq!(peer.ack(2, &[]), vec![12, 13]);
}

#[test]
fn two_duplicates_release_a_new_segment_each_and_the_third_a_retransmission() {
    let mut peer = Sender::plain(&[]);
    peer.sent();
    peer.wait(40);
    assert_eq!(duplicates(&mut peer, 0, 3), vec![vec![10], vec![11], vec![0]]);
    // RFC 5681 Eq. 4, without the two segments of limited transmit.
    assert_eq!(peer.ssthresh_segments(), 5.0);
}

#[test]
fn reno_inflates_by_a_segment_a_duplicate_and_deflates_with_the_first_new_acknowledgment() {
    let mut peer = Sender::plain(&[("recovery", "reno")]);
    peer.sent();
    peer.wait(40);
    duplicates(&mut peer, 0, 3);
    // 12 outstanding; 5 + 3 + n reaches 13 with the fifth further duplicate.
    let expected = vec![none(), none(), none(), none(), vec![12], vec![13], vec![14]];
    assert_eq!(duplicates(&mut peer, 0, 7), expected);
    assert_eq!(peer.ack(12, &[]), vec![15, 16]);
    assert_eq!(peer.cwnd_segments(), 5.0);
}

#[test]
fn newreno_repairs_a_second_hole_on_the_partial_acknowledgment() {
    let mut peer = Sender::plain(&[]);
    peer.sent();
    peer.wait(40);
    duplicates(&mut peer, 0, 3);
    duplicates(&mut peer, 0, 6);
    // Segments 0 and 4 were lost; the retransmission of 0 brings the acknowledgment to 4.
    let answer = peer.ack(4, &[]);
    assert_eq!(answer.first(), Some(&4));
    assert_eq!(peer.ssthresh_segments(), 5.0, "one reduction for both");
    assert_eq!(peer.connection.stats().retransmitted_segments, 2);
    // RFC 6582 §3.2 step 3: min (ssthresh, max (FlightSize, SMSS) + SMSS) at the end.
    let flight_before = peer.connection.flight_size();
    peer.ack(12, &[]);
    assert!(peer.cwnd_segments() <= 5.0, "{} of {flight_before}", peer.cwnd_segments());
}

#[test]
fn reno_leaves_a_second_hole_to_the_timer() {
    let mut peer = Sender::plain(&[("recovery", "reno")]);
    peer.sent();
    peer.wait(40);
    duplicates(&mut peer, 0, 3);
    peer.ack(4, &[]);
    // Duplicates of 4 cannot start a second recovery before segment 12 is acknowledged.
    duplicates(&mut peer, 4, 5);
    assert_eq!(peer.connection.stats().retransmitted_segments, 1);
    peer.wait(2_000);
    assert_eq!(peer.connection.stats().timeouts, 1);
    assert_eq!(peer.sent(), vec![4]);
}

#[test]
fn newreno_repairs_alike_whether_or_not_the_peer_sends_blocks() {
    let repair = |sack: bool, blocks: &[(u32, u32)]| {
        let mut peer = Sender::plain(&[("sack", if sack { "on" } else { "off" })]);
        peer.sent();
        peer.wait(40);
        let mut sent: Vec<Vec<u32>> = (0..7).map(|_| peer.ack(0, blocks)).collect();
        sent.push(peer.ack(4, &[]));
        sent
    };
    assert_eq!(repair(true, &[(1, 4), (5, 10)]), repair(false, &[]));
}

#[test]
fn tahoe_starts_again_from_one_segment() {
    let mut peer = Sender::plain(&[("recovery", "tahoe")]);
    peer.sent();
    peer.wait(40);
    assert_eq!(duplicates(&mut peer, 0, 3)[2], vec![0]);
    assert_eq!((peer.cwnd_segments(), peer.ssthresh_segments()), (1.0, 5.0));
    // Slow start: the next acknowledgment lets two segments go, the oldest ones first.
    assert_eq!(peer.ack(3, &[]), vec![3, 4]);
}

/// RFC 6582 §3.2 step 2: "covers more than recover".
#[test]
fn duplicates_of_what_tahoe_sent_again_for_nothing_start_no_repair() {
    let mut peer = Sender::plain(&[("recovery", "tahoe")]);
    peer.sent();
    peer.wait(40);
    duplicates(&mut peer, 0, 3);
    // Only segment 0 was lost; the acknowledgment covers all that was outstanding.
    assert_eq!(peer.ack(12, &[]), vec![12, 13]);
    // Limited transmit goes on, as with any doubt.
    let expected = vec![vec![14], vec![15], none(), none(), none()];
    assert_eq!(duplicates(&mut peer, 12, 5), expected);
    assert_eq!(peer.connection.stats().retransmitted_segments, 1);
}

#[test]
fn sack_repairs_exactly_what_is_missing() {
    let mut peer = Sender::plain(&[("recovery", "sack"), ("sack", "on")]);
    peer.sent();
    peer.wait(40);
    // 1, 3 and 5 arrive out of ten; with the third, 0 is lost; 2 has two segments above it.
    peer.ack(0, &[(1, 2)]);
    peer.ack(0, &[(3, 4), (1, 2)]);
    assert_eq!(peer.ack(0, &[(5, 6), (3, 4), (1, 2)]), vec![0]);
    // 6 to 9 arrive: 2 and 4 are lost too, and proportional rate reduction releases about half.
    let mut sent = Vec::new();
    for last in 7..=10 {
        sent.extend(peer.ack(0, &[(5, last), (3, 4), (1, 2)]));
    }
    assert_eq!(sent.iter().filter(|number| **number < 10).collect::<Vec<_>>(), vec![&2, &4]);
    let resent = peer.connection.stats().retransmitted_segments;
    assert_eq!(resent, 3, "each hole once");
}

/// RFC 9937 §6: over the whole recovery no more leaves than ssthresh allows, and cwnd ends there.
#[test]
fn the_window_comes_down_to_ssthresh_over_one_round_trip() {
    let mut peer = Sender::plain(&[("recovery", "sack"), ("sack", "on"), ("initial_window", "20")]);
    assert_eq!(peer.sent().len(), 20);
    peer.wait(40);
    let mut sent = Vec::new();
    for last in 2..=20 {
        sent.extend(peer.ack(0, &[(1, last)]));
    }
    assert_eq!(peer.ssthresh_segments(), 10.0);
    assert!((9..=12).contains(&sent.len()), "{} segments for 19 delivered", sent.len());
    let highest = *sent.iter().max().expect("something left") + 1;
    peer.ack(highest, &[]);
    assert_eq!(peer.cwnd_segments().floor(), 10.0);
}

#[test]
fn a_timeout_sends_one_segment_backs_off_and_holds_ssthresh_the_second_time() {
    let mut peer = Sender::plain(&[]);
    peer.sent();
    // One sample of 100 ms from the handshake: RTO = max (300 ms, 1 s).
    peer.wait(999);
    assert_eq!(peer.sent(), none());
    peer.wait(1);
    assert_eq!(peer.sent(), vec![0]);
    assert_eq!((peer.cwnd_segments(), peer.ssthresh_segments()), (1.0, 5.0));
    peer.wait(1_999);
    assert_eq!(peer.sent(), none());
    peer.wait(1);
    assert_eq!(peer.sent(), vec![0]);
    assert_eq!(peer.ssthresh_segments(), 5.0);
    assert_eq!(peer.connection.rto(), ackord_units::Span::from_secs(4));
}

#[test]
fn duplicates_after_a_timeout_start_no_fast_retransmit() {
    let mut peer = Sender::plain(&[]);
    peer.sent();
    peer.wait(1_000);
    assert_eq!(peer.sent(), vec![0]);
    assert_eq!(duplicates(&mut peer, 0, 5), vec![none(); 5]);
    assert_eq!(peer.connection.stats().retransmitted_segments, 1);
}

#[test]
fn an_acknowledgment_of_a_retransmission_is_no_sample_without_timestamps() {
    let mut peer = Sender::plain(&[]);
    peer.sent();
    let before = peer.connection.srtt();
    peer.wait(1_000);
    peer.sent();
    peer.wait(700);
    peer.ack(1, &[]);
    assert_eq!(peer.connection.srtt(), before, "Karn's rule");
    assert_eq!(peer.connection.rto(), ackord_units::Span::from_secs(2), "the back-off stays");
}

#[test]
fn acknowledgments_of_what_was_never_sent_change_nothing() {
    let mut peer = Sender::plain(&[("recovery", "sack"), ("sack", "on")]);
    peer.sent();
    peer.wait(40);
    assert_eq!(peer.ack(500, &[]), none());
    assert_eq!(peer.ack(0, &[(400, 500)]), none());
    assert_eq!(peer.connection.bytes_acked(), 0);
    assert_eq!(peer.cwnd_segments(), 10.0);
}
