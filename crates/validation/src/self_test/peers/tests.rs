//! Rewritings change what they are meant to change, the same at every place, and nothing else.

use super::captures::{Captures, Link, Run};
use super::record::{Made, Record};
use super::*;
use crate::self_test::run::capture_file;
use ackord_diagnose::{Reader, Seen};
use std::net::SocketAddrV4;

const MS: u64 = 1_000_000;
const RTT: u64 = 40 * MS;

fn ends() -> (SocketAddrV4, SocketAddrV4) {
    let end = |text: &str| text.parse().expect("an address");
    (end("10.0.0.1:5000"), end("10.0.1.1:80"))
}

fn run() -> Run {
    let (client, server) = ends();
    let ends = (client.into(), server.into());
    Run { ends, sends: Side::Server, rtt: RTT, rate: 20_000_000, seed: 7 }
}

/// A download of `count` segments of 1000 bytes, one each 2 ms, acknowledged at once, at all places.
fn download(count: u64) -> Captures {
    let (client, server) = ends();
    let mut captures = Captures::default();
    let data = |number: u64| Made {
        src: server,
        dst: client,
        seq: 1 + number as u32 * 1000,
        ack: 1,
        window: 500,
        timestamps: (9_000 + 2 * number as u32, 4_000),
        payload: 1000,
    };
    let ack = |number: u64| Made {
        src: client,
        dst: server,
        seq: 1,
        ack: 1001 + number as u32 * 1000,
        window: 600,
        timestamps: (4_020 + 2 * number as u32, 9_000 + 2 * number as u32),
        payload: 0,
    };
    for (place, capture) in captures.0.iter_mut().enumerate() {
        let hop = place as u64 * RTT / 4;
        for number in 0..count {
            let sent = 100 * MS + number * 2 * MS;
            capture.records.push(Record::build(sent + hop, 0, &data(number)));
            capture.records.push(Record::build(sent + RTT - hop + 10_000, 1, &ack(number)));
        }
        capture.sort();
    }
    captures
}

fn changed(change: Change) -> (Captures, Captures) {
    let before = download(60);
    let mut after = before.clone();
    apply(&mut after, &run(), change);
    (before, after)
}

/// Returns what the reader of the diagnosis finds in the capture of the router.
fn seen(captures: &Captures) -> Vec<Seen> {
    let folder = tempfile::tempdir().expect("a folder");
    captures.write(folder.path()).expect("captures are written");
    let path = capture_file(folder.path(), Place::Router);
    let mut reader = Reader::open(&path, 0).expect("a capture");
    let mut all = Vec::new();
    while reader.read(&mut all, 1000).expect("reading works") {}
    all
}

/// Returns the packets of one end at one place.
fn of(captures: &Captures, place: Place, side: Side) -> Vec<&Record> {
    let records = captures.0[place as usize].records.iter();
    records.filter(|record| run().side_of(record) == Some(side)).collect()
}

#[test]
fn packets_have_one_identification_at_every_place_and_only_that_changes() {
    for kind in [IdKind::HostWide(500), IdKind::PerCpu(50), IdKind::Random, IdKind::ByteSwapped(9)]
    {
        let (before, after) = changed(Change::Ids(kind));
        for (old, new) in before.0.iter().zip(&after.0) {
            for (old, new) in old.records.iter().zip(&new.records) {
                let mut back = new.clone();
                back.set_ip_id(old.ip_id());
                assert_eq!(&back, old);
            }
        }
        for side in [Side::Client, Side::Server] {
            let ids = |place| of(&after, place, side).iter().map(|it| it.ip_id()).collect();
            let server: Vec<u16> = ids(Place::Server);
            assert_eq!((&server, &server), (&ids(Place::Router), &ids(Place::Client)));
        }
    }
}

#[test]
fn counters_count_as_their_kind_says() {
    let steps = |kind| {
        let (_, after) = changed(Change::Ids(kind));
        let ids: Vec<u16> =
            of(&after, Place::Server, Side::Server).iter().map(|it| it.ip_id()).collect();
        ids.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect::<Vec<_>>()
    };
    let all = steps(IdKind::HostWide(2_000));
    assert!(all.iter().all(|step| (1..100).contains(step)) && all.iter().any(|step| *step > 1));
    assert!(steps(IdKind::Zero).iter().all(|step| *step == 0));
    let random = steps(IdKind::Random);
    assert!(random.iter().filter(|step| **step > 2_000).count() > random.len() / 2);
    let cpus = steps(IdKind::PerCpu(0));
    assert!(cpus.contains(&1) && cpus.iter().any(|step| *step > 2));
}

#[test]
fn clocks_of_other_stacks_count_their_own_ticks_and_echoes_follow() {
    let stamps = |clock| {
        let (_, after) = changed(Change::Timestamps(clock));
        let records = &after.0[Place::Server as usize].records;
        records.iter().map(Record::timestamps).collect::<Vec<_>>()
    };
    let micros = stamps(TimestampClock::PerMillisecond(1_000));
    let sent: Vec<u32> = micros.iter().flatten().map(|it| it.0).collect();
    assert_eq!(sent[1] - sent[0], 2_000);
    // Every echo of the client is a value that the server sent.
    let client = micros.iter().flatten().filter(|it| it.0 < 9_000).map(|it| it.1);
    assert!(client.clone().count() == 0 || client.into_iter().all(|echo| sent.contains(&echo)));
    assert!(stamps(TimestampClock::Off).iter().all(Option::is_none));
    let slow = stamps(TimestampClock::Hundred);
    let sent: Vec<u32> = slow.iter().flatten().map(|it| it.0).filter(|it| *it >= 9_000).collect();
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] <= 1));
}

