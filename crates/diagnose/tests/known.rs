//! Captures with known truth in `captures/`: made by a generator, or with stock kernels in namespaces. Each shows
//! one thing that a diagnosis may get wrong.

use ackord_diagnose::{
    ArtefactKind, Cause, Connection, Diagnosis, Options, Reader, diagnose, without_progress,
};
use std::path::Path;

fn of_capture(name: &str) -> Diagnosis {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name);
    let reader = Reader::open(&path, 0).expect("a capture");
    diagnose(vec![reader], &Options::default(), &mut without_progress).expect("an answer").0
}

/// Returns the only connection of a capture.
fn only(name: &str) -> Connection {
    let mut connections = of_capture(name).connections;
    assert_eq!(connections.len(), 1, "{name}");
    connections.remove(0)
}

fn seconds(connection: &Connection, causes: &[Cause]) -> f64 {
    let of = connection.causes.iter().filter(|share| causes.contains(&share.cause));
    of.map(|share| share.seconds).sum()
}

fn assert_seconds(name: &str, connection: &Connection, cause: Cause, truth: f64, tolerance: f64) {
    let found = seconds(connection, &[cause]);
    assert!(
        (found - truth).abs() <= tolerance * truth,
        "{name}: {found} s of {cause:?}, {truth} s are true: {:?}",
        connection.causes
    );
}

fn has(diagnosis: &Diagnosis, kind: ArtefactKind) -> bool {
    diagnosis.artefacts.iter().any(|artefact| artefact.kind == kind)
}

/// Causes of a loss that no byte shows where none was lost.
const OF_LOSS: [Cause; 6] = [
    Cause::Outage,
    Cause::RandomLoss,
    Cause::TimeoutTail,
    Cause::TimeoutWindow,
    Cause::TimeoutSmallWindow,
    Cause::TimeoutLostRetransmission,
];

#[test]
fn knows_the_rests_of_clients() {
    for (name, idle, tolerance) in [
        ("loopback-idle.pcap.xz", 30.0, 0.01),
        ("loopback-real.pcap.xz", 8.0, 0.01),
        ("snaplen-ffffffff.pcapng.xz", 8.0, 0.01),
        ("host-wide-ip-id-filtered.pcap.xz", 13.2, 0.01),
        ("keepalive-idle.pcap.xz", 160.3, 0.01),
        ("phone-sleeps.pcap.xz", 451.0, 0.01),
        ("exchanges-500.pcap.xz", 40.0, 0.02),
        ("exchanges-5000.pcap.xz", 400.0, 0.02),
        ("nagle-3000-calls.pcap.xz", 599.0, 0.02),
        // The life without the jump of the clock.
        ("clock-set.pcap.xz", 4.0, 0.02),
        ("clock-back.pcap.xz", 4.0, 0.02),
    ] {
        let connection = only(name);
        assert_seconds(name, &connection, Cause::ClientIdle, idle, tolerance);
        assert_eq!(seconds(&connection, &OF_LOSS), 0.0, "{name}");
        assert_eq!(connection.retransmitted_bytes, 0, "{name}");
    }
    let both = of_capture("host-wide-ip-id.pcap.xz").connections;
    assert_seconds("host-wide", &both[0], Cause::ClientIdle, 13.2, 0.01);
    assert!(both.iter().all(|one| seconds(one, &OF_LOSS) == 0.0));
}

#[test]
fn keeps_the_seconds_of_long_connections_exact() {
    for (name, cause, truth) in [
        ("exchanges-500.pcap.xz", Cause::PathLimited, 10.0),
        ("exchanges-5000.pcap.xz", Cause::PathLimited, 100.0),
        ("nagle-3000-calls.pcap.xz", Cause::NagleDelayedAck, 132.0),
        ("long-window-limited.pcap.xz", Cause::ReceiverWindow, 41.5),
    ] {
        assert_seconds(name, &only(name), cause, truth, 0.05);
    }
    for name in
        ["exchanges-5000.pcap.xz", "long-window-limited.pcap.xz", "nagle-3000-calls.pcap.xz"]
    {
        assert!(!has(&of_capture(name), ArtefactKind::BeginsInTheMiddle), "{name}");
    }
}

