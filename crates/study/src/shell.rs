//! What `ackord shell` says when it is over: a few lines, and JSON.

use crate::VERSION;
use crate::live_transfers::Lateness;
use ackord_live::{Outside, Queueing, RelayReport, ShellEnd, ShellLink, ShellReport, WayReport};
use ackord_path::DropCounts;
use ackord_units::Span;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A shell's run for programs.
#[derive(Serialize)]
pub struct Results<'a> {
    version: &'static str,
    link: &'a str,
    scenario: &'a str,
    scenario_hash: String,
    seed: u64,
    command: &'a [String],
    /// Null where a signal ended it.
    exit_code: Option<i32>,
    /// Null where it ended by itself.
    killed_by_signal: Option<i32>,
    took_s: f64,
    depth: u32,
    base: String,
    inside: String,
    outside: &'static str,
    scheduling: &'static str,
    lateness: Lateness,
    up: Way,
    down: Way,
    dropped_packets: BTreeMap<&'static str, u64>,
    ignored_packets: u64,
    malformed_packets: u64,
    reordered_packets: u64,
    gateway: RelayReport,
    captures: Vec<String>,
}

#[derive(Serialize)]
struct Way {
    sent_packets: u64,
    sent_bytes: u64,
    delivered_packets: u64,
    delivered_bytes: u64,
    /// Of what was delivered, over the whole time.
    throughput_bit_s: f64,
    dropped_packets: BTreeMap<&'static str, u64>,
    queueing_delay: Delays,
}

#[derive(Serialize)]
struct Delays {
    packets: u64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

/// What a run came to.
pub fn results<'a>(
    link: &'a ShellLink,
    command: &'a [String],
    report: &ShellReport,
) -> Results<'a> {
    let late = report.lateness;
    let (exit_code, killed_by_signal) = match report.end {
        ShellEnd::Exited(code) => (Some(code), None),
        ShellEnd::Killed(signal) => (None, Some(signal)),
    };
    Results {
        version: VERSION,
        link: &link.summary,
        scenario: &link.text,
        scenario_hash: link.scenario.hash(),
        seed: link.scenario.seed,
        command,
        exit_code,
        killed_by_signal,
        took_s: report.took.as_secs_f64(),
        depth: report.block.depth(),
        base: report.block.base().to_string(),
        inside: report.block.inside().to_string(),
        outside: match report.outside {
            Outside::DeviceAndGateway(_) => "device-and-gateway",
            Outside::Device(_) => "device",
            Outside::Gateway(_) | Outside::GatewayAsked => "gateway",
        },
        scheduling: if report.realtime_priority { "real-time" } else { "ordinary" },
        lateness: late.into(),
        up: way(&report.up, report.took),
        down: way(&report.down, report.took),
        dropped_packets: drops(&report.dropped),
        ignored_packets: report.counts.ignored + report.outside_counts.to_nobody,
        malformed_packets: report.counts.malformed,
        reordered_packets: report.counts.overtaken,
        gateway: report.outside_counts.gateway,
        captures: report.captures.iter().map(|path| path.display().to_string()).collect(),
    }
}

/// What the gateway could not do; nothing where all went well.
fn shortcomings(report: &RelayReport) -> Option<String> {
    let many = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let echo = report.pings_refused.map(|_| {
        "no ping beyond the base address (the kernel lets no group of yours have such sockets: \
         net.ipv4.ping_group_range)"
            .to_owned()
    });
    let all: Vec<String> = [
        many(report.turned_away, "connections turned away (too many, or no descriptor left)"),
        many(report.flows_cut_short, "flows of datagrams cut short for others"),
        many(report.datagrams_dropped, "datagrams dropped (too long, or nobody there)"),
        many(report.fragments, "fragments dropped"),
        echo,
    ]
    .into_iter()
    .flatten()
    .collect();
    (!all.is_empty()).then(|| format!("gateway: {}", all.join("; ")))
}

