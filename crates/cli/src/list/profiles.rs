//! `ackord list profiles`: whole TCP stacks by name, each value with its source.

use crate::errors::Failure;
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_tcp::registry::{PROFILES, Profile};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ProfileEntry {
    name: &'static str,
    summary: &'static str,
    settings: Vec<SettingEntry>,
}

#[derive(Serialize)]
struct SettingEntry {
    /// A key of a `tcp` table; of a choice's knob `CHOICE.KNOB`, and of another mechanism's
    /// `CHOICE.MECHANISM.KNOB`.
    key: &'static str,
    value: &'static str,
    source: &'static str,
}

pub(super) fn named(name: Option<&str>) -> Result<Vec<ProfileEntry>, Failure> {
    let chosen: Vec<_> =
        PROFILES.iter().filter(|profile| name.is_none_or(|name| name == profile.name)).collect();
    if let (Some(name), true) = (name, chosen.is_empty()) {
        let known = PROFILES.iter().map(|profile| profile.name.to_owned()).collect();
        return Err(Failure::unknown_name("profile", name, known));
    }
    Ok(chosen.into_iter().map(entry).collect())
}

fn entry(profile: &Profile) -> ProfileEntry {
    let Profile { name, summary, settings, of_others } = *profile;
    let settings = settings.iter().chain(of_others).map(|setting| SettingEntry {
        key: setting.key,
        value: setting.value,
        source: setting.source,
    });
    ProfileEntry { name, summary, settings: settings.collect() }
}

pub(super) fn document(profiles: &[ProfileEntry]) -> Document {
    let section = |profile: &ProfileEntry| {
        let columns = ["  key", "value", "source"].into_iter().map(Column::words);
        let rows = profile.settings.iter().map(|SettingEntry { key, value, source }| {
            vec![Cell::text(format!("  {key}")), Cell::text(*value), Cell::text(*source)]
        });
        let table =
            Table { caption: String::new(), columns: columns.collect(), rows: rows.collect() };
        let words = format!(
            "{}. Write `profile = \"{}\"` in a `tcp` table, or --set tcp.profile={}; other keys \
             override it.",
            profile.summary, profile.name, profile.name
        );
        Section::new(profile.name).with(Block::Text(words)).with(Block::Table(table))
    };
    let sections = profiles.iter().map(section).collect();
    Document { title: "Profiles".to_owned(), sections, ..Document::default() }
}
