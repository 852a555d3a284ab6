//! An interoperation matrix as tables and as JSON.

use crate::validate::release_of_this_machine;
use ackord_live::{KernelCounters, Row};
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;
use ackord_study::VERSION;
use ackord_wire::{IpVersion, Side};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The matrix for programs.
#[derive(Serialize)]
pub struct Results {
    version: &'static str,
    kernel: String,
    seed: u64,
    rows: Vec<RowEntry>,
}

#[derive(Serialize)]
struct RowEntry {
    case: &'static str,
    about: &'static str,
    path: &'static str,
    we_are: &'static str,
    ip: u8,
    connections: u32,
    bytes: u64,
    took_s: f64,
    received_sha256: String,
    checksums_equal: bool,
    our_retransmissions: u64,
    our_timeouts: u64,
    our_fast_recoveries: u64,
    our_window_probes: u64,
    our_ecn_reductions: u64,
    our_resets: u64,
    packets: u64,
    packets_lost: u64,
    packets_overtaken: u64,
    packets_doubled: u64,
    malformed_for_tshark: Option<u64>,
    kernel_congestion: String,
    ss: String,
    /// All that are not zero.
    kernel: BTreeMap<String, i64>,
    failures: Vec<String>,
}

/// What these rows came to.
pub fn results(rows: &[Row], seed: u64) -> Results {
    Results {
        version: VERSION,
        kernel: release_of_this_machine(),
        seed,
        rows: rows.iter().map(entry).collect(),
    }
}

fn entry(row: &Row) -> RowEntry {
    let counted = |counters: &KernelCounters| {
        counters.counted().map(|(name, value)| (name.to_owned(), value)).collect()
    };
    RowEntry {
        case: row.case.name,
        about: row.case.about,
        path: row.case.path_about(),
        we_are: if row.side == Side::Client { "client" } else { "server" },
        ip: if row.ip == IpVersion::V4 { 4 } else { 6 },
        connections: row.connections,
        bytes: row.bytes,
        took_s: row.took.as_secs_f64(),
        received_sha256: row.received_sha256.clone(),
        checksums_equal: row.checksums_equal,
        our_retransmissions: row.our_retransmissions,
        our_timeouts: row.events.timeouts,
        our_fast_recoveries: row.events.fast_recoveries,
        our_window_probes: row.events.window_probes,
        our_ecn_reductions: row.events.ecn_reductions,
        our_resets: row.events.resets,
        packets: row.device.from_kernel + row.device.to_kernel,
        packets_lost: row.drops.total(),
        packets_overtaken: row.device.overtaken,
        packets_doubled: row.events.packets_doubled,
        malformed_for_tshark: row.malformed,
        kernel_congestion: row.kernel_congestion.clone(),
        ss: row.ss.clone(),
        kernel: counted(&row.kernel),
        failures: row.failures.clone(),
    }
}

impl RowEntry {
    fn counter(&self, name: &str) -> i64 {
        self.kernel.get(name).copied().unwrap_or(0)
    }

    /// Which end we were, over which IP.
    fn end(&self) -> String {
        format!("{}, IPv{}", self.we_are, self.ip)
    }

    /// The sum of several counters.
    fn sum(&self, names: &[&str]) -> u64 {
        names.iter().map(|name| self.counter(name)).sum::<i64>().unsigned_abs()
    }
}

const BAD_SEGMENTS: &[&str] =
    &["TcpInErrs", "TcpInCsumErrors", "IpInHdrErrors", "Ip6InHdrErrors", "TcpExtTSEcrRejected"];
const PAWS: &[&str] =
    &["TcpExtPAWSActive", "TcpExtPAWSEstab", "TcpExtPAWSOldAck", "TcpExtPAWSTimewait"];
const CHALLENGES: &[&str] = &["TcpExtTCPChallengeACK", "TcpExtTCPSYNChallenge"];

