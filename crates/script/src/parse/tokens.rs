//! A line in words, and what a number may be written as.

use super::wrong::Wrong;
use ackord_units::{Bytes, Quantity, Span};
use std::collections::BTreeMap;

/// The values of the variables of the `repeat`s around a line.
pub(super) type Variables = BTreeMap<String, i64>;

/// One word of a line, or one of the signs `<`, `>`, `<=`, `>=`, `=` and `,`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// Counted from one, in characters.
    pub(super) column: usize,
}

/// The line without its comment.
pub(super) fn without_comment(line: &str) -> &str {
    line.split_once('#').map_or(line, |(before, _)| before)
}

/// The words and signs of a line.
pub(super) fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            first if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                column += 1;
                continue;
            }
            '<' | '>' if rest[1..].starts_with('=') => 2,
            '<' | '>' | '=' | ',' => 1,
            _ => rest
                .find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '=' | ','))
                .unwrap_or(rest.len()),
        };
        let (text, after) = rest.split_at(len);
        found.push(Token { text, column });
        column += text.chars().count();
        rest = after;
    }
    found
}

/// A reader over the tokens of one line.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    end_column: usize,
    variables: &'a Variables,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str, variables: &'a Variables) -> Cursor<'a> {
        let line = without_comment(line);
        let end_column = line.trim_end().chars().count() + 1;
        Cursor { tokens: tokens(line), next: 0, end_column, variables }
    }

    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    pub(super) fn peek_text(&self) -> &'a str {
        self.peek().map_or("", |token| token.text)
    }

    pub(super) fn take(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.next += usize::from(token.is_some());
        token
    }

    /// Takes the next token if it is this one.
    pub(super) fn take_if(&mut self, text: &str) -> bool {
        let there = self.peek().is_some_and(|token| token.text == text);
        self.next += usize::from(there);
        there
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.next == self.tokens.len()
    }

    /// Where the next token is, or where the line ends.
    pub(super) fn column(&self) -> usize {
        self.peek().map_or(self.end_column, |token| token.column)
    }

    /// Something is wrong with the next token.
    pub(super) fn wrong(&self, what: impl Into<String>) -> Wrong {
        Wrong { column: self.column(), what: what.into() }
    }

    /// Something is wrong with the token just taken.
    pub(super) fn wrong_before(&self, what: impl Into<String>) -> Wrong {
        let token = self.next.checked_sub(1).and_then(|at| self.tokens.get(at));
        Wrong { column: token.map_or(1, |token| token.column), what: what.into() }
    }

    pub(super) fn expect(&mut self, text: &str, why: &str) -> Result<(), Wrong> {
        if self.take_if(text) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(token) => self.wrong(format!("`{}` where `{text}` {why}", clipped(token.text))),
            None => self.wrong(format!("the line ends where `{text}` {why}")),
        })
    }

    /// Takes a word that has to be there.
    pub(super) fn word(&mut self, what: &str) -> Result<Token<'a>, Wrong> {
        self.take().ok_or_else(|| self.wrong(format!("the line ends where {what} belongs")))
    }

    /// Whether the next token begins as a number or an expression does.
    pub(super) fn at_number(&self) -> bool {
        let text = self.peek_text();
        text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '(')
            || self.variables.contains_key(name_at(text))
    }

    /// An integer or an expression of integers, variables, `+`, `-`, `*` and parentheses.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64, Wrong> {
        let token = self.word(what)?;
        evaluate(token.text, self.variables)
            .map_err(|why| self.wrong_before(format!("{why}: {what} belongs here")))
    }

    /// The value of a part of the token just taken.
    pub(super) fn value_of(&self, text: &str) -> Result<i64, Wrong> {
        evaluate(text, self.variables).map_err(|why| self.wrong_before(why))
    }

    /// An integer from 0 to `max`.
    pub(super) fn count(&mut self, what: &str, max: u64) -> Result<u64, Wrong> {
        let value = self.integer(what)?;
        u64::try_from(value)
            .ok()
            .filter(|value| *value <= max)
            .ok_or_else(|| self.wrong_before(format!("{what} is {value}; allowed: 0 to {max}")))
    }

    /// A time span: `20 ms`, `20ms`.
    pub(super) fn span(&mut self, what: &str) -> Result<Span, Wrong> {
        self.quantity(what)
    }

    /// An amount of data: `1000 B`, or with an expression for the number.
    pub(super) fn bytes(&mut self, what: &str) -> Result<Bytes, Wrong> {
        self.quantity(what)
    }

    /// A number that may be an expression, and its unit, in one word or two.
    pub(super) fn quantity<Q: Quantity>(&mut self, what: &str) -> Result<Q, Wrong> {
        let token = self.word(what)?;
        let (number, unit) = split_unit(token.text, self.variables);
        let number = match plain_number(number) {
            true => number.to_owned(),
            false => evaluate(number, self.variables)
                .map_err(|why| self.wrong_before(format!("{why}: {what} belongs here")))?
                .to_string(),
        };
        let mut text = format!("{number} {unit}");
        if unit.is_empty() && Q::UNITS.iter().any(|(name, _)| *name == self.peek_text()) {
            text.push_str(self.peek_text());
            self.next += 1;
        }
        Q::parse(text.trim()).map_err(|error| self.wrong_before(format!("{what}: {error}")))
    }

    /// Whether the token after the next one is this one.
    pub(super) fn second_is(&self, texts: &[&str]) -> bool {
        self.tokens.get(self.next + 1).is_some_and(|token| texts.contains(&token.text))
    }

    /// Whether the next token is a number with this kind of unit, in one word or two.
    pub(super) fn at_quantity<Q: Quantity>(&self) -> bool {
        let is_unit = |text: &str| Q::UNITS.iter().any(|(name, _)| *name == text);
        let (_, unit) = split_unit(self.peek_text(), self.variables);
        let second = self.tokens.get(self.next + 1).map_or("", |token| token.text);
        self.at_number() && (is_unit(unit) || (unit.is_empty() && is_unit(second)))
    }

    /// Everything that is left has been read.
    pub(super) fn finish(&self, after: &str) -> Result<(), Wrong> {
        match self.peek() {
            None => Ok(()),
            Some(token) => {
                Err(self.wrong(format!("`{}` has no place after {after}", clipped(token.text))))
            }
        }
    }
}

