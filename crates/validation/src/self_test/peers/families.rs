//! Cases whose peers are not Linux, or whose captures are not tidy. They come after all others, so that
//! those have the paths that they always had.

use super::{AnyInterface, CapturedDirection, Change, IdKind, KeepAlives, TimestampClock};
use crate::self_test::families::{
    Family, bulk, either_way, family, little_room, on, outage, over, path, pick, questions, random,
    rivals, transfers,
};
use crate::self_test::plan::{Bucket, Plan, Reader, Suite};
use crate::self_test::run::Place;
use ackord_diagnose::Cause;
use std::num::NonZeroU32;

fn peer(
    name: &'static str,
    causes: &'static [Cause],
    cases: usize,
    make: fn(&mut Plan, usize),
) -> Family {
    Family { suite: Suite::Peers, ..family(name, causes, cases, make) }
}

/// All families of other peers and other captures.
pub(in crate::self_test) fn peers() -> Vec<Family> {
    let mut all = identifications();
    all.extend(probes());
    all.extend(orders());
    all.extend(readers());
    all.extend(policers());
    all.extend(vantages());
    all.extend(clocks());
    all
}

/// Request and response, a transfer, long pauses, an outage, or loss by chance.
fn base(plan: &mut Plan, number: usize) {
    plan.duration_ms = 6_000;
    match number % 5 {
        0 => questions(plan, pick(number / 5, &["6 kB", "30 kB"]), 20, 60),
        1 => {
            transfers(plan, "150 kB", 900);
            plan.injected = vec![Cause::ServerIdle];
        }
        2 => bulk(plan, plan.rate_kbit / 5),
        3 => {
            outage(plan, &[2_000], 900, "loses");
            plan.injected = vec![Cause::Outage];
        }
        _ => {
            random(plan, "0.5 %");
            plan.injected = vec![Cause::RandomLoss];
        }
    }
}

fn ids(plan: &mut Plan, number: usize, kind: IdKind) {
    base(plan, number);
    plan.changes = vec![Change::Ids(kind)];
}

fn identifications() -> Vec<Family> {
    vec![
        peer("ids-host-wide", &[], 5, |plan, number| {
            ids(plan, number, IdKind::HostWide(pick(number, &[200, 20, 2_000])));
        }),
        peer("ids-per-destination", &[], 5, |plan, number| {
            ids(plan, number, IdKind::PerDestination);
        }),
        peer("ids-per-cpu", &[], 5, |plan, number| {
            ids(plan, number, IdKind::PerCpu(pick(number, &[0, 100])));
        }),
        peer("ids-random", &[], 5, |plan, number| ids(plan, number, IdKind::Random)),
        peer("ids-zero", &[], 5, |plan, number| ids(plan, number, IdKind::Zero)),
        peer("ids-byte-swapped", &[], 5, |plan, number| {
            ids(plan, number, IdKind::ByteSwapped(pick(number, &[50, 500])));
        }),
    ]
}

fn probes() -> Vec<Family> {
    vec![
        peer("probes-new-byte", &[Cause::ZeroWindow], 3, |plan, number| {
            on(plan, number, &[path(20, 40, "cubic"), path(10, 80, "reno"), path(50, 20, "bbr")]);
            little_room(plan, pick(number, &[131_072, 262_144]));
            plan.reader = Some(Reader { bytes: 2_000_000, pause_ms: pick(number, &[1200, 2500]) });
            plan.changes = vec![Change::NewByteProbes, Change::Ids(IdKind::HostWide(100))];
        }),
        peer("keep-alives-garbage", &[Cause::ClientIdle, Cause::ServerIdle], 2, |plan, number| {
            keep_alives(plan, number, 1);
        }),
        peer("keep-alives-empty", &[Cause::ClientIdle, Cause::ServerIdle], 2, |plan, number| {
            keep_alives(plan, number, 0);
        }),
    ]
}

fn keep_alives(plan: &mut Plan, number: usize, bytes: u16) {
    match number {
        0 => questions(plan, "4 kB", 0, 3_000),
        _ => transfers(plan, "60 kB", 2_500),
    }
    plan.duration_ms = 12_000;
    let by_server = number.is_multiple_of(2);
    plan.changes = vec![
        Change::KeepAlives(KeepAlives { by_server, bytes, every_ms: 700 }),
        Change::Ids(IdKind::Random),
    ];
}

fn clean(plan: &mut Plan, number: usize) {
    plan.duration_ms = 6_000;
    match number % 3 {
        0 => bulk(plan, plan.rate_kbit / 4),
        1 => questions(plan, "40 kB", 10, 50),
        _ => transfers(plan, "200 kB", 400),
    }
}

fn orders() -> Vec<Family> {
    vec![
        peer("acks-overtaken", &[], 4, |plan, number| {
            clean(plan, number);
            either_way(plan, number / 3);
            plan.changes = vec![Change::SwappedAcks];
        }),
        peer("acks-before-data", &[], 4, |plan, number| {
            clean(plan, number);
            plan.changes = vec![Change::EarlyAcks];
        }),
    ]
}

