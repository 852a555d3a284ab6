//! What is kept of a run: rows of numbers, as the journal has them.

use super::metrics::{Places, TABLES, TableOf};
use ackord_measure::{RunSummary, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tables by name; those without a row are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record(BTreeMap<String, Vec<Part>>);

/// A row: what tells it from others of its run, and its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Part(pub(super) Vec<String>, pub(super) Vec<Number>);

/// A number that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Count(u64),
    Measured(f64),
    Missing(()),
}

impl Record {
    pub(super) fn of(run: &RunSummary, places: &Places) -> Record {
        let rows = |(table, places): (&TableOf, &Vec<usize>)| {
            let rows = if places.is_empty() { Vec::new() } else { (table.rows)(run, places) };
            (table.name.to_owned(), rows)
        };
        let tables = TABLES.iter().zip(&places.0).map(rows).filter(|(_, rows)| !rows.is_empty());
        Record(tables.collect())
    }

    pub(super) fn parts(&self, table: &TableOf) -> &[Part] {
        self.0.get(table.name).map_or(&[], Vec::as_slice)
    }
}

impl Number {
    pub(super) fn get(self) -> Option<f64> {
        self.value().map(Value::get)
    }

    pub(super) fn value(self) -> Option<Value> {
        match self {
            Number::Count(count) => Some(Value::Count(count)),
            Number::Measured(number) => Some(Value::Number(number)),
            Number::Missing(()) => None,
        }
    }
}

impl From<Option<Value>> for Number {
    /// What is not finite is missing, as JSON would have it.
    fn from(value: Option<Value>) -> Number {
        match value {
            Some(Value::Count(count)) => Number::Count(count),
            Some(Value::Number(number)) if number.is_finite() => Number::Measured(number),
            _ => Number::Missing(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_a_journal_as_they_were() {
        let numbers = [
            Number::Count(u64::MAX),
            Number::Measured(5.0),
            Number::Measured(0.1 + 0.2),
            Number::Measured(1e300),
            Some(Value::Number(f64::NAN)).into(),
        ];
        let text = serde_json::to_string(&numbers).expect("JSON");
        assert_eq!(text, "[18446744073709551615,5.0,0.30000000000000004,1e+300,null]");
        let back: Vec<Number> = serde_json::from_str(&text).expect("the same");
        assert_eq!(back, numbers);
    }
}
