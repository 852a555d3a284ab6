//! `ackord gateway status` and `stop`: a running gateway as tables, once or again and again, and as JSON; its end.

use crate::console::Console;
use crate::errors::Failure;
use crate::input::JsonTarget;
use crate::interrupt::Interrupt;
use ackord_gateway::watch::{
    self, ClassStatus, Compared, DelayStatus, Estimate, FlowStatus, QueueState, QueueStatus,
    Standing, Status,
};
use ackord_gateway::{Journal, SOCKET};
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::{data, to_terminal};
use ackord_units::Span;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Which gateway is asked.
#[derive(Args)]
pub(crate) struct Whom {
    /// The state directory of the gateway
    #[arg(long, value_name = "DIRECTORY", default_value = Journal::DIRECTORY)]
    state: PathBuf,
}

impl Whom {
    pub(crate) fn socket(&self) -> PathBuf {
        self.state.join(SOCKET)
    }
}

/// Tell how a running gateway stands: connections, remedies at work, what they bring, health
///
/// Treated connections stand beside those left alone, means with 95 % intervals. Health comes first, each
/// finding with what to do. With --watch the tables are drawn anew every second until Ctrl-C.
#[derive(Args)]
pub(crate) struct StatusArguments {
    /// JSON instead of tables: to standard output, or with --json=FILE to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "-", conflicts_with = "watch")]
    json: Option<JsonTarget>,
    /// Draw the tables anew every second
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    whom: Whom,
}

/// End a running gateway, and wait until it has undone what it did
///
/// Where none runs but one was ended by force, what it left behind is undone.
#[derive(Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    whom: Whom,
}

