//! What travels along a path.

use crate::Segment;
use ackord_units::Bytes;

/// A place in the topology: a host or a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NodeId(pub u16);

/// A transport connection (or, for other traffic, one pair of addresses), both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FlowId(pub u32);

/// Which end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Side {
    /// The end that opens the connection.
    #[default]
    Client,
    /// The end that accepts it.
    Server,
}

impl Side {
    /// The opposite end.
    pub const fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecn {
    /// 00: the transport does not speak ECN.
    #[default]
    NotEct,
    /// 01: ECN-capable, as L4S uses it.
    Ect1,
    /// 10: ECN-capable.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

/// Which version of IP carries a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum IpVersion {
    /// IPv4, 20 bytes of header.
    #[default]
    V4,
    /// IPv6, 40 bytes of header.
    V6,
}

impl IpVersion {
    /// Bytes of IP header, without options.
    pub const fn header_len(self) -> u32 {
        match self {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        }
    }
}

/// A packet on its way. Small and copied by value; it owns no bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// The connection it belongs to, for elements that tell connections apart.
    pub flow: FlowId,
    /// Which end sent it.
    pub from: Side,
    /// Where it entered the path.
    pub src: NodeId,
    /// Where it leaves the path.
    pub dst: NodeId,
    /// IP version.
    pub ip: IpVersion,
    /// ECN field.
    pub ecn: Ecn,
    /// Length of the IP packet, header included: what queues and links count.
    pub ip_len: u32,
    /// The driver's own handle (the live driver keeps the real bytes under it); no element reads
    /// it. The simulator numbers packets with it.
    pub tag: u64,
    /// The TCP segment, or nothing for other traffic.
    pub tcp: Option<Segment>,
}

impl Packet {
    /// Length of the IP packet as an amount of data.
    pub const fn len(&self) -> Bytes {
        Bytes(self.ip_len as u64)
    }

    /// Whether the packet has no length (never so for a real packet).
    pub const fn is_empty(&self) -> bool {
        self.ip_len == 0
    }

    /// Bytes of TCP payload; zero for other traffic.
    pub fn payload_len(&self) -> u32 {
        self.tcp.as_ref().map_or(0, |segment| segment.payload_len)
    }
}
