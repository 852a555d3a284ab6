use super::*;
use crate::proxy::Lane;
use crate::proxy::script::Seen::{Acked, Again, Changed, Kept, Passed, Probed};
use crate::proxy::script::{
    MSS, Script, Seen, ack, at, data, from_mobile, nth, stamped, to_mobile,
};
use ackord_units::Seq;
use ackord_wire::Ecn;

fn config() -> SnoopConfig {
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
    SnoopConfig {
        recovery,
        flows: 4,
        idle_for: Span::from_secs(60),
        suppress: Suppress::On,
        stands: Standing::InPath,
    }
}

fn paper() -> SnoopConfig {
    let recovery = LocalRecoveryConfig { inference: Inference::Duplicates, ..config().recovery };
    SnoopConfig { recovery, ..config() }
}

/// Ten segments have passed, at 0 to 9 ms, and the first is acknowledged at 20 ms.
fn begun(config: SnoopConfig) -> Script<Snoop> {
    let mut script = Script::new(Snoop::new(config));
    script.flight(0, 1..=10);
    assert_eq!(script.up(20, ack(2, &[])), [Passed]);
    script
}

#[test]
fn new_acknowledgments_pass_and_empty_the_cache() {
    let mut script = begun(config());
    assert_eq!(script.the_box.stats().cached, Bytes(9_000));
    assert_eq!(script.up(29, ack(11, &[])), [Passed]);
    let stats = script.the_box.stats();
    assert_eq!((stats.cached, stats.peak_cached), (Bytes::ZERO, Bytes(10_000)));
    assert_eq!((stats.absorbed, stats.data_sent, stats.flows), (0, 0, 1));
    assert_eq!(script.the_box.deadline().filter(|due| *due > at(100)), None);
    assert_eq!(script.until(10_000), []);
    assert_eq!(script.the_box.deadline(), None, "quiet when nothing is cached");
}

#[test]
fn the_first_duplicate_is_answered_and_the_expected_ones_end_here() {
    for config in [config(), paper()] {
        let mut script = begun(config);
        // Segment 2 is lost; 3 to 10 arrive and are acknowledged each.
        assert_eq!(script.up(22, ack(2, &[])), [Kept, Again(nth(2))]);
        for millis in 23..=29 {
            assert_eq!(script.up(millis, ack(2, &[])), [Kept]);
        }
        assert_eq!(script.up(42, ack(11, &[])), [Passed]);
        let stats = script.the_box.stats();
        assert_eq!((stats.absorbed, stats.data_sent), (8, 1));
    }
}

#[test]
fn more_duplicates_than_expected_mean_that_it_is_lost_again() {
    let mut practical = begun(config());
    let mut paper = begun(paper());
    for script in [&mut practical, &mut paper] {
        assert_eq!(script.up(22, ack(2, &[])), [Kept, Again(nth(2))]);
        // Two more pass after the retransmission.
        script.flight(23, 11..=12);
        for millis in 25..=31 {
            assert_eq!(script.up(millis, ack(2, &[])), [Kept]);
        }
    }
    // The ninth is about segment 11, sent after the retransmission.
    assert_eq!(practical.up(43, ack(2, &[])), [Kept, Again(nth(2))]);
    assert_eq!(practical.up(44, ack(2, &[])), [Kept], "segment 12");
    assert_eq!(paper.up(43, ack(2, &[])), [Passed], "left to the sender");
}

#[test]
fn blocks_show_every_hole_at_once_and_do_not_reach_the_sender() {
    let mut script = begun(config());
    // Segments 2, 5 and 6 are lost.
    assert_eq!(script.up(22, ack(2, &[(3, 4)])), [Kept, Again(nth(2))]);
    assert_eq!(script.up(23, ack(2, &[(3, 5)])), [Kept]);
    let third = script.up(26, ack(2, &[(7, 8), (3, 5)]));
    assert_eq!(third, [Kept, Again(nth(5)), Again(nth(6))]);
    assert_eq!(script.up(27, ack(2, &[(7, 9), (3, 5)])), [Kept]);
    // Segment 2 arrives: news, without what would make the sender retransmit 5 and 6.
    assert_eq!(script.up(42, ack(5, &[(7, 11)])), [Changed(nth(5), 100, 0)]);
    assert_eq!(script.up(46, ack(11, &[])), [Passed]);
    assert_eq!(script.the_box.stats().rewritten, 1);
}

