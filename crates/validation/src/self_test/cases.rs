//! Every case: one cause at a time, over paths and congestion controls that differ.

use super::plan::{Client, Path, Plan, Reader};
use super::troubles::troubles;
use ackord_diagnose::Cause;
use ackord_live::Direction;

pub(super) const fn path(rate_mbit: u64, rtt_ms: u64, congestion: &'static str) -> Path {
    Path { rate_kbit: rate_mbit * 1000, rtt_ms, congestion }
}

/// From 2 to 100 Mbit/s, 10 to 200 ms, three controls.
pub(super) const PATHS: [Path; 8] = [
    path(20, 40, "cubic"),
    path(5, 80, "reno"),
    path(50, 20, "bbr"),
    path(10, 150, "cubic"),
    path(100, 10, "cubic"),
    path(2, 60, "cubic"),
    path(30, 200, "bbr"),
    path(8, 30, "reno"),
];

/// How cases of a family are made: of a number that says which.
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) causes: &'static [Cause],
    /// How many of it in a full test.
    pub(super) cases: usize,
    pub(super) make: fn(&mut Plan, usize),
}

/// A family's case of this number; other paths and seeds with another `series`.
pub(super) fn case(family: &Family, number: usize, at: usize, series: u64) -> Plan {
    let path = PATHS[(number + at + series as usize) % PATHS.len()];
    let mut plan = Plan::new(family.name, path, number as u64 + 1 + 100 * series);
    plan.injected = family.causes.to_vec();
    (family.make)(&mut plan, number);
    plan
}

pub(super) fn family(
    name: &'static str,
    causes: &'static [Cause],
    cases: usize,
    make: fn(&mut Plan, usize),
) -> Family {
    Family { name, causes, cases, make }
}

/// One of these, by number.
pub(super) fn pick<T: Copy>(number: usize, of: &[T]) -> T {
    of[number % of.len()]
}

/// Another path than the one that comes by number.
pub(super) fn over(plan: &mut Plan, path: Path) {
    let fresh = Plan::new(plan.family, path, plan.seed);
    plan.variant = fresh.variant;
    (plan.rate_kbit, plan.rtt_ms, plan.queue) = (fresh.rate_kbit, fresh.rtt_ms, fresh.queue);
    (plan.duration_ms, plan.tcp) = (fresh.duration_ms, fresh.tcp);
}

/// Losses by chance, of data alone.
pub(super) fn random(plan: &mut Plan, loss: &str) {
    plan.air.push_str(&format!("loss = {{ kind = \"random\", per_packet = \"{loss}\" }}\n"));
    plan.air_reverse.push_str("loss = \"none\"\n");
}

/// The link is out at these times (ms), for so long.
pub(super) fn outage(plan: &mut Plan, from_ms: &[u64], for_ms: u64, does: &str) {
    let from: Vec<String> = from_ms.iter().map(|at| format!("\"{at} ms\"")).collect();
    plan.air.push_str(&format!(
        "outage = {{ kind = \"schedule\", from = [{}], for = [\"{for_ms} ms\"], does = \"{does}\" }}\n",
        from.join(", ")
    ));
}

/// Other hosts at the router that send to the client.
pub(super) fn rivals(plan: &mut Plan, count: usize, delay_ms: u64, congestion: &str, size: &str) {
    plan.others.push_str(&format!(
        "[hosts.rival]\ncount = {count}\n[[links]]\nfrom = \"rival-*\"\nto = \"router\"\n\
         rate = \"1 Gbit/s\"\ndelay = \"{delay_ms} ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"5000 packets\" }}\n\
         [[flows]]\nname = \"rival-*\"\nfrom = \"rival-*\"\nto = \"client\"\nstart = \"0 s\"\n\
         traffic = {{ kind = \"bulk\"{size} }}\ntcp = {{ congestion = \"{congestion}\" }}\n",
    ));
}

/// A receiver with little room.
pub(super) fn little_room(plan: &mut Plan, octets: u64) {
    plan.flow.push_str(&format!(
        "receiver_tcp = {{ receive_buffer = \"{octets} B\", receive_buffer_tuning = \"off\" }}\n"
    ));
}

/// Questions and answers on one connection.
pub(super) fn questions(plan: &mut Plan, response: &str, think_ms: u64, gap_ms: u64) {
    plan.traffic = format!(
        "{{ kind = \"request\", request = \"300 B\", response = \"{response}\", \
         think = \"{think_ms} ms\", gap = \"{gap_ms} ms\", gap_distribution = \"exponential\" }}"
    );
}

