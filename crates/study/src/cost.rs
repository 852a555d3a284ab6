//! What a run costs, estimated before it begins.
//!
//! Each flow offers what its application has to send, at most as fast as the narrowest link of its
//! way. Where the flows of a link offer more than its rate, each keeps the same share of its offer.
//! What congestion control and losses leave unused is not known beforehand: a run may cost less.

use ackord_scenario::{Direction, Flow, Hop, Scenario, Transport, Way};
use ackord_sim::{start_time, workloads_for};
use ackord_traffic::{DrawBudget, Offer};
use ackord_units::{KnobValue, Knobs, Time};
use ackord_wire::Side;

/// The time for one packet over one link, acknowledgments included, of a release build on a processor
/// of 2023; `ackord bench dumbbell` measures it.
const SECONDS_PER_HOP: f64 = 0.2e-6;
/// The memory of a packet that waits, is under way, or may have to be retransmitted.
const BYTES_PER_PACKET: f64 = 250.0;
/// The memory of the program itself.
const BYTES_OF_PROGRAM: f64 = 15e6;
/// The memory of a flow: both ends, and what is measured of it.
const BYTES_PER_FLOW: f64 = 15_000.0;
/// Bytes of IP and TCP header in a packet.
const HEADERS: f64 = 40.0;
const FULL_PACKET: f64 = 1500.0;

/// What a run costs at most, to within a small factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The time that it takes, in seconds.
    pub seconds: f64,
    /// The memory that it takes, in bytes.
    pub bytes: f64,
}

/// Estimates the cost of a run of `scenario` with this seed, without series, captures and events.
pub fn cost(scenario: &Scenario, seed: u64) -> Cost {
    let ends = |flow: &Flow| match flow.sends {
        Side::Client => (flow.client, flow.server),
        Side::Server => (flow.server, flow.client),
    };
    let routes = scenario.routes(scenario.flows.iter().map(ends));
    let mut budget = DrawBudget::default();
    let loads: Vec<Load> = scenario
        .flows
        .iter()
        .zip(routes)
        .map(|(flow, route)| Load::of(scenario, (seed, flow), route, &mut budget))
        .collect();
    let shares = shares(scenario, &loads);
    let seconds = loads.iter().map(|load| load.hops(&shares) * SECONDS_PER_HOP).sum();
    let packets: f64 = loads.iter().map(|load| load.outstanding(scenario)).sum();
    let bytes = packets * BYTES_PER_PACKET + loads.len() as f64 * BYTES_PER_FLOW;
    Cost { seconds, bytes: BYTES_OF_PROGRAM + bytes }
}

/// What a flow puts on the path.
struct Load {
    route: Vec<Hop>,
    /// Bytes per second on the wire, at most.
    rate: f64,
    /// Bytes of a packet.
    packet: f64,
    /// How long it sends, in seconds, at this rate.
    seconds: f64,
    /// The most that may be outstanding, in bytes.
    window: f64,
}

impl Load {
    fn of(
        scenario: &Scenario,
        (seed, flow): (u64, &Flow),
        route: Vec<Hop>,
        budget: &mut DrawBudget,
    ) -> Load {
        let Offer { rate, write } = flow.traffic.config().offer();
        let bytes = |name| match flow.sender_tcp().endpoint.value(name) {
            Some(KnobValue::Bytes(bytes)) => bytes.get() as f64,
            _ => f64::INFINITY,
        };
        let payload = write.map_or(f64::INFINITY, |write| write.get() as f64).min(bytes("mss"));
        let packet = payload + HEADERS;
        let link_rate = |hop| direction(scenario, hop).rate.as_bits_per_sec() as f64 / 8.0;
        let narrowest = route.iter().map(link_rate).fold(f64::INFINITY, f64::min);
        let rate = rate.map_or(f64::INFINITY, |rate| rate / payload * packet).min(narrowest);
        let size = workloads_for(seed, flow).sends.size(budget);
        let size = size.map_or(f64::INFINITY, |size| size.get() as f64 / payload * packet);
        let end = Time::ZERO + scenario.duration;
        let left = end.saturating_since(start_time(seed, flow)).as_secs_f64();
        let window = match flow.transport() {
            Transport::Tcp => bytes("send_buffer").min(bytes("receive_buffer")),
            Transport::Udp => f64::INFINITY,
        };
        Load { route, rate, packet, seconds: left.min(size / rate), window }
    }

