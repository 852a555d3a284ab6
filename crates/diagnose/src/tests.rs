//! Scripted connections, at whatever place the capture is taken, and laws that hold for all packets.

use crate::causes::Sharing;
use crate::flow::table::Table;
use crate::report::answer;
use crate::{Address, ArtefactKind, Cause, Connection, Sacks, Seen, Vantage};
use ackord_units::Time;
use ackord_wire::Flags;
use proptest::prelude::*;

const CLIENT: Address = Address { ip: [1; 16], port: 50_000 };
const SERVER: Address = Address { ip: [2; 16], port: 80 };
const MSS: u32 = 1448;

/// A packet between the two, at this microsecond.
fn packet(micros: u64, from_client: bool, (seq, ack): (u32, u32), len: u32) -> Seen {
    let (src, dst) = if from_client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    Seen {
        frame: 0,
        at: Time::from_nanos(1_000_000_000 + micros * 1000),
        file: 0,
        interface: 0,
        src,
        dst,
        seq,
        ack,
        window: 65_000,
        flags: Flags::ACK,
        payload_len: len,
        ip_len: len + 52,
        ip_id: 0,
        ttl: 64,
        ecn: 0,
        mss: None,
        wscale: None,
        sack_permitted: false,
        timestamps: None,
        sacks: Sacks::default(),
        options_cut: false,
        hop: 0,
        radio: None,
    }
}

/// The handshake, seen at the client with a round trip of `rtt` microseconds.
fn handshake(rtt: u64) -> Vec<Seen> {
    let syn =
        Seen { flags: Flags::SYN, mss: Some(1460), wscale: Some(7), ..packet(0, true, (0, 0), 0) };
    let flags = Flags::SYN | Flags::ACK;
    let answer = Seen { flags, mss: Some(1460), wscale: Some(7), ..packet(rtt, false, (0, 1), 0) };
    vec![syn, answer, packet(rtt + 5, true, (1, 1), 0)]
}

fn diagnose(mut packets: Vec<Seen>) -> Connection {
    let mut table = Table::new(&[], false);
    for (frame, seen) in (1..).zip(&mut packets) {
        seen.frame = frame;
        table.packet(seen);
    }
    let mut connections = table.into_connections();
    assert_eq!(connections.len(), 1);
    connections[0].finish();
    answer(0, &connections[0], &Sharing::default())
}

fn seconds(connection: &Connection, cause: Cause) -> f64 {
    let found = connection.causes.iter().find(|share| share.cause == cause);
    found.map_or(0.0, |share| share.seconds)
}

/// The account has no gap and no overlap, and adds up to the connection's duration.
fn assert_conserved(connection: &Connection) {
    let sum: f64 = connection.causes.iter().map(|share| share.seconds).sum();
    assert!((sum - connection.duration_s).abs() < 1e-6, "{sum} of {}", connection.duration_s);
    let mut at = 0.0;
    for interval in &connection.intervals {
        assert!((interval.from_s - at).abs() < 1e-9 && interval.to_s > interval.from_s);
        at = interval.to_s;
    }
    assert!((at - connection.duration_s).abs() < 1e-6);
    let limits = connection.limits.rwin_s + connection.limits.cwnd_s + connection.limits.snd_s;
    assert!((limits - connection.duration_s).abs() < 1e-6);
}

#[test]
fn a_second_small_write_waits_for_the_delayed_ack_of_the_first() {
    let mut packets = handshake(200);
    let (mut at, mut sent, mut got) = (1000, 1, 1);
    for _ in 0..10 {
        packets.push(packet(at, true, (sent, got), 100));
        // The ACK comes after 40 ms; only then the second write leaves.
        packets.push(packet(at + 40_200, false, (got, sent + 100), 0));
        packets.push(packet(at + 40_220, true, (sent + 100, got), 200));
        packets.push(packet(at + 40_420, false, (got, sent + 300), 500));
        (at, sent, got) = (at + 41_000, sent + 300, got + 500);
    }
    let connection = diagnose(packets);
    assert_conserved(&connection);
    let nagle = seconds(&connection, Cause::NagleDelayedAck);
    // In the first exchange nothing shows yet that the round trip is shorter.
    assert!((0.36..0.41).contains(&nagle), "{nagle}");
    // The server sends more: seen from it the capture is at the receiver.
    assert_eq!(connection.vantage, Vantage::NearReceiver);
}

#[test]
fn a_server_that_thinks_is_not_a_path_that_is_long() {
    let think = 300_000;
    let mut packets = handshake(50_000);
    packets.push(packet(60_000, true, (1, 1), 100));
    packets.push(packet(110_000, false, (1, 101), 0));
    packets.push(packet(110_000 + think, false, (1, 101), 1000));
    packets.push(packet(110_010 + think, true, (101, 1001), 0));
    let connection = diagnose(packets);
    assert_conserved(&connection);
    let idle = seconds(&connection, Cause::ServerIdle);
    assert!((idle - 0.3).abs() < 0.001, "{idle}");
    let path = seconds(&connection, Cause::PathLimited);
    assert!((path - 0.05).abs() < 0.001, "{path}");
}

