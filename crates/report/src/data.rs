//! Results for other programs: JSON in a stable order, CSV with units in the headings.

use crate::document::{Cell, Column, Table};
use crate::files::OutputFile;
use ackord_measure::{FlowSummary, MediumUse, RunSummary, SeriesSet, SpreadSummary, Trace};
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
    let mut files = vec![
        OutputFile::new("flows.csv", flows_csv(run)),
        OutputFile::new("queues.csv", queues_csv(run)),
        OutputFile::new("links.csv", links_csv(run)),
    ];
    if run.flows.iter().any(|flow| flow.datagrams.is_some()) {
        files.push(OutputFile::new("datagrams.csv", datagrams_csv(run)));
    }
    if run.flows.iter().any(|flow| flow.transfers.is_some()) {
        files.push(OutputFile::new("transfers.csv", transfers_csv(run)));
    }
    files
}

fn datagrams_csv(run: &RunSummary) -> Vec<u8> {
    let mut sheet = Sheet::new(&[
        "flow",
        "mechanisms",
        "started_s",
        "goodput_bit_s",
        "bytes_delivered",
        "packets_sent",
        "packets_delivered",
        "packets_dropped",
        "delay_mean_ms",
        "delay_min_ms",
        "delay_p50_ms",
        "delay_p99_ms",
        "delay_max_ms",
    ]);
    for flow in &run.flows {
        let Some(datagrams) = &flow.datagrams else { continue };
        let delay =
            |pick: fn(&SpreadSummary) -> f64| maybe(datagrams.one_way_delay.as_ref().map(pick));
        sheet.row([
            flow.name.clone(),
            mechanisms(flow),
            flow.started_s.to_string(),
            flow.goodput_bit_s.to_string(),
            flow.bytes_delivered.to_string(),
            datagrams.sent.to_string(),
            datagrams.delivered.to_string(),
            flow.packets_dropped.to_string(),
            delay(|delay| delay.mean_ms),
            delay(|delay| delay.min_ms),
            delay(|delay| delay.p50_ms),
            delay(|delay| delay.p99_ms),
            delay(|delay| delay.max_ms),
        ]);
    }
    sheet.finish()
}

fn mechanisms(flow: &FlowSummary) -> String {
    let named: Vec<_> =
        flow.mechanisms.iter().map(|(family, name)| format!("{family}={name}")).collect();
    named.join(" ")
}

fn transfers_csv(run: &RunSummary) -> Vec<u8> {
    let mut sheet = Sheet::new(&["flow", "transfer", "bytes", "began_s", "took_s", "rate_bit_s"]);
    for flow in &run.flows {
        for each in flow.transfers.iter().flat_map(|transfers| &transfers.each) {
            sheet.row([
                flow.name.clone(),
                each.index.to_string(),
                each.bytes.to_string(),
                each.began_s.to_string(),
                each.took_s.to_string(),
                each.rate_bit_s().to_string(),
            ]);
        }
    }
    sheet.finish()
}

