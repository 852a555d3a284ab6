//! Whole transfers between two ends.

use crate::kit::{Pair, endpoint, mechanisms, simple};
use ackord_events::{NoSink, TcpState};
use ackord_tcp::{CloseReason, Config, Connection, Mechanisms, Pacing, registry};
use ackord_units::{Bytes, Choice, Seq, Span, Time};
use ackord_wire::{Ecn, Flags, Side};
use proptest::prelude::*;

fn defaults() -> [Mechanisms; 2] {
    [Mechanisms::default(), Mechanisms::default()]
}

#[test]
fn a_three_way_handshake_takes_one_and_a_half_round_trips_and_three_segments() {
    let mut pair = Pair::new(Config::default(), defaults());
    pair.lossless(Span::from_secs(1));
    let flags: Vec<Flags> = pair.log.iter().map(|logged| logged.segment.flags).collect();
    assert_eq!(flags, vec![Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK]);
    assert_eq!(pair.log[2].at, Time::ZERO + Span::from_millis(40));
    assert_eq!(pair.client.smss(), Bytes(1448), "timestamps take twelve bytes");
}

#[test]
fn two_ends_that_open_at_once_both_become_established() {
    let mut pair = Pair::new(Config::default(), defaults());
    pair.server = Connection::connect(
        Config::default(),
        Mechanisms::default(),
        endpoint(Side::Server),
        Seq(9_000),
        Time::ZERO,
    );
    pair.lossless(Span::from_secs(5));
    assert_eq!(pair.states(), (TcpState::Established, TcpState::Established));
    pair.client.write(Bytes(5_000));
    pair.server.write(Bytes(7_000));
    pair.lossless(Span::from_secs(1));
    assert_eq!((pair.client.bytes_received(), pair.server.bytes_received()), (7_000, 5_000));
}

#[test]
fn data_flows_both_ways_and_an_orderly_close_passes_through_time_wait() {
    let mut pair = Pair::established(Config::default(), defaults());
    pair.client.write(Bytes(100_000));
    pair.server.write(Bytes(50_000));
    pair.lossless(Span::from_secs(2));
    assert_eq!((pair.client.bytes_received(), pair.server.bytes_received()), (50_000, 100_000));
    pair.client.close();
    pair.lossless(Span::from_millis(500));
    assert_eq!(pair.states(), (TcpState::FinWait2, TcpState::CloseWait));
    pair.server.close();
    pair.lossless(Span::from_millis(100));
    assert_eq!(pair.states(), (TcpState::TimeWait, TcpState::Closed));
    pair.lossless(Span::from_secs(61));
    assert_eq!(pair.states(), (TcpState::Closed, TcpState::Closed));
    assert_eq!(pair.client.close_reason(), Some(CloseReason::Orderly));
    assert_eq!(pair.server.close_reason(), Some(CloseReason::Orderly));
}

#[test]
fn both_ends_closing_at_once_pass_through_closing() {
    let mut pair = Pair::established(Config::default(), defaults());
    pair.client.close();
    pair.server.close();
    pair.lossless(Span::from_millis(25));
    assert_eq!(pair.states(), (TcpState::Closing, TcpState::Closing));
    pair.lossless(Span::from_millis(50));
    assert_eq!(pair.states(), (TcpState::TimeWait, TcpState::TimeWait));
}

#[test]
fn an_abort_resets_the_peer() {
    let mut pair = Pair::established(Config::default(), defaults());
    pair.client.abort();
    pair.lossless(Span::from_millis(100));
    assert_eq!(pair.states(), (TcpState::Closed, TcpState::Closed));
    assert_eq!(pair.server.close_reason(), Some(CloseReason::ResetByPeer));
}

#[test]
fn a_reset_inside_the_window_but_not_at_its_edge_is_challenged() {
    let mut pair = Pair::established(Config::default(), defaults());
    let edge = pair.log[2].segment;
    let forged =
        ackord_wire::Segment { seq: edge.seq + 100, flags: Flags::RST, ..Default::default() };
    let now = pair.now;
    pair.server.handle_segment(now, &forged, Ecn::NotEct, &mut NoSink);
    assert_eq!(pair.server.state(), TcpState::Established);
    let answer =
        pair.server.poll_segment(now, &mut NoSink).expect("a challenge acknowledgment").segment;
    assert_eq!((answer.flags, answer.ack), (Flags::ACK, edge.seq));
}

