//! What is wrong with a script's text, as data.

use ackord_units::nearest_name;
use std::fmt;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from one; zero for the script as a whole.
    pub line: usize,
    /// The column, counted from one in characters; zero for the whole line.
    pub column: usize,
    /// What is wrong: what was given, what is allowed, and what was probably meant.
    pub wrong: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => write!(f, "{}", self.wrong),
            (line, 0) => write!(f, "line {line}: {}", self.wrong),
            (line, column) => write!(f, "line {line}, column {column}: {}", self.wrong),
        }
    }
}

impl std::error::Error for Problem {}

/// `given` is none of `allowed`: says so, with the nearest one.
pub(crate) fn not_among(given: &str, what: &str, allowed: &[&str]) -> String {
    // A word of this length cannot be a slip of the pen, and comparing it would take long.
    let near = if given.len() > 200 { None } else { nearest_name(given, allowed.iter().copied()) };
    let given: String = given.chars().take(80).collect();
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("`{given}` is not {what}{hint} allowed: {}", allowed.join(", "))
        .replacen("? allowed", "? Allowed", 1)
        .replacen(&format!("{what} allowed"), &format!("{what}; allowed"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_word_is_told_with_its_neighbour_and_with_all_there_are() {
        assert_eq!(
            not_among("expct", "a command", &["inject", "expect"]),
            "`expct` is not a command; did you mean `expect`? Allowed: inject, expect"
        );
        assert_eq!(
            not_among("zzzzzzzzzzz", "a command", &["inject"]),
            "`zzzzzzzzzzz` is not a command; allowed: inject"
        );
    }
}