pub(crate) fn status(arguments: &StatusArguments, console: &Console) -> Result<(), Failure> {
    let asked = || watch::status(&arguments.whom.socket());
    if let Some(target) = &arguments.json {
        target.check()?;
        return target.write(&data::to_json(&asked()?), console);
    }
    let draw = |status: &Status| to_terminal(&document(status), console.screen());
    if !arguments.watch {
        return Ok(console.print(&draw(&asked()?))?);
    }
    let interrupt = Interrupt::listen()?;
    while interrupt.check().is_continue() {
        // To the upper left corner, and nothing below what is drawn.
        console.print(&format!("\u{1b}[H\u{1b}[2J{}", draw(&asked()?)))?;
        for _ in 0..10 {
            if interrupt.check().is_continue() {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
    Ok(())
}

pub(crate) fn stop(arguments: &StopArguments, console: &Console) -> Result<(), Failure> {
    match watch::stop(&arguments.whom.socket()) {
        Ok(()) => {
            console.remark("it has ended");
            Ok(())
        }
        Err(error @ watch::ControlError::NotRunning { .. }) => {
            let undone = Journal::clean_up(&arguments.whom.state).unwrap_or_default();
            for what in &undone.undone {
                console.remark(&format!("undone: {what}"));
            }
            if undone.undone.is_empty() { Err(error.into()) } else { Ok(()) }
        }
        Err(error) => Err(error.into()),
    }
}

fn document(status: &Status) -> Document {
    let mut facts = vec![
        ("version".to_owned(), status.version.clone()),
        ("process".to_owned(), status.pid.to_string()),
        ("up".to_owned(), whole_seconds(status.uptime_s)),
        ("heartbeat".to_owned(), format!("{:.0} ms ago", status.heartbeat_ms)),
        ("memory".to_owned(), format!("{:.1} MiB", status.resident_octets as f64 / 1_048_576.0)),
    ];
    if !status.config.is_empty() {
        facts.insert(2, ("configuration".to_owned(), status.config.clone()));
    }
    let sections = [
        health(status),
        connections(status),
        remedies(&status.classes),
        section("Queues", queues(&status.queues)),
        interfaces(status),
        section("Connections with most data", flows(&status.top_flows)),
    ];
    Document {
        title: "Gateway".to_owned(),
        purpose: String::new(),
        facts,
        sections: sections.into_iter().flatten().collect(),
    }
}

/// A table under a heading; nothing where it has no rows.
fn section(heading: &str, table: Table) -> Option<Section> {
    (!table.rows.is_empty()).then(|| Section::new(heading).with(Block::Table(table)))
}

fn health(status: &Status) -> Option<Section> {
    let notes: Vec<_> = status
        .health
        .iter()
        .map(|finding| match finding.advice.as_str() {
            "" => format!("{}: {}", finding.severity.name(), finding.what),
            advice => format!("{}: {}. {advice}", finding.severity.name(), finding.what),
        })
        .collect();
    let block = match notes.is_empty() {
        true => Block::Text("Nothing is amiss.".to_owned()),
        false => Block::Notes(notes),
    };
    Some(Section::new("Health").with(block))
}

fn connections(status: &Status) -> Option<Section> {
    let columns = [
        ("known", ""),
        ("treated", ""),
        ("left alone", ""),
        ("held now", ""),
        ("holds", ""),
        ("of them false", ""),
        ("injected", "segments"),
        ("refused", "segments"),
        ("dropped", "packets"),
        ("kept", "MB"),
        ("forgotten", ""),
    ];
    let counts = [
        status.flows,
        status.treated,
        status.control,
        status.held,
        status.holds,
        status.false_holds,
        status.injected_segments,
        status.refused_in_all(),
        status.dropped_by_gateway,
    ];
    let mut row: Vec<Cell> = counts.map(Cell::Count).into();
    row.push(Cell::about(status.cached_octets as f64 / 1e6));
    row.push(Cell::Count(status.forgotten_connections));
    let table = Table { caption: String::new(), columns: numbers(&columns), rows: vec![row] };
    let mut section = Section::new("Connections").with(Block::Table(table));
    if status.refused_in_all() > 0 {
        let mut columns = vec![Column::words("why segments were refused")];
        columns.push(Column::numbers("segments", ""));
        let rows = status.refused_injections.iter().filter(|(_, count)| **count > 0);
        let rows = rows.map(|(why, count)| vec![Cell::text(why), Cell::Count(*count)]).collect();
        section = section.with(Block::Table(Table { caption: String::new(), columns, rows }));
    }
    Some(section)
}

fn numbers(columns: &[(&str, &str)]) -> Vec<Column> {
    columns.iter().map(|(heading, unit)| Column::numbers(heading, unit)).collect()
}

/// Who is treated, and what that is worth; nothing without a rule.
fn remedies(classes: &[ClassStatus]) -> Option<Section> {
    let mut columns = vec![Column::words("rule"), Column::words("remedy")];
    columns.extend(numbers(&[("treated", ""), ("left alone", ""), ("injected", "segments")]));
    columns.push(Column::words("standing"));
    let rows = classes.iter().map(|class| {
        vec![
            Cell::text(&class.name),
            Cell::text(&class.remedy),
            Cell::Count(class.treated),
            Cell::Count(class.control),
            Cell::Count(class.injected_segments),
            Cell::text(match &class.standing {
                Standing::AtWork => "at work".to_owned(),
                Standing::StoodDown { why, .. } => format!("stood down: {why}"),
            }),
        ]
    });
    let who = Table { caption: String::new(), columns, rows: rows.collect() };
    let mut columns = vec![Column::words("rule")];
    columns.extend(numbers(&[
        ("goodput treated", "Mbit/s"),
        ("left alone", "Mbit/s"),
        ("gain", "Mbit/s"),
        ("stalled treated", "%"),
        ("left alone", "%"),
    ]));
    let rows = classes.iter().map(|class| {
        let Compared { treated, control, difference } = class.goodput_bit_s;
        let stalled = class.stalled_percent;
        vec![
            Cell::text(&class.name),
            estimate(treated, 1e6),
            estimate(control, 1e6),
            difference.map_or(Cell::Missing, |one| estimate(one, 1e6)),
            estimate(stalled.treated, 1.0),
            estimate(stalled.control, 1.0),
        ]
    });
    let caption = "while something was unacknowledged; treated beside those left alone".to_owned();
    let worth = Table { caption, columns, rows: rows.collect() };
    let section = Section::new("Remedies").with(Block::Table(who)).with(Block::Table(worth));
    (!classes.is_empty()).then_some(section)
}

fn estimate(Estimate { samples, mean, ci95 }: Estimate, unit: f64) -> Cell {
    match samples {
        0 => Cell::Missing,
        _ => Cell::Interval {
            mean: mean / unit,
            half_width: ci95.map(|half| half / unit),
            decimals: 2,
        },
    }
}

fn queues(queues: &[QueueStatus]) -> Table {
    let mut columns = vec![Column::words("interface"), Column::words("queue")];
    columns.extend(numbers(&[
        ("rate", "Mbit/s"),
        ("sent", "packets"),
        ("waiting", "packets"),
        ("dropped", "packets"),
        ("marked", "packets"),
        ("delay p50", "ms"),
        ("p99", "ms"),
    ]));
    columns.push(Column::words("state"));
    let row = |queue: &QueueStatus| {
        vec![
            Cell::text(&queue.interface),
            Cell::text(&queue.discipline),
            Cell::about(queue.rate_bit_s as f64 / 1e6),
            Cell::Count(queue.packets),
            Cell::Count(queue.queued_packets),
            Cell::Count(queue.drops.values().sum()),
            Cell::Count(queue.marked),
            delay(&queue.delay, |delay| delay.p50_us / 1e3),
            delay(&queue.delay, |delay| delay.p99_us / 1e3),
            Cell::text(match &queue.state {
                QueueState::Steering => "at work".to_owned(),
                QueueState::Forwarding { why } => format!("the kernel forwards past it: {why}"),
            }),
        ]
    };
    Table { caption: String::new(), columns, rows: queues.iter().map(row).collect() }
}

fn delay(delay: &DelayStatus, figure: impl Fn(&DelayStatus) -> f64) -> Cell {
    Cell::about((delay.count > 0).then(|| figure(delay)))
}

fn interfaces(status: &Status) -> Option<Section> {
    let mut columns = vec![Column::words("interface"), Column::words("side")];
    columns.extend(numbers(&[("observed", "packets"), ("lost", "packets")]));
    let rows = status.rings.iter().map(|ring| {
        let (seen, lost) = (Cell::Count(ring.packets - ring.lost.min(ring.packets)), ring.lost);
        vec![Cell::text(&ring.interface), Cell::text(&ring.side), seen, Cell::Count(lost)]
    });
    let rings = Table { caption: String::new(), columns, rows: rows.collect() };
    let mut columns = vec![Column::words("how late")];
    columns.extend(numbers(&[("times", ""), ("p50", "us"), ("p99", "us"), ("longest", "us")]));
    let late = [
        ("an injection after its cause", &status.injection_lateness),
        ("the loop", &status.loop_lateness),
    ];
    let rows = late.map(|(what, late)| {
        vec![
            Cell::text(what),
            Cell::Count(late.count),
            delay(late, |late| late.p50_us),
            delay(late, |late| late.p99_us),
            delay(late, |late| late.max_us),
        ]
    });
    let late = Table { caption: String::new(), columns, rows: rows.into() };
    Some(Section::new("Observing").with(Block::Table(rings)).with(Block::Table(late)))
}

fn flows(flows: &[FlowStatus]) -> Table {
    let mut columns: Vec<_> =
        ["mobile host", "fixed host", "rule", "group"].map(Column::words).into();
    columns.extend(numbers(&[
        ("down", "MB"),
        ("up", "MB"),
        ("injected", "segments"),
        ("kept", "kB"),
        ("quiet", "s"),
    ]));
    let row = |flow: &FlowStatus| {
        let held = if flow.held { ", held" } else { "" };
        vec![
            Cell::text(flow.mobile.to_string()),
            Cell::text(flow.fixed.to_string()),
            Cell::text(&flow.class),
            Cell::text(format!("{}{held}", flow.group.name())),
            Cell::about(flow.octets_to_mobile as f64 / 1e6),
            Cell::about(flow.octets_from_mobile as f64 / 1e6),
            Cell::Count(flow.injected_segments),
            Cell::about(flow.cached_octets as f64 / 1e3),
            Cell::number(flow.quiet_s, 1),
        ]
    };
    Table { caption: String::new(), columns, rows: flows.iter().map(row).collect() }
}

fn whole_seconds(seconds: f64) -> String {
    Span::from_secs(seconds as u64).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_gateway::watch::{Finding, Group, RingStatus, Severity};
    use ackord_report::Screen;

    fn shown(status: &Status) -> String {
        to_terminal(&document(status), Screen::NONE)
    }

    #[test]
    fn a_gateway_that_has_just_begun_is_told_without_empty_tables() {
        let text = shown(&Status { version: "1.2.3".to_owned(), ..Status::default() });
        assert!(text.starts_with("Gateway\nversion 1.2.3 ·"), "{text}");
        assert!(text.contains("Nothing is amiss.") && text.contains("Observing"), "{text}");
        assert!(!text.contains("Remedies") && !text.contains("Queues"), "{text}");
    }

    #[test]
    fn what_is_amiss_comes_first_and_what_stood_down_says_why() {
        let mean = |mean| Estimate { samples: 20, mean, ci95: Some(0.5e6) };
        let (treated, control) = (mean(2e6), mean(4e6));
        let difference = Some(mean(-2e6));
        let status = Status {
            health: vec![Finding {
                severity: Severity::Warning,
                what: "packets were lost".to_owned(),
                advice: "Give it a processor.".to_owned(),
            }],
            classes: vec![ClassStatus {
                name: "phones".to_owned(),
                remedy: "proxy-tcp".to_owned(),
                goodput_bit_s: Compared { treated, control, difference },
                standing: Standing::StoodDown { since_unix_s: 1.0, why: "it harms".to_owned() },
                ..ClassStatus::default()
            }],
            queues: vec![QueueStatus {
                interface: "wlan0".to_owned(),
                state: QueueState::Forwarding { why: "no heartbeat".to_owned() },
                ..QueueStatus::default()
            }],
            rings: vec![RingStatus {
                interface: "eth0".to_owned(),
                side: "wan".to_owned(),
                packets: 10,
                lost: 3,
                one_by_one: false,
            }],
            top_flows: vec![FlowStatus {
                mobile: "192.0.2.7:50000".parse().expect("one"),
                fixed: "198.51.100.1:443".parse().expect("one"),
                class: "phones".to_owned(),
                group: Group::Treated,
                octets_to_mobile: 1_500_000,
                octets_from_mobile: 0,
                injected_segments: 4,
                refused_injections: 0,
                cached_octets: 0,
                held: true,
                quiet_s: 2.0,
            }],
            ..Status::default()
        };
        let text = shown(&status);
        let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("- warning: packets were lost. Give it a processor."), "{text}");
        for part in
            ["2.00 ± 0.50", "4.00 ± 0.50", "-2.00 ± 0.50", "wlan0", "treated, held", "1.500"]
        {
            assert!(words.contains(part), "{part} in {text}");
        }
        assert!(words.contains("stood down: it harms"), "{text}");
        assert!(words.contains("eth0 wan 7 3"), "{text}");
    }
}