#[test]
fn without_rewriting_duplicates_end_in_it_and_news_passes_as_it_came() {
    let mut script = begun(SnoopConfig { stands: Standing::Beside, ..config() });
    assert_eq!(script.up(22, ack(2, &[(3, 4)])), [Kept, Again(nth(2))]);
    assert_eq!(script.up(26, ack(2, &[(6, 7), (3, 5)])), [Kept, Again(nth(5))]);
    assert_eq!(script.up(42, ack(5, &[(6, 7)])), [Passed]);
    assert_eq!(script.the_box.stats().rewritten, 0);
}

#[test]
fn a_block_about_something_sent_later_shows_that_a_retransmission_is_lost() {
    let mut script = begun(config());
    assert_eq!(script.up(22, ack(2, &[(3, 4)])), [Kept, Again(nth(2))]);
    script.flight(23, 11..=11);
    for (millis, end) in (24..).zip(5..=11) {
        assert_eq!(script.up(millis, ack(2, &[(3, end)])), [Kept]);
    }
    assert_eq!(script.up(43, ack(2, &[(3, 12)])), [Kept, Again(nth(2))]);
}

#[test]
fn what_went_ahead_of_the_queue_says_nothing_of_what_waits_there() {
    // Segment 2 is lost; 11 to 14 wait in the queue while it overtakes them.
    let arrives = |lane| {
        let recovery = LocalRecoveryConfig { lane, ..config().recovery };
        let mut script = begun(SnoopConfig { recovery, ..config() });
        script.flight(21, 11..=14);
        assert_eq!(script.up(25, ack(2, &[(3, 4)])), [Kept, Again(nth(2))]);
        assert_eq!(script.up(26, ack(2, &[(3, 11)])), [Kept]);
        script.up(46, ack(11, &[]))
    };
    assert_eq!(arrives(Lane::First), [Passed]);
    let in_turn = arrives(Lane::Queue);
    assert_eq!(in_turn, [Passed, Again(nth(11))], "in its turn, it would have come after it");
}

#[test]
fn without_sack_a_partial_acknowledgment_shows_the_next_hole() {
    let mut script = begun(config());
    // Segments 2 and 6 are lost.
    assert_eq!(script.up(22, ack(2, &[])), [Kept, Again(nth(2))]);
    for millis in 23..=28 {
        assert_eq!(script.up(millis, ack(2, &[])), [Kept]);
    }
    assert_eq!(script.up(42, ack(6, &[])), [Passed, Again(nth(6))]);
    assert_eq!(script.up(62, ack(11, &[])), [Passed]);
    // As described in 1995 the second hole waits for a duplicate, and so for the local timer here.
    let mut paper = begun(paper());
    paper.up(22, ack(2, &[]));
    assert_eq!(paper.up(42, ack(6, &[])), [Passed]);
    assert_eq!(paper.until(150), [Again(nth(6))]);
}

#[test]
fn the_local_timer_sends_the_last_of_a_flight_again_and_then_persists() {
    let mut script = begun(config());
    assert_eq!(script.up(28, ack(10, &[])), [Passed]);
    // Nobody can report that segment 10 is lost.
    assert_eq!(script.until(60), []);
    assert_eq!(script.until(100), [Again(nth(10))]);
    let silence = script.until(10_000);
    assert!(silence.iter().all(|seen| *seen == Probed(nth(10))), "{silence:?}");
    assert_eq!(silence.len(), 49, "every 200 ms");
    assert_eq!(script.the_box.stats().probes, 49);
    assert_eq!(script.up(10_001, ack(11, &[])), [Passed]);
    assert_eq!(script.until(100_000), []);
}

