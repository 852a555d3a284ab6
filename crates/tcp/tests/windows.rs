//! Flow control by hand: the window a receiver offers, and what a sender makes of a small one
//! (RFC 9293 §3.8.6).

use crate::kit::hand::{Hand, blocks};
use ackord_events::NoSink;
use ackord_tcp::PayloadPlace;
use ackord_units::Bytes;
use ackord_wire::{Ecn, Flags};

/// The buffer holds 4 MiB, so that the window field counts 128 bytes. Segments of a hundred that
/// nobody reads must not push its right edge on for ever.
#[test]
fn small_segments_fill_a_buffer_no_further_than_it_is_large() {
    for (buffer, payload) in [("256 KiB", 100), ("200000 B", 1), ("70001 B", 7)] {
        let mut hand = Hand::listening(&[("receive_buffer", buffer), ("ack", "immediate")], 1000);
        let mut offset = 0;
        let mut edge = 0;
        loop {
            let len = if offset < 60_000 { 1000 } else { payload };
            let answer = *hand.get(offset, len, Flags::ACK).last().expect("acknowledged");
            assert!(answer.ack + answer.window <= edge.max(hand_size(buffer)), "{answer:?}");
            edge = edge.max(answer.ack + answer.window);
            if answer.ack < offset + len {
                break;
            }
            offset += len;
            assert!(offset <= hand_size(buffer), "{buffer}: {offset} bytes taken in");
        }
        // And the buffer is used, but for a window smaller than a segment.
        assert!(hand.host.readable() + Bytes(1000) >= Bytes(u64::from(hand_size(buffer))));
    }
}

fn hand_size(buffer: &str) -> u32 {
    match buffer {
        "256 KiB" => 256 * 1024,
        "200000 B" => 200_000,
        _ => 70_001,
    }
}

/// RFC 9293 §3.8.6.2.2: a closed window opens by two segments or half of the buffer, whatever is
/// less, and the sender hears of that at once.
#[test]
fn a_reader_that_drains_a_closed_window_tells_of_it() {
    for (buffer, filled, step) in [("8000 B", 8, 2000), ("3000 B", 3, 1500), ("1000 B", 1, 500)] {
        let mut hand = Hand::listening(&[("receive_buffer", buffer)], 1000);
        for number in 0..filled {
            hand.get(number * 1000, 1000, Flags::ACK);
        }
        hand.wait(300);
        assert!(hand.read(step - 1).is_empty(), "{buffer}");
        let update = hand.read(1);
        assert_eq!(update.len(), 1, "{buffer}");
        assert_eq!(update[0].window, step as u32, "{buffer}");
    }
}

/// Half of the buffer is told even where the window had not become small.
#[test]
fn a_reader_that_frees_half_of_the_buffer_tells_of_it() {
    let mut hand = Hand::listening(&[("receive_buffer", "40000 B")], 1000);
    for number in 0..30 {
        hand.get(number * 1000, 1000, Flags::ACK);
    }
    hand.wait(300);
    assert!(hand.read(19_999).is_empty());
    assert_eq!(hand.read(1)[0].window, 30_000);
}

/// RFC 9293 §3.8.6.2.1 (4): a window too small for a segment is used after the override timeout,
/// which does not double as the interval of probes does.
#[test]
fn a_small_window_is_used_after_the_override_timeout_each_time() {
    let mut hand = Hand::listening(&[("rto_min", "1 s"), ("nagle", "on")], 1000);
    hand.window = 300;
    hand.get(0, 0, Flags::ACK);
    assert!(hand.write(5_000).is_empty(), "less than half of the largest window offered");
    for number in 0..5 {
        let left = hand.wait(1_390);
        let sizes: Vec<_> = left.iter().map(|(at, left)| (*at, left.payload)).collect();
        assert_eq!(sizes, vec![(1_000, 300)], "piece {number}");
        hand.acks += 300;
        hand.get(0, 0, Flags::ACK);
    }
}

/// RFC 9293 §3.8.6.1: the first probe after a retransmission timeout, the interval doubles.
#[test]
fn probes_of_a_closed_window_back_off() {
    let mut hand = Hand::listening(&[("rto_min", "1 s")], 1000);
    hand.window = 0;
    hand.get(0, 0, Flags::ACK);
    assert!(hand.write(5_000).is_empty());
    let probes: Vec<_> = hand.wait(40_000).iter().map(|(at, left)| (*at, left.payload)).collect();
    assert_eq!(probes, vec![(1_000, 1), (3_000, 1), (7_000, 1), (15_000, 1), (31_000, 1)]);
}

