//! When anybody listens to what leaves.

use super::fast::{BESIDE, Downloads, FAST, LARGE};
use super::*;
use crate::engine::Leaving;
use crate::ring::Holding;

fn by_wan(engine: &mut Engine, millis: u64) -> Leaving {
    engine.handle_deadlines(at(millis));
    engine.attention(at(millis)).by_wan
}

/// Data towards the mobile host.
fn data(engine: &mut Engine, millis: u64) {
    let data = packet(Interface::Lan(0), segment(1, 1, MSS, millis), 1);
    see(engine, millis, Interface::Lan(0), Way::Out, &data, 0);
}

/// An acknowledgment that leaves by the WAN interface.
fn leaves(engine: &mut Engine, millis: u64) {
    let ack = packet(Interface::Wan, segment(1, 1, 0, millis), 0);
    let frame = [&[7; 12][..], &[0x08, 0x00], &ack].concat();
    see(engine, millis, Interface::Wan, Way::Out, &frame, 0);
}

#[test]
fn at_the_wan_interface_somebody_listens_while_a_way_is_unknown_and_an_eighth_of_each_second() {
    let mut engine = engine("m-tcp");
    let mut heard = Vec::new();
    let mut was = Leaving::Unheard;
    for millis in 0..6_000 {
        // From 1200 to 3050 there are packets, from 1300 on it is seen where they go.
        if (1_200..=3_050).contains(&millis) && millis % 50 == 0 {
            data(&mut engine, millis);
            if millis >= 1_300 && by_wan(&mut engine, millis) == Leaving::All {
                leaves(&mut engine, millis);
            }
        }
        let is = by_wan(&mut engine, millis);
        if is != was {
            heard.push((millis, is));
            was = is;
        }
    }
    let (all, none) = (Leaving::All, Leaving::Unheard);
    let expected =
        [(1_200, all), (1_801, none), (1_875, all), (2_000, none), (2_875, all), (3_000, none)];
    assert_eq!(heard[..6], expected);
    // Of what passed at 3050 nothing is left to be learnt in the next eighth but one.
    assert_eq!(heard[6..], [(3_875, all), (4_000, none)]);
}

#[test]
fn nobody_listens_for_connections_that_get_no_remedy() {
    let mut left_alone = engine_with("m-tcp", 1_000);
    let class = vec![ClassConfig { name: "default".into(), remedy: None }];
    let mut without = Engine::new(config(0), class, Box::new(|_| 0));
    for engine in [&mut left_alone, &mut without] {
        for millis in 0..3_000 {
            data(engine, millis);
            assert_eq!(by_wan(engine, millis), Leaving::Unheard);
        }
    }
}

#[test]
fn where_much_leaves_by_the_wan_interface_a_share_of_it_is_enough() {
    let mut engine = engine("m-tcp");
    data(&mut engine, 0);
    // Of another connection, whoever that is.
    let other = packet(Interface::Lan(0), segment(1, 1, 0, 0), 0);
    let frame = [&[7; 12][..], &[0x08, 0x00], &other].concat();
    let mut shares = Vec::new();
    for millis in 0..2_000 {
        data(&mut engine, millis);
        for _ in 0..10 {
            see(&mut engine, millis, Interface::Wan, Way::Out, &frame, 0);
        }
        if by_wan(&mut engine, millis) == Leaving::Share {
            shares.push(millis);
        }
    }
    let expected: Vec<u64> = (99..1_000).chain(1_099..2_000).collect();
    assert_eq!(shares, expected);
}

#[test]
fn alone_a_fast_one_is_not_heard_between_looks_until_somebody_else_says_something() {
    let mut downloads = Downloads::new();
    downloads.beside = false;
    downloads.go_on(1_090, Some(LARGE));
    assert!(downloads.is_let_pass(FAST));
    // It became fast after 100 ms; before that it was as good as any other.
    assert_eq!(downloads.unheard, 0);
    downloads.go_on(4_000, Some(LARGE));
    let share = downloads.unheard as f64 / 8_000.0;
    assert!((0.85..0.9).contains(&share), "{share}");
    assert!(downloads.is_let_pass(FAST));
    let counted = downloads.connection(FAST).counters.bytes_to_mobile as f64;
    let sent = f64::from(downloads.sent[0]);
    assert!((0.9..1.1).contains(&(counted / sent)), "{counted} {sent}");

    // Somebody begins: of what leaves for him nothing is missed once he was heard.
    downloads.pass(Way::In, BESIDE, Segment { flags: Flags::SYN, ..segment(0, 0, 0, 0) });
    let unheard = downloads.unheard;
    downloads.data(BESIDE, MSS, 0);
    assert_eq!(downloads.connection(BESIDE).counters.bytes_to_mobile, u64::from(MSS));
    // As long as he has not acknowledged it, and for a second after.
    downloads.go_on(3_000, Some(LARGE));
    downloads.pass(Way::In, BESIDE, segment(1, downloads.sent[1], 0, downloads.millis));
    downloads.go_on(1_000, Some(LARGE));
    assert_eq!((downloads.unheard, downloads.connection(BESIDE).kept()), (unheard, Bytes::ZERO));
    downloads.go_on(1_000, Some(LARGE));
    assert!(downloads.unheard > unheard + 1_500, "{} {unheard}", downloads.unheard);
}