#[test]
fn after_an_outage_the_whole_flight_goes_again_in_portions() {
    let mut script = Script::new(Snoop::new(config()));
    script.flight(0, 1..=2);
    assert_eq!(script.up(20, ack(3, &[])), [Passed]);
    script.flight(21, 3..=30);
    // The link is out. The timer tries the first again and again; at last it arrives.
    let tries = script.until(1_900);
    assert_eq!(tries[0], Again(nth(3)));
    let answer = script.up(1_905, ack(4, &[]));
    let flight: Vec<_> = (4..=13).map(|n| Again(nth(n))).collect();
    assert_eq!(answer[0], Passed);
    assert_eq!(answer[1..], flight);
    let answer = script.up(1_926, ack(5, &[]));
    let flight: Vec<_> = (14..=23).map(|n| Again(nth(n))).collect();
    assert_eq!(answer[1..], flight);
    assert_eq!(script.up(1_927, ack(6, &[])).len(), 1 + 7, "the rest");
    assert_eq!(script.up(1_928, ack(31, &[])), [Passed]);
}

#[test]
fn duplicates_that_its_own_needless_retransmission_causes_are_no_losses() {
    let mut script = begun(config());
    assert_eq!(script.up(28, ack(10, &[])), [Passed]);
    // Segment 10 arrived, and its acknowledgment was delayed.
    assert_eq!(script.until(80), [Again(nth(10))]);
    assert_eq!(script.up(81, ack(11, &[])), [Passed]);
    script.flight(82, 11..=12);
    // The second copy of segment 10 is answered with a duplicate.
    assert_eq!(script.up(95, ack(11, &[])), [Kept]);
    assert_eq!(script.up(104, ack(13, &[])), [Passed]);
    assert_eq!(script.the_box.stats().data_sent, 1);
}

#[test]
fn what_the_sender_retransmits_it_may_see_answered() {
    for config in [config(), paper()] {
        let mut script = begun(config);
        assert_eq!(script.down(30, data(2)), [Passed]);
        assert_eq!(script.up(31, ack(2, &[])), [Passed], "the sender counts on this one");
        // Once the mobile is past it, losses are the box's again.
        assert_eq!(script.up(50, ack(4, &[])).first(), Some(&Passed));
        assert_eq!(script.up(51, ack(4, &[])).first(), Some(&Kept));
    }
}

#[test]
fn what_the_mobile_has_is_acknowledged_once_more_and_probes_pass() {
    let mut script = begun(config());
    assert_eq!(script.down(30, data(1)), [Kept, Acked(nth(2), 100)]);
    let mut keep_alive = data(1);
    if let Some(segment) = &mut keep_alive.tcp {
        (segment.seq, segment.payload_len) = (Seq(nth(2) - 1), 1);
    }
    assert_eq!(script.down(31, keep_alive), [Passed], "only the mobile knows whether it lives");
    assert_eq!(script.up(32, ack(1, &[])), [Kept], "older than what was said before");
}

#[test]
fn suppression_can_be_off_or_left_to_timestamps() {
    let asked = |suppress, stamp: fn(Packet) -> Packet| {
        let mut script = begun(SnoopConfig { suppress, ..config() });
        let news = script.up(21, stamp(ack(2, &[(3, 4)])));
        assert_eq!(news[1..], [Again(nth(2))], "the recovery is the same");
        news[0].clone()
    };
    let plain = |packet| packet;
    assert_eq!(asked(Suppress::On, stamped), Kept);
    assert_eq!(asked(Suppress::Off, plain), Passed);
    assert_eq!(asked(Suppress::WithoutTimestamps, plain), Kept);
    assert_eq!(asked(Suppress::WithoutTimestamps, stamped), Passed);
}

#[test]
fn what_does_not_fit_passes_and_its_loss_is_the_senders() {
    let recovery = LocalRecoveryConfig { cache: Bytes(2_500), ..config().recovery };
    let mut script = Script::new(Snoop::new(SnoopConfig { recovery, ..config() }));
    script.flight(0, 1..=4);
    assert_eq!(script.the_box.stats().uncached, Bytes(2_000));
    assert_eq!(script.up(20, ack(3, &[])), [Passed]);
    assert_eq!(script.up(21, ack(3, &[(4, 5)])), [Passed]);
    assert_eq!(script.the_box.stats().data_sent, 0);
}

