//! The ends of flows on their hosts, and what leaves a host.

use crate::apps::App;
use crate::processing::Hosts;
use crate::topology::Topology;
use ackord_events::Sink;
use ackord_tcp::{Connection, Outbound};
use ackord_units::Time;
use ackord_wire::{FlowId, IpVersion, NodeId, Packet, Side};

/// One end of a flow, on its host.
#[derive(Debug)]
pub(super) struct End {
    pub(super) connection: Connection,
    pub(super) node: NodeId,
    pub(super) peer: NodeId,
    pub(super) ip: IpVersion,
    pub(super) app: App,
}

/// A host gives out a packet: onto its first link, at once or after its processing time.
#[inline]
pub(super) fn transmit<S: Sink>(
    topology: &mut Topology,
    processing: &mut Option<Box<Hosts>>,
    now: Time,
    packet: Packet,
    sink: &mut S,
) {
    match processing {
        None => topology.graph.handle_packet(now, packet, sink),
        Some(hosts) => {
            if let Some(packet) = hosts.handle_packet(now, packet) {
                topology.graph.handle_packet(now, packet, sink);
            }
        }
    }
}

#[inline]
pub(super) fn end_index(flow: FlowId, side: Side) -> usize {
    flow.0 as usize * 2 + usize::from(side == Side::Server)
}

/// The end with this index.
pub(super) fn whose(index: u32) -> (FlowId, Side) {
    (FlowId(index / 2), if index.is_multiple_of(2) { Side::Client } else { Side::Server })
}

#[inline]
pub(super) fn packet(
    end: &End,
    (flow, from): (FlowId, Side),
    outbound: &Outbound,
    tag: u64,
) -> Packet {
    let Outbound { segment, ecn } = outbound;
    Packet {
        flow,
        from,
        src: end.node,
        dst: end.peer,
        ip: end.ip,
        ecn: *ecn,
        ip_len: end.ip.header_len() + segment.header_len() + segment.payload_len,
        tag,
        tcp: Some(*segment),
    }
}
