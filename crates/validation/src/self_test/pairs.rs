//! Cases of two causes together.

use super::families::{
    Family, bdp, family, little_room, little_to_send, on, outage, over, path, pick, questions,
    random, random_early, reordering, rivals, transfers,
};
use super::plan::Reader;
use ackord_diagnose::Cause;
use ackord_live::Direction;

/// All families of two causes.
pub(super) fn pairs() -> Vec<Family> {
    let mut all = waits_with_loss();
    all.extend(limits_with_loss());
    all.extend(applications_too());
    all.extend(paths_too());
    all
}

fn waits_with_loss() -> Vec<Family> {
    vec![
        family("outage+random", &[Cause::Outage, Cause::RandomLoss], 3, |plan, number| {
            outage(plan, &[2_500], pick(number, &[800, 1500, 400]), "loses");
            random(plan, pick(number, &["1 %", "0.5 %"]));
        }),
        family("idle+random", &[Cause::ClientIdle, Cause::RandomLoss], 3, |plan, number| {
            questions(plan, "60 kB", 0, pick(number, &[300, 700]));
            random(plan, pick(number, &["2 %", "1 %"]));
        }),
        family("think+tail", &[Cause::ServerIdle, Cause::TimeoutTail], 3, |plan, _| {
            questions(plan, "8 kB", 250, 20);
            random(plan, "6 %");
        }),
        family("nagle+loss", &[Cause::NagleDelayedAck, Cause::TimeoutTail], 3, |plan, number| {
            plan.direction = Direction::Upload;
            plan.traffic = "{ kind = \"write-write-read\", head = \"100 B\", body = \"200 B\", reply = \"500 B\", count = 60 }".to_owned();
            plan.flow.push_str("tcp = { nagle = \"minshall\" }\n");
            random(plan, pick(number, &["5 %", "8 %"]));
        }),
        family(
            "reordering+loss",
            &[Cause::SpuriousReordering, Cause::RandomLoss],
            3,
            |plan, number| {
                let deviation = (plan.rtt_ms / 10).max(2);
                reordering(plan, deviation);
                random(plan, pick(number, &["0.5 %", "1 %"]));
            },
        ),
    ]
}

fn limits_with_loss() -> Vec<Family> {
    vec![
        family("window+random", &[Cause::ReceiverWindow, Cause::RandomLoss], 3, |plan, number| {
            on(plan, number, &[path(20, 80, "cubic"), path(50, 40, "bbr"), path(10, 150, "reno")]);
            let room = bdp(plan) * 4 / 10;
            little_room(plan, room);
            random(plan, pick(number, &["0.3 %", "0.1 %"]));
        }),
        family("send-buffer+random", &[Cause::SendBuffer, Cause::RandomLoss], 3, |plan, number| {
            on(
                plan,
                number,
                &[path(20, 80, "cubic"), path(50, 40, "cubic"), path(10, 150, "reno")],
            );
            let room = bdp(plan) * 4 / 10;
            little_to_send(plan, room);
            random(plan, pick(number, &["0.3 %", "0.1 %"]));
        }),
        family("congestion+random", &[Cause::FastRecovery, Cause::RandomLoss], 3, |plan, _| {
            plan.tcp = "congestion = \"cubic\"\n".to_owned();
            plan.queue = (plan.queue / 6).max(8);
            random(plan, "0.1 %");
        }),
        family("acks+random", &[Cause::AckPath, Cause::RandomLoss], 3, |plan, number| {
            plan.air.push_str("loss = { kind = \"random\", per_packet = \"0.5 %\" }\n");
            let loss = pick(number, &[150, 250]);
            plan.air_reverse
                .push_str(&format!("loss = {{ kind = \"gilbert-elliott\", good_for = \"700 ms\", bad_for = \"{loss} ms\" }}\n"));
        }),
        family("others+random", &[Cause::QueueingOthers, Cause::RandomLoss], 3, |plan, number| {
            on(plan, number, &[path(5, 40, "cubic"), path(10, 30, "cubic"), path(8, 20, "cubic")]);
            plan.queue = pick(number, &[400, 800]);
            rivals(plan, 2, 5, "cubic", "");
            (plan.start_ms, plan.duration_ms) = (2_500, 9_000);
            questions(plan, "12 kB", 1, 60);
            random_early(plan, "2 %");
        }),
    ]
}

fn applications_too() -> Vec<Family> {
    vec![
        family(
            "window+bufferbloat",
            &[Cause::ReceiverWindow, Cause::QueueingOwn],
            3,
            |plan, number| {
                on(
                    plan,
                    number,
                    &[path(3, 30, "cubic"), path(5, 40, "reno"), path(2, 60, "cubic")],
                );
                plan.queue = 600;
                let room = bdp(plan) * pick(number, &[6, 8, 3]);
                little_room(plan, room);
            },
        ),
        family("think+slow-start", &[Cause::ServerIdle, Cause::WindowGrowth], 3, |plan, number| {
            on(
                plan,
                number,
                &[path(50, 150, "cubic"), path(100, 80, "reno"), path(30, 200, "cubic")],
            );
            questions(plan, "400 kB", 400, 20);
        }),
        family("idle+slow-start", &[Cause::ServerIdle, Cause::WindowGrowth], 2, |plan, number| {
            on(plan, number, &[path(50, 120, "cubic"), path(100, 60, "reno")]);
            transfers(plan, "500 kB", 800);
        }),
        family("syn+idle", &[Cause::SynLoss, Cause::ClientIdle], 2, |plan, _| {
            plan.start_ms = 100;
            outage(plan, &[90], 60, "loses");
            questions(plan, "20 kB", 0, 500);
        }),
        family("zero+idle", &[Cause::ZeroWindow, Cause::ServerIdle], 2, |plan, _| {
            over(plan, path(20, 40, "cubic"));
            little_room(plan, 131_072);
            plan.reader = Some(Reader { bytes: 700_000, pause_ms: 800 });
            transfers(plan, "1500 kB", 900);
        }),
    ]
}

fn paths_too() -> Vec<Family> {
    vec![
        family("outage+idle", &[Cause::Outage, Cause::ClientIdle], 3, |plan, number| {
            outage(plan, &[1_500, 4_500], pick(number, &[700, 1200]), "loses");
            questions(plan, "100 kB", 0, 400);
        }),
        family("shaper+random", &[Cause::Shaper, Cause::RandomLoss], 2, |plan, number| {
            on(plan, number, &[path(40, 30, "cubic"), path(20, 60, "cubic")]);
            plan.queue = (plan.rate_kbit * 60 / 60_000).max(20);
            plan.rates = vec![(2_000, plan.rate_kbit / 5)];
            random(plan, "0.2 %");
        }),
        family("bufferbloat+outage", &[Cause::QueueingOwn, Cause::Outage], 2, |plan, number| {
            on(plan, number, &[path(5, 40, "cubic"), path(3, 30, "reno")]);
            plan.queue = 500;
            plan.duration_ms = 10_000;
            outage(plan, &[6_000], 800, "loses");
        }),
        family("unfair+random", &[Cause::UnfairShare, Cause::RandomLoss], 2, |plan, number| {
            on(plan, number, &[path(20, 100, "reno"), path(10, 120, "cubic")]);
            plan.queue = (plan.rate_kbit * 40 / 12_000).max(20);
            rivals(plan, 3, 2, "reno", "");
            random_early(plan, "0.3 %");
        }),
    ]
}
