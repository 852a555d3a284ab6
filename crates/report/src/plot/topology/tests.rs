//! Pictures of small networks.

use super::groups::grouped;
use super::layout::lay_out;
use super::*;

fn node(name: &str, is_router: bool) -> TopologyNode {
    TopologyNode { name: name.to_owned(), is_router, notes: Vec::new() }
}

fn link(ends: [usize; 2], words: &str) -> TopologyLink {
    let words = vec![words.to_owned()];
    TopologyLink { name: "l".to_owned(), ends, forward: words.clone(), reverse: words }
}

/// `senders` hosts, two routers and a receiver.
fn dumbbell(senders: usize) -> Topology {
    let mut nodes: Vec<_> = (1..=senders).map(|i| node(&format!("reno-{i}"), false)).collect();
    nodes.extend([node("n1", true), node("n2", true), node("receiver", false)]);
    let [n1, n2, receiver] = [senders, senders + 1, senders + 2];
    let mut links: Vec<_> = (0..senders).map(|host| link([host, n1], "100 Mbit/s")).collect();
    links.extend([link([n1, n2], "10 Mbit/s"), link([n2, receiver], "100 Mbit/s")]);
    let flow = |host: usize| TopologyFlow {
        name: format!("flow-{}", host + 1),
        route: vec![host, n1, n2, receiver],
    };
    Topology { nodes, links, flows: (0..senders).map(flow).collect() }
}

#[test]
fn hosts_alike_are_drawn_once_with_their_count() {
    let (drawn, counts) = grouped(&dumbbell(5));
    let names: Vec<_> = drawn.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["reno-*", "n1", "n2", "receiver"]);
    assert_eq!(drawn.nodes[0].notes, ["5 hosts"]);
    assert_eq!((drawn.links.len(), drawn.flows.len()), (3, 1));
    assert_eq!((counts.nodes, counts.flows), (vec![5, 1, 1, 1], vec![5]));
    let svg = dumbbell(5).picture().expect("nodes").to_svg();
    assert!(
        svg.contains("5 hosts") && svg.contains("flow-* (5 flows): reno-* to receiver"),
        "{svg}"
    );
    assert!(svg.contains("Topology: 6 hosts, 2 routers, 5 flows"), "{svg}");
}

#[test]
fn a_host_behind_another_link_stays_by_itself() {
    let mut topology = dumbbell(3);
    topology.links[1].forward = vec!["1 Mbit/s".to_owned()];
    let (drawn, _) = grouped(&topology);
    let names: Vec<_> = drawn.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["reno-*", "reno-2", "n1", "n2", "receiver"]);
    assert_eq!(drawn.flows.len(), 2);
}

#[test]
fn senders_stand_left_and_receivers_right_of_the_routers() {
    let mut topology = dumbbell(1);
    topology.nodes.extend([node("vegas", false), node("sink", false)]);
    topology.links.extend([link([4, 1], "100 Mbit/s"), link([2, 5], "100 Mbit/s")]);
    topology.flows.push(TopologyFlow { name: "v".to_owned(), route: vec![4, 1, 2, 5] });
    let layout = lay_out(&topology);
    assert_eq!(layout.columns, [0, 1, 2, 3, 0, 3]);
    assert_ne!(layout.rows[0], layout.rows[4]);
}

#[test]
fn no_two_nodes_share_a_place_in_networks_of_any_shape() {
    for (count, links) in [
        (1, vec![]),
        (2, vec![]),
        (3, vec![[0, 1], [1, 2], [2, 0]]),
        (6, vec![[0, 1], [0, 2], [0, 3], [0, 4], [0, 5]]),
        (4, vec![[0, 1], [2, 3]]),
    ] {
        let topology = Topology {
            nodes: (0..count).map(|i| node(&format!("r{i}"), true)).collect(),
            links: links.into_iter().map(|ends| link(ends, "x")).collect(),
            flows: Vec::new(),
        };
        let layout = lay_out(&topology);
        let mut places: Vec<_> = layout
            .columns
            .iter()
            .zip(&layout.rows)
            .map(|(column, row)| (*column, (row * 4.0) as i64))
            .collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), count, "{layout:?}");
        assert!(topology.picture().is_some());
    }
    assert!(Topology::default().picture().is_none());
}

#[test]
fn words_of_links_wrap_between_numbers_with_their_units() {
    let lines =
        super::draw::wrapped("loss: random, per_packet 0.5 %", &crate::plot::font::Font::new());
    assert_eq!(lines, ["loss: random, per_packet", "0.5 %"]);
}
