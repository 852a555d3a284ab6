//! Columns as Arrow record batches, with each unit in its field's metadata under `unit`, and as Parquet.

use super::{Column, Values};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fs::{File, rename};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Columns as a record batch.
///
/// # Errors
/// If they are not equally long.
pub fn batch_of(columns: Vec<Column>) -> Result<RecordBatch, ArrowError> {
    let (fields, values): (Vec<_>, Vec<_>) = columns.into_iter().map(field_and_values).unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), values)
}

fn field_and_values(column: Column) -> (Field, ArrayRef) {
    let Column { name, unit, nullable, values } = column;
    let (of, values): (_, ArrayRef) = match values {
        Values::Words(values) => (DataType::Utf8, Arc::new(StringArray::from(values))),
        Values::Counts(values) => (DataType::UInt64, Arc::new(UInt64Array::from(values))),
        Values::Numbers(values) => (DataType::Float64, Arc::new(Float64Array::from(values))),
    };
    let field = Field::new(name, of, nullable);
    let field = match unit {
        Some(unit) => field.with_metadata([("unit".to_owned(), unit)].into()),
        None => field,
    };
    (field, values)
}

/// Writes a batch as a Parquet file, which has its name when it is complete.
///
/// # Errors
/// If the system refuses.
pub fn write_batch(path: &Path, batch: &RecordBatch) -> io::Result<()> {
    let partial = path.with_extension("partial");
    let compressed = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = File::create(&partial)?;
    let written = ArrowWriter::try_new(file, batch.schema(), Some(compressed))
        .and_then(|mut writer| writer.write(batch).and_then(|()| writer.close()));
    written.map_err(|error| match error {
        ParquetError::External(source) => io::Error::other(source),
        other => io::Error::other(other),
    })?;
    rename(&partial, path)
}

/// Writes columns as a Parquet file, which has its name when it is complete.
///
/// # Errors
/// If they are not equally long, or the system refuses.
pub fn write_parquet(path: &Path, columns: Vec<Column>) -> io::Result<()> {
    let batch = batch_of(columns).map_err(io::Error::other)?;
    write_batch(path, &batch)
}
