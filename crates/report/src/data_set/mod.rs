//! Tables for programs that compute with them: columns of words and numbers, each under a name and with a
//! unit, as CSV and, where it was built in, as Parquet.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`Column`], and those of metrics |
//! | `quantities.rs` | [`QUANTITIES`]: what is kept against time, for files and tables |
//! | `parquet.rs` | columns as record batches, and as Parquet files (feature `parquet`) |

#[cfg(feature = "parquet")]
mod parquet;
mod quantities;

#[cfg(feature = "parquet")]
pub use self::parquet::{batch_of, columns_of, read_parquet, write_batch, write_parquet};
pub use quantities::{Of, QUANTITIES, Quantity, series_columns};

use crate::data::Csv;
use ackord_measure::{Metric, Unit, Value};

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Unit of its numbers, empty where they have none; absent where it is not one of quantities.
    pub unit: Option<String>,
    /// Whether a value may be missing.
    pub nullable: bool,
    /// Its values.
    pub values: Values,
}

/// The values of a column; nothing where one is not known.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Words.
    Words(Vec<Option<String>>),
    /// What is counted.
    Counts(Vec<Option<u64>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Instants in UTC, in nanoseconds since 1970.
    Times(Vec<Option<u64>>),
}

impl Column {
    /// Of words.
    pub fn words<'a>(name: &str, values: impl IntoIterator<Item = &'a str>) -> Column {
        let column = Column::maybe_words(name, values.into_iter().map(Some));
        Column { nullable: false, ..column }
    }

    /// Of words, where there are any.
    pub fn maybe_words<'a>(
        name: &str,
        values: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Column {
        let values = values.into_iter().map(|value| value.map(str::to_owned)).collect();
        Column { name: name.to_owned(), unit: None, nullable: true, values: Values::Words(values) }
    }

    /// Of whole numbers that number rows.
    pub fn numbered(name: &str, values: impl IntoIterator<Item = u64>) -> Column {
        let values = Values::Counts(values.into_iter().map(Some).collect());
        Column { name: name.to_owned(), unit: None, nullable: false, values }
    }

    /// Of what is counted.
    pub fn counts(name: &str, unit: &str, values: impl IntoIterator<Item = Option<u64>>) -> Column {
        Column::quantities(name, unit, Values::Counts(values.into_iter().collect()))
    }

    /// Of numbers.
    pub fn numbers(
        name: &str,
        unit: &str,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Column {
        Column::quantities(name, unit, Values::Numbers(values.into_iter().collect()))
    }

    /// Of instants in UTC, in nanoseconds since 1970.
    pub fn times(name: &str, values: impl IntoIterator<Item = Option<u64>>) -> Column {
        let values = Values::Times(values.into_iter().collect());
        Column { name: name.to_owned(), unit: None, nullable: true, values }
    }

    fn quantities(name: &str, unit: &str, values: Values) -> Column {
        Column { name: name.to_owned(), unit: Some(unit.to_owned()), nullable: true, values }
    }

    /// A metric of every row.
    pub fn metric(
        key: &str,
        unit: Unit,
        counted: bool,
        values: impl IntoIterator<Item = Option<Value>>,
    ) -> Column {
        let (unit, values) = (base_unit(unit), values.into_iter());
        match counted {
            true => Column::counts(key, unit, values.map(|value| value.and_then(Value::count))),
            false => Column::numbers(key, unit, values.map(|value| value.map(Value::get))),
        }
    }

    /// Returns the same column without a value.
    #[must_use]
    pub fn without_rows(mut self) -> Column {
        match &mut self.values {
            Values::Words(values) => values.clear(),
            Values::Counts(values) | Values::Times(values) => values.clear(),
            Values::Numbers(values) => values.clear(),
        }
        self
    }

    /// How many values it has.
    pub fn rows(&self) -> usize {
        match &self.values {
            Values::Words(values) => values.len(),
            Values::Counts(values) => values.len(),
            Values::Numbers(values) => values.len(),
            Values::Times(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> String {
        let cell = match &self.values {
            Values::Words(values) => values[row].clone(),
            Values::Counts(values) | Values::Times(values) => {
                values[row].map(|value| value.to_string())
            }
            Values::Numbers(values) => values[row].map(|value| value.to_string()),
        };
        cell.unwrap_or_default()
    }
}

/// Those metrics that stand in tables.
pub fn shown<T>(metrics: &'static [Metric<T>]) -> impl Iterator<Item = &'static Metric<T>> + Clone {
    metrics.iter().filter(|metric| !metric.places.is_empty())
}

/// A column per metric that stands in tables, a row per subject.
pub fn metric_columns<T: 'static>(
    metrics: &'static [Metric<T>],
    subjects: &[&T],
) -> impl Iterator<Item = Column> {
    let column = |metric: &'static Metric<T>| {
        let values = subjects.iter().map(|subject| (metric.of)(subject));
        Column::metric(metric.key, metric.unit, metric.counted, values)
    };
    shown(metrics).map(column)
}

/// What a summary counts in, of which a table's unit is a multiple or a part.
pub fn base_unit(tables: Unit) -> &'static str {
    match tables.name {
        "Mbit/s" => "bit/s",
        "kB" | "MB" => "B",
        // A share from 0 to 1.
        "%" if tables.size != 1.0 => "",
        name => name,
    }
}

/// Columns that are equally long as CSV (RFC 4180, with LF); what is not known is empty.
pub fn to_csv(columns: &[Column]) -> Vec<u8> {
    let mut csv = Csv::new(columns.iter().map(|column| column.name.as_str()));
    for row in 0..columns.first().map_or(0, Column::rows) {
        csv.row(columns.iter().map(|column| column.cell(row)));
    }
    csv.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_measure::{FLOW_METRICS, FlowSummary};

    #[test]
    fn columns_become_csv_and_what_is_not_known_an_empty_cell() {
        let columns = [
            Column::numbered("run", [1, 2]),
            Column::maybe_words("error", [Some("a, b"), None]),
            Column::numbers("rtt_mean_ms", "ms", [None, Some(0.1)]),
        ];
        let csv = String::from_utf8(to_csv(&columns)).expect("UTF-8");
        assert_eq!(csv, "run,error,rtt_mean_ms\n1,\"a, b\",\n2,,0.1\n");
    }

    #[test]
    fn metrics_are_in_units_of_the_summary_and_those_that_count_are_whole() {
        let flow = FlowSummary { goodput_bit_s: 2e6, timeouts: 3, ..FlowSummary::default() };
        let columns: Vec<_> = metric_columns(FLOW_METRICS, &[&flow]).collect();
        let found = |name: &str| {
            let column = columns.iter().find(|column| column.name == name).expect("there");
            (column.unit.as_deref(), column.values.clone())
        };
        assert_eq!(found("goodput_bit_s"), (Some("bit/s"), Values::Numbers(vec![Some(2e6)])));
        assert_eq!(found("timeouts"), (Some(""), Values::Counts(vec![Some(3)])));
        assert_eq!(found("bytes_delivered"), (Some("B"), Values::Counts(vec![Some(0)])));
    }
}
