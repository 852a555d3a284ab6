//! Tables that Arrow's readers take without a copy (`__arrow_c_stream__`).

use crate::errors::{bad_input, failed, unknown_name};
use ackord_measure::Metric;
use ackord_report::data_set::{self, Column};
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchReader, StringArray, StructArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyIterator, PyList};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use std::fs::File;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A table. polars, pandas, pyarrow and duckdb take it without a copy: `polars.DataFrame(table)`,
/// `pyarrow.table(table)`. Each column of numbers has its `unit` in its metadata.
#[derive(Clone)]
#[pyclass(frozen, module = "ackord._ackord")]
pub(crate) struct Table(RecordBatch);

impl Table {
    /// Of columns that are equally long.
    pub(crate) fn of(columns: Vec<Column>) -> PyResult<Table> {
        data_set::batch_of(columns).map(Table).map_err(unfit)
    }

    /// The table as columns.
    pub(crate) fn columns(&self) -> PyResult<Vec<Column>> {
        data_set::columns_of(&self.0).map_err(unfit)
    }

    fn whole(
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> PyResult<Table> {
        let batches = batches.collect::<Result<Vec<_>, _>>().map_err(unfit)?;
        concat_batches(&schema, &batches).map(Table).map_err(unfit)
    }

    /// A row per subject: its words, then every metric that has a place in tables.
    pub(crate) fn of_metrics<T: 'static>(
        words: Vec<Column>,
        metrics: &'static [Metric<T>],
        subjects: &[&T],
    ) -> PyResult<Table> {
        let columns = data_set::metric_columns(metrics, subjects);
        Table::of(words.into_iter().chain(columns).collect())
    }
}

/// Imports an optional package.
///
/// # Errors
/// An `ImportError` that names the command which installs it.
fn needed<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|error| {
        let why =
            PyImportError::new_err(format!("this needs {name}: `pip install {name}` installs it"));
        why.set_cause(py, Some(error));
        why
    })
}

fn unfit(error: ArrowError) -> PyErr {
    failed(error)
}

#[pymethods]
impl Table {
    /// The table as a stream of Arrow's C interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let fields = self.0.schema().fields().clone();
        let field = Arc::new(Field::new_struct("", fields, false));
        let whole: ArrayRef = Arc::new(StructArray::from(self.0.clone()));
        let reader = ArrayIterator::new([Ok(whole)], field);
        to_stream_pycapsule(py, Box::new(reader), requested_schema)
    }

    /// Its schema in Arrow's C interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.0.schema().as_ref())
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The unit of each column that has one.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        for field in self.0.schema().fields() {
            if let Some(unit) = field.metadata().get("unit") {
                units.set_item(field.name(), unit)?;
            }
        }
        Ok(units)
    }

    /// The values of a column as a list; None where one is not known. Instants are `datetime` in UTC.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some(column) = self.0.column_by_name(name) else {
            let names = self.column_names();
            return Err(unknown_name("column", name, names.iter().map(String::as_str)));
        };
        let values = PyList::empty(py);
        if let Some(words) = column.as_any().downcast_ref::<StringArray>() {
            words.iter().try_for_each(|word| values.append(word))?;
        } else if let Some(numbers) = column.as_any().downcast_ref::<Float64Array>() {
            numbers.iter().try_for_each(|number| values.append(number))?;
        } else if let Some(counts) = column.as_any().downcast_ref::<UInt64Array>() {
            counts.iter().try_for_each(|count| values.append(count))?;
        } else if let Some(times) = column.as_any().downcast_ref::<TimestampNanosecondArray>() {
            // As `datetime` in UTC, which has microseconds.
            let nanos = times.iter().map(|time| time.and_then(|time| u64::try_from(time).ok()));
            let mut times = nanos.map(|time| Some(UNIX_EPOCH + Duration::from_nanos(time?)));
            times.try_for_each(|time: Option<SystemTime>| values.append(time))?;
        }
        Ok(values)
    }

    /// Returns the values of a column, as `column` does.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        self.column(py, name)
    }

    /// Iterates over the rows as dictionaries.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.rows(py)?)?.try_iter()
    }

    /// The table as a `pandas.DataFrame`, with the units in `attrs["units"]`.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = PyDict::new(py);
        for name in self.column_names() {
            columns.set_item(&name, self.column(py, &name)?)?;
        }
        let frame = needed(py, "pandas")?.getattr("DataFrame")?.call1((columns,))?;
        frame.getattr("attrs")?.set_item("units", self.units(py)?)?;
        Ok(frame)
    }

    /// The table as a `polars.DataFrame`, without a copy.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        needed(slf.py(), "polars")?.getattr("DataFrame")?.call1((slf,))
    }

    /// The table for a notebook.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ackord._html")?.call_method1("table", (slf,))
    }

    /// A dictionary per row.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let names = self.column_names();
        let columns =
            names.iter().map(|name| self.column(py, name)).collect::<PyResult<Vec<_>>>()?;
        let row = |at: usize| {
            let row = PyDict::new(py);
            for (name, column) in names.iter().zip(&columns) {
                row.set_item(name, column.get_item(at)?)?;
            }
            Ok(row)
        };
        (0..self.0.num_rows()).map(row).collect()
    }

    /// Several tables of the same columns below each other.
    #[staticmethod]
    fn concat(tables: Vec<PyRef<'_, Table>>) -> PyResult<Table> {
        let Some(first) = tables.first() else { return Err(bad_input("there is no table")) };
        let batches = tables.iter().map(|table| &table.0);
        concat_batches(&first.0.schema(), batches).map(Table).map_err(unfit)
    }

    /// The same rows in the order of their column `run`; those of one run stay in theirs.
    fn sorted_by_run(&self) -> PyResult<Table> {
        let runs = self.0.column_by_name("run").and_then(|runs| runs.as_any().downcast_ref());
        let Some(runs): Option<&UInt64Array> = runs else {
            return Err(bad_input("the table has no column `run`"));
        };
        let mut order: Vec<u64> = (0..runs.len() as u64).collect();
        order.sort_by_key(|&row| runs.value(row as usize));
        take_record_batch(&self.0, &UInt64Array::from(order)).map(Table).map_err(unfit)
    }

    /// The table in Arrow's format for streams between processes.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut writer = StreamWriter::try_new(Vec::new(), &self.0.schema()).map_err(unfit)?;
        writer.write(&self.0).map_err(unfit)?;
        Ok(PyBytes::new(py, &writer.into_inner().map_err(unfit)?))
    }

    /// A table from that format.
    #[staticmethod]
    fn from_ipc(bytes: &[u8]) -> PyResult<Table> {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).map_err(unfit)?;
        Table::whole(reader.schema(), reader)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Table>().getattr("from_ipc")?, (self.to_ipc(py)?,)))
    }

    /// Writes the table as a Parquet file, which has its name when it is complete.
    fn write_parquet(&self, path: PathBuf) -> PyResult<()> {
        Ok(data_set::write_batch(&path, &self.0)?)
    }

    /// A table from a Parquet file.
    #[staticmethod]
    fn read_parquet(path: PathBuf) -> PyResult<Table> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?);
        let reader = reader.and_then(|builder| builder.build()).map_err(failed)?;
        Table::whole(reader.schema(), reader)
    }

    fn __repr__(&self) -> String {
        format!("<ackord.Table of {} rows: {}>", self.0.num_rows(), self.column_names().join(", "))
    }
}
