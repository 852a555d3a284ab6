//! Cases of two causes together.

use super::cases::{
    Family, bdp, little_room, outage, over, path, pick, questions, random, rivals, transfers,
};
use super::plan::{Plan, Reader};
use ackord_diagnose::Cause;
use ackord_live::Direction;

const fn pair(
    name: &'static str,
    causes: &'static [Cause],
    cases: usize,
    make: fn(&mut Plan, usize),
) -> Family {
    Family { name, causes, cases, make }
}

/// All families of two causes.
pub(super) fn pairs() -> Vec<Family> {
    let mut all = with_loss();
    all.extend(others());
    all
}

fn with_loss() -> Vec<Family> {
    vec![
        pair("outage+random", &[Cause::Outage, Cause::RandomLoss], 3, |plan, number| {
            outage(plan, &[2_500], pick(number, &[800, 1500, 400]), "loses");
            random(plan, pick(number, &["1 %", "0.5 %"]));
        }),
        pair("idle+random", &[Cause::ClientIdle, Cause::RandomLoss], 3, |plan, number| {
            questions(plan, "60 kB", 0, pick(number, &[300, 700]));
            random(plan, pick(number, &["2 %", "1 %"]));
        }),
        pair("think+tail", &[Cause::ServerIdle, Cause::TimeoutTail], 3, |plan, _| {
            questions(plan, "8 kB", 250, 20);
            random(plan, "6 %");
        }),
        pair("nagle+loss", &[Cause::NagleDelayedAck, Cause::TimeoutTail], 3, |plan, number| {
            plan.direction = Direction::Upload;
            plan.traffic = "{ kind = \"write-write-read\", head = \"100 B\", body = \"200 B\", reply = \"500 B\", count = 60 }".to_owned();
            plan.flow.push_str("tcp = { nagle = \"minshall\" }\n");
            random(plan, pick(number, &["5 %", "8 %"]));
        }),
        pair(
            "reordering+loss",
            &[Cause::SpuriousReordering, Cause::RandomLoss],
            3,
            |plan, number| {
                let deviation = (plan.rtt_ms / 10).max(2);
                plan.air.push_str(&format!("jitter = {{ kind = \"per-packet\", distribution = \"normal\", deviation = \"{deviation} ms\", order = \"free\" }}\n"));
                random(plan, pick(number, &["0.5 %", "1 %"]));
            },
        ),
        pair("window+random", &[Cause::ReceiverWindow, Cause::RandomLoss], 3, |plan, number| {
            over(
                plan,
                pick(number, &[path(20, 80, "cubic"), path(50, 40, "bbr"), path(10, 150, "reno")]),
            );
            let room = bdp(plan) * 4 / 10;
            little_room(plan, room);
            random(plan, pick(number, &["0.3 %", "0.1 %"]));
        }),
        pair("send-buffer+random", &[Cause::SendBuffer, Cause::RandomLoss], 3, |plan, number| {
            over(
                plan,
                pick(
                    number,
                    &[path(20, 80, "cubic"), path(50, 40, "cubic"), path(10, 150, "reno")],
                ),
            );
            let room = bdp(plan) * 4 / 10;
            plan.flow.push_str(&format!(
                "tcp = {{ send_buffer = \"{room} B\", send_buffer_tuning = \"off\" }}\n"
            ));
            random(plan, pick(number, &["0.3 %", "0.1 %"]));
        }),
        pair("congestion+random", &[Cause::FastRecovery, Cause::RandomLoss], 3, |plan, _| {
            plan.tcp = "congestion = \"cubic\"\n".to_owned();
            plan.queue = (plan.queue / 6).max(8);
            random(plan, "0.1 %");
        }),
        pair("acks+random", &[Cause::AckPath, Cause::RandomLoss], 3, |plan, number| {
            plan.air.push_str("loss = { kind = \"random\", per_packet = \"0.5 %\" }\n");
            let loss = pick(number, &[150, 250]);
            plan.air_reverse
                .push_str(&format!("loss = {{ kind = \"gilbert-elliott\", good_for = \"700 ms\", bad_for = \"{loss} ms\" }}\n"));
        }),
        pair("others+random", &[Cause::QueueingOthers, Cause::RandomLoss], 3, |plan, number| {
            over(
                plan,
                pick(number, &[path(5, 40, "cubic"), path(10, 30, "cubic"), path(8, 20, "cubic")]),
            );
            plan.queue = pick(number, &[400, 800]);
            rivals(plan, 2, 5, "cubic", "");
            (plan.start_ms, plan.duration_ms) = (2_500, 9_000);
            questions(plan, "12 kB", 1, 60);
            plan.access.push_str("loss = { kind = \"random\", per_packet = \"2 %\" }\n");
            plan.access_reverse.push_str("loss = \"none\"\n");
        }),
    ]
}

