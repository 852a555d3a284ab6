//! What a report of a live run says beyond that of a simulated one: whether it may be believed, how
//! late the driver was, and what the kernel says of itself.

use crate::document::{Block, Cell, Column, Document, Section, Shown, Table};
use crate::files::OutputFile;
use crate::plot::{Dash, Mark, Plot, PlotSeries, Scale};
use crate::reports::{Context, run_document, table_with_rows};
use ackord_measure::{RunSummary, SeriesSet};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a live run says beside its summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveDetails {
    /// Whether delays and rates may be believed.
    pub trust: TrustWord,
    /// How late the driver was.
    pub real_time: RealTime,
    /// The hosts, in the scenario's order.
    pub hosts: Vec<LiveHost>,
    /// The kernel's connections, in the order of their flows.
    pub connections: Vec<KernelConnection>,
    /// The programs that ran in place of workloads, in the order of their flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<LiveCommand>,
}

/// Whether a live run may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustWord {
    /// The driver kept up.
    WithinBudget,
    /// More than 1 % of the packets were handed over later than the budget allows.
    Untrustworthy,
}

/// How late packets were handed to their hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealTime {
    /// How long the run took, seconds.
    pub took_s: f64,
    /// How the driver was scheduled: `real-time` or `ordinary`.
    pub scheduling: &'static str,
    /// Packets handed over.
    pub packets: u64,
    /// Half of them were at most this late, microseconds.
    pub p50_us: f64,
    /// All but 1 % were at most this late.
    pub p99_us: f64,
    /// The latest.
    pub max_us: f64,
    /// What `p99_us` may be.
    pub budget_us: f64,
    /// How many were how late, in order, each up to `up_to_us` and later than the one before.
    pub histogram: Vec<LatenessBucket>,
    /// What happened to packets at the hosts' devices.
    pub device: DeviceCounts,
}

/// Packets that were about as late as each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatenessBucket {
    /// At most this late, microseconds.
    pub up_to_us: f64,
    /// How many.
    pub packets: u64,
}

/// What happened to packets where they enter and leave hosts. All counts are packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceCounts {
    /// Came from kernels and were put on the path.
    pub entered: u64,
    /// Handed to kernels.
    pub delivered: u64,
    /// Came, but were for nobody in the scenario.
    pub ignored: u64,
    /// Came, but were malformed.
    pub malformed: u64,
    /// Were not taken by the kernel they were for.
    pub refused: u64,
    /// Came while more were under way than can be kept.
    pub too_many: u64,
    /// Of those handed over: made anew from their headers, because our own endpoint or a middle box
    /// had made or changed them.
    pub made: u64,
    /// Not handed over, for a middle box had made them of data that was no longer kept.
    pub without_bytes: u64,
}

/// A host of a live run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveHost {
    /// Its name.
    pub name: String,
    /// What it was: `kernel` or `ours`.
    pub place: &'static str,
    /// What the scenario asks of its endpoints and what its kernel made of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<LiveSetting>,
    /// What its kernel counted, by the names of nstat; without what is zero.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, i64>,
}

/// A setting that was asked of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveSetting {
    /// Whose, where it is not the whole host's: flow and end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The scenario's key.
    pub setting: String,
    /// What the scenario asks for.
    pub asked: String,
    /// What came of it.
    pub outcome: SettingWord,
    /// How it was set, why nothing had to be, or what the kernel does instead.
    pub detail: String,
}

/// What came of asking a kernel for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingWord {
    /// It was set.
    Set,
    /// The kernel does it anyway.
    Already,
    /// The kernel does something else.
    Instead,
}

/// One end of a connection that a kernel had.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelConnection {
    /// The flow.
    pub flow: String,
    /// Which end: `client` or `server`.
    pub end: &'static str,
    /// Its host.
    pub host: String,
    /// Whether it sends the workload.
    #[serde(skip)]
    pub sends: bool,
    /// What failed, if anything: the call, and what the kernel said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What TCP_INFO said last; nothing if the connection never stood.
    pub last: Option<KernelView>,
    /// What it said in the course of the run.
    #[serde(skip)]
    pub samples: Vec<KernelView>,
}

