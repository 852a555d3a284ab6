//! Every case: one cause at a time, over paths and congestion controls that differ.

use super::families::{
    Family, bdp, bulk, either_way, family, little_room, little_to_send, on, outage, path, pick,
    questions, rivals, transfers,
};
use super::plan::{Client, Reader};
use super::troubles::troubles;
use ackord_diagnose::Cause;
use ackord_live::Direction;

/// All families of one cause, and those of none.
pub(super) fn singles() -> Vec<Family> {
    let mut all = clean();
    all.extend(applications());
    all.extend(windows());
    all.extend(queues());
    all.extend(troubles());
    all
}

fn clean() -> Vec<Family> {
    vec![
        family("clean-bulk", &[], 8, |plan, number| {
            either_way(plan, number);
            plan.queue = pick(number, &[2, 3, 2, 3]) * plan.queue / 2;
        }),
        family("clean-short", &[], 4, |plan, number| {
            bulk(plan, pick(number, &[30, 90, 12, 200]));
        }),
        family("clean-questions", &[], 4, |plan, number| {
            questions(plan, pick(number, &["6 kB", "30 kB", "1 kB", "80 kB"]), 2, 30);
            plan.duration_ms = 5_000;
        }),
        family("slow-start", &[Cause::WindowGrowth], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(50, 200, "cubic"),
                    path(100, 100, "reno"),
                    path(30, 150, "bbr"),
                    path(100, 60, "cubic"),
                ],
            );
            bulk(plan, pick(number, &[800, 1500, 600, 400]));
        }),
    ]
}

fn applications() -> Vec<Family> {
    vec![
        family("syn-loss", &[Cause::SynLoss], 4, |plan, number| {
            let later = if number % 2 == 0 { 0 } else { plan.rtt_ms / 2 };
            plan.start_ms = 100;
            outage(plan, &[90 + later], pick(number, &[60, 60, 1500, 400]), "loses");
            plan.traffic = "{ kind = \"bulk\", size = \"200 kB\" }".to_owned();
        }),
        family("client-idle", &[Cause::ClientIdle], 4, |plan, number| {
            questions(plan, pick(number, &["50 kB", "4 kB"]), 0, pick(number, &[400, 900, 1500]));
        }),
        family("client-bursts", &[Cause::ClientIdle], 2, |plan, _| {
            plan.direction = Direction::Upload;
            transfers(plan, "200 kB", 700);
        }),
        family("server-idle", &[Cause::ServerIdle], 4, |plan, number| {
            questions(plan, pick(number, &["40 kB", "2 kB"]), pick(number, &[300, 120, 800]), 5);
        }),
        family("server-bursts", &[Cause::ServerIdle], 3, |plan, number| match number {
            0 => {
                plan.traffic =
                    "{ kind = \"paced\", message = \"4 kB\", interval = \"200 ms\" }".to_owned()
            }
            _ => transfers(plan, pick(number, &["60 kB", "300 kB"]), pick(number, &[400, 1200])),
        }),
        family("nagle", &[Cause::NagleDelayedAck], 4, |plan, number| {
            plan.direction = Direction::Upload;
            plan.flow.push_str("tcp = { nagle = \"minshall\" }\n");
            plan.traffic = format!(
                "{{ kind = \"write-write-read\", head = \"{} B\", body = \"{} B\", reply = \"{} B\", count = 60 }}",
                pick(number, &[50, 200, 400]),
                pick(number, &[50, 300]),
                pick(number, &[100, 900])
            );
        }),
        family("delayed-ack", &[Cause::DelayedAck], 4, |plan, number| {
            // Linux acknowledges at once what comes first; others do not.
            plan.client = Client::Ours;
            let timeout = pick(number, &[200, 100]);
            plan.flow.push_str(&format!("tcp = {{ initial_window = 1 }}\nreceiver_tcp = {{ profile = \"rfc\", ack = {{ kind = \"delayed\", timeout = \"{timeout} ms\" }} }}\n"));
            transfers(plan, pick(number, &["10 kB", "30 kB"]), 600);
        }),
    ]
}

fn windows() -> Vec<Family> {
    vec![
        family("receiver-window", &[Cause::ReceiverWindow], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(20, 80, "cubic"),
                    path(50, 40, "bbr"),
                    path(100, 30, "reno"),
                    path(10, 150, "cubic"),
                ],
            );
            let room = bdp(plan) * pick(number, &[3, 4, 2, 5]) / 10;
            little_room(plan, room);
        }),
        family("slow-reader", &[Cause::ReceiverWindow], 2, |plan, number| {
            on(plan, number, &[path(20, 40, "cubic"), path(50, 20, "cubic")]);
            little_room(plan, 65_536);
            plan.reader = Some(Reader { bytes: 32_768, pause_ms: pick(number, &[60, 40]) });
        }),
        family("zero-window", &[Cause::ZeroWindow], 3, |plan, number| {
            on(plan, number, &[path(20, 40, "cubic"), path(10, 80, "reno"), path(50, 20, "bbr")]);
            little_room(plan, pick(number, &[131_072, 262_144]));
            plan.reader = Some(Reader { bytes: 2_000_000, pause_ms: pick(number, &[900, 1500]) });
        }),
        family("send-buffer", &[Cause::SendBuffer], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(20, 80, "cubic"),
                    path(50, 40, "cubic"),
                    path(100, 30, "reno"),
                    path(10, 150, "bbr"),
                ],
            );
            let room = bdp(plan) * pick(number, &[4, 3, 5, 4]) / 10;
            little_to_send(plan, room);
        }),
    ]
}

fn queues() -> Vec<Family> {
    vec![
        family("bufferbloat", &[Cause::QueueingOwn], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(5, 40, "cubic"),
                    path(2, 60, "reno"),
                    path(10, 30, "cubic"),
                    path(3, 20, "cubic"),
                ],
            );
            plan.queue = pick(number, &[600, 300, 1000, 400]);
            either_way(plan, number);
            plan.duration_ms = 10_000;
        }),
        family("bufferbloat-others", &[Cause::QueueingOthers], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(5, 40, "cubic"),
                    path(10, 30, "cubic"),
                    path(3, 60, "reno"),
                    path(8, 20, "cubic"),
                ],
            );
            plan.queue = pick(number, &[400, 800, 300, 600]);
            rivals(plan, pick(number, &[1, 3]), 5, "cubic", "");
            plan.start_ms = 2_500;
            plan.duration_ms = 10_000;
            match number % 2 {
                0 => questions(plan, "10 kB", 1, 50),
                _ => questions(plan, "60 kB", 1, 20),
            }
        }),
    ]
}
