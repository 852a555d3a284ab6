//! Hosts, routers and groups of them, and how `*` stands for the members of a group.

use super::choice::choice;
use super::name_set::{NameSet, is_name};
use super::reader::{Field, Reader, join};
use super::report::Report;
use crate::document::{Place, Value};
use crate::error::{NameOf, Wrong};
use crate::keys;
use crate::model::{KernelChoice, Node, NodeKind};
use ackord_path::registry::ProcessingChoice;
use ackord_wire::NodeId;
use std::collections::BTreeMap;

/// As many nodes as a [`NodeId`] can number.
const MAX_NODES: usize = 65_535;

/// The name of a link or flow as written, `*` included.
pub(super) fn written_name(report: &mut Report, field: &Field<'_>) -> Option<String> {
    let text = field.text(report, "a name")?;
    if !is_name(&text.replace('*', "1")) {
        field.report(report, Wrong::BadName { given: text.to_owned() });
        return None;
    }
    Some(text.to_owned())
}

/// Every host and router.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// Every node by name.
    by_name: BTreeMap<String, NodeId>,
    /// What was declared, by the name in the file.
    declared: BTreeMap<String, Declared>,
}

/// What a name in `[hosts]` or `[routers]` stands for.
enum Declared {
    One,
    Group(Vec<NodeId>),
    /// Its table is wrong, so what refers to it is not judged.
    Unclear,
}

/// What a reference stands for.
#[derive(Clone)]
pub(super) enum Ends {
    One(NodeId),
    Group(Vec<NodeId>),
}

/// One of the things that an entry with `*` stands for.
pub(super) struct Member {
    pub name: String,
    pub from: NodeId,
    pub to: NodeId,
}

/// An entry of `[[links]]` or `[[flows]]` before `*` is expanded.
pub(super) struct Pair<'a, 'b> {
    pub reader: &'b Reader<'a>,
    pub what: &'static str,
    /// The name as written, or made from the ends.
    pub name: &'b str,
    pub from: &'b Ends,
    pub to: &'b Ends,
}

struct Found<'a> {
    name: String,
    /// The group it is a member of.
    group: Option<&'a str>,
    kind: NodeKind,
    processing: Option<ProcessingChoice>,
    kernel: Option<KernelChoice>,
    place: &'a Place,
    path: String,
}

/// Reads `[hosts]` and `[routers]`.
pub(super) fn nodes(report: &mut Report, root: &Reader<'_>) -> Nodes {
    let mut declared = BTreeMap::new();
    let mut found = Vec::new();
    for (key, kind) in [("hosts", NodeKind::Host), ("routers", NodeKind::Router)] {
        if let Some(field) = root.get(key) {
            declare(report, &field, kind, &mut found, &mut declared);
        }
    }
    // Tables have no order, so neither do nodes: the same file with its tables turned round is
    // the same scenario. `left-2` comes before `left-10`.
    found.sort_by(|a, b| {
        let order = |found: &Found<'_>| {
            let stem = found.name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
            (found.kind == NodeKind::Router, stem, found.name.len(), found.name.clone())
        };
        order(a).cmp(&order(b))
    });
    if found.len() > MAX_NODES {
        let wrong = Wrong::TooManyNodes { given: found.len(), allowed: MAX_NODES };
        report.add(root.place_of("hosts"), "hosts", wrong);
        found.truncate(MAX_NODES);
    }
    number(report, &found, declared)
}