#[test]
fn overtaken_acks_are_the_same_packets_in_another_order_but_at_the_receiver() {
    let (before, after) = changed(Change::SwappedAcks);
    let acks = |captures: &Captures, place| {
        let acks = of(captures, place, Side::Client);
        acks.iter().map(|it| it.ack()).collect::<Vec<_>>()
    };
    assert_eq!(acks(&before, Place::Client), acks(&after, Place::Client));
    let server = acks(&after, Place::Server);
    assert_eq!(server, acks(&after, Place::Router));
    let back = server.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!((3..25).contains(&back), "{back}");
    let mut sorted = server.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, acks(&before, Place::Server));
    let times = after.0[0].records.windows(2).all(|pair| pair[0].at <= pair[1].at);
    assert!(times);
}

#[test]
fn acks_before_their_data_are_captured_at_the_receiver_only() {
    let (before, after) = changed(Change::EarlyAcks);
    assert_eq!(
        before.0[..2].iter().map(|it| &it.records).collect::<Vec<_>>(),
        after.0[..2].iter().map(|it| &it.records).collect::<Vec<_>>()
    );
    let records = &after.0[Place::Client as usize].records;
    let (mut next, mut early) = (0, 0);
    for record in records {
        match run().side_of(record) {
            Some(Side::Server) => next = record.end_seq(),
            _ => early += usize::from(record.ack() > next),
        }
    }
    assert!(early > 50, "{early}");
    assert!(records.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn a_router_has_each_packet_twice_with_one_hop_less_the_second_time() {
    for format in [AnyInterface::Cooked, AnyInterface::Ethernet] {
        let (before, after) = changed(Change::Any(format));
        let (once, twice) = (seen(&before), seen(&after));
        assert_eq!(twice.len(), 2 * once.len());
        for packet in &once {
            let copies = twice.iter().filter(|it| {
                (it.seq, it.ack, it.payload_len) == (packet.seq, packet.ack, packet.payload_len)
            });
            let ttls: Vec<u8> = copies.map(|it| it.ttl).collect();
            assert_eq!(ttls, [64, 63]);
        }
        let link = after.0[Place::Router as usize].link;
        assert_ne!(link, Link::Raw);
    }
}

#[test]
fn keep_alives_fill_idle_time_and_are_answered_after_the_path() {
    let mut captures = download(10);
    let mut later = download(11);
    later.each(|record| record.at += 5_000 * MS);
    for (capture, later) in captures.0.iter_mut().zip(later.0) {
        let last = later.records.into_iter().rev().take(1);
        capture.records.extend(last);
    }
    for by_server in [true, false] {
        let before: Vec<usize> = captures.0.iter().map(|it| it.records.len()).collect();
        let mut captures = captures.clone();
        let keep = KeepAlives { by_server, bytes: 1, every_ms: 1_000 };
        apply(&mut captures, &run(), Change::KeepAlives(keep));
        let added = |place: usize| captures.0[place].records.len() - before[place];
        assert_eq!([added(0), added(1), added(2)], [8, 8, 8]);
        let side = if by_server { Side::Server } else { Side::Client };
        let next = if by_server { 10_000 } else { 0 };
        let probes = of(&captures, Place::Router, side);
        let probes: Vec<_> = probes.into_iter().filter(|it| it.payload_len() == 1).collect();
        assert!(probes.iter().all(|it| it.seq() == next) && probes.len() == 4);
    }
}

#[test]
fn a_clock_that_is_set_moves_the_truth_with_it() {
    let interval = |from_s, to_s, cause| TrueInterval { from_s, to_s, cause, also: None };
    let intervals =
        vec![interval(0.0, 2.0, Cause::PathLimited), interval(2.0, 4.0, Cause::ClientIdle)];
    let (client, server) = ends();
    let truth = TruthFile {
        case: String::new(),
        family: String::new(),
        suite: crate::self_test::Suite::Peers,
        injected: Vec::new(),
        client: client.into(),
        server: server.into(),
        sends: "server".to_owned(),
        duration_s: 4.0,
        base_rtt_s: 0.1,
        began_s: Place::ALL.map(|place| (place, 0.0)),
        intervals,
        kernels: [None, None],
        whole: Some(true),
        scored: Place::ALL.to_vec(),
        one_way: false,
    };
    let mut forward = truth.clone();
    set_truth(&mut forward, 1.0, 5.0);
    assert_eq!(
        forward.intervals,
        [
            interval(0.0, 1.0, Cause::PathLimited),
            interval(1.0, 6.0, Cause::CaptureArtefact),
            interval(6.0, 7.0, Cause::PathLimited),
            interval(7.0, 9.0, Cause::ClientIdle),
        ]
    );
    let mut back = truth;
    set_truth(&mut back, 1.0, -0.5);
    assert_eq!(
        back.intervals,
        [
            interval(0.0, 1.0, Cause::PathLimited),
            interval(1.0, 1.5, Cause::PathLimited),
            interval(1.5, 3.5, Cause::ClientIdle),
        ]
    );
    assert!((back.duration_s - 3.5).abs() < 1e-9);
}

#[test]
fn captures_of_one_direction_a_part_and_a_short_snap_length_are_cut() {
    let (_, data) = changed(Change::OneWay(CapturedDirection::Data));
    assert!(of(&data, Place::Router, Side::Client).is_empty());
    assert_eq!(of(&data, Place::Router, Side::Server).len(), 60);
    let (_, late) = changed(Change::FromTheMiddle(150));
    assert!(late.0.iter().flat_map(|it| &it.records).all(|record| record.at >= 150 * MS));
    let (_, cut) = changed(Change::SnapLen(NonZeroU32::new(60).expect("not zero")));
    let cut = seen(&cut);
    assert_eq!(cut.len(), 120);
    assert!(cut.iter().all(|it| it.payload_len == 1000 || it.payload_len == 0));
}