fn flows_csv(run: &RunSummary) -> Vec<u8> {
    let mut sheet = Sheet::new(&[
        "flow",
        "mechanisms",
        "started_s",
        "size_bytes",
        "bytes_delivered",
        "goodput_bit_s",
        "completion_s",
        "segments_sent",
        "retransmitted_segments",
        "timeouts",
        "fast_recoveries",
        "undone_reductions",
        "spurious_retransmissions",
        "packets_dropped",
        "acks_sent",
        "rtt_samples",
        "rtt_mean_ms",
        "rtt_min_ms",
        "rtt_p50_ms",
        "rtt_p99_ms",
        "rtt_max_ms",
        "cwnd_mean_bytes",
    ]);
    for flow in run.flows.iter().filter(|flow| flow.datagrams.is_none()) {
        let rtt = |pick: fn(&SpreadSummary) -> f64| maybe(flow.rtt.as_ref().map(pick));
        sheet.row([
            flow.name.clone(),
            mechanisms(flow),
            flow.started_s.to_string(),
            maybe(flow.size_bytes),
            flow.bytes_delivered.to_string(),
            flow.goodput_bit_s.to_string(),
            maybe(flow.completion_s),
            flow.segments_sent.to_string(),
            flow.retransmitted_segments.to_string(),
            flow.timeouts.to_string(),
            flow.fast_recoveries.to_string(),
            flow.undone_reductions.to_string(),
            flow.spurious_retransmissions.to_string(),
            flow.packets_dropped.to_string(),
            flow.acks_sent.to_string(),
            maybe(flow.rtt.map(|rtt| rtt.samples)),
            rtt(|rtt| rtt.mean_ms),
            rtt(|rtt| rtt.min_ms),
            rtt(|rtt| rtt.p50_ms),
            rtt(|rtt| rtt.p99_ms),
            rtt(|rtt| rtt.max_ms),
            maybe(flow.cwnd_mean_bytes),
        ]);
    }
    sheet.finish()
}

fn queues_csv(run: &RunSummary) -> Vec<u8> {
    let mut headings: Vec<String> = [
        "link",
        "queue",
        "enqueued_packets",
        "enqueued_bytes",
        "dequeued_packets",
        "queued_packets_at_end",
        "dropped_packets",
    ]
    .map(str::to_owned)
    .to_vec();
    let drops = ackord_measure::Drops::default();
    let occurs = |reason| run.queues.iter().any(|queue| queue.drops.lists(reason));
    let listed = |reason| drops.lists(reason) || occurs(reason);
    let reasons: Vec<_> =
        drops.iter().map(|(reason, _)| reason).filter(|reason| listed(*reason)).collect();
    let heading = |name: &str| format!("dropped_{}_packets", name.replace('-', "_"));
    headings.extend(reasons.iter().map(|reason| heading(reason.name())));
    headings.extend(
        [
            "mean_delay_ms",
            "p50_delay_ms",
            "p99_delay_ms",
            "max_delay_ms",
            "mean_length_packets",
            "max_length_packets",
            "mean_length_bytes",
            "max_length_bytes",
        ]
        .map(str::to_owned),
    );
    let headings: Vec<_> = headings.iter().map(String::as_str).collect();
    let mut sheet = Sheet::new(&headings);
    for queue in &run.queues {
        let mut cells = vec![
            queue.link.clone(),
            queue.queue.clone(),
            queue.enqueued_packets.to_string(),
            queue.enqueued_bytes.to_string(),
            queue.dequeued_packets.to_string(),
            queue.queued_packets_at_end.to_string(),
            queue.dropped_packets.to_string(),
        ];
        cells.extend(reasons.iter().map(|reason| queue.drops.of(*reason).to_string()));
        cells.extend([
            maybe(queue.mean_delay_ms),
            maybe(queue.p50_delay_ms),
            maybe(queue.p99_delay_ms),
            maybe(queue.max_delay_ms),
            queue.mean_length_packets.to_string(),
            queue.max_length_packets.to_string(),
            queue.mean_length_bytes.to_string(),
            queue.max_length_bytes.to_string(),
        ]);
        sheet.row(cells);
    }
    sheet.finish()
}

fn links_csv(run: &RunSummary) -> Vec<u8> {
    let mut sheet = Sheet::new(&[
        "link",
        "rate_bit_s",
        "utilisation",
        "bytes",
        "packets",
        "airtime_s",
        "transmissions",
        "frames",
        "damaged_transmissions",
        "collided_transmissions",
    ]);
    for link in &run.links {
        let used = |pick: fn(&MediumUse) -> u64| {
            link.medium.map_or_else(String::new, |used| pick(&used).to_string())
        };
        sheet.row([
            link.name.clone(),
            link.rate_bit_s.to_string(),
            maybe(link.utilisation),
            link.bytes.to_string(),
            link.packets.to_string(),
            maybe(link.medium.map(|used| used.airtime_s)),
            used(|used| used.transmissions),
            used(|used| used.frames),
            used(|used| used.damaged),
            used(|used| used.collided),
        ]);
    }
    sheet.finish()
}

