//! Histories as reports: all of them in a table, or one with its histogram.

use super::date::utc;
use crate::reports::Report;
use ackord_history::{Advice, Bucket, Histogram, History, Segments};
use ackord_report::data;
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale};
use ackord_units::{Bytes, Time};
use serde::Serialize;

/// When and for what histories are looked at.
#[derive(Clone, Copy, Debug)]
pub struct HistoryContext<'a> {
    /// Where the store is, for the reader.
    pub store: &'a str,
    /// The present.
    pub now: Time,
    /// What the count of quick ACKs is worked out with.
    pub segments: Segments,
}

#[derive(Serialize)]
struct Shown<'a> {
    store: &'a str,
    at: String,
    segment_bytes: u64,
    quick_ack_limit_segments: u64,
    applications: Vec<Entry<'a>>,
}

/// An application for programs. Decayed counts are as of `at`.
#[derive(Serialize)]
struct Entry<'a> {
    application: &'a str,
    transfers: u64,
    bytes: u64,
    decayed_transfers: f64,
    transfers_per_hour: f64,
    first_seen: Option<String>,
    last_seen: Option<String>,
    mean_duration_s: Option<f64>,
    most_frequent_bytes: Option<u64>,
    quick_ack_segments: Option<u64>,
    nagle: &'static str,
    verdict: &'static str,
    reason: String,
    histogram: Vec<SizeClass>,
}

#[derive(Serialize)]
struct SizeClass {
    from_bytes: u64,
    /// The first size above the class.
    to_bytes: u64,
    decayed_transfers: f64,
    decayed_bytes: f64,
}

impl<'a> Entry<'a> {
    fn of(application: &'a str, history: &History, context: &HistoryContext<'_>) -> Entry<'a> {
        let HistoryContext { now, segments, .. } = *context;
        let Advice { verdict, most_sent, quick_ack_segments, nagle, reason } =
            history.advice(now, segments);
        let histogram = history.histogram();
        let decayed = histogram.weight(now);
        // Age fades every class alike.
        let since = decayed / histogram.weight(Time::ZERO);
        let class = |(bucket, class): (Bucket, ackord_history::Class)| SizeClass {
            from_bytes: bucket.smallest().get(),
            to_bytes: bucket.end().get(),
            decayed_transfers: class.weight * since,
            decayed_bytes: class.bytes * since,
        };
        let seen = history.seen();
        Entry {
            application,
            transfers: history.transfers(),
            bytes: history.total().get(),
            decayed_transfers: decayed,
            transfers_per_hour: history.per_hour(now),
            first_seen: seen.map(|(first, _)| utc(first)),
            last_seen: seen.map(|(_, last)| utc(last)),
            mean_duration_s: history.mean_duration().map(|span| span.as_secs_f64()),
            most_frequent_bytes: most_sent.map(Bytes::get),
            quick_ack_segments,
            nagle: nagle.name(),
            verdict: verdict.name(),
            reason,
            histogram: histogram.classes().map(class).collect(),
        }
    }
}

/// Every application in a table.
pub fn history_list(histories: &[(String, History)], context: &HistoryContext<'_>) -> Report {
    let entries: Vec<_> =
        histories.iter().map(|(name, history)| Entry::of(name, history, context)).collect();
    let columns = vec![
        Column::words("application"),
        Column::numbers("transfers", ""),
        Column::numbers("frequency", "per hour"),
        Column::numbers("most frequent", "bytes"),
        Column::numbers("quick ACKs", "segments"),
        Column::words("Nagle"),
        Column::words("verdict"),
    ];
    let rows = entries.iter().map(|entry| {
        vec![
            Cell::text(entry.application),
            Cell::Count(entry.transfers),
            Cell::about(entry.transfers_per_hour),
            entry.most_frequent_bytes.map_or(Cell::Missing, Cell::Count),
            entry.quick_ack_segments.map_or(Cell::Missing, Cell::Count),
            Cell::text(entry.nagle),
            Cell::text(entry.verdict),
        ]
    });
    let table = Table { caption: String::new(), columns, rows: rows.collect() };
    let applications = Section::new("Applications");
    let sections = if table.rows.is_empty() {
        let nothing = "Nothing is recorded: `ackord history import --help` says how to.".to_owned();
        vec![applications.with(Block::Text(nothing))]
    } else {
        // Sentences in a column would leave the numbers no room on a terminal.
        let reason = |entry: &Entry<'_>| format!("{}: {}.", entry.application, entry.reason);
        let reasons = entries.iter().map(reason).collect();
        vec![
            applications.with(Block::Table(table)),
            Section::new("Why").with(Block::Notes(reasons)),
        ]
    };
    let document = Document {
        title: "History of applications".to_owned(),
        facts: facts(context),
        sections,
        ..Document::default()
    };
    report(document, entries, context)
}

