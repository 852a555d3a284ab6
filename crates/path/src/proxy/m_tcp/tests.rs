use super::*;
use crate::proxy::Lane;
use crate::proxy::recovery::Inference;
use crate::proxy::script::Seen::{Acked, Again, Changed, Kept, Passed, Probed};
use crate::proxy::script::{Script, ack, at, data, from_mobile, nth, to_mobile};
use ackord_units::Seq;

fn config() -> MTcpConfig {
    let recovery = LocalRecoveryConfig {
        cache: Bytes(100_000),
        dupacks: 1,
        timer_min: Span::from_millis(40),
        timer_max: Span::from_secs(1),
        persist: Span::from_millis(200),
        tries: 3,
        inference: Inference::Deliveries,
        lane: Lane::First,
    };
    MTcpConfig {
        recovery,
        flows: 4,
        idle_for: Span::from_secs(60),
        silent_for: Some(Span::from_millis(40)),
        release_after: Span::from_millis(100),
    }
}

/// Ten segments have passed, at 0 to 9 ms, and the first is acknowledged at 20 ms.
fn begun() -> Script<MTcp> {
    let mut script = Script::new(MTcp::new(config()));
    script.flight(0, 1..=10);
    assert_eq!(script.up(20, ack(2, &[])), [Changed(nth(2) - 1, 100, 0)]);
    script
}

#[test]
fn the_last_octet_is_held_back_and_released_before_the_sender_misses_it() {
    let mut script = begun();
    assert_eq!(script.up(29, ack(11, &[])), [Changed(nth(11) - 1, 100, 0)]);
    assert_eq!(script.until(128), []);
    assert_eq!(script.until(129), [Acked(nth(11), 100)]);
    assert_eq!(script.until(60_000), []);
    assert_eq!(script.the_box.deadline(), None);
}

#[test]
fn more_data_keeps_the_octet_back() {
    let mut script = begun();
    assert_eq!(script.up(29, ack(11, &[])), [Changed(nth(11) - 1, 100, 0)]);
    script.flight(60, 11..=12);
    assert_eq!(script.up(80, ack(13, &[])), [Changed(nth(13) - 1, 100, 0)]);
    assert_eq!(script.until(179), []);
    assert_eq!(script.until(180), [Acked(nth(13), 100)]);
}

#[test]
fn the_octet_sent_again_by_the_sender_is_acknowledged_at_once() {
    let mut script = begun();
    assert_eq!(script.up(29, ack(11, &[])), [Changed(nth(11) - 1, 100, 0)]);
    let mut last = data(10);
    if let Some(segment) = &mut last.tcp {
        (segment.seq, segment.payload_len) = (Seq(nth(11) - 1), 1);
    }
    assert_eq!(script.down(50, last), [Kept, Acked(nth(11), 100)]);
    assert_eq!(script.down(60, last), [Passed], "now it asks whether the mobile lives");
}

#[test]
fn silence_closes_the_window_with_the_octet_and_a_sign_of_life_opens_it() {
    let mut script = begun();
    assert_eq!(script.up(25, ack(5, &[])), [Changed(nth(5) - 1, 100, 0)]);
    // Nothing more is heard: after 40 ms the mobile host is taken for gone.
    assert_eq!(script.until(64), []);
    let silence = script.until(700);
    assert_eq!(silence[0], Acked(nth(5), 0), "the byte, and a window of zero");
    assert_eq!(silence[1], Again(nth(5)));
    assert!(silence[2..].iter().all(|seen| *seen == Probed(nth(5))), "{silence:?}");
    assert_eq!(script.the_box.stats().holds, 1);
    // Back: the whole flight goes again, and the sender's window opens.
    let back = script.up(720, ack(6, &[]));
    assert_eq!(back[0], Changed(nth(6) - 1, 100, 0));
    assert_eq!(back[1..], (6..=10).map(|n| Again(nth(n))).collect::<Vec<_>>());
    let stats = script.the_box.stats();
    assert_eq!((stats.false_holds, stats.held_for), (0, Span::from_millis(720 - 65)));
    assert_eq!(script.up(740, ack(11, &[])), [Changed(nth(11) - 1, 100, 0)]);
}

#[test]
fn an_answer_that_was_only_late_shows_the_hold_to_be_a_mistake() {
    let mut script = begun();
    // It is taken for gone at 60 ms, and nothing has been retransmitted by 70 ms.
    let answer = script.up(70, ack(11, &[]));
    assert_eq!(answer, [Acked(nth(2), 0), Changed(nth(11) - 1, 100, 0)]);
    let stats = script.the_box.stats();
    assert_eq!((stats.holds, stats.false_holds, stats.data_sent), (1, 1, 0));
}

#[test]
fn a_single_segment_may_be_acknowledged_late() {
    let mut script = begun();
    script.up(29, ack(10, &[]));
    assert_eq!(script.the_box.stats().holds, 0);
    script.until(500);
    assert_eq!(script.the_box.stats().holds, 0, "one segment: its receiver may wait");
    script.until(600);
    assert_eq!(script.the_box.stats().holds, 1);
}