#[test]
fn what_the_queue_refuses_is_congestion_and_the_senders() {
    let mut script = begun(config());
    script.the_box.handle_refused(at(20), &data(2));
    assert_eq!(script.up(22, ack(2, &[(3, 4)])), [Passed]);
    assert_eq!(script.the_box.stats().cached, Bytes(8_000));
}

#[test]
fn a_retransmission_is_not_ecn_capable_but_keeps_a_mark() {
    let sent = |ecn| {
        let mut snoop = Snoop::new(config());
        let mut out = Outbox::default();
        for n in 1..=3 {
            snoop.handle(at(0), &Packet { ecn, ..data(n) }, Heading::Mobile, &mut out);
        }
        snoop.handle(at(20), &ack(2, &[]), Heading::Fixed, &mut out);
        snoop.handle(at(21), &ack(2, &[]), Heading::Fixed, &mut out);
        let (packet, _) = out.packets().next().expect("a retransmission");
        packet.ecn
    };
    assert_eq!((sent(Ecn::Ect0), sent(Ecn::Ce)), (Ecn::NotEct, Ecn::Ce));
}

#[test]
fn the_end_of_a_connection_ends_what_is_known_of_it() {
    let mut script = begun(config());
    let fin = Segment { seq: Seq(nth(11)), flags: Flags::ACK | Flags::FIN, ..Segment::default() };
    assert_eq!(script.down(30, to_mobile(fin)), [Passed]);
    let last = Segment { ack: Seq(nth(11) + 1), flags: Flags::ACK, ..Segment::default() };
    assert_eq!(script.up(50, from_mobile(last)), [Passed]);
    assert_eq!((script.the_box.stats().flows, script.the_box.stats().cached), (0, Bytes::ZERO));

    let mut script = begun(config());
    let reset = Segment { seq: Seq(500), flags: Flags::RST, ..Segment::default() };
    assert_eq!(script.up(30, from_mobile(reset)), [Passed]);
    assert_eq!((script.the_box.stats().flows, script.the_box.stats().cached), (0, Bytes::ZERO));
    assert_eq!(script.until(10_000), []);
}

#[test]
fn a_connection_that_falls_silent_is_forgotten() {
    let mut script = begun(config());
    script.until(70_000);
    let stats = script.the_box.stats();
    assert_eq!((stats.flows, stats.cached), (0, Bytes::ZERO));
    assert_eq!(script.the_box.deadline(), None);
}

#[test]
fn only_so_many_connections_are_known() {
    let mut snoop = Snoop::new(config());
    let mut out = Outbox::default();
    let syn = Segment { seq: Seq(0), flags: Flags::SYN, ..Segment::default() };
    for flow in 0..10 {
        for packet in [to_mobile(syn), data(1)] {
            let packet = Packet { flow: ackord_wire::FlowId(flow), ..packet };
            assert_eq!(snoop.handle(at(0), &packet, Heading::Mobile, &mut out), Verdict::Forward);
        }
    }
    let stats = snoop.stats();
    assert_eq!((stats.flows, stats.flows_refused, stats.cached), (4, 6, Bytes(4_000)));
    assert_eq!(stats.uncached, Bytes(6 * u64::from(MSS)));
}

#[test]
fn other_traffic_and_pure_acknowledgments_of_unknown_connections_pass() {
    let mut script = Script::new(Snoop::new(config()));
    assert_eq!(script.up(0, ack(5, &[])), [Passed]);
    assert_eq!(script.down(0, Packet { tcp: None, ..data(1) }), [Passed]);
    assert_eq!(script.the_box.stats().flows, 0);
    let beyond: Vec<Seen> = begun(config()).up(21, ack(50, &[]));
    assert_eq!(beyond, [Passed], "of data that never passed");
}
