//! What is raised: `InputError` for what the caller can put right, `RunError` for what went wrong.

use ackord_scenario::{Errors, Style};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::fmt::Display;

create_exception!(
    ackord,
    InputError,
    PyValueError,
    "A scenario, a key, a value or a name that is not sound. `paths` has \
     the path of each."
);
create_exception!(ackord, RunError, PyRuntimeError, "A run that could not be done.");

create_exception!(
    ackord,
    AlgorithmError,
    RunError,
    "An algorithm in Python raised something, or decided what cannot be. `time_s` has the simulated \
     time, `whose` the flow and its end or the link, and `__cause__` what was raised."
);

/// What is wrong with a scenario, in the words and with the places of the command line.
pub(crate) fn unsound(py: Python<'_>, errors: &Errors) -> PyErr {
    let error = InputError::new_err(errors.render(Style::Plain).trim_end().to_owned());
    let paths = errors.problems.iter().map(|problem| problem.path.as_str());
    let paths: Vec<&str> = paths.filter(|path| !path.is_empty()).collect();
    match PyTuple::new(py, paths).and_then(|paths| error.value(py).setattr("paths", paths)) {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

/// What the caller can put right.
pub(crate) fn bad_input(why: impl Display) -> PyErr {
    InputError::new_err(why.to_string())
}

/// What went wrong.
pub(crate) fn failed(why: impl Display) -> PyErr {
    RunError::new_err(why.to_string())
}

/// A name that nothing has.
pub(crate) fn unknown_name<'a>(
    what: &str,
    given: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> PyErr {
    let nearest = ackord_units::nearest_name(given, known.clone());
    let meant = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
    let known = known.collect::<Vec<_>>().join(", ");
    bad_input(format!("no {what} is called `{given}`; {meant}there are: {known}"))
}

/// What went wrong, and what caused it.
pub(crate) fn with_cause(error: impl std::error::Error) -> PyErr {
    match error.source() {
        Some(cause) => failed(format_args!("{error}: {cause}")),
        None => failed(&error),
    }
}
