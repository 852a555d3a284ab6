//! Explicit congestion notification between two endpoints of ours (RFC 3168): what the SYNs agree
//! on, which packets may be marked, and what one mark, many, and a mark beside a loss do.

use crate::kit::stack::{Ack, Sender};
use crate::kit::{Logged, Pair, mechanisms, simple};
use ackord_tcp::{Config, EcnUse, registry};
use ackord_units::{Bytes, Choice, Span, Time};
use ackord_wire::{Ecn, Flags, Side};

const SETUP: Flags = Flags::from_bits(Flags::ECE.bits() | Flags::CWR.bits());

fn pair(client: EcnUse, server: EcnUse, congestion: &str) -> Pair {
    let config = |ecn| Config { ecn, ..simple() };
    let choices = || mechanisms(congestion, "sack", "immediate", "off");
    Pair::of([config(client), config(server)], [choices(), choices()])
}

/// The client sends so many segments; the path marks and drops those with these places among the
/// client's data segments, as they are sent.
fn sends(pair: &mut Pair, segments: u64, marked: &[usize], dropped: &[usize]) {
    pair.lossless(Span::from_millis(100));
    pair.client.write(Bytes(segments * 1000));
    let mut place = 0;
    let (marked, dropped) = (marked.to_vec(), dropped.to_vec());
    pair.mark_if(move |_, segment| {
        place += usize::from(segment.payload_len > 0);
        segment.payload_len > 0 && marked.contains(&(place - 1))
    });
    let mut place = 0;
    pair.run(Time::ZERO + Span::from_secs(30), |_, side, segment| {
        let data = side == Side::Client && segment.payload_len > 0;
        place += usize::from(data);
        data && dropped.contains(&(place - 1))
    });
    assert_eq!(pair.server.bytes_received(), segments * 1000);
}

fn from(pair: &Pair, side: Side) -> impl Iterator<Item = &Logged> {
    pair.log.iter().filter(move |logged| logged.from == side)
}

fn says(pair: &Pair, side: Side, flag: Flags) -> Vec<&Logged> {
    let after_handshake = from(pair, side).skip(1);
    after_handshake.filter(|logged| logged.segment.flags.contains(flag)).collect()
}

#[test]
fn what_is_agreed_follows_from_what_both_want() {
    for (client, server, asks, agrees) in [
        (EcnUse::On, EcnUse::On, SETUP, true),
        (EcnUse::On, EcnUse::Accept, SETUP, true),
        (EcnUse::On, EcnUse::Off, SETUP, false),
        (EcnUse::Accept, EcnUse::On, Flags::NONE, false),
        (EcnUse::Off, EcnUse::On, Flags::NONE, false),
    ] {
        let mut pair = pair(client, server, "reno");
        sends(&mut pair, 20, &[], &[]);
        let syn = from(&pair, Side::Client).next().expect("a SYN");
        let syn_ack = from(&pair, Side::Server).next().expect("a SYN-ACK");
        assert_eq!(syn.segment.flags, Flags::SYN | asks);
        let answer = if agrees { Flags::ECE } else { Flags::NONE };
        assert_eq!(syn_ack.segment.flags, Flags::SYN | Flags::ACK | answer);
        for logged in &pair.log {
            let may = agrees && logged.segment.payload_len > 0;
            let expected = if may { Ecn::Ect0 } else { Ecn::NotEct };
            assert_eq!(logged.ecn, expected, "{logged:?}");
        }
        assert!(says(&pair, Side::Server, Flags::ECE).is_empty());
        assert!(says(&pair, Side::Client, Flags::CWR).is_empty());
    }
}

#[test]
fn a_syn_that_is_lost_goes_out_plain_and_nothing_is_marked_after_it() {
    let mut pair = pair(EcnUse::On, EcnUse::Accept, "reno");
    pair.run(Time::ZERO + Span::from_secs(2), |number, _, _| number == 0);
    sends(&mut pair, 20, &[], &[]);
    let syns: Vec<_> = from(&pair, Side::Client)
        .filter(|logged| logged.segment.flags.contains(Flags::SYN))
        .map(|logged| logged.segment.flags)
        .collect();
    assert_eq!(syns, [Flags::SYN | SETUP, Flags::SYN]);
    assert!(pair.log.iter().all(|logged| logged.ecn == Ecn::NotEct));
}