/// The same for people.
pub fn document(results: &Results, command: String) -> Document {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut controls: Vec<_> = results.rows.iter().map(|row| &*row.kernel_congestion).collect();
    controls.sort_unstable();
    controls.dedup();
    let congestion = controls.join(", ");
    let failed = results.rows.iter().filter(|row| !row.failures.is_empty()).count();
    let verdict = match failed {
        0 => format!("All {} rows went as expected.", results.rows.len()),
        _ => format!("{failed} of {} rows did not go as expected.", results.rows.len()),
    };
    let mut sections = vec![
        Section::new("The matrix")
            .with(Block::Text(verdict))
            .with(Block::Table(matrix(results)))
            .with(Block::notes(NOTES))
            .with(Block::Command { caption: "To repeat it".to_owned(), line: command }),
        Section::new("What each case is").with(Block::Table(cases(results))),
        Section::new("What the path did")
            .with(Block::Table(paths(results)))
            .with(Block::notes(PATH_NOTES)),
    ];
    let failures = failures(results);
    if !failures.is_empty() {
        sections
            .insert(1, Section::new("What did not go as expected").with(Block::Notes(failures)));
    }
    sections.push(counted(results));
    Document {
        title: "Our TCP against the kernel's".to_owned(),
        purpose: "The same cases between our endpoint and a stock Linux kernel, with our end as \
                  client and as server, over IPv4 and IPv6, each row in a network namespace of its \
                  own."
            .to_owned(),
        facts: vec![
            fact("kernel", results.kernel.clone()),
            fact("congestion control of the kernel's end", congestion),
            fact("seed", results.seed.to_string()),
            fact("version", results.version.to_owned()),
            fact("build", BUILD.to_owned()),
        ],
        sections,
    }
}

const NOTES: &[&str] = &[
    "equal: the SHA-256 of what one end sent and of what the other received, worked out at both \
     ends, in both directions; after a reset, of what arrived against the beginning of what was sent",
    "retrans: segments our endpoint retransmitted, and the kernel's TcpRetransSegs",
    "RST: the kernel's TcpOutRsts",
    "trouble, four numbers: the kernel's TcpInErrs, TcpInCsumErrors, IpInHdrErrors and TSEcrRejected \
     together; its four PAWS counters; its TCPChallengeACK and TCPSYNChallenge; packets that tshark \
     calls malformed, or of a wrong checksum, of all at the kernel's end",
    "verdict: everything the case expects, which is zero for some thirty counters where nothing is \
     said below",
];

const PATH_NOTES: &[&str] = &[
    "overtaken: packets that came to their end after one that entered the path later (RFC 4737)",
    "recoveries: timeouts and fast recoveries of our endpoint; probes: of a closed window, by our \
     endpoint; marks: reductions of our cwnd by ECN, and marked packets that came to the kernel",
];

fn matrix(results: &Results) -> Table {
    table!(results.rows.iter(), |row| {
        let kernel_again = row.sum(&["TcpRetransSegs"]);
        let [bad, paws, challenges] = [BAD_SEGMENTS, PAWS, CHALLENGES].map(|names| row.sum(names));
        let tshark = row.malformed_for_tshark.map_or("-".to_owned(), |count| count.to_string());
        [
            words("case") => row.case,
            words("we are") => row.end(),
            numbers("arrived", "MB") => Cell::number(row.bytes as f64 / 1e6, 1),
            numbers("took", "s") => Cell::number(row.took_s, 2),
            words("equal") => if row.checksums_equal { "yes" } else { "NO" },
            words("retrans") => format!("{}, {kernel_again}", row.our_retransmissions),
            numbers("RST", "") => row.sum(&["TcpOutRsts"]),
            words("trouble") => format!("{bad}, {paws}, {challenges}, {tshark}"),
            words("verdict") => if row.failures.is_empty() { "ok" } else { "FAILED" },
        ]
    })
}

