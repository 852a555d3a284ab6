//! `[[links]]`: two directions each, groups expanded.

use super::choice::{agrees, choice};
use super::direction::Draft;
use super::name_set::NameSet;
use super::names::{self, Nodes, Pair};
use super::reader::{Field, Reader, join};
use super::report::Report;
use crate::document::Place;
use crate::error::{NameOf, Wrong};
use crate::keys;
use crate::model::{Capture, Link, Way};
use ackord_path::registry::MediumChoice;
use std::collections::BTreeMap;

/// The links that could be made out.
pub(super) struct Links {
    links: Vec<Link>,
    names: NameSet,
    by_name: BTreeMap<String, usize>,
    /// All of them could be made out.
    complete: bool,
    /// The names of all of them are known.
    named: bool,
}

/// Reads `[[links]]`.
pub(super) fn links(
    report: &mut Report,
    root: &Reader<'_>,
    nodes: &Nodes,
    flows: &NameSet,
) -> Links {
    let fields = root.list(report, "links", "a list of tables, `[[links]]`");
    let mut links = Links {
        links: Vec::new(),
        names: NameSet::default(),
        by_name: BTreeMap::new(),
        complete: !fields.is_empty(),
        named: !fields.is_empty(),
    };
    if let Some(field) = root.get("links").filter(|_| fields.is_empty()) {
        at_least_one(report, &field, "link");
    }
    let mut places = BTreeMap::new();
    for field in fields {
        let path = super::element_path(&field, link_name(field.item).as_deref());
        let before = report.problems.len();
        if let Some(reader) = Reader::new(report, field.item, path, keys::LINK, "a link") {
            links.named &= add(report, &reader, nodes, flows, &mut links, &mut places).is_some();
        } else {
            links.named = false;
        }
        links.complete &= report.problems.len() == before;
    }
    links
}

/// Says that a list is empty, where it is one.
pub(super) fn at_least_one(report: &mut Report, field: &Field<'_>, of: &str) {
    if matches!(&field.item.value, crate::document::Value::Array(items) if items.is_empty()) {
        let why = format!("there is no {of}");
        field.report(report, Wrong::BadValue { why, allowed: "at least one".to_owned() });
    }
}

/// What a link is called: its name, or made from its ends.
pub(crate) fn link_name(item: &crate::document::Item) -> Option<String> {
    let table = item.as_table()?;
    let text = |key: &str| table.get(key)?.item.as_text();
    match text("name") {
        Some(name) => Some(name.to_owned()),
        None => Some(format!("{}-{}", text("from")?, text("to")?)),
    }
}

/// Adds what a table stands for; nothing where names or ends cannot be made out.
fn add(
    report: &mut Report,
    reader: &Reader<'_>,
    nodes: &Nodes,
    flows: &NameSet,
    links: &mut Links,
    places: &mut BTreeMap<String, Place>,
) -> Option<()> {
    let resolve = |report: &mut Report, key| {
        reader.get(key).and_then(|field| nodes.resolve(report, &field, NameOf::Node))
    };
    let (from, to) = (resolve(report, "from"), resolve(report, "to"));
    let name = match reader.get("name") {
        Some(field) => names::written_name(report, &field),
        None => {
            let text = |key| reader.get(key).and_then(|field| field.item.as_text());
            text("from").zip(text("to")).map(|(from, to)| format!("{from}-{to}"))
        }
    };
    let medium = medium(report, reader, flows);
    let forward = Draft::forward(report, reader, flows);
    forward.check_pace(report, reader, medium.as_ref());
    let reverse = reverse(report, reader, flows, (&forward, medium.as_ref()));
    let (from, to, name) = (from?, to?, name?);
    let pair = Pair { reader, what: "link", name: &name, from: &from, to: &to };
    for member in names::expand(report, &pair)? {
        if member.from == member.to {
            let node = nodes.node(member.from).name.clone();
            let wrong = Wrong::SameEnds { what: "a link", node };
            report.add(reader.place_of("to"), &join(&reader.path, "to"), wrong);
            return None;
        }
        let place = reader.place_of(if reader.get("name").is_some() { "name" } else { "from" });
        if let Some(first) = places.insert(member.name.clone(), place.clone()) {
            let wrong = Wrong::Duplicate { what: NameOf::Link, name: member.name, first };
            report.add(place, &reader.path, wrong);
            return None;
        }
        links.names.add(&name, &member.name);
        let (Some(forward), Some(reverse)) = (forward.complete(), reverse.complete()) else {
            continue;
        };
        links.by_name.insert(member.name.clone(), links.links.len());
        let (from, to) = (member.from, member.to);
        let medium = medium.clone();
        links.links.push(Link { name: member.name, from, to, forward, reverse, medium });
    }
    Some(())
}

/// The reverse direction, and where its keys stand: with forward's if it has none of its own.
fn reverse(
    report: &mut Report,
    link: &Reader<'_>,
    flows: &NameSet,
    (forward, medium): (&Draft, Option<&MediumChoice>),
) -> Draft {
    let Some(field) = link.get("reverse") else { return forward.clone() };
    let of = "a link's reverse";
    let Some(reader) = Reader::new(report, field.item, field.path, keys::REVERSE, of) else {
        return forward.clone();
    };
    let draft = Draft::reverse(report, &reader, flows, forward);
    draft.check_pace(report, &reader, medium);
    draft
}

/// What both directions share; nothing also where it is wrong, which has then been reported.
fn medium(report: &mut Report, reader: &Reader<'_>, flows: &NameSet) -> Option<MediumChoice> {
    let field = reader.get("medium")?;
    if field.item.as_text() == Some("none") {
        return None;
    }
    let chosen = choice(report, &field, ("medium", flows), None)?;
    agrees(report, &field, &chosen);
    Some(chosen)
}

impl Links {
    pub(super) fn into_links(self) -> Vec<Link> {
        self.links
    }

    /// The links, if all of them could be made out; a part would make hosts look unreachable.
    pub(super) fn complete(&self) -> Option<&[Link]> {
        self.complete.then_some(self.links.as_slice())
    }

    /// The link of this name, if it is known; `*` names stand for none.
    pub(super) fn get(&self, name: &str) -> Option<(usize, &Link)> {
        let index = *self.by_name.get(name)?;
        Some((index, &self.links[index]))
    }

    /// The name of a link.
    pub(super) fn name_of(&self, index: usize) -> &str {
        &self.links[index].name
    }

    /// The names that links have, if all of them are known.
    pub(super) fn known_names(&self) -> Option<&NameSet> {
        self.named.then_some(&self.names)
    }

    /// The directions that `NAME` or `NAME.reverse` stands for.
    pub(super) fn captures(
        &self,
        report: &mut Report,
        field: &Field<'_>,
        given: &str,
    ) -> Vec<Capture> {
        let (name, way) = match given.strip_suffix(".reverse") {
            Some(name) => (name, Way::Reverse),
            None => (given, Way::Forward),
        };
        let members = self.names.members(name);
        if members.is_empty() && self.named {
            field.report(report, Wrong::unknown_name(NameOf::Link, name, self.names.all()));
        }
        let index = |name: &String| self.by_name.get(name);
        members.iter().filter_map(index).map(|link| Capture { link: *link, way }).collect()
    }
}
