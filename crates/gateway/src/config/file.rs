//! Texts on their way to a configuration: a file, or a line of options.
//!
//! Options become the text of a file, which is then checked: whatever is wrong with one is said as it would be
//! said of a file, and the file is there to begin with.

use super::{GatewayConfig, check};
use ackord_path::registry::{ProxyChoice, QueueChoice};
use ackord_scenario::format::{Item, Table, Value, parse, read, unreadable};
use ackord_scenario::spelling::{mechanism, quoted, rate, share};
use ackord_scenario::{Errors, Place, Problem};
use ackord_units::Choice;
use std::path::Path;

/// The text of a configuration, not yet checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    name: String,
    text: String,
}

/// A configuration of one line: what somebody typed who wants to try it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigOptions {
    /// The interface towards the fixed hosts.
    pub wan: String,
    /// Those towards the mobile hosts.
    pub lan: Vec<String>,
    /// A remedy, with knobs behind a colon: `proxy-tcp:mode=paper`.
    pub remedy: Option<String>,
    /// A queue towards the mobile hosts, likewise.
    pub queue: Option<String>,
    /// Its rate: `20mbit`.
    pub rate: Option<String>,
    /// The share of connections that are left alone: `5%`.
    pub control: Option<String>,
}

impl ConfigFile {
    /// A text; `name` stands in errors.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> ConfigFile {
        ConfigFile { name: name.into(), text: text.into() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<ConfigFile, Errors> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match read(path) {
            Ok(text) => Ok(ConfigFile { name, text }),
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
    pub fn check(&self) -> Result<GatewayConfig, Errors> {
        let checked = parse(&self.text).and_then(check::check);
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

impl ConfigOptions {
    /// What they say as a file.
    pub fn file(&self) -> ConfigFile {
        let lan: Vec<String> = self.lan.iter().map(|name| quoted(name)).collect();
        let lan = match &lan[..] {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let mut text = format!("wan = {}\nlan = {lan}\n", quoted(&self.wan));
        let mut say = |line: Option<String>| text.extend(line);
        say(self
            .remedy
            .as_ref()
            .map(|given| format!("remedy = {}\n", mechanism(ProxyChoice::MECHANISMS, given))));
        say(self.control.as_ref().map(|given| format!("control = {}\n", quoted(&share(given)))));
        if self.queue.is_some() || self.rate.is_some() {
            say(Some("\n[queue.lan]\n".to_owned()));
        }
        let queue = self.queue.as_ref();
        say(queue
            .map(|given| format!("discipline = {}\n", mechanism(QueueChoice::MECHANISMS, given))));
        say(self.rate.as_ref().map(|given| format!("rate = {}\n", quoted(&rate(given)))));
        ConfigFile::new("the options, as a file", text)
    }
}
