//! Columns and rows: the longest route of a flow is the trunk, from left to right. Everything else hangs on it, senders
//! to the left of where they join, all others to the right.

use super::Topology;
use std::collections::VecDeque;

/// Where each node stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    /// By node: its column.
    pub(super) columns: Vec<usize>,
    /// By node: its row, in rows from the middle.
    pub(super) rows: Vec<f64>,
}

/// Returns columns and rows for `topology`.
pub(super) fn lay_out(topology: &Topology) -> Layout {
    let columns = columns(topology);
    let mut members = vec![Vec::new(); columns.iter().max().map_or(0, |last| last + 1)];
    for (node, column) in columns.iter().enumerate() {
        members[*column].push(node);
    }
    let trunk = trunk(topology);
    let mut rows = vec![0.0; columns.len()];
    // A few rounds of barycentres: each node tends to where its neighbours are.
    for _ in 0..4 {
        for column in &mut members {
            let pull: Vec<f64> = (0..rows.len()).map(|node| pull(topology, node, &rows)).collect();
            column.sort_by(|a, b| pull[*a].total_cmp(&pull[*b]).then(a.cmp(b)));
            spread(column, &trunk, &mut rows);
        }
    }
    Layout { columns, rows }
}

/// Puts the nodes of a column below each other, around the middle; one of the trunk that has few beside it stays there.
fn spread(column: &[usize], trunk: &[usize], rows: &mut [f64]) {
    let middle = (column.len() as f64 - 1.0) / 2.0;
    for (place, node) in column.iter().enumerate() {
        rows[*node] = place as f64 - middle;
    }
    if let [first, second] = *column
        && trunk.contains(&first) != trunk.contains(&second)
    {
        // Of two, that of the trunk goes straight on.
        let (straight, aside) =
            if trunk.contains(&first) { (first, second) } else { (second, first) };
        let side = if rows[aside] < rows[straight] { -1.0 } else { 1.0 };
        (rows[straight], rows[aside]) = (0.0, side);
    }
}

/// Mean row of a node's neighbours; its own if it has none.
fn pull(topology: &Topology, node: usize, rows: &[f64]) -> f64 {
    let near: Vec<f64> = neighbours(topology, node).map(|other| rows[other]).collect();
    match near.len() {
        0 => rows[node],
        count => near.iter().sum::<f64>() / count as f64,
    }
}

fn neighbours(topology: &Topology, node: usize) -> impl Iterator<Item = usize> + '_ {
    topology.links.iter().filter_map(move |link| match link.ends {
        [from, to] if from == node => Some(to),
        [from, to] if to == node => Some(from),
        _ => None,
    })
}

fn trunk(topology: &Topology) -> Vec<usize> {
    let mut longest: &[usize] = &[];
    for flow in &topology.flows {
        if flow.route.len() > longest.len() {
            longest = &flow.route;
        }
    }
    longest.to_vec()
}

fn columns(topology: &Topology) -> Vec<usize> {
    let count = topology.nodes.len();
    let mut places: Vec<Option<i64>> = vec![None; count];
    let mut trunk = trunk(topology);
    if trunk.is_empty() && count > 0 {
        trunk.push(0);
    }
    let mut queue = VecDeque::new();
    for (column, node) in trunk.iter().enumerate() {
        places[*node] = Some(column as i64);
        queue.push_back(*node);
    }
    loop {
        while let Some(node) = queue.pop_front() {
            let Some(place) = places[node] else { continue };
            for other in neighbours(topology, node) {
                if places[other].is_some() {
                    continue;
                }
                let step = if sends(topology, node, other) { -1 } else { 1 };
                places[other] = Some(place + step);
                queue.push_back(other);
            }
        }
        // What no link joins to the rest stands at the left.
        let Some(alone) = places.iter().position(Option::is_none) else { break };
        places[alone] = Some(0);
        queue.push_back(alone);
    }
    let first = places.iter().flatten().min().copied().unwrap_or(0);
    places.into_iter().map(|place| (place.unwrap_or(0) - first) as usize).collect()
}

/// Whether more flows go from `other` to `node` than the other way.
fn sends(topology: &Topology, node: usize, other: usize) -> bool {
    let mut balance = 0;
    for pair in topology.flows.iter().flat_map(|flow| flow.route.windows(2)) {
        match *pair {
            [from, to] if from == other && to == node => balance += 1,
            [from, to] if from == node && to == other => balance -= 1,
            _ => {}
        }
    }
    balance > 0
}
