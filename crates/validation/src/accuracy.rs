//! How exactly a machine emulates, as tables beside the goals and as JSON.

use crate::validate::release_of_this_machine;
use ackord_live::{AccuracyReport, DelayRow, Lateness, Most, MostRow, RateRow, Spread, Traffic};
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;
use ackord_study::VERSION;
use ackord_units::Span;
use serde::Serialize;

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

/// The same for people.
pub fn document(results: &Results, command: String) -> Document {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let met: Vec<bool> = (results.rates.iter().filter_map(|row| row.goal_met))
        .chain(results.delays.iter().map(|row| row.goal_met))
        .chain(results.most.iter().filter_map(|row| row.goal_met))
        .collect();
    let verdict = match met.iter().filter(|met| !**met).count() {
        0 => format!("All {} goals are met.", met.len()),
        missed => format!("{missed} of {} goals are missed.", met.len()),
    };
    let integrity = match results.damaged {
        0 => "Everything that arrived was as it was sent, and in order.".to_owned(),
        damaged => {
            format!("{damaged} bytes or datagrams arrived other than sent, or out of order.")
        }
    };
    let load = results.load_average_before.map_or("unknown".to_owned(), |load| load.to_string());
    let mut sections = vec![
        Section::new("Rate")
            .with(Block::Text(format!("{verdict} {integrity}")))
            .with(Block::Table(rate_table(results)))
            .with(Block::notes(RATE_NOTES)),
        Section::new("Delay")
            .with(Block::Table(delay_table(results)))
            .with(Block::Table(parts_table(results)))
            .with(Block::notes(DELAY_NOTES)),
        Section::new("How late the emulator was")
            .with(Block::Table(histogram_table(results)))
            .with(Block::notes(LATENESS_NOTES))
            .with(Block::Command { caption: "To repeat it".to_owned(), line: command }),
    ];
    if !results.most.is_empty() {
        let most = Section::new("The most that goes through")
            .with(Block::Table(most_table(results)))
            .with(Block::notes(MOST_NOTES));
        sections.insert(2, most);
    }
    Document {
        title: "How exactly the emulator emulates".to_owned(),
        purpose: "One emulated link between two network namespaces on the stock kernel: rate and \
                  delay against what they should be, and the most that goes through."
            .to_owned(),
        facts: vec![
            fact("kernel", results.kernel.clone()),
            fact("processors", results.processors.to_string()),
            fact("load average before", load),
            fact("scheduling of the emulator", results.scheduling.to_owned()),
            fact("each measurement", format!("{} s", results.duration_s)),
            fact("version", results.version.to_owned()),
            fact("build", results.build.to_owned()),
        ],
        sections,
    }
}

const RATE_NOTES: &[&str] = &[
    "delivered: IP packets, headers included, at the receiver's socket: datagrams by the kernel's \
     stamps of their arrival, TCP by the bytes read, times 1500 by the payload of a full segment; \
     the first fifth of the time is left out",
    "UDP offers a tenth more than the link carries; TCP is one connection of the stock kernel",
    "late: by how much the emulator handed over later than it should have, half of the packets and \
     all but 1 %",
];

const DELAY_NOTES: &[&str] = &[
    "by how much datagrams came later than theory has it, half of them and all but 1 %: from the stamp that the sender takes before its call to the stamp of the receiver's \
     kernel, less transmission, propagation (5 ms) and the wait for those before it; nothing is \
     taken off for what the program that measures costs",
    "into: of this, until the emulator had the packet (the call, the kernel's sending, the \
     emulator's waking up); out: of this, from when the emulator should have let it go (its \
     lateness, the kernel's receiving); late by itself: what the emulator knows of. These do not add up to the error quantile by quantile, \
     and where packets wait for one another what is late on the way in need not be late on the way \
     out",
    "idle: datagrams of 60 bytes, 200 each second; busy: packets of 1500 bytes at 80 % of the \
     rate, eight at a time",
    "no emulator: the same sender and receiver over the loopback device of one namespace, the part \
     of the error that no emulator could avoid",
];

const MOST_NOTES: &[&str] = &[
    "each packet passes the kernel four times and the emulator once; sender, receiver and emulator \
     share the processors",
    "delivered: the highest of six rates offered; without loss: the highest of them at which less \
     than 0.1 % was lost",
];

