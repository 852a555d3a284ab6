//! What the practical form knows of each connection, in bounded space.

use super::Weights;
use super::round_trip::RoundTrip;
use ackord_units::{Seq, Span, Time};
use ackord_wire::FlowId;
use std::collections::BTreeMap;

/// One connection.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Packets with data in the queue; pure acknowledgments do not count.
    pub(super) queued: u32,
    pub(super) weight: f64,
    /// Whether it counts in N_C.
    pub(super) active: bool,
    pub(super) last_data_at: Time,
    last_seen_at: Time,
    /// It is not asked to slow down again before this.
    pub(super) spared_until: Time,
    /// The highest sequence number seen, plus one.
    pub(super) high: Option<Seq>,
    pub(super) round_trip: RoundTrip,
}

/// The connections a queue knows.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    flows: BTreeMap<FlowId, Flow>,
    /// The most known at once.
    most: usize,
    weights: Weights,
    active_for: Span,
    sweep_at: Time,
    /// The sum of the weights of active connections: N_C when all weigh one.
    active_weight: f64,
    /// The mean of the active connections' least round trips, as far as known.
    mean_round_trip: Option<Span>,
}

/// Connections beyond this are not told apart: they meet only the physical limit.
const MOST_FLOWS: usize = 65_536;

impl Flows {
    pub(super) fn new(weights: Weights, active_for: Span) -> Flows {
        Flows {
            flows: BTreeMap::new(),
            most: 0,
            weights,
            active_for,
            sweep_at: Time::ZERO,
            active_weight: 0.0,
            mean_round_trip: None,
        }
    }

    pub(super) fn get_mut(&mut self, flow: FlowId) -> Option<&mut Flow> {
        self.flows.get_mut(&flow)
    }

    /// The connection, made known if there is room.
    pub(super) fn seen(&mut self, now: Time, flow: FlowId) -> Option<&mut Flow> {
        if !self.flows.contains_key(&flow) {
            if self.flows.len() >= MOST_FLOWS {
                return None;
            }
            self.flows.insert(flow, Flow::new(now, self.weights.of(flow)));
            self.most = self.most.max(self.flows.len());
        }
        let known = self.flows.get_mut(&flow)?;
        known.last_seen_at = now;
        Some(known)
    }

    /// Data of the connection has arrived: from now on it counts in N_C for a while.
    pub(super) fn data_arrived(&mut self, now: Time, flow: FlowId) {
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.last_data_at = now;
            if !flow.active {
                flow.active = true;
                self.active_weight += flow.weight;
            }
        }
    }

    /// Several times in `active_for`: forgets who has gone, and works the means out anew.
    pub(super) fn sweep(&mut self, now: Time) {
        if now < self.sweep_at {
            return;
        }
        self.sweep_at = now + self.active_for / 8;
        // State outlives activity, so that a connection that pauses is known when it goes on.
        let (active_for, kept_for) = (self.active_for, self.active_for.saturating_mul(16));
        self.flows.retain(|_, flow| {
            flow.queued > 0 || now.saturating_since(flow.last_seen_at) < kept_for
        });
        let (mut weight, mut trips, mut nanos) = (0.0, 0_u64, 0_u64);
        for flow in self.flows.values_mut() {
            let since = now.saturating_since(flow.last_data_at);
            flow.active = flow.active && (flow.queued > 0 || since < active_for);
            if !flow.active {
                continue;
            }
            weight += flow.weight;
            if let Some(least) = flow.round_trip.least() {
                trips += 1;
                nanos += least.as_nanos();
            }
        }
        self.active_weight = weight;
        self.mean_round_trip = nanos.checked_div(trips).map(Span::from_nanos);
    }

    /// The most connections known at once.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    pub(super) fn active_weight(&self) -> f64 {
        self.active_weight
    }

    pub(super) fn mean_round_trip(&self) -> Option<Span> {
        self.mean_round_trip
    }

    /// Who has the most packets queued for its weight; among equals the smallest number.
    pub(super) fn heaviest(&self) -> Option<(FlowId, f64)> {
        let mut heaviest = None;
        for (&id, flow) in &self.flows {
            let load = flow.load();
            if flow.queued > 0 && heaviest.is_none_or(|(_, most)| load > most) {
                heaviest = Some((id, load));
            }
        }
        heaviest
    }
}

impl Flow {
    fn new(now: Time, weight: f64) -> Flow {
        Flow {
            queued: 0,
            weight,
            active: false,
            last_data_at: now,
            last_seen_at: now,
            spared_until: Time::ZERO,
            high: None,
            round_trip: RoundTrip::default(),
        }
    }

    /// Queued packets for its weight.
    pub(super) fn load(&self) -> f64 {
        f64::from(self.queued) / self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn flows() -> Flows {
        Flows::new(Weights::default(), Span::from_millis(100))
    }

    fn data(flows: &mut Flows, now: Time, flow: u32) {
        flows.sweep(now);
        flows.seen(now, FlowId(flow));
        flows.data_arrived(now, FlowId(flow));
    }

    #[test]
    fn a_connection_counts_while_active_and_is_forgotten_long_after() {
        let mut flows = flows();
        data(&mut flows, at(0), 1);
        data(&mut flows, at(90), 2);
        assert_eq!(flows.active_weight(), 2.0);
        data(&mut flows, at(150), 2);
        assert_eq!((flows.active_weight(), flows.flows.len()), (1.0, 2));
        data(&mut flows, at(1_600), 2);
        assert_eq!(flows.flows.len(), 1, "sixteen times active_for after its last packet");
    }

    #[test]
    fn who_has_a_packet_queued_is_never_forgotten() {
        let mut flows = flows();
        data(&mut flows, at(0), 1);
        flows.get_mut(FlowId(1)).expect("known").queued = 1;
        data(&mut flows, at(60_000), 2);
        assert_eq!(flows.active_weight(), 2.0);
    }

    #[test]
    fn a_flood_of_connections_is_bounded() {
        let mut flows = flows();
        (0..70_000).for_each(|flow| data(&mut flows, at(0), flow));
        assert_eq!(flows.flows.len(), MOST_FLOWS);
        assert!(flows.seen(at(1), FlowId(70_001)).is_none());
        data(&mut flows, at(2_000), 70_001);
        assert_eq!(flows.flows.len(), 1, "room again once they have gone");
    }

    #[test]
    fn the_heaviest_is_the_one_with_most_for_its_weight() {
        let weights = Weights(BTreeMap::from([(FlowId(1), 3.0)]));
        let mut flows = Flows::new(weights, Span::from_millis(100));
        for (flow, queued) in [(1, 5), (2, 2), (3, 2), (4, 0)] {
            data(&mut flows, at(0), flow);
            flows.get_mut(FlowId(flow)).expect("known").queued = queued;
        }
        assert_eq!(flows.heaviest(), Some((FlowId(2), 2.0)));
    }
}
