//! The file without its overrides, for tables without `kind`: they change the knobs of an inherited choice, which an
//! override may have replaced by a mechanism that has no such knobs. Such a table keeps the mechanism that the file
//! has there.

use super::reader::Field;
use super::report::Report;
use super::{flow_name, link_name};
use crate::document::{Item, Value};
use ackord_units::Knobs;

/// Returns true if `field` does not change knobs that `inherited` lacks.
pub(super) fn fits(field: &Field<'_>, inherited: Option<&dyn Knobs>) -> bool {
    let table = match field.item.as_table() {
        Some(table) if !table.contains_key("kind") => table,
        _ => return true,
    };
    inherited.is_some_and(|chosen| {
        let mechanism = chosen.mechanism();
        table.keys().all(|key| mechanism.knob(key).is_some())
    })
}

impl Report {
    /// Returns the value at `path` in the file without overrides: a key, or an element of a list and perhaps a key
    /// of it, such as `tcp` and `flows.download.tcp`.
    pub(super) fn written(&self, path: &str) -> Option<&Item> {
        let root = self.written.as_ref()?.as_table()?;
        let mut keys = path.split('.');
        let list = keys.next()?;
        let value = &root.get(list)?.item;
        let Some(name) = keys.next() else { return Some(value) };
        let element = element(value, list, name)?;
        match keys.next() {
            None => Some(element),
            Some(key) => element.as_table()?.get(key).map(|entry| &entry.item),
        }
    }

    /// Returns a report whose problems are of no concern.
    pub(super) fn quiet(&self) -> Report {
        Report { folder: self.folder.clone(), ..Report::default() }
    }
}

/// Returns the element of a list by its name, or by its number if it has none.
fn element<'a>(value: &'a Item, list: &str, name: &str) -> Option<&'a Item> {
    let Value::Array(items) = &value.value else { return None };
    let named = |item: &&Item| match list {
        "links" => link_name(item).is_some_and(|it| it == name),
        _ => flow_name(item).is_some_and(|it| it == name),
    };
    items.iter().find(named).or_else(|| items.get(name.parse::<usize>().ok()?))
}