fn declare<'a>(
    report: &mut Report,
    field: &Field<'a>,
    kind: NodeKind,
    found: &mut Vec<Found<'a>>,
    declared: &mut BTreeMap<String, Declared>,
) {
    let Value::Table(table) = &field.item.value else {
        field.wrong_type(report, "a table of names, like `[hosts.client]`");
        return;
    };
    for (name, entry) in table {
        let path = join(&field.path, name);
        if !is_name(name) {
            report.add(&entry.key, &path, Wrong::BadName { given: name.clone() });
            declared.insert(name.clone(), Declared::Unclear);
            continue;
        }
        if declared.contains_key(name) {
            duplicate(report, found, name, &entry.key, &path);
            continue;
        }
        let before = report.problems.len();
        let (keys, what) = match kind {
            NodeKind::Host => (keys::HOST, "a host"),
            NodeKind::Router => (keys::ROUTER, "a router"),
        };
        let reader = Reader::new(report, &entry.item, path.clone(), keys, what);
        let count = reader.as_ref().and_then(|reader| reader.integer(report, "count"));
        let of_host = reader.filter(|_| kind == NodeKind::Host);
        let of_host = of_host.map(|reader| (processing(report, &reader), kernel(report, &reader)));
        let (processing, kernel) = of_host.unwrap_or_default();
        let node = |name: String, group| Found {
            name,
            group,
            kind,
            processing: processing.clone(),
            kernel: kernel.clone(),
            place: &entry.key,
            path: path.clone(),
        };
        let meaning = match count {
            _ if report.problems.len() > before => Declared::Unclear,
            None => {
                found.push(node(name.clone(), None));
                Declared::One
            }
            Some(count) => {
                let member = |index| node(format!("{name}-{index}"), Some(name.as_str()));
                found.extend((1..=count).map(member));
                Declared::Group(Vec::new())
            }
        };
        declared.insert(name.clone(), meaning);
    }
}

/// How long a host takes for what it sends.
fn processing(report: &mut Report, reader: &Reader<'_>) -> Option<ProcessingChoice> {
    let field = reader.get("processing").filter(|field| field.item.as_text() != Some("none"))?;
    choice(report, &field, ("processing", &NameSet::default()), None)
}

/// The stock kernel that a host runs.
fn kernel(report: &mut Report, reader: &Reader<'_>) -> Option<KernelChoice> {
    let field = reader.get("kernel").filter(|field| field.item.as_text() != Some("none"))?;
    let text = field.text(report, "a kernel's version, like \"6.12\"")?;
    let choice = KernelChoice::parse(text);
    if choice.is_none() {
        let why = format!("`{text}` is not what a kernel is called");
        let allowed = "a version like `6.12`, or the name that it was built under (`ackord kernel \
                       list`); with ticks per second, `6.12@1000`";
        field.report(report, Wrong::BadValue { why, allowed: allowed.to_owned() });
    }
    choice
}

