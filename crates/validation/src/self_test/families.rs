//! How the cases of a family are made: by number, each on another path.

use super::plan::{Path, Plan, Suite};
use ackord_diagnose::Cause;
use ackord_live::Direction;

pub(super) const fn path(rate_mbit: u64, rtt_ms: u64, congestion: &'static str) -> Path {
    Path { rate_kbit: rate_mbit * 1000, rtt_ms, congestion }
}

/// From 2 to 100 Mbit/s, 10 to 200 ms, three controls.
const PATHS: [Path; 8] = [
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
    pub(super) suite: Suite,
}

/// A family's case of this number; other paths and seeds with another `series`.
pub(super) fn case(family: &Family, number: usize, at: usize, series: u64) -> Plan {
    let path = PATHS[(number + at + series as usize) % PATHS.len()];
    let mut plan = Plan::new(family.name, path, number as u64 + 1 + 100 * series);
    plan.injected = family.causes.to_vec();
    plan.suite = family.suite;
    (family.make)(&mut plan, number);
    plan
}

pub(super) fn family(
    name: &'static str,
    causes: &'static [Cause],
    cases: usize,
    make: fn(&mut Plan, usize),
) -> Family {
    Family { name, causes, cases, make, suite: Suite::Kernels }
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

/// The same of these, by number.
pub(super) fn on(plan: &mut Plan, number: usize, paths: &[Path]) {
    over(plan, pick(number, paths));
}

/// Data goes down or up, by number.
pub(super) fn either_way(plan: &mut Plan, number: usize) {
    plan.direction = pick(number, &[Direction::Download, Direction::Upload]);
}

/// Losses by chance before the bottleneck, of data alone.
pub(super) fn random_early(plan: &mut Plan, loss: &str) {
    plan.access.push_str(&format!("loss = {{ kind = \"random\", per_packet = \"{loss}\" }}\n"));
    plan.access_reverse.push_str("loss = \"none\"\n");
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
pub(super) fn little_room(plan: &mut Plan, bytes: u64) {
    plan.flow.push_str(&format!(
        "receiver_tcp = {{ receive_buffer = \"{bytes} B\", receive_buffer_tuning = \"off\" }}\n"
    ));
}

/// A sender with little room.
pub(super) fn little_to_send(plan: &mut Plan, room: u64) {
    plan.flow.push_str(&format!(
        "tcp = {{ send_buffer = \"{room} B\", send_buffer_tuning = \"off\" }}\n"
    ));
}

/// One transfer of so many kB.
pub(super) fn bulk(plan: &mut Plan, kilobytes: u64) {
    plan.traffic = format!("{{ kind = \"bulk\", size = \"{kilobytes} kB\" }}");
}

/// Packets overtake one another, by so much.
pub(super) fn reordering(plan: &mut Plan, deviation_ms: u64) {
    plan.air.push_str(&format!(
        "jitter = {{ kind = \"per-packet\", distribution = \"normal\", \
         deviation = \"{deviation_ms} ms\", order = \"free\" }}\n"
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
