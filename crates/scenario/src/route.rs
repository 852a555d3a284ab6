//! Which way packets go: the path with the fewest links, through routers only.
//!
//! The checker asks it whether a flow's ends are connected, drivers ask it for the way, so that
//! what is checked is what runs. Not modelled: routing by cost, several paths at once, routes that
//! change during a run.

use crate::model::{Link, Node, NodeKind, Scenario, Way};
use ackord_wire::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One link of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Index into [`Scenario::links`].
    pub link: usize,
    /// The direction taken.
    pub way: Way,
    /// Where it leads.
    pub to: NodeId,
}

/// The links at each node.
pub(crate) struct Reach<'a> {
    nodes: &'a [Node],
    hops: Vec<Vec<Hop>>,
}

impl<'a> Reach<'a> {
    pub(crate) fn new(nodes: &'a [Node], links: &[Link]) -> Reach<'a> {
        let mut hops = vec![Vec::new(); nodes.len()];
        for (index, link) in links.iter().enumerate() {
            let hop = |way, to| Hop { link: index, way, to };
            hops[usize::from(link.from.0)].push(hop(Way::Forward, link.to));
            hops[usize::from(link.to.0)].push(hop(Way::Reverse, link.from));
        }
        Reach { nodes, hops }
    }

    /// Every node that packets from `start` come to.
    pub(crate) fn from(&self, start: NodeId) -> BTreeSet<NodeId> {
        let mut reached: BTreeSet<NodeId> = self.search(start, None).into_keys().collect();
        reached.insert(start);
        reached
    }

    fn is_router(&self, node: NodeId) -> bool {
        self.nodes[usize::from(node.0)].kind == NodeKind::Router
    }

    /// The nodes that a link joins `node` with.
    fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.hops[usize::from(node.0)].iter().map(|hop| hop.to)
    }

    /// Finds which hosts are connected, in one pass over the links.
    ///
    /// A search from each flow's end would be quadratic in the size of a group of hosts.
    pub(crate) fn connections(&self) -> Connections {
        let mut group = vec![None; self.nodes.len()];
        let ids = || (0..).map(NodeId).take(self.nodes.len());
        for first in ids().filter(|node| self.is_router(*node)) {
            let mut found = vec![first];
            while let Some(router) = found.pop() {
                let of = &mut group[usize::from(router.0)];
                if of.is_none() {
                    *of = Some(first);
                    found.extend(self.neighbours(router).filter(|node| self.is_router(*node)));
                }
            }
        }
        let joined = |node| {
            let near = |neighbour: NodeId| group[usize::from(neighbour.0)].unwrap_or(neighbour);
            self.neighbours(node).map(near).collect()
        };
        let joined: Vec<BTreeSet<NodeId>> = ids().map(joined).collect();
        Connections { is_router: ids().map(|node| self.is_router(node)).collect(), joined }
    }

    /// The link of a node that has one only, and leads to a router or to another such node.
    fn only_hop(&self, node: NodeId) -> Option<Hop> {
        match self.hops[usize::from(node.0)][..] {
            [only] if !self.is_router(node) => Some(only),
            _ => None,
        }
    }

    /// See [`Scenario::route`].
    fn route(&self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        let found = self.search(from, Some(to));
        let mut route = Vec::new();
        let mut at = to;
        while at != from {
            let (previous, hop) = found.get(&at)?;
            route.push(*hop);
            at = *previous;
        }
        route.reverse();
        Some(route)
    }

    /// Breadth first from `start`: for each node found, where from and by which hop. Links are
    /// tried in the order of the file, so that of two equally short ways one is always taken.
    fn search(&self, start: NodeId, until: Option<NodeId>) -> BTreeMap<NodeId, (NodeId, Hop)> {
        let mut found = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if Some(node) == until {
                break;
            }
            // A host forwards nothing, so no way leads on through one.
            if node != start && !self.is_router(node) {
                continue;
            }
            for hop in &self.hops[usize::from(node.0)] {
                if hop.to != start && !found.contains_key(&hop.to) {
                    found.insert(hop.to, (node, *hop));
                    queue.push_back(hop.to);
                }
            }
        }
        found
    }
}

/// Which hosts packets come to from which.
///
/// A link carries packets both ways, so routers fall into groups: within one, each reaches each
/// other. Hosts are connected if a link joins them, or if each has a link to the same group.
pub(crate) struct Connections {
    is_router: Vec<bool>,
    /// Of each host: the hosts that a link joins it with, and the first router of each group that it
    /// has a link to.
    joined: Vec<BTreeSet<NodeId>>,
}

impl Connections {
    /// Reports whether packets from host `from` come to host `to`.
    pub(crate) fn reach(&self, from: NodeId, to: NodeId) -> bool {
        let joined = |end: NodeId| &self.joined[usize::from(end.0)];
        let (mut few, mut many) = (joined(from), joined(to));
        if few.len() > many.len() {
            (few, many) = (many, few);
        }
        let shared = |group: &&NodeId| self.is_router[usize::from(group.0)] && many.contains(group);
        joined(from).contains(&to) || few.iter().find(shared).is_some()
    }
}

impl Scenario {
    /// The links from one node to another, in order: the fewest, and among equally many those that
    /// come first in the file. Nothing if no way through routers leads there; never so for the ends
    /// of a flow of a checked scenario.
    pub fn route(&self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        Reach::new(&self.nodes, &self.links).route(from, to)
    }

    /// The routes between the ends of each pair, as [`route`](Scenario::route) has them; of a pair that no
    /// way joins, none. Pairs of hosts with one link each share a search per pair of routers.
    pub fn routes(&self, pairs: impl IntoIterator<Item = (NodeId, NodeId)>) -> Vec<Vec<Hop>> {
        let reach = Reach::new(&self.nodes, &self.links);
        let mut between = BTreeMap::new();
        let mut route = |from, to| {
            let (Some(first), Some(last)) = (reach.only_hop(from), reach.only_hop(to)) else {
                return reach.route(from, to).unwrap_or_default();
            };
            if first.link == last.link {
                return vec![first];
            }
            let middle = between.entry((first.to, last.to)).or_insert_with(|| {
                if first.to == last.to { Some(Vec::new()) } else { reach.route(first.to, last.to) }
            });
            let Some(middle) = middle else { return Vec::new() };
            let last = Hop { link: last.link, way: last.way.other(), to };
            [&[first], middle.as_slice(), &[last]].concat()
        };
        pairs.into_iter().map(|(from, to)| route(from, to)).collect()
    }
}
