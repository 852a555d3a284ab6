//! Sums that no ended connection is missing from, in bounded memory.

use super::*;
use crate::config::FlowFacts;
use crate::{Connections, Key, Limits};
use ackord_units::{Bytes, Rate, Seq};
use std::net::SocketAddr;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn key(host: u32, port: u16) -> Key {
    let [_, a, b, c] = host.to_be_bytes();
    Key {
        mobile: SocketAddr::from(([10, a, b, c], port)),
        fixed: SocketAddr::from(([198, 51, 100, 1], 443)),
    }
}

fn connections() -> Connections {
    let limits = Limits {
        connections: 1_000,
        bytes_each: Bytes(0),
        bytes_in_all: Bytes(0),
        idle_for: Span::from_secs(60),
        injected_per_mille: 1_000,
        injected_rate: Rate::from_mbits_per_sec(100),
        fast: Rate::from_mbits_per_sec(500),
    };
    Connections::new(limits, 0)
}

fn open(connections: &mut Connections, key: Key, bytes: u64) {
    let Key { mobile, fixed } = key;
    let facts = FlowFacts { interface: 0, mobile, fixed, dscp: 0, mark: Default::default() };
    let connection = connections.touch(Time::ZERO, key, || (0, facts));
    connection.counters.bytes_to_mobile = bytes;
    connection.to_mobile.sent(at(0), Seq(0), Seq(1_000));
    connection.to_mobile.acknowledged(at(700), Seq(1_000));
}

#[test]
fn sums_live_and_ended_connections_of_an_address() {
    let (mut connections, mut subscribers) = (connections(), Subscribers::new(10));
    open(&mut connections, key(1, 1), 100);
    open(&mut connections, key(1, 2), 20);
    open(&mut connections, key(2, 1), 3);
    let before = subscribers.totals(connections.iter(), at(1_000));
    connections.remove(key(1, 1));
    subscribers.ended(&connections.next_gone().expect("removed"), at(1_000));
    let after = subscribers.totals(connections.iter(), at(1_000));
    assert_eq!(before, after, "an end moves totals and changes none");
    let first = after[&key(1, 1).mobile.ip()];
    assert_eq!((first.connections, first.bytes_to_mobile), (2, 120));
    assert_eq!((first.active, first.stalled), (Span::from_millis(1_400), Span::from_millis(1_400)));
    assert_eq!((first.rtts, first.rtt_sum), (2, Span::from_millis(1_400)));
    assert_eq!(after[&key(2, 1).mobile.ip()].bytes_to_mobile, 3);
}

#[test]
fn progress_begun_anew_is_counted_once() {
    let (mut connections, mut subscribers) = (connections(), Subscribers::new(10));
    open(&mut connections, key(1, 1), 100);
    let connection = connections.iter_mut().next().expect("one");
    subscribers.begun_anew(connection, at(1_000));
    connection.to_mobile = connection.to_mobile.anew(at(1_000));
    let totals = subscribers.totals(connections.iter(), at(1_000))[&key(1, 1).mobile.ip()];
    assert_eq!((totals.connections, totals.bytes_to_mobile), (1, 100));
    assert_eq!((totals.active, totals.rtts), (Span::from_millis(700), 1));
}

#[test]
fn a_flood_of_addresses_is_bounded_and_forgets_the_oldest_first() {
    let mut subscribers = Subscribers::new(100);
    for host in 0..10_000 {
        let mut connections = connections();
        open(&mut connections, key(host, 1), 1);
        connections.remove(key(host, 1));
        subscribers.ended(&connections.next_gone().expect("removed"), at(u64::from(host)));
        assert!(subscribers.ended.len() <= 100, "{}", subscribers.ended.len());
    }
    assert!(subscribers.ended.contains_key(&key(9_999, 1).mobile.ip()));
    assert!(subscribers.ended.len() >= 50, "{}", subscribers.ended.len());
    assert!(!subscribers.ended.contains_key(&key(9_000, 1).mobile.ip()));
}

#[test]
fn a_subscriber_that_returns_after_it_was_forgotten_starts_from_zero() {
    let before = SubscriberTotals { bytes_to_mobile: 900, ..SubscriberTotals::default() };
    let now = SubscriberTotals { bytes_to_mobile: 5, ..SubscriberTotals::default() };
    assert_eq!(now.since(&before).bytes_to_mobile, 0);
}
