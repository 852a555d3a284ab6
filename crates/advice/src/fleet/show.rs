//! The sums of a fleet as tables, plots and JSON.

use super::files::short;
use super::folder::{FleetError, FleetFolder};
use super::summary::{FleetSummary, HostSum, Trouble, WorstConnection};
use ackord_diagnose::Cause;
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Range, Scale};
use ackord_report::{OutputFile, data, document_files, table};
use ackord_study::utc;
use ackord_units::Time;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows of a table.
const MOST_ROWS: usize = 20;
/// Causes that have a column or a row of tiles; others are added up.
const MOST_CAUSES: usize = 6;
/// Hours in the table; the plot has up to [`MOST_HOURS_DRAWN`].
const MOST_HOURS: usize = 24;
const MOST_HOURS_DRAWN: usize = 168;
const HOUR_NS: u64 = 3_600_000_000_000;

/// A fleet as a report.
#[derive(Clone, Debug)]
pub struct FleetReport {
    /// The report.
    pub document: Document,
    /// The same as JSON, ending with a line break.
    pub json: String,
}

/// Reads the data set in a folder, part by part, and reports what it adds up to. It may be being written.
///
/// # Errors
/// If there is no data set, it has no capture, or it cannot be read.
pub fn show_fleet(folder: &Path) -> Result<FleetReport, FleetError> {
    let set = FleetFolder::open(folder)?;
    let mut summary = FleetSummary::default();
    for part in set.parts() {
        summary.add(&set.rows(&part)?);
    }
    match summary.files {
        0 => Err(FleetError::Empty(folder.to_owned())),
        _ => Ok(fleet_report(&summary)),
    }
}

/// Builds the report of what was added up.
pub fn fleet_report(summary: &FleetSummary) -> FleetReport {
    let mut sections = Vec::new();
    if summary.connections > 0 {
        sections.extend([causes(summary), hosts(summary)]);
        sections.extend(hours(summary));
        sections.extend(worst(summary));
        sections.extend(remedies(summary));
    }
    sections.extend(troubles("Captures that could not be read", "why", &summary.unreadable));
    sections.extend(troubles("Captures that are damaged", "damage", &summary.damaged));
    let document = Document {
        title: format!("Diagnosis of {}", counted(summary.files, "capture")),
        purpose: purpose(summary),
        facts: facts(summary),
        sections,
    };
    FleetReport { document, json: json(summary) }
}

/// Every file of the report.
pub fn fleet_report_files(report: &FleetReport) -> Vec<OutputFile> {
    let mut files = document_files(&report.document);
    files.push(OutputFile::new("summary.json", report.json.clone()));
    files
}

/// `1 file`, `2 files`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn purpose(summary: &FleetSummary) -> String {
    let files = counted(summary.files, "capture");
    let FleetSummary { connections, duration_s, lost_s, .. } = summary;
    if *connections == 0 {
        return format!("{files} without a TCP connection.");
    }
    let hosts = counted(summary.hosts.len() as u64, "host");
    let mut text = format!(
        "{}, {duration_s:.1} s in all, in {files} of {hosts}; {lost_s:.1} s of them were lost.",
        counted(*connections, "connection"),
    );
    if let Some((name, host)) = summary.worst_hosts().first().filter(|(_, host)| host.lost_s > 0.0)
    {
        let by = host.worst().map(|cause| format!(", mostly by {}", title(cause)));
        text += &format!(" Most at {name}: {:.1} s{}.", host.lost_s, by.unwrap_or_default());
    }
    text
}

fn facts(summary: &FleetSummary) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("captures", summary.files.to_string()),
        fact("unreadable", summary.unreadable.len().to_string()),
    ];
    if let Some([first, last]) = summary.times {
        facts.push(fact("from", format!("{} UTC", time(first))));
        facts.push(fact("to", format!("{} UTC", time(last))));
    }
    facts
}

/// The cause's name in reports.
fn title(name: &str) -> &str {
    let known = Cause::ALL.into_iter().find(|cause| cause.name() == name);
    known.map_or(name, |cause| cause.title())
}

/// `2026-11-20 12:40:05`.
fn time(ns: u64) -> String {
    utc(Time::from_nanos(ns))
}

/// `2026-11-20 12:00`.
fn hour_name(hour: u64) -> String {
    let at = time(hour.saturating_mul(HOUR_NS));
    at.get(..16).unwrap_or(&at).to_owned()
}

fn causes(summary: &FleetSummary) -> Section {
    let causes = summary.greatest_causes();
    let all: f64 = causes.iter().map(|(_, sum)| sum.seconds).sum();
    let table = table!(causes.iter().take(10), |(cause, sum)| [
        words("cause") => title(cause),
        numbers("time", "s") => Cell::number(sum.seconds, 1),
        numbers("share", "%") => Cell::number(100.0 * sum.seconds / all.max(1e-9), 1),
        numbers("connections", "") => sum.connections,
        words("to be gained") => if sum.lost_s > 0.0 { "yes" } else { "" },
    ]);
    Section::new("Where the time went").with(Block::Table(table))
}

