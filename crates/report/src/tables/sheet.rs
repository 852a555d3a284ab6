//! Any sheet of metrics as a table.

use crate::document::{Cell, Column, Table, decimals_for};
use ackord_measure::stats::Estimate;
use ackord_measure::{Metric, Sheet, Unit, Value, on_sheet};

/// A row per subject: its words, then its metrics.
pub(super) fn table<'a, T: 'static>(
    words: &[&str],
    metrics: &'static [Metric<T>],
    sheet: Sheet,
    rows: impl Iterator<Item = (Vec<Cell>, &'a T)>,
    caption: String,
) -> Table {
    let words = words.iter().map(|word| Column::words(word));
    let row = |(words, subject): (Vec<Cell>, &T)| {
        words.into_iter().chain(cells(metrics, sheet, subject)).collect()
    };
    Table {
        caption,
        columns: words.chain(columns(metrics, sheet)).collect(),
        rows: rows.map(row).collect(),
    }
}

/// A column per metric.
pub(super) fn columns<T>(
    metrics: &'static [Metric<T>],
    sheet: Sheet,
) -> impl Iterator<Item = Column> {
    let column = |(metric, heading): (&Metric<T>, &str)| Column::numbers(heading, metric.unit.name);
    on_sheet(metrics, sheet).into_iter().map(column)
}

/// The metrics of a subject.
pub(super) fn cells<T>(
    metrics: &'static [Metric<T>],
    sheet: Sheet,
    subject: &T,
) -> impl Iterator<Item = Cell> {
    let of = |(metric, _): (&Metric<T>, _)| cell((metric.of)(subject), metric.unit);
    on_sheet(metrics, sheet).into_iter().map(of)
}

/// Their estimates over runs.
pub(super) fn intervals<T>(
    metrics: &'static [Metric<T>],
    sheet: Sheet,
    of: impl Fn(&str) -> Option<Estimate>,
) -> impl Iterator<Item = Cell> {
    let cell = move |(metric, _): (&Metric<T>, _)| interval(of(metric.key), metric.unit);
    on_sheet(metrics, sheet).into_iter().map(cell)
}

fn cell(value: Option<Value>, unit: Unit) -> Cell {
    let in_units = value.map(|value| value.get() / unit.size);
    match (value, unit.decimals) {
        (Some(Value::Count(count)), None) if unit.size <= 1.0 => Cell::Count(count),
        (_, Some(decimals)) => Cell::number(in_units, decimals),
        (_, None) => Cell::about(in_units),
    }
}

fn interval(estimate: Option<Estimate>, unit: Unit) -> Cell {
    match estimate {
        None => Cell::Missing,
        Some(Estimate { mean, ci95, .. }) => Cell::Amount {
            mean: mean / unit.size,
            half_width: ci95.map(|half| half / unit.size),
            decimals: decimals_for(mean / unit.size),
        },
    }
}