/// Segments of a sender 50 ms away, over a link that takes a millisecond for each, seen at the receiver.
/// When all but 10 of 40 have been acknowledged the sender sends 30 more at once.
fn bursts_of_a_full_send_buffer(bursts: usize) -> Vec<Seen> {
    let mut packets = handshake(50_000);
    packets.push(packet(50_010, true, (1, 1), 100));
    let mut arrivals: Vec<u64> = (0..40).map(|number| 100_000 + number * 1000).collect();
    let mut number = 0;
    while let Some(at) = arrivals.get(number).copied() {
        let seq = 1 + number as u32 * MSS;
        packets.push(packet(at, false, (seq, 101), MSS));
        packets.push(packet(at + 5, true, (101, seq + MSS), 0));
        number += 1;
        if arrivals.len() - number == 10 && arrivals.len() < 40 + 30 * bursts {
            let first = (at + 50_010).max(arrivals[arrivals.len() - 1] + 1000);
            arrivals.extend((0..30).map(|number| first + number * 1000));
        }
    }
    packets
}

#[test]
fn a_sender_that_leaves_acks_unanswered_time_and_again_waits_for_its_buffer() {
    let connection = diagnose(bursts_of_a_full_send_buffer(40));
    assert_conserved(&connection);
    let buffer = seconds(&connection, Cause::SendBuffer);
    // The link rests for 40 ms before each burst but those that look like slow start.
    assert!((20.0 * 0.040..40.0 * 0.060).contains(&buffer), "{buffer}");
    let seldom = diagnose(bursts_of_a_full_send_buffer(2));
    assert_eq!(seconds(&seldom, Cause::SendBuffer), 0.0);
}

#[test]
fn what_a_far_sender_does_it_did_half_a_round_trip_before() {
    // Seen at the client, 50 ms from the server, which thinks for 300 ms; then its window holds it.
    let mut packets = handshake(50_000);
    packets.push(packet(60_000, true, (1, 1), 100));
    packets.push(packet(410_000, false, (1, 101), MSS));
    packets.push(packet(410_010, true, (101, 1 + MSS), 0));
    packets.push(packet(460_010, false, (1 + MSS, 101), MSS));
    let connection = diagnose(packets);
    let idle = connection.intervals.iter().find(|one| one.cause == Cause::ServerIdle);
    let idle = idle.map(|one| (one.from_s, one.to_s)).unwrap_or_default();
    // The request is there after 25 ms, and the answer is 25 ms on its way.
    assert!((idle.0 - 0.085).abs() < 1e-3 && (idle.1 - 0.385).abs() < 1e-3, "{idle:?}");
}

#[test]
fn a_time_for_which_the_capture_has_nothing_is_nobodys() {
    let whole = bursts_of_a_full_send_buffer(40);
    let began = whole[0].at;
    let shown = |seen: &Seen| {
        let micros = seen.at.saturating_since(began).as_nanos() / 1000;
        !(900_000..1_400_000).contains(&micros)
    };
    let connection = diagnose(whole.into_iter().filter(shown).collect());
    assert_conserved(&connection);
    let blank = seconds(&connection, Cause::CaptureArtefact);
    assert!((0.45..0.55).contains(&blank), "{blank}");
}

#[test]
fn a_syn_that_is_repeated_was_lost() {
    let mut packets = vec![packet(0, true, (0, 0), 0)];
    packets[0].flags = Flags::SYN;
    let mut rest = handshake(20_000);
    for seen in &mut rest {
        seen.at = Time::from_nanos(seen.at.as_nanos() + 1_000_000_000);
    }
    packets.extend(rest);
    let connection = diagnose(packets);
    assert_conserved(&connection);
    assert!((seconds(&connection, Cause::SynLoss) - 1.0).abs() < 1e-6);
    assert!((seconds(&connection, Cause::SetUp) - 0.020_005).abs() < 1e-6);
}

#[test]
fn a_tail_that_is_lost_costs_the_timer_and_is_one_retransmission() {
    let mut packets = handshake(20_000);
    for segment in 0..3 {
        packets.push(packet(30_000 + u64::from(segment), false, (1 + segment * MSS, 1), MSS));
    }
    packets.push(packet(50_000, true, (1, 1 + 2 * MSS), 0));
    packets.push(packet(270_000, false, (1 + 2 * MSS, 1), MSS));
    packets.push(packet(290_000, true, (1, 1 + 3 * MSS), 0));
    let connection = diagnose(packets);
    assert_conserved(&connection);
    assert_eq!(connection.retransmitted_bytes, u64::from(MSS));
    let tail = seconds(&connection, Cause::TimeoutTail);
    assert!((0.22..0.27).contains(&tail), "{tail}");
}

