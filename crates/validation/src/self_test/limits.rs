//! Cases of token buckets: a policer, a shaper with a burst, and each of them with another cause. They come
//! after all others, so that those have the paths that they always had.

use super::families::{Family, either_way, family, over, path, pick, questions, random, transfers};
use super::plan::{Bucket, Path, Plan};
use ackord_diagnose::Cause;

/// Contracts are of a rate far below the line's.
const LINES: [Path; 6] = [
    path(50, 30, "cubic"),
    path(100, 20, "bbr"),
    path(40, 60, "reno"),
    path(100, 40, "cubic"),
    path(50, 100, "cubic"),
    path(40, 15, "reno"),
];

/// Another line than the one that comes by number; series differ by their seeds and the bucket.
fn line(plan: &mut Plan, number: usize) {
    let Plan { seed, .. } = *plan;
    over(plan, LINES[(number + seed as usize / 100) % LINES.len()]);
    plan.duration_ms = 9_000;
}

/// A bucket of a rate, and of so many milliseconds of that.
fn bucket(plan: &Plan, number: usize) -> Bucket {
    let series = plan.seed as usize / 100;
    let rate_kbit = pick(number + series, &[5_000, 8_000, 3_000, 12_000, 6_000]);
    let millis = pick(number + 2 * series, &[100, 50, 200, 400, 20, 800]);
    Bucket { rate_kbit, burst: (rate_kbit * millis / 8).max(15_000) }
}

/// Stands before the line, in the direction of data.
fn police(plan: &mut Plan, number: usize) {
    plan.air.push_str(&bucket(plan, number).key("policer"));
    plan.air_reverse.push_str("policer = \"none\"\n");
}

/// All families of token buckets.
pub(super) fn limits() -> Vec<Family> {
    vec![
        family("policer", &[Cause::Policer], 6, |plan, number| {
            line(plan, number);
            police(plan, number);
            either_way(plan, number / 3);
        }),
        family("policer-early", &[Cause::Policer], 2, |plan, number| {
            line(plan, number);
            let key = bucket(plan, number).key("policer");
            plan.access.push_str(&key);
            plan.access_reverse.push_str("policer = \"none\"\n");
        }),
        family("shaper-burst", &[Cause::Shaper], 5, |plan, number| {
            line(plan, number);
            let bucket = bucket(plan, number);
            // So much waits for 60 ms at most.
            plan.queue = (bucket.rate_kbit * 60 / 12_000).max(20);
            plan.shaper =
                Some(Bucket { burst: bucket.burst * pick(number, &[10, 20, 15]), ..bucket });
        }),
        family("policer+idle", &[Cause::Policer, Cause::ServerIdle], 3, |plan, number| {
            line(plan, number);
            police(plan, number);
            transfers(plan, pick(number, &["1500 kB", "3 MB"]), pick(number, &[700, 1200]));
        }),
        family("policer+client", &[Cause::Policer, Cause::ClientIdle], 2, |plan, number| {
            line(plan, number);
            police(plan, number);
            questions(plan, "1 MB", 0, pick(number, &[500, 900]));
        }),
        family("policer+random", &[Cause::Policer, Cause::RandomLoss], 2, |plan, number| {
            line(plan, number);
            police(plan, number);
            random(plan, "0.2 %");
        }),
    ]
}
