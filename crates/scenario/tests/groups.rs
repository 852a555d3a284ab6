//! Which hosts are connected.

use ackord_scenario::Scenario;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Hosts `h0`..`h3`, then routers `r4`..`r7`.
const NODES: usize = 8;
const HOSTS: usize = 4;

fn name(node: usize) -> String {
    if node < HOSTS { format!("h{node}") } else { format!("r{node}") }
}

/// Whether packets come from `h0` to `h1`, found by following every link.
fn is_connected(links: &BTreeSet<(usize, usize)>) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![0]);
    while let Some(node) = open.pop() {
        if seen.insert(node) && (node == 0 || node >= HOSTS) {
            let far = |&(a, b): &(usize, usize)| match node {
                _ if node == a => Some(b),
                _ if node == b => Some(a),
                _ => None,
            };
            open.extend(links.iter().filter_map(far));
        }
    }
    seen.contains(&1)
}

fn file(links: &BTreeSet<(usize, usize)>) -> String {
    let mut text = "version = 1\nname = \"any\"\nduration = \"1 s\"\n".to_owned();
    for node in 0..NODES {
        let table = if node < HOSTS { "hosts" } else { "routers" };
        writeln!(text, "[{table}.{}]", name(node)).expect("a string takes it");
    }
    for (from, to) in links {
        let (from, to) = (name(*from), name(*to));
        writeln!(
            text,
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\""
        )
        .expect("a string takes it");
    }
    text + "[[flows]]\nname = \"f\"\nfrom = \"h0\"\nto = \"h1\"\ntraffic = \"bulk\"\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_flow_is_refused_exactly_if_no_way_through_routers_joins_its_ends(
        pairs in prop::collection::btree_set((0..NODES, 0..NODES), 1..10)
    ) {
        let links = pairs.into_iter().filter(|(a, b)| a < b).collect::<BTreeSet<_>>();
        prop_assume!(!links.is_empty());
        let checked = Scenario::from_toml(&file(&links), "any.toml");
        let refused = checked.err().map(|errors| errors.to_string());
        match refused {
            None => prop_assert!(is_connected(&links)),
            Some(why) => {
                prop_assert!(!is_connected(&links) && why.contains("1 error"), "{}", why);
            }
        }
    }
}
