//! The same scenario with one key varied.

use crate::errors::{bad_input, failed, unsound};
use crate::scenario::Checked;
use crate::watch::Watch;
use ackord_study::{
    CompareOptions, Origin, Report, Variants, VaryError, compare_report, compare_report_files,
};
use pyo3::prelude::*;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// What a comparison came to.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct Comparison(Report);

/// Runs a scenario with each value of a key, `runs` times with a seed of its own each.
#[pyfunction]
#[pyo3(signature = (checked, vary, runs=1, seed=None, progress=None))]
pub(crate) fn compare(
    py: Python<'_>,
    checked: &Checked,
    vary: &str,
    runs: u32,
    seed: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    let runs = NonZeroU32::new(runs).ok_or_else(|| bad_input("`runs` is 0: at least 1"))?;
    let variants = Variants::of(&checked.file, vary).map_err(|error| match error {
        VaryError::Scenario(errors) => unsound(py, &errors),
        error => bad_input(error),
    })?;
    let watch = Watch::new(progress);
    let options = CompareOptions { seed, runs };
    let outcome = py.detach(|| ackord_study::compare(&variants, options, &|share| watch.at(share)));
    watch.done()?;
    let outcome = outcome.map_err(failed)?;
    let origin = Origin {
        file: &checked.file,
        overrides: &checked.changes,
        scenario: &variants.base,
        history: None,
    };
    Ok(Comparison(compare_report(&outcome, origin)))
}

#[pymethods]
impl Comparison {
    /// The results as the command line's JSON.
    #[getter]
    fn json(&self) -> &str {
        &self.0.json
    }

    /// Writes report.html, JSON, CSV and plots into a folder; the paths of the files.
    fn write(&self, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        ackord_report::write_all(&folder, &compare_report_files(&self.0)).map_err(failed)
    }
}
