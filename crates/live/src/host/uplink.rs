//! Packets of our host on their way into the path.

use ackord_tcp::Outbound;
use ackord_wire::{Endpoints, IpFields, IpVersion, Payload, encode};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Makes packets and queues them for whoever carries them on.
#[derive(Debug, Default)]
pub(crate) struct Uplink {
    packets: VecDeque<Vec<u8>>,
    /// Buffers for the next packets.
    spare: Vec<Vec<u8>>,
    payload: Vec<u8>,
    identification: u16,
}

/// Buffers kept for later; more are given back to the allocator.
const SPARE_BUFFERS: usize = 256;

impl Uplink {
    /// Whether no packet waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Moves the next packet into `out`, which has room for it; says how long it is.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Option<usize> {
        let packet = self.packets.pop_front()?;
        let len = packet.len();
        out[..len].copy_from_slice(&packet);
        self.recycle(packet);
        Some(len)
    }

    /// An empty buffer.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(2048))
    }

    /// Gives a buffer back.
    pub(crate) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_BUFFERS {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Queues a segment whose payload `fill` appends; nothing if it cannot be made.
    pub(crate) fn send_tcp(
        &mut self,
        endpoints: Endpoints,
        outbound: &Outbound,
        fill: impl FnOnce(&mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        self.payload.clear();
        fill(&mut self.payload)?;
        self.identification = self.identification.wrapping_add(1);
        let Outbound { segment, ecn } = outbound;
        let ip = IpFields { identification: self.identification, ecn: *ecn, ..IpFields::default() };
        let mut bytes = self.buffer();
        encode(endpoints, ip, segment, Payload::Bytes(&self.payload), &mut bytes).ok()?;
        self.send(bytes);
        Some(())
    }

    /// Queues a whole IP packet.
    pub(crate) fn send(&mut self, packet: Vec<u8>) {
        self.packets.push_back(packet);
    }
}

/// The version of IP whose address this is.
pub(crate) fn version_of(address: IpAddr) -> IpVersion {
    match address {
        IpAddr::V4(_) => IpVersion::V4,
        IpAddr::V6(_) => IpVersion::V6,
    }
}