#[test]
fn while_the_mobile_is_gone_the_senders_probes_are_answered_and_new_data_is_not() {
    let mut script = begun();
    script.until(100);
    assert_eq!(script.down(101, data(11)), [Passed], "no duplicates for the sender");
    let retransmitted = script.down(102, data(2));
    assert_eq!(retransmitted, [Passed, Acked(nth(2), 0)]);
    let mut probe = data(12);
    if let Some(segment) = &mut probe.tcp {
        segment.payload_len = 1;
    }
    assert_eq!(script.down(103, probe), [Passed, Acked(nth(2), 0)]);
}

#[test]
fn what_it_repairs_the_sender_does_not_see() {
    let mut script = begun();
    assert_eq!(script.up(22, ack(2, &[(3, 4)])), [Kept, Again(nth(2))]);
    assert_eq!(script.up(23, ack(2, &[(3, 6)])), [Kept]);
    assert_eq!(script.up(26, ack(2, &[(7, 8), (3, 6)])), [Kept, Again(nth(6))]);
    assert_eq!(script.up(42, ack(6, &[(7, 11)])), [Changed(nth(6) - 1, 100, 0)]);
    assert_eq!(script.up(46, ack(11, &[])), [Changed(nth(11) - 1, 100, 0)]);
}

#[test]
fn what_it_cannot_repair_the_sender_hears_of_in_full() {
    let mut script = begun();
    script.the_box.handle_refused(at(20), &data(2));
    // The byte first, so that the sender's first missing one is the mobile's.
    assert_eq!(script.up(22, ack(2, &[(3, 4)])), [Passed]);
    assert_eq!(script.up(23, ack(2, &[(3, 5)])), [Passed]);
}

#[test]
fn silence_about_what_a_full_queue_refused_is_no_absence() {
    let mut script = begun();
    for n in 2..=10 {
        script.the_box.handle_refused(at(20), &data(n));
    }
    assert_eq!(script.until(2_000), [Acked(nth(2), 100)], "the byte, and the window stays open");
    assert_eq!(script.the_box.stats().holds, 0);
    // The sender sends the first again; that one the mobile owes an answer to.
    assert_eq!(script.down(2_001, data(2)), [Passed]);
    // What follows was refused as well, and only the sender can send it: no byte is held back.
    assert_eq!(script.up(2_020, ack(3, &[])), [Passed]);
    assert_eq!(script.the_box.stats().holds, 0);
}

#[test]
fn the_end_of_the_stream_is_acknowledged_whole() {
    let mut script = begun();
    let fin = Segment { seq: Seq(nth(11)), flags: Flags::ACK | Flags::FIN, ..Segment::default() };
    assert_eq!(script.down(30, to_mobile(fin)), [Passed]);
    let last = Segment { ack: Seq(nth(11) + 1), flags: Flags::ACK, ..Segment::default() };
    assert_eq!(script.up(50, from_mobile(last)), [Passed]);
    assert_eq!((script.the_box.stats().flows, script.the_box.stats().cached), (0, Bytes::ZERO));
}

#[test]
fn the_handshake_and_a_window_update_pass_as_they_are() {
    let mut script = Script::new(MTcp::new(config()));
    let syn = Segment { seq: Seq(0), flags: Flags::SYN | Flags::ACK, ..Segment::default() };
    assert_eq!(script.down(0, to_mobile(syn)), [Passed]);
    assert_eq!(script.up(20, ack(1, &[])), [Passed], "the SYN is not held back");
    script.flight(21, 1..=1);
    assert_eq!(script.up(41, ack(2, &[])), [Changed(nth(2) - 1, 100, 0)]);
    let mut wider = ack(2, &[]);
    if let Some(segment) = &mut wider.tcp {
        segment.window = 200;
    }
    assert_eq!(script.up(45, wider), [Changed(nth(2) - 1, 200, 0)]);
}

/// A box that begins anew has not seen what was under way.
#[test]
fn nothing_is_held_back_in_front_of_a_hole_that_only_the_sender_can_fill() {
    let mut script = Script::new(MTcp::new(config()));
    script.flight(0, 6..=10);
    // The sender repeats 3. It arrives; 4 is missing, and never passed here.
    assert_eq!(script.down(10, data(3)), [Passed]);
    assert_eq!(script.up(30, ack(4, &[]))[0], Passed);
    assert_eq!(script.up(31, ack(4, &[(6, 7)])), [Passed], "no byte more than before");
    // What did pass is the box's again, byte and all.
    assert_eq!(script.up(40, ack(11, &[])), [Changed(nth(11) - 1, 100, 0)]);
}

#[test]
fn a_box_that_has_not_heard_the_mobile_host_keeps_nothing_from_it() {
    let mut script = Script::new(MTcp::new(config()));
    script.flight(0, 9..=10);
    // The sender's timer: to a box that took 9 for the first byte missing it would be old.
    assert_eq!(script.down(600, data(3)), [Passed]);
    // It arrived, and what went before it did not.
    assert_eq!(script.up(620, ack(4, &[])), [Passed, Again(nth(9)), Again(nth(10))]);
}
