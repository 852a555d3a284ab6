//! Which mechanisms the flows of a run used: their profiles, and what differs from these.

use crate::document::{Cell, Column, Table};
use ackord_measure::{FlowSummary, RunSummary};
use std::collections::{BTreeMap, BTreeSet};

/// What an application does is no matter of profiles.
const TRAFFIC: &str = "traffic";

/// What flows have in common that share a row.
#[derive(PartialEq)]
struct Kind<'a> {
    profile: String,
    /// Family to what is named of it.
    named: BTreeMap<&'a str, &'a str>,
}

/// Which mechanisms the flows used, a column per family in which one differs from its profile;
/// flows that are alike share a row. What all have as their profiles have it stands above.
pub(crate) fn mechanism_table(run: &RunSummary) -> Table {
    let mut alike: Vec<(Kind<'_>, Vec<&str>)> = Vec::new();
    for flow in &run.flows {
        let kind = Kind::of(flow);
        match alike.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) => names.push(&flow.name),
            None => alike.push((kind, vec![&flow.name])),
        }
    }
    let families: BTreeSet<&str> =
        alike.iter().flat_map(|(kind, _)| kind.named.keys().copied()).collect();
    let mut columns = vec![Column::words("flows"), Column::words("profile")];
    columns.extend(families.iter().map(|family| Column::words(family)));
    let rows = alike.iter().map(|(kind, names)| {
        let profile = match kind.profile.as_str() {
            "" => Cell::Missing,
            profile => Cell::text(profile),
        };
        let cell = |family: &&str| Cell::text(*kind.named.get(family).unwrap_or(&""));
        [Cell::text(names_in_short(names)), profile]
            .into_iter()
            .chain(families.iter().map(cell))
            .collect()
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let mut caption: Vec<String> = as_in_profiles(run);
    if rows.iter().flatten().any(|cell| *cell == Cell::text("")) {
        caption.push("Where a cell is empty, it is as in the profile.".to_owned());
    }
    Table { caption: caption.join("\n"), columns, rows }
}

impl<'a> Kind<'a> {
    fn of(flow: &'a FlowSummary) -> Kind<'a> {
        let words = |(family, words): (&'a String, &'a String)| (family.as_str(), words.as_str());
        let all = flow.mechanisms.iter().map(words);
        let named = match &flow.profile {
            Some(profile) => {
                let traffic = all.filter(|(family, _)| *family == TRAFFIC);
                profile.differs.iter().map(words).chain(traffic).collect()
            }
            None => all.collect(),
        };
        Kind { profile: profile_name(flow), named }
    }
}

/// One name where both ends have it.
fn profile_name(flow: &FlowSummary) -> String {
    match &flow.profile {
        None => String::new(),
        Some(profile) if profile.sender == profile.receiver => profile.sender.clone(),
        Some(profile) => format!("{}, receiver {}", profile.sender, profile.receiver),
    }
}

/// A line for each profile: the mechanisms that flows have as it has them.
fn as_in_profiles(run: &RunSummary) -> Vec<String> {
    let mut profiles: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for flow in &run.flows {
        let Some(profile) = &flow.profile else { continue };
        let same = flow.mechanisms.iter().filter(|(family, _)| {
            !profile.differs.contains_key(*family)
                && !matches!(family.as_str(), TRAFFIC | "endpoint" | "receiver_endpoint")
        });
        // Without the knobs, which the profile tells.
        let name = |words: &str| words.split(',').next().unwrap_or_default().to_owned();
        profiles
            .entry(profile_name(flow))
            .or_default()
            .extend(same.map(|(family, words)| format!("{family} {}", name(words))));
    }
    let line = |(profile, same): (String, BTreeSet<String>)| match same.is_empty() {
        true => format!("Profile {profile}: see `ackord list profiles`."),
        false => {
            let same: Vec<_> = same.into_iter().collect();
            format!("Profile {profile}: {}; its knobs: `ackord list profiles`.", same.join(", "))
        }
    };
    profiles.into_iter().map(line).collect()
}

/// One or two names, or the first and the last of more.
fn names_in_short(names: &[&str]) -> String {
    match names {
        [first, .., last] if names.len() > 2 => format!("{first} to {last} ({})", names.len()),
        _ => names.join(", "),
    }
}
