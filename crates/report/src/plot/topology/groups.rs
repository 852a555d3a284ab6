//! Hosts alike become one: those of one stem ("reno-1", "reno-2") behind equal links to the same routers.

use super::{Topology, TopologyFlow};
use std::collections::BTreeMap;

/// How many hosts, links or flows stand behind each of what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// By node.
    pub(super) nodes: Vec<usize>,
    /// By flow.
    pub(super) flows: Vec<usize>,
}

/// What hosts of one group have in common: stem, notes, and their links to others.
type Likeness<'a> = (&'a str, &'a [String], Vec<(usize, bool, &'a [String], &'a [String])>);

/// Returns `topology` with groups of hosts, and of flows along the same route, as one each.
pub(super) fn grouped(topology: &Topology) -> (Topology, Counts) {
    let mut groups: BTreeMap<Likeness<'_>, usize> = BTreeMap::new();
    let mut made = Topology::default();
    let mut counts = Counts::default();
    let mut into = Vec::new();
    for (index, node) in topology.nodes.iter().enumerate() {
        let place = match node.is_router {
            true => made.nodes.len(),
            false => *groups.entry(likeness(topology, index)).or_insert(made.nodes.len()),
        };
        if place == made.nodes.len() {
            made.nodes.push(node.clone());
            counts.nodes.push(0);
        }
        counts.nodes[place] += 1;
        into.push(place);
    }
    for (node, count) in made.nodes.iter_mut().zip(&counts.nodes) {
        if *count > 1 {
            node.name = format!("{}-*", stem(&node.name));
            node.notes.insert(0, format!("{count} hosts"));
        }
    }
    for link in &topology.links {
        let mut link = link.clone();
        link.ends = link.ends.map(|end| into[end]);
        let behind_group = link.ends.iter().any(|end| counts.nodes[*end] > 1);
        // Links of a group have the same words; which of them stands there does not matter.
        if !behind_group || !made.links.iter().any(|known| known.ends == link.ends) {
            if behind_group {
                link.name = String::new();
            }
            made.links.push(link);
        }
    }
    for flow in &topology.flows {
        let route: Vec<_> = flow.route.iter().map(|node| into[*node]).collect();
        let through_group = route.iter().any(|node| counts.nodes[*node] > 1);
        let same =
            |known: &TopologyFlow| known.route == route && stem(&known.name) == stem(&flow.name);
        let known = made.flows.iter().position(same);
        match known.filter(|_| through_group || stem(&flow.name) != flow.name) {
            Some(place) => counts.flows[place] += 1,
            None => {
                made.flows.push(TopologyFlow { name: flow.name.clone(), route });
                counts.flows.push(1);
            }
        }
    }
    (made, counts)
}

/// Returns a name without the number behind it.
pub(super) fn stem(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((stem, number))
            if !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()) =>
        {
            stem
        }
        _ => name,
    }
}

fn likeness(topology: &Topology, host: usize) -> Likeness<'_> {
    let node = &topology.nodes[host];
    let links = topology.links.iter().filter_map(|link| {
        let first = link.ends[0] == host;
        let other = link.ends[usize::from(first)];
        (first || link.ends[1] == host).then_some((other, first, &*link.forward, &*link.reverse))
    });
    let mut links: Vec<_> = links.collect();
    links.sort();
    (stem(&node.name), &node.notes, links)
}
