//! What becomes of a segment, record by record.

use super::*;
use ackord_units::Time;
use proptest::prelude::*;

/// Ten segments of 100 bytes from sequence number 0, sent a nanosecond apart.
fn ten() -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..10 {
        board.push(Sent::first(Seq(i * 100), 100, false, Time::from_nanos(u64::from(i))));
    }
    board
}

fn blocks(ranges: &[(u32, u32)]) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    for &(start, end) in ranges {
        assert!(blocks.push(SackBlock { start: Seq(start), end: Seq(end) }));
    }
    blocks
}

fn sack(board: &mut Scoreboard, ranges: &[(u32, u32)]) -> u64 {
    board.mark_sacked(&blocks(ranges), Seq(0), Seq(1000), |_| {})
}

fn lost(board: &mut Scoreboard) -> Vec<u32> {
    let mut seqs = Vec::new();
    board.mark_lost_by_sack(3, Bytes(100), |sent| seqs.push(sent.seq.0));
    seqs
}

/// Whether segments are all as long or not, across the wrap, and with a part of the first acknowledged.
#[test]
fn a_place_in_sequence_space_is_found_whatever_the_lengths() {
    for lengths in [[100; 7], [100, 100, 37, 100, 1, 250, 9], [1, 300, 300, 300, 2, 300, 300]] {
        let mut board = Scoreboard::default();
        let first = Seq(u32::MAX - 250);
        let mut seq = first;
        for length in lengths {
            board.push(Sent::first(seq, length, false, Time::ZERO));
            seq += length;
        }
        board.acknowledge(first + lengths[0] / 2, |_| {});
        for ahead in 0..=seq.since(first) {
            let wanted = first + ahead;
            let by_looking_through =
                board.sent.iter().position(|sent| sent.seq.at_or_after(wanted));
            let expected = by_looking_through.unwrap_or(lengths.len());
            assert_eq!(board.index_at_or_after(wanted), expected, "{lengths:?}, {ahead} ahead");
        }
    }
}

#[test]
fn two_sacked_segments_above_a_hole_do_not_make_it_lost_and_three_do() {
    let mut board = ten();
    assert_eq!(sack(&mut board, &[(100, 300)]), 200);
    assert_eq!(lost(&mut board), Vec::<u32>::new());
    assert_eq!(sack(&mut board, &[(100, 400)]), 100);
    assert_eq!(lost(&mut board), vec![0]);
    assert_eq!(board.pipe(), Bytes(600));
}

#[test]
fn holes_between_blocks_are_lost_once_each_and_sent_in_order() {
    let mut board = ten();
    sack(&mut board, &[(600, 1000), (200, 300)]);
    assert_eq!(lost(&mut board), vec![0, 100, 300, 400, 500]);
    assert_eq!(lost(&mut board), Vec::<u32>::new());
    let mut order = Vec::new();
    while let Some(sent) = board.next_lost() {
        order.push(sent.seq.0);
        board.resend_next_lost(Time::from_nanos(50));
    }
    assert_eq!(order, vec![0, 100, 300, 400, 500]);
    assert_eq!(board.pipe(), Bytes(500));
}

#[test]
fn blocks_outside_what_is_outstanding_are_ignored() {
    let mut board = ten();
    assert_eq!(sack(&mut board, &[(900, 1100)]), 0);
    assert_eq!(sack(&mut board, &[(300, 200)]), 0);
    board.acknowledge(Seq(200), |_| {});
    assert_eq!(board.mark_sacked(&blocks(&[(0, 100)]), Seq(200), Seq(1000), |_| {}), 0);
    assert_eq!(board.pipe(), Bytes(800));
}

#[test]
fn a_cumulative_acknowledgment_counts_each_byte_once() {
    let mut board = ten();
    sack(&mut board, &[(100, 500)]);
    let acked = board.acknowledge(Seq(600), |_| {});
    assert_eq!(acked.newly_delivered, 200);
    assert_eq!((board.pipe(), board.sacked()), (Bytes(400), Bytes::ZERO));
    assert_eq!(acked.latest_sent_at, Some(Time::from_nanos(5)));
}

#[test]
fn half_a_segment_can_be_acknowledged() {
    let mut board = ten();
    assert_eq!(board.acknowledge(Seq(150), |_| {}).newly_delivered, 150);
    assert_eq!(board.pipe(), Bytes(850));
    assert_eq!(board.oldest().map(|sent| (sent.seq, sent.payload)), Some((Seq(150), 50)));
}

#[test]
fn half_a_segment_that_was_sacked_is_delivered_only_once() {
    let mut board = ten();
    assert_eq!(sack(&mut board, &[(100, 200)]), 100);
    assert_eq!(board.acknowledge(Seq(150), |_| {}).newly_delivered, 100);
    assert_eq!((board.pipe(), board.sacked()), (Bytes(800), Bytes(50)));
}

#[test]
fn after_a_timeout_all_but_sacked_segments_are_sent_again() {
    let mut board = ten();
    sack(&mut board, &[(300, 400)]);
    board.mark_all_lost(|_| {});
    assert_eq!(board.pipe(), Bytes::ZERO);
    let mut count = 0;
    while board.next_lost().is_some() {
        board.resend_next_lost(Time::ZERO);
        count += 1;
    }
    assert_eq!((count, board.pipe()), (9, Bytes(900)));
}

