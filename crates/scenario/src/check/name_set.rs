//! Names: which can be one, and sets of them.

use std::collections::BTreeMap;

/// Names of things of one kind; `*` names stand for several.
#[derive(Debug, Default)]
pub struct NameSet(BTreeMap<String, Vec<String>>);

impl NameSet {
    /// Adds one thing under its own name and under the `*` name it was written with.
    pub(super) fn add(&mut self, written: &str, name: &str) {
        self.0.insert(name.to_owned(), vec![name.to_owned()]);
        if written != name {
            self.0.entry(written.to_owned()).or_default().push(name.to_owned());
        }
    }

    /// The things of this name, or of this `*` name; empty if there is none.
    pub(super) fn members(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Whether `text` can name something: so that paths, file names and `*` stay unambiguous.
pub fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=64).contains(&text.len())
        && text.chars().all(allowed)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}
