//! `--set path.to.key=VALUE`: changes to a document before it is checked, so that a wrong value is
//! refused in the same words wherever it was written.
//!
//! Hosts, routers, links, middleboxes and flows are addressed by name (`flows.reno.start`), all but
//! hosts and routers also by number from zero (`flows.0.start`), or all at once (`flows.*.start`).
//!
//! A value that only names the mechanism already in force changes nothing, so that `--vary queue=drop-tail,codel`
//! compares the file's own drop-tail queue; `{ kind = "drop-tail" }` is one with default settings.

use crate::check::{flow_name, link_name, proxy_name};
use crate::document::{self, Entry, Item, Place, Standing, Table, Value};
use crate::error::{NameOf, Problem, Wrong};
use crate::keys;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use toml::de::DeTable;

/// A change to a scenario file: the value at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Keys and names joined by dots.
    pub path: String,
    /// TOML, or a text without its quotes.
    pub value: String,
}

/// A setting that an override replaced by naming another mechanism than the one in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Path of the choice, such as `links.uplink.queue`.
    pub path: String,
    /// Name of the setting, such as `limit`.
    pub setting: &'static str,
    /// Value before.
    pub before: String,
    /// Value of the named mechanism's setting of the same name, if it has one.
    pub after: Option<String>,
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Replaced { setting, before, after, .. } = self;
        match after {
            Some(after) => write!(f, "{setting} {after} in place of {before}"),
            None => write!(f, "without {setting} {before}"),
        }
    }
}

/// An override without `=`, or with nothing before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not of the form path.to.key=VALUE")]
pub struct ParseOverrideError {
    /// What was given.
    pub given: String,
}

impl Override {
    /// The value at `path` becomes `value`.
    pub fn new(path: impl Into<String>, value: impl Into<String>) -> Override {
        Override { path: path.into(), value: value.into() }
    }

    /// One override for each of the values in `path=A,B,..`. Commas inside brackets, braces and
    /// quotes do not separate.
    pub fn each(text: &str) -> Result<Vec<Override>, ParseOverrideError> {
        let Override { path, value } = text.parse()?;
        let mut values = vec![String::new()];
        let (mut depth, mut quote) = (0usize, None);
        for c in value.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '{' | '[') => depth += 1,
                (None, '}' | ']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            match values.last_mut() {
                Some(last) if c != ',' || depth > 0 || quote.is_some() => last.push(c),
                _ => values.push(String::new()),
            }
        }
        Ok(values.iter().map(|value| Override::new(&path, value.trim())).collect())
    }
}

impl FromStr for Override {
    type Err = ParseOverrideError;

    fn from_str(text: &str) -> Result<Override, ParseOverrideError> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Override::new(path.trim(), value.trim()))
            }
            _ => Err(ParseOverrideError { given: text.to_owned() }),
        }
    }
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.value)
    }
}

/// Puts the overrides into the document, in order, so that of two for one path the last one holds.
pub(crate) fn apply(document: &mut Table, overrides: &[Override]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, change) in overrides.iter().enumerate() {
        let step = Step { change, index, start: 0 };
        let result = value(change, index).and_then(|item| set_in(document, step, &item));
        problems.extend(result.err().map(|problem| *problem));
    }
    problems
}

/// The value as TOML if it is that, else as a text.
fn value(change: &Override, index: usize) -> Result<Item, Box<Problem>> {
    let offset = change.path.len() + 1;
    let place = |range: Range<usize>| Place::Override { index, range };
    let whole = place(offset..offset + change.value.len());
    const PREFIX: &str = "v=";
    // A line break would begin another key; no value of one line has any.
    let one_line = !change.value.contains(['\n', '\r']);
    let text = format!("{PREFIX}{}", change.value);
    match DeTable::parse(&text) {
        Ok(table) if one_line => {
            let shift = |range: Range<usize>| {
                let at = |byte: usize| (byte + offset).saturating_sub(PREFIX.len());
                place(at(range.start)..at(range.end))
            };
            let mut table = document::from_toml(table.get_ref(), &shift);
            let item = table.remove("v").map(|entry| entry.item);
            let plain = || Value::Text(change.value.clone());
            Ok(match item {
                // `2026-01-01` was not meant as a date: nothing here takes one.
                Some(Item { value: Value::Other(_), .. }) | None => Item::new(whole, plain()),
                Some(item) => item,
            })
        }
        Err(error) if one_line && change.value.starts_with(['{', '[', '"', '\'']) => {
            Err(Box::new(Problem {
                place: whole,
                path: change.path.clone(),
                wrong: Wrong::Syntax { message: error.message().to_owned() },
            }))
        }
        _ => Ok(Item::new(whole, Value::Text(change.value.clone()))),
    }
}

/// How far along its path an override has come.
#[derive(Clone, Copy)]
struct Step<'a> {
    change: &'a Override,
    index: usize,
    /// Bytes of the path gone by.
    start: usize,
}

