use super::super::super::testing::{Ask, advance, facts, ms, not_yet, spurious};
use super::*;
use ackord_events::SpuriousEvidence;
use ackord_units::Seq;

fn detector() -> DadSd {
    DadSd::new(0.5, None)
}

#[test]
fn without_sack_nothing_is_judged_by_time() {
    let sd = DadSd::new(0.5, Some(Span::from_millis(200)));
    assert_eq!(sd.profile().tail_probe, sd.tail_probe);
    let instead = sd.without_sack().expect("it has one");
    assert!(instead.profile().by_time.is_none());
}

/// So many segments SACKed above a hole at 0.
fn sacked(arrived: u32) -> LossFacts {
    LossFacts {
        highest_sacked: Some(Seq((arrived + 1) * 1000)),
        ..facts(arrived, u64::from(arrived) * 1000)
    }
}

/// A hole that `extent` segments overtook, a millisecond apart from `from` on.
fn reordering(sd: &mut DadSd, from: u64, extent: u32) {
    for count in 1..=extent {
        sd.on_duplicate_ack(ms(from + u64::from(count)), &sacked(count));
    }
    let next = LossFacts { snd_una: Seq(40_000), ..facts(0, 0) };
    sd.on_new_ack(ms(from + u64::from(extent) + 1), &next, &advance(extent));
}

#[test]
fn without_reordering_it_is_three_duplicates_with_limited_transmit() {
    let mut sd = detector();
    assert_eq!(sd.on_duplicate_ack(ms(10), &sacked(1)), not_yet(1));
    assert_eq!(sd.on_duplicate_ack(ms(11), &sacked(2)), not_yet(2));
    assert_eq!(sd.on_duplicate_ack(ms(12), &sacked(3)), LossVerdict::Lost);
}

#[test]
fn duplicates_that_never_come_are_made_up_for_after_a_round_trip() {
    let mut sd = detector();
    sd.on_duplicate_ack(ms(10), &sacked(1));
    assert_eq!(sd.deadline(), Some(ms(110)));
    assert_eq!(sd.on_timer(ms(110), &sacked(1)), LossVerdict::Lost);
    assert_eq!(sd.deadline(), None);
}

#[test]
fn the_threshold_covers_what_was_seen_and_stays_within_the_window() {
    let mut sd = detector();
    sd.learn(6, Span::from_millis(6));
    reordering(&mut sd, 10, 6);
    // A steady length of six: a mean of 6 and deviations that die away.
    for round in 1..20 {
        reordering(&mut sd, 10 + 50 * round, 6);
    }
    assert_eq!(sd.threshold_for(&sacked(0)), 7);
    for round in 20..40 {
        sd.learn(500, Span::from_millis(round));
    }
    assert_eq!(sd.threshold_for(&sacked(0)), 19, "twenty are in flight");
}

#[test]
fn many_arrivals_within_the_usual_delay_are_no_loss_yet() {
    let mut sd = detector();
    for _ in 0..30 {
        sd.learn(5, Span::from_millis(40));
    }
    for count in 1..=15 {
        let verdict = sd.on_duplicate_ack(ms(200), &sacked(count));
        assert_eq!(verdict, not_yet(u64::from(count)), "one segment for each that arrives");
    }
    let due = sd.deadline().expect("enough have arrived: usual delay is waited for");
    assert!(due > ms(239) && due < ms(242), "{due}");
    assert_eq!(sd.on_timer(due, &sacked(15)), LossVerdict::Lost);
}

#[test]
fn arrivals_from_before_a_retransmission_do_not_make_it_lost() {
    let mut sd = detector();
    let recovery = Some(RecoveryKind::Fast);
    let next = LossFacts { snd_una: Seq(1000), ..sacked(9) };
    sd.on_new_ack(ms(20), &LossFacts { recovery, ..next }, &advance(0));
    // The recovery is over, and the oldest segment was retransmitted at 30 ms.
    let oldest = LossFacts { oldest_sent_at: Some(ms(30)), ..next };
    assert_ne!(sd.on_new_ack(ms(40), &oldest, &advance(0)), LossVerdict::Lost);
    assert_eq!(sd.deadline(), Some(ms(130)));
}

#[test]
fn the_timer_leaves_half_of_what_is_left_to_the_retransmission_timer() {
    let mut sd = detector();
    let hurried = LossFacts { rto_at: Some(ms(70)), ..sacked(1) };
    sd.on_duplicate_ack(ms(10), &hurried);
    assert_eq!(sd.deadline(), Some(ms(40)));
}

#[test]
fn what_is_proved_spurious_is_learnt_from_and_given_back() {
    let mut sd = detector();
    for count in 1..=3 {
        sd.on_duplicate_ack(ms(9 + u64::from(count)), &sacked(count));
    }
    sd.on_recovery(RecoveryKind::Fast);
    let told = sd.on_spurious(ms(30), &spurious(SpuriousEvidence::Timestamps, 18));
    assert_eq!(told, Some(Undo::Restore));
    assert_eq!(sd.extent_segments.bound(), Some(18.0 + 4.0 * 9.0));
    assert_eq!(sd.delay_s.bound().map(|bound| (bound * 1e3).round()), Some(60.0));
}

#[test]
fn only_without_dsack_and_timestamps_an_early_acknowledgment_is_proof() {
    for (dsack, proof) in [(false, true), (true, false)] {
        let mut sd = detector();
        for count in 1..=3 {
            sd.on_duplicate_ack(ms(9 + u64::from(count)), &sacked(count));
        }
        sd.on_recovery(RecoveryKind::Fast);
        let recovery = Some(RecoveryKind::Fast);
        let recovering = LossFacts { recovery, dsack, ..facts(0, 0) };
        let filled = Advance { hole: Hole::Retransmitted(ms(12)), ..advance(9) };
        let verdict = sd.on_new_ack(ms(30), &recovering, &filled);
        assert_eq!(verdict == LossVerdict::Spurious(Undo::Restore), proof);
    }
}

#[test]
fn sixteen_recoveries_in_order_or_one_timeout_forget() {
    let mut sd = detector();
    sd.learn(9, Span::from_millis(9));
    for _ in 0..15 {
        sd.on_recovery(RecoveryKind::Fast);
    }
    assert!(sd.extent_segments.bound().is_some());
    sd.on_recovery(RecoveryKind::Fast);
    assert_eq!(sd.extent_segments.bound(), None);
    sd.learn(9, Span::from_millis(9));
    sd.on_recovery(RecoveryKind::Timeout);
    assert_eq!((sd.extent_segments.bound(), sd.threshold), (None, 3));
}
