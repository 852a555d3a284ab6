//! Packets of our host on their way into the path.

use crate::packets::{PacketStore, Stored};
use ackord_events::EndpointId;
use ackord_tcp::Outbound;
use ackord_wire::{
    Ecn, Endpoints, FlowId, IpFields, IpVersion, NodeId, Packet, Payload, Segment, Side, encode,
};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Makes packets, keeps their bytes, and queues them for the driver.
#[derive(Debug)]
pub(crate) struct Uplink {
    /// The bytes of every packet under way, in both directions.
    pub(crate) store: PacketStore,
    ours: NodeId,
    kernel: NodeId,
    packets: VecDeque<Packet>,
    payload: Vec<u8>,
    identification: u16,
}

impl Uplink {
    /// Between our node and the kernel's.
    pub(crate) fn new(ours: NodeId, kernel: NodeId) -> Uplink {
        Uplink {
            store: PacketStore::default(),
            ours,
            kernel,
            packets: VecDeque::new(),
            payload: Vec::new(),
            identification: 0,
        }
    }

    /// The next packet to enter the path.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.packets.pop_front()
    }

    /// Queues a segment whose payload `fill` appends; nothing if it cannot be made.
    pub(crate) fn send_tcp(
        &mut self,
        from: EndpointId,
        endpoints: Endpoints,
        outbound: &Outbound,
        fill: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        self.payload.clear();
        fill(&mut self.payload)?;
        self.identification = self.identification.wrapping_add(1);
        let Outbound { segment, ecn } = outbound;
        let ip = IpFields { identification: self.identification, ecn: *ecn, ..IpFields::default() };
        let mut bytes = self.store.buffer();
        let payload = Payload::Bytes(&self.payload);
        encode(endpoints, ip, segment, payload, &mut bytes).ok()?;
        let ip = version_of(endpoints.src.ip());
        self.queue((from.flow, from.side), ip, bytes, *ecn, Some(*segment));
        Some(())
    }

    /// Queues a whole IP packet that is not TCP.
    pub(crate) fn send_other(&mut self, flow: FlowId, from: Side, ip: IpVersion, bytes: Vec<u8>) {
        self.queue((flow, from), ip, bytes, Ecn::NotEct, None);
    }

    fn queue(
        &mut self,
        (flow, from): (FlowId, Side),
        ip: IpVersion,
        bytes: Vec<u8>,
        ecn: Ecn,
        tcp: Option<Segment>,
    ) {
        let ip_len = bytes.len() as u32;
        let tag =
            self.store.insert(Stored { bytes, ecn, endpoints: None, payload: 0..0, entered: 0 });
        self.packets.push_back(Packet {
            flow,
            from,
            src: self.ours,
            dst: self.kernel,
            ip,
            ecn,
            ip_len,
            tag,
            tcp,
        });
    }
}

/// The version of IP whose address this is.
pub(crate) fn version_of(address: IpAddr) -> IpVersion {
    match address {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}