#[test]
fn every_packet_twice_is_an_artefact_and_no_retransmission() {
    let mut packets = Vec::new();
    let mut id = 0;
    let mut add = |seen: Seen| {
        id += 1;
        packets.push(Seen { ip_id: id, ..seen });
        packets.push(Seen { ip_id: id, at: Time::from_nanos(seen.at.as_nanos() + 20_000), ..seen });
    };
    for seen in handshake(20_000) {
        add(seen);
    }
    for segment in 0..20 {
        add(packet(30_000 + u64::from(segment) * 500, false, (1 + segment * MSS, 1), MSS));
    }
    let connection = diagnose(packets);
    assert_conserved(&connection);
    assert_eq!(connection.retransmitted_bytes, 0);
    assert_eq!(connection.artefacts[0].count, 23);
}

#[test]
fn a_thought_behind_a_delayed_ack_is_the_clients() {
    // Seen at the server, 200 us away: the client thinks for 50 ms, and its ACK is delayed by 40 ms.
    let mut packets = handshake(200);
    for number in 0..20_u32 {
        let at = 10_000 + u64::from(number) * 50_300;
        let (ask, got) = (1 + number * 30, 1 + number * 5);
        packets.push(packet(at, true, (ask, got), 30));
        packets.push(packet(at + 50, false, (got, ask + 30), 5));
        packets.push(packet(at + 40_300, true, (ask + 30, got + 5), 0));
    }
    let connection = diagnose(packets);
    assert_conserved(&connection);
    let idle = seconds(&connection, Cause::ClientIdle);
    assert!(
        (19.0 * 0.049..20.0 * 0.0502 + 0.01).contains(&idle),
        "{idle}: {:?}",
        connection.causes
    );
}

/// Messages of 300 bytes every 60 ms over 10 ms, without Nagle's algorithm. Each ACK covers what was sent until
/// `late` before it arrives, and passes 200 ms after the first segment that it covers.
fn messages_with_delayed_acks(late: u64) -> Vec<Seen> {
    let mut packets = handshake(10_000);
    for number in 0..60_u64 {
        packets.push(packet(20_000 + number * 60_000, true, (1 + 300 * number as u32, 1), 300));
    }
    for four in 1..14_u64 {
        let at = 20_000 + four * 240_000;
        let covered = (at - late - 20_000) / 60_000 + 1;
        packets.push(packet(at, false, (1, 1 + 300 * covered as u32), 0));
    }
    packets.sort_by_key(|seen| seen.at);
    packets
}

#[test]
fn attributes_the_time_between_messages_to_their_application_while_an_ack_is_delayed() {
    let connection = diagnose(messages_with_delayed_acks(10_000));
    assert_conserved(&connection);
    let idle = seconds(&connection, Cause::ClientIdle);
    assert!((2.6..=3.1).contains(&idle), "{idle}: {:?}", connection.causes);
    // In a queue of 150 ms they are under way all the time.
    let connection = diagnose(messages_with_delayed_acks(150_000));
    let idle = seconds(&connection, Cause::ClientIdle);
    assert!(idle < 0.4, "{idle}: {:?}", connection.causes);
}

#[test]
fn full_segments_that_never_arrive_are_a_black_hole() {
    let mut packets = handshake(20_000);
    packets.push(packet(30_000, true, (1, 1), 100));
    packets.push(packet(50_000, false, (1, 101), 200));
    packets.push(packet(70_000, true, (101, 201), 0));
    for segment in 0..3 {
        packets.push(packet(80_000 + u64::from(segment), false, (201 + segment * MSS, 101), MSS));
    }
    for (number, at) in [300_000, 740_000, 1_620_000, 3_380_000].into_iter().enumerate() {
        packets.push(packet(at + number as u64, false, (201, 101), MSS));
    }
    let connection = diagnose(packets);
    assert_conserved(&connection);
    let black = seconds(&connection, Cause::MtuBlackHole);
    assert!(black > 3.0, "{:?}", connection.causes);
    let reason = &connection.intervals.last().expect("one").reason;
    assert!(reason.contains(&MSS.to_string()) && reason.contains("200 bytes"), "{reason}");
}

