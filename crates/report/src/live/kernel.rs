//! What kernels say of themselves: connections, settings, counters, samples over time.

use super::{KernelConnection, KernelView, LiveDetails, LiveHost, LiveSetting, SettingWord};
use crate::document::{Block, Cell, Column, Section, Table};
use crate::files::OutputFile;
use crate::plot::{Mark, Plot, PlotSeries};
use crate::reports::table_with_rows;
use crate::table;
use std::fmt::Write;

pub(super) fn kernel_section(live: &LiveDetails) -> Section {
    let mut section = Section::new("Kernel");
    section.blocks.extend(table_with_rows(connection_table(&live.connections)));
    section.blocks.extend(table_with_rows(settings_table(&live.hosts)));
    section.blocks.extend(table_with_rows(counter_table(&live.hosts)));
    let all = all_counters(&live.hosts);
    if !all.is_empty() {
        let caption = "Every counter that is not zero, as nstat names them".to_owned();
        section.blocks.push(Block::Code { caption, text: all, open: false });
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
    let failed = connections.iter().filter_map(|connection| {
        let failed = connection.failed.as_ref()?;
        Some(format!("{} ({}): {failed}.", connection.flow, connection.end))
    });
    let mut caption = "What TCP_INFO said last of each end.".to_owned();
    for failed in failed {
        let _ = write!(caption, " {failed}");
    }
    table!(connections, |connection| {
        let last = connection.last.as_ref();
        [
            words("flow") => &connection.flow,
            words("end") => connection.end,
            words("host") => &connection.host,
            numbers("sent", "data segments") => last.map(|last| last.data_segments_out),
            numbers("retrans", "segments") => last.map(|last| last.retransmitted_segments),
            numbers("timeouts", "") => last.and_then(|last| last.timeouts),
            numbers("acknowledged", "B") => last.map(|last| last.bytes_acked),
            numbers("received", "B") => last.map(|last| last.bytes_received),
            numbers("SRTT", "ms") => Cell::number(last.map(|last| last.srtt_ms), 2),
            numbers("cwnd at the end", "B") => last.map(|last| last.cwnd_bytes),
        ]
    })
    .captioned(caption)
}

/// What kernels do other than as asked, each thing once whichever hosts it is true of.
pub(super) fn settings_table(hosts: &[LiveHost]) -> Table {
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
    let caption = format!(
        "What the scenario asks and a stock kernel does otherwise; {as_asked} settings are as asked."
    );
    table!(found, |([setting, asked, does], names)| [
        words("setting") => setting,
        words("asked") => asked,
        words("the kernel") => does,
        words("hosts") => match names.len() {
            count if count == kernels && kernels > 1 => "all".to_owned(),
            _ => names.join(", "),
        },
    ])
    .captioned(caption)
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
        plot.with(PlotSeries::new(&name, Mark::Steps, points).coloured(number))
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
