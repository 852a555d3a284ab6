//! Columns as Arrow record batches, with each unit in its field's metadata under `unit`, and as Parquet.
//! Instants are timestamps in nanoseconds, in UTC.

use super::{Column, Values};
use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchReader, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fs::{File, rename};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Time zone of instants.
const UTC: &str = "UTC";

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
        Values::Times(values) => {
            let nanos = values.into_iter().map(|time| time.and_then(|time| time.try_into().ok()));
            let array: TimestampNanosecondArray = nanos.collect();
            let of = DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into()));
            (of, Arc::new(array.with_timezone(UTC)))
        }
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

/// Returns the columns of a record batch that [`batch_of`] made.
///
/// # Errors
/// If a column has a type that no [`Column`] has.
pub fn columns_of(batch: &RecordBatch) -> Result<Vec<Column>, ArrowError> {
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(batch.columns());
    fields.map(|(field, array)| column_of(field, array)).collect()
}

fn column_of(field: &Field, array: &dyn Array) -> Result<Column, ArrowError> {
    let array = array.as_any();
    let values = if let Some(words) = array.downcast_ref::<StringArray>() {
        Values::Words(words.iter().map(|word| word.map(str::to_owned)).collect())
    } else if let Some(counts) = array.downcast_ref::<UInt64Array>() {
        Values::Counts(counts.iter().collect())
    } else if let Some(numbers) = array.downcast_ref::<Float64Array>() {
        Values::Numbers(numbers.iter().collect())
    } else if let Some(times) = array.downcast_ref::<TimestampNanosecondArray>() {
        Values::Times(times.iter().map(|time| time.and_then(|time| time.try_into().ok())).collect())
    } else {
        let why = format!("column `{}` is of type {}", field.name(), field.data_type());
        return Err(ArrowError::SchemaError(why));
    };
    let unit = field.metadata().get("unit").cloned();
    Ok(Column { name: field.name().clone(), unit, nullable: field.is_nullable(), values })
}

/// Reads a Parquet file that [`write_parquet`] wrote.
///
/// # Errors
/// If it cannot be read, or is of another program.
pub fn read_parquet(path: &Path) -> io::Result<Vec<Column>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?);
    let reader = builder.and_then(|builder| builder.build()).map_err(io::Error::other)?;
    let mut columns =
        columns_of(&RecordBatch::new_empty(reader.schema())).map_err(io::Error::other)?;
    for batch in reader {
        let batch = batch.and_then(|batch| columns_of(&batch)).map_err(io::Error::other)?;
        columns.iter_mut().zip(batch).for_each(|(column, more)| append(column, more));
    }
    Ok(columns)
}

/// Appends the values of a column of the same kind.
fn append(column: &mut Column, more: Column) {
    match (&mut column.values, more.values) {
        (Values::Words(values), Values::Words(more)) => values.extend(more),
        (Values::Counts(values), Values::Counts(more))
        | (Values::Times(values), Values::Times(more)) => values.extend(more),
        (Values::Numbers(values), Values::Numbers(more)) => values.extend(more),
        // All batches of a file have the same schema.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_written_to_a_file_are_read_back_as_they_were() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("table.parquet");
        let columns = vec![
            Column::numbered("row", [1, u64::MAX]),
            Column::words("file", ["a", "b"]),
            Column::maybe_words("error", [Some("no capture"), None]),
            Column::counts("bytes", "B", [None, Some(7)]),
            Column::numbers("seconds", "s", [Some(0.1), None]),
            Column::times("time", [Some(1_700_000_000_123_456_789), None]),
        ];
        write_parquet(&path, columns.clone()).expect("a fresh folder");
        assert_eq!(read_parquet(&path).expect("written just now"), columns);
        let empty: Vec<Column> = columns.into_iter().map(Column::without_rows).collect();
        write_parquet(&path, empty.clone()).expect("a fresh folder");
        assert_eq!(read_parquet(&path).expect("written just now"), empty);
        let many = vec![Column::numbered("row", 0..5000)];
        write_parquet(&path, many.clone()).expect("a fresh folder");
        assert_eq!(read_parquet(&path).expect("several batches"), many);
        std::fs::write(&path, "no table").expect("writable");
        assert!(read_parquet(&path).is_err());
    }
}