/// A byte that went as a probe is part of what leaves when the window opens; an acknowledgment of
/// one more than that acknowledges nothing that was sent.
#[test]
fn a_probe_of_long_ago_makes_nothing_acceptable() {
    let mut hand = Hand::listening(&[("rto_min", "1 s")], 1000);
    hand.window = 0;
    hand.get(0, 0, Flags::ACK);
    hand.write(1_000);
    assert_eq!(hand.wait(1_500).len(), 1);
    hand.window = 60_000;
    assert_eq!(hand.get(0, 0, Flags::ACK).len(), 1, "all of it leaves");
    hand.acks = 1_001;
    hand.get(0, 0, Flags::ACK);
    assert_eq!(hand.host.bytes_acked(), 0);
    hand.acks = 1_000;
    hand.get(0, 0, Flags::ACK);
    assert_eq!(hand.host.bytes_acked(), 1_000);
    assert!(hand.host.all_acknowledged());
}

/// RFC 6691: whatever a segment carries, header options and payload fit into the peer's MSS. What
/// is retransmitted is as long as it was, also if there are blocks to report now: they leave on their
/// own.
#[test]
fn no_segment_exceeds_the_peers_mss_and_the_blocks_leave_all_the_same() {
    let mut hand = Hand::listening(&[("rto_min", "200 ms")], 1000);
    assert_eq!(hand.write(2_000).len(), 2);
    // A hole in what we receive; our two segments are lost.
    hand.get(1_000, 500, Flags::ACK);
    hand.wait(150);
    hand.get(2_000, 500, Flags::ACK);
    hand.host.handle_deadline(hand.host.deadline().expect("the timer"), &mut ackord_events::NoSink);
    hand.now += ackord_units::Span::from_millis(100);
    // A third above the hole, in the moment in which the oldest is retransmitted.
    let segment = hand.get(3_000, 500, Flags::ACK);
    assert_eq!(segment.iter().map(|left| left.payload).collect::<Vec<_>>(), vec![1000, 0]);
}

/// The same for new data, which makes room for the blocks.
#[test]
fn new_data_makes_room_for_the_blocks_it_carries() {
    let mut hand = Hand::listening(&[("nagle", "off")], 1000);
    hand.get(1_000, 500, Flags::ACK);
    hand.get(2_000, 500, Flags::ACK);
    hand.host.write(Bytes(5_000));
    for segment in hand.segments() {
        let blocks = segment.options.sack.len() as u32;
        let options = if blocks == 0 { 0 } else { 4 + 8 * blocks };
        assert!(segment.payload_len + options <= 1000, "{segment:?}");
        assert_eq!(blocks, 2);
    }
}

/// A FIN above a hole takes a place in sequence space: the block tells of it, and the retransmission
/// of what is before it is all that is needed.
#[test]
fn a_fin_above_a_hole_is_reported_and_kept() {
    let mut hand = Hand::listening(&[], 1000);
    assert_eq!(hand.get(1_000, 500, Flags::FIN)[0].ack, 0);
    let answer = hand.get(0, 1_000, Flags::ACK);
    assert_eq!(answer[0].ack, 1_501, "the data and the FIN");
    assert!(hand.host.peer_finished());
    assert_eq!(hand.host.bytes_received(), 1_500);
}

#[test]
fn the_block_of_a_segment_with_a_fin_covers_the_fin() {
    let mut hand = Hand::listening(&[], 1000);
    let arrive = |hand: &mut Hand, offset: u32, payload_len, flags: Flags| {
        let peer = crate::kit::hand::peers_segment(offset, payload_len, flags);
        let now = hand.now;
        hand.host.handle_segment(now, &peer, Ecn::NotEct, &mut NoSink);
        hand.segments().first().map(blocks)
    };
    assert_eq!(arrive(&mut hand, 1_000, 500, Flags::FIN), Some(vec![(1_000, 1_501)]));
    // A bare one.
    let mut hand = Hand::listening(&[], 1000);
    assert_eq!(arrive(&mut hand, 1_000, 0, Flags::FIN), Some(vec![(1_000, 1_001)]));
    // Retransmitted, it is a duplicate.
    assert_eq!(arrive(&mut hand, 1_000, 0, Flags::FIN), Some(vec![(1_000, 1_001), (1_000, 1_001)]));
}