#[test]
fn who_is_not_fast_any_more_has_to_be_told_his_way_anew() {
    let mut downloads = Downloads::new();
    downloads.beside = false;
    let way = |downloads: &mut Downloads| {
        let mut frame = [&[7; 12][..], &[0x08, 0x00]].concat();
        let endpoints = to_mobile().reversed();
        let ack = segment(1, 1, 0, 0);
        encode(endpoints, IpFields::default(), &ack, Payload::Zeros(0), &mut frame).expect("sound");
        see(&mut downloads.engine, downloads.millis, Interface::Wan, Way::Out, &frame, 0);
        downloads.connection(FAST).to_wan.is_some()
    };
    downloads.go_on(50, Some(LARGE));
    assert!(way(&mut downloads));
    downloads.go_on(2_000, Some(LARGE));
    // While it is fast nobody learns where it goes.
    let millis = downloads.millis - downloads.millis % 1_000 + 950;
    downloads.go_on(millis - downloads.millis, Some(LARGE));
    assert_eq!(by_wan(&mut downloads.engine, millis), Leaving::Unheard);
    downloads.go_on(2_200, Some(MSS));
    assert!(!downloads.is_let_pass(FAST) && downloads.connection(FAST).to_wan.is_none());
    assert_eq!(by_wan(&mut downloads.engine, downloads.millis), Leaving::All);
}

fn holding(engine: &mut Engine, millis: u64) -> Holding {
    engine.handle_deadlines(at(millis));
    engine.attention(at(millis)).holding
}

#[test]
fn where_few_packets_pass_for_ten_seconds_they_are_asked_for_one_by_one_until_there_are_more() {
    let mut engine = engine("proxy-tcp");
    let mut changes = Vec::new();
    let mut was = Holding::Blocks;
    for millis in 0..40_000 {
        // Few, then a link's packets but for nine seconds without, then few again.
        let every = match millis {
            0..15_000 => 10,
            15_000..17_000 | 26_000..28_000 => 1,
            17_000..26_000 => 1_000,
            _ => 6,
        };
        if millis % every == 0 {
            data(&mut engine, millis);
        }
        let is = holding(&mut engine, millis);
        if is != was {
            changes.push((millis, is));
            was = is;
        }
    }
    // The first look is at the beginning, one before which packets were many does not count.
    let (blocks, queue) = (Holding::Blocks, Holding::Queue);
    assert_eq!(changes, [(9_000, queue), (15_200, blocks), (38_000, queue)]);
}

#[test]
fn where_only_fast_ones_pass_who_is_shown_is_asked_for_one_by_one() {
    let mut downloads = Downloads::new();
    downloads.beside = false;
    let now = |downloads: &mut Downloads| holding(&mut downloads.engine, downloads.millis);
    downloads.go_on(1_000, Some(LARGE));
    assert_eq!(now(&mut downloads), Holding::Blocks);
    downloads.go_on(500, Some(LARGE));
    assert_eq!(now(&mut downloads), Holding::Queue);
    // Also while they are shown, and while somebody says little beside them.
    downloads.go_on(2_450, Some(LARGE));
    assert!(downloads.engine.attention(at(downloads.millis)).fast.are_shown);
    downloads.pass(Way::In, BESIDE, Segment { flags: Flags::SYN, ..segment(0, 0, 0, 0) });
    assert_eq!(now(&mut downloads), Holding::Queue);
    downloads.beside = true;
    downloads.go_on(1_000, Some(LARGE));
    assert_eq!(now(&mut downloads), Holding::Blocks);
}