/// What a kernel says of a connection (TCP_INFO) at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KernelView {
    /// When, seconds.
    pub at_s: f64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; null while there is none.
    pub ssthresh_bytes: Option<u64>,
    /// Smoothed round-trip time, milliseconds.
    pub srtt_ms: f64,
    /// Shortest round-trip time; null before the first.
    pub min_rtt_ms: Option<f64>,
    /// Retransmission timeout, milliseconds.
    pub rto_ms: f64,
    /// Rate of the latest delivery sample.
    pub delivery_rate_bit_s: f64,
    /// Octets acknowledged by the peer.
    pub bytes_acked: u64,
    /// Octets received in order.
    pub bytes_received: u64,
    /// Segments with data sent, again ones among them.
    pub data_segments_out: u64,
    /// Segments sent again.
    pub retransmitted_segments: u64,
    /// Timeouts; null where the kernel does not count them (before 6.7).
    pub timeouts: Option<u64>,
    /// Segments the peer reported as received twice.
    pub reported_duplicates: u64,
}

/// A program that ran in place of a flow's workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LiveCommand {
    /// The flow.
    pub flow: String,
    /// At which end: `client` or `server`.
    pub end: &'static str,
    /// The host it ran on.
    pub host: String,
    /// Its name and arguments.
    pub command: String,
    /// How it ended: `exited with 0`, `ended with the run`.
    pub outcome: String,
    /// The same for programs.
    #[serde(flatten)]
    pub ending: ProgramEnding,
    /// The files of the report with what it wrote, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
}

/// How a program ended; in JSON `exit_code`, null where it did not exit by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnding {
    /// With this exit code.
    Exited(i32),
    /// By a signal.
    BySignal,
    /// It was still there at the end of the run, and died with its host.
    WithTheRun,
}

impl Serialize for ProgramEnding {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let code = match self {
            ProgramEnding::Exited(code) => Some(*code),
            ProgramEnding::BySignal | ProgramEnding::WithTheRun => None,
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("exit_code", &code)?;
        map.end()
    }
}

/// The report of a live run: that of a simulated one, with what is said here.
pub fn live_document(
    run: &RunSummary,
    series: Option<&SeriesSet>,
    live: &LiveDetails,
    context: &Context,
) -> Document {
    let mut document = run_document(run, series, context);
    for (name, value) in &mut document.facts {
        if name == "simulated" {
            "ran in real time for".clone_into(name);
            *value = format!("{:.3} s", run.duration_s);
        }
    }
    let trust = match live.trust {
        TrustWord::WithinBudget => "lateness within budget",
        TrustWord::Untrustworthy => "UNTRUSTWORTHY: lateness over budget",
    };
    document.facts.push(("trust".to_owned(), trust.to_owned()));
    // Before what is there for looking things up.
    let at = document.sections.iter().position(|section| section.heading == "Mechanisms");
    let at = at.unwrap_or(document.sections.len());
    let programs = programs_section(&live.commands);
    let new = programs.into_iter().chain([kernel_section(live), real_time_section(live)]);
    document.sections.splice(at..at, new);
    if live.trust == TrustWord::Untrustworthy {
        mark(&mut document, &live.real_time);
    }
    document
}

/// Says everywhere that the run is not to be believed.
fn mark(document: &mut Document, late: &RealTime) {
    let warning = format!(
        "UNTRUSTWORTHY: 99 % of the packets were handed over up to {:.0} us late, and the budget is \
         {:.0} us. Delays, rates and what follows from them are those of a busy machine, not of the \
         scenario's path. Run it again on an idle machine, at lower rates, with \
         `--realtime-priority`, or with a larger `--lateness-budget` if that much is of no account.",
        late.p99_us, late.budget_us
    );
    document.title.push_str(" (UNTRUSTWORTHY)");
    document.sections.insert(0, Section::new("Untrustworthy").with(Block::Text(warning)));
    for section in &mut document.sections {
        for block in &mut section.blocks {
            if let Block::Plot(plot) = block {
                plot.title.push_str(" – UNTRUSTWORTHY");
            }
        }
    }
}

