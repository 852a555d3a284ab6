//! How exactly a machine emulates, beside the goals: as JSON, and in `accuracy/document.rs` as tables.

mod document;

use crate::validate::release_of_this_machine;
use ackord_live::{AccuracyReport, DelayRow, Lateness, Most, MostRow, RateRow, Spread, Traffic};
use ackord_study::VERSION;
use ackord_units::Span;
use serde::Serialize;

pub use document::document;

/// Everything for programs. Times in microseconds, rates in bit/s; nothing is corrected by anything.
#[derive(Serialize)]
pub struct Results {
    version: &'static str,
    build: &'static str,
    kernel: String,
    processors: usize,
    /// What else ran: the machine's load average of the last minute before.
    load_average_before: Option<f64>,
    scheduling: &'static str,
    duration_s: f64,
    rates: Vec<RateEntry>,
    delays: Vec<DelayEntry>,
    most: Vec<MostEntry>,
    /// Sender and receiver over the loopback device, without an emulator.
    control_us: Micros,
    lateness: LatenessEntry,
    lateness_histogram: Vec<Bucket>,
    damaged: u64,
}

#[derive(Serialize)]
struct RateEntry {
    configured_bit_s: u64,
    traffic: &'static str,
    delivered_bit_s: u64,
    offered_bit_s: u64,
    error_percent: f64,
    goal_percent: f64,
    /// Nothing where less was offered than the link could carry: the sender was too slow.
    goal_met: Option<bool>,
    offered_packets: u64,
    entered_packets: u64,
    dropped_packets: u64,
    handed_over_packets: u64,
    unread_packets: u64,
    lateness: LatenessEntry,
}

#[derive(Serialize)]
struct DelayEntry {
    configured_bit_s: u64,
    delay_ms: f64,
    load: &'static str,
    datagrams_sent: u64,
    datagrams_measured: u64,
    error_us: Micros,
    of_this_into_the_emulator_us: Option<Micros>,
    of_this_out_of_the_emulator_us: Option<Micros>,
    goal_p50_us: f64,
    goal_p99_us: f64,
    goal_met: bool,
    lateness: LatenessEntry,
}

#[derive(Serialize)]
struct MostEntry {
    what: &'static str,
    delivered_bit_s: u64,
    packets_per_s: u64,
    offered_packets_per_s: u64,
    lossless_packets_per_s: Option<u64>,
    goal: Option<&'static str>,
    goal_met: Option<bool>,
}

#[derive(Clone, Copy, Serialize)]
struct Micros {
    count: u64,
    least: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

#[derive(Clone, Copy, Serialize)]
struct LatenessEntry {
    packets: u64,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    trustworthy: bool,
}

#[derive(Serialize)]
struct Bucket {
    up_to_us: f64,
    packets: u64,
}

/// A delivered rate may differ by so much.
const RATE_GOAL_PERCENT: f64 = 1.0;
/// Half of the delays may be wrong by so much, all but 1 % by so much.
const DELAY_GOALS_US: [f64; 2] = [50.0, 200.0];
/// So much is to go through.
const MOST_GOAL_BIT_S: u64 = 1_500_000_000;
const MOST_GOAL_PACKETS: u64 = 200_000;
/// What this program was built as: what a packet costs depends on it.
const BUILD: &str = if cfg!(debug_assertions) { "not optimised" } else { "optimised" };

/// What a measurement came to; the load is that before it.
pub fn results(
    report: &AccuracyReport,
    duration: Span,
    load_average_before: Option<f64>,
) -> Results {
    Results {
        version: VERSION,
        build: BUILD,
        kernel: release_of_this_machine(),
        processors: std::thread::available_parallelism().map_or(0, usize::from),
        load_average_before,
        scheduling: if report.realtime_priority { "real time (SCHED_FIFO)" } else { "ordinary" },
        duration_s: duration.as_secs_f64(),
        rates: report.rates.iter().map(rate_entry).collect(),
        delays: report.delays.iter().map(delay_entry).collect(),
        most: report.most.iter().map(most_entry).collect(),
        control_us: micros(report.control),
        lateness: lateness_entry(&report.lateness),
        lateness_histogram: report
            .histogram
            .iter()
            .map(|&(up_to, packets)| Bucket { up_to_us: in_micros(up_to), packets })
            .collect(),
        damaged: report.damaged,
    }
}

/// The machine's load average of the last minute.
pub fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn in_micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}

