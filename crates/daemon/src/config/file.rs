//! The text of a configuration, and what it says once it is checked.

use ackord_scenario::format::{
    Item, Key, Reader, Report, Table, Value, parse, read, unreadable, whole,
};
use ackord_scenario::{Errors, Place, Problem};
use std::marker::PhantomData;
use std::path::Path;

/// What a file says once it is checked.
pub trait FromFile: Sized {
    /// Every key of the file, and what it describes, like `a gateway`.
    fn format() -> (&'static [Key], &'static str);

    /// What it says; what is wrong is reported.
    fn read(report: &mut Report, root: &Reader<'_>) -> Option<Self>;
}

/// The text of a configuration, not yet checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile<C> {
    name: String,
    text: String,
    says: PhantomData<C>,
}

impl<C: FromFile> ConfigFile<C> {
    /// A text; `name` stands in errors.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> ConfigFile<C> {
        ConfigFile { name: name.into(), text: text.into(), says: PhantomData }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<ConfigFile<C>, Errors> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match read(path) {
            Ok(text) => Ok(ConfigFile::new(name, text)),
            Err(wrong) => Err(unreadable(name, wrong)),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as it stands there.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says, or everything that is wrong with it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check(&self) -> Result<C, Errors> {
        let checked = parse(&self.text).and_then(|document| {
            let document = whole(document);
            let mut report = Report::default();
            let (keys, of) = C::format();
            let root = Reader::new(&mut report, &document, String::new(), keys, of);
            let config = root.and_then(|root| {
                root.integer(&mut report, "version");
                C::read(&mut report, &root)
            });
            match config {
                Some(config) if report.is_empty() => Ok(config),
                _ => Err(report.into_problems()),
            }
        });
        checked.map_err(|problems| self.told(problems))
    }

    /// Problems, or warnings, with this text to show where.
    pub fn told(&self, problems: Vec<Problem>) -> Errors {
        Errors::new(&self.name, &self.text, problems)
    }

    /// Where the value of a key stands (`queue.lan.rate`, `rule.0.port`), or else the table that would have
    /// it.
    pub fn place_of(&self, path: &str) -> Place {
        let Ok(document) = parse(&self.text) else { return Place::File };
        let mut place = Place::File;
        let mut keys = path.split('.');
        let Some(mut item) = keys.next().and_then(|key| of_table(&document, key)) else {
            return place;
        };
        loop {
            place = item.place.clone();
            let next = keys.next().and_then(|key| match &item.value {
                Value::Table(table) => of_table(table, key),
                Value::Array(items) => items.get(key.parse::<usize>().ok()?),
                _ => None,
            });
            match next {
                Some(next) => item = next,
                None => return place,
            }
        }
    }
}

fn of_table<'a>(table: &'a Table, key: &str) -> Option<&'a Item> {
    table.get(key).map(|entry| &entry.item)
}