fn programs_section(commands: &[LiveCommand]) -> Option<Section> {
    let columns = vec![
        Column::words("flow"),
        Column::words("end"),
        Column::words("host"),
        Column::words("command"),
        Column::words("outcome"),
    ];
    let rows = commands.iter().map(|command| {
        let LiveCommand { flow, end, host, command, outcome, .. } = command;
        [flow, *end, host, command, outcome].map(Cell::text).to_vec()
    });
    let table = Table { caption: String::new(), columns, rows: rows.collect() };
    let mut section = Section::new("Programs");
    section.blocks.extend(table_with_rows(table));
    let unseen = "Timeouts, recoveries and windows of a program's connections do not show on the wire; \
                  what the kernels counted of them stands below.";
    section.blocks.push(Block::Text(unseen.to_owned()));
    let outputs: Vec<_> = commands.iter().flat_map(|command| &command.outputs).collect();
    if !outputs.is_empty() {
        let list: Vec<_> = outputs.iter().map(|output| format!("`{output}`")).collect();
        section.blocks.push(Block::Text(format!("What they wrote: {}.", list.join(", "))));
    }
    (!commands.is_empty()).then_some(section)
}

fn kernel_section(live: &LiveDetails) -> Section {
    let mut section = Section::new("Kernel");
    section.blocks.extend(table_with_rows(connection_table(&live.connections)));
    section.blocks.extend(table_with_rows(settings_table(&live.hosts)));
    section.blocks.extend(table_with_rows(counter_table(&live.hosts)));
    let all = all_counters(&live.hosts);
    if !all.is_empty() {
        let caption = "Every counter that is not zero, as nstat names them".to_owned();
        section.blocks.push(Block::Code { caption, text: all, shown: Shown::Folded });
    }
    let sampled: Vec<_> = live.connections.iter().filter(|it| it.samples.len() > 1).collect();
    if !sampled.is_empty() {
        section.blocks.push(Block::Plot(srtt_plot(&sampled)));
        let sending: Vec<_> = sampled.into_iter().filter(|it| it.sends).collect();
        if !sending.is_empty() {
            section.blocks.push(Block::Plot(delivery_plot(&sending)));
        }
    }
    if section.blocks.is_empty() {
        section.blocks.push(Block::Text("No host had a kernel of its own.".to_owned()));
    }
    section
}

fn connection_table(connections: &[KernelConnection]) -> Table {
    let columns = vec![
        Column::words("flow"),
        Column::words("end"),
        Column::words("host"),
        Column::numbers("sent", "data segments"),
        Column::numbers("again", "segments"),
        Column::numbers("timeouts", ""),
        Column::numbers("acknowledged", "B"),
        Column::numbers("received", "B"),
        Column::numbers("SRTT", "ms"),
        Column::numbers("cwnd at the end", "B"),
    ];
    let row = |connection: &KernelConnection| {
        let words = [&connection.flow, connection.end, &connection.host].map(Cell::text);
        let count = |pick: fn(&KernelView) -> Option<u64>| {
            connection.last.as_ref().and_then(pick).map_or(Cell::Missing, Cell::Count)
        };
        let numbers = [
            count(|last| Some(last.data_segments_out)),
            count(|last| Some(last.retransmitted_segments)),
            count(|last| last.timeouts),
            count(|last| Some(last.bytes_acked)),
            count(|last| Some(last.bytes_received)),
            Cell::number(connection.last.map(|last| last.srtt_ms), 2),
            count(|last| Some(last.cwnd_bytes)),
        ];
        words.into_iter().chain(numbers).collect()
    };
    let failed = connections.iter().filter_map(|connection| {
        let failed = connection.failed.as_ref()?;
        Some(format!("{} ({}): {failed}.", connection.flow, connection.end))
    });
    let mut caption = "What TCP_INFO said last of each end.".to_owned();
    for failed in failed {
        let _ = write!(caption, " {failed}");
    }
    Table { caption, columns, rows: connections.iter().map(row).collect() }
}