fn others() -> Vec<Family> {
    vec![
        pair(
            "window+bufferbloat",
            &[Cause::ReceiverWindow, Cause::QueueingOwn],
            3,
            |plan, number| {
                over(
                    plan,
                    pick(
                        number,
                        &[path(3, 30, "cubic"), path(5, 40, "reno"), path(2, 60, "cubic")],
                    ),
                );
                plan.queue = 600;
                let room = bdp(plan) * pick(number, &[6, 8, 3]);
                little_room(plan, room);
            },
        ),
        pair("think+slow-start", &[Cause::ServerIdle, Cause::WindowGrowth], 3, |plan, number| {
            over(
                plan,
                pick(
                    number,
                    &[path(50, 150, "cubic"), path(100, 80, "reno"), path(30, 200, "cubic")],
                ),
            );
            questions(plan, "400 kB", 400, 20);
        }),
        pair("idle+slow-start", &[Cause::ServerIdle, Cause::WindowGrowth], 2, |plan, number| {
            over(plan, pick(number, &[path(50, 120, "cubic"), path(100, 60, "reno")]));
            transfers(plan, "500 kB", 800);
        }),
        pair("syn+idle", &[Cause::SynLoss, Cause::ClientIdle], 2, |plan, _| {
            plan.start_ms = 100;
            outage(plan, &[90], 60, "loses");
            questions(plan, "20 kB", 0, 500);
        }),
        pair("zero+idle", &[Cause::ZeroWindow, Cause::ServerIdle], 2, |plan, _| {
            over(plan, path(20, 40, "cubic"));
            little_room(plan, 131_072);
            plan.reader = Some(Reader { octets: 700_000, pause_ms: 800 });
            transfers(plan, "1500 kB", 900);
        }),
        pair("outage+idle", &[Cause::Outage, Cause::ClientIdle], 3, |plan, number| {
            outage(plan, &[1_500, 4_500], pick(number, &[700, 1200]), "loses");
            questions(plan, "100 kB", 0, 400);
        }),
        pair("shaper+random", &[Cause::Shaper, Cause::RandomLoss], 2, |plan, number| {
            over(plan, pick(number, &[path(40, 30, "cubic"), path(20, 60, "cubic")]));
            plan.queue = (plan.rate_kbit * 60 / 60_000).max(20);
            plan.rates = vec![(2_000, plan.rate_kbit / 5)];
            random(plan, "0.2 %");
        }),
        pair("bufferbloat+outage", &[Cause::QueueingOwn, Cause::Outage], 2, |plan, number| {
            over(plan, pick(number, &[path(5, 40, "cubic"), path(3, 30, "reno")]));
            plan.queue = 500;
            plan.duration_ms = 10_000;
            outage(plan, &[6_000], 800, "loses");
        }),
        pair("unfair+random", &[Cause::UnfairShare, Cause::RandomLoss], 2, |plan, number| {
            over(plan, pick(number, &[path(20, 100, "reno"), path(10, 120, "cubic")]));
            plan.queue = (plan.rate_kbit * 40 / 12_000).max(20);
            rivals(plan, 3, 2, "reno", "");
            plan.access.push_str("loss = { kind = \"random\", per_packet = \"0.3 %\" }\n");
            plan.access_reverse.push_str("loss = \"none\"\n");
        }),
    ]
}
