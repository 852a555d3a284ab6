//! Scenarios as texts with changes, checked by the checker of the command line.

use crate::algorithms::python_algorithms;
use crate::errors::unsound;
use ackord_scenario::{Override, Scenario, ScenarioFile};
use ackord_study::Origin;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A scenario that was found sound.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct Checked {
    pub(crate) file: ScenarioFile,
    pub(crate) changes: Vec<Override>,
    pub(crate) scenario: Arc<Scenario>,
}

impl Checked {
    /// Returns the origin of results, for their report.
    pub(crate) fn origin(&self) -> Origin<'_> {
        let Checked { file, changes, scenario } = self;
        Origin { file, overrides: changes, scenario, history: None }
    }
}

/// Checks a scenario: its text as a TOML document, with `changes` of values at paths. `name` is what
/// messages call the file; files that it refers to are looked for in `folder`.
#[pyfunction]
#[pyo3(signature = (name, text, changes, folder=None))]
pub(crate) fn check(
    py: Python<'_>,
    name: String,
    text: String,
    changes: Vec<(String, String)>,
    folder: Option<PathBuf>,
) -> PyResult<Checked> {
    let file = ScenarioFile::new(name, text);
    let file = match folder {
        Some(folder) => file.in_folder(folder),
        None => file,
    };
    checked(py, file, changes)
}

fn checked(
    py: Python<'_>,
    file: ScenarioFile,
    changes: Vec<(String, String)>,
) -> PyResult<Checked> {
    let changes: Vec<_> =
        changes.into_iter().map(|(path, value)| Override::new(path, value)).collect();
    let file = file.with_overrides(changes.iter().cloned());
    let scenario = file.check().map_err(|errors| unsound(py, &errors))?;
    Ok(Checked { file, changes, scenario: Arc::new(scenario) })
}

#[pymethods]
impl Checked {
    /// A built-in scenario by its name, or a file by its path.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        name_or_path: &str,
        changes: Vec<(String, String)>,
    ) -> PyResult<Checked> {
        let file = match name_or_path.ends_with(".toml") || name_or_path.contains('/') {
            true => ScenarioFile::open(name_or_path),
            false => ScenarioFile::from_library(name_or_path),
        };
        checked(py, file.map_err(|errors| unsound(py, &errors))?, changes)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    /// The text it was read from.
    #[getter]
    fn text(&self) -> &str {
        self.file.text()
    }

    /// Simulated time, in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.scenario.duration.as_secs_f64()
    }

    /// What every random stream derives from.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    /// What is simulated, in 16 hexadecimal digits: equal for scenarios that mean the same.
    #[getter]
    fn hash(&self) -> String {
        self.scenario.hash()
    }

    /// Every value written out, in one order.
    fn canonical(&self) -> String {
        self.scenario.canonical()
    }

    /// Its algorithms in Python: family and name of each.
    #[getter]
    fn algorithms(&self) -> Vec<(&'static str, String)> {
        python_algorithms(&self.scenario).into_iter().collect()
    }

    /// The names of its flows.
    #[getter]
    fn flows(&self) -> Vec<String> {
        self.scenario.flows.iter().map(|flow| flow.name.clone()).collect()
    }

    /// The names of its links.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.scenario.links.iter().map(|link| link.name.clone()).collect()
    }
}

/// The built-in scenarios: name and text.
#[pyfunction]
pub(crate) fn library() -> Vec<(&'static str, &'static str)> {
    ackord_scenario::library().collect()
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    ackord_report::data::to_json(&ackord_scenario::json_schema())
}
