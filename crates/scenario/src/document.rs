//! A TOML document as a tree in which every key and value knows where it was written.
//!
//! The parser's own tree borrows the text; this one does not, so that overrides from the command
//! line can be put into it before anything is checked.

use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the file as such; no line of it in particular.
    File,
    /// These bytes of the file.
    Text(Range<usize>),
    /// These bytes of the override with this number, as written: `path=VALUE`.
    Override {
        /// Which, from zero.
        index: usize,
        /// Bytes of `path=VALUE`.
        range: Range<usize>,
    },
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it stands.
    pub place: Place,
    /// The value.
    pub value: Value,
    /// Present if an override put a plain value here.
    pub standing: Option<Standing>,
}

/// What an override replaces, for values that name a mechanism: a mechanism that is named again keeps its settings.
#[derive(Clone, Debug)]
pub enum Standing {
    /// The value of the same key, as in the file or as an earlier override left it.
    Value(Box<Item>),
    /// The key was absent, so the value is inherited or the default.
    Absent,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A date or time, or an integer beyond any use; nothing in a scenario takes one.
    Other(&'static str),
    /// A list.
    Array(Vec<Item>),
    /// A table.
    Table(Table),
}

/// A TOML table: keys are unique and have no order.
pub type Table = BTreeMap<String, Entry>;

/// A key's value, and where the key stands.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where the key stands.
    pub key: Place,
    /// Its value.
    pub item: Item,
}

impl Item {
    /// Builds an item that is not an override's.
    pub fn new(place: Place, value: Value) -> Item {
        Item { place, value, standing: None }
    }

    /// What kind of value it is, for errors.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Other(kind) => kind,
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Its text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its table, if it is one.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }
}

/// Copies the parser's tree, with `place` telling where a range of its text stands.
pub(crate) fn from_toml(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Table {
    table
        .iter()
        .map(|(key, value)| {
            let entry = Entry { key: place(key.span()), item: item_from_toml(value, place) };
            (key.get_ref().to_string(), entry)
        })
        .collect()
}

fn item_from_toml(value: &Spanned<DeValue<'_>>, place: &dyn Fn(Range<usize>) -> Place) -> Item {
    let converted = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => i128::from_str_radix(digits.as_str(), digits.radix())
            .map_or(Value::Other("a whole number without bounds"), Value::Integer),
        DeValue::Float(digits) => {
            digits.as_str().parse().map_or(Value::Other("not a number"), Value::Float)
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(_) => Value::Other("a date or time"),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| item_from_toml(item, place)).collect())
        }
        DeValue::Table(table) => Value::Table(from_toml(table, place)),
    };
    Item::new(place(value.span()), converted)
}