#[test]
fn a_lost_syn_is_sent_again_and_leaves_an_initial_window_of_one_segment() {
    let mut pair = Pair::new(simple(), defaults());
    pair.run(Time::ZERO + Span::from_secs(2), |number, _, _| number == 0);
    assert_eq!(pair.states(), (TcpState::Established, TcpState::Established));
    assert_eq!(pair.client.cwnd(), Bytes(1000));
}

#[test]
fn the_peer_that_never_answers_is_given_up() {
    let mut config = simple();
    config.retries.max = 4;
    let mut pair = Pair::new(config, defaults());
    pair.run(Time::ZERO + Span::from_secs(600), |_, _, _| true);
    assert_eq!(pair.client.close_reason(), Some(CloseReason::TimedOut));
    // 1, 2, 4 and 8 s between the five SYNs, and 16 s after the last.
    assert_eq!(pair.log.iter().filter(|logged| logged.segment.flags == Flags::SYN).count(), 5);
}

/// ip-sysctl.rst of Linux: 1, 1, 1, 1, 1, 2, 4 s with four linear timeouts.
#[test]
fn the_first_timeouts_of_a_syn_need_not_double() {
    let mut config = simple();
    config.retries.syn_linear = 4;
    config.retries.syn = Some(7);
    let mut pair = Pair::new(config, defaults());
    pair.run(Time::ZERO + Span::from_secs(600), |_, _, _| true);
    let at: Vec<u64> = pair.log.iter().map(|logged| logged.at.as_nanos() / 1_000_000_000).collect();
    // Nothing ends it: whoever has not answered knows of no connection.
    assert_eq!(at, vec![0, 1, 2, 3, 4, 5, 7, 11]);
    assert_eq!(pair.client.close_reason(), Some(CloseReason::TimedOut));
}

#[test]
fn a_closed_window_is_probed_and_the_transfer_ends_when_it_opens() {
    let mut config = simple();
    config.buffers.receive = Bytes(10_000);
    let mut pair = Pair::established(config, defaults());
    pair.reads = false;
    pair.client.write(Bytes(15_000));
    pair.lossless(Span::from_secs(30));
    assert_eq!(pair.server.readable(), Bytes(10_000), "no more than the buffer holds");
    let probes = pair.log.iter().filter(|l| l.from == Side::Client && l.segment.payload_len == 1);
    assert!((3..=6).contains(&probes.count()), "probes back off: 1, 2, 4, 8 s");
    assert_eq!(pair.client.stats().timeouts, 0, "an answered probe is no timeout");
    pair.reads = true;
    let readable = pair.server.readable();
    pair.server.read(readable);
    pair.lossless(Span::from_secs(20));
    assert_eq!(pair.server.bytes_received(), 15_000);
}

/// RFC 9293 §3.8.6.2: neither end makes a silly window of a slow reader.
#[test]
fn a_reader_of_small_pieces_gets_full_segments() {
    let mut config = simple();
    config.buffers.receive = Bytes(4_000);
    let mut pair = Pair::established(config, defaults());
    pair.reads = false;
    pair.client.write(Bytes(20_000));
    pair.lossless(Span::from_millis(500));
    assert_eq!(pair.server.readable(), Bytes(4_000));
    let filled = pair.log.len();
    for _ in 0..200 {
        pair.server.read(Bytes(100));
        pair.lossless(Span::from_millis(10));
    }
    assert!(pair.server.bytes_received() >= 15_000, "{}", pair.server.bytes_received());
    let later = pair.log[filled..].iter().filter(|l| l.from == Side::Client);
    let sizes: Vec<u32> = later.map(|l| l.segment.payload_len).filter(|len| *len > 1).collect();
    assert!(sizes.iter().all(|len| *len >= 999), "silly segments: {sizes:?}");
}

#[test]
fn nagle_holds_the_second_small_write_until_the_first_is_acknowledged() {
    let mut on = Pair::established(
        simple(),
        [mechanisms("reno", "newreno", "delayed", "on"), Mechanisms::default()],
    );
    on.client.write(Bytes(50));
    on.lossless(Span::from_millis(1));
    on.client.write(Bytes(50));
    on.lossless(Span::from_millis(500));
    // The lone first segment waits 200 ms for its delayed acknowledgment, and the second with it.
    let sent: Vec<_> = on.log.iter().filter(|l| l.segment.payload_len == 50).collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[1].at - sent[0].at, Span::from_millis(240));
}