const LATENESS_NOTES: &[&str] = &[
    "all measurements of rate and delay together; a live run is untrustworthy where more than 1 % \
       of its packets are more than 1 ms late",
];

fn verdict(met: bool) -> Cell {
    Cell::text(if met { "met" } else { "MISSED" })
}

fn rate_words(bit_s: u64) -> String {
    ackord_units::Rate::from_bits_per_sec(bit_s).to_string()
}

fn rate_table(results: &Results) -> Table {
    table!(results.rates.iter(), |row| [
        words("link") => rate_words(row.configured_bit_s),
        words("by") => row.traffic,
        numbers("offered", "Mbit/s") => Cell::number(row.offered_bit_s as f64 / 1e6, 2),
        numbers("delivered", "Mbit/s") => Cell::number(row.delivered_bit_s as f64 / 1e6, 3),
        numbers("error", "%") => Cell::number(row.error_percent, 3),
        words("goal: 1 %") => row.goal_met.map_or(Cell::text("too little offered"), verdict),
        numbers("dropped", "packets") => row.dropped_packets,
        numbers("late, half", "us") => Cell::number(row.lateness.p50_us, 1),
        numbers("99 %", "us") => Cell::number(row.lateness.p99_us, 1),
    ])
}

fn delay_table(results: &Results) -> Table {
    let goal = "goal: 50 and 200 us";
    let rows = results.delays.iter().map(|row| {
        let link = rate_words(row.configured_bit_s);
        (link, row.load, row.error_us, verdict(row.goal_met))
    });
    let control = ("no emulator".to_owned(), "idle", results.control_us, Cell::Missing);
    table!(rows.chain([control]), |(link, load, error, verdict)| [
        words("link") => link,
        words("load") => load,
        numbers("measured", "datagrams") => error.count,
        numbers("half", "us") => Cell::number(error.p50, 1),
        numbers("99 %", "us") => Cell::number(error.p99, 1),
        numbers("most", "us") => Cell::number(error.max, 1),
        words(goal) => verdict,
    ])
}

fn parts_table(results: &Results) -> Table {
    let half = |part: &Option<Micros>| Cell::number(part.map(|part| part.p50), 1);
    let most = |part: &Option<Micros>| Cell::number(part.map(|part| part.p99), 1);
    table!(results.delays.iter(), |row| [
        words("link") => rate_words(row.configured_bit_s),
        words("load") => row.load,
        numbers("into: half", "us") => half(&row.of_this_into_the_emulator_us),
        numbers("99 %", "us") => most(&row.of_this_into_the_emulator_us),
        numbers("out of: half", "us") => half(&row.of_this_out_of_the_emulator_us),
        numbers("99 %", "us") => most(&row.of_this_out_of_the_emulator_us),
        numbers("late by itself: half", "us") => Cell::number(row.lateness.p50_us, 1),
        numbers("99 %", "us") => Cell::number(row.lateness.p99_us, 1),
    ])
    .captioned("Where the error comes from")
}

fn most_table(results: &Results) -> Table {
    table!(results.most.iter(), |row| [
        words("of") => match row.what {
            "tcp" => "one TCP connection",
            "udp-1500" => "UDP, 1500 bytes",
            _ => "UDP, 60 bytes",
        },
        numbers("delivered", "Mbit/s") => Cell::number(row.delivered_bit_s as f64 / 1e6, 1),
        numbers("delivered", "packets/s") => row.packets_per_s,
        words("goal") => row.goal,
        words("") => row.goal_met.map_or(Cell::Missing, verdict),
        numbers("offered", "packets/s") => row.offered_packets_per_s,
        numbers("without loss", "packets/s") => row.lossless_packets_per_s,
    ])
}

fn histogram_table(results: &Results) -> Table {
    let all = results.lateness.packets.max(1) as f64;
    table!(results.lateness_histogram.iter(), |bucket| [
        numbers("late by up to", "us") => Cell::number(bucket.up_to_us, 0),
        numbers("packets", "") => bucket.packets,
        numbers("share", "%") => Cell::number(100.0 * bucket.packets as f64 / all, 3),
    ])
}
