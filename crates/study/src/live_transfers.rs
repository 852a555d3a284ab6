//! What `ackord live serve` and `fetch` came to, as tables and as JSON.

use crate::{HistoryUse, VERSION};
use ackord_live::{CommandOutcome, ConnectionReport, KernelCongestion, LiveReport, Transfer};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;
use ackord_scenario::Scenario;
use serde::Serialize;

/// A live run for programs.
#[derive(Serialize)]
pub struct Results<'a> {
    scenario: &'a str,
    scenario_hash: String,
    seed: u64,
    version: &'static str,
    took_s: f64,
    lateness: Lateness,
    scheduling: &'static str,
    kernel_congestion: KernelCongestion,
    connections: Vec<Connection>,
    dropped_on_path_packets: u64,
    malformed_packets: u64,
    ignored_packets: u64,
    command: Option<String>,
    compared: Option<&'a Compared>,
    /// What our endpoint took from the history of applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a [HistoryUse]>,
}

/// The largest transfer beside the simulator's for the same path.
#[derive(Serialize)]
pub struct Compared {
    /// What was transferred.
    pub target: String,
    /// How fast it went.
    pub live_goodput_bit_s: f64,
    /// How fast it goes in the simulator.
    pub simulated_goodput_bit_s: Estimate,
}

/// How late packets were handed over, as every live command's results have it.
#[derive(Serialize)]
pub struct Lateness {
    packets: u64,
    p50_us: f64,
    p99_us: f64,
    max_us: f64,
    budget_us: f64,
    within_budget: bool,
}

impl From<ackord_live::Lateness> for Lateness {
    fn from(late: ackord_live::Lateness) -> Lateness {
        let micros = |span: ackord_units::Span| span.as_nanos() as f64 / 1e3;
        Lateness {
            packets: late.packets,
            p50_us: micros(late.p50),
            p99_us: micros(late.p99),
            max_us: micros(late.max),
            budget_us: micros(late.budget),
            within_budget: late.is_within_budget(),
        }
    }
}

#[derive(Serialize)]
struct Connection {
    peer: String,
    /// Null while it was still open when the run ended.
    close_reason: Option<String>,
    segments_sent: u64,
    retransmitted_segments: u64,
    timeouts: u64,
    acks_sent: u64,
    srtt_ms: Option<f64>,
    transfers: Vec<Moved>,
}

#[derive(Serialize)]
struct Moved {
    direction: String,
    target: String,
    bytes: u64,
    /// Null if it was never finished.
    took_s: Option<f64>,
    goodput_bit_s: Option<f64>,
}

/// What a run came to.
pub fn results<'a>(
    scenario: &'a Scenario,
    seed: u64,
    report: &LiveReport,
    (compared, history): (Option<&'a Compared>, Option<&'a [HistoryUse]>),
) -> Results<'a> {
    let late = report.lateness;
    Results {
        scenario: &scenario.name,
        scenario_hash: scenario.hash(),
        seed,
        version: VERSION,
        took_s: report.took.as_secs_f64(),
        lateness: late.into(),
        scheduling: if report.realtime_priority { "real-time" } else { "ordinary" },
        kernel_congestion: report.kernel_congestion.clone(),
        connections: report.connections.iter().map(connection).collect(),
        dropped_on_path_packets: report.drops.total(),
        malformed_packets: report.device.malformed,
        ignored_packets: report.device.ignored,
        command: report.command.as_ref().map(command),
        compared,
        history,
    }
}

fn connection(report: &ConnectionReport) -> Connection {
    Connection {
        peer: report.peer.to_string(),
        close_reason: report.close_reason.map(|reason| format!("{reason:?}")),
        segments_sent: report.stats.data_segments_sent,
        retransmitted_segments: report.stats.retransmitted_segments,
        timeouts: report.stats.timeouts,
        acks_sent: report.stats.pure_acks_sent,
        srtt_ms: report.srtt.map(|srtt| srtt.as_secs_f64() * 1e3),
        transfers: report.transfers.iter().map(moved).collect(),
    }
}

fn moved(transfer: &Transfer) -> Moved {
    Moved {
        direction: format!("{:?}", transfer.direction).to_lowercase(),
        target: transfer.target.clone(),
        bytes: transfer.bytes.get(),
        took_s: transfer.took().map(|took| took.as_secs_f64()),
        goodput_bit_s: transfer.goodput().map(|rate| rate.as_bits_per_sec() as f64),
    }
}