/// What kernels do other than as asked, each thing once whichever hosts it is true of.
fn settings_table(hosts: &[LiveHost]) -> Table {
    let columns = vec![
        Column::words("setting"),
        Column::words("asked"),
        Column::words("the kernel"),
        Column::words("hosts"),
    ];
    let mut found: Vec<([&str; 3], Vec<&str>)> = Vec::new();
    let mut as_asked = 0;
    for host in hosts {
        for LiveSetting { setting, asked, outcome, detail, .. } in &host.settings {
            if *outcome != SettingWord::Instead {
                as_asked += 1;
                continue;
            }
            let what = [setting.as_str(), asked, detail];
            match found.iter_mut().find(|(other, _)| *other == what) {
                Some((_, names)) if names.contains(&host.name.as_str()) => {}
                Some((_, names)) => names.push(&host.name),
                None => found.push((what, vec![&host.name])),
            }
        }
    }
    let kernels = hosts.iter().filter(|host| !host.settings.is_empty()).count();
    let row = |(what, names): ([&str; 3], Vec<&str>)| {
        let names = match names.len() {
            count if count == kernels && kernels > 1 => "all".to_owned(),
            _ => names.join(", "),
        };
        what.into_iter().map(Cell::text).chain([Cell::Text(names)]).collect()
    };
    let rows: Vec<Vec<Cell>> = found.into_iter().map(row).collect();
    let caption = format!(
        "What the scenario asks and a stock kernel does otherwise; {as_asked} settings are as asked."
    );
    Table { caption, columns, rows }
}

/// The counters that say most about TCP, where any host has them.
const TELLING: &[&str] = &[
    "TcpOutSegs",
    "TcpRetransSegs",
    "TcpExtTCPTimeouts",
    "TcpExtTCPSackRecovery",
    "TcpExtTCPLossProbes",
    "TcpExtTCPLostRetransmit",
    "TcpExtTCPSpuriousRtxHostQueues",
    "TcpExtTCPDSACKRecv",
    "TcpExtTCPDSACKUndo",
    "TcpExtTCPFullUndo",
    "TcpExtTCPSpuriousRTOs",
    "TcpExtTCPSACKReorder",
    "TcpExtTCPOFOQueue",
    "TcpExtDelayedACKs",
    "TcpExtTCPPureAcks",
    "TcpExtTCPRcvCollapsed",
    "TcpExtPAWSEstab",
    "TcpInErrs",
    "TcpOutRsts",
];

fn counter_table(hosts: &[LiveHost]) -> Table {
    let kernels: Vec<_> = hosts.iter().filter(|host| !host.counters.is_empty()).collect();
    let mut columns = vec![Column::words("counter")];
    columns.extend(kernels.iter().map(|host| Column::numbers(&host.name, "")));
    let row = |name: &&&str| {
        let value = |host: &&LiveHost| host.counters.get(**name).copied().unwrap_or(0);
        let cell = |host| Cell::number(value(host) as f64, 0);
        let cells = kernels.iter().map(cell);
        std::iter::once(Cell::text(**name)).chain(cells).collect()
    };
    let there = |name: &&&str| kernels.iter().any(|host| host.counters.contains_key(**name));
    let rows = TELLING.iter().filter(there).map(|name| row(&name)).collect();
    Table { caption: "What the kernels counted.".to_owned(), columns, rows }
}

fn all_counters(hosts: &[LiveHost]) -> String {
    let mut text = String::new();
    for host in hosts {
        for (name, value) in &host.counters {
            let _ = writeln!(text, "{:<20} {name:<32} {value:>12}", host.name);
        }
    }
    text
}

/// Most curves that can be told apart.
const MOST_CURVES: usize = 7;

