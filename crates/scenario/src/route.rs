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
    from: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl<'a> Reach<'a> {
    pub(crate) fn new(nodes: &'a [Node], links: &[Link]) -> Reach<'a> {
        let mut hops = vec![Vec::new(); nodes.len()];
        for (index, link) in links.iter().enumerate() {
            let hop = |way, to| Hop { link: index, way, to };
            hops[usize::from(link.from.0)].push(hop(Way::Forward, link.to));
            hops[usize::from(link.to.0)].push(hop(Way::Reverse, link.from));
        }
        Reach { nodes, hops, from: BTreeMap::new() }
    }

    /// Every node that packets from `start` come to.
    pub(crate) fn from(&mut self, start: NodeId) -> &BTreeSet<NodeId> {
        if !self.from.contains_key(&start) {
            let mut reached: BTreeSet<NodeId> = self.search(start, None).into_keys().collect();
            reached.insert(start);
            self.from.insert(start, reached);
        }
        &self.from[&start]
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
            if node != start && self.nodes[usize::from(node.0)].kind == NodeKind::Host {
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

impl Scenario {
    /// The links from one node to another, in order: the fewest, and among equally many those that
    /// come first in the file. Nothing if no way through routers leads there; never so for the ends
    /// of a flow of a checked scenario.
    pub fn route(&self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        let found = Reach::new(&self.nodes, &self.links).search(from, Some(to));
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
}
