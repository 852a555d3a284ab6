//! Many captures, each diagnosed by itself: what workers do, and the data set.

use crate::errors::{bad_input, failed, with_cause};
use crate::table::Table;
use crate::watch::Watch;
use ackord_advice::fleet::{
    self, FleetError, FleetFile, FleetOptions, FleetPart, FleetReport, fleet_part, fleet_report,
    fleet_report_files, no_rows,
};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A capture: its path, its length, its time of change, and why it cannot be read.
type Listed = (PathBuf, u64, u64, Option<String>);
/// Connections, causes, remedies and files.
type Four = (Table, Table, Table, Table);

fn told(error: FleetError) -> PyErr {
    match error.is_bad_input() {
        true => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            bad_input(format!("{error}{}", cause.unwrap_or_default()))
        }
        false => with_cause(error),
    }
}

fn file((path, size, modified_ns, refused): Listed) -> FleetFile {
    FleetFile { path, size, modified_ns, refused }
}

fn four(tables: fleet::Tables) -> PyResult<Four> {
    let [connections, causes, remedies, files] = tables;
    Ok((Table::of(connections)?, Table::of(causes)?, Table::of(remedies)?, Table::of(files)?))
}

fn columns(tables: &PyFour<'_>) -> PyResult<fleet::Tables> {
    let (connections, causes, remedies, files) = tables;
    Ok([connections.columns()?, causes.columns()?, remedies.columns()?, files.columns()?])
}

/// Returns the captures below files and folders, in order of path.
#[pyfunction]
pub(crate) fn fleet_files(given: Vec<PathBuf>) -> PyResult<Vec<Listed>> {
    let files = fleet::fleet_files(&given).map_err(told)?;
    Ok(files.into_iter().map(|it| (it.path, it.size, it.modified_ns, it.refused)).collect())
}

/// Diagnoses captures, one after the other: the name of each one's part of a data set, its rows, and why it could
/// not be read. What `told` raises ends the work, and so does Ctrl-C.
#[pyfunction]
#[pyo3(signature = (files, host=None, predict=false, told=None))]
pub(crate) fn fleet_parts(
    py: Python<'_>,
    files: Vec<Listed>,
    host: Option<String>,
    predict: bool,
    told: Option<Py<PyAny>>,
) -> PyResult<Vec<(String, Four, Option<String>)>> {
    let options = FleetOptions { host, predict };
    let watch = Watch::new(told);
    let mut parts = Vec::new();
    for listed in files {
        let file = file(listed);
        let part = py.detach(|| fleet_part(&file, &options, 1, &mut |share| watch.at(share)));
        let Some(FleetPart { name, tables, error }) = part else { break };
        parts.push((name, four(tables)?, error));
    }
    watch.done()?;
    Ok(parts)
}

/// Returns every table of a fleet without a row.
#[pyfunction]
pub(crate) fn fleet_no_rows() -> PyResult<Four> {
    four(no_rows())
}

/// The data set of a fleet, held for writing.
#[pyclass(frozen, module = "ackord._ackord")]
pub(crate) struct FleetFolder(fleet::FleetFolder);

#[pymethods]
impl FleetFolder {
    #[new]
    fn new(path: PathBuf) -> PyResult<FleetFolder> {
        fleet::FleetFolder::begin(&path).map(FleetFolder).map_err(told)
    }

    /// The numbers of those captures that are not in the data set.
    #[pyo3(signature = (files, host=None, predict=false))]
    fn missing(&self, files: Vec<Listed>, host: Option<String>, predict: bool) -> Vec<usize> {
        let options = FleetOptions { host, predict };
        let missing = |listed: Listed| !self.0.has(&file(listed), &options);
        let numbered = files.into_iter().enumerate();
        numbered.filter_map(|(number, listed)| missing(listed).then_some(number)).collect()
    }

    /// Writes the rows of a capture.
    fn take(
        &self,
        name: String,
        tables: (PyRef<'_, Table>, PyRef<'_, Table>, PyRef<'_, Table>, PyRef<'_, Table>),
    ) -> PyResult<()> {
        let tables = columns(&tables)?;
        self.0.take(FleetPart { name, tables, error: None }).map_err(told)
    }

    /// The rows of every capture in the data set.
    fn parts(&self) -> PyResult<Vec<Four>> {
        let parts = self.0.parts();
        parts.iter().map(|name| four(self.0.rows(name).map_err(told)?)).collect()
    }
}

/// What a fleet adds up to.
#[pyclass(frozen, module = "ackord._ackord")]
pub(crate) struct FleetSummary(FleetReport);

/// The four tables of a capture, as Python passes them.
type PyFour<'py> = (PyRef<'py, Table>, PyRef<'py, Table>, PyRef<'py, Table>, PyRef<'py, Table>);

#[pymethods]
impl FleetSummary {
    #[new]
    fn new(parts: Vec<PyFour<'_>>) -> PyResult<FleetSummary> {
        let mut summary = fleet::FleetSummary::default();
        for part in &parts {
            summary.add(&columns(part)?);
        }
        Ok(FleetSummary(fleet_report(&summary)))
    }

    /// The sums as the command line's JSON.
    #[getter]
    fn json(&self) -> &str {
        &self.0.json
    }

    /// Writes report.html, JSON and plots into a folder; the paths of the files.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        let files = fleet_report_files(&self.0);
        py.detach(|| ackord_report::write_all(&folder, &files)).map_err(failed)
    }
}
