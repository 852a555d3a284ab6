//! Bounds, ages, what goes with a connection.

use super::*;

fn limits(connections: usize, bytes_each: u64, bytes_in_all: u64) -> Limits {
    Limits {
        connections,
        bytes_each: Bytes(bytes_each),
        bytes_in_all: Bytes(bytes_in_all),
        idle_for: IDLE,
        injected_per_mille: 1_000,
        injected_rate: Rate::from_mbits_per_sec(100),
        fast: Rate::from_mbits_per_sec(500),
    }
}

fn begin() -> (usize, FlowFacts) {
    let Key { mobile, fixed } = key(0);
    (0, FlowFacts { interface: 0, mobile, fixed, dscp: 0, mark: Default::default() })
}

const IDLE: Span = Span::from_secs(60);

fn key(port: u16) -> Key {
    Key {
        mobile: SocketAddr::from(([192, 0, 2, 7], port)),
        fixed: SocketAddr::from(([198, 51, 100, 1], 443)),
    }
}

#[test]
fn the_one_that_was_quiet_longest_makes_room() {
    let limits = limits(3, 100, 150);
    let mut connections = Connections::new(limits, 0);
    let numbers: Vec<FlowId> =
        (0..3).map(|port| connections.touch(Time::ZERO, key(port), begin).flow).collect();
    // 0 is heard again, so 1 is the quietest.
    assert_eq!(connections.touch(Time::ZERO, key(0), begin).flow, numbers[0]);
    let fourth = connections.touch(Time::ZERO, key(3), begin).flow;
    assert_eq!((connections.len(), connections.evicted()), (3, 1));
    assert!(connections.of_flow(numbers[1]).is_none());
    assert!(!numbers.contains(&fourth));
    assert_eq!(connections.of_flow(fourth).map(|one| one.key), Some(key(3)));
    let gone = connections.next_gone().expect("it made room");
    assert_eq!((gone.key, connections.next_gone().is_none()), (key(1), true));
    connections.remove(key(0));
    connections.remove(key(0));
    assert_eq!(connections.next_gone().map(|gone| gone.key), Some(key(0)));
    assert!(connections.next_gone().is_none());
    assert_eq!((connections.len(), connections.by_age.len(), connections.by_flow.len()), (2, 2, 2));
}

#[test]
fn what_is_kept_is_bounded_each_and_in_all_and_goes_with_its_connection() {
    let limits = limits(2, 100, 150);
    let mut connections = Connections::new(limits, 0);
    let flows = [0, 1].map(|port| connections.touch(Time::ZERO, key(port), begin).flow);
    for flow in flows {
        connections.keep(flow, Seq(0), 40, &[1; 60]);
        connections.keep(flow, Seq(40), 20, &[2; 40]);
    }
    // Of the second one only what is left in all.
    assert_eq!(connections.kept(), Bytes(140));
    let first = connections.of_flow(flows[0]).expect("known");
    assert!(first.packet(Seq(40), 20).is_some() && first.packet(Seq(40), 21).is_none());
    connections.acknowledge(flows[0], Seq(40));
    assert_eq!(connections.kept(), Bytes(80));
    connections.keep(flows[1], Seq(0), 40, &[1; 60]);
    connections.touch(Time::ZERO, key(2), begin);
    assert_eq!((connections.kept(), connections.len()), (Bytes(100), 2));
    connections.remove(key(1));
    assert_eq!(connections.kept(), Bytes::ZERO);
}

#[test]
fn both_directions_have_one_key() {
    let there = key(5).endpoints(Interface::Wan);
    assert_eq!(Key::towards(Interface::Wan, there), key(5));
    assert_eq!(Key::towards(Interface::Lan(0), there.reversed()), key(5));
    assert_eq!(key(5).endpoints(Interface::Lan(0)), there.reversed());
}

#[test]
fn strangers_drive_out_no_living_connection() {
    let limits = limits(3, 9, 9);
    let mut connections = Connections::new(limits, 0);
    for port in [1, 2] {
        connections.touch(Time::ZERO, key(port), begin);
        connections.heard(key(port), Interface::Lan(0));
        connections.heard(key(port), Interface::Wan);
    }
    for port in 1_000..3_000 {
        connections.touch(Time::ZERO, key(port), begin);
        connections.heard(key(port), Interface::Lan(0));
        connections.heard(key(port), Interface::Lan(0));
    }
    assert!([1, 2].iter().all(|port| connections.iter().any(|one| one.key == key(*port))));
    assert_eq!((connections.len(), connections.by_age.len()), (3, 3));
    // Among themselves the living ones go by age.
    connections.heard(key(2_999), Interface::Wan);
    connections.touch(Time::ZERO, key(7), begin);
    assert!(connections.iter().all(|one| one.key != key(1)));
}

#[test]
fn who_is_quiet_for_long_is_forgotten() {
    let limits = limits(9, 9, 9);
    let mut connections = Connections::new(limits, 0);
    connections.touch(Time::ZERO, key(1), begin);
    connections.heard(key(1), Interface::Lan(0));
    connections.heard(key(1), Interface::Wan);
    connections.touch(Time::ZERO + Span::from_secs(1), key(2), begin);
    connections.forget_idle(Time::ZERO + IDLE);
    assert_eq!(connections.iter().map(|one| one.key).collect::<Vec<_>>(), [key(2)]);
    connections.forget_idle(Time::ZERO + IDLE + Span::from_secs(1));
    assert!(connections.is_empty() && connections.by_age.is_empty());
}