/// RFC 6675 §4 IsLost: three sequences are enough, however few bytes they are.
#[test]
fn three_discontiguous_sequences_make_a_hole_lost_however_small() {
    let lost = |ranges: &[(u32, u32)]| {
        let mut board = ten();
        sack(&mut board, ranges);
        let mut seqs = Vec::new();
        board.mark_lost_by_sack(3, Bytes(1_000), |sent| seqs.push(sent.seq.0));
        (seqs, board.sacked_sequences())
    };
    assert_eq!(lost(&[(100, 200), (300, 400)]), (vec![], 2));
    assert_eq!(lost(&[(100, 200), (300, 400), (500, 600)]), (vec![0], 3));
    assert_eq!(lost(&[(200, 300), (400, 500), (600, 700), (800, 900)]), (vec![0, 100, 300], 4));
    assert_eq!(lost(&[(100, 600)]), (vec![], 1));
}

#[test]
fn sequences_are_counted_as_they_grow_join_and_are_acknowledged() {
    let mut board = ten();
    let count = |board: &mut Scoreboard, ranges: &[(u32, u32)]| {
        sack(board, ranges);
        board.sacked_sequences()
    };
    assert_eq!(count(&mut board, &[(200, 300)]), 1);
    assert_eq!(count(&mut board, &[(500, 600), (200, 300)]), 2);
    assert_eq!(count(&mut board, &[(400, 600), (200, 300)]), 2);
    assert_eq!(count(&mut board, &[(200, 600)]), 1);
    assert_eq!(count(&mut board, &[(800, 900), (200, 600)]), 2);
    board.acknowledge(Seq(300), |_| {});
    assert_eq!(board.sacked_sequences(), 2);
    board.acknowledge(Seq(600), |_| {});
    assert_eq!(board.sacked_sequences(), 1);
    board.acknowledge(Seq(1_000), |_| {});
    assert_eq!((board.sacked_sequences(), board.sacked()), (0, Bytes::ZERO));
}

/// SetPipe: what was retransmitted without being lost counts twice, until it turns out to be lost,
/// arrives, or is acknowledged.
#[test]
fn a_last_resort_counts_twice() {
    let resent = || {
        let mut board = ten();
        sack(&mut board, &[(200, 300)]);
        assert_eq!(board.resend_next_hole(Time::from_nanos(20)).map(|sent| sent.seq), Some(Seq(0)));
        assert_eq!(board.pipe(), Bytes(1_000));
        board
    };
    let mut lost = resent();
    sack(&mut lost, &[(200, 600)]);
    assert_eq!(self::lost(&mut lost), vec![100]);
    // Nine less four reported less the lost one, and 0 once.
    assert_eq!(lost.pipe(), Bytes(500));
    let mut arrived = resent();
    arrived.acknowledge(Seq(50), |_| {});
    assert_eq!(arrived.pipe(), Bytes(900));
    arrived.acknowledge(Seq(100), |_| {});
    assert_eq!(arrived.pipe(), Bytes(800));
    let mut tail = ten();
    assert_eq!(tail.resend_highest(Time::ZERO).map(|sent| sent.seq), Some(Seq(900)));
    assert_eq!(
        tail.resend_highest(Time::ZERO).map(|sent| sent.seq),
        None,
        "its repair is under way"
    );
    sack(&mut tail, &[(900, 1_000)]);
    assert_eq!(tail.pipe(), Bytes(900));
}

/// A box may cut segments: what one acknowledgment reports ends within one of ours.
#[test]
fn the_rest_of_a_segment_that_was_reported_in_part_is_taken_in() {
    let mut board = ten();
    assert_eq!(sack(&mut board, &[(100, 250)]), 100);
    assert_eq!(sack(&mut board, &[(100, 300)]), 100);
    assert_eq!(sack(&mut board, &[(100, 450)]), 100);
}

proptest! {
    /// Runs of Sacked segments that are looked at together count as one by one: against a scoreboard that looks at
    /// every segment, whatever is reported, in whatever order, and acknowledged in between.
    #[test]
    fn what_is_sacked_is_what_was_reported(
        steps in prop::collection::vec((0_u32..60, 1_u32..20, 0_u32..60, 1_u32..20, prop::option::weighted(0.2, 0_u32..4)), 1..60),
    ) {
        const SEGMENTS: u32 = 80;
        let mut board = Scoreboard::default();
        for i in 0..SEGMENTS {
            board.push(Sent::first(Seq(i * 100), 100, false, Time::ZERO));
        }
        let (mut reported, mut acked) = (vec![false; SEGMENTS as usize], 0);
        for (first, length, second, longer, acks) in steps {
            let ranges = [(first, (first + length).min(SEGMENTS)), (second, (second + longer).min(SEGMENTS))]
                .map(|(start, end)| (start.max(acked), end));
            let sound: Vec<_> = ranges.into_iter().filter(|(start, end)| start < end).collect();
            let in_bytes: Vec<_> = sound.iter().map(|(start, end)| (start * 100, end * 100)).collect();
            let una = Seq(acked * 100);
            let news = board.mark_sacked(&blocks(&in_bytes), una, Seq(SEGMENTS * 100), |_| {});
            let mut expected = 0;
            for segment in sound.iter().flat_map(|(start, end)| *start..*end) {
                expected += u64::from(!std::mem::replace(&mut reported[segment as usize], true)) * 100;
            }
            prop_assert_eq!(news, expected);
            if let Some(acks) = acks {
                acked = (acked + acks).min(SEGMENTS - 1);
                board.acknowledge(Seq(acked * 100), |_| {});
            }
            let left = &reported[acked as usize..];
            let states = board.sent.iter().map(|sent| sent.state == SentState::Sacked);
            prop_assert!(states.eq(left.iter().copied()));
            let sequences = left.chunk_by(|one, next| one == next).filter(|run| run[0]).count();
            prop_assert_eq!(board.sacked_sequences(), sequences as u32);
        }
    }
}