#[test]
fn one_mark_halves_the_window_once_and_loses_nothing() {
    let mut pair = pair(EcnUse::On, EcnUse::Accept, "reno");
    // The acknowledgment of segment 40 finds the window, of ten at first, at 51.
    sends(&mut pair, 120, &[40], &[]);
    assert_eq!(pair.client.stats().retransmitted_segments, 0);
    let ssthresh = pair.client.ssthresh();
    assert!((Bytes(25_000)..=Bytes(25_500)).contains(&ssthresh), "half: {ssthresh:?}");
    let reduced = says(&pair, Side::Client, Flags::CWR);
    let [reduced] = reduced.as_slice() else { panic!("{reduced:?}") };
    assert_eq!(reduced.ecn, Ecn::Ect0, "CWR goes with new data");
    // Echoed from the acknowledgment of the marked segment on, until CWR has arrived.
    let echoes = says(&pair, Side::Server, Flags::ECE);
    let first = echoes.first().expect("an echo").at;
    let last = echoes.last().expect("an echo").at;
    let cwr_arrives = reduced.at + Span::from_millis(20);
    let marked = from(&pair, Side::Client).filter(|logged| logged.segment.payload_len > 0).nth(40);
    assert_eq!(first, marked.expect("sent").at + Span::from_millis(20));
    assert!(last <= cwr_arrives);
    let echoing = |logged: &Logged| logged.segment.flags.contains(Flags::ECE);
    let acks: Vec<bool> = from(&pair, Side::Server).skip(1).map(echoing).collect();
    let begins = acks.iter().position(|echo| *echo).expect("an echo");
    let run = acks[begins..].iter().take_while(|echo| **echo).count();
    assert_eq!(run, echoes.len(), "without a break");
}

#[test]
fn marks_of_one_window_are_answered_once_and_of_the_next_again() {
    let mut once = pair(EcnUse::On, EcnUse::Accept, "reno");
    sends(&mut once, 120, &[40, 41, 45, 50, 60], &[]);
    let mut single = pair(EcnUse::On, EcnUse::Accept, "reno");
    sends(&mut single, 120, &[40], &[]);
    assert_eq!(once.client.ssthresh(), single.client.ssthresh());
    let mut twice = pair(EcnUse::On, EcnUse::Accept, "reno");
    sends(&mut twice, 200, &[40, 120], &[]);
    assert_eq!(says(&twice, Side::Client, Flags::CWR).len(), 2);
    assert!(twice.client.ssthresh() < single.client.ssthresh());
}

#[test]
fn a_mark_and_a_loss_of_one_window_are_answered_once() {
    for (marked, dropped) in [(40, 45), (45, 40)] {
        for recovery in ["sack", "newreno", "reno"] {
            let config = |ecn| Config { ecn, ..simple() };
            let choices = || mechanisms("reno", recovery, "immediate", "off");
            let both = [config(EcnUse::On), config(EcnUse::On)];
            let mut pair = Pair::of(both, [choices(), choices()]);
            sends(&mut pair, 120, &[marked], &[dropped]);
            let ssthresh = pair.client.ssthresh();
            assert!(ssthresh >= Bytes(24_000), "{recovery}: {ssthresh:?} is less than half");
            assert!(ssthresh <= Bytes(26_000), "{recovery}: {ssthresh:?}");
            assert_eq!(pair.client.stats().timeouts, 0, "{recovery}");
            let resent = from(&pair, Side::Client).filter(|logged| logged.ecn == Ecn::NotEct);
            let resent = resent.filter(|logged| logged.segment.payload_len > 0).count();
            assert_eq!(resent as u64, pair.client.stats().retransmitted_segments, "{recovery}");
            assert!(resent >= 1);
        }
    }
}

