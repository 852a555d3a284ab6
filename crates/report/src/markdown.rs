//! A report as Markdown, for documents that live in a repository. Plots are files beside it.

use crate::document::{Align, Block, Cell, Document, Table};
use std::fmt::Write;

/// The whole report; plots are referred to as `ID.svg` below `pictures`, a folder relative to the
/// page without a trailing slash.
pub fn to_markdown(document: &Document, pictures: &str) -> String {
    let mut out = format!("# {}\n", plain(&document.title));
    if !document.purpose.is_empty() {
        let _ = write!(out, "\n{}\n", wrapped(&document.purpose));
    }
    for (name, value) in &document.facts {
        let _ = write!(out, "\n*{}*: {}\n", plain(name), plain(value));
    }
    for section in &document.sections {
        if !section.is_answer() {
            let _ = write!(out, "\n## {}\n", plain(&section.heading));
        }
        section.blocks.iter().for_each(|part| block(&mut out, part, pictures));
    }
    out
}

fn block(out: &mut String, block: &Block, pictures: &str) {
    let _ = match block {
        Block::Contents | Block::Picture(_) => Ok(()),
        Block::Answer(text) | Block::Text(text) => write!(out, "\n{}\n", wrapped(text)),
        Block::Notes(notes) => {
            out.push('\n');
            notes.iter().try_for_each(|note| writeln!(out, "- {}", plain(note)))
        }
        Block::Table(part) => write!(out, "\n{}", table(part)),
        Block::Plot(plot) => {
            write!(out, "\n![{}]({pictures}/{}.svg)\n", plain(&plot.title), plot.id)
        }
        Block::Command { caption, line } => {
            write!(out, "\n{}:\n\n```sh\n{line}\n```\n", plain(caption))
        }
        Block::Code { caption, text, .. } => {
            write!(out, "\n{}:\n\n```text\n{}\n```\n", plain(caption), text.trim_end())
        }
    };
}

fn table(table: &Table) -> String {
    let mut out = String::new();
    if !table.caption.is_empty() {
        let _ = write!(out, "{}\n\n", wrapped(&table.caption));
    }
    let heading = |column: &crate::document::Column| match column.unit.as_str() {
        "" => cell_text(&column.heading),
        unit => format!("{} ({})", cell_text(&column.heading), cell_text(unit)),
    };
    let _ = writeln!(out, "| {} |", joined(table.columns.iter().map(heading)));
    let rule = |align: Align| match align {
        Align::Left => "---",
        Align::Right => "---:",
    };
    let rules = table.columns.iter().map(|column| rule(column.align).to_owned());
    let _ = writeln!(out, "| {} |", joined(rules));
    for row in &table.rows {
        let _ = writeln!(out, "| {} |", joined(row.iter().map(Cell::show).map(|c| cell_text(&c))));
    }
    out
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(" | ")
}

/// Text whose characters mean nothing to Markdown. Code is none of this.
fn plain(text: &str) -> String {
    let special = |c: char| matches!(c, '*' | '_' | '`' | '<' | '[' | ']' | '\\');
    text.chars().fold(String::new(), |mut out, c| {
        if special(c) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

fn cell_text(text: &str) -> String {
    plain(text).replace('|', "\\|").replace('\n', " ")
}

/// Text in lines of at most 100 columns.
fn wrapped(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in plain(text).split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let fits = line.is_empty() || line.chars().count() + 1 + word.chars().count() <= 100;
        match (fits, line.is_empty()) {
            (true, true) => line.push_str(word),
            (true, false) => {
                line.push(' ');
                line.push_str(word);
            }
            (false, _) => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Column, Section};

    #[test]
    fn a_document_becomes_headings_tables_and_code() {
        let table = Table {
            caption: String::new(),
            columns: vec![Column::words("a|b"), Column::numbers("rate", "bit/s")],
            rows: vec![vec![Cell::text("x_y"), Cell::Count(3)]],
        };
        let code = Block::Command { caption: "Run".to_owned(), line: "ackord run a_b".to_owned() };
        let section = Section::new("One").with(Block::Table(table)).with(code);
        let document =
            Document { title: "T*".to_owned(), sections: vec![section], ..Document::default() };
        let expected = "# T\\*\n\n## One\n\n| a\\|b | rate (bit/s) |\n| --- | ---: |\n\
                        | x\\_y | 3 |\n\nRun:\n\n```sh\nackord run a_b\n```\n";
        assert_eq!(to_markdown(&document, "pictures"), expected);
    }

    #[test]
    fn long_paragraphs_are_broken_between_words() {
        let text = "word ".repeat(60);
        assert!(wrapped(&text).lines().all(|line| line.len() <= 100 && !line.ends_with(' ')));
    }
}