fn hosts(summary: &FleetSummary) -> Section {
    let hosts = summary.worst_hosts();
    let listed = || hosts.iter().take(MOST_ROWS);
    let share =
        |host: &HostSum| (host.duration_s > 0.0).then(|| 100.0 * host.lost_s / host.duration_s);
    let table = table!(listed(), |(name, host)| [
        words("host") => *name,
        numbers("files", "") => host.files,
        numbers("connections", "") => host.connections,
        numbers("duration", "s") => Cell::number(host.duration_s, 1),
        numbers("lost", "s") => Cell::number(host.lost_s, 1),
        numbers("share lost", "%") => Cell::number(share(host), 1),
        words("mostly by") => host.worst().map_or("nothing to gain", title),
    ]);
    let caption = match hosts.len().saturating_sub(MOST_ROWS) {
        0 => "Most time lost first.".to_owned(),
        hidden => format!("Most time lost first; {hidden} more are in the data set."),
    };
    let mut plot = Plot::new("hosts", "Time lost, by host", "host", "time lost (s)");
    plot.x.scale = Scale::Categories(listed().map(|(name, _)| (*name).to_owned()).collect());
    let bars = listed().enumerate().map(|(at, (_, host))| (at as f64, host.lost_s));
    let plot = plot.with(PlotSeries::new("lost", Mark::Bars, bars));
    Section::new("Hosts").with(Block::Table(table.captioned(caption))).with(Block::Plot(plot))
}

/// Seconds lost by hour and cause, of the causes that cost most.
fn hours(summary: &FleetSummary) -> Option<Section> {
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for (cause, lost_s) in summary.hours.values().flatten() {
        *totals.entry(cause).or_default() += lost_s;
    }
    let mut causes: Vec<(&str, f64)> = totals.into_iter().collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let causes: Vec<&str> = causes.into_iter().take(MOST_CAUSES).map(|(cause, _)| cause).collect();
    if causes.is_empty() {
        return None;
    }
    let listed = worst_hours(summary, MOST_HOURS);
    let all = |hour: &u64| summary.hours[hour].values().sum::<f64>();
    let lost = |hour: &u64, cause: &str| summary.hours[hour].get(cause).copied().unwrap_or(0.0);
    let row = |hour: &u64| {
        let cells = causes.iter().map(|cause| Cell::number(lost(hour, cause), 1));
        [Cell::text(hour_name(*hour)), Cell::number(all(hour), 1)]
            .into_iter()
            .chain(cells)
            .collect()
    };
    let mut columns = vec![Column::words("hour (UTC)"), Column::numbers("lost", "s")];
    columns.extend(causes.iter().map(|cause| Column::numbers(title(cause), "s")));
    let caption = match summary.hours.len().saturating_sub(listed.len()) {
        0 => "Time lost by connections that began in an hour.".to_owned(),
        hidden => format!(
            "Time lost by connections that began in an hour; {hidden} hours that lost less are in the data set."
        ),
    };
    let table = Table { caption, columns, rows: listed.iter().map(row).collect() };
    let drawn = worst_hours(summary, MOST_HOURS_DRAWN);
    let mut plot = Plot::new("hours", "Time lost by hour and cause (s)", "hour (UTC)", "cause");
    plot.x.scale = Scale::Categories(drawn.iter().map(|hour| hour_name(*hour)).collect());
    // The greatest cause at the top.
    plot.y.scale =
        Scale::Categories(causes.iter().rev().map(|cause| title(cause).to_owned()).collect());
    plot.y.range = Range::Data;
    let tiles = drawn.iter().enumerate().flat_map(|(x, hour)| {
        let rows = causes.iter().rev().enumerate();
        rows.map(move |(y, cause)| ((x, y), lost(hour, cause)))
    });
    let plot = plot.with(PlotSeries::tiles(tiles));
    Some(Section::new("Hours").with(Block::Table(table)).with(Block::Plot(plot)))
}

/// The hours that lost most time, at most `most`, in their order.
fn worst_hours(summary: &FleetSummary, most: usize) -> Vec<u64> {
    let mut hours: Vec<(u64, f64)> =
        summary.hours.iter().map(|(hour, causes)| (*hour, causes.values().sum())).collect();
    hours.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    hours.truncate(most);
    let mut hours: Vec<u64> = hours.into_iter().map(|(hour, _)| hour).collect();
    hours.sort_unstable();
    hours
}

