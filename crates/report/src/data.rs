//! Results for other programs: JSON in a stable order, CSV with units in the headings.

use crate::data_set::{QUANTITIES, Quantity};
use crate::document::{Cell, Column, Table};
use crate::files::OutputFile;
use ackord_measure::{
    Drops, FLOW_METRICS, FlowSummary, LINK_METRICS, Metric, QUEUE_METRICS, QueueSummary,
    RunSummary, SeriesSet, Sheet, TRANSFER_METRICS, Trace, on_sheet,
};
use ackord_units::Time;
use serde::Serialize;

/// A value as JSON, indented, its keys in the order of their definition, ending with a line break.
///
/// # Panics
/// If the value cannot be JSON (a map with keys that are no strings), which is a bug of its type.
pub fn to_json<T: Serialize>(value: &T) -> String {
    let mut json = serde_json::to_string_pretty(value).expect("results are plain data");
    json.push('\n');
    json
}

/// `flows.csv` (of connections), `queues.csv` and `links.csv`; `transfers.csv` where flows have
/// transfers, `datagrams.csv` where flows are no connections.
pub fn summary_csv(run: &RunSummary) -> Vec<OutputFile> {
    let words = |flow: &FlowSummary| vec![flow.name.clone(), mechanisms(flow)];
    let flows = |sheet, datagrams: bool| {
        let flows = run.flows.iter().filter(move |flow| flow.datagrams.is_some() == datagrams);
        let rows = flows.map(|flow| (words(flow), flow));
        metrics_csv(&["flow", "mechanisms"], FLOW_METRICS, sheet, rows)
    };
    let links = run.links.iter().map(|link| (vec![link.name.clone()], link));
    let mut files = vec![
        OutputFile::new("flows.csv", flows(Sheet::FlowsCsv, false)),
        OutputFile::new("queues.csv", queues_csv(run)),
        OutputFile::new("links.csv", metrics_csv(&["link"], LINK_METRICS, Sheet::LinksCsv, links)),
    ];
    if run.flows.iter().any(|flow| flow.datagrams.is_some()) {
        files.push(OutputFile::new("datagrams.csv", flows(Sheet::DatagramsCsv, true)));
    }
    if run.flows.iter().any(|flow| flow.transfers.is_some()) {
        let rows = run.flows.iter().flat_map(|flow| {
            let each = flow.transfers.iter().flat_map(|transfers| &transfers.each);
            each.map(|transfer| (vec![flow.name.clone()], transfer))
        });
        let transfers = metrics_csv(&["flow"], TRANSFER_METRICS, Sheet::TransfersCsv, rows);
        files.push(OutputFile::new("transfers.csv", transfers));
    }
    files
}

fn mechanisms(flow: &FlowSummary) -> String {
    let named: Vec<_> =
        flow.mechanisms.iter().map(|(family, name)| format!("{family}={name}")).collect();
    named.join(" ")
}

