//! Taps at the sending hosts of a run whose report shows every segment.
//!
//! Not modelled: several ways to a host. A flow's route is fixed, so that all of its ACKs arrive over one link.

use ackord_measure::{DETAILED_FLOWS, SenderTap};
use ackord_scenario::{Capture, Flow, Scenario};
use ackord_sim::Topology;

/// Returns where the packets of each flow pass at its sending host, in the order of the flows.
pub(crate) fn sender_taps(scenario: &Scenario) -> Vec<Option<SenderTap>> {
    let id = |place: Capture| Topology::link_id(place.link, place.way);
    let tap = |flow| {
        let [departs, arrives] = places(scenario, flow)?;
        Some(SenderTap { departs: id(departs), arrives: id(arrives) })
    };
    scenario.flows.iter().map(tap).collect()
}

/// Returns the scenario with these taps among what is captured.
pub(crate) fn with_sender_taps(scenario: &Scenario) -> Scenario {
    let mut tapped = scenario.clone();
    let detailed = scenario.flows.iter().take(DETAILED_FLOWS);
    let places = detailed.filter_map(|flow| places(scenario, flow)).flatten();
    tapped.record.captures.extend(places);
    tapped
}

/// Where the host sends into the path, and where it receives from it.
fn places(scenario: &Scenario, flow: &Flow) -> Option<[Capture; 2]> {
    let ends = [flow.client, flow.server];
    let [sender, receiver] = match flow.sends {
        ackord_wire::Side::Client => ends,
        ackord_wire::Side::Server => [ends[1], ends[0]],
    };
    let first = *scenario.route(sender, receiver)?.first()?;
    let last = *scenario.route(receiver, sender)?.last()?;
    Some([first, last].map(|hop| Capture { link: hop.link, way: hop.way }))
}