fn way(way: &WayReport, took: Span) -> Way {
    let Queueing { packets, p50, p99, max } = way.queueing;
    let millis = |span: Span| span.as_nanos() as f64 / 1e6;
    Way {
        sent_packets: way.sent_packets,
        sent_bytes: way.sent.get(),
        delivered_packets: way.delivered_packets,
        delivered_bytes: way.delivered.get(),
        throughput_bit_s: 8.0 * way.delivered.get() as f64 / took.as_secs_f64().max(1e-9),
        dropped_packets: drops(&way.drops),
        queueing_delay: Delays {
            packets,
            p50_ms: millis(p50),
            p99_ms: millis(p99),
            max_ms: millis(max),
        },
    }
}

fn drops(drops: &DropCounts) -> BTreeMap<&'static str, u64> {
    let some = drops.iter().filter(|(_, count)| *count > 0);
    some.map(|(reason, count)| (reason.name(), count)).collect()
}

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}

/// The same for people: three or four lines.
pub fn summary(link: &ShellLink, report: &ShellReport) -> String {
    let mut text = String::new();
    let took = report.took.as_secs_f64();
    let _ = writeln!(
        text,
        "ackord: {} · {took:.1} s · down {}, up {}",
        link.summary,
        carried(&report.down, took),
        carried(&report.up, took)
    );
    for (name, way) in [("down", &report.down), ("up", &report.up)] {
        let Queueing { packets, p50, p99, .. } = way.queueing;
        let mut parts = Vec::new();
        if packets > 0 && p99 >= Span::from_micros(100) {
            parts.push(format!("waited p50 {} ms, p99 {} ms", millis(p50), millis(p99)));
        }
        let dropped = drops(&way.drops);
        if !dropped.is_empty() {
            let all: Vec<_> =
                dropped.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            parts.push(format!("dropped {}", all.join(", ")));
        }
        if !parts.is_empty() {
            let _ = writeln!(text, "ackord: {name} {}", parts.join("; "));
        }
    }
    if let Some(told) = shortcomings(&report.outside_counts.gateway) {
        let _ = writeln!(text, "ackord: {told}");
    }
    let late = report.lateness;
    let trust = match late.is_within_budget() {
        true => "",
        false => "; UNTRUSTWORTHY: this machine was too busy for these delays",
    };
    if late.packets > 0 {
        let [p50, p99, max] = [late.p50, late.p99, late.max].map(micros);
        let _ = writeln!(
            text,
            "ackord: late by p50 {p50:.0} us, p99 {p99:.0} us, max {max:.0} us{trust}"
        );
    }
    for path in &report.captures {
        let _ = writeln!(text, "ackord: wrote {}", path.display());
    }
    text
}

fn millis(span: Span) -> String {
    format!("{:.1}", span.as_nanos() as f64 / 1e6)
}

/// An amount and the rate that it comes to.
fn carried(way: &WayReport, took: f64) -> String {
    let bytes = way.delivered.get() as f64;
    let (amount, unit) = match bytes {
        bytes if bytes >= 1e6 => (bytes / 1e6, "MB"),
        bytes => (bytes / 1e3, "kB"),
    };
    let rate = 8.0 * bytes / 1e6 / took.max(1e-9);
    if rate < 0.01 {
        return format!("{amount:.1} {unit}");
    }
    format!("{amount:.1} {unit} ({rate:.2} Mbit/s)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_that_could_do_everything_says_nothing_and_else_what_it_could_not() {
        let mut report = RelayReport::default();
        (report.connected, report.refused, report.flows) = (5, 2, 9);
        assert_eq!(shortcomings(&report), None);
        (report.turned_away, report.fragments) = (3, 1);
        let told = shortcomings(&report).expect("there is something");
        assert!(told.starts_with("gateway: 3 connections turned away"), "{told}");
        assert!(told.ends_with("; 1 fragments dropped"), "{told}");
    }
}
