//! Papers, reproduced.

use crate::errors::{failed, unknown_name};
use crate::watch::Watch;
use ackord_papers::{Options, PaperReport, papers};
use ackord_study::Effort;
use pyo3::prelude::*;
use std::path::PathBuf;

/// What a reproduction came to.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct Paper(PaperReport);

/// The papers: name and title.
#[pyfunction]
pub(crate) fn paper_names() -> Vec<(&'static str, &'static str)> {
    papers().iter().map(|paper| (paper.name, paper.title)).collect()
}

/// Reproduces a paper.
#[pyfunction]
#[pyo3(signature = (name, quick=false, progress=None))]
pub(crate) fn run_paper(
    py: Python<'_>,
    name: &str,
    quick: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Paper> {
    let Some(paper) = ackord_papers::find(name) else {
        return Err(unknown_name("paper", name, papers().iter().map(|paper| paper.name)));
    };
    let effort = if quick { Effort::Quick } else { Effort::Full };
    let watch = Watch::new(progress);
    let report = py.detach(|| {
        ackord_papers::run(paper, Options { effort, journal: None }, &|share| watch.at(share))
    });
    watch.done()?;
    report.map(Paper).map_err(failed)
}

#[pymethods]
impl Paper {
    /// Claims and every table, as the command line's JSON.
    #[getter]
    fn json(&self) -> &str {
        &self.0.json
    }

    /// Writes report.html, JSON, CSV and plots into a folder; the paths of the files.
    fn write(&self, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
        ackord_report::write_all(&folder, &self.0.files).map_err(failed)
    }
}