/// One transfer after the other, with pauses.
pub(super) fn transfers(plan: &mut Plan, size: &str, gap_ms: u64) {
    plan.traffic = format!("{{ kind = \"transfers\", size = \"{size}\", gap = \"{gap_ms} ms\" }}");
}

/// Bytes that fit into a round trip.
pub(super) fn bdp(plan: &Plan) -> u64 {
    plan.rate_kbit * plan.rtt_ms / 8
}

/// All families of one cause, and those of none.
pub(super) fn singles() -> Vec<Family> {
    let mut all = clean();
    all.extend(applications());
    all.extend(buffers());
    all.extend(troubles());
    all
}

fn clean() -> Vec<Family> {
    vec![
        family("clean-bulk", &[], 8, |plan, number| {
            plan.direction = pick(number, &[Direction::Download, Direction::Upload]);
            plan.queue = pick(number, &[2, 3, 2, 3]) * plan.queue / 2;
        }),
        family("clean-short", &[], 4, |plan, number| {
            plan.traffic = format!(
                "{{ kind = \"bulk\", size = \"{} kB\" }}",
                pick(number, &[30, 90, 12, 200])
            );
        }),
        family("clean-questions", &[], 4, |plan, number| {
            questions(plan, pick(number, &["6 kB", "30 kB", "1 kB", "80 kB"]), 2, 30);
            plan.duration_ms = 5_000;
        }),
        family("slow-start", &[Cause::WindowGrowth], 4, |plan, number| {
            over(
                plan,
                pick(
                    number,
                    &[
                        path(50, 200, "cubic"),
                        path(100, 100, "reno"),
                        path(30, 150, "bbr"),
                        path(100, 60, "cubic"),
                    ],
                ),
            );
            plan.traffic = format!(
                "{{ kind = \"bulk\", size = \"{} kB\" }}",
                pick(number, &[800, 1500, 600, 400])
            );
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

fn buffers() -> Vec<Family> {
    vec![
        family("receiver-window", &[Cause::ReceiverWindow], 4, |plan, number| {
            over(
                plan,
                pick(
                    number,
                    &[
                        path(20, 80, "cubic"),
                        path(50, 40, "bbr"),
                        path(100, 30, "reno"),
                        path(10, 150, "cubic"),
                    ],
                ),
            );
            let room = bdp(plan) * pick(number, &[3, 4, 2, 5]) / 10;
            little_room(plan, room);
        }),
        family("slow-reader", &[Cause::ReceiverWindow], 2, |plan, number| {
            over(plan, pick(number, &[path(20, 40, "cubic"), path(50, 20, "cubic")]));
            little_room(plan, 65_536);
            plan.reader = Some(Reader { octets: 32_768, pause_ms: pick(number, &[60, 40]) });
        }),
        family("zero-window", &[Cause::ZeroWindow], 3, |plan, number| {
            over(
                plan,
                pick(number, &[path(20, 40, "cubic"), path(10, 80, "reno"), path(50, 20, "bbr")]),
            );
            little_room(plan, pick(number, &[131_072, 262_144]));
            plan.reader = Some(Reader { octets: 2_000_000, pause_ms: pick(number, &[900, 1500]) });
        }),
        family("send-buffer", &[Cause::SendBuffer], 4, |plan, number| {
            over(
                plan,
                pick(
                    number,
                    &[
                        path(20, 80, "cubic"),
                        path(50, 40, "cubic"),
                        path(100, 30, "reno"),
                        path(10, 150, "bbr"),
                    ],
                ),
            );
            let room = bdp(plan) * pick(number, &[4, 3, 5, 4]) / 10;
            plan.flow.push_str(&format!(
                "tcp = {{ send_buffer = \"{room} B\", send_buffer_tuning = \"off\" }}\n"
            ));
        }),
        family("bufferbloat", &[Cause::QueueingOwn], 4, |plan, number| {
            over(
                plan,
                pick(
                    number,
                    &[
                        path(5, 40, "cubic"),
                        path(2, 60, "reno"),
                        path(10, 30, "cubic"),
                        path(3, 20, "cubic"),
                    ],
                ),
            );
            plan.queue = pick(number, &[600, 300, 1000, 400]);
            plan.direction = pick(number, &[Direction::Download, Direction::Upload]);
            plan.duration_ms = 10_000;
        }),
        family("bufferbloat-others", &[Cause::QueueingOthers], 4, |plan, number| {
            over(
                plan,
                pick(
                    number,
                    &[
                        path(5, 40, "cubic"),
                        path(10, 30, "cubic"),
                        path(3, 60, "reno"),
                        path(8, 20, "cubic"),
                    ],
                ),
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