/// A row per subject: its words, then its metrics.
fn metrics_csv<'a, T: 'static>(
    words: &[&str],
    metrics: &'static [Metric<T>],
    sheet: Sheet,
    rows: impl Iterator<Item = (Vec<String>, &'a T)>,
) -> Vec<u8> {
    let placed = on_sheet(metrics, sheet);
    let headings = words.iter().copied().chain(placed.iter().map(|(_, heading)| *heading));
    let mut csv = Csv::new(headings);
    for (words, subject) in rows {
        let values = placed.iter().map(|(metric, _)| maybe((metric.of)(subject)));
        csv.row(words.into_iter().chain(values));
    }
    csv.finish()
}

/// Behind the sum of the drops those for each reason.
fn queues_csv(run: &RunSummary) -> Vec<u8> {
    let drops = Drops::default();
    let occurs = |reason| run.queues.iter().any(|queue| queue.drops.lists(reason));
    let listed = |reason| drops.lists(reason) || occurs(reason);
    let reasons: Vec<_> =
        drops.iter().map(|(reason, _)| reason).filter(|reason| listed(*reason)).collect();
    let placed = on_sheet(QUEUE_METRICS, Sheet::QueuesCsv);
    let sum = placed.iter().position(|(metric, _)| metric.key == "dropped_packets");
    let (before, after) = placed.split_at(sum.map_or(placed.len(), |at| at + 1));
    let heading = |name: &str| format!("dropped_{}_packets", name.replace('-', "_"));
    let by_reason: Vec<_> = reasons.iter().map(|reason| heading(reason.name())).collect();
    let mut headings = vec!["link", "queue"];
    headings.extend(before.iter().map(|(_, heading)| *heading));
    headings.extend(by_reason.iter().map(String::as_str));
    headings.extend(after.iter().map(|(_, heading)| *heading));
    let mut csv = Csv::new(headings);
    for queue in &run.queues {
        let values = |placed: &[(&Metric<QueueSummary>, _)]| {
            placed.iter().map(|(metric, _)| maybe((metric.of)(queue))).collect::<Vec<_>>()
        };
        let mut cells = vec![queue.link.clone(), queue.queue.clone()];
        cells.extend(values(before));
        cells.extend(reasons.iter().map(|reason| queue.drops.of(*reason).to_string()));
        cells.extend(values(after));
        csv.row(cells);
    }
    csv.finish()
}

/// One file per quantity below `series/`, a row per point: time, whose, value.
pub fn series_csv(series: &SeriesSet) -> Vec<OutputFile> {
    let file = |quantity: &Quantity| {
        let headings = ["time_s", quantity.whose(), quantity.value];
        trace_file(quantity.name, headings, quantity.traces(series))
    };
    QUANTITIES.iter().map(file).collect()
}

/// A table as CSV, with all the digits that its cells have. A column of intervals becomes two: the
/// means, and the half widths by Student's t under `± HEADING`.
pub fn table_csv(file: &str, table: &Table) -> OutputFile {
    let is_interval = |index: usize| {
        table
            .rows
            .iter()
            .any(|row| matches!(row[index], Cell::Interval { .. } | Cell::Amount { .. }))
    };
    let name = |column: &Column| match column.unit.as_str() {
        "" => column.heading.clone(),
        unit => format!("{} ({unit})", column.heading),
    };
    let headings: Vec<String> = table
        .columns
        .iter()
        .enumerate()
        .flat_map(|(index, column)| {
            let half = is_interval(index).then(|| format!("± {}", name(column)));
            std::iter::once(name(column)).chain(half)
        })
        .collect();
    let mut csv = Csv::new(headings.iter().map(String::as_str));
    for row in &table.rows {
        let cells = row.iter().enumerate().flat_map(|(index, cell)| {
            let (value, half) = match cell {
                Cell::Number { value, .. } => (value.to_string(), None),
                Cell::Interval { mean, half_width, .. } | Cell::Amount { mean, half_width, .. } => {
                    (mean.to_string(), *half_width)
                }
                Cell::Missing => (String::new(), None),
                other => (other.show(), None),
            };
            std::iter::once(value).chain(is_interval(index).then(|| maybe(half)))
        });
        csv.row(cells.collect::<Vec<_>>());
    }
    OutputFile::new(file, csv.finish())
}

fn trace_file(file: &str, headings: [&str; 3], traces: Vec<(&str, &Trace)>) -> OutputFile {
    let mut csv = Csv::new(headings);
    for (name, trace) in traces {
        for point in trace.points() {
            csv.row([exact_seconds(point.at), name.to_owned(), point.value.to_string()]);
        }
    }
    OutputFile::new(format!("series/{file}.csv"), csv.finish())
}

/// Seconds to the nanosecond, as integers make them.
fn exact_seconds(at: Time) -> String {
    let nanos = at.as_nanos();
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// A value as text, an empty cell where there is none.
fn maybe<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A CSV file in memory (RFC 4180, with LF).
pub(crate) struct Csv(csv::Writer<Vec<u8>>);

impl Csv {
    pub(crate) fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Csv {
        let mut csv = Csv(csv::Writer::from_writer(Vec::new()));
        csv.row(headings);
        csv
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        self.0.write_record(cells).expect("every row has as many cells as there are headings");
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.into_inner().expect("memory takes every byte")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_csv_with_every_digit_and_a_column_for_half_widths() {
        let interval = |mean, half_width| Cell::Interval { mean, half_width, decimals: 1 };
        let table = Table {
            caption: String::new(),
            columns: vec![Column::words("link"), Column::numbers("fairness", "%")],
            rows: vec![
                vec![Cell::text("2 Mbit/s, 2 ms"), interval(88.125, Some(0.5))],
                vec![Cell::text("5 Mbit/s"), Cell::Missing],
            ],
        };
        let csv = String::from_utf8(table_csv("t.csv", &table).bytes).expect("UTF-8");
        let expected =
            "link,fairness (%),± fairness (%)\n\"2 Mbit/s, 2 ms\",88.125,0.5\n5 Mbit/s,,\n";
        assert_eq!(csv, expected);
    }
}
