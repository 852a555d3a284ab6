//! Values against time as tables.

use crate::errors::{bad_input, unknown_name};
use crate::table::Table;
use ackord_measure::SeriesSet;
use ackord_report::data_set::{QUANTITIES, series_columns};
use pyo3::prelude::*;

/// The names of the quantities that are kept against time.
#[pyfunction]
pub(crate) fn quantities() -> Vec<&'static str> {
    QUANTITIES.iter().map(|quantity| quantity.name).collect()
}

/// A row per point of each flow's or link's trace.
pub(crate) fn series_table(series: Option<&SeriesSet>, name: &str) -> PyResult<Table> {
    let Some(quantity) = QUANTITIES.iter().find(|quantity| quantity.name == name) else {
        return Err(unknown_name("series", name, quantities().into_iter()));
    };
    let Some(series) = series else {
        return Err(bad_input("this run kept no series: run it with `series=True`"));
    };
    Table::of(series_columns(series, quantity))
}
