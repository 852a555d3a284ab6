//! Tables with their columns beside what stands in them, series of plots, and rows of data for JSON.

use crate::cells::Figure;
use ackord_measure::stats::Estimate;
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, PlotSeries, Shape};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// How points of one curve are told from those of another.
pub(crate) const SHAPES: [Shape; 4] = [Shape::Disc, Shape::Square, Shape::Triangle, Shape::Cross];

/// A table that is being made: what each row is of, and the cells so far.
pub(crate) struct Rows<R> {
    columns: Vec<Column>,
    rows: Vec<(R, Vec<Cell>)>,
}

/// A table with a row for each of these.
pub(crate) fn rows<R>(of: impl IntoIterator<Item = R>) -> Rows<R> {
    Rows { columns: Vec::new(), rows: of.into_iter().map(|row| (row, Vec::new())).collect() }
}

impl<R> Rows<R> {
    fn column(mut self, column: Column, cell: impl Fn(&R) -> Cell) -> Rows<R> {
        self.columns.push(column);
        self.rows.iter_mut().for_each(|(row, cells)| cells.push(cell(row)));
        self
    }

    pub(crate) fn words<W: Into<String>>(self, heading: &str, of: impl Fn(&R) -> W) -> Rows<R> {
        self.column(Column::words(heading), |row| Cell::text(of(row)))
    }

    /// Numbers with so many decimals.
    pub(crate) fn number<F: Figure>(
        self,
        (heading, unit): (&str, &str),
        decimals: usize,
        of: impl Fn(&R) -> F,
    ) -> Rows<R> {
        self.cell((heading, unit), |row| Cell::number(of(row).figure(), decimals))
    }

    /// Numbers with about four digits.
    pub(crate) fn about<F: Figure>(
        self,
        (heading, unit): (&str, &str),
        of: impl Fn(&R) -> F,
    ) -> Rows<R> {
        self.cell((heading, unit), |row| Cell::about(of(row).figure()))
    }

    /// Means with their intervals.
    pub(crate) fn mean(
        self,
        (heading, unit): (&str, &str),
        decimals: usize,
        of: impl Fn(&R) -> Estimate,
    ) -> Rows<R> {
        self.cell((heading, unit), |row| interval(of(row), decimals))
    }

    pub(crate) fn count<C: Into<u64>>(
        self,
        (heading, unit): (&str, &str),
        of: impl Fn(&R) -> C,
    ) -> Rows<R> {
        self.cell((heading, unit), |row| Cell::Count(of(row).into()))
    }

    /// Whatever stands there.
    pub(crate) fn cell(self, (heading, unit): (&str, &str), of: impl Fn(&R) -> Cell) -> Rows<R> {
        self.column(Column::numbers(heading, unit), of)
    }

    /// More columns for each of these.
    pub(crate) fn each<T>(
        self,
        of: impl IntoIterator<Item = T>,
        columns: impl Fn(Rows<R>, T) -> Rows<R>,
    ) -> Rows<R> {
        of.into_iter().fold(self, columns)
    }

    pub(crate) fn titled(self, caption: impl Into<String>) -> Table {
        let rows = self.rows.into_iter().map(|(_, cells)| cells).collect();
        Table { caption: caption.into(), columns: self.columns, rows }
    }
}

/// A mean and its interval.
pub(crate) fn interval(estimate: Estimate, decimals: usize) -> Cell {
    Cell::Interval { mean: estimate.mean, half_width: estimate.ci95, decimals }
}

/// Means with their intervals over x.
pub(crate) fn series(
    name: &str,
    mark: Mark,
    points: impl IntoIterator<Item = (f64, Estimate)>,
) -> PlotSeries {
    let points: Vec<_> = points.into_iter().collect();
    PlotSeries::new(name, mark, points.iter().map(|(x, estimate)| (*x, estimate.mean)))
        .with_errors(points.iter().map(|(_, estimate)| estimate.ci95))
}

/// Bars side by side, with their intervals.
pub(crate) fn bars(name: &str, estimates: impl IntoIterator<Item = Estimate>) -> PlotSeries {
    series(name, Mark::Bars, at_whole_numbers(estimates))
}

/// At 0, 1, 2 and so on, as categories are.
pub(crate) fn at_whole_numbers<T>(values: impl IntoIterator<Item = T>) -> Vec<(f64, T)> {
    values.into_iter().enumerate().map(|(at, value)| (at as f64, value)).collect()
}

/// A row of data for JSON: keys and values in their order.
macro_rules! record {
    (@ $key:ident: $value:expr $(, $keys:ident: $values:expr)*) => {
        (stringify!($key), $value, $crate::tables::record!(@ $($keys: $values),*))
    };
    (@) => { () };
    ($($key:ident: $value:expr),+ $(,)?) => {
        $crate::tables::Record($crate::tables::record!(@ $($key: $value),+))
    };
}
pub(crate) use record;

/// What `record!` makes: a key, its value, and the rest.
pub(crate) struct Record<F>(pub(crate) F);

pub(crate) trait Fields {
    fn put<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl Fields for () {
    fn put<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

impl<V: Serialize, F: Fields> Fields for (&'static str, V, F) {
    fn put<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(self.0, &self.1)?;
        self.2.put(map)
    }
}

impl<F: Fields> Serialize for Record<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.put(&mut map)?;
        map.end()
    }
}

/// One of a few, each with its name in claims and files, and where it is shown, its name for people.
macro_rules! choices {
    ($(#[$about:meta])* $name:ident {
        $($(#[$what:meta])* $choice:ident = $id:literal, $label:literal;)+
    }) => {
        $crate::tables::choices! {
            $(#[$about])* $name { $($(#[$what])* $choice = $id;)+ }
        }

        impl $name {
            /// For people.
            pub(crate) const fn label(self) -> &'static str {
                match self { $($name::$choice => $label),+ }
            }
        }
    };
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $choice:ident = $id:literal;)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$what])* $choice),+
        }

        impl $name {
            pub(crate) const ALL: [$name; [$($id),+].len()] = [$($name::$choice),+];

            /// In names of claims and files.
            pub(crate) const fn id(self) -> &'static str {
                match self { $($name::$choice => $id),+ }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.id())
            }
        }
    };
}
pub(crate) use choices;
