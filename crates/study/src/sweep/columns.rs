//! The columns that identify the point of a row.

use super::axes::{Axis, AxisKey};
use super::metrics::TABLES;
use ackord_report::data_set::Column;

/// Columns of every table, or of one, that are neither axes nor metrics.
const FIXED: [&str; 7] = ["run", "seed", "scenario_hash", "version", "error", "command", "time_s"];
/// Behind the name of an axis: the number of a value that has a name of its own.
const VALUE: &str = "_value";

/// A column of an axis: what it has at each place on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AxisColumn {
    pub(super) name: String,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    Words(Vec<String>),
    Numbers(Vec<f64>, &'static str),
}

impl AxisColumn {
    fn words(name: &str, values: Vec<String>) -> AxisColumn {
        AxisColumn { name: name.to_owned(), values: Values::Words(values) }
    }

    fn numbers(name: String, values: Vec<f64>, unit: &'static str) -> AxisColumn {
        AxisColumn { name, values: Values::Numbers(values, unit) }
    }

    /// Returns the column of rows at these places on the axis.
    pub(super) fn at(&self, places: &[usize]) -> Column {
        match &self.values {
            Values::Words(words) => {
                Column::words(&self.name, places.iter().map(|&at| words[at].as_str()))
            }
            Values::Numbers(numbers, unit) => {
                Column::numbers(&self.name, unit, places.iter().map(|&at| Some(numbers[at])))
            }
        }
    }

    /// Returns its value at a place as text.
    pub(super) fn text(&self, at: usize) -> String {
        match &self.values {
            Values::Words(words) => words[at].clone(),
            Values::Numbers(numbers, _) => numbers[at].to_string(),
        }
    }

    /// Returns its value at a place as JSON.
    pub(super) fn json(&self, at: usize) -> serde_json::Value {
        match &self.values {
            Values::Words(words) => words[at].clone().into(),
            Values::Numbers(numbers, _) => numbers[at].into(),
        }
    }
}

impl Axis {
    /// Returns the columns that identify a point: of an axis with a name one, otherwise one per path.
    pub(super) fn identifying(&self) -> Vec<AxisColumn> {
        match &self.name {
            Some(name) => vec![match (&self.labels, &self.keys[..]) {
                (None, [key]) => of_key(name, key),
                _ => AxisColumn::words(name, self.all_labels()),
            }],
            None => self.keys.iter().map(|key| of_key(&key.path, key)).collect(),
        }
    }

    /// Returns every column: those that identify a point, and numbers for values that have a unit or a name.
    pub(super) fn columns(&self) -> Vec<AxisColumn> {
        let mut columns = Vec::new();
        match (&self.name, &self.keys[..]) {
            (Some(name), [key]) => {
                columns.extend(self.identifying());
                columns.extend(quantity(name, key));
                if self.labels.is_some()
                    && let Some(numbers) = key.as_numbers()
                {
                    columns.push(AxisColumn::numbers(format!("{name}{VALUE}"), numbers, ""));
                }
            }
            (name, keys) => {
                if name.is_some() {
                    columns.extend(self.identifying());
                }
                for key in keys {
                    columns.push(of_key(&key.path, key));
                    columns.extend(quantity(&key.path, key));
                }
            }
        }
        columns
    }

    fn all_labels(&self) -> Vec<String> {
        (0..self.len()).map(|at| self.label(at)).collect()
    }
}

/// Returns a path's values: plain numbers as such, everything else as written.
fn of_key(name: &str, key: &AxisKey) -> AxisColumn {
    match key.as_numbers() {
        Some(numbers) => AxisColumn::numbers(name.to_owned(), numbers, ""),
        None => AxisColumn::words(name, key.values.iter().map(|value| value.label()).collect()),
    }
}

/// Returns the numbers of values with a unit, in the base unit.
fn quantity(name: &str, key: &AxisKey) -> Option<AxisColumn> {
    let (numbers, of) = key.as_quantity()?;
    Some(AxisColumn::numbers(format!("{name}{}", of.suffix), numbers, of.unit))
}

/// Returns whether a data set has a column of this name anyway.
pub(super) fn taken(name: &str) -> bool {
    let of_tables = |table: &super::metrics::TableOf| {
        table.words.contains(&name) || (table.metrics)().iter().any(|metric| metric.key == name)
    };
    FIXED.contains(&name) || TABLES.iter().any(of_tables)
}
