//! What really happened in a run: every packet of the flow under test from its sending to its arrival
//! or its end, every transmission of the bottleneck, every outage, and what the kernels said.
//!
//! Nothing here comes from a capture: packets are known by their tags, which no wire carries.

use ackord_events::{DropReason, Event, LinkId, Sink, TapPoint};
use ackord_live::{TcpInfo, TcpSample};
use ackord_scenario::{Scenario, Way};
use ackord_sim::Topology;
use ackord_traffic::WorkloadChoice;
use ackord_units::{Seq, Time};
use ackord_wire::{Flags, FlowId, NodeId, Packet, Side};
use std::collections::BTreeMap;

/// The flow under test is the first of every scenario.
pub(super) const FLOW: FlowId = FlowId(0);

/// A packet of the flow under test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// When it entered the path.
    pub(super) at: f64,
    /// Bytes, counted from the SYN, which is number 0.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) payload: u32,
    pub(super) flags: Flags,
    /// What it acknowledges, counted likewise.
    pub(super) ack: u64,
    /// The window it offers, bytes.
    pub(super) window: u64,
    /// When the other end had it.
    pub(super) arrived: Option<f64>,
    pub(super) dropped: Option<Dropped>,
}

/// How a packet died.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropped {
    pub(super) reason: DropReason,
}

/// A transmission of the bottleneck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmitted {
    pub(super) at: f64,
    pub(super) bytes: u64,
    pub(super) waited: f64,
    pub(super) flow: FlowId,
}

/// A time when a link was out.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutageSeen {
    pub(super) began: f64,
    pub(super) ends: f64,
}

/// Everything of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Of the client and of the server, in order of sending.
    pub(super) packets: [Vec<Sent>; 2],
    /// Of the bottleneck, in the direction of data.
    pub(super) bottleneck: Vec<Transmitted>,
    pub(super) outages: Vec<OutageSeen>,
    /// The kernel's view of the client's and of the server's end.
    pub(super) samples: [Vec<(f64, TcpInfo)>; 2],
    /// How much the sending application has wanted to send so far, where that is known.
    pub(super) wanted: Vec<(f64, u64)>,
    /// When the flow's first packet was at the server, the router and the client.
    pub(super) first_seen: [Option<f64>; 3],
    /// And the last.
    pub(super) last_seen: f64,
    first_seq: [Option<Seq>; 2],
    scales: [Option<u8>; 2],
}

impl Facts {
    /// Returns true if no byte was dropped on the path or sent twice.
    pub(super) fn is_whole(&self) -> bool {
        self.packets.iter().all(|packets| {
            let mut next = 0;
            packets.iter().filter(|it| it.to > it.from).all(|it| {
                let fresh = it.from >= next && it.dropped.is_none();
                next = it.to;
                fresh
            })
        })
    }
}

/// 0 for the client, 1 for the server.
pub(super) fn index(side: Side) -> usize {
    usize::from(side == Side::Server)
}

/// Where taps lie.
struct Taps {
    /// Where each end's packets enter and leave the path.
    enters: [TapPoint; 2],
    leaves: [TapPoint; 2],
    /// What is seen at the server, the router and the client.
    vantage: [[TapPoint; 2]; 3],
    bottleneck: LinkId,
}

/// Takes events in.
pub(super) struct Observer {
    taps: Taps,
    facts: Facts,
    /// Whether its transfers are all that the sending application writes.
    transfers: bool,
    under_way: BTreeMap<u64, (Side, usize)>,
}

impl Taps {
    fn of(scenario: &Scenario) -> Option<Taps> {
        let named = |name: &str| {
            let number = scenario.links.iter().position(|link| link.name == name)?;
            Some((number, &scenario.links[number]))
        };
        let flow = scenario.flows.first()?;
        let (air, access) = (named("air")?, named("access")?);
        // What a node sends into a link enters it there; what it gets comes out of the other direction.
        let taps = |(number, link): (usize, &ackord_scenario::Link), node: NodeId| {
            let way = if link.from == node { Way::Forward } else { Way::Reverse };
            let back = if link.from == node { Way::Reverse } else { Way::Forward };
            let into = TapPoint::LinkIn(Topology::link_id(number, way));
            (into, TapPoint::LinkOut(Topology::link_id(number, back)))
        };
        let client = taps(air, flow.client);
        let server = taps(access, flow.server);
        let router = if air.1.from == flow.client { air.1.to } else { air.1.from };
        let at_router = taps(air, router);
        Some(Taps {
            enters: [client.0, server.0],
            leaves: [client.1, server.1],
            vantage: [server, at_router, client].map(|(into, out)| [into, out]),
            bottleneck: Topology::link_id(air.0, Way::Forward),
        })
    }
}

