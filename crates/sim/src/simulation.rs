//! The event loop.
//!
//! | file | what |
//! | --- | --- |
//! | `simulation/foreign.rs` | hosts that are not simulated: their packets in, deliveries out |
//! | `simulation/ends.rs` | the ends of flows on their hosts, and what leaves a host |
//! | `simulation/change.rs` | what a driver changes in the course of a run |
//! | `simulation/datagrams.rs` | the events of flows that are no connections |

mod change;
mod datagrams;
mod ends;
mod foreign;

use crate::apps::{Act, App, workloads_for};
use crate::datagrams::Sender;
use crate::endpoints::{initial_sequence, start_time};
use crate::processing::Hosts;
use crate::topology::{BuildError, Topology, build_changeable, build_topology};
use ackord_events::{EndpointId, Sink, TcpState};
use ackord_path::{Conservation, Delivery, Graph, Schedule, Unbalanced};
use ackord_scenario::{Flow, Scenario, Transport};
use ackord_tcp::Connection;
use ackord_traffic::{Workload, Workloads};
use ackord_units::{Bytes, Time, count};
use ackord_wire::{FlowId, NodeId, Side};
use ends::{End, MANY_ENDS, end_index, transmit, whose};
use foreign::Foreign;

pub use change::{Change, ChangeError};
pub use foreign::FOREIGN;

/// A scenario at work in simulated time.
#[derive(Debug)]
pub struct Simulation {
    topology: Topology,
    ends: Vec<End>,
    flows: Vec<FlowPhase>,
    /// The endpoints' timers: two ids per flow.
    timers: Schedule,
    /// The applications' deadlines, likewise; apart, because most applications have none.
    app_timers: Schedule,
    now: Time,
    /// The run may not last longer.
    limit: Time,
    packets_sent: u64,
    /// The flows that are no connections.
    senders: Vec<Sender>,
    /// Flows whose connections are not closed yet. Datagrams never end, so with them a run lasts
    /// as long as the scenario says.
    open_flows: usize,
    /// The hosts that are not simulated; nothing where all are.
    foreign: Option<Box<Foreign>>,
    /// What hosts hold that take a time for it; nothing where none does.
    processing: Option<Box<Hosts>>,
}

/// Where a flow stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowPhase {
    /// The client has not opened the connection yet.
    Idle,
    /// It has.
    Opened,
    /// Both ends are done.
    Over,
    /// It is no connection: who sends has this index.
    Datagrams(u32),
}

/// Why a run ended badly. Each is a defect of this project.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// Packets have appeared or vanished.
    #[error(transparent)]
    Unbalanced(#[from] Unbalanced),
}

impl Simulation {
    /// Builds `scenario` with the random streams of `seed` (which may differ from the file's).
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Simulation, BuildError> {
        Simulation::with_foreign(scenario, seed, &[])
    }

    /// The same where some hosts are not simulated: a driver brings what they send and takes what
    /// they get. Their ends of flows are not driven (no connection, no workload), and a flow with
    /// such an end is over when its other end is and [`Simulation::flow_over`] was called.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    ///
    /// # Panics
    /// If the scenario has no such node.
    pub fn with_foreign(
        scenario: &Scenario,
        seed: u64,
        foreign: &[NodeId],
    ) -> Result<Simulation, BuildError> {
        let topology = build_topology(scenario, seed)?;
        Ok(Simulation::on(topology, scenario, seed, foreign))
    }

