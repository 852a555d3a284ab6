//! Captures, and where the time went.

use crate::errors::{bad_input, failed};
use crate::watch::Watch;
use ackord_diagnose::{DiagnoseError, Options, Reader};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Reads captures and accounts for every connection in them; the command line's JSON.
#[pyfunction]
#[pyo3(signature = (captures, progress=None))]
pub(crate) fn diagnose(
    py: Python<'_>,
    captures: Vec<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let open = |(number, path): (u16, &PathBuf)| {
        Reader::open(path, number)
            .map_err(|error| bad_input(format!("cannot read `{}`: {error}", path.display())))
    };
    let readers = (0..).zip(&captures).map(open).collect::<PyResult<Vec<_>>>()?;
    let watch = Watch::new(progress);
    let found = py.detach(|| {
        ackord_diagnose::diagnose(readers, &Options::default(), &mut |share| {
            watch.at(share.unwrap_or(0.0))
        })
    });
    watch.done()?;
    match found {
        Ok((diagnosis, _)) => Ok(ackord_advice::diagnosis_json(&diagnosis)),
        Err(DiagnoseError::Read(error)) => Err(bad_input(error)),
        Err(error) => Err(failed(error)),
    }
}