/// So much of a word as an error quotes.
pub(super) fn clipped(text: &str) -> String {
    text.chars().take(60).collect()
}

fn plain_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '_')
}

fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// `20ms` as `20` and `ms`; an expression with variables stays whole.
fn split_unit<'a>(text: &'a str, variables: &Variables) -> (&'a str, &'a str) {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    match digits {
        Some(at) if at > 0 => {
            let (number, unit) = text.split_at(at);
            let is_word = unit.starts_with(|c: char| c.is_alphabetic());
            if is_word && !variables.contains_key(name_at(unit)) {
                return (number, unit);
            }
            (text, "")
        }
        _ => (text, ""),
    }
}

/// Deepest nesting of parentheses in an expression.
const DEEPEST: usize = 16;

/// The value of an expression: integers, variables, `+`, `-`, `*` and parentheses.
pub(super) fn evaluate(text: &str, variables: &Variables) -> Result<i64, String> {
    let mut expression = Expression { rest: text, variables, depth: 0 };
    let value = expression.sum()?;
    match expression.rest {
        "" => Ok(value),
        rest => Err(format!("`{}` is no number at `{}`", clipped(text), clipped(rest))),
    }
}

struct Expression<'a> {
    rest: &'a str,
    variables: &'a Variables,
    depth: usize,
}

impl Expression<'_> {
    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        loop {
            let step = if self.skip('+') {
                i64::checked_add
            } else if self.skip('-') {
                i64::checked_sub
            } else {
                return Ok(value);
            };
            value = step(value, self.product()?).ok_or_else(too_large)?;
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.factor()?;
        while self.skip('*') {
            value = value.checked_mul(self.factor()?).ok_or_else(too_large)?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("parentheses and signs are nested too deeply".to_owned());
        }
        let value = if self.skip('-') {
            self.factor()?.checked_neg().ok_or_else(too_large)?
        } else if self.skip('(') {
            let value = self.sum()?;
            if !self.skip(')') {
                return Err("a `)` is missing".to_owned());
            }
            value
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<i64, String> {
        let name = name_at(self.rest);
        let value = if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.replace('_', "")
                .parse()
                .map_err(|_| format!("`{}` is no number", clipped(name)))?
        } else if let Some(value) = self.variables.get(name) {
            *value
        } else {
            return Err(format!("`{}` is no number", clipped(self.rest)));
        };
        self.rest = &self.rest[name.len()..];
        Ok(value)
    }

    fn skip(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

fn too_large() -> String {
    "the number is too large".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_signs_are_told_apart_with_their_columns() {
        let found = tokens("  0.1 inject <mss 1460,sackOK> cwnd>=3");
        let texts: Vec<_> = found.iter().map(|token| token.text).collect();
        let all = ["0.1", "inject", "<", "mss", "1460", ",", "sackOK", ">", "cwnd", ">=", "3"];
        assert_eq!(texts, all);
        assert_eq!(found[1].column, 7);
    }

    #[test]
    fn expressions_know_precedence_and_variables() {
        let variables = Variables::from([("n".to_owned(), 3)]);
        assert_eq!(evaluate("1+1000*n", &variables), Ok(3001));
        assert_eq!(evaluate("(1+n)*-2", &variables), Ok(-8));
        assert_eq!(evaluate("1_000", &variables), Ok(1000));
        for bad in ["", "1+", "m", "(1", "9223372036854775807+1", "1.5", &"(".repeat(1000)] {
            assert!(evaluate(bad, &variables).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_quantity_is_one_word_or_two() {
        let variables = Variables::from([("n".to_owned(), 3)]);
        for (text, bytes) in [("1000 B", 1000), ("1kB", 1000), ("1000*n B", 3000), ("n B", 3)] {
            let mut cursor = Cursor::new(text, &variables);
            assert!(cursor.at_quantity::<Bytes>(), "{text}");
            assert_eq!(cursor.bytes("an amount").map_err(|wrong| wrong.what), Ok(Bytes(bytes)));
            assert!(cursor.is_at_end());
        }
        let mut bare = Cursor::new("1000 ack 5", &variables);
        assert!(bare.bytes("an amount").expect_err("no unit").what.contains("has no unit"));
    }
}
