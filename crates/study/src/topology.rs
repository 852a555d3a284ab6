//! A scenario as a picture: what stands where, and what each link does to packets.

use crate::labels::describe;
use ackord_report::plot::{Topology, TopologyFlow, TopologyLink, TopologyNode};
use ackord_scenario::{Direction, Flow, Hop, Link, Node, NodeKind, Scenario};
use ackord_units::Knobs;
use ackord_wire::{NodeId, Side};

/// Returns what is drawn of `scenario`.
pub(crate) fn topology_of(scenario: &Scenario) -> Topology {
    let node = |(id, node): (NodeId, &Node)| TopologyNode {
        name: node.name.clone(),
        is_router: node.kind == NodeKind::Router,
        notes: notes(scenario, id, node),
    };
    let link = |link: &Link| TopologyLink {
        name: link.name.clone(),
        ends: [link.from, link.to].map(|end| usize::from(end.0)),
        forward: words(link, &link.forward),
        reverse: words(link, &link.reverse),
    };
    Topology {
        nodes: scenario.nodes_with_ids().map(node).collect(),
        links: scenario.links.iter().map(link).collect(),
        flows: flows_of(scenario),
    }
}

/// Returns small words below a node: its kernel, and the middleboxes that stand there.
fn notes(scenario: &Scenario, id: NodeId, node: &Node) -> Vec<String> {
    let kernel = node.kernel.as_ref().map(|kernel| format!("Linux {kernel}"));
    let here = scenario.proxies.iter().filter(|proxy| proxy.at == id);
    let boxes = here.filter_map(|proxy| Some(describe(proxy.choice.as_ref()?)));
    kernel.into_iter().chain(boxes.map(|kind| format!("middlebox: {kind}"))).collect()
}

/// Returns the flows whose ends are joined, each with the nodes on its way.
fn flows_of(scenario: &Scenario) -> Vec<TopologyFlow> {
    let ends = |flow: &Flow| match flow.sends {
        Side::Client => (flow.client, flow.server),
        Side::Server => (flow.server, flow.client),
    };
    let routes = scenario.routes(scenario.flows.iter().map(ends));
    let joined = scenario.flows.iter().zip(routes).filter(|(_, hops)| !hops.is_empty());
    let flow = |(flow, hops): (&Flow, Vec<Hop>)| {
        let nodes = std::iter::once(ends(flow).0).chain(hops.iter().map(|hop| hop.to));
        TopologyFlow {
            name: flow.name.clone(),
            route: nodes.map(|node| usize::from(node.0)).collect(),
        }
    };
    joined.map(flow).collect()
}

/// Returns rate and delay of a direction of a link, its queue, and what else happens to packets there, a line each.
fn words(link: &Link, way: &Direction) -> Vec<String> {
    let rate = match &way.trace {
        Some(trace) => format!("trace {}", trace.file()),
        None => way.rate.to_string(),
    };
    let mut lines = vec![format!("{rate}, {}", way.delay), describe(&way.queue)];
    let also: [(&str, Option<&dyn Knobs>); 9] = [
        ("", link.medium.as_ref().map(|choice| choice as &dyn Knobs)),
        ("jitter", way.jitter.as_ref().map(|choice| choice as &dyn Knobs)),
        ("rate changes", way.rate_changes.as_ref().map(|choice| choice as &dyn Knobs)),
        ("shaper", way.shaper.as_ref().map(|choice| choice as &dyn Knobs)),
        ("policer", way.policer.as_ref().map(|choice| choice as &dyn Knobs)),
        ("outages", way.outage.as_ref().map(|choice| choice as &dyn Knobs)),
        ("loss", way.loss.as_ref().map(|choice| choice as &dyn Knobs)),
        ("corruption", way.corrupt.as_ref().map(|choice| choice as &dyn Knobs)),
        ("duplication", way.duplicate.as_ref().map(|choice| choice as &dyn Knobs)),
    ];
    let named = also.into_iter().filter_map(|(what, choice)| Some((what, describe(choice?))));
    lines.extend(named.map(|(what, words)| match what {
        "" => words,
        what => format!("{what}: {words}"),
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::{Override, ScenarioFile, library};

    #[test]
    fn a_scenario_s_links_and_middleboxes_are_in_its_picture() {
        let file = ScenarioFile::from_library("phone").expect("it comes along");
        let file = file.with_overrides([Override::new("proxies.gateway.proxy", "snoop")]);
        let topology = topology_of(&file.check().expect("a sound scenario"));
        let svg = topology.picture().expect("nodes").to_svg();
        for words in ["phone", "ap", "2 ms", "middlebox: snoop"] {
            assert!(svg.contains(words), "{words} is missing: {svg}");
        }
    }

    #[test]
    fn every_scenario_has_a_picture() {
        for (name, _) in library() {
            let file = ScenarioFile::from_library(name).expect("it comes along");
            let scenario = file.check().expect("a sound scenario");
            let picture = topology_of(&scenario).picture().unwrap_or_else(|| panic!("{name}"));
            assert!(picture.width() < 1_600.0, "{name}: {} px", picture.width());
        }
    }
}
