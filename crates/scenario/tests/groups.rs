//! Which hosts are connected, and what a large group costs.

use ackord_scenario::Scenario;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

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

/// A file with `count` senders, receivers, access links to either and flows.
fn group(count: usize) -> String {
    format!(
        r#"
version = 1
name = "group"
duration = "1 s"
hosts = {{ phone = {{ count = {count} }}, server = {{ count = {count} }} }}
routers = {{ left = {{}}, right = {{}} }}
[[links]]
name = "middle"
from = "left"
to = "right"
rate = "1 Gbit/s"
delay = "1 ms"
[[links]]
name = "air-*"
from = "left"
to = "phone-*"
rate = "10 Mbit/s"
delay = "1 ms"
[[links]]
name = "line-*"
from = "right"
to = "server-*"
rate = "10 Mbit/s"
delay = "1 ms"
[[flows]]
name = "f-*"
from = "phone-*"
to = "server-*"
traffic = "bulk"
"#
    )
}

/// The least of three times, as the machine may be busy.
fn time_to_check(count: usize) -> Duration {
    let text = group(count);
    let times = (0..3).map(|_| {
        let begun = Instant::now();
        Scenario::from_toml(&text, "group.toml").expect("a sound file");
        begun.elapsed()
    });
    times.min().expect("three times")
}

#[test]
fn the_time_to_check_a_group_grows_no_faster_than_the_group() {
    let (few, many) = (time_to_check(500), time_to_check(4_000));
    // Eight times the members: 8 if linear, 64 if quadratic.
    assert!(many < few * 20, "{few:?} for 500 members, {many:?} for 4000");
}
