//! A packet for unit tests.

use ackord_wire::{Ecn, FlowId, IpVersion, NodeId, Packet, Side};

/// A packet of this length, without a TCP segment.
pub(super) fn packet(ip_len: u32) -> Packet {
    Packet {
        flow: FlowId(0),
        from: Side::Client,
        src: NodeId(0),
        dst: NodeId(1),
        ip: IpVersion::V4,
        ecn: Ecn::NotEct,
        ip_len,
        tag: 0,
        tcp: None,
    }
}
