//! How wide the columns of a table are, so that it fits and no word is broken.
//!
//! Where there is not room for every cell on one line, numbers and names keep theirs and prose is
//! broken between words; where that does not do, everything may be. A table of which not even the
//! longest words fit side by side is told in several, one below the other, each beginning with what
//! its rows are about. Only a word that is wider than the whole line makes a line longer.

use crate::document::{Align, Column, Table};

/// A column of texts up to this long holds names: they are not broken, prose is.
const LONGEST_NAME: usize = 22;
/// What parts a column from the next: three spaces look best, two will do.
const GAPS: [usize; 2] = [3, 2];
/// What stands before the first column.
const EDGE: usize = 1;

/// A part of a table, of which all columns stand side by side.
pub(super) struct Part {
    /// Which columns, and how wide the text of each is.
    pub columns: Vec<(usize, usize)>,
    /// Spaces from one column to the next.
    pub gap: usize,
}

/// What a column needs.
#[derive(Clone, Copy)]
struct Need {
    /// Its longest word, its heading's included.
    word: usize,
    /// As much, and its longest cell if these are names or numbers.
    cell: usize,
    /// Its longest line, its heading's included.
    line: usize,
}

/// How much of a column's need is to be met.
type Least = fn(Need) -> usize;

/// The table in parts that fit into lines of this width.
pub(super) fn parts(table: &Table, width: usize) -> Vec<Part> {
    let needs: Vec<Need> = table
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| need(table, place, column))
        .collect();
    let all: Vec<usize> = (0..needs.len()).collect();
    let [wide, narrow] = GAPS;
    let ways: [(usize, Least); 3] =
        [(wide, Need::whole), (narrow, Need::whole), (narrow, Need::words)];
    for (gap, least) in ways {
        if total(&all, &needs, gap, least) <= width {
            return vec![Part { columns: widths(&all, &needs, width, gap, least), gap }];
        }
    }
    let fitted = |part: Vec<usize>| {
        let whole = total(&part, &needs, wide, Need::whole) <= width;
        let least: Least = if whole { Need::whole } else { Need::words };
        Part { columns: widths(&part, &needs, width, wide, least), gap: wide }
    };
    folded(&needs, keys(table, &needs, width), width).into_iter().map(fitted).collect()
}

impl Need {
    /// Numbers and names on one line.
    fn whole(self) -> usize {
        self.cell
    }

    /// Words on one line.
    fn words(self) -> usize {
        self.word
    }
}

/// How many columns say what a row is about: the words before the numbers, or the first of them
/// where these would leave little room.
fn keys(table: &Table, needs: &[Need], width: usize) -> usize {
    let words = table.columns.iter().take_while(|column| column.align == Align::Left).count();
    let all: Vec<usize> = (0..words).collect();
    if words > 0 && total(&all, needs, GAPS[0], Need::whole) <= width / 2 { words } else { 1 }
}

/// As many columns side by side as fit without breaking their numbers and names, after the first
/// `keys` of the table.
fn folded(needs: &[Need], keys: usize, width: usize) -> Vec<Vec<usize>> {
    let first: Vec<usize> = (0..keys.min(needs.len())).collect();
    let mut parts = vec![first.clone()];
    for place in first.len()..needs.len() {
        let part = parts.last_mut().expect("there is one from the beginning");
        part.push(place);
        if part.len() > keys + 1 && total(part, needs, GAPS[0], Need::whole) > width {
            part.pop();
            parts.push([first.as_slice(), &[place]].concat());
        }
    }
    parts
}

fn need(table: &Table, place: usize, column: &Column) -> Need {
    let cells: Vec<String> =
        table.rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.show()).collect();
    let heading = [column.heading.as_str(), column.unit.as_str()];
    let lines = || cells.iter().map(String::as_str).chain(heading).flat_map(str::lines);
    let word = lines().flat_map(str::split_whitespace).map(length).max().unwrap_or(0).max(1);
    let cell = cells.iter().flat_map(|cell| cell.lines()).map(length).max().unwrap_or(0);
    let whole = column.align == Align::Right || cell <= LONGEST_NAME;
    let line = lines().map(length).max().unwrap_or(0).max(1);
    Need { word, cell: if whole { word.max(cell) } else { word }, line }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// How wide these columns are side by side.
fn total(part: &[usize], needs: &[Need], gap: usize, of: impl Fn(Need) -> usize) -> usize {
    EDGE + part.iter().map(|place| of(needs[*place]) + gap).sum::<usize>()
}

/// Each column with its width: what it needs at `least`, of the rest all alike until each has its
/// longest line.
fn widths(
    part: &[usize],
    needs: &[Need],
    width: usize,
    gap: usize,
    least: Least,
) -> Vec<(usize, usize)> {
    let up_to = |level: usize| move |need: Need| level.min(need.line).max(least(need));
    let fits = |level: &usize| total(part, needs, gap, up_to(*level)) <= width;
    let level = (0..=width).rev().find(fits).unwrap_or(0);
    let mut spare = width.saturating_sub(total(part, needs, gap, up_to(level)));
    part.iter()
        .map(|place| {
            let (given, more) = (up_to(level)(needs[*place]), up_to(level + 1)(needs[*place]));
            let one = spare.min(more - given);
            spare -= one;
            (*place, given + one)
        })
        .collect()
}