impl<'a> Step<'a> {
    /// The next key, and what follows it.
    fn next(self) -> (&'a str, Option<Step<'a>>) {
        let rest = &self.change.path[self.start..];
        match rest.split_once('.') {
            Some((key, _)) => (key, Some(Step { start: self.start + key.len() + 1, ..self })),
            None => (rest, None),
        }
    }

    fn place(self) -> Place {
        let (key, _) = self.next();
        Place::Override { index: self.index, range: self.start..self.start + key.len() }
    }

    /// The path up to and without the next key.
    fn before(self) -> &'a str {
        self.change.path[..self.start].trim_end_matches('.')
    }

    fn problem(self, wrong: Wrong) -> Box<Problem> {
        Box::new(Problem { place: self.place(), path: self.change.path.clone(), wrong })
    }
}

/// Sets what is left of the path under `table`.
fn set_in(table: &mut Table, step: Step<'_>, item: &Item) -> Result<(), Box<Problem>> {
    let (key, rest) = step.next();
    let named = matches!(step.before(), "hosts" | "routers");
    if let (true, "*", Some(rest)) = (named, key, rest) {
        let tables = table.values_mut().filter_map(|entry| match &mut entry.item.value {
            Value::Table(inner) => Some(inner),
            _ => None,
        });
        return tables.into_iter().try_for_each(|inner| set_in(inner, rest, item));
    }
    if named && !table.contains_key(key) {
        let what = if step.before() == "hosts" { NameOf::Host } else { NameOf::Node };
        return Err(step.problem(Wrong::unknown_name(what, key, table.keys().map(String::as_str))));
    }
    let Some(rest) = rest else {
        let before = table.remove(key).map(|entry| Box::new(entry.item));
        let mut item = item.clone();
        if matches!(item.value, Value::Text(_) | Value::Bool(_)) {
            item.standing = Some(before.map_or(Standing::Absent, Standing::Value));
        }
        table.insert(key.to_owned(), Entry { key: step.place(), item });
        return Ok(());
    };
    // A table that is not there yet. If the key means nothing the checker says so.
    let entry = table.entry(key.to_owned()).or_insert_with(|| Entry {
        key: step.place(),
        item: Item::new(step.place(), Value::Table(Table::new())),
    });
    upgrade(key, &mut entry.item);
    match &mut entry.item.value {
        Value::Table(inner) => set_in(inner, rest, item),
        Value::Array(items) => set_in_list(key, items, rest, item),
        _ => {
            let given = entry.item.kind();
            Err(step.problem(Wrong::NoKeysThere { at: key.to_owned(), given }))
        }
    }
}

/// A choice by name only becomes a table, which has room for knobs.
fn upgrade(key: &str, item: &mut Item) {
    let is_choice = keys::CHOICES.contains(&key);
    if is_choice && matches!(item.value, Value::Text(_) | Value::Bool(_)) {
        let kind = Entry { key: item.place.clone(), item: item.clone() };
        item.value = Value::Table(Table::from([("kind".to_owned(), kind)]));
    }
}

/// Sets what is left of the path in the elements of a list that its next part names.
fn set_in_list(
    list: &str,
    items: &mut [Item],
    step: Step<'_>,
    value: &Item,
) -> Result<(), Box<Problem>> {
    let what = match list {
        "links" => NameOf::Link,
        "proxies" => NameOf::Proxy,
        "flows" => NameOf::Flow,
        _ => {
            let (at, given) = (list.to_owned(), "a list");
            return Err(step.problem(Wrong::NoKeysThere { at, given }));
        }
    };
    let (given, rest) = step.next();
    let names: Vec<String> = items.iter().map(|item| name(what, item)).collect();
    let named = || names.iter().position(|name| name == given);
    let numbered = || given.parse().ok().filter(|index| *index < items.len());
    let range = match given {
        "*" => 0..items.len(),
        _ => match named().or_else(numbered) {
            Some(index) => index..index + 1,
            None => {
                let known = names.iter().map(String::as_str).filter(|name| !name.is_empty());
                return Err(step.problem(Wrong::unknown_name(what, given, known)));
            }
        },
    };
    for element in &mut items[range] {
        let Some(rest) = rest else {
            *element = value.clone();
            continue;
        };
        match &mut element.value {
            Value::Table(table) => set_in(table, rest, value)?,
            _ => {
                let (at, given) = (given.to_owned(), element.kind());
                return Err(step.problem(Wrong::NoKeysThere { at, given }));
            }
        }
    }
    Ok(())
}

fn name(what: NameOf, item: &Item) -> String {
    let name = match what {
        NameOf::Link => link_name(item),
        NameOf::Proxy => proxy_name(item).map(str::to_owned),
        _ => flow_name(item).map(str::to_owned),
    };
    name.unwrap_or_default()
}