fn failures(results: &Results) -> Vec<String> {
    let of_row = |row: &RowEntry| {
        let name = format!("{}, {}", row.case, row.end());
        let failures = row.failures.iter().map(move |failure| format!("{name}: {failure}"));
        failures.collect::<Vec<_>>()
    };
    results.rows.iter().flat_map(of_row).collect()
}

fn cases(results: &Results) -> Table {
    let mut cases: Vec<_> =
        results.rows.iter().map(|row| (row.case, row.about, row.path)).collect();
    let mut seen = BTreeSet::new();
    cases.retain(|(case, ..)| seen.insert(*case));
    table!(cases, |(case, about, path)| [
        words("case") => case,
        words("what") => about,
        words("path") => path,
    ])
}

fn paths(results: &Results) -> Table {
    table!(results.rows.iter(), |row| {
        let sent = row.packets + row.packets_lost - row.packets_doubled;
        let share = |count: u64| Cell::number(100.0 * count as f64 / sent.max(1) as f64, 1);
        let marked = row.sum(&["IpExtInCEPkts", "Ip6InCEPkts"]);
        [
            words("case") => row.case,
            words("we are") => row.end(),
            numbers("packets", "") => row.packets,
            numbers("lost", "%") => share(row.packets_lost),
            numbers("overtaken", "%") => share(row.packets_overtaken),
            numbers("doubled", "%") => share(row.packets_doubled),
            words("recoveries") => format!("{}, {}", row.our_timeouts, row.our_fast_recoveries),
            numbers("probes", "") => row.our_window_probes,
            words("marks") => format!("{}, {marked}", row.our_ecn_reductions),
        ]
    })
}

/// How fast a clean path goes depends on it.
const BUILD: &str =
    if cfg!(debug_assertions) { "for development, not optimised" } else { "optimised" };

/// Counters that say how much ordinary work there was, and how it was done.
const ORDINARY: &[&str] = &[
    "TcpRtoAlgorithm",
    "TcpRtoMin",
    "TcpRtoMax",
    "TcpMaxConn",
    "TcpCurrEstab",
    "TcpExtTCPHPHits",
    "TcpExtTCPHPAcks",
    "TcpExtTCPPureAcks",
    "TcpExtTCPOrigDataSent",
    "TcpExtTCPDelivered",
    "TcpExtTCPAutoCorking",
    "TcpExtTCPRcvCoalesce",
    "TcpExtTCPBacklogCoalesce",
    "TcpExtTCPHystartTrainDetect",
    "TcpExtTCPHystartTrainCwnd",
    "TcpExtTCPHystartDelayDetect",
    "TcpExtTCPHystartDelayCwnd",
    "TcpExtTCPSpuriousRtxHostQueues",
];

/// The kernel's TCP counters and what ss said; left out on a terminal.
fn counted(results: &Results) -> Section {
    let mut counters = String::new();
    let mut said = String::new();
    for row in &results.rows {
        let name = format!("{}, {}", row.case, row.end());
        let tcp = row
            .kernel
            .iter()
            .filter(|(name, _)| name.starts_with("Tcp") && !ORDINARY.contains(&name.as_str()));
        let tcp: Vec<_> = tcp.map(|(name, value)| format!("{name} {value}")).collect();
        counters.push_str(&format!("{name}:\n{}\n", indented(&tcp.join(", "))));
        if !row.ss.is_empty() {
            let words = row.ss.split_whitespace().collect::<Vec<_>>().join(" ");
            said.push_str(&format!("{name}:\n{}\n", indented(&words)));
        }
    }
    let code = |caption: &str, text| Block::Code { caption: caption.to_owned(), text, open: false };
    Section::new("What the kernel counted")
        .with(code(
            "Its TCP counters that are not zero, without those of ordinary work (nstat -az has \
             them all)",
            counters,
        ))
        .with(code("ss -tin, before the kernel's end began to close", said))
}

/// Words in lines of 96 characters, four spaces before each.
fn indented(words: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let last = lines.last_mut().expect("it is never empty");
        if last.len() + word.len() > 95 {
            lines.push(word.to_owned());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