fn worst(summary: &FleetSummary) -> Option<Section> {
    let first = summary.worst.first()?;
    let predicted = !summary.remedies.is_empty();
    let mut table = table!(&summary.worst, |one| [
        words("file") => short(&one.file),
        numbers("", "") => one.connection,
        words("client") => &one.client,
        words("server") => &one.server,
        numbers("lost", "s") => Cell::number(one.lost_s, 2),
        words("mostly by") => one.mostly_by.as_deref().map_or("", title),
    ]);
    if predicted {
        table.columns.extend([Column::words("remedy"), Column::numbers("gain", "%")]);
        for (row, one) in table.rows.iter_mut().zip(&summary.worst) {
            row.push(one.remedy.as_ref().map_or(Cell::Missing, Cell::from));
            row.push(Cell::number(one.gain_percent, 1));
        }
    }
    let caption = match summary.connections as usize - summary.worst.len() {
        0 => "Most time lost first.".to_owned(),
        hidden => format!("Most time lost first; {hidden} more are in the data set."),
    };
    let line = format!("ackord diagnose {} --connection {}", quoted(&first.file), first.connection);
    let command = Block::Command { caption: "The worst one in detail".to_owned(), line };
    let table = Block::Table(table.captioned(caption));
    Some(Section::new("Worst connections").with(table).with(command))
}

/// A path as a word of a shell.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@=".contains(c);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

fn remedies(summary: &FleetSummary) -> Option<Section> {
    let mut remedies: Vec<_> = summary.remedies.iter().collect();
    remedies.sort_by(|a, b| b.1.saved_s.total_cmp(&a.1.saved_s).then(a.0.cmp(b.0)));
    let table = table!(&remedies, |(remedy, sum)| [
        words("remedy") => *remedy,
        numbers("connections", "") => sum.connections,
        numbers("saved", "s") => Cell::number(sum.saved_s, 1),
    ]);
    let caption = "Connections for which it is the best remedy, and the time that it is predicted to save them.";
    let section = Section::new("What would help");
    (!remedies.is_empty()).then(|| section.with(Block::Table(table.captioned(caption))))
}

fn troubles(heading: &str, column: &str, troubles: &[Trouble]) -> Option<Section> {
    if troubles.is_empty() {
        return None;
    }
    let table = table!(troubles.iter().take(MOST_ROWS), |trouble| [
        words("file") => short(&trouble.file),
        words(column) => &trouble.why,
    ]);
    let caption = match troubles.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        hidden => format!("{hidden} more are in the table `files`."),
    };
    Some(Section::new(heading).with(Block::Table(table.captioned(caption))))
}

#[derive(Serialize)]
struct Json<'a> {
    files: u64,
    unreadable: &'a [Trouble],
    damaged: &'a [Trouble],
    connections: u64,
    duration_s: f64,
    lost_s: f64,
    began_ns: Option<[u64; 2]>,
    causes: Vec<JsonCause<'a>>,
    hosts: Vec<JsonHost<'a>>,
    hours: Vec<JsonHour<'a>>,
    worst: &'a [WorstConnection],
    remedies: Vec<JsonRemedy<'a>>,
}

#[derive(Serialize)]
struct JsonCause<'a> {
    cause: &'a str,
    seconds: f64,
    lost_s: f64,
    connections: u64,
}

#[derive(Serialize)]
struct JsonHost<'a> {
    host: &'a str,
    files: u64,
    connections: u64,
    duration_s: f64,
    lost_s: f64,
    /// Seconds lost by cause.
    causes: &'a BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct JsonHour<'a> {
    /// Its beginning, nanoseconds since 1970.
    hour_ns: u64,
    /// Seconds lost by cause.
    causes: &'a BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct JsonRemedy<'a> {
    remedy: &'a str,
    connections: u64,
    saved_s: f64,
}

fn json(summary: &FleetSummary) -> String {
    let causes = summary.greatest_causes().into_iter();
    let hosts = summary.worst_hosts().into_iter();
    data::to_json(&Json {
        files: summary.files,
        unreadable: &summary.unreadable,
        damaged: &summary.damaged,
        connections: summary.connections,
        duration_s: summary.duration_s,
        lost_s: summary.lost_s,
        began_ns: summary.times,
        causes: causes
            .map(|(cause, sum)| JsonCause {
                cause,
                seconds: sum.seconds,
                lost_s: sum.lost_s,
                connections: sum.connections,
            })
            .collect(),
        hosts: hosts
            .map(|(host, sum)| JsonHost {
                host,
                files: sum.files,
                connections: sum.connections,
                duration_s: sum.duration_s,
                lost_s: sum.lost_s,
                causes: &sum.causes,
            })
            .collect(),
        hours: summary
            .hours
            .iter()
            .map(|(hour, causes)| JsonHour { hour_ns: hour.saturating_mul(HOUR_NS), causes })
            .collect(),
        worst: &summary.worst,
        remedies: summary
            .remedies
            .iter()
            .map(|(remedy, sum)| JsonRemedy {
                remedy,
                connections: sum.connections,
                saved_s: sum.saved_s,
            })
            .collect(),
    })
}
