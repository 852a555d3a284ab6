//! ICMP errors of the gateway: what cannot be reached is told to whoever wanted to reach it.
//!
//! RFC 792 and RFC 1812 §4.3.2 for IPv4, RFC 4443 §3.1 for IPv6. They come from the base address, as
//! those of a router would.

use super::Shared;
use ackord_wire::IpDecoded;
use etherparse::PacketBuilder;
use nix::errno::Errno;
use std::net::IpAddr;

/// The beginning of a packet, for the error that may have to quote it.
#[derive(Clone, Debug)]
pub(super) struct Quote {
    src: IpAddr,
    bytes: Vec<u8>,
}

/// Bytes quoted of what follows the IP header: enough for the ports (RFC 792).
const QUOTED: usize = 8;
/// Time to live, or hop limit.
const TTL: u8 = 64;

/// Keeps of a packet what an error would quote.
pub(super) fn quote(packet: &[u8], ip: &IpDecoded) -> Quote {
    let end = ip.payload.end.min(ip.payload.start + QUOTED);
    Quote { src: ip.src, bytes: packet[..end].to_vec() }
}

/// Why a destination is not reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreachable {
    Network,
    Host,
    Port,
    Prohibited,
}

impl Unreachable {
    /// What an attempt to reach a destination ended with; nothing for what is no fault of it.
    pub(super) fn of(errno: Errno) -> Option<Unreachable> {
        match errno {
            Errno::ENETUNREACH | Errno::EADDRNOTAVAIL | Errno::EAFNOSUPPORT | Errno::ENETDOWN => {
                Some(Unreachable::Network)
            }
            Errno::EHOSTUNREACH | Errno::EHOSTDOWN => Some(Unreachable::Host),
            Errno::ECONNREFUSED => Some(Unreachable::Port),
            Errno::EACCES | Errno::EPERM => Some(Unreachable::Prohibited),
            _ => None,
        }
    }

    fn code_v4(self) -> u8 {
        match self {
            Unreachable::Network => 0,
            Unreachable::Host => 1,
            Unreachable::Port => 3,
            Unreachable::Prohibited => 13,
        }
    }

    fn code_v6(self) -> u8 {
        match self {
            Unreachable::Network => 0,
            Unreachable::Host => 3,
            Unreachable::Port => 4,
            Unreachable::Prohibited => 1,
        }
    }
}

/// Tells the sender of the quoted packet.
pub(super) fn tell(why: Unreachable, quote: &Quote, shared: &mut Shared<'_>) {
    let mut bytes = shared.uplink.buffer();
    let base = shared.map.base;
    let written = match quote.src {
        IpAddr::V4(to) => PacketBuilder::ipv4(base.v4.octets(), to.octets(), TTL)
            .icmpv4_raw(3, why.code_v4(), [0; 4])
            .write(&mut bytes, &quote.bytes),
        IpAddr::V6(to) => PacketBuilder::ipv6(base.v6.octets(), to.octets(), TTL)
            .icmpv6_raw(1, why.code_v6(), [0; 4])
            .write(&mut bytes, &quote.bytes),
    };
    match written {
        Ok(()) => shared.uplink.send(bytes),
        Err(_) => shared.uplink.recycle(bytes),
    }
}
