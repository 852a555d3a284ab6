//! Proxy TCP for use: the paper's watching, repeating and testing, with what the paper leaves open
//! worked out (decision 0080 says why each is as it is).
//!
//! - **Losses**: every hole at once, by the order in which segments were sent (`recovery.rs`).
//! - **Fading**: the oldest data is overdue by what the wireless round trip and its deviation
//!   allow, and nothing else came from the mobile either (`detect.rs`). A lone segment that is overdue
//!   is only repeated.
//! - **While it lasts**: questions without data at intervals, one for all connections of a mobile
//!   host (`hold.rs`).
//! - **When it is over**: what was lost goes out again at the pace at which the link delivered before
//!   (`rate.rs`); where an answer shows that the data survived in a queue, nothing does.
//! - **The sender** is not frozen: a window of zero does not stop its retransmission timer while
//!   data is outstanding, and repeated data lets it see by itself that the timeout was spurious.
//! - **In the path** it may do more: hide duplicates from senders without timestamps, and hold
//!   acknowledgments in reserve (`reserve.rs`).

use super::super::{Heading, InPath, Middlebox, OnPath, Outbox, ProxyStats, Verdict};
use super::config::PracticalConfig;
use super::connection::{Connection, Desk, Heard};
use super::flows::{Flows, Limits};
use ackord_units::{Span, Time};
use ackord_wire::{Flags, FlowId, NodeId, Packet};
use std::collections::BTreeMap;

/// Proxy TCP for use. [`OnPath::observe`] is for one that stands beside the path,
/// [`InPath::handle`] for one in it.
#[derive(Clone, Debug)]
pub struct PracticalProxy {
    config: PracticalConfig,
    flows: Flows<Connection>,
    /// When each faded host was last probed: connections to one host take turns.
    probed: BTreeMap<NodeId, Time>,
    stats: ProxyStats,
}

impl PracticalProxy {
    /// A box that knows nothing yet.
    pub fn new(config: PracticalConfig) -> PracticalProxy {
        PracticalProxy {
            config,
            flows: Flows::new(config.limits),
            probed: BTreeMap::new(),
            stats: ProxyStats::default(),
        }
    }

    fn pass(&mut self, now: Time, packet: &Packet, heading: Heading, out: &mut Outbox) -> Verdict {
        self.stats.seen += 1;
        if packet.tcp.is_none() {
            return Verdict::Forward;
        }
        let id = packet.flow;
        let verdict = match heading {
            Heading::Mobile => {
                self.on_to_mobile(now, packet, out);
                Verdict::Forward
            }
            Heading::Fixed => self.on_from_mobile(now, packet, out),
        };
        match self.flows.get_mut(id).is_some_and(|flow| flow.is_reset()) {
            true => self.flows.forget(id, &mut self.stats),
            false => self.flows.settle(id, now, &mut self.stats),
        }
        verdict
    }

    fn on_to_mobile(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        let length = packet.payload_len();
        if !self.flows.has_room_for(length) {
            self.flows.make_room(now, &mut self.stats);
        }
        let fits = self.flows.has_room_for(length);
        let config = &self.config;
        let begin = |limits: &Limits| Connection::new(config, limits);
        let flow = self.flows.seen(now, packet.flow, &mut self.stats, begin);
        let Some(flow) = flow else { return };
        let opens = packet.tcp.is_some_and(|segment| {
            segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK)
        });
        if opens {
            *flow = Connection::new(config, &config.limits);
        }
        let mut desk = Desk { now, id: packet.flow, out, stats: &mut self.stats };
        flow.on_to_mobile(&mut desk, packet, fits);
    }

    fn on_from_mobile(&mut self, now: Time, packet: &Packet, out: &mut Outbox) -> Verdict {
        let config = &self.config;
        let begin = |limits: &Limits| Connection::new(config, limits);
        let flow = self.flows.seen(now, packet.flow, &mut self.stats, begin);
        let Some(flow) = flow else { return Verdict::Forward };
        let opens = packet.tcp.is_some_and(|segment| {
            segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK)
        });
        if opens {
            *flow = Connection::new(config, &config.limits);
        }
        let mut desk = Desk { now, id: packet.flow, out, stats: &mut self.stats };
        let Heard { verdict, link_is_back } = flow.on_from_mobile(&mut desk, packet);
        if link_is_back {
            self.ask_all_of(now, packet.src, packet.flow);
        }
        verdict
    }

    /// The link to `host` is back: the other connections to it find out at once.
    fn ask_all_of(&mut self, now: Time, host: NodeId, except: FlowId) {
        self.probed.remove(&host);
        let held: Vec<_> = self
            .flows
            .iter_mut()
            .filter(|(id, flow)| *id != except && flow.held_host() == Some(host))
            .map(|(id, flow)| {
                flow.probe_at(now);
                id
            })
            .collect();
        for id in held {
            self.flows.settle(id, now, &mut self.stats);
        }
    }

    fn on_due(&mut self, now: Time, id: FlowId, out: &mut Outbox) {
        let Some(flow) = self.flows.get_mut(id) else { return };
        if flow.probe_is_due(now)
            && let Some(host) = flow.held_host()
        {
            let interval = flow.probe_interval();
            let taken = self.probed.get(&host).map(|at| *at + interval).filter(|at| *at > now);
            if let Some(later) = taken {
                flow.probe_at(later);
                return;
            }
            self.probed.insert(host, now);
        }
        let mut desk = Desk { now, id, out, stats: &mut self.stats };
        flow.on_due(&mut desk);
    }
}

impl Middlebox for PracticalProxy {
    fn deadline(&self) -> Option<Time> {
        self.flows.deadline()
    }

    fn handle_deadline(&mut self, now: Time, out: &mut Outbox) {
        while let Some(id) = self.flows.due(now) {
            self.on_due(now, id, out);
            self.flows.settle(id, now + Span::from_nanos(1), &mut self.stats);
        }
    }

    fn forget(&mut self, flow: FlowId) {
        self.flows.forget(flow, &mut self.stats);
    }

    fn stats(&self) -> &ProxyStats {
        &self.stats
    }
}

impl OnPath for PracticalProxy {
    fn observe(&mut self, now: Time, packet: &Packet, heading: Heading, out: &mut Outbox) {
        let verdict = self.pass(now, packet, heading, out);
        debug_assert_eq!(verdict, Verdict::Forward, "who stands beside the path removes nothing");
    }

    fn boxed_clone(&self) -> Box<dyn OnPath> {
        Box::new(self.clone())
    }
}

impl InPath for PracticalProxy {
    fn handle(
        &mut self,
        now: Time,
        packet: &Packet,
        heading: Heading,
        out: &mut Outbox,
    ) -> Verdict {
        self.pass(now, packet, heading, out)
    }

    fn boxed_clone(&self) -> Box<dyn InPath> {
        Box::new(self.clone())
    }
}