#[test]
fn packets_in_another_order_than_their_times_are_sorted() {
    // A second queue of the card delivers every fourth packet of the server 300 us late.
    let whole = download(50_001, 0, 20);
    let late = |number: usize, seen: &Seen| seen.src != SERVER || number % 8 != 3;
    let mut ordered: Vec<(u64, Seen)> = whole
        .iter()
        .enumerate()
        .map(|(number, seen)| {
            let delay = if late(number, seen) { 0 } else { 300_000 };
            (seen.at.as_nanos() + delay, *seen)
        })
        .collect();
    ordered.sort_by_key(|(at, _)| *at);
    let in_order = diagnose(whole);
    let sorted = diagnose(ordered.into_iter().map(|(_, seen)| seen).collect());
    assert_conserved(&sorted);
    let backwards = sorted.artefacts.iter().find(|it| it.kind == ArtefactKind::ReorderedTimestamps);
    assert!(backwards.is_some_and(|it| it.count > 10), "{:?}", sorted.artefacts);
    // The first late packet is taken where it is.
    assert_eq!(in_order.retransmitted_bytes, 0);
    assert!(sorted.retransmitted_bytes <= u64::from(MSS), "{}", sorted.retransmitted_bytes);
    let growth = |one: &Connection| seconds(one, Cause::PathLimited);
    assert!((growth(&sorted) - growth(&in_order)).abs() < 0.01);
}

/// A download of the client's from another port, from `begins` on: a window of ten segments a round trip.
fn download(port: u16, begins: u64, rounds: u32) -> Vec<Seen> {
    let mut packets = handshake(50_000);
    for round in 0..rounds {
        for segment in 0..10 {
            let seq = 1 + (round * 10 + segment) * MSS;
            let at = 60_000 + u64::from(round) * 50_000 + u64::from(segment) * 100;
            packets.push(packet(at, false, (seq, 1), MSS));
            packets.push(packet(at + 5, true, (1, seq + MSS), 0));
        }
    }
    let from =
        |address: Address| if address == CLIENT { Address { port, ..CLIENT } } else { address };
    let later = |seen: Seen| Seen {
        at: Time::from_nanos(seen.at.as_nanos() + begins * 1000),
        src: from(seen.src),
        dst: from(seen.dst),
        ..seen
    };
    packets.into_iter().map(later).collect()
}

#[test]
fn a_small_connection_may_outlive_the_large_ones_to_its_receiver() {
    // Two large ones end at 1.06 s; where the small one's stretches lie behind is every tenth of a second.
    for begins in (0..20).map(|tenths| tenths * 100_000) {
        let all = [download(50_001, 0, 20), download(50_002, 0, 20), download(50_003, begins, 2)];
        let mut packets = all.concat();
        packets.sort_by_key(|seen| seen.at);
        let mut table = Table::new(&[], false);
        for (frame, seen) in (1..).zip(packets) {
            table.packet(&Seen { frame, ..seen });
        }
        let mut connections = table.into_connections();
        connections.iter_mut().for_each(|connection| connection.finish());
        let sharing = Sharing::of(&connections);
        for connection in &connections {
            assert_conserved(&answer(0, connection, &sharing));
        }
    }
}

fn any_packet() -> impl Strategy<Value = Seen> {
    let numbers = (0..40_u32, 0..40_u32, 0..4_u32, 0..16_u16);
    let rest =
        (0..100_000_u64, any::<bool>(), 0..64_u8, any::<Option<(u8, u8)>>(), any::<(u16, u8)>());
    (numbers, rest).prop_map(
        |((seq, ack, len, id), (gap, from_client, flags, stamps, (window, sack)))| {
            let base = packet(gap, from_client, (seq * 700, ack * 700), len * 700);
            let mut sacks = Sacks::default();
            sacks.push((u32::from(sack) * 100, u32::from(sack) * 130));
            Seen {
                flags: Flags::from_bits(flags),
                window,
                ip_id: id,
                sacks,
                timestamps: stamps.map(|(value, echo)| (u32::from(value), u32::from(echo))),
                ..base
            }
        },
    )
}

proptest! {
    #[test]
    fn no_time_that_a_capture_claims_makes_it_fail(
        packets in proptest::collection::vec((any_packet(), any::<u64>()), 1..60),
    ) {
        let mut table = Table::new(&[], false);
        for (frame, (seen, at)) in (1..).zip(packets) {
            table.packet(&Seen { frame, at: Time::from_nanos(at), ..seen });
        }
        for connection in &mut table.into_connections() {
            connection.finish();
            answer(0, connection, &Sharing::default());
        }
    }

    #[test]
    fn every_instant_belongs_to_one_cause_whatever_the_packets_are(
        packets in proptest::collection::vec(any_packet(), 1..300),
    ) {
        let mut table = Table::new(&[[CLIENT, SERVER]], false);
        let mut now = 0;
        for (frame, seen) in (1..).zip(packets) {
            now += seen.at.as_nanos() - 1_000_000_000;
            table.packet(&Seen { frame, at: Time::from_nanos(now), ..seen });
        }
        for connection in &mut table.into_connections() {
            connection.finish();
            assert_conserved(&answer(0, connection, &Sharing::default()));
        }
    }
}