    /// How many links its packets pass in all, if links leave it these shares.
    fn hops(&self, shares: &[f64]) -> f64 {
        let share = self.route.iter().map(|hop| shares[index(hop)]).fold(1.0, f64::min);
        self.rate * share * self.seconds / self.packet * self.route.len() as f64
    }

    /// The packets that may be outstanding at once: a window, or what the path holds.
    fn outstanding(&self, scenario: &Scenario) -> f64 {
        let delay = |hop: &Hop| direction(scenario, hop).delay.as_secs_f64();
        let round_trip = 2.0 * self.route.iter().map(delay).sum::<f64>();
        let waiting: f64 = self.route.iter().map(|hop| queue_bytes(scenario, hop)).sum();
        let held = self.rate * round_trip.min(self.seconds) + waiting;
        held.min(self.window).min(self.rate * self.seconds) / self.packet
    }
}

/// The share of its offer that each direction of a link leaves a flow.
fn shares(scenario: &Scenario, loads: &[Load]) -> Vec<f64> {
    let mut offered = vec![0.0; scenario.links.len() * 2];
    for load in loads {
        // A flow that ends early loads a link for that part of the run only.
        let part = load.seconds / scenario.duration.as_secs_f64();
        load.route.iter().for_each(|hop| offered[index(hop)] += load.rate * part);
    }
    let rates = scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse]);
    let rates = rates.map(|direction| direction.rate.as_bits_per_sec() as f64 / 8.0);
    rates.zip(offered).map(|(rate, offered)| (rate / offered).min(1.0)).collect()
}

/// The place of a direction of a link, as the simulator numbers them.
fn index(hop: &Hop) -> usize {
    hop.link * 2 + usize::from(hop.way == Way::Reverse)
}

fn direction<'a>(scenario: &'a Scenario, hop: &Hop) -> &'a Direction {
    scenario.links[hop.link].direction(hop.way)
}

/// What the queue before a link holds, in bytes.
fn queue_bytes(scenario: &Scenario, hop: &Hop) -> f64 {
    match direction(scenario, hop).queue.value("limit") {
        Some(KnobValue::Packets(packets)) => packets as f64 * FULL_PACKET,
        Some(KnobValue::Bytes(bytes)) => bytes.get() as f64,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::without_progress;
    use crate::{RunOptions, execute};
    use ackord_scenario::ScenarioFile;
    use ackord_units::Span;

    fn library(name: &str, duration: Span) -> Scenario {
        let file = ScenarioFile::from_library(name).expect("it comes along");
        let mut scenario = file.check().expect("a sound scenario");
        scenario.duration = scenario.duration.min(duration);
        scenario
    }

    #[test]
    fn no_run_of_the_library_sends_more_packets_than_estimated() {
        for (name, _) in ackord_scenario::library() {
            let scenario = library(name, Span::from_secs(20));
            let run = execute(&scenario, RunOptions::summary_only(1), &mut without_progress);
            let links = run.expect("a sound run").summary.links;
            let sent: u64 = links.iter().map(|link| link.packets).sum();
            let hops = cost(&scenario, 1).seconds / SECONDS_PER_HOP;
            // Acknowledgments are packets, too; handshakes and lost packets are not in the estimate.
            assert!(
                sent as f64 <= 2.2 * hops + 200.0,
                "{name}: {sent} packets, {hops:.0} estimated"
            );
        }
    }

    #[test]
    fn a_path_that_one_flow_fills_costs_what_is_estimated() {
        let scenario = library("one-flow", Span::from_secs(100));
        let run = execute(&scenario, RunOptions::summary_only(1), &mut without_progress);
        let sent = run.expect("a sound run").summary.flows[0].segments_sent as f64;
        let links = scenario.links.len() as f64;
        let estimated = cost(&scenario, 1).seconds / SECONDS_PER_HOP / links;
        // What its queue drops is sent once more.
        assert!((sent / estimated - 1.0).abs() < 0.02, "{sent} sent, {estimated} estimated");
    }
}
