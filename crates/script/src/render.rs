//! What people read: a failure with its line, what was expected beside what happened, and the last
//! segments exchanged; problems of a script's text.

use crate::ladder::ladder;
use crate::problem::Problem;
use crate::run::{Failure, Outcome, Row, Went, seconds};
use std::fmt::Write;

/// How many segments before a failure are shown.
const SHOWN: usize = 8;

/// A failure in full; nothing if there was none.
pub fn render_failure(file: &str, lines: &[String], outcome: &Outcome) -> String {
    let Some(failure) = &outcome.failure else { return String::new() };
    let mut out = format!("{file}:{}: {}\n", failure.line, headline(failure));
    quote(&mut out, lines, failure.line);
    match &failure.what {
        Went::Otherwise(rows) | Went::Missing(rows) => table(&mut out, rows),
        Went::Refuted(refuted) => {
            for (wanted, is) in refuted {
                put(&mut out, format_args!("  expected {wanted}; it is {is}\n"));
            }
        }
        Went::Unexpected { at, segment } => {
            put(&mut out, format_args!("  at {} s: {segment}\n", seconds(*at)));
        }
        Went::Call(_)
        | Went::Codec(_)
        | Went::Unplayable(_)
        | Went::Restless(_)
        | Went::Broken(_) => {}
    }
    let first = outcome.exchanged.len().saturating_sub(SHOWN);
    let shown = &outcome.exchanged[first..];
    if !shown.is_empty() {
        let of = outcome.exchanged.len();
        put(&mut out, format_args!("  the last {} of {of} segments:\n", shown.len()));
        for line in ladder(shown).lines() {
            put(&mut out, format_args!("  {line}\n"));
        }
    }
    out
}

/// Everything wrong with a script's text.
pub fn render_problems(file: &str, text: &str, problems: &[Problem]) -> String {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut out = String::new();
    for problem in problems {
        match (problem.line, problem.column) {
            (0, _) => put(&mut out, format_args!("{file}: {}\n", problem.wrong)),
            (line, 0) => put(&mut out, format_args!("{file}:{line}: {}\n", problem.wrong)),
            (line, column) => {
                put(&mut out, format_args!("{file}:{line}:{column}: {}\n", problem.wrong));
            }
        }
        quote(&mut out, &lines, problem.line);
    }
    out
}

fn headline(failure: &Failure) -> String {
    let at = seconds(failure.at);
    match &failure.what {
        Went::Otherwise(rows) => {
            let names: Vec<_> =
                rows.iter().filter(|row| row.differs).map(|row| row.field).collect();
            format!("another segment than expected: {}", names.join(", "))
        }
        Went::Missing(_) => format!("nothing left by {at} s where a segment is expected"),
        Went::Unexpected { .. } => "a segment left that nothing expects".to_owned(),
        Went::Refuted(_) => format!("not so at {at} s"),
        Went::Call(why) => format!("the call at {at} s did something else: {why}"),
        Went::Codec(why) => format!("a segment does not survive the wire: {why}"),
        Went::Unplayable(why) => format!("the script cannot be played: {why}"),
        Went::Restless(why) => format!("the endpoint does not come to rest: {why}"),
        Went::Broken(why) => format!("the endpoint does not go on: {why}"),
    }
}

fn quote(out: &mut String, lines: &[String], line: usize) {
    if let Some(text) = line.checked_sub(1).and_then(|at| lines.get(at)) {
        let text: String = text.chars().take(200).collect();
        put(out, format_args!("{line:>5} | {}\n", text.trim_end()));
    }
}

fn table(out: &mut String, rows: &[Row]) {
    let width = |column: fn(&Row) -> usize, least: usize| {
        rows.iter().map(column).max().unwrap_or(0).max(least)
    };
    let expected = width(|row| row.expected.len(), "expected".len());
    let happened = width(|row| row.happened.len(), "happened".len());
    put(out, format_args!("  {:<8}  {:<expected$}  happened\n", "", "expected"));
    for row in rows {
        let mark = if row.differs { "  <--" } else { "" };
        let line = format!(
            "  {:<8}  {:<expected$}  {:<happened$}{mark}",
            row.field, row.expected, row.happened
        );
        put(out, format_args!("{}\n", line.trim_end()));
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}
