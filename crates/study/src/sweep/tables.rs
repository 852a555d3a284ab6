//! The records of a sweep as tables: which run a row is of, then its numbers.

use super::folder::{State, SweepError, cannot};
use super::metrics::{TABLES, TableOf};
use super::plan::{Plan, RunAt};
use super::record::{Number, Part};
use super::study::place_of;
use ackord_measure::SeriesSet;
use ackord_report::data_set::{Column, QUANTITIES, series_columns, to_csv};
use std::fs;
use std::path::Path;

/// In which form tables are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Formats {
    /// A Parquet data set, where this program was built with it.
    pub parquet: bool,
    /// A CSV file per table.
    pub csv: bool,
}

impl Formats {
    /// Whether this program was built with Parquet.
    pub const HAS_PARQUET: bool = cfg!(feature = "parquet");

    /// Writes a table to `FOLDER/PART.parquet`, and to `FOLDER.csv`, or beside the other where it is one
    /// of many.
    fn write(
        self,
        folder: &Path,
        part: &str,
        columns: Vec<Column>,
        csv: &Path,
    ) -> Result<(), SweepError> {
        if self.csv {
            let parent = csv.parent().unwrap_or(Path::new(""));
            fs::create_dir_all(parent).map_err(cannot("create the folder", parent))?;
            let partial = csv.with_extension("partial");
            fs::write(&partial, to_csv(&columns)).map_err(cannot("write", &partial))?;
            fs::rename(&partial, csv).map_err(cannot("write", csv))?;
        }
        #[cfg(feature = "parquet")]
        if self.parquet {
            fs::create_dir_all(folder).map_err(cannot("create the folder", folder))?;
            let file = folder.join(format!("{part}.parquet"));
            ackord_report::data_set::write_parquet(&file, columns)
                .map_err(cannot("write", &file))?;
        }
        #[cfg(not(feature = "parquet"))]
        let _ = (folder, part);
        Ok(())
    }
}

/// A row of some table.
struct Row<'a> {
    run: RunAt,
    part: Option<&'a Part>,
    state: &'a State,
}

/// Writes every table of these runs; one without a row is left out.
pub(super) fn write_tables(
    folder: &Path,
    plan: &Plan,
    runs: &[(RunAt, &State)],
    formats: Formats,
) -> Result<(), SweepError> {
    let last = plan.points() as u64 * u64::from(plan.runs) - 1;
    for table in TABLES {
        let rows: Vec<Row<'_>> =
            runs.iter().flat_map(|(run, state)| rows(table, *run, state)).collect();
        if rows.is_empty() {
            continue;
        }
        let columns = columns(plan, table, &rows);
        let csv = folder.join(format!("{}.csv", table.name));
        formats.write(
            &folder.join(table.name),
            &format!("part-{:08}-{last:08}", 0),
            columns,
            &csv,
        )?;
    }
    Ok(())
}

/// Of whole runs a row each, whatever became of them.
fn rows<'a>(table: &TableOf, run: RunAt, state: &'a State) -> Vec<Row<'a>> {
    let row = |part| Row { run, part, state };
    match state {
        State::Done(record) => record.parts(table).iter().map(|part| row(Some(part))).collect(),
        State::Failed(_) if table.words.is_empty() => vec![row(None)],
        _ => Vec::new(),
    }
}

fn columns(plan: &Plan, table: &TableOf, rows: &[Row<'_>]) -> Vec<Column> {
    let mut columns = which(plan, &rows.iter().map(|row| row.run).collect::<Vec<_>>());
    for (at, word) in table.words.iter().enumerate() {
        let words = rows.iter().map(|row| row.part.map_or("", |part| part.0[at].as_str()));
        columns.push(Column::words(word, words));
    }
    if table.words.is_empty() {
        let why = |row: &Row<'_>| match row.state {
            State::Failed(why) => Some(why.clone()),
            _ => None,
        };
        let failures: Vec<_> = rows.iter().map(why).collect();
        let command =
            |row: &Row<'_>| matches!(row.state, State::Failed(_)).then(|| plan.command(row.run));
        let commands: Vec<_> = rows.iter().map(command).collect();
        columns.push(Column::maybe_words("error", failures.iter().map(Option::as_deref)));
        columns.push(Column::maybe_words("command", commands.iter().map(Option::as_deref)));
    }
    // A metric of every row.
    let metrics = plan.metrics.metrics(table);
    let number = |row: &Row<'_>, at: usize| {
        row.part.and_then(|part| part.1.get(at).copied()).unwrap_or(Number::Missing(()))
    };
    columns.extend(metrics.iter().enumerate().map(|(at, metric)| {
        let values = rows.iter().map(|row| number(row, at).value());
        Column::metric(metric.key, metric.unit, metric.counted, values)
    }));
    columns
}

/// Which run each row is of, and what it follows from.
fn which(plan: &Plan, runs: &[RunAt]) -> Vec<Column> {
    let runs = || runs.iter().copied();
    let mut columns = vec![
        Column::numbered("run", runs().map(|run| plan.number(run))),
        Column::numbered("seed", runs().map(|run| plan.seed(run))),
    ];
    for (number, axis) in plan.axes.iter().enumerate() {
        let places: Vec<usize> =
            runs().map(|run| place_of(&plan.axes, run.point)[number]).collect();
        columns.extend(axis.columns().iter().map(|column| column.at(&places)));
    }
    columns.push(Column::words("scenario_hash", runs().map(|run| plan.hash(run))));
    columns.push(Column::words("version", runs().map(|_| plan.version())));
    columns
}

/// Writes what a run has against time: of each quantity that is wanted a file.
pub(super) fn write_series(
    folder: &Path,
    plan: &Plan,
    run: RunAt,
    series: &SeriesSet,
    formats: Formats,
) -> Result<(), SweepError> {
    for quantity in QUANTITIES.iter().filter(|one| plan.series.iter().any(|name| name == one.name))
    {
        let values = series_columns(series, quantity);
        let rows = values.first().map_or(0, Column::rows);
        let mut columns = which(plan, &vec![run; rows]);
        columns.extend(values);
        let folder = folder.join("series").join(quantity.name);
        let part = format!("part-{:08}", plan.number(run));
        let csv = folder.join(format!("{part}.csv"));
        formats.write(&folder, &part, columns, &csv)?;
    }
    Ok(())
}