#[test]
fn loses_no_bytes_that_were_not_lost() {
    for name in ["challenge-ack.pcap.xz", "fin-repeated.pcap.xz", "ack-before-data.pcap.xz"] {
        let diagnosis = of_capture(name);
        assert!(
            !has(&diagnosis, ArtefactKind::MissingPackets),
            "{name}: {:?}",
            diagnosis.artefacts
        );
        let connection = only(name);
        assert_eq!(connection.retransmitted_bytes, 0, "{name}");
        assert_eq!(seconds(&connection, &OF_LOSS), 0.0, "{name}: {:?}", connection.causes);
        let lost: f64 = connection
            .causes
            .iter()
            .filter(|one| one.cause == Cause::SynLoss)
            .map(|one| one.seconds)
            .sum();
        assert_eq!(lost, 0.0, "{name}");
    }
}

#[test]
fn one_direction_and_set_clocks_are_artefacts() {
    let name = "one-direction-350ms.pcapng.xz";
    assert!(has(&of_capture(name), ArtefactKind::OneDirection));
    let connection = only(name);
    assert_seconds(name, &connection, Cause::Unknown, connection.duration_s, 0.01);
    for name in ["clock-set.pcap.xz", "clock-back.pcap.xz"] {
        assert!(has(&of_capture(name), ArtefactKind::ClockSet), "{name}");
        assert!(only(name).duration_s < 5.0, "{name}");
    }
}

#[test]
fn copies_at_a_router_are_its_queue() {
    let name = "router-any.pcap.xz";
    let diagnosis = of_capture(name);
    let copies = diagnosis.artefacts.iter().find(|one| one.kind == ArtefactKind::DuplicatedPackets);
    assert_eq!(copies.map(|one| one.count), Some(1200));
    let connection = only(name);
    assert_eq!(connection.retransmitted_bytes, 0);
    let between = connection.path.between.and_then(|between| between.delay[0]);
    // The queue holds packets for 20 to 43 ms; the quickest waits 20 ms.
    assert!(between.is_some_and(|delay| (0.015..0.025).contains(&delay.most_s)), "{between:?}");
    // The kernel sent 16 segments again.
    for name in ["router-any-real.pcap.xz", "router-r1-real.pcap.xz", "sender-a0-real.pcap.xz"] {
        let connection = only(name);
        assert_seconds(name, &connection, Cause::QueueingOwn, 6.1, 0.03);
        assert_eq!(connection.retransmitted_bytes, 16 * 1448, "{name}");
        assert_eq!(seconds(&connection, &[Cause::QueueingOthers, Cause::Policer]), 0.0, "{name}");
    }
}

#[test]
fn a_deep_queue_is_no_outage() {
    let diagnosis = of_capture("six-second-queue.pcap.xz");
    for connection in &diagnosis.connections {
        assert_eq!(seconds(connection, &[Cause::Outage]), 0.0, "{:?}", connection.causes);
        let queue = seconds(connection, &[Cause::QueueingOwn, Cause::QueueingOthers]);
        assert!(queue > 0.9 * connection.duration_s, "{:?}", connection.causes);
    }
}

/// A policer of 5 Mbit/s and 75 kB, of which two connections of 1448 bytes of payload in 1500 share 4.83 Mbit/s.
#[test]
fn a_shared_policer_is_found_by_the_sum() {
    let connections = of_capture("policer-shared.pcapng.xz").connections;
    assert_eq!(connections.len(), 2);
    for connection in &connections {
        assert!(seconds(connection, &[Cause::Policer]) > 0.9 * connection.duration_s);
        let policer = connection.path.policer.expect("a policer");
        assert!(policer.shared);
        let rate = policer.rate_bit_s.expect("a rate");
        assert!((rate / 4.827e6 - 1.0).abs() < 0.02, "{policer:?}");
        assert!((60_000..80_000).contains(&policer.burst_bytes), "{policer:?}");
    }
}
