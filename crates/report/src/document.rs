//! A report as data: what run, compare and paper fill in, and terminal and HTML write out.

use crate::plot::{Picture, Plot};
use ackord_measure::Verdict;
use ackord_measure::stats::amount_interval;

/// A report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Heading.
    pub title: String,
    /// What question it answers; a sentence or two.
    pub purpose: String,
    /// Short facts by name: source, seed, scenario hash, version.
    pub facts: Vec<(String, String)>,
    /// The parts, in order.
    pub sections: Vec<Section>,
}

/// A part of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Heading.
    pub heading: String,
    /// What it consists of, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// What came out, in a sentence: set apart from the paragraphs.
    Answer(String),
    /// A list of all sections; in pages only.
    Contents,
    /// A picture; in pages and files only.
    Picture(Picture),
    /// A paragraph.
    Text(String),
    /// Short remarks, one per point.
    Notes(Vec<String>),
    /// A table.
    Table(Table),
    /// A plot; the terminal only names it.
    Plot(Plot),
    /// A command that shows what stands before it.
    Command {
        /// What it does.
        caption: String,
        /// The command line.
        line: String,
    },
    /// Text in its own layout; the terminal leaves it out.
    Code {
        /// What it is.
        caption: String,
        /// The text itself.
        text: String,
        /// Whether a reader sees it at once.
        open: bool,
    },
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows; may be empty.
    pub caption: String,
    /// The columns, left to right.
    pub columns: Vec<Column>,
    /// The rows, top to bottom, each with a cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What it holds.
    pub heading: String,
    /// Unit of its numbers; empty for words and plain numbers.
    pub unit: String,
    /// Words to the left, numbers to the right.
    pub align: Align,
}

/// To which side cells go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number with this many decimals.
    Number {
        /// The value.
        value: f64,
        /// Digits after the point.
        decimals: usize,
    },
    /// A mean and the half width of its 95 % interval.
    Interval {
        /// The mean.
        mean: f64,
        /// Half width; absent for a single run.
        half_width: Option<f64>,
        /// Digits after the point.
        decimals: usize,
    },
    /// The same of a quantity that cannot be negative: an interval of Student's t that would reach below zero is
    /// shown as [`amount_interval`] has it.
    Amount {
        /// The mean.
        mean: f64,
        /// Half width of the interval by Student's t; absent for a single run.
        half_width: Option<f64>,
        /// Digits after the point.
        decimals: usize,
    },
    /// A verdict, in its colour.
    Verdict(Verdict),
    /// Not known, or without meaning here.
    Missing,
}

impl Document {
    /// Every plot, in order.
    pub fn plots(&self) -> impl Iterator<Item = &Plot> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Plot(plot) => Some(plot),
            _ => None,
        })
    }

    /// Every picture that is no plot, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Picture(picture) => Some(picture),
            _ => None,
        })
    }
}

impl Section {
    /// The beginning of a report, without a heading: its answer, which stands before its facts.
    pub fn answer(words: impl Into<String>) -> Section {
        Section { heading: String::new(), blocks: vec![Block::Answer(words.into())] }
    }

    /// True for the beginning of a report.
    pub fn is_answer(&self) -> bool {
        self.heading.is_empty()
    }

    /// An empty section.
    pub fn new(heading: &str) -> Section {
        Section { heading: heading.to_owned(), blocks: Vec::new() }
    }

    /// The same section with one more block.
    #[must_use]
    pub fn with(mut self, block: Block) -> Section {
        self.blocks.push(block);
        self
    }
}

impl Block {
    /// Short remarks.
    pub fn notes(notes: &[&str]) -> Block {
        Block::Notes(notes.iter().map(|note| (*note).to_owned()).collect())
    }
}

impl Column {
    /// A column of words.
    pub fn words(heading: &str) -> Column {
        Column { heading: heading.to_owned(), unit: String::new(), align: Align::Left }
    }

    /// A column of numbers; `unit` may be empty.
    pub fn numbers(heading: &str, unit: &str) -> Column {
        Column { heading: heading.to_owned(), unit: unit.to_owned(), align: Align::Right }
    }
}

impl Table {
    /// The same table with a caption.
    #[must_use]
    pub fn captioned(self, caption: impl Into<String>) -> Table {
        Table { caption: caption.into(), ..self }
    }
}

