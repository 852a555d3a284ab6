//! What the practical form knows of each connection, in bounded space.

use super::Weights;
use super::round_trip::RoundTrip;
use ackord_units::{Rate, Seq, Span, Time};
use ackord_wire::FlowId;
use std::collections::BTreeMap;

/// One connection.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Packets with data in the queue; pure acknowledgments do not count.
    pub(super) queued: u32,
    pub(super) weight: f64,
    /// Whether it counts in N_C.
    sharing: bool,
    /// When it last had two packets queued at once.
    backlogged_at: Time,
    last_seen_at: Time,
    /// Bytes it was served beyond its share while it counted; negative below its share.
    debt: f64,
    /// [`Flows::service`] up to which its share has been reckoned.
    reckoned: f64,
    /// It is not asked to slow down again before this.
    pub(super) spared_until: Time,
    /// When a packet of its was last dropped or marked by share.
    pub(super) signalled_at: Time,
    /// How often, without having come down since.
    pub(super) unheeded: u32,
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
    /// What the link carries in `active_for`, in bytes.
    carried_in_period: f64,
    sweep_at: Time,
    /// The sum of the weights of the connections that count: N_C when all weigh one.
    sharing_weight: f64,
    /// Bytes that a connection of weight one would have been served, had whoever counts been
    /// served in turn.
    service: f64,
    /// The mean of the least round trips of the connections that pass, as far as known.
    mean_round_trip: Option<Span>,
}

/// Connections beyond this are not told apart: they meet only the physical limit.
const MOST_FLOWS: usize = 65_536;

impl Flows {
    pub(super) fn new(weights: Weights, active_for: Span, rate: Rate) -> Flows {
        Flows {
            flows: BTreeMap::new(),
            most: 0,
            weights,
            active_for,
            carried_in_period: rate.bytes_in(active_for).get() as f64,
            sweep_at: Time::ZERO,
            sharing_weight: 0.0,
            service: 0.0,
            mean_round_trip: None,
        }
    }

    /// The most connections known at once.
    pub(super) fn most(&self) -> usize {
        self.most
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

    /// A packet with data of the connection has joined the queue.
    pub(super) fn joined(&mut self, now: Time, id: FlowId) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.queued += 1;
        // One packet says only that it has come. A second before the first has left says that more
        // is offered than served: the connection is held back here, and has a share.
        if flow.queued < 2 {
            return;
        }
        flow.backlogged_at = now;
        if !flow.sharing {
            flow.sharing = true;
            flow.debt = 0.0;
            flow.reckoned = self.service;
            self.sharing_weight += flow.weight;
        }
    }