fn micros(spread: Spread) -> Micros {
    let Spread { count, least_nanos, p50_nanos, p99_nanos, max_nanos } = spread;
    let nanos = [least_nanos, p50_nanos, p99_nanos, max_nanos];
    let [least, p50, p99, max] = nanos.map(|nanos| nanos as f64 / 1e3);
    Micros { count, least, p50, p99, max }
}

fn lateness_entry(lateness: &Lateness) -> LatenessEntry {
    LatenessEntry {
        packets: lateness.packets,
        p50_us: in_micros(lateness.p50),
        p99_us: in_micros(lateness.p99),
        max_us: in_micros(lateness.max),
        trustworthy: lateness.is_within_budget(),
    }
}

fn rate_entry(row: &RateRow) -> RateEntry {
    let [delivered, configured] =
        [row.delivered, row.configured].map(|rate| rate.as_bits_per_sec());
    // One TCP connection offers what it may, and is to fill the link.
    let enough = configured as f64 * (1.0 + RATE_GOAL_PERCENT / 100.0);
    let enough_offered =
        row.traffic == Traffic::Tcp || row.offered.as_bits_per_sec() as f64 >= enough;
    let error_percent = (delivered as f64 / configured.max(1) as f64 - 1.0) * 100.0;
    RateEntry {
        configured_bit_s: configured,
        traffic: match row.traffic {
            Traffic::Udp => "udp",
            Traffic::Tcp => "tcp",
        },
        delivered_bit_s: delivered,
        offered_bit_s: row.offered.as_bits_per_sec(),
        error_percent,
        goal_percent: RATE_GOAL_PERCENT,
        goal_met: enough_offered.then(|| error_percent.abs() <= RATE_GOAL_PERCENT),
        offered_packets: row.offered_packets,
        entered_packets: row.entered_packets,
        dropped_packets: row.dropped_packets,
        handed_over_packets: row.handed_over_packets,
        unread_packets: row.unread_packets,
        lateness: lateness_entry(&row.lateness),
    }
}

fn delay_entry(row: &DelayRow) -> DelayEntry {
    let error = micros(row.error);
    let [p50, p99] = DELAY_GOALS_US;
    let told_apart = |spread: Spread| (spread.count > 0).then(|| micros(spread));
    DelayEntry {
        configured_bit_s: row.configured.as_bits_per_sec(),
        delay_ms: row.delay.as_secs_f64() * 1e3,
        load: if row.busy { "busy" } else { "idle" },
        datagrams_sent: row.sent,
        datagrams_measured: error.count,
        error_us: error,
        of_this_into_the_emulator_us: told_apart(row.into),
        of_this_out_of_the_emulator_us: told_apart(row.out_of),
        goal_p50_us: p50,
        goal_p99_us: p99,
        goal_met: error.count > 0 && error.p50.abs() <= p50 && error.p99.abs() <= p99,
        lateness: lateness_entry(&row.lateness),
    }
}

fn most_entry(row: &MostRow) -> MostEntry {
    let bits = row.delivered.as_bits_per_sec();
    let (what, goal, goal_met) = match row.what {
        Most::Tcp => ("tcp", Some("1.5 Gbit/s"), Some(bits >= MOST_GOAL_BIT_S)),
        Most::FullDatagrams => ("udp-1500", Some("1.5 Gbit/s"), Some(bits >= MOST_GOAL_BIT_S)),
        Most::SmallDatagrams => {
            ("udp-60", Some("200,000 packets/s"), Some(row.packets_per_sec >= MOST_GOAL_PACKETS))
        }
    };
    MostEntry {
        what,
        delivered_bit_s: bits,
        packets_per_s: row.packets_per_sec,
        offered_packets_per_s: row.offered_packets_per_sec,
        lossless_packets_per_s: row.lossless_packets_per_sec,
        goal,
        goal_met,
    }
}