#[test]
fn a_lost_cwr_makes_the_sender_reduce_again() {
    let mut pair = pair(EcnUse::On, EcnUse::Accept, "reno");
    sends(&mut pair, 120, &[40], &[]);
    let place = |pair: &Pair| {
        from(pair, Side::Client)
            .filter(|logged| logged.segment.payload_len > 0)
            .position(|logged| logged.segment.flags.contains(Flags::CWR))
    };
    let cwr = place(&pair).expect("CWR was sent");
    let mut again = self::pair(EcnUse::On, EcnUse::Accept, "reno");
    sends(&mut again, 160, &[40], &[cwr]);
    // The loss itself is answered, and says CWR as every reduction does.
    assert!(says(&again, Side::Client, Flags::CWR).len() >= 2);
    assert!(
        says(&again, Side::Server, Flags::ECE).len() > says(&pair, Side::Server, Flags::ECE).len()
    );
    let last_ack = again.log.iter().rfind(|logged| logged.from == Side::Server).expect("an ACK");
    assert!(!last_ack.segment.flags.contains(Flags::ECE), "the echo ends");
}

#[test]
fn every_control_gives_way_to_a_mark_and_none_waits_for_a_timer() {
    for mechanism in registry::Congestion::MECHANISMS {
        let mut marked = pair(EcnUse::On, EcnUse::On, mechanism.name);
        let every_tenth: Vec<usize> = (40..600).step_by(10).collect();
        sends(&mut marked, 600, &every_tenth, &[]);
        let mut clean = pair(EcnUse::On, EcnUse::On, mechanism.name);
        sends(&mut clean, 600, &[], &[]);
        let name = mechanism.name;
        assert_eq!(marked.client.stats().timeouts, 0, "{name}");
        assert_eq!(marked.client.stats().retransmitted_segments, 0, "{name}");
        assert!(!says(&marked, Side::Client, Flags::CWR).is_empty(), "{name}");
        assert!(marked.client.cwnd() >= Bytes(2_000), "{name}");
        if name != "bbr" {
            assert!(marked.client.cwnd() < clean.client.cwnd(), "{name}");
        }
    }
}

#[test]
fn marks_go_both_ways() {
    let mut pair = pair(EcnUse::On, EcnUse::Accept, "cubic");
    pair.lossless(Span::from_millis(100));
    pair.server.write(Bytes(100_000));
    let mut count = 0;
    pair.mark_if(move |side, segment| {
        count += u32::from(side == Side::Server && segment.payload_len > 0);
        count == 30
    });
    pair.lossless(Span::from_secs(10));
    assert_eq!(pair.client.bytes_received(), 100_000);
    assert!(!says(&pair, Side::Client, Flags::ECE).is_empty());
    assert_eq!(says(&pair, Side::Server, Flags::CWR).len(), 1);
    assert!(pair.server.ssthresh() < Bytes(40_000));
}

/// A recovery that reordering caused; what comes back says so, with a mark of the same window or
/// without. Windows in segments after the recovery and at the end.
fn undone_repair(ece: bool) -> [f64; 2] {
    let settings = [
        ("congestion", "reno"),
        ("loss", "rack"),
        ("recovery", "sack"),
        ("ecn", "on"),
        ("sack", "on"),
    ];
    let mut sender = Sender::of(&settings, 60);
    assert_eq!(sender.sent().len(), 10);
    sender.until(80);
    // Three above the first: it is retransmitted, and the window halved.
    let out = sender.ack(0, &[(1, 4)]);
    assert_eq!(out[0], 0, "{out:?}");
    let reduced = sender.cwnd_segments();
    sender.on(Ack { next: 4, ece, ..Ack::default() });
    // The receiver had the first already.
    sender.on(Ack { next: 4, sack: &[(0, 1)], ..Ack::default() });
    [reduced, sender.cwnd_segments()]
}

#[test]
fn a_mark_keeps_what_a_needless_repair_took() {
    assert_eq!(undone_repair(false), [5.0, 10.0], "undone");
    assert_eq!(undone_repair(true), [5.0, 5.0], "the mark asked for it too");
}