/// One file per quantity below `series/`, a row per point: time, whose, value.
pub fn series_csv(series: &SeriesSet) -> Vec<OutputFile> {
    let flows = |file: &str, value: &str, pick: fn(&ackord_measure::FlowSeries) -> &Trace| {
        let traces = series.flows.iter().map(|flow| (flow.name.as_str(), pick(flow)));
        trace_file(file, ["flow", value], traces)
    };
    let links = |file: &str, value: &str, pick: fn(&ackord_measure::LinkSeries) -> &Trace| {
        let traces = series.links.iter().map(|link| (link.name.as_str(), pick(link)));
        trace_file(file, ["link", value], traces)
    };
    vec![
        flows("cwnd", "cwnd_bytes", |flow| &flow.cwnd),
        flows("ssthresh", "ssthresh_bytes", |flow| &flow.ssthresh),
        flows("rtt", "rtt_s", |flow| &flow.rtt),
        flows("sent", "sent_offset_bytes", |flow| &flow.sent),
        flows("retransmitted", "retransmitted_offset_bytes", |flow| &flow.retransmitted),
        flows("acked", "acked_offset_bytes", |flow| &flow.acked),
        flows("delivered", "delivered_offset_bytes", |flow| &flow.delivered),
        flows("goodput", "goodput_bit_s", |flow| &flow.throughput),
        links("queue-packets", "queue_packets", |link| &link.queue_packets),
        links("queue-bytes", "queue_bytes", |link| &link.queue_bytes),
        links("drops", "queue_packets_at_drop", |link| &link.drops),
        links("throughput", "throughput_bit_s", |link| &link.throughput),
    ]
}

/// A table as CSV, with all the digits that its cells have. A column of intervals becomes two: the
/// means, and the half widths under `± HEADING`.
pub fn table_csv(file: &str, table: &Table) -> OutputFile {
    let is_interval =
        |index: usize| table.rows.iter().any(|row| matches!(row[index], Cell::Interval { .. }));
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
    let headings: Vec<_> = headings.iter().map(String::as_str).collect();
    let mut sheet = Sheet::new(&headings);
    for row in &table.rows {
        let cells = row.iter().enumerate().flat_map(|(index, cell)| {
            let (value, half) = match cell {
                Cell::Number { value, .. } => (value.to_string(), None),
                Cell::Interval { mean, half_width, .. } => (mean.to_string(), *half_width),
                Cell::Missing => (String::new(), None),
                other => (other.show(), None),
            };
            std::iter::once(value).chain(is_interval(index).then(|| maybe(half)))
        });
        sheet.row(cells.collect::<Vec<_>>());
    }
    OutputFile::new(file, sheet.finish())
}

fn trace_file<'a>(
    file: &str,
    [whose, value]: [&str; 2],
    traces: impl Iterator<Item = (&'a str, &'a Trace)>,
) -> OutputFile {
    let mut sheet = Sheet::new(&["time_s", whose, value]);
    for (name, trace) in traces {
        for point in trace.points() {
            sheet.row([exact_seconds(point.at), name.to_owned(), point.value.to_string()]);
        }
    }
    OutputFile::new(format!("series/{file}.csv"), sheet.finish())
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
struct Sheet(csv::Writer<Vec<u8>>);

impl Sheet {
    fn new(headings: &[&str]) -> Sheet {
        let mut sheet = Sheet(csv::Writer::from_writer(Vec::new()));
        sheet.row(headings.iter().map(|heading| (*heading).to_owned()));
        sheet
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.write_record(cells).expect("every row has as many cells as there are headings");
    }

    fn finish(self) -> Vec<u8> {
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