fn command(outcome: &CommandOutcome) -> String {
    match outcome {
        CommandOutcome::Exited(code) => format!("exited with {code}"),
        CommandOutcome::Killed(signal) => format!("was killed by {signal}"),
        CommandOutcome::StillRunning => "was still running".to_owned(),
    }
}

/// The same for people.
pub fn document(results: &Results<'_>) -> Document {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut transfers = Section::new("Transfers").with(Block::Table(transfer_table(results)));
    if let Some(Compared { target, live_goodput_bit_s, simulated_goodput_bit_s }) = results.compared
    {
        let Estimate { mean, ci95, runs, min, max, .. } = *simulated_goodput_bit_s;
        let interval = ci95.map_or(String::new(), |half| format!(" ± {:.3}", half / 1e6));
        transfers.blocks.push(Block::Text(format!(
            "{target} went at {:.3} Mbit/s; simulated transfers of the same size over the same \
             path, our TCP at both ends, at {:.3}{interval} Mbit/s ({:.3} to {:.3} in {runs} runs).",
            live_goodput_bit_s / 1e6,
            mean / 1e6,
            min / 1e6,
            max / 1e6,
        )));
    }
    let late = &results.lateness;
    let verdict = match late.within_budget {
        true => "within the budget",
        false => "MORE THAN THE BUDGET: do not trust delays of this run",
    };
    let lateness = format!(
        "{} packets left the path {:.1} µs (median), {:.1} µs (99th percentile), at most {:.1} µs \
         late; the 99th percentile is {verdict} of {:.0} µs. Scheduling was {}.",
        late.packets, late.p50_us, late.p99_us, late.max_us, late.budget_us, results.scheduling
    );
    let KernelCongestion { asked, used } = &results.kernel_congestion;
    let kernel = match asked == used {
        true => format!("The kernel's end uses {used}, as the scenario says."),
        false => format!(
            "The kernel's end uses {used}, its default: it does not let this namespace choose the \
             {asked} of the scenario."
        ),
    };
    transfers.blocks.push(Block::Text(kernel));
    let mut endpoint = Section::new("Our endpoint").with(Block::Table(connection_table(results)));
    if let Some(history) = results.history.filter(|history| !history.is_empty()) {
        let sentences = history.iter().map(HistoryUse::sentence).collect();
        endpoint.blocks.push(Block::Notes(sentences));
    }
    Document {
        title: format!("Live over {}", results.scenario),
        facts: vec![
            fact("seed", results.seed.to_string()),
            fact("scenario hash", results.scenario_hash.clone()),
            fact("took", format!("{:.3} s", results.took_s)),
            fact("dropped on the path", format!("{} packets", results.dropped_on_path_packets)),
            fact("version", results.version.to_owned()),
        ],
        sections: vec![
            transfers,
            endpoint,
            Section::new("How late the emulation was").with(Block::Text(lateness)),
        ],
        ..Document::default()
    }
}

fn transfer_table(results: &Results<'_>) -> Table {
    let moved = results.connections.iter().flat_map(|connection| &connection.transfers);
    // An attempt before the server listened has moved nothing.
    table!(moved.filter(|moved| moved.took_s.is_some() || moved.bytes > 0), |moved| [
        words("target") => &moved.target,
        words("direction") => &moved.direction,
        numbers("bytes", "") => moved.bytes,
        numbers("took", "s") => Cell::number(moved.took_s, 3),
        numbers("goodput", "Mbit/s") => Cell::number(moved.goodput_bit_s.map(|rate| rate / 1e6), 3),
    ])
}

fn connection_table(results: &Results<'_>) -> Table {
    table!(results.connections.iter(), |connection| [
        words("peer") => &connection.peer,
        words("closed") => connection.close_reason.as_deref().unwrap_or("still open"),
        numbers("sent", "segments") => connection.segments_sent,
        numbers("retrans", "segments") => connection.retransmitted_segments,
        numbers("timeouts", "") => connection.timeouts,
        numbers("ACKs", "") => connection.acks_sent,
        numbers("SRTT", "ms") => Cell::number(connection.srtt_ms, 2),
    ])
}