fn curves(plot: Plot, connections: &[&KernelConnection], value: fn(&KernelView) -> f64) -> Plot {
    connections.iter().take(MOST_CURVES).enumerate().fold(plot, |plot, (number, connection)| {
        let name = format!("{} ({})", connection.flow, connection.end);
        let points = connection.samples.iter().map(|sample| (sample.at_s, value(sample)));
        let series = PlotSeries::new(&name, Mark::Steps, points).coloured(number);
        plot.with(PlotSeries { dash: Dash::Solid, ..series })
    })
}

fn srtt_plot(connections: &[&KernelConnection]) -> Plot {
    let plot = Plot::new("kernel-srtt", "The kernel's SRTT", "time (s)", "SRTT (ms)");
    curves(plot, connections, |sample| sample.srtt_ms)
}

fn delivery_plot(connections: &[&KernelConnection]) -> Plot {
    let title = "The kernel's delivery rate";
    let plot = Plot::new("kernel-delivery-rate", title, "time (s)", "delivery rate (Mbit/s)");
    curves(plot, connections, |sample| sample.delivery_rate_bit_s / 1e6)
}

fn real_time_section(live: &LiveDetails) -> Section {
    let late = &live.real_time;
    let columns = vec![
        Column::numbers("handed over", "packets"),
        Column::numbers("late, p50", "us"),
        Column::numbers("p99", "us"),
        Column::numbers("max", "us"),
        Column::numbers("budget of p99", "us"),
        Column::words("trust"),
        Column::words("driver"),
    ];
    let trust = match live.trust {
        TrustWord::WithinBudget => "within budget",
        TrustWord::Untrustworthy => "UNTRUSTWORTHY",
    };
    let row = vec![
        Cell::Count(late.packets),
        Cell::number(late.p50_us, 1),
        Cell::number(late.p99_us, 1),
        Cell::number(late.max_us, 1),
        Cell::number(late.budget_us, 0),
        Cell::text(trust),
        Cell::text(late.scheduling),
    ];
    let caption = "How much later than planned packets were handed to kernels.".to_owned();
    let mut section = Section::new("Real time")
        .with(Block::Table(Table { caption, columns, rows: vec![row] }))
        .with(Block::Table(device_table(&late.device)));
    if !late.histogram.is_empty() {
        section.blocks.push(Block::Plot(lateness_plot(late)));
    }
    section
}

fn device_table(device: &DeviceCounts) -> Table {
    let all = [
        ("entered", device.entered),
        ("delivered", device.delivered),
        ("made anew", device.made),
        ("for nobody", device.ignored),
        ("malformed", device.malformed),
        ("refused by the kernel", device.refused),
        ("too many under way", device.too_many),
        ("without data", device.without_bytes),
    ];
    // The first two always; the others where there is something to tell.
    let told: Vec<_> = all
        .into_iter()
        .enumerate()
        .filter(|(index, (_, count))| *index < 2 || *count > 0)
        .collect();
    Table {
        caption: "Packets at the kernels' devices.".to_owned(),
        columns: told.iter().map(|(_, (name, _))| Column::numbers(name, "")).collect(),
        rows: vec![told.iter().map(|(_, (_, count))| Cell::Count(*count)).collect()],
    }
}

/// The share of packets in each class of lateness.
fn lateness_plot(late: &RealTime) -> Plot {
    let total = late.packets.max(1) as f64;
    let title = format!(
        "Lateness of packets (p50 {:.0} us, p99 {:.0} us, max {:.0} us)",
        late.p50_us, late.p99_us, late.max_us
    );
    let mut plot = Plot::new("lateness", &title, "late by at most (us)", "packets (%)");
    let classes = late.histogram.iter().map(|bucket| format!("{}", bucket.up_to_us));
    plot.x.scale = Scale::Categories(classes.collect());
    let share = |bucket: &LatenessBucket| bucket.packets as f64 / total * 100.0;
    let points = late.histogram.iter().enumerate().map(|(at, bucket)| (at as f64, share(bucket)));
    plot.with(PlotSeries::new("packets", Mark::Bars, points))
}

