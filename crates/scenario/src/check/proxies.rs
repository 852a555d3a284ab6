//! `[[proxies]]`: middleboxes, each at a router and a link of it.

use super::choice::{agrees, choice};
use super::links::Links;
use super::name_set::NameSet;
use super::names::{Ends, Nodes};
use super::reader::{Field, Reader, join};
use super::report::Report;
use crate::document::{Item, Place};
use crate::error::{NameOf, Wrong};
use crate::keys;
use crate::model::{NodeKind, Proxy, Way};
use ackord_path::registry::ProxyChoice;
use ackord_units::Span;
use ackord_wire::NodeId;
use std::collections::BTreeMap;

/// Reads `[[proxies]]`. What is wrong is reported and left out.
pub(super) fn proxies(
    report: &mut Report,
    root: &Reader<'_>,
    nodes: &Nodes,
    links: &Links,
    flows: &NameSet,
) -> Vec<Proxy> {
    let fields = root.list(report, "proxies", "a list of tables, `[[proxies]]`");
    let mut names = BTreeMap::new();
    let mut taken = BTreeMap::new();
    let mut proxies = Vec::new();
    for field in fields {
        let path = super::element_path(&field, proxy_name(field.item));
        let of = "a middlebox";
        let Some(reader) = Reader::new(report, field.item, path, keys::PROXY, of) else { continue };
        let Some(proxy) = proxy(report, &reader, nodes, links, flows) else { continue };
        unique(report, &reader, &mut names, NameOf::Proxy, "name", &proxy.name);
        let link = links.name_of(proxy.link);
        unique(report, &reader, &mut taken, NameOf::ProxyLink, "link", link);
        proxies.push(proxy);
    }
    proxies
}

/// What a middlebox is called: its name, or that of its router.
pub(crate) fn proxy_name(item: &Item) -> Option<&str> {
    let table = item.as_table()?;
    let text = |key: &str| table.get(key)?.item.as_text();
    text("name").or_else(|| text("at"))
}

/// Reports a name that another box has given already.
fn unique(
    report: &mut Report,
    reader: &Reader<'_>,
    seen: &mut BTreeMap<String, Place>,
    what: NameOf,
    key: &'static str,
    name: &str,
) {
    let place = reader.place_of(key);
    if let Some(first) = seen.insert(name.to_owned(), place.clone()) {
        let wrong = Wrong::Duplicate { what, name: name.to_owned(), first };
        report.add(place, &join(&reader.path, key), wrong);
    }
}

fn proxy(
    report: &mut Report,
    reader: &Reader<'_>,
    nodes: &Nodes,
    links: &Links,
    flows: &NameSet,
) -> Option<Proxy> {
    let name = match reader.get("name") {
        Some(_) => reader.name(report, "name"),
        None => reader.name(report, "at"),
    };
    let at = reader.get("at").and_then(|field| router(report, &field, nodes));
    let link = reader.get("link").and_then(|field| link_at(report, &field, at, nodes, links));
    let chosen = which(report, reader, flows);
    let times = lifetime(report, reader);
    let ((link, to_mobile), (dies, restarts)) = (link?, times?);
    Some(Proxy { name: name?, at: at?, link, to_mobile, choice: chosen?, dies, restarts })
}

fn router(report: &mut Report, field: &Field<'_>, nodes: &Nodes) -> Option<NodeId> {
    let ends = nodes.resolve(report, field, NameOf::Node)?;
    let given = field.item.as_text().unwrap_or_default().to_owned();
    let wrong = match ends {
        Ends::One(node) if nodes.node(node).kind == NodeKind::Router => return Some(node),
        Ends::One(_) => Wrong::NotThat {
            because: format!("`{given}` is a host, and packets pass middleboxes at routers"),
            given,
            instead: "the name of a router".to_owned(),
        },
        Ends::Group(members) => Wrong::NotThat {
            because: format!("this stands for {} routers, and a box stands at one", members.len()),
            given,
            instead: "one of its members".to_owned(),
        },
    };
    field.report(report, wrong);
    None
}

/// The link, and the direction that leads away from the router.
fn link_at(
    report: &mut Report,
    field: &Field<'_>,
    at: Option<NodeId>,
    nodes: &Nodes,
    links: &Links,
) -> Option<(usize, Way)> {
    let given = field.text(report, "the name of a link")?;
    let Some((index, link)) = links.get(given) else {
        // Where some links could not be made out, this may be one of them.
        let known = links.known_names()?;
        if known.members(given).is_empty() {
            field.report(report, Wrong::unknown_name(NameOf::Link, given, known.all()));
        }
        return None;
    };
    let at = at?;
    if link.from == at {
        Some((index, Way::Forward))
    } else if link.to == at {
        Some((index, Way::Reverse))
    } else {
        let (from, to) = (&nodes.node(link.from).name, &nodes.node(link.to).name);
        let wrong = Wrong::NotThat {
            given: given.to_owned(),
            because: format!("`{given}` joins `{from}` and `{to}`"),
            instead: format!("a link of `{}`", nodes.node(at).name),
        };
        field.report(report, wrong);
        None
    }
}

/// The box, or `none`.
fn which(report: &mut Report, reader: &Reader<'_>, flows: &NameSet) -> Option<Option<ProxyChoice>> {
    let field = reader.get("proxy")?;
    if field.item.as_text() == Some("none") {
        return Some(None);
    }
    let chosen: ProxyChoice = choice(report, &field, ("proxy", flows), None)?;
    agrees(report, &field, &chosen).then_some(Some(chosen))
}

/// When it dies and begins anew; nothing where that is wrong, which has then been reported.
fn lifetime(report: &mut Report, reader: &Reader<'_>) -> Option<(Option<Span>, Option<Span>)> {
    let before = report.problems.len();
    let [dies, restarts] = ["dies", "restarts"].map(|key| reader.span(report, key));
    if report.problems.len() > before {
        return None;
    }
    if let (Some(field), Some(restarts)) = (reader.get("restarts"), restarts)
        && dies.is_none_or(|dies| restarts <= dies)
    {
        let why = match dies {
            None => "a box that does not die cannot begin anew".to_owned(),
            Some(dies) => format!("`{restarts}` is not after `dies`, {dies}"),
        };
        let allowed = "a time after `dies`".to_owned();
        field.report(report, Wrong::BadValue { why, allowed });
        return None;
    }
    Some((dies, restarts))
}
