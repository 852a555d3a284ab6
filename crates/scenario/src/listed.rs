//! Errors for other programs, such as editors: each problem with its line, its column and what was probably meant.

use crate::document::Place;
use crate::error::{Errors, Problem, Unreadable, Wrong};
use crate::render::{notes, title};
use serde::Serialize;

/// A problem for another program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedProblem {
    /// The file, as the user named it.
    pub file: String,
    /// Line in the file, from one; absent for a problem of the whole file, or of an override.
    pub line: Option<usize>,
    /// Character on the line, from one; of an override the character of `path=VALUE`.
    pub column: Option<usize>,
    /// The override that is wrong, `path=VALUE`; absent where the file is.
    #[serde(rename = "override")]
    pub change: Option<String>,
    /// The keys that lead to the value: `links.wire.rate`; empty for the whole file.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What is allowed, known or missing, a sentence each.
    pub help: Vec<String>,
    /// What was probably meant: a name, or the line that is missing.
    pub suggestion: Option<String>,
}

impl Errors {
    /// Returns every problem for another program, in the order of the file.
    pub fn listed(&self) -> Vec<ListedProblem> {
        self.problems.iter().map(|problem| self.list(problem)).collect()
    }

    fn list(&self, problem: &Problem) -> ListedProblem {
        let (line, column, change) = match &problem.place {
            Place::File => match &problem.wrong {
                Wrong::Unreadable(Unreadable::NotUtf8 { line }) => (Some(*line), None, None),
                _ => (None, None, None),
            },
            Place::Text(range) => {
                let (line, column) = line_and_column(&self.text, range.start);
                (Some(line), Some(column), None)
            }
            Place::Override { index, range } => {
                let given = self.overrides.get(*index).cloned().unwrap_or_default();
                let (_, column) = line_and_column(&given, range.start);
                (None, Some(column), Some(given))
            }
        };
        let help = notes(&problem.wrong).into_iter().map(|(kind, text)| format!("{kind}: {text}"));
        ListedProblem {
            file: self.file.clone(),
            line,
            column,
            change,
            key: problem.path.clone(),
            message: title(&problem.wrong),
            help: help.collect(),
            suggestion: suggestion(&problem.wrong),
        }
    }
}

/// Returns line and column of a byte, both from one, the column in characters.
fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

fn suggestion(wrong: &Wrong) -> Option<String> {
    match wrong {
        Wrong::Unreadable(Unreadable::NotFound { nearest })
        | Wrong::UnknownKey { nearest, .. }
        | Wrong::UnknownName { nearest, .. } => nearest.clone(),
        Wrong::MissingKey { example, .. } => Some(example.clone()).filter(|line| !line.is_empty()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::ScenarioFile;
    use crate::overrides::Override;

    #[test]
    fn problems_have_their_line_their_column_in_characters_and_what_was_meant() {
        let text = "version = 1\nname = \"x\"\n\"größe\" = 1\ndurration = \"1 s\"\n";
        let errors = ScenarioFile::new("x.toml", text).check().expect_err("it is broken");
        let listed = errors.listed();
        let of = |key: &str| listed.iter().find(|problem| problem.key == key).expect(key);
        let misspelt = of("durration");
        assert_eq!((misspelt.line, misspelt.column), (Some(4), Some(1)));
        assert_eq!(misspelt.suggestion.as_deref(), Some("duration"));
        assert_eq!(misspelt.file, "x.toml");
        let missing = of("duration");
        assert!(missing.message.contains("missing") && missing.suggestion.is_some(), "{missing:?}");
        assert_eq!(line_and_column("a = \"ö\", b = 1", 10), (1, 10));
    }

    #[test]
    fn problems_of_overrides_have_the_override_instead_of_a_line() {
        let change = Override::new("links.bottleneck.rat", "1 Mbit/s");
        let file = ScenarioFile::from_library("reno-against-vegas").expect("it comes along");
        let errors = file.with_overrides([change]).check().expect_err("no such key");
        let [problem] = &errors.listed()[..] else { panic!("{errors}") };
        assert_eq!((problem.line, problem.column), (None, Some(18)));
        assert_eq!(problem.change.as_deref(), Some("links.bottleneck.rat=1 Mbit/s"));
        assert_eq!(problem.suggestion.as_deref(), Some("rate"));
    }
}
