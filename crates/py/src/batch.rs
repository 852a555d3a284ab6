//! Many runs for a sweep, one after the other: what a worker does at a time.

use crate::algorithms::{Session, is_exception, uses_python};
use crate::table::Table;
use crate::watch::Watch;
use ackord_measure::{FLOW_METRICS, LINK_METRICS, RUN_METRICS, RunSummary};
use ackord_report::data_set::Column;
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_study::{Progress, RunOptions, VERSION, execute};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// One run of a sweep.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Planned {
    /// Which of the sweep's.
    number: u64,
    seed: u64,
    /// The grid's values at their paths, as texts.
    changes: Vec<(String, String)>,
    /// The same as columns.
    point: Vec<(String, Coordinate)>,
}

/// A value of the grid as a column has it.
#[derive(FromPyObject)]
pub(crate) enum Coordinate {
    Number(f64),
    Words(String),
}

/// What a run came to.
struct Ran {
    hash: String,
    summary: Result<RunSummary, String>,
}

/// Runs them; tables of flows, of links, and of the runs themselves. A run that fails is a row of the
/// last with its reason, and does not stop the others. What `told` raises when it is told of progress does,
/// and so does Ctrl-C.
#[pyfunction]
#[pyo3(signature = (file, planned, told=None))]
pub(crate) fn run_batch(
    py: Python<'_>,
    file: (String, String, Option<PathBuf>, Vec<(String, String)>),
    planned: Vec<Planned>,
    told: Option<Py<PyAny>>,
) -> PyResult<(Table, Table, Table)> {
    let (name, text, folder, changes) = file;
    let file = ScenarioFile::new(name, text).with_overrides(overrides(&changes));
    let file = match folder {
        Some(folder) => file.in_folder(folder),
        None => file,
    };
    let watch = Watch::new(told);
    let mut ran = Vec::new();
    for one in &planned {
        ran.push(run(py, &file, one, &watch)?);
        if watch.has_raised() {
            break;
        }
    }
    watch.done()?;
    Ok((flows(&planned, &ran)?, links(&planned, &ran)?, runs(&planned, &ran)?))
}

fn overrides(changes: &[(String, String)]) -> Vec<Override> {
    changes.iter().map(|(path, value)| Override::new(path, value)).collect()
}

fn run(py: Python<'_>, file: &ScenarioFile, planned: &Planned, watch: &Watch) -> PyResult<Ran> {
    let checked = file.clone().with_overrides(overrides(&planned.changes)).check();
    let scenario = match checked {
        Ok(scenario) => scenario,
        Err(errors) => {
            let why = errors.render(ackord_scenario::Style::Plain);
            return Ok(Ran { hash: String::new(), summary: Err(why) });
        }
    };
    let summary = match uses_python(&scenario) {
        false => py.detach(|| summary_of(&scenario, planned.seed, watch)),
        true => {
            let session = Session::begin(&scenario);
            let summary = summary_of(&scenario, planned.seed, watch);
            match session.end(py) {
                Err(error) if !is_exception(py, &error) => return Err(error),
                Err(error) => Err(error.to_string()),
                Ok(()) => summary,
            }
        }
    };
    Ok(Ran { hash: scenario.hash(), summary })
}

fn summary_of(scenario: &Scenario, seed: u64, watch: &Watch) -> Result<RunSummary, String> {
    let options = RunOptions::summary_only(seed);
    // A sweep knows how far it has come; here it is only asked whether to go on.
    let mut watch = |_: Progress| watch.at(0.0);
    match catch_unwind(AssertUnwindSafe(|| execute(scenario, options, &mut watch))) {
        Ok(Ok(outcome)) => Ok(outcome.summary),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the run panicked, which is a defect of this project".to_owned()),
    }
}

/// The columns that say which run a row is of; a row of `planned` each.
fn which<'a>(planned: impl Iterator<Item = &'a Planned> + Clone) -> Vec<Column> {
    let mut columns = vec![
        Column::numbered("run", planned.clone().map(|one| one.number)),
        Column::numbered("seed", planned.clone().map(|one| one.seed)),
    ];
    let Some(first) = planned.clone().next() else { return columns };
    for (at, (path, coordinate)) in first.point.iter().enumerate() {
        let values = planned.clone().map(move |one| &one.point[at].1);
        columns.push(match coordinate {
            Coordinate::Number(_) => Column::numbers(path, "", values.map(number)),
            Coordinate::Words(_) => Column::words(path, values.map(words)),
        });
    }
    columns
}

fn number(coordinate: &Coordinate) -> Option<f64> {
    match coordinate {
        Coordinate::Number(number) => Some(*number),
        Coordinate::Words(_) => None,
    }
}

fn words(coordinate: &Coordinate) -> &str {
    match coordinate {
        Coordinate::Words(words) => words,
        Coordinate::Number(_) => "",
    }
}

/// A row per flow, link or other part of a run that went well.
fn parts<'a, T: 'a>(
    planned: &'a [Planned],
    ran: &'a [Ran],
    of: fn(&RunSummary) -> &[T],
) -> impl Iterator<Item = (&'a Planned, &'a T)> + Clone {
    planned.iter().zip(ran).flat_map(move |(planned, ran)| {
        let parts = ran.summary.as_ref().map_or(&[][..], of);
        parts.iter().map(move |part| (planned, part))
    })
}

fn flows(planned: &[Planned], ran: &[Ran]) -> PyResult<Table> {
    let rows = parts(planned, ran, |summary| &summary.flows);
    let mut columns = which(rows.clone().map(|(planned, _)| planned));
    columns.push(Column::words("flow", rows.clone().map(|(_, flow)| flow.name.as_str())));
    Table::of_metrics(columns, FLOW_METRICS, &rows.map(|(_, flow)| flow).collect::<Vec<_>>())
}

fn links(planned: &[Planned], ran: &[Ran]) -> PyResult<Table> {
    let rows = parts(planned, ran, |summary| &summary.links);
    let mut columns = which(rows.clone().map(|(planned, _)| planned));
    columns.push(Column::words("link", rows.clone().map(|(_, link)| link.name.as_str())));
    Table::of_metrics(columns, LINK_METRICS, &rows.map(|(_, link)| link).collect::<Vec<_>>())
}

fn runs(planned: &[Planned], ran: &[Ran]) -> PyResult<Table> {
    let mut columns = which(planned.iter());
    columns.push(Column::words("scenario_hash", ran.iter().map(|ran| ran.hash.as_str())));
    columns.push(Column::words("version", ran.iter().map(|_| VERSION)));
    let errors = ran.iter().map(|ran| ran.summary.as_ref().err().map(String::as_str));
    columns.push(Column::maybe_words("error", errors));
    let none = RunSummary::default();
    let summaries: Vec<_> = ran.iter().map(|ran| ran.summary.as_ref().unwrap_or(&none)).collect();
    Table::of_metrics(columns, RUN_METRICS, &summaries)
}