/// One application, with its histogram as bars and as a plot.
pub fn history_of(application: &str, history: &History, context: &HistoryContext<'_>) -> Report {
    let entry = Entry::of(application, history, context);
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let duration = entry.mean_duration_s.map(|secs| format!("{:.3} ms", secs * 1e3));
    let mut about = vec![
        ("transfers", format!("{} of {} B in all", entry.transfers, entry.bytes)),
        ("decayed", format!("{:.1} transfers", entry.decayed_transfers)),
        ("frequency", format!("{:.3} per hour", entry.transfers_per_hour)),
        ("last seen", or_dash(entry.last_seen.clone())),
        ("mean duration", or_dash(duration)),
    ];
    about.retain(|(_, value)| value != "–");
    let mut facts = facts(context);
    facts.extend(about.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let sections = vec![
        Section::new("What follows").with(Block::Notes(conclusions(&entry))),
        Section::new("Sizes")
            .with(Block::Table(bars(&entry)))
            .with(Block::Plot(plot(application, &entry))),
    ];
    let title = format!("History of {application}");
    let document = Document { title, facts, sections, ..Document::default() };
    report(document, vec![entry], context)
}

fn conclusions(entry: &Entry<'_>) -> Vec<String> {
    let mut notes = vec![format!("Verdict {}: {}.", entry.verdict, entry.reason)];
    if let Some(size) = entry.most_frequent_bytes {
        notes.push(format!("Most frequent size: {size} B."));
    }
    notes.push(match entry.quick_ack_segments {
        Some(count) => format!("{count} segments are acknowledged at once."),
        None => "Segments are acknowledged as without a history.".to_owned(),
    });
    notes.push(match entry.nagle {
        "stock" => "Nagle's algorithm is as without a history.".to_owned(),
        "on" => "Nagle's algorithm is on: bulk gains nothing without it.".to_owned(),
        _ => "Nagle's algorithm is off: short transfers do not wait for ACKs.".to_owned(),
    });
    notes
}

fn facts(context: &HistoryContext<'_>) -> Vec<(String, String)> {
    let HistoryContext { store, now, segments } = context;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    vec![
        fact("store", (*store).to_owned()),
        fact("as of", format!("{} UTC", utc(*now))),
        fact("segment", segments.size.to_string()),
    ]
}

fn report(document: Document, entries: Vec<Entry<'_>>, context: &HistoryContext<'_>) -> Report {
    let shown = Shown {
        store: context.store,
        at: utc(context.now),
        segment_bytes: context.segments.size.get(),
        quick_ack_limit_segments: context.segments.quick_ack_limit,
        applications: entries,
    };
    Report { document, json: data::to_json(&shown) }
}

/// The longest bar, in characters.
const LONGEST: f64 = 30.0;

/// The histogram as bars that terminals show too; classes that count next to nothing are left out.
fn bars(entry: &Entry<'_>) -> Table {
    let most = entry.histogram.iter().map(|class| class.decayed_transfers).fold(0.0, f64::max);
    let columns = vec![
        Column::numbers("from", "bytes"),
        Column::numbers("below", "bytes"),
        Column::numbers("decayed", "transfers"),
        Column::words("share of the most common"),
    ];
    let shown = entry.histogram.iter().filter(|class| class.decayed_transfers >= most / 1_000.0);
    let rows = shown.map(|class| {
        vec![
            Cell::Count(class.from_bytes),
            Cell::Count(class.to_bytes),
            Cell::number(class.decayed_transfers, 2),
            Cell::text(bar(class.decayed_transfers / most)),
        ]
    });
    let half_life = Histogram::HALF_AGE.as_secs_f64() / 86_400.0;
    let caption = format!(
        "A transfer counts half after {:.0} more and half after {half_life:.0} days.",
        Histogram::HALF_COUNT
    );
    Table { caption, columns, rows: rows.collect() }
}

/// A bar in eighths of a character.
fn bar(share: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = ((share * LONGEST * 8.0).round() as usize).max(1);
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

fn plot(application: &str, entry: &Entry<'_>) -> Plot {
    let mut steps = Vec::new();
    for (number, class) in entry.histogram.iter().enumerate() {
        steps.push((class.from_bytes as f64, class.decayed_transfers));
        let next = entry.histogram.get(number + 1);
        if next.is_none_or(|next| next.from_bytes > class.to_bytes) {
            steps.push((class.to_bytes as f64, 0.0));
        }
    }
    let title = format!("Sizes of the transfers of {application}");
    let mut plot = Plot::new("sizes", &title, "size (bytes)", "decayed transfers");
    plot.x.scale = Scale::Log;
    plot.with(PlotSeries::new("transfers", Mark::Steps, steps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_history::Transfer;
    use ackord_report::{Screen, to_terminal};

    const NOW: Time = Time::from_nanos(1_700_000_000_000_000_000);

    fn shown(sizes: &[u64]) -> Report {
        let mut history = History::default();
        for size in sizes {
            history.record(Transfer { size: Bytes(*size), ended_at: NOW, took: None });
        }
        let segments = Segments { size: Bytes(536), quick_ack_limit: 512 };
        history_of("web", &history, &HistoryContext { store: "x", now: NOW, segments })
    }

    #[test]
    fn the_tallest_bar_is_that_of_the_most_common_size() {
        let report = shown(&[2_048, 2_048, 2_048, 2_048, 2_048, 90_000]);
        let text = to_terminal(&report.document, Screen::NONE);
        assert!(text.contains(&"█".repeat(30)) && !text.contains(&"█".repeat(31)), "{text}");
        assert!(text.contains("8 segments are acknowledged at once"), "{text}");
        assert!(report.json.contains("\"quick_ack_segments\": 8"), "{}", report.json);
        let svg = report.document.plots().next().expect("a plot").to_svg();
        assert!(svg.contains("decayed transfers"));
    }

    #[test]
    fn an_application_of_which_nothing_is_known_is_shown_as_such() {
        let report = shown(&[]);
        let text = to_terminal(&report.document, Screen::NONE);
        assert!(text.contains("no transfer was recorded: stock behaviour"), "{text}");
        assert!(report.json.contains("\"verdict\": \"unknown\""), "{}", report.json);
        assert!(!report.json.contains("NaN"));
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(
            (bar(1.0).chars().count(), bar(0.5), bar(0.0)),
            (30, "█".repeat(15), "▏".into())
        );
    }
}