/// What overlaps is counted once, whichever way it does; what lies beyond the window is not taken.
#[test]
fn every_overlap_is_counted_once() {
    let mut hand = Hand::listening(&[("receive_buffer", "10000 B")], 1000);
    hand.get(2_000, 1_000, Flags::ACK);
    hand.get(1_500, 1_000, Flags::ACK);
    hand.get(2_500, 1_000, Flags::ACK);
    hand.get(1_800, 100, Flags::ACK);
    assert_eq!(hand.host.bytes_received(), 0);
    let answer = hand.get(0, 2_000, Flags::ACK);
    assert_eq!((answer[0].ack, hand.host.bytes_received()), (3_500, 3_500));
    // Old and new in one.
    hand.get(3_000, 1_000, Flags::ACK);
    assert_eq!(hand.host.bytes_received(), 4_000);
    // The last 500 lie beyond the window of 10,000.
    let answer = hand.get(4_000, 6_500, Flags::ACK);
    assert_eq!((answer[0].ack, answer[0].window), (10_000, 0));
    assert_eq!(hand.host.readable(), Bytes(10_000));
}

/// The same segment with a FIN beyond the window: the FIN is cut off with the rest, and counts when
/// it comes again.
#[test]
fn a_fin_beyond_the_window_is_cut_off_with_what_is_before_it() {
    let mut hand = Hand::listening(&[("receive_buffer", "2000 B")], 1000);
    let answer = hand.get(0, 2_500, Flags::FIN);
    assert_eq!(answer[0].ack, 2_000);
    assert!(!hand.host.peer_finished());
    hand.read(2_000);
    let answer = hand.get(2_000, 100, Flags::ACK);
    assert!(answer.is_empty() || answer[0].ack == 2_100);
    assert!(!hand.host.peer_finished(), "the end of the stream is not where it seemed");
    hand.get(2_100, 400, Flags::FIN);
    assert!(hand.host.peer_finished());
    assert_eq!(hand.host.bytes_received(), 2_500);
}

/// A peer that has filled the window, of which a byte is missing here, goes on acknowledging from
/// its right edge: those acknowledgments count, and draw no answer that would look like a duplicate.
#[test]
fn an_acknowledgment_from_the_edge_of_the_window_counts() {
    let mut hand = Hand::listening(&[("receive_buffer", "3000 B")], 1000);
    hand.write(3_000);
    hand.get(1_000, 1_000, Flags::ACK);
    hand.get(2_000, 1_000, Flags::ACK);
    hand.acks = 2_000;
    assert!(hand.get(3_000, 0, Flags::ACK).is_empty());
    assert_eq!(hand.host.bytes_acked(), 2_000);
    // One byte further it is out of the window, and answered.
    hand.acks = 3_000;
    assert_eq!(hand.get(3_001, 0, Flags::ACK).len(), 1);
    assert_eq!(hand.host.bytes_acked(), 2_000);
}

/// Whoever keeps the bytes is told which of them were taken in, by the same checks that decide
/// about the segment (RFC 9293 §3.10.7.4): not those that have come before, nor those beyond the
/// window, beyond the end of the stream, or of a segment that is refused.
#[test]
fn the_bytes_that_are_taken_in_are_those_that_are_named() {
    let mut hand = Hand::listening(&[("receive_buffer", "10000 B")], 1000);
    let take = |hand: &mut Hand, offset: u32, payload_len: u32, flags: Flags| {
        let peer = crate::kit::hand::peers_segment(offset, payload_len, flags);
        let now = hand.now;
        let place = hand.host.handle_segment(now, &peer, Ecn::NotEct, &mut NoSink);
        hand.segments();
        place.map(|PayloadPlace { skip, len, at }| (skip, len, at))
    };
    assert_eq!(take(&mut hand, 0, 1_000, Flags::ACK), Some((0, 1_000, 0)));
    assert_eq!(take(&mut hand, 500, 1_000, Flags::ACK), Some((500, 500, 1_000)));
    assert_eq!(take(&mut hand, 0, 1_000, Flags::ACK), None, "all of it has come before");
    assert_eq!(take(&mut hand, 9_000, 5_000, Flags::ACK), Some((0, 1_000, 9_000)), "the window");
    assert_eq!(take(&mut hand, 9_200, 300, Flags::ACK), None, "it waits there already");
    assert_eq!(take(&mut hand, 3_000, 1_000, Flags::SYN), None, "a SYN in the window");
    assert_eq!(take(&mut hand, 3_000, 1_000, Flags::RST), None);
    // A connection that nobody reads any more keeps nothing.
    let mut released = Hand::listening(&[], 1000);
    released.host.release(released.now);
    released.segments();
    assert_eq!(take(&mut released, 0, 1_000, Flags::ACK), None);
    // Nothing lies beyond the end.
    let mut ended = Hand::listening(&[], 1000);
    assert_eq!(take(&mut ended, 1_000, 500, Flags::FIN), Some((0, 500, 1_000)));
    assert_eq!(take(&mut ended, 0, 3_000, Flags::ACK), Some((0, 1_500, 0)));
}
