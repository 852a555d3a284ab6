//! Which link leads where: the fewest links, worked out once.
//!
//! Between ways of equally many links the one whose first link was added first wins. Only routers
//! forward: no way leads through a host. The distance shrinks at every hop, so packets cannot go
//! round in circles.
//!
//! A node with one outgoing link from which everything can be reached (a host) keeps that link
//! instead of a table, so a dumbbell of thousands of hosts needs two tables, not thousands.

use ackord_wire::NodeId;
use std::collections::VecDeque;

/// What a node does with packets for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Forwards them.
    Router,
    /// Never gets any: no way leads through it.
    Host,
}

/// A link as far as routing is concerned; its number is its place in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

/// The next link from every node to every other.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    rows: Vec<Row>,
    /// Tables of those nodes that need one, one after another, a link number per destination.
    tables: Vec<u32>,
}

/// The routes of one node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// This link, whatever the destination.
    Only(u32),
    /// The table that begins here.
    Table(u32),
}

const NOWHERE: u32 = u32::MAX;

impl Routes {
    pub(crate) fn shortest(roles: &[Role], edges: &[Edge]) -> Routes {
        let nodes = roles.len();
        let mut outgoing = vec![Vec::new(); nodes];
        for (link, edge) in edges.iter().enumerate() {
            outgoing[edge.from.0 as usize].push(link as u32);
        }
        let mut routes = Routes { rows: Vec::with_capacity(nodes), tables: Vec::new() };
        let everything = reaches_everything(nodes, edges, &outgoing);
        for node in 0..nodes {
            let row = match outgoing[node][..] {
                [link] if everything => Row::Only(link),
                _ => {
                    let begin = routes.tables.len() as u32;
                    routes.tables.extend(table_of(node, roles, edges, &outgoing));
                    Row::Table(begin)
                }
            };
            routes.rows.push(row);
        }
        routes
    }

    /// The link that a packet at `node`, if there is such a node, takes towards `dst`.
    #[inline]
    pub(crate) fn next(&self, node: NodeId, dst: NodeId) -> Option<u32> {
        self.follow(*self.rows.get(node.0 as usize)?, dst)
    }

    /// The routes of a node.
    #[inline]
    pub(crate) fn row(&self, node: NodeId) -> Row {
        self.rows[node.0 as usize]
    }

    /// The link that a packet takes from the node with these routes.
    #[inline]
    pub(crate) fn follow(&self, row: Row, dst: NodeId) -> Option<u32> {
        let link = match row {
            Row::Only(link) => link,
            Row::Table(begin) => self.tables[begin as usize + dst.0 as usize],
        };
        (link != NOWHERE).then_some(link)
    }
}

/// Whether every node can reach every other: only then is a lone outgoing link always right.
fn reaches_everything(nodes: usize, edges: &[Edge], outgoing: &[Vec<u32>]) -> bool {
    let mut incoming = vec![Vec::new(); nodes];
    for (link, edge) in edges.iter().enumerate() {
        incoming[edge.to.0 as usize].push(link as u32);
    }
    // Strongly connected if node 0 reaches all and all reach node 0.
    reach(nodes, outgoing, |link| edges[link as usize].to)
        && reach(nodes, &incoming, |link| edges[link as usize].from)
}

fn reach(nodes: usize, links_at: &[Vec<u32>], leads_to: impl Fn(u32) -> NodeId) -> bool {
    let mut seen = vec![false; nodes];
    let mut open = vec![0];
    let mut count = 0;
    while let Some(node) = open.pop() {
        if node >= nodes || std::mem::replace(&mut seen[node], true) {
            continue;
        }
        count += 1;
        open.extend(links_at[node].iter().map(|&link| leads_to(link).0 as usize));
    }
    count == nodes
}

/// Breadth first from one node: its first link towards each.
fn table_of(from: usize, roles: &[Role], edges: &[Edge], outgoing: &[Vec<u32>]) -> Vec<u32> {
    let mut first_link = vec![NOWHERE; roles.len()];
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        if node != from && roles[node] == Role::Host {
            continue;
        }
        for &link in &outgoing[node] {
            let to = edges[link as usize].to.0 as usize;
            if to != from && first_link[to] == NOWHERE {
                first_link[to] = if node == from { link } else { first_link[node] };
                open.push_back(to);
            }
        }
    }
    first_link
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: u16, to: u16) -> Edge {
        Edge { from: NodeId(from), to: NodeId(to) }
    }

    fn routers(count: usize, edges: &[Edge]) -> Routes {
        Routes::shortest(&vec![Role::Router; count], edges)
    }

    fn next(routes: &Routes, from: u16, to: u16) -> Option<u32> {
        routes.next(NodeId(from), NodeId(to))
    }

    #[test]
    fn fewer_links_win_then_the_link_added_first() {
        let edges = [edge(0, 1), edge(1, 2), edge(0, 2), edge(0, 2)];
        assert_eq!(next(&routers(3, &edges), 0, 2), Some(2));
    }

    #[test]
    fn no_way_leads_through_a_host() {
        let edges = [edge(0, 1), edge(1, 3), edge(0, 2), edge(2, 4), edge(4, 3)];
        let mut roles = [Role::Router; 5];
        assert_eq!(next(&Routes::shortest(&roles, &edges), 0, 3), Some(0));
        roles[1] = Role::Host;
        assert_eq!(next(&Routes::shortest(&roles, &edges), 0, 3), Some(2));
    }

    #[test]
    fn what_cannot_be_reached_has_no_route_even_from_a_host() {
        // 0 -> 1 -> 0, and 2 alone.
        let routes = routers(3, &[edge(0, 1), edge(1, 0)]);
        assert_eq!((next(&routes, 0, 1), next(&routes, 0, 2)), (Some(0), None));
    }

    #[test]
    fn a_dumbbell_keeps_tables_only_in_its_routers() {
        let mut edges = vec![edge(0, 1), edge(1, 0)];
        for host in 2..202 {
            edges.extend([edge(host, host % 2), edge(host % 2, host)]);
        }
        let routes = routers(202, &edges);
        assert_eq!(routes.tables.len(), 2 * 202);
        // Host 7 hangs on router 1; its link towards the router is the sixth pair's first.
        assert_eq!(next(&routes, 7, 2), Some(12));
        assert_eq!(next(&routes, 0, 7), Some(0));
    }
}