/// The kernel's views in the course of the run, a row each; nothing where there are none.
pub fn tcp_info_csv(live: &LiveDetails) -> Option<OutputFile> {
    let mut text = "time_s,flow,end,cwnd_bytes,ssthresh_bytes,srtt_ms,rto_ms,\
                    delivery_rate_bit_s,bytes_acked,retransmitted_segments\n"
        .to_owned();
    let before = text.len();
    for connection in &live.connections {
        for view in &connection.samples {
            let ssthresh = view.ssthresh_bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
            let _ = writeln!(
                text,
                "{:.9},{},{},{},{ssthresh},{},{},{},{},{}",
                view.at_s,
                connection.flow,
                connection.end,
                view.cwnd_bytes,
                view.srtt_ms,
                view.rto_ms,
                view.delivery_rate_bit_s,
                view.bytes_acked,
                view.retransmitted_segments
            );
        }
    }
    (text.len() > before).then(|| OutputFile::new("series/tcp-info.csv", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::to_html;
    use ackord_measure::{RunIdentity, RunLabels, Summary};

    fn setting(asked: &str, outcome: SettingWord) -> LiveSetting {
        let (setting, detail) = ("nagle".to_owned(), "Minshall's variant".to_owned());
        LiveSetting { of: None, setting, asked: asked.to_owned(), outcome, detail }
    }

    fn host(name: &str, settings: Vec<LiveSetting>) -> LiveHost {
        let counters = BTreeMap::from([("TcpOutSegs".to_owned(), 7)]);
        LiveHost { name: name.to_owned(), place: "kernel", settings, counters }
    }

    fn details(trust: TrustWord) -> LiveDetails {
        let instead = || setting("on", SettingWord::Instead);
        let real_time = RealTime {
            took_s: 1.0,
            scheduling: "ordinary",
            packets: 10,
            p50_us: 20.0,
            p99_us: 3_000.0,
            max_us: 4_000.0,
            budget_us: 1_000.0,
            histogram: vec![
                LatenessBucket { up_to_us: 20.0, packets: 9 },
                LatenessBucket { up_to_us: 5_000.0, packets: 1 },
            ],
            device: DeviceCounts { entered: 11, delivered: 10, ..DeviceCounts::default() },
        };
        let hosts = vec![
            host("a", vec![instead(), setting("off", SettingWord::Set)]),
            host("b", vec![instead(), instead(), setting("x", SettingWord::Instead)]),
        ];
        LiveDetails { trust, real_time, hosts, connections: Vec::new(), commands: Vec::new() }
    }

    fn document(trust: TrustWord) -> Document {
        let labels = RunLabels::default();
        let identity =
            RunIdentity { scenario_hash: "h".to_owned(), seed: 1, version: "0".to_owned() };
        let run = Summary::new(&labels).finish(identity, ackord_units::Time::ZERO);
        live_document(&run, None, &details(trust), &Context::default())
    }

    #[test]
    fn what_kernels_do_alike_is_told_once() {
        let live = details(TrustWord::WithinBudget);
        let rows: Vec<Vec<String>> = settings_table(&live.hosts)
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::show).collect())
            .collect();
        let variant = "Minshall's variant";
        assert_eq!(rows, [["nagle", "on", variant, "all"], ["nagle", "x", variant, "b"]]);
    }

    #[test]
    fn a_run_over_budget_says_so_first_and_on_every_plot() {
        let fine = document(TrustWord::WithinBudget);
        assert!(!to_html(&fine).contains("UNTRUSTWORTHY"));
        let late = document(TrustWord::Untrustworthy);
        assert_eq!(late.sections[0].heading, "Untrustworthy");
        assert!(late.title.contains("UNTRUSTWORTHY"));
        assert!(late.plots().count() > 0);
        assert!(late.plots().all(|plot| plot.title.contains("UNTRUSTWORTHY")));
        // The shares of the classes of lateness are those of the packets.
        let plot = late.plots().find(|plot| plot.id == "lateness").expect("it is drawn");
        let shares: Vec<f64> = plot.series[0].points.iter().map(|point| point.y).collect();
        assert_eq!(shares, [90.0, 10.0]);
    }
}