/// A table with a row per thing, a line per column: its side (`words` or `numbers`), heading and unit,
/// and what is in its cells. Numbers with a fraction show about four digits; what is not there is
/// [`Cell::Missing`].
#[macro_export]
macro_rules! table {
    ($rows:expr, |$row:pat_param| [$($column:tt)*]) => {
        $crate::table!($rows, |$row| { [$($column)*] })
    };
    ($rows:expr, |$row:pat_param| {
        $(let $name:pat_param = $value:expr;)*
        [$($side:ident($($heading:expr),+) => $cell:expr),+ $(,)?]
    }) => {
        $crate::document::Table {
            caption: String::new(),
            columns: vec![$($crate::document::Column::$side($($heading),+)),+],
            rows: $rows
                .into_iter()
                .map(|$row| {
                    $(let $name = $value;)*
                    vec![$($crate::document::Cell::from($cell)),+]
                })
                .collect(),
        }
    };
}

impl Cell {
    /// Words.
    pub fn text(words: impl Into<String>) -> Cell {
        Cell::Text(words.into())
    }

    /// A number with this many decimals, or nothing.
    pub fn number(value: impl Into<Option<f64>>, decimals: usize) -> Cell {
        match value.into() {
            Some(value) if value.is_finite() => Cell::Number { value, decimals },
            _ => Cell::Missing,
        }
    }

    /// A number with about four digits, as readers compare them.
    pub fn about(value: impl Into<Option<f64>>) -> Cell {
        let value = value.into();
        Cell::number(value, value.map_or(0, decimals_for))
    }

    /// The cell as text.
    pub fn show(&self) -> String {
        match self {
            Cell::Text(words) => words.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Number { value, decimals } => fixed(*value, *decimals),
            Cell::Amount { mean, half_width: Some(half), decimals } if half > mean => {
                let [low, high] =
                    amount_interval(*mean, *half).map(|end| fixed(end, decimals_for(end)));
                format!("{} ({low} to {high})", fixed(*mean, *decimals))
            }
            Cell::Interval { mean, half_width: None, decimals }
            | Cell::Amount { mean, half_width: None, decimals } => fixed(*mean, *decimals),
            Cell::Interval { mean, half_width: Some(half), decimals }
            | Cell::Amount { mean, half_width: Some(half), decimals } => {
                format!("{} ± {}", fixed(*mean, *decimals), fixed(*half, *decimals))
            }
            Cell::Verdict(verdict) => verdict.name().to_owned(),
            Cell::Missing => "–".to_owned(),
        }
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Cell {
        Cell::Text(words)
    }
}

impl From<&String> for Cell {
    fn from(words: &String) -> Cell {
        Cell::text(words)
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Cell {
        Cell::text(words)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Cell {
        Cell::Count(count.into())
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        Cell::about(value)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Missing, T::into)
    }
}

/// Decimals that leave about four significant digits, at most four decimals.
pub fn decimals_for(value: f64) -> usize {
    let magnitude = value.abs();
    match magnitude {
        _ if magnitude >= 1_000.0 => 0,
        _ if magnitude >= 100.0 => 1,
        _ if magnitude >= 10.0 => 2,
        _ if magnitude >= 1.0 || magnitude == 0.0 => 3,
        _ => 4,
    }
}

/// Fixed decimals, never "-0.0".
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if !digits.contains(|c: char| matches!(c, '1'..='9')) => digits.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_about_four_digits_and_no_negative_zero() {
        let shown: Vec<_> = [0.0, -0.00001, 0.1234, 1.23456, 12.3456, 123.456, 1234.5]
            .map(Cell::about)
            .iter()
            .map(Cell::show)
            .collect();
        assert_eq!(shown, ["0.000", "0.0000", "0.1234", "1.235", "12.35", "123.5", "1234"]);
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_not_a_zero() {
        assert_eq!(Cell::about(None).show(), "–");
        assert_eq!(Cell::number(f64::NAN, 2).show(), "–");
    }

    #[test]
    fn an_interval_of_one_run_is_just_its_value() {
        let one = Cell::Interval { mean: 3.0, half_width: None, decimals: 1 };
        let many = Cell::Interval { mean: 3.0, half_width: Some(0.25), decimals: 2 };
        assert_eq!((one.show(), many.show()), ("3.0".to_owned(), "3.00 ± 0.25".to_owned()));
    }

    #[test]
    fn an_interval_of_an_amount_does_not_go_below_zero() {
        let amount = |half_width| Cell::Amount { mean: 12.0, half_width, decimals: 1 }.show();
        assert_eq!((amount(None), amount(Some(3.0))), ("12.0".to_owned(), "12.0 ± 3.0".to_owned()));
        // 12 / e and 12 e.
        assert_eq!(amount(Some(12.000_001)), "12.0 (4.415 to 32.62)");
        let never = Cell::Amount { mean: 0.0, half_width: Some(0.0), decimals: 1 };
        assert_eq!(never.show(), "0.0 ± 0.0");
    }
}
