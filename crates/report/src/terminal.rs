//! A report on a terminal: text and tables that fit its lines, colour only where asked for.

mod columns;

use crate::document::{Align, Block, Cell, Column, Document, Table};
use ackord_measure::Verdict;
use columns::Part;
use comfy_table::{
    CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width,
};
use std::fmt::Write;

/// A rule under the headings and nothing else: numbers in columns need no lines between them.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// What a report is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Whether it shows colours.
    pub colours: bool,
    /// How many characters fit on its lines.
    pub columns: u16,
}

impl Screen {
    /// What is no terminal: a file or a pipe gets the same text everywhere.
    pub const NONE: Screen = Screen { colours: false, columns: 100 };

    /// Text broken into lines between words; lines after the first begin with `indent`.
    fn wrapped(self, text: &str, indent: &str) -> String {
        wrapped(text, indent, usize::from(self.columns))
    }

    fn bold(self, text: &str) -> String {
        let text = printable(text);
        if self.colours { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text }
    }
}

/// The whole report as text. Plots and folded texts are left out; they are in the files.
pub fn to_terminal(document: &Document, screen: Screen) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", screen.bold(&document.title));
    if !document.purpose.is_empty() {
        out.push_str(&screen.wrapped(&document.purpose, ""));
    }
    let (answers, sections): (Vec<_>, Vec<_>) =
        document.sections.iter().partition(|section| section.is_answer());
    for block in answers.iter().flat_map(|section| &section.blocks) {
        out.push_str(&block_text(block, screen).unwrap_or_default());
    }
    let facts: Vec<_> =
        document.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if !facts.is_empty() {
        out.push_str(&screen.wrapped(&facts.join(" · "), ""));
    }
    for section in sections {
        let blocks: Vec<_> =
            section.blocks.iter().filter_map(|block| block_text(block, screen)).collect();
        if blocks.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{}", screen.bold(&section.heading));
        out.push_str(&blocks.join("\n"));
    }
    out
}

fn block_text(block: &Block, screen: Screen) -> Option<String> {
    match block {
        Block::Answer(text) | Block::Text(text) => Some(screen.wrapped(text, "")),
        Block::Notes(notes) if notes.is_empty() => None,
        Block::Notes(notes) => {
            Some(notes.iter().map(|note| screen.wrapped(&format!("- {note}"), "  ")).collect())
        }
        Block::Table(table) => Some(table_to_terminal(table, screen)),
        Block::Command { caption, line } => {
            Some(format!("{}:\n  {}\n", printable(caption), printable(line)))
        }
        Block::Plot(_) | Block::Picture(_) | Block::Contents | Block::Code { .. } => None,
    }
}

/// One table as text, ending with a line break.
pub fn table_to_terminal(table: &Table, screen: Screen) -> String {
    let caption = match table.caption.as_str() {
        "" => String::new(),
        caption => screen.wrapped(caption, ""),
    };
    let parts = columns::parts(table, usize::from(screen.columns));
    let parts: Vec<_> = parts.iter().map(|part| grid(table, part, screen)).collect();
    format!("{caption}{}", parts.join("\n"))
}

/// The columns of a table that stand side by side.
fn grid(table: &Table, part: &Part, screen: Screen) -> String {
    let mut grid = comfy_table::Table::new();
    grid.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic).force_no_tty();
    if screen.colours {
        grid.enforce_styling();
    }
    grid.set_header(part.columns.iter().map(|(place, _)| heading(&table.columns[*place])));
    for row in &table.rows {
        grid.add_row(part.columns.iter().filter_map(|(place, _)| row.get(*place)).map(styled));
    }
    for (column, (place, width)) in grid.column_iter_mut().zip(&part.columns) {
        if table.columns[*place].align == Align::Right {
            column.set_cell_alignment(CellAlignment::Right);
        }
        // One space stands between columns anyway; these count as width.
        let right = part.gap.saturating_sub(2);
        let width = u16::try_from(width + 1 + right).unwrap_or(u16::MAX);
        column.set_padding((1, right as u16));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    let lines: Vec<_> = grid.lines().map(|line| line.trim_end().to_owned()).collect();
    format!("{}\n", lines.join("\n"))
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
        Cell::Verdict(Verdict::Undecided) => shown.fg(Color::Blue),
        _ => shown,
    }
}

fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut out = String::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in printable(paragraph).split_whitespace() {
            let fits = line.chars().count() + 1 + word.chars().count() <= width;
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
        let text = table_to_terminal(&table(), Screen::NONE);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let end_of = |part: &str| {
            let line = text.lines().find(|line| line.contains(part)).expect(part);
            line[..line.find(part).expect(part)].chars().count() + part.chars().count()
        };
        assert_eq!(end_of("Mbit/s"), end_of("9.25"));
        assert_eq!(end_of("9.25"), end_of("10.50"));
    }

    #[test]
    fn a_table_too_wide_for_a_screen_is_told_in_parts_and_words_stay_whole() {
        let name = "a-mechanism-of-a-long-name";
        let columns = ["flow", "first", "second", "third"].map(Column::words);
        let row = ["up", name, name, "short"].map(Cell::text);
        let table =
            Table { caption: String::new(), columns: columns.into(), rows: vec![row.into()] };
        let told = |columns| table_to_terminal(&table, Screen { columns, ..Screen::NONE });
        assert_eq!(told(100).lines().count(), 3, "{}", told(100));
        let narrow = told(60);
        assert_eq!(narrow.matches(name).count(), 2, "{narrow}");
        assert_eq!(
            narrow.matches("\n\n  flow ").count(),
            1,
            "a second part, of the flow again: {narrow}"
        );
        // Longer than the line, and still whole.
        assert_eq!(told(20).matches(name).count(), 2, "{}", told(20));
    }

    #[test]
    fn colour_appears_only_when_asked_for() {
        let document = Document {
            title: "Title".to_owned(),
            sections: vec![Section::new("Part").with(Block::Table(table()))],
            ..Document::default()
        };
        assert!(!to_terminal(&document, Screen::NONE).contains('\u{1b}'));
        assert!(
            to_terminal(&document, Screen { colours: true, ..Screen::NONE }).contains('\u{1b}')
        );
    }

    #[test]
    fn names_cannot_send_sequences_to_the_terminal() {
        let document = Document { title: "\u{1b}[2Jgone".to_owned(), ..Document::default() };
        assert!(!to_terminal(&document, Screen::NONE).contains('\u{1b}'));
    }
}
