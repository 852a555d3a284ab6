//! The ends of flows on their hosts, and what leaves a host.

use crate::apps::App;
use crate::processing::Hosts;
use crate::topology::Topology;
use ackord_events::Sink;
use ackord_tcp::Connection;
use ackord_units::Time;
use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Packet, Side};
use prefetch_index::prefetch_index;
use std::mem::offset_of;
use std::slice;

/// One end of a flow, on its host.
// In this order: what every packet asks for, next to what it asks a connection for.
#[repr(C)]
#[derive(Debug)]
pub(super) struct End {
    pub(super) app: App,
    pub(super) node: NodeId,
    pub(super) peer: NodeId,
    pub(super) ip: IpVersion,
    pub(super) connection: Connection,
}

/// A host gives out a packet: onto its first link, at once or after its processing time.
#[inline]
pub(super) fn transmit<S: Sink>(
    topology: &mut Topology,
    processing: &mut Option<Box<Hosts>>,
    now: Time,
    packet: &Packet,
    sink: &mut S,
) {
    match processing {
        None => topology.graph.handle_packet(now, packet, sink),
        Some(hosts) => {
            if let Some(packet) = hosts.handle_packet(now, *packet) {
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

/// More ends than these do not fit into the caches near a processor.
pub(super) const MANY_ENDS: usize = 512;
/// How many bytes from `ip` on hold nearly all that a packet reads or writes: measured, as time per packet
/// with 10,000 flows. A wrong number costs only time.
const LOOKED_AT: usize = 0x480;
const _: () = {
    let before = offset_of!(End, connection) - offset_of!(End, ip);
    let of_connection = Connection::BYTES_OF_PACKETS;
    assert!(LOOKED_AT >= before + *of_connection.start(), "packets use more: measure again");
    assert!(LOOKED_AT <= before + *of_connection.end(), "packets use less: measure again");
};
/// Bytes in a line of a processor's cache.
const LINE: usize = 64;

impl End {
    /// A packet will come soon: the processor fetches what that looks at while there is other work.
    #[inline(never)]
    pub(super) fn fetch(&self) {
        let place = slice::from_ref(&self.ip);
        (0..LOOKED_AT).step_by(LINE).for_each(|byte| prefetch_index(place, byte));
    }

    /// What all packets of this end of a flow have in common.
    #[inline(always)]
    pub(super) fn packet(&self, (flow, from): (FlowId, Side)) -> Packet {
        Packet {
            flow,
            from,
            src: self.node,
            dst: self.peer,
            ip: self.ip,
            ecn: Ecn::NotEct,
            ip_len: 0,
            tag: 0,
            tcp: None,
        }
    }

    /// Makes this the next packet to leave, if there is one: whether it is known to be the last.
    #[inline(always)]
    pub(super) fn poll_packet<S: Sink>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        sink: &mut S,
    ) -> Option<bool> {
        let polled = self.connection.poll_segment_into(now, &mut packet.tcp, sink)?;
        let segment = packet.tcp.as_ref()?;
        packet.ecn = polled.ecn;
        packet.ip_len = self.ip.header_len() + segment.header_len() + segment.payload_len;
        Some(polled.is_last)
    }
}
