//! `[[links]]`: two directions each, groups expanded.

use super::Report;
use super::choice::registered;
use super::link_choices::{jitter, loss, medium, outage, queue};
use super::names::{self, NameSet, Nodes, Pair};
use super::reader::{Field, Reader, join};
use crate::document::Place;
use crate::error::{NameOf, Wrong};
use crate::keys;
use crate::model::{Capture, Direction, Link, Way};
use ackord_path::registry;
use ackord_units::{Choice, Rate, Span};
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

/// One direction while it is being read. `None` stands for a value that is wrong or missing.
#[derive(Clone)]
struct Draft {
    rate: Option<Rate>,
    delay: Option<Span>,
    jitter: Option<Option<Choice>>,
    queue: Option<Choice>,
    outage: Option<Option<Choice>>,
    loss: Option<Option<Choice>>,
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
    let forward = forward(report, reader, flows);
    let reverse = reverse(report, reader, flows, &forward);
    let medium = medium(report, reader, flows);
    if medium.is_some() {
        forward.refuse_waiting(report, reader);
        reverse.refuse_waiting(report, reader);
    }
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

fn forward(report: &mut Report, reader: &Reader<'_>, flows: &NameSet) -> Draft {
    let default = registered(registry::QUEUE, "drop-tail");
    Draft {
        rate: reader.rate(report, "rate"),
        delay: reader.span(report, "delay"),
        queue: queue(report, reader, flows, Some(&default)),
        jitter: jitter(report, reader, flows, None),
        outage: outage(report, reader, flows, None),
        loss: loss(report, reader, flows, None),
    }
}

fn reverse(report: &mut Report, link: &Reader<'_>, flows: &NameSet, forward: &Draft) -> Draft {
    let Some(field) = link.get("reverse") else { return forward.clone() };
    let of = "a link's reverse";
    let Some(reader) = Reader::new(report, field.item, field.path, keys::REVERSE, of) else {
        return forward.clone();
    };
    let mut draft = forward.clone();
    if reader.get("rate").is_some() {
        draft.rate = reader.rate(report, "rate");
    }
    if reader.get("delay").is_some() {
        draft.delay = reader.span(report, "delay");
    }
    draft.queue = queue(report, &reader, flows, forward.queue.as_ref());
    let inherited = forward.jitter.as_ref().and_then(Option::as_ref);
    draft.jitter = jitter(report, &reader, flows, inherited);
    let inherited = forward.outage.as_ref().and_then(Option::as_ref);
    draft.outage = outage(report, &reader, flows, inherited);
    let inherited = forward.loss.as_ref().and_then(Option::as_ref);
    draft.loss = loss(report, &reader, flows, inherited);
    draft
}

impl Draft {
    /// A medium takes its turns when it may; nothing on a link can make it wait.
    fn refuse_waiting(&self, report: &mut Report, reader: &Reader<'_>) {
        let outage = self.outage.as_ref().and_then(Option::as_ref);
        if outage.is_some_and(registry::outage_holds) {
            let why = "an outage cannot hold back the turns of a medium".to_owned();
            let allowed = "`does = \"loses\"` on a link with a `medium`".to_owned();
            let path = join(&reader.path, "outage");
            report.add(reader.place_of("outage"), &path, Wrong::BadValue { why, allowed });
        }
    }

    fn complete(&self) -> Option<Direction> {
        Some(Direction {
            rate: self.rate?,
            delay: self.delay?,
            jitter: self.jitter.clone()?,
            queue: self.queue.clone()?,
            outage: self.outage.clone()?,
            loss: self.loss.clone()?,
        })
    }
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
