//! Reading a table: refuses keys that mean nothing, asks for those that have to be there, and
//! hands out values of the plain kinds.

use super::report::Report;
use crate::document::{Item, Place, Table, Value};
use crate::error::Wrong;
use crate::keys::{Key, Need, Shape};
use ackord_units::{Quantity, Rate, Span};

/// A table whose keys have been checked.
#[derive(Debug)]
pub struct Reader<'a> {
    table: &'a Table,
    keys: &'static [Key],
    /// Where it stands.
    pub place: &'a Place,
    /// The keys that lead to it.
    pub path: String,
}

/// A value, and the keys that lead to it.
#[derive(Debug)]
pub struct Field<'a> {
    /// The value.
    pub item: &'a Item,
    /// The keys that lead to it.
    pub path: String,
}

/// The path of `key` under `path`.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

impl<'a> Reader<'a> {
    /// Reads `item` as a table with these keys; `of` says in errors what has them.
    pub fn new(
        report: &mut Report,
        item: &'a Item,
        path: String,
        keys: &'static [Key],
        of: &str,
    ) -> Option<Reader<'a>> {
        let Value::Table(table) = &item.value else {
            let expected = format!("a table, {of}");
            report.add(&item.place, &path, Wrong::WrongType { given: item.kind(), expected });
            return None;
        };
        for (name, entry) in table {
            if !keys.iter().any(|key| key.name == name) {
                let allowed = keys.iter().map(|key| key.name);
                let wrong = Wrong::unknown_key(name, of, allowed);
                report.add(&entry.key, &join(&path, name), wrong);
            }
        }
        for key in keys {
            if matches!(key.need, Need::Required) && !table.contains_key(key.name) {
                let (name, doc) = (key.name, key.doc);
                let wrong = Wrong::MissingKey { key: name, doc, example: key.example.to_owned() };
                report.add(&item.place, &join(&path, name), wrong);
            }
        }
        Some(Reader { table, keys, place: &item.place, path })
    }

    /// A table that is not there, of whose keys none is required.
    pub fn empty(place: &'a Place, path: &str, keys: &'static [Key]) -> Reader<'a> {
        static EMPTY: Table = Table::new();
        Reader { table: &EMPTY, keys, place, path: path.to_owned() }
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &'static str) -> Option<Field<'a>> {
        debug_assert!(self.keys.iter().any(|known| known.name == key), "{key} is not listed");
        let entry = self.table.get(key)?;
        Some(Field { item: &entry.item, path: join(&self.path, key) })
    }

    /// Where a key's value stands, or else the table.
    pub fn place_of(&self, key: &'static str) -> &'a Place {
        self.get(key).map_or(self.place, |field| &field.item.place)
    }

    fn shape(&self, key: &'static str) -> &'static Shape {
        let known = self.keys.iter().find(|known| known.name == key);
        &known.expect("only listed keys are read").shape
    }

    /// A whole number within the bounds listed for the key.
    pub fn integer(&self, report: &mut Report, key: &'static str) -> Option<u64> {
        let Shape::Integer { min, max } = *self.shape(key) else {
            unreachable!("{key} is listed as a whole number")
        };
        let field = self.get(key)?;
        let allowed = match (min, max) {
            (min, max) if min == max => min.to_string(),
            (min, u64::MAX) => format!("a whole number, {min} or more"),
            (min, max) => format!("a whole number from {min} to {max}"),
        };
        let Value::Integer(given) = field.item.value else {
            field.wrong_type(report, allowed);
            return None;
        };
        match u64::try_from(given) {
            Ok(value) if (min..=max).contains(&value) => Some(value),
            _ => {
                let why = match min == max {
                    true => format!("{key} {given} is not known"),
                    false => format!("`{given}` is out of range"),
                };
                field.report(report, Wrong::BadValue { why, allowed });
                None
            }
        }
    }

    /// A text that says something.
    pub fn prose(&self, report: &mut Report, key: &'static str) -> Option<String> {
        let field = self.get(key)?;
        let text = field.text(report, "a text")?;
        if text.trim().is_empty() {
            let why = format!("`{key}` is empty");
            field.report(report, Wrong::BadValue { why, allowed: "a sentence".to_owned() });
            return None;
        }
        Some(text.to_owned())
    }

    /// A name of one thing, without `*`.
    pub fn name(&self, report: &mut Report, key: &'static str) -> Option<String> {
        let field = self.get(key)?;
        let text = field.text(report, "a name")?;
        if !super::name_set::is_name(text) {
            field.report(report, Wrong::BadName { given: text.to_owned() });
            return None;
        }
        Some(text.to_owned())
    }

    /// A time span, zero included.
    pub fn span(&self, report: &mut Report, key: &'static str) -> Option<Span> {
        self.get(key)?.quantity(report)
    }

    /// A time span, zero excluded.
    pub fn positive_span(&self, report: &mut Report, key: &'static str) -> Option<Span> {
        let field = self.get(key)?;
        let value = field.quantity(report)?;
        field.above_zero(report, value)
    }

    /// A rate, zero excluded.
    pub fn rate(&self, report: &mut Report, key: &'static str) -> Option<Rate> {
        let field = self.get(key)?;
        let value = field.quantity(report)?;
        field.above_zero(report, value)
    }

    /// The elements of a list; none if it is absent or not a list.
    pub fn list(&self, report: &mut Report, key: &'static str, expected: &str) -> Vec<Field<'a>> {
        let Some(field) = self.get(key) else { return Vec::new() };
        let Value::Array(items) = &field.item.value else {
            field.wrong_type(report, expected);
            return Vec::new();
        };
        let path = |index: usize| join(&field.path, &index.to_string());
        items.iter().enumerate().map(|(index, item)| Field { item, path: path(index) }).collect()
    }
}

impl<'a> Field<'a> {
    /// Something is wrong with it.
    pub fn report(&self, report: &mut Report, wrong: Wrong) {
        report.add(&self.item.place, &self.path, wrong);
    }

    /// It is of another kind than what belongs there.
    pub fn wrong_type(&self, report: &mut Report, expected: impl Into<String>) {
        let wrong = Wrong::WrongType { given: self.item.kind(), expected: expected.into() };
        self.report(report, wrong);
    }

    /// The value as a text.
    pub fn text(&self, report: &mut Report, expected: &str) -> Option<&'a str> {
        let text = self.item.as_text();
        if text.is_none() {
            self.wrong_type(report, expected);
        }
        text
    }

    /// The value as one of a few words.
    pub fn word<T: Copy>(&self, report: &mut Report, words: &[(&str, T)]) -> Option<T> {
        let names = || words.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
        let text = self.text(report, &names())?;
        let found = words.iter().find(|(name, _)| *name == text);
        if found.is_none() {
            let why = format!("`{text}` means nothing here");
            self.report(report, Wrong::BadValue { why, allowed: names() });
        }
        found.map(|(_, value)| *value)
    }

    /// The value as a quantity with its unit.
    pub fn quantity<Q: Quantity>(&self, report: &mut Report) -> Option<Q> {
        let text = match &self.item.value {
            Value::Text(text) => text.clone(),
            // A bare number lacks its unit, and that error says which units there are.
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => {
                self.wrong_type(report, format!("{} like `{}`", Q::KIND, Q::EXAMPLE));
                return None;
            }
        };
        match Q::parse(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                let allowed = format!("{} like `{}`", Q::KIND, Q::EXAMPLE);
                self.report(report, Wrong::BadValue { why: error.to_string(), allowed });
                None
            }
        }
    }

    /// The value, if it is not zero.
    pub fn above_zero<Q: Quantity + Default + PartialEq>(
        &self,
        report: &mut Report,
        value: Q,
    ) -> Option<Q> {
        if value == Q::default() {
            let why = format!("`{}` is zero", self.item.as_text().unwrap_or_default());
            let allowed = format!("{} above zero, like `{}`", Q::KIND, Q::EXAMPLE);
            self.report(report, Wrong::BadValue { why, allowed });
            return None;
        }
        Some(value)
    }
}