    /// Builds `scenario` so that its links can be changed in the course of the run ([`Simulation::change`]). What
    /// happens is the same, and costs more.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn changeable(scenario: &Scenario, seed: u64) -> Result<Simulation, BuildError> {
        Ok(Simulation::on(build_changeable(scenario, seed)?, scenario, seed, &[]))
    }

    /// Builds the flows of `scenario` on its path.
    fn on(topology: Topology, scenario: &Scenario, seed: u64, foreign: &[NodeId]) -> Simulation {
        let processing = Hosts::new(scenario, seed, foreign);
        let flows = scenario.flows.len();
        let foreign = Foreign::new(scenario, foreign);
        let mut simulation = Simulation {
            topology,
            ends: Vec::with_capacity(flows * 2),
            flows: vec![FlowPhase::Idle; flows],
            timers: Schedule::new(flows * 2),
            app_timers: Schedule::new(flows * 2),
            now: Time::ZERO,
            limit: Time::ZERO + scenario.duration,
            packets_sent: 0,
            senders: Vec::new(),
            // Without a flow it is foreign traffic that makes a run, and nobody says when that ends.
            open_flows: if foreign.is_some() { flows.max(1) } else { flows },
            foreign,
            processing,
        };
        for (index, flow) in scenario.flows.iter().enumerate() {
            simulation.add_flow(FlowId(index as u32), flow, seed);
        }
        simulation
    }

    fn add_flow(&mut self, id: FlowId, flow: &Flow, seed: u64) {
        let workloads = match flow.transport() {
            Transport::Tcp => workloads_for(seed, flow),
            // Its connections are never opened; they keep ends and flows in step.
            Transport::Udp => Workloads { sends: Workload::Idle, receives: Workload::Idle },
        };
        for side in [Side::Client, Side::Server] {
            let choices = flow.tcp(side);
            let (node, peer) = match side {
                Side::Client => (flow.client, flow.server),
                Side::Server => (flow.server, flow.client),
            };
            let config = choices.config();
            let ip = config.ip;
            let endpoint = EndpointId { flow: id, side };
            let iss = initial_sequence(seed, flow, side);
            let mechanisms = choices.mechanisms();
            // The client too listens, to nobody, until its flow starts and it opens.
            let connection = Connection::listen(config, mechanisms, endpoint, iss);
            let workload = if side == flow.sends { &workloads.sends } else { &workloads.receives };
            let app = App::new(endpoint, workload.clone());
            self.ends.push(End { connection, node, peer, ip, app });
        }
        // A foreign host does what it does by itself.
        let begins = match flow.transport() {
            Transport::Tcp => flow.client,
            Transport::Udp if flow.sends == Side::Client => flow.client,
            Transport::Udp => flow.server,
        };
        if self.is_foreign(begins) {
            return;
        }
        match flow.transport() {
            Transport::Tcp => {
                self.app_timers.set(end_index(id, Side::Client) as u32, start_time(seed, flow));
            }
            Transport::Udp => {
                let sender = Sender::new(seed, flow, id);
                self.flows[id.0 as usize] = FlowPhase::Datagrams(self.senders.len() as u32);
                let at = sender.deadline();
                self.app_timers.set(end_index(id, sender.side()) as u32, at);
                self.senders.push(sender);
            }
        }
    }

    /// Lets packets go through the path with as few steps as it can, for sinks that do not
    /// [need order](Sink::needs_order): what links tell comes late then. What happens is the same. Of no effect with foreign
    /// hosts, which may send to anybody.
    ///
    /// # Panics
    /// If the run has begun.
    pub fn look_ahead(&mut self) {
        if self.foreign.is_some() {
            return;
        }
        let ways: Vec<_> = self.ends.iter().map(|end| (end.node, end.peer)).collect();
        self.topology.graph.look_ahead(&ways);
    }

    /// Runs everything that happens up to and including `until` (and the scenario's duration).
    /// May be called again with a later time, to show progress in between.
    pub fn run_until<S: Sink>(&mut self, until: Time, sink: &mut S) {
        while !self.run_some(until, u64::MAX, sink) {}
    }

    /// Runs up to `until`, but for at most so many steps: a delivered packet each, or a timer.
    /// Returns whether it has come to `until`, or to the end of everything. If not, the next call goes on
    /// where this one ended, as if there had been only one.
    pub fn run_some<S: Sink>(&mut self, until: Time, steps: u64, sink: &mut S) -> bool {
        let until = until.min(self.limit);
        let mut due_at = self.next_due_at();
        let mut left = steps;
        loop {
            if left == 0 {
                return false;
            }
            left -= 1;
            // Up to the next timer the path may run by itself, from one delivery to the next. What arrives
            // together with the end arrives.
            let is_over = self.is_over();
            let up_to = if is_over { self.now } else { due_at.min(until) };
            let delivery = self.topology.graph.poll_delivery(up_to, sink);
            if let Some(delivery) = &delivery {
                self.advance_to(delivery.at);
                if self.ends.len() > MANY_ENDS {
                    self.fetch_next();
                }
                let armed = self.deliver(delivery, sink);
                if !armed && self.processing.is_none() {
                    continue;
                }
            } else if is_over || due_at > until {
                break;
            } else {
                self.advance_to(due_at);
                self.on_due(sink);
            }
            due_at = self.next_due_at();
        }
        if !self.is_over() && until > self.now {
            self.now = until;
        }
        true
    }

    /// With many flows nothing of the next packet's end is at hand.
    #[inline]
    fn fetch_next(&self) {
        if let Some(next) = self.topology.graph.next_behind() {
            self.ends[end_index(next.flow, next.from.other())].fetch();
        }
    }

    /// When something other than the path has something to do.
    fn next_due_at(&self) -> Time {
        self.timers.next_at().min(self.app_timers.next_at()).min(self.next_leaves_at())
    }

    /// Does one thing that is due now.
    fn on_due<S: Sink>(&mut self, sink: &mut S) {
        if self.next_leaves_at() == self.now {
            self.let_go(sink);
        } else if self.timers.next_at() == self.now {
            self.on_timer(sink);
        } else {
            self.on_app_timer(sink);
        }
    }

    fn advance_to(&mut self, next: Time) {
        assert!(next >= self.now, "time went back from {} to {next}", self.now);
        self.now = next;
    }

    /// Whether nothing more can happen: the duration has passed, or every connection is closed.
    pub fn is_over(&self) -> bool {
        self.open_flows == 0 || self.now >= self.limit
    }

    /// Ends the run where it stands: tells the sink of everything the path has still to tell, and
    /// checks that no packet has appeared or vanished.
    pub fn finish<S: Sink>(&mut self, sink: &mut S) -> Result<Conservation, RunError> {
        self.topology.graph.settle(self.now, sink);
        let conservation = self.topology.graph.conservation();
        conservation.check().map_err(RunError::from)?;
        Ok(conservation)
    }

    /// Lets the path tell of everything up to the present: a link works out some departures only
    /// when it is next looked at. Nothing that happens is changed by it, only when it is told.
    pub fn settle<S: Sink>(&mut self, sink: &mut S) {
        self.topology.graph.settle(self.now, sink);
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The path, for its counters.
    pub fn graph(&self) -> &Graph {
        &self.topology.graph
    }

    /// One end of a flow, for its counters.
    pub fn connection(&self, endpoint: EndpointId) -> &Connection {
        &self.ends[end_index(endpoint.flow, endpoint.side)].connection
    }

    /// A packet has arrived at its host. Whether a timer was set.
    #[inline(always)]
    fn deliver<S: Sink>(&mut self, delivery: &Delivery, sink: &mut S) -> bool {
        let Delivery { at, packet, .. } = delivery;
        debug_assert_eq!(*at, self.now, "a delivery is told when it happens");
        if self.foreign.is_some() && self.hand_over(delivery, sink) {
            return false;
        }
        let Some(segment) = &packet.tcp else {
            self.deliver_datagram(packet, sink);
            return false;
        };
        let (flow, side) = (packet.flow, packet.from.other());
        let index = end_index(flow, side);
        let end = &mut self.ends[index];
        end.connection.handle_segment(self.now, segment, packet.ecn, sink);
        let readable = end.connection.readable();
        if readable > Bytes::ZERO {
            end.connection.read(readable);
            end.app.handle_data(self.now, readable);
            if end.connection.acknowledges_first() {
                self.send_all((flow, side), sink);
            }
        }
        self.after(flow, side, sink)
    }

    fn on_timer<S: Sink>(&mut self, sink: &mut S) {
        let (_, id) = self.timers.peek().expect("a timer is due");
        let (flow, side) = whose(id);
        let end = &mut self.ends[id as usize];
        // Timers are lazy: one that was moved to later is only looked at again when it would have
        // been due.
        match end.connection.deadline() {
            None => self.timers.clear(id),
            Some(at) if at > self.now => self.timers.set(id, at),
            Some(_) => {
                self.timers.clear(id);
                end.connection.handle_deadline(self.now, sink);
                self.after(flow, side, sink);
            }
        }
    }

    fn on_app_timer<S: Sink>(&mut self, sink: &mut S) {
        let (_, id) = self.app_timers.peek().expect("an application is due");
        self.app_timers.clear(id);
        let (flow, side) = whose(id);
        match &mut self.flows[flow.0 as usize] {
            phase @ FlowPhase::Idle => {
                *phase = FlowPhase::Opened;
                self.ends[end_index(flow, side)].connection.open(self.now, sink);
            }
            FlowPhase::Datagrams(index) => {
                let index = *index;
                return self.send_datagram(index, id, sink);
            }
            FlowPhase::Opened | FlowPhase::Over => {}
        }
        self.after(flow, side, sink);
    }

    /// An end sends what it can.
    #[inline]
    fn send_all<S: Sink>(&mut self, (flow, side): (FlowId, Side), sink: &mut S) {
        let end = &mut self.ends[end_index(flow, side)];
        let mut packet = end.packet((flow, side));
        while let Some(is_last) = end.poll_packet(self.now, &mut packet, sink) {
            count(&mut self.packets_sent);
            packet.tag = self.packets_sent;
            transmit(&mut self.topology, &mut self.processing, self.now, &packet, sink);
            if is_last {
                break;
            }
        }
    }

    /// When the next packet leaves a host that took a time for it.
    #[inline]
    fn next_leaves_at(&self) -> Time {
        self.processing.as_ref().map_or(Time::NEVER, |hosts| hosts.next_at())
    }

    /// A packet leaves its host.
    #[inline(never)]
    fn let_go<S: Sink>(&mut self, sink: &mut S) {
        let packet = self.processing.as_mut().and_then(|hosts| hosts.poll_packet(self.now));
        if let Some(packet) = packet {
            self.topology.graph.handle_packet(self.now, packet, sink);
        }
    }

    /// Something happened to an end: its application acts, it sends what it can, and its timer is
    /// looked at. Whether a timer was set.
    #[inline(always)]
    fn after<S: Sink>(&mut self, flow: FlowId, side: Side, sink: &mut S) -> bool {
        let now = self.now;
        let index = end_index(flow, side);
        let end = &mut self.ends[index];
        if end.connection.peer_finished() {
            end.connection.close();
        }
        let mut packet = end.packet((flow, side));
        loop {
            let act = end.app.act(now, &mut end.connection, sink);
            // Every write is handed to TCP by itself, as system calls are.
            while let Some(is_last) = end.poll_packet(now, &mut packet, sink) {
                count(&mut self.packets_sent);
                packet.tag = self.packets_sent;
                transmit(&mut self.topology, &mut self.processing, now, &packet, sink);
                if is_last {
                    break;
                }
            }
            if act != Act::Wrote {
                break;
            }
        }
        let id = index as u32;
        let mut armed = false;
        if let Some(at) = end.app.deadline() {
            self.app_timers.set(id, at);
            armed = true;
        }
        if let Some(at) = end.connection.deadline()
            && at < self.timers.time_of(id)
        {
            self.timers.set(id, at.max(now));
            armed = true;
        }
        let over = matches!(end.connection.state(), TcpState::Closed | TcpState::TimeWait);
        if over {
            self.check_over(flow);
        }
        armed
    }

    fn check_over(&mut self, flow: FlowId) {
        let closed = |side| {
            let end = &self.ends[end_index(flow, side)];
            let state = end.connection.state();
            matches!(state, TcpState::Closed | TcpState::TimeWait)
                || self.foreign_is_done(flow, end.node)
        };
        let over = closed(Side::Client) && closed(Side::Server);
        let phase = &mut self.flows[flow.0 as usize];
        if *phase != FlowPhase::Over && over {
            *phase = FlowPhase::Over;
            self.open_flows -= 1;
        }
    }
}
