//! A report on a terminal: text and tables at most 100 columns wide, colour only where asked for.

use crate::document::{Align, Block, Cell, Column, Document, Table};
use ackord_measure::Verdict;
use comfy_table::{
    CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width,
};
use std::ffi::OsStr;
use std::fmt::Write;

/// Widest line.
const WIDTH: u16 = 100;
/// A column of texts up to this long holds names: they are not broken, prose is.
const LONGEST_NAME: u16 = 22;
/// A rule under the headings and nothing else: numbers in columns need no lines between them.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// Whether the output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// With ANSI sequences.
    Always,
}

impl Colour {
    /// Colour for a terminal, unless its user set `NO_COLOR` to something (no-color.org). The
    /// caller looks both up.
    pub fn choose(is_terminal: bool, no_color: Option<&OsStr>) -> Colour {
        let unwanted = no_color.is_some_and(|value| !value.is_empty());
        if is_terminal && !unwanted { Colour::Always } else { Colour::Never }
    }
}

/// The whole report as text. Plots and folded texts are left out; they are in the files.
pub fn to_terminal(document: &Document, colour: Colour) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", bold(&document.title, colour));
    if !document.purpose.is_empty() {
        out.push_str(&wrapped(&document.purpose, ""));
    }
    let facts: Vec<_> =
        document.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !facts.is_empty() {
        out.push_str(&wrapped(&facts.join(" · "), ""));
    }
    for section in &document.sections {
        let blocks: Vec<_> =
            section.blocks.iter().filter_map(|block| block_text(block, colour)).collect();
        if blocks.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{}", bold(&section.heading, colour));
        out.push_str(&blocks.join("\n"));
    }
    out
}

fn block_text(block: &Block, colour: Colour) -> Option<String> {
    match block {
        Block::Text(text) => Some(wrapped(text, "")),
        Block::Notes(notes) if notes.is_empty() => None,
        Block::Notes(notes) => {
            Some(notes.iter().map(|note| wrapped(&format!("- {note}"), "  ")).collect())
        }
        Block::Table(table) => Some(table_to_terminal(table, colour)),
        Block::Command { caption, line } => {
            Some(format!("{}:\n  {}\n", printable(caption), printable(line)))
        }
        Block::Plot(_) | Block::Code { .. } => None,
    }
}

/// One table as text, ending with a line break.
pub fn table_to_terminal(table: &Table, colour: Colour) -> String {
    let mut grid = comfy_table::Table::new();
    grid.load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .force_no_tty();
    if colour == Colour::Always {
        grid.enforce_styling();
    }
    grid.set_header(table.columns.iter().map(heading));
    for (column, place) in table.columns.iter().zip(0..) {
        if let (Align::Right, Some(column)) = (column.align, grid.column_mut(place)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in &table.rows {
        grid.add_row(row.iter().map(styled));
    }
    for (place, column) in table.columns.iter().enumerate() {
        let lengths = table.rows.iter().filter_map(|row| row.get(place)).map(length);
        let widest = lengths.max().unwrap_or(0);
        let names = column.align == Align::Left && widest <= LONGEST_NAME;
        if let (true, Some(column)) = (names, grid.column_mut(place)) {
            // A space on either side counts as width.
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(widest + 2)));
        }
    }
    let caption = match table.caption.as_str() {
        "" => String::new(),
        caption => wrapped(caption, ""),
    };
    let lines: Vec<_> = grid.lines().map(|line| line.trim_end().to_owned()).collect();
    format!("{caption}{}\n", lines.join("\n"))
}

fn length(cell: &Cell) -> u16 {
    cell.show().chars().count() as u16
}

fn heading(column: &Column) -> String {
    match column.unit.as_str() {
        "" => column.heading.clone(),
        unit => format!("{}\n{unit}", column.heading),
    }
}

fn styled(cell: &Cell) -> comfy_table::Cell {
    let shown = comfy_table::Cell::new(printable(&cell.show()));
    match cell {
        Cell::Verdict(Verdict::Holds) => shown.fg(Color::Green),
        Cell::Verdict(Verdict::Differs) => shown.fg(Color::Yellow),
        Cell::Verdict(Verdict::Fails) => shown.fg(Color::Red),
        _ => shown,
    }
}

fn bold(text: &str, colour: Colour) -> String {
    let text = printable(text);
    match colour {
        Colour::Always => format!("\u{1b}[1m{text}\u{1b}[0m"),
        Colour::Never => text,
    }
}

/// Text broken into lines between words; lines after the first begin with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let mut out = String::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in printable(paragraph).split_whitespace() {
            let fits = line.chars().count() + 1 + word.chars().count() <= usize::from(WIDTH);
            if !line.is_empty() && !fits {
                out.push_str(line.trim_end());
                out.push('\n');
                line = indent.to_owned();
            } else if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Names come from files somebody wrote: no control characters of theirs reach the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{FFFD}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Section;

    fn table() -> Table {
        Table {
            caption: "Flows".to_owned(),
            columns: vec![
                Column::words("flow"),
                Column::numbers("goodput", "Mbit/s"),
                Column::words("verdict"),
                Column::words("why"),
            ],
            rows: vec![
                vec![
                    Cell::text("reno"),
                    Cell::number(9.25, 2),
                    Cell::Verdict(Verdict::Holds),
                    Cell::text("a reason that goes on and on and has to be broken ".repeat(4)),
                ],
                vec![
                    Cell::text("vegas"),
                    Cell::number(10.5, 2),
                    Cell::Verdict(Verdict::Fails),
                    Cell::Missing,
                ],
            ],
        }
    }

    #[test]
    fn lines_fit_and_numbers_stand_under_their_unit_on_the_right() {
        let text = table_to_terminal(&table(), Colour::Never);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let end_of = |part: &str| {
            let line = text.lines().find(|line| line.contains(part)).expect(part);
            line[..line.find(part).expect(part)].chars().count() + part.chars().count()
        };
        assert_eq!(end_of("Mbit/s"), end_of("9.25"));
        assert_eq!(end_of("9.25"), end_of("10.50"));
    }

    #[test]
    fn colour_appears_only_when_asked_for() {
        let document = Document {
            title: "Title".to_owned(),
            sections: vec![Section::new("Part").with(Block::Table(table()))],
            ..Document::default()
        };
        assert!(!to_terminal(&document, Colour::Never).contains('\u{1b}'));
        assert!(to_terminal(&document, Colour::Always).contains('\u{1b}'));
    }

    #[test]
    fn a_terminal_is_coloured_unless_its_user_objects() {
        assert_eq!(Colour::choose(true, None), Colour::Always);
        assert_eq!(Colour::choose(true, Some(OsStr::new(""))), Colour::Always);
        assert_eq!(Colour::choose(true, Some(OsStr::new("1"))), Colour::Never);
        assert_eq!(Colour::choose(false, None), Colour::Never);
    }

    #[test]
    fn names_cannot_send_sequences_to_the_terminal() {
        let document = Document { title: "\u{1b}[2Jgone".to_owned(), ..Document::default() };
        assert!(!to_terminal(&document, Colour::Never).contains('\u{1b}'));
    }
}