    /// A packet with data of the connection has left the queue or was pushed out.
    pub(super) fn left(&mut self, id: FlowId) {
        // A connection beyond those told apart was never counted.
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.queued = flow.queued.saturating_sub(1);
        }
    }

    /// A packet of so many bytes is being transmitted: everybody who counts had a share in that,
    /// and the connection all of it.
    pub(super) fn served(&mut self, id: FlowId, bytes: f64) {
        let sharing_weight = self.sharing_weight;
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| flow.sharing) else { return };
        flow.debt += bytes;
        self.service += bytes / sharing_weight;
    }

    /// What the connection was served beyond its share, in bytes; nothing if it does not count.
    ///
    /// The debts of all who count add up to nothing, but for what has not been reckoned yet.
    pub(super) fn debt(&mut self, id: FlowId) -> f64 {
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| flow.sharing) else { return 0.0 };
        flow.reckon(self.service);
        // It may fall behind by what its share carries in `active_for`, as far as if it had
        // stopped. What it then still leaves is divided among the others.
        let least = -self.carried_in_period * flow.weight / self.sharing_weight;
        let others = self.sharing_weight - flow.weight;
        if flow.debt < least && others > 0.0 {
            self.service += (least - flow.debt) / others;
            flow.debt = least;
            flow.reckoned = self.service;
        }
        flow.debt
    }

    /// Packets with data queued by the connections that count.
    pub(super) fn places(&self) -> u32 {
        let sharing = self.flows.values().filter(|flow| flow.sharing);
        sharing.map(|flow| flow.queued).sum()
    }

    /// Packets queued and round trip, where known, of each connection that has just been asked to slow
    /// down.
    pub(super) fn spared(&self, now: Time) -> impl Iterator<Item = (u32, Option<Span>)> {
        let spared = self.flows.values().filter(move |flow| flow.spared_until > now);
        spared.map(|flow| (flow.queued, flow.round_trip.least()))
    }

    /// Several times in `active_for`: forgets who has gone, and works the sums out anew.
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
        let (mut weight, mut left_behind) = (0.0, 0.0);
        let (mut trips, mut nanos) = (0_u64, 0_u64);
        for flow in self.flows.values_mut() {
            // Whoever passes here tells how long the ways are, also who takes no share.
            let passes = now.saturating_since(flow.last_seen_at) < active_for;
            if let Some(least) = flow.round_trip.least().filter(|_| passes || flow.sharing) {
                trips += 1;
                nanos += least.as_nanos();
            }
            if !flow.sharing {
                continue;
            }
            if now.saturating_since(flow.backlogged_at) >= active_for {
                flow.reckon(self.service);
                left_behind += flow.debt;
                flow.sharing = false;
                continue;
            }
            weight += flow.weight;
        }
        // What it did not claim was not taken from it; what it owed nobody will repay.
        if weight > 0.0 {
            self.service -= left_behind / weight;
        }
        self.sharing_weight = weight;
        self.mean_round_trip = nanos.checked_div(trips).map(Span::from_nanos);
    }

    /// N_C: the weights of the connections that count.
    pub(super) fn sharing_weight(&self) -> f64 {
        self.sharing_weight
    }

    pub(super) fn mean_round_trip(&self) -> Option<Span> {
        self.mean_round_trip
    }

    /// The counter of a connection for its weight, in bytes: what it has queued, in packets of this
    /// length, and its debt.
    pub(super) fn load(&self, id: FlowId, packet_bytes: f64) -> Option<f64> {
        self.flows.get(&id).map(|flow| self.load_of(flow, packet_bytes))
    }

    fn load_of(&self, flow: &Flow, packet_bytes: f64) -> f64 {
        let debt = match flow.sharing {
            true => flow.debt - flow.weight * (self.service - flow.reckoned),
            false => 0.0,
        };
        (f64::from(flow.queued) * packet_bytes + debt) / flow.weight
    }

    /// Of the connections with a packet queued the one with the largest counter for its weight; among
    /// equals the smallest number.
    pub(super) fn heaviest(&self, packet_bytes: f64) -> Option<(FlowId, f64)> {
        let mut heaviest = None;
        for (&id, flow) in self.flows.iter().filter(|(_, flow)| flow.queued > 0) {
            let load = self.load_of(flow, packet_bytes);
            if heaviest.is_none_or(|(_, most)| load > most) {
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
            sharing: false,
            backlogged_at: now,
            last_seen_at: now,
            debt: 0.0,
            reckoned: 0.0,
            spared_until: Time::ZERO,
            signalled_at: Time::ZERO,
            unheeded: 0,
            high: None,
            round_trip: RoundTrip::default(),
        }
    }

    /// Takes its share of what has been served since off its debt.
    fn reckon(&mut self, service: f64) {
        self.debt -= self.weight * (service - self.reckoned);
        self.reckoned = service;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// 1 Mbit/s carries 12 500 B in 100 ms.
    fn flows(weights: Weights) -> Flows {
        Flows::new(weights, Span::from_millis(100), Rate::from_mbits_per_sec(1))
    }

    fn packet(flows: &mut Flows, now: Time, flow: u32) {
        flows.sweep(now);
        flows.seen(now, FlowId(flow));
        flows.joined(now, FlowId(flow));
    }

    fn backlog(flows: &mut Flows, now: Time, flow: u32) {
        (0..2).for_each(|_| packet(flows, now, flow));
    }

    fn served(flows: &mut Flows, flow: u32) {
        flows.served(FlowId(flow), 1_000.0);
        flows.left(FlowId(flow));
    }

    #[test]
    fn one_packet_at_a_time_is_no_share_and_two_at_once_are_one_for_a_while() {
        let mut flows = flows(Weights::default());
        for _ in 0..5 {
            packet(&mut flows, at(0), 1);
            served(&mut flows, 1);
        }
        assert_eq!(flows.sharing_weight(), 0.0);
        backlog(&mut flows, at(0), 1);
        backlog(&mut flows, at(90), 2);
        assert_eq!(flows.sharing_weight(), 2.0);
        (0..2).for_each(|_| served(&mut flows, 1));
        backlog(&mut flows, at(150), 2);
        assert_eq!((flows.sharing_weight(), flows.flows.len()), (1.0, 2));
        backlog(&mut flows, at(1_700), 2);
        assert_eq!(flows.flows.len(), 1, "forgotten sixteen times active_for after its last");
    }

    #[test]
    fn debts_are_what_one_was_served_beyond_its_share_and_add_up_to_nothing() {
        let mut flows = flows(Weights(BTreeMap::from([(FlowId(1), 2.0)])));
        (1..=3).for_each(|flow| backlog(&mut flows, at(0), flow));
        (0..4).for_each(|_| flows.served(FlowId(2), 1_000.0));
        // Of 4000 B flow 1 has a share of two quarters, the others of one each.
        let debts = [1, 2, 3].map(|flow| flows.debt(FlowId(flow)));
        assert_eq!(debts, [-2_000.0, 3_000.0, -1_000.0]);
    }

    #[test]
    fn who_does_not_claim_its_share_falls_behind_so_far_and_no_further() {
        let mut flows = flows(Weights::default());
        (1..=3).for_each(|flow| backlog(&mut flows, at(0), flow));
        for _ in 0..100 {
            (1..=2).for_each(|flow| flows.served(FlowId(flow), 1_000.0));
            (1..=3).for_each(|flow| _ = flows.debt(FlowId(flow)));
        }
        let least = -12_500.0 / 3.0;
        let [one, two, three] = [1, 2, 3].map(|flow| flows.debt(FlowId(flow)));
        assert!((three - least).abs() < 1e-6, "{three}");
        assert!((one + two + three).abs() < 2_000.0, "{one} {two} {three}");
        assert!((one - two).abs() <= 1_000.0, "{one} {two}");
    }

    #[test]
    fn what_one_who_leaves_did_not_claim_is_no_longer_owed() {
        let mut flows = flows(Weights::default());
        (1..=2).for_each(|flow| backlog(&mut flows, at(0), flow));
        (0..2).for_each(|_| served(&mut flows, 1));
        (0..2).for_each(|_| flows.left(FlowId(2)));
        assert_eq!(flows.debt(FlowId(1)), 1_000.0);
        backlog(&mut flows, at(90), 1);
        flows.sweep(at(150));
        assert_eq!((flows.sharing_weight(), flows.debt(FlowId(1))), (1.0, 0.0));
    }

    #[test]
    fn a_flood_of_connections_is_bounded() {
        let mut flows = flows(Weights::default());
        for flow in 0..70_000 {
            flows.seen(at(0), FlowId(flow));
        }
        assert_eq!(flows.flows.len(), MOST_FLOWS);
        assert!(flows.seen(at(1), FlowId(70_001)).is_none());
        packet(&mut flows, at(2_000), 70_001);
        assert_eq!(flows.flows.len(), 1, "room again once they have gone");
    }

    #[test]
    fn the_heaviest_is_the_one_with_the_largest_counter_for_its_weight() {
        let mut flows = flows(Weights(BTreeMap::from([(FlowId(1), 3.0)])));
        for (flow, queued) in [(1, 5), (2, 2), (3, 2), (4, 0)] {
            flows.seen(at(0), FlowId(flow)).expect("room").queued = queued;
        }
        assert_eq!(flows.heaviest(1_000.0), Some((FlowId(2), 2_000.0)));
        // Three that share: flow 3 has been served a packet while the others had none of it.
        (1..=3).for_each(|flow| backlog(&mut flows, at(0), flow));
        flows.served(FlowId(3), 1_000.0);
        // Flow 1 has 7 queued, flows 2 and 3 have 4 each; of 1000 B the shares are 3, 1 and 1 of 5.
        assert_eq!(flows.heaviest(1_000.0), Some((FlowId(3), 4_800.0)));
        assert_eq!(flows.load(FlowId(2), 1_000.0), Some(3_800.0));
    }
}