fn readers() -> Vec<Family> {
    vec![
        peer("reader-steady", &[Cause::ReceiverWindow, Cause::ZeroWindow], 3, |plan, number| {
            on(plan, number, &[path(20, 40, "cubic"), path(50, 20, "cubic"), path(10, 80, "reno")]);
            little_room(plan, pick(number, &[131_072, 400_000, 65_536]));
            // 200 kB/s, and 400.
            plan.reader = Some(Reader { bytes: 16_384, pause_ms: pick(number, &[82, 82, 41]) });
            plan.duration_ms = 8_000;
        }),
        peer("reader-stops", &[Cause::ReceiverWindow, Cause::ZeroWindow], 3, |plan, number| {
            on(plan, number, &[path(20, 40, "cubic"), path(50, 20, "bbr"), path(10, 80, "cubic")]);
            little_room(plan, pick(number, &[131_072, 262_144]));
            let bytes = pick(number, &[300_000, 600_000, 150_000]);
            plan.reader = Some(Reader { bytes, pause_ms: pick(number, &[400, 700]) });
            plan.duration_ms = 8_000;
        }),
    ]
}

/// Polices a line of ten times the rate, with a burst of so many bandwidth-delay products of the contract.
fn police(plan: &mut Plan, number: usize) {
    on(plan, number, &[path(50, 30, "cubic"), path(100, 20, "cubic"), path(40, 60, "reno")]);
    let rate_kbit = plan.rate_kbit / pick(number, &[10, 8, 5]);
    let product = rate_kbit * plan.rtt_ms / 8;
    let burst = product * pick(number, &[4, 13, 53, 26]);
    plan.air.push_str(&Bucket { rate_kbit, burst }.key("policer"));
    plan.air_reverse.push_str("policer = \"none\"\n");
    plan.duration_ms = 10_000;
}

fn policers() -> Vec<Family> {
    vec![
        peer("policer-think", &[Cause::Policer, Cause::ServerIdle], 4, |plan, number| {
            police(plan, number);
            let response = pick(number, &["400 kB", "1 MB", "2 MB", "250 kB"]);
            questions(plan, response, pick(number, &[150, 300, 80, 200]), 20);
        }),
        peer("policer-shared", &[Cause::Policer], 3, |plan, number| {
            police(plan, number);
            rivals(plan, 1, plan.rtt_ms / 4, "cubic", "");
        }),
    ]
}

fn vantages() -> Vec<Family> {
    vec![
        peer("client-idle-phases", &[Cause::ServerIdle], 3, |plan, number| {
            let size = pick(number, &["200 kB", "1 MB", "30 kB"]);
            transfers(plan, size, pick(number, &[700, 1500, 400]));
            plan.scored = &[Place::Client];
        }),
        peer("router-any", &[], 3, |plan, number| {
            any(plan, number, AnyInterface::Cooked);
        }),
        peer("router-both", &[], 3, |plan, number| {
            any(plan, number, AnyInterface::Ethernet);
        }),
        peer("one-way-data", &[], 4, |plan, number| {
            base(plan, number);
            plan.changes = vec![Change::OneWay(CapturedDirection::Data)];
        }),
        peer("one-way-acks", &[], 4, |plan, number| {
            base(plan, number);
            plan.changes = vec![Change::OneWay(CapturedDirection::Acks)];
        }),
        peer("begins-late", &[], 4, |plan, number| {
            base(plan, number);
            plan.changes = vec![Change::FromTheMiddle(pick(number, &[1_500, 1_333, 700, 2_400]))];
        }),
        peer("snap-68", &[], 5, |plan, number| {
            base(plan, number);
            plan.changes = vec![Change::SnapLen(NonZeroU32::new(68).unwrap_or(NonZeroU32::MIN))];
        }),
    ]
}

/// Both interfaces of the router, with queues of 0 to 200 ms between the copies.
fn any(plan: &mut Plan, number: usize, format: AnyInterface) {
    match number {
        0 => questions(plan, "30 kB", 20, 60),
        1 => bulk(plan, plan.rate_kbit / 4),
        _ => {
            over(plan, path(5, 40, "cubic"));
            plan.queue = 90;
            plan.injected = vec![Cause::QueueingOwn];
        }
    }
    plan.duration_ms = 6_000;
    plan.scored = &[Place::Router];
    plan.changes = vec![Change::Any(format)];
}

fn clocks() -> Vec<Family> {
    vec![
        peer("clock-stops", &[Cause::ClientIdle], 2, |plan, number| {
            questions(plan, "40 kB", 5, pick(number, &[900, 2_000]));
            plan.changes = vec![Change::Timestamps(TimestampClock::StopsWhileIdle)];
        }),
        peer("clock-100-hz", &[], 3, |plan, number| {
            base(plan, number);
            plan.changes = vec![Change::Timestamps(TimestampClock::Hundred)];
        }),
        peer("clock-fast", &[], 4, |plan, number| {
            base(plan, number);
            let each = pick(number, &[1_000, 1_000_000]);
            plan.changes = vec![Change::Timestamps(TimestampClock::PerMillisecond(each))];
        }),
        peer("clock-none", &[], 5, |plan, number| {
            base(plan, number);
            plan.changes = vec![Change::Timestamps(TimestampClock::Off)];
        }),
        peer("clock-set", &[Cause::CaptureArtefact], 4, |plan, number| {
            let by = pick(number, &[3_700, 6_000, -800, 900]);
            plan.duration_ms = 6_000;
            if number == 1 {
                questions(plan, "40 kB", 10, 50);
            }
            plan.changes = vec![Change::ClockSet(2_600, by)];
        }),
    ]
}