impl Observer {
    /// For a run of this scenario; nothing if it is none of the self-test's.
    pub(super) fn new(scenario: &Scenario) -> Option<Observer> {
        let (taps, flow) = (Taps::of(scenario)?, scenario.flows.first()?);
        let mut facts = Facts::default();
        // It writes as fast as it may, from the beginning on.
        if let WorkloadChoice::Bulk(bulk) = &flow.traffic {
            facts.wanted.push((0.0, bulk.size.map_or(u64::MAX, |size| size.get())));
        }
        let transfers = matches!(flow.traffic, WorkloadChoice::Transfers(_));
        Some(Observer { taps, facts, transfers, under_way: BTreeMap::new() })
    }

    /// All, with what the kernels said.
    pub(super) fn finish(self, samples: &[TcpSample]) -> Facts {
        let mut facts = self.facts;
        for sample in samples.iter().filter(|sample| sample.endpoint.flow == FLOW) {
            let of = &mut facts.samples[index(sample.endpoint.side)];
            of.push((seconds(sample.at), sample.info));
        }
        facts
    }

    fn tapped(&mut self, at: f64, tap: TapPoint, packet: &Packet) {
        for (first, taps) in self.facts.first_seen.iter_mut().zip(&self.taps.vantage) {
            if taps.contains(&tap) {
                first.get_or_insert(at);
            }
        }
        self.facts.last_seen = self.facts.last_seen.max(at);
        let from = index(packet.from);
        if tap == self.taps.enters[from] {
            self.entered(at, packet);
        } else if tap == self.taps.leaves[1 - from]
            && let Some((side, number)) = self.under_way.remove(&packet.tag)
        {
            self.facts.packets[index(side)][number].arrived = Some(at);
        }
    }

    fn entered(&mut self, at: f64, packet: &Packet) {
        let Some(segment) = &packet.tcp else { return };
        let (me, peer) = (index(packet.from), 1 - index(packet.from));
        let syn = segment.flags.contains(Flags::SYN);
        if syn {
            self.facts.scales[me] = segment.options.window_scale;
        }
        let first = *self.facts.first_seq[me].get_or_insert(segment.seq);
        let from = u64::from(segment.seq.since(first));
        let ack = match self.facts.first_seq[peer] {
            Some(first) if segment.flags.contains(Flags::ACK) => {
                u64::from(segment.ack.since(first))
            }
            _ => 0,
        };
        let scaled = self.facts.scales[peer].is_some() && !syn;
        let scale = self.facts.scales[me].filter(|_| scaled).unwrap_or(0);
        let sent = Sent {
            at,
            from,
            to: from + u64::from(segment.seq_len()),
            payload: segment.payload_len,
            flags: segment.flags,
            ack,
            window: u64::from(segment.window) << scale.min(14),
            arrived: None,
            dropped: None,
        };
        self.under_way.insert(packet.tag, (packet.from, self.facts.packets[me].len()));
        self.facts.packets[me].push(sent);
    }
}

pub(super) fn seconds(at: Time) -> f64 {
    at.as_secs_f64()
}

impl Sink for Observer {
    fn emit(&mut self, at: Time, event: Event<'_>) {
        let at = seconds(at);
        match event {
            Event::PacketTapped { tap, packet } if packet.flow == FLOW => {
                self.tapped(at, tap, packet);
            }
            Event::PacketDropped { packet, reason, .. } if packet.flow == FLOW => {
                if let Some((side, number)) = self.under_way.remove(&packet.tag) {
                    let sent = &mut self.facts.packets[index(side)][number];
                    sent.dropped = Some(Dropped { reason });
                }
            }
            Event::PacketDequeued { link, flow, bytes, waited, .. }
                if link == self.taps.bottleneck =>
            {
                let (bytes, waited) = (bytes.get(), waited.as_secs_f64());
                self.facts.bottleneck.push(Transmitted { at, bytes, waited, flow });
            }
            Event::TransferBegan { endpoint, bytes, .. }
                if self.transfers && endpoint.flow == FLOW =>
            {
                let before = self.facts.wanted.last().map_or(0, |last| last.1);
                self.facts.wanted.push((at, before + bytes.get()));
            }
            Event::OutageMet { began, ends, .. } => {
                let seen = OutageSeen { began: seconds(began), ends: seconds(ends) };
                self.facts.outages.push(seen);
            }
            // What the kernels say themselves is sampled; no other event is about the path.
            _ => {}
        }
    }
}
