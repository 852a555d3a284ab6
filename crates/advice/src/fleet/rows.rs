//! Cells of columns, by the column's name.

use ackord_report::data_set::{Column, Values};

/// The rows of a table.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a>(pub(super) &'a [Column]);

impl<'a> Rows<'a> {
    /// Number of rows.
    pub(super) fn len(self) -> usize {
        self.0.first().map_or(0, Column::rows)
    }

    fn values(self, name: &str) -> Option<&'a Values> {
        self.0.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// A cell of words; nothing if it is empty or there is no such column.
    pub(super) fn word(self, name: &str, row: usize) -> Option<&'a str> {
        match self.values(name)? {
            Values::Words(values) => values.get(row)?.as_deref(),
            _ => None,
        }
    }

    /// A cell that counts, or an instant in nanoseconds since 1970.
    pub(super) fn count(self, name: &str, row: usize) -> Option<u64> {
        match self.values(name)? {
            Values::Counts(values) | Values::Times(values) => *values.get(row)?,
            _ => None,
        }
    }

    /// A number; zero if it is empty.
    pub(super) fn number(self, name: &str, row: usize) -> f64 {
        match self.values(name) {
            Some(Values::Numbers(values)) => values.get(row).copied().flatten().unwrap_or(0.0),
            _ => 0.0,
        }
    }
}
