//! Cases of one cause that the path is to blame for: losses, timeouts, outages, queues of others.

use super::families::{
    Family, either_way, family, on, outage, path, pick, random, random_early, reordering, rivals,
    transfers,
};
use ackord_diagnose::Cause;

/// Their families.
pub(super) fn troubles() -> Vec<Family> {
    let mut all = losses();
    all.extend(timeouts());
    all.extend(paths());
    all
}

fn losses() -> Vec<Family> {
    vec![
        family("congestion-loss", &[Cause::FastRecovery], 5, |plan, number| {
            plan.tcp = format!("congestion = \"{}\"\n", pick(number, &["cubic", "reno"]));
            plan.queue = (plan.queue * pick(number, &[1, 2, 1, 3]) / 10).max(8);
        }),
        family("random-loss", &[Cause::RandomLoss], 8, |plan, number| {
            random(
                plan,
                pick(number, &["0.1 %", "0.3 %", "1 %", "3 %", "0.5 %", "2 %", "0.2 %", "1 %"]),
            );
            either_way(plan, number / 4);
        }),
        family("random-loss-early", &[Cause::RandomLoss], 2, |plan, _| {
            random_early(plan, "1 %");
        }),
        family("burst-loss", &[Cause::RandomLoss], 4, |plan, number| {
            let loss = pick(number, &["0.5 %", "1 %", "2 %"]);
            plan.air.push_str(&format!(
                "loss = {{ kind = \"gilbert\", mean_loss = \"{loss}\", mean_burst = {} }}\n",
                pick(number, &[4, 8, 3])
            ));
            plan.air_reverse.push_str("loss = \"none\"\n");
        }),
        family("reordering-slight", &[Cause::SpuriousReordering], 3, |plan, _| {
            reordering(plan, 1);
        }),
        family("reordering-strong", &[Cause::SpuriousReordering], 4, |plan, number| {
            let deviation = (plan.rtt_ms / pick(number, &[8, 6, 10])).max(2);
            reordering(plan, deviation);
        }),
        family("held-back", &[Cause::SpuriousReordering], 3, |plan, number| {
            let by = (plan.rtt_ms * pick(number, &[4, 3, 6]) / 4).max(8);
            plan.air.push_str(&format!(
                "jitter = {{ kind = \"held-back\", share = \"0.5 %\", by = \"{by} ms\" }}\n"
            ));
            plan.air_reverse.push_str("jitter = \"none\"\n");
        }),
    ]
}

fn timeouts() -> Vec<Family> {
    vec![
        family("tail-loss", &[Cause::TimeoutTail], 5, |plan, number| {
            random(plan, pick(number, &["8 %", "12 %", "6 %"]));
            transfers(plan, pick(number, &["12 kB", "20 kB", "6 kB"]), 150);
        }),
        family("small-window", &[Cause::TimeoutSmallWindow], 4, |plan, number| {
            random(plan, pick(number, &["12 %", "18 %"]));
            plan.tcp = "congestion = \"reno\"\n".to_owned();
            plan.rate_kbit = pick(number, &[2_000, 5_000]);
        }),
        family("whole-window", &[Cause::TimeoutWindow], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(20, 20, "cubic"),
                    path(10, 40, "reno"),
                    path(50, 10, "cubic"),
                    path(5, 30, "cubic"),
                ],
            );
            plan.queue = plan.queue.min(40);
            plan.air.push_str("loss = { kind = \"gilbert-elliott\", good_for = \"1500 ms\", bad_for = \"80 ms\" }\n");
            plan.air_reverse.push_str("loss = \"none\"\n");
        }),
        family("lost-retransmission", &[Cause::TimeoutLostRetransmission], 4, |plan, number| {
            random(plan, pick(number, &["6 %", "9 %"]));
        }),
        family("spurious-delay", &[Cause::SpuriousDelay], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(20, 40, "cubic"),
                    path(10, 60, "reno"),
                    path(50, 20, "bbr"),
                    path(10, 30, "cubic"),
                ],
            );
            let hold = pick(number, &[500, 800, 400, 1_200]);
            outage(plan, &[1_200, 3_500], hold, "holds");
        }),
        family("delay-jumps", &[Cause::SpuriousDelay], 3, |plan, _| {
            plan.air.push_str("jitter = { kind = \"redraw\", every = \"900 ms\", distribution = \"uniform\", deviation = \"200 ms\", floor = \"2 ms\", order = \"kept\" }\n");
            plan.air_reverse.push_str("jitter = \"none\"\n");
        }),
    ]
}

fn paths() -> Vec<Family> {
    vec![
        family("outage", &[Cause::Outage], 6, |plan, number| {
            let out = pick(number, &[600, 1500, 300, 2500, 1000, 200]);
            outage(plan, pick(number, &[&[2_000][..], &[1_200, 5_000][..]]), out, "loses");
            either_way(plan, number / 2);
            plan.duration_ms = 9_000;
        }),
        family("shaper", &[Cause::Shaper], 4, |plan, number| {
            on(
                plan,
                number,
                &[
                    path(50, 30, "cubic"),
                    path(100, 20, "bbr"),
                    path(20, 60, "cubic"),
                    path(40, 40, "reno"),
                ],
            );
            let slow = plan.rate_kbit / pick(number, &[5, 10, 4]);
            plan.rates = vec![(pick(number, &[1_500, 1_000, 2_500]), slow)];
            // So much waits for 60 ms at most.
            plan.queue = (slow * 60 / 12_000).max(20);
            plan.duration_ms = 8_000;
        }),
        family("ack-path", &[Cause::AckPath], 5, |plan, number| {
            let [good, bad] =
                pick(number, &[[700, 150], [700, 300], [400, 80], [900, 200], [300, 60]]);
            let loss = format!(
                "kind = \"gilbert-elliott\", good_for = \"{good} ms\", bad_for = \"{bad} ms\""
            );
            plan.air_reverse.push_str(&format!("loss = {{ {loss} }}\n"));
        }),
        family("ack-thinning", &[Cause::PathLimited], 2, |plan, number| {
            let loss = pick(number, &["30 %", "50 %"]);
            plan.air_reverse
                .push_str(&format!("loss = {{ kind = \"random\", per_packet = \"{loss}\" }}\n"));
        }),
        family("unfair-rtt", &[Cause::UnfairShare], 3, |plan, number| {
            on(
                plan,
                number,
                &[path(20, 150, "reno"), path(10, 200, "cubic"), path(30, 120, "reno")],
            );
            plan.queue = (plan.rate_kbit * 30 / 12_000).max(20);
            rivals(plan, pick(number, &[3, 2, 4]), 2, "reno", "");
            plan.duration_ms = 10_000;
        }),
        family("unfair-bbr", &[Cause::UnfairShare], 3, |plan, number| {
            on(plan, number, &[path(20, 40, "cubic"), path(10, 60, "reno"), path(30, 30, "cubic")]);
            plan.queue = (plan.rate_kbit * plan.rtt_ms / 12_000 / 3).max(12);
            rivals(plan, pick(number, &[1, 2]), 10, "bbr", "");
            plan.duration_ms = 10_000;
        }),
        family("beside-equals", &[Cause::PathLimited], 2, |plan, number| {
            on(plan, number, &[path(20, 40, "cubic"), path(50, 20, "cubic")]);
            rivals(plan, 1, plan.rtt_ms / 4, "cubic", "");
        }),
    ]
}