/// Reports a name that a host has already.
fn duplicate(report: &mut Report, found: &[Found<'_>], name: &str, place: &Place, path: &str) {
    let same = |found: &&Found<'_>| found.name == name || found.group == Some(name);
    let first = found.iter().find(same).map_or(Place::File, |found| found.place.clone());
    report.add(place, path, Wrong::Duplicate { what: NameOf::Node, name: name.to_owned(), first });
}

fn number(
    report: &mut Report,
    found: &[Found<'_>],
    mut declared: BTreeMap<String, Declared>,
) -> Nodes {
    let mut nodes =
        Nodes { nodes: Vec::new(), by_name: BTreeMap::new(), declared: BTreeMap::new() };
    for (index, node) in (0u16..).zip(found) {
        let previous = nodes.by_name.insert(node.name.clone(), NodeId(index));
        if previous.is_some() {
            // A group's member against a node that bears the same name in full.
            duplicate(report, found, &node.name, node.place, &node.path);
        }
        if let Some(Declared::Group(members)) = node.group.and_then(|group| declared.get_mut(group))
        {
            members.push(NodeId(index));
        }
        let Found { name, kind, processing, kernel, .. } = node;
        let (processing, kernel) = (processing.clone(), kernel.clone());
        nodes.nodes.push(Node { name: name.clone(), kind: *kind, processing, kernel });
    }
    nodes.declared = declared;
    nodes
}

impl Nodes {
    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    pub(super) fn list(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[usize::from(id.0)]
    }

    /// What a reference stands for; nothing where that is unclear, which has been reported.
    pub(super) fn resolve(
        &self,
        report: &mut Report,
        field: &Field<'_>,
        of: NameOf,
    ) -> Option<Ends> {
        let given = field.text(report, &format!("the name of a {of}"))?;
        let ends = self.look_up(given, of)?;
        match ends {
            Ok(ends) => Some(ends),
            Err(wrong) => {
                field.report(report, wrong);
                None
            }
        }
    }

    /// As [`Nodes::resolve`]: nothing where a mistake elsewhere is to blame.
    fn look_up(&self, given: &str, of: NameOf) -> Option<Result<Ends, Wrong>> {
        let stem = given.strip_suffix("-*");
        let declared = self.declared.get(stem.unwrap_or(given));
        let not_that = |because: String, instead: String| {
            Some(Err(Wrong::NotThat { given: given.to_owned(), because, instead }))
        };
        match (stem, declared) {
            (_, Some(Declared::Unclear)) => None,
            (Some(_), Some(Declared::Group(members))) => {
                let fits = self.fits(given, members, of);
                Some(fits.map(|()| Ends::Group(members.clone())))
            }
            (Some(stem), Some(Declared::One)) => {
                not_that(format!("`{stem}` is not a group"), format!("`{stem}`"))
            }
            (None, Some(Declared::Group(members))) => not_that(
                format!("`{given}` is a group of {}", members.len()),
                format!("`{given}-*` for each of them, or `{given}-1` for one"),
            ),
            _ => match self.by_name.get(given) {
                Some(id) => Some(self.fits(given, &[*id], of).map(|()| Ends::One(*id))),
                None if self.of_unclear_group(given) => None,
                None => Some(Err(Wrong::unknown_name(of, given, self.names(of)))),
            },
        }
    }

    /// Whether `given` looks like a member of a group whose table is wrong.
    fn of_unclear_group(&self, given: &str) -> bool {
        let stem = given.rsplit_once('-').map(|(stem, _)| stem);
        let declared = stem.and_then(|stem| self.declared.get(stem));
        matches!(declared, Some(Declared::Unclear))
    }

    /// Refuses a router where a host belongs.
    fn fits(&self, given: &str, members: &[NodeId], of: NameOf) -> Result<(), Wrong> {
        if of == NameOf::Host
            && members.iter().any(|member| self.node(*member).kind == NodeKind::Router)
        {
            return Err(Wrong::NotThat {
                given: given.to_owned(),
                because: format!("`{given}` is a router, and flows begin and end at hosts"),
                instead: "the name of a host".to_owned(),
            });
        }
        Ok(())
    }

    /// What one could have written.
    fn names(&self, of: NameOf) -> Vec<&str> {
        let kind_fits = |id: &NodeId| of != NameOf::Host || self.node(*id).kind == NodeKind::Host;
        let nodes = self.by_name.iter().filter(|(_, id)| kind_fits(id));
        nodes.map(|(name, _)| name.as_str()).collect()
    }
}

/// Expands an entry's `*`: groups go in lock-step, a single node goes with every member.
pub(super) fn expand(report: &mut Report, pair: &Pair<'_, '_>) -> Option<Vec<Member>> {
    let Pair { reader, what, name, .. } = *pair;
    let path = join(&reader.path, "name");
    let count = match (pair.from, pair.to) {
        (Ends::One(from), Ends::One(to)) => {
            if name.contains('*') {
                let wrong = Wrong::NotThat {
                    given: name.to_owned(),
                    because: "neither end is a group".to_owned(),
                    instead: "a name without `*`".to_owned(),
                };
                report.add(reader.place_of("name"), &path, wrong);
                return None;
            }
            return Some(vec![Member { name: name.to_owned(), from: *from, to: *to }]);
        }
        (Ends::Group(from), Ends::Group(to)) if from.len() != to.len() => {
            let end = |key| reader.get(key).and_then(|field| field.item.as_text());
            let size = |key, members: usize| (end(key).unwrap_or_default().to_owned(), members);
            let sizes = [size("from", from.len()), size("to", to.len())];
            report.add(
                reader.place_of("to"),
                &join(&reader.path, "to"),
                Wrong::GroupSizes { sizes },
            );
            return None;
        }
        (Ends::Group(members), _) | (_, Ends::Group(members)) => members.len(),
    };
    if !name.contains('*') {
        let wrong = Wrong::NotThat {
            given: name.to_owned(),
            because: format!("this stands for {count} {what}s, one for each member of the group"),
            instead: format!("`{name}-*`"),
        };
        report.add(reader.place_of("name"), &path, wrong);
        return None;
    }
    let end = |ends: &Ends, index: usize| match ends {
        Ends::One(node) => *node,
        Ends::Group(members) => members[index],
    };
    let member = |index: usize| Member {
        name: name.replace('*', &(index + 1).to_string()),
        from: end(pair.from, index),
        to: end(pair.to, index),
    };
    Some((0..count).map(member).collect())
}
