//! What the gain `a` of Eq. 1 does to the ATO on the phone's path. It starts from the paper's 0.4 ms
//! here: from 200 ms a small `a` would still be on its way down when the first segments are gone.

use super::sample::{Outcomes, Sample, over};
use super::setup::{File, Plan, Runs, set};
use super::simulation::interval;
use ackord_measure::SpreadSummary;
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale, Shape};
use ackord_scenario::Errors;
use ackord_study::KeepSeries;
use ackord_units::Span;
use serde::Serialize;

const GAINS: [&str; 7] = ["0.02", "0.05", "0.1", "0.2", "0.5", "0.9", "1.0"];
/// The paper's own, and one that it warns of.
pub(super) const SMALL: &str = "0.1";
pub(super) const LARGE: &str = "0.9";

#[derive(Debug)]
pub(super) struct AtoPlan(Vec<(&'static str, u32, Runs)>);

/// A gain on the phone's path with so many other stations.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) a: &'static str,
    pub(super) stations: u32,
    pub(super) samples: Vec<Sample>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct RowData {
    a: &'static str,
    stations: u32,
    runs: u32,
    ato_min_ms: f64,
    ato_p50_ms: f64,
    ato_p99_ms: f64,
    ato_max_ms: f64,
    goodput_mbit_s: f64,
}

pub(super) fn plan(plan: &mut Plan, runs: u32, length: Span) -> Result<AtoPlan, Errors> {
    let mut rows = Vec::new();
    for (stations, a) in [0, 2].into_iter().flat_map(|stations| GAINS.map(|a| (stations, a))) {
        let ack =
            format!(r#"{{ kind = "adaptive", mode = "paper", a = {a}, initial_ato = "0.4 ms" }}"#);
        let changes = [
            set("flows.*.receiver_tcp.ack", ack),
            set("links.air.medium.stations", stations.to_string()),
            set("duration", length.to_string()),
        ];
        rows.push((a, stations, plan.runs(File::Phone, &changes, runs, KeepSeries::No)?));
    }
    Ok(AtoPlan(rows))
}

pub(super) fn read(plan: &AtoPlan, outcomes: &Outcomes) -> Vec<Row> {
    let row = |(a, stations, runs): &(&'static str, u32, Runs)| Row {
        a,
        stations: *stations,
        samples: outcomes.samples(runs),
    };
    plan.0.iter().map(row).collect()
}

/// The row of a gain.
pub(super) fn find<'a>(rows: &'a [Row], a: &str, stations: u32) -> &'a Row {
    let found = rows.iter().find(|row| row.a == a && row.stations == stations);
    found.expect("every gain is run on both paths")
}

impl Row {
    /// Mean over the runs of something about the ATO's values, in milliseconds.
    pub(super) fn ato(&self, pick: fn(&SpreadSummary) -> f64) -> Estimate {
        over(&self.samples, |sample| sample.ato.as_ref().map_or(f64::NAN, pick))
    }

    pub(super) fn data(&self) -> RowData {
        let max = self.ato(|ato| ato.max_ms);
        RowData {
            a: self.a,
            stations: self.stations,
            runs: max.runs,
            ato_min_ms: self.ato(|ato| ato.min_ms).mean,
            ato_p50_ms: self.ato(|ato| ato.p50_ms).mean,
            ato_p99_ms: self.ato(|ato| ato.p99_ms).mean,
            ato_max_ms: max.mean,
            goodput_mbit_s: over(&self.samples, |sample| sample.goodput_mbit_s).mean,
        }
    }
}

pub(super) fn table(rows: &[Row]) -> Table {
    let columns = vec![
        Column::words("path"),
        Column::numbers("a", ""),
        Column::numbers("smallest", "ms"),
        Column::numbers("median", "ms"),
        Column::numbers("99 %", "ms"),
        Column::numbers("largest", "ms"),
        Column::numbers("goodput", "Mbit/s"),
    ];
    let cells = |row: &Row| {
        let path = if row.stations == 0 { "Wi-Fi" } else { "busy Wi-Fi" };
        vec![
            Cell::text(path),
            Cell::text(row.a),
            interval(&row.ato(|ato| ato.min_ms), 3),
            interval(&row.ato(|ato| ato.p50_ms), 3),
            interval(&row.ato(|ato| ato.p99_ms), 2),
            interval(&row.ato(|ato| ato.max_ms), 1),
            interval(&over(&row.samples, |sample| sample.goodput_mbit_s), 2),
        ]
    };
    let caption = "The ATO as published, after each data segment, from 0.4 ms on; a = 1 shows the gaps themselves";
    Table { caption: caption.to_owned(), columns, rows: rows.iter().map(cells).collect() }
}

pub(super) fn plot(rows: &[Row]) -> Plot {
    let mut plot = Plot::new("ato-by-a", "The ATO by its gain, on Wi-Fi", "a", "ATO (ms)");
    plot.y.scale = Scale::Log;
    plot.x.scale = Scale::Log;
    type Pick = fn(&SpreadSummary) -> f64;
    let quantiles: [(&str, Pick); 4] = [
        ("largest", |ato| ato.max_ms),
        ("99 %", |ato| ato.p99_ms),
        ("median", |ato| ato.p50_ms),
        ("smallest", |ato| ato.min_ms),
    ];
    for (name, pick) in quantiles {
        let points = rows
            .iter()
            .filter(|row| row.stations == 0)
            .map(|row| (row.a.parse().expect("gains are numbers"), row.ato(pick).mean));
        let series =
            PlotSeries::new(name, Mark::LinePoints(Shape::Disc), points.collect::<Vec<_>>());
        plot = plot.with(series);
    }
    plot
}
