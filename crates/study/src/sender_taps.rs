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

#[cfg(test)]
mod tests {
    use crate::{RunOptions, execute, without_progress};
    use ackord_measure::SegmentMark;
    use ackord_scenario::{Override, ScenarioFile};

    #[test]
    fn a_run_with_series_has_every_segment_ack_and_sack_block_at_its_sender() {
        let file = ScenarioFile::from_library("one-flow").expect("it comes along");
        let file = file.with_overrides([Override::new("duration", "2 s")]);
        let scenario = file.check().expect("a sound scenario");
        let outcome = execute(&scenario, RunOptions::with_series(1), &mut without_progress);
        let outcome = outcome.expect("a sound run");
        let (series, flow) = (outcome.series.expect("asked for"), &outcome.summary.flows[0]);
        let points = &series.flows[0].segments.points;
        let count = |mark| points.iter().filter(|point| point.mark == mark).count() as u64;
        assert_eq!(count(SegmentMark::Retransmission), flow.retransmitted_segments);
        // The SYN carries no data.
        let sent = count(SegmentMark::Data) + count(SegmentMark::Retransmission);
        assert_eq!(sent + 1, flow.segments_sent);
        // ACKs under way at the end have been sent and not arrived.
        let acks = count(SegmentMark::Ack);
        assert!(acks > 0 && acks <= flow.acks_sent + 1 && acks + 40 > flow.acks_sent, "{acks}");
        assert!(count(SegmentMark::Sack) > 0);
        let window = points.iter().find(|point| point.mark == SegmentMark::Ack);
        assert!(window.is_some_and(|ack| ack.to > ack.from));
    }
}