#[test]
fn delayed_acknowledgments_halve_the_count() {
    let run = |ack| {
        let mut pair = Pair::established(
            simple(),
            [Mechanisms::default(), mechanisms("reno", "newreno", ack, "off")],
        );
        pair.client.write(Bytes(200_000));
        pair.lossless(Span::from_secs(5));
        assert_eq!(pair.server.bytes_received(), 200_000);
        pair.server.stats().pure_acks_sent
    };
    let (every, second) = (run("immediate"), run("delayed"));
    assert_eq!(every, 200);
    assert!((100..=110).contains(&second), "{second}");
}

/// With timestamps a full-sized segment carries twelve bytes less than the MSS: also where that is
/// the smallest that anybody assumes.
#[test]
fn every_second_segment_of_a_small_mss_is_acknowledged_too() {
    for mss in [100, 536] {
        let config = Config { mss: Bytes(mss), ..Config::default() };
        let mut pair = Pair::established(config, defaults());
        pair.client.write(Bytes((mss - 12) * 40));
        pair.lossless(Span::from_secs(5));
        assert_eq!(pair.server.bytes_received(), (mss - 12) * 40);
        assert_eq!(pair.server.stats().pure_acks_sent, 20, "mss {mss}");
    }
}

#[test]
fn several_losses_in_a_window_are_repaired_without_the_timer_even_if_the_peer_lacks_sack() {
    for sack in [true, false] {
        let mut config = simple();
        config.offers.sack = sack;
        let mut pair = Pair::established(config, defaults());
        pair.client.write(Bytes(100_000));
        // Of the segments after the handshake the fifteenth, seventeenth and nineteenth.
        let until = pair.now + Span::from_secs(20);
        let mut data = 0;
        pair.run(until, |_, from, segment| {
            data += u64::from(from == Side::Client && segment.payload_len > 0);
            from == Side::Client && segment.payload_len > 0 && [15, 17, 19].contains(&data)
        });
        assert_eq!(pair.server.bytes_received(), 100_000);
        assert_eq!(pair.client.stats().timeouts, 0, "{sack:?}");
        assert_eq!(pair.client.stats().retransmitted_segments, 3, "{sack:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is lost, and whatever the choices, a transfer both ways ends complete, as long as
    /// loss stops in the end.
    #[test]
    fn every_choice_finishes_under_any_loss(
        lost in proptest::collection::btree_set(0u64..600, 0..120),
        congestion in prop::sample::select(
            registry::Congestion::MECHANISMS.iter().map(|m| m.name).collect::<Vec<_>>()
        ),
        pacing in prop::sample::select(vec![Pacing::Auto, Pacing::On, Pacing::Off]),
        sack in any::<bool>(),
        recovery in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack"]),
        ack in prop::sample::select(registry::Ack::MECHANISMS.iter().map(|m| m.name).collect::<Vec<_>>()),
        nagle in prop::sample::select(registry::NagleVariant::MECHANISMS.iter().map(|m| m.name).collect::<Vec<_>>()),
        timestamps in any::<bool>(),
        up in 1u64..150_000,
        down in 0u64..50_000,
    ) {
        let mut config = simple();
        if timestamps {
            config.offers.timestamps = true;
        }
        if !sack {
            config.offers.sack = false;
        }
        config.pacing = pacing;
        config.retries.max = 100;
        let choices = || mechanisms(congestion, recovery, ack, nagle);
        let mut pair = Pair::new(config, [choices(), choices()]);
        let mut drop = |number, _: Side, _: &ackord_wire::Segment| lost.contains(&number);
        // CLOSE before the handshake is complete would end the connection (RFC 9293 §3.10.4).
        for _ in 0..100 {
            let until = pair.now + Span::from_secs(10);
            pair.run(until, &mut drop);
            if pair.server.state() == TcpState::Established {
                break;
            }
        }
        pair.client.write(Bytes(up));
        pair.server.write(Bytes(down));
        pair.client.close();
        pair.server.close();
        let until = pair.now + Span::from_secs(8_000);
        pair.run(until, &mut drop);
        prop_assert_eq!(pair.client.close_reason(), Some(CloseReason::Orderly));
        prop_assert_eq!(pair.server.close_reason(), Some(CloseReason::Orderly));
        prop_assert_eq!(pair.server.bytes_received(), up);
        prop_assert_eq!(pair.client.bytes_received(), down);
    }
}
