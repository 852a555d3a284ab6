//! Hosts that are not simulated: what they send comes in, what they get goes out.
//!
//! A foreign packet enters at the instant the driver says and is then like any other. What arrives
//! at a foreign host, and what came from one wherever it arrives, is kept for the driver: it has
//! something of its own to do with both, such as the bytes that it keeps under the packet's tag.
//!
//! Not modelled: ICMP errors of simulated hosts that get what they have no flow for; TCP is answered
//! with a reset (RFC 9293 §3.10.7.1), anything else is not answered.

use super::Simulation;
use super::ends::{end_index, transmit};
use ackord_events::Sink;
use ackord_path::Delivery;
use ackord_scenario::{Scenario, Transport};
use ackord_tcp::reset_for;
use ackord_units::Time;
use ackord_wire::{Ecn, Flags, FlowId, NodeId, Packet};
use std::collections::VecDeque;

/// The bit of [`Packet::tag`] that foreign packets have and that no packet of a simulated host has.
/// For a datagram with it, [`DatagramDelivered`](ackord_events::Event::DatagramDelivered) is left to
/// the driver, which knows when it was sent.
pub const FOREIGN: u64 = 1 << 63;

/// What a simulation knows of the hosts that are not simulated.
#[derive(Debug)]
pub(super) struct Foreign {
    /// By node: whether it is such a host.
    is: Vec<bool>,
    /// By flow: whether its foreign ends are done.
    done: Vec<bool>,
    /// By flow: whether it is a TCP connection.
    tcp: Vec<bool>,
    /// What has arrived, in order of time.
    arrived: VecDeque<Delivery>,
}

impl Foreign {
    /// Nothing where no host is foreign.
    ///
    /// # Panics
    /// If the scenario has no such node.
    pub(super) fn new(scenario: &Scenario, foreign: &[NodeId]) -> Option<Box<Foreign>> {
        if foreign.is_empty() {
            return None;
        }
        let mut is = vec![false; scenario.nodes.len()];
        for node in foreign {
            is[node.0 as usize] = true;
        }
        let done = vec![false; scenario.flows.len()];
        let tcp = scenario.flows.iter().map(|flow| flow.transport() == Transport::Tcp).collect();
        Some(Box::new(Foreign { is, done, tcp, arrived: VecDeque::new() }))
    }
}

impl Simulation {
    /// A packet of the foreign host `packet.src` enters the path at `now`, after everything else
    /// that happens up to and including `now`. Its tag is the driver's, with [`FOREIGN`] set. Of no
    /// effect when the run [is over](Simulation::is_over).
    ///
    /// # Panics
    /// If `now` lies before the present.
    pub fn handle_foreign<S: Sink>(&mut self, now: Time, packet: Packet, sink: &mut S) {
        debug_assert!(packet.tag & FOREIGN != 0, "a foreign packet's tag says so");
        debug_assert!(self.is_foreign(packet.src), "only foreign hosts send foreign packets");
        self.run_until(now, sink);
        if self.is_over() {
            return;
        }
        self.advance_to(now);
        self.topology.graph.handle_packet(now, packet, sink);
    }

    /// What has arrived at a foreign host, or has come from one and arrived anywhere, in order of
    /// time; nothing if nothing (more) has up to the last instant that was
    /// [run](Simulation::run_until).
    #[inline]
    pub fn poll_foreign(&mut self) -> Option<Delivery> {
        self.foreign.as_mut()?.arrived.pop_front()
    }

    /// When something happens next by itself; nothing if the run is over or nothing is pending. May
    /// be early: then nothing happens, and this answers anew.
    pub fn deadline(&self) -> Option<Time> {
        if self.is_over() {
            return None;
        }
        let timers = self.timers.next_at().min(self.app_timers.next_at());
        let timers = timers.min(self.next_leaves_at());
        let next_at = self.topology.graph.deadline().unwrap_or(Time::NEVER).min(timers);
        (next_at != Time::NEVER).then(|| next_at.max(self.now))
    }

    /// The foreign ends of `flow` are done with it; what its driver knows and a simulation cannot.
    /// Of no effect for a flow without foreign ends, for datagrams, which never end, and for flows
    /// that are not the scenario's.
    pub fn flow_over(&mut self, flow: FlowId) {
        let index = flow.0 as usize;
        let Some(foreign) = &mut self.foreign else { return };
        if foreign.tcp.get(index) == Some(&true) {
            foreign.done[index] = true;
            self.check_over(flow);
        }
    }

    /// Whether this node is a host that is not simulated.
    pub fn is_foreign(&self, node: NodeId) -> bool {
        let foreign = self.foreign.as_ref();
        foreign.is_some_and(|foreign| foreign.is.get(node.0 as usize) == Some(&true))
    }

    /// Whether the end of `flow` at `node` is foreign and done.
    pub(super) fn foreign_is_done(&self, flow: FlowId, node: NodeId) -> bool {
        self.is_foreign(node)
            && self.foreign.as_ref().is_some_and(|foreign| foreign.done[flow.0 as usize])
    }

    /// Keeps for the driver what is the driver's; answers whether it was dealt with here: whether
    /// nobody else wants it.
    #[cold]
    pub(super) fn hand_over<S: Sink>(&mut self, delivery: &Delivery, sink: &mut S) -> bool {
        let packet = &delivery.packet;
        let arrived_there = self.is_foreign(delivery.node);
        let came_from_there = packet.tag & FOREIGN != 0;
        if let Some(foreign) = &mut self.foreign
            && (arrived_there || came_from_there)
        {
            foreign.arrived.push_back(*delivery);
        }
        let index = end_index(packet.flow, packet.from.other());
        let known = self.ends.get(index).is_some_and(|end| end.node == delivery.node);
        if arrived_there || (came_from_there && packet.tcp.is_none()) {
            return true;
        }
        if known {
            return false;
        }
        self.reset(packet, sink);
        true
    }

    /// Answers a segment for which there is no connection.
    fn reset<S: Sink>(&mut self, packet: &Packet, sink: &mut S) {
        let Some(segment) = packet.tcp.filter(|segment| !segment.flags.contains(Flags::RST)) else {
            return;
        };
        let segment = reset_for(&segment);
        self.packets_sent += 1;
        let answer = Packet {
            flow: packet.flow,
            from: packet.from.other(),
            src: packet.dst,
            dst: packet.src,
            ip: packet.ip,
            ecn: Ecn::NotEct,
            ip_len: packet.ip.header_len() + segment.header_len(),
            tag: self.packets_sent,
            tcp: Some(segment),
        };
        transmit(&mut self.topology, &mut self.processing, self.now, &answer, sink);
    }
}
