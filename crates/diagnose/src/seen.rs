//! What a capture says of one TCP packet.

use ackord_units::Time;
use ackord_wire::Flags;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// One end's address and port. IPv4 addresses stand in their IPv6 form (`::ffff:a.b.c.d`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Address {
    /// The address.
    pub ip: [u8; 16],
    /// The port.
    pub port: u16,
}

impl Address {
    /// An IPv4 address and a port.
    #[inline]
    pub fn v4(ip: [u8; 4], port: u16) -> Address {
        let mut all = [0; 16];
        all[10] = 0xff;
        all[11] = 0xff;
        all[12..].copy_from_slice(&ip);
        Address { ip: all, port }
    }

    /// As the standard library has it.
    pub fn socket(self) -> SocketAddr {
        let ip = Ipv6Addr::from(self.ip);
        SocketAddr::new(ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4), self.port)
    }
}

/// SACK blocks of one packet (RFC 2018): four at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sacks {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl Sacks {
    /// One more block, from its first byte to the one after its last; the fifth is left out.
    #[inline]
    pub fn push(&mut self, block: (u32, u32)) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.len)) {
            *place = block;
            self.len += 1;
        }
    }

    /// In the order of the packet.
    #[inline]
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// What a radio header (radiotap, AVS, PPI) and the 802.11 header report of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Radio {
    /// The retry bit of 802.11: the frame repeats one that was not acknowledged on the air.
    pub retry: bool,
    /// Traffic identifier of QoS frames; zero for other frames.
    pub tid: u8,
    /// Sequence number of the frame, 12 bits: the same in all repetitions of one frame.
    pub sequence: u16,
    /// Physical rate, kbit/s; zero if the header lacks it.
    pub rate_kbit_s: u32,
    /// Time on the air of the whole frame, us; zero if the rate is unknown.
    pub airtime_us: u16,
}

/// One TCP packet of a capture: its headers, when and where it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Number of the frame in its file, from 1, as Wireshark counts.
    pub frame: u64,
    /// Since 1970, as the capture says.
    pub at: Time,
    /// Which capture file, from 0.
    pub file: u16,
    /// Which interface of that file, from 0.
    pub interface: u16,
    /// Who sent it.
    pub src: Address,
    /// Whom it is for.
    pub dst: Address,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// Control bits.
    pub flags: Flags,
    /// Bytes of payload that the packet had, kept or not.
    pub payload_len: u32,
    /// Bytes of the IP packet.
    pub ip_len: u32,
    /// Identification field of IPv4; zero for IPv6.
    pub ip_id: u16,
    /// Hops left.
    pub ttl: u8,
    /// The two ECN bits of IP.
    pub ecn: u8,
    /// MSS option, if any.
    pub mss: Option<u16>,
    /// Window scale option, if any.
    pub wscale: Option<u8>,
    /// Whether it carries "SACK permitted".
    pub sack_permitted: bool,
    /// TSval and TSecr, if any.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks.
    pub sacks: Sacks,
    /// The snap length cut TCP options off.
    pub options_cut: bool,
    /// Fingerprint of the capture point: interface, direction and link-layer addresses. Copies of one packet
    /// at two points differ in it; zero if the capture has none of these.
    pub hop: u32,
    /// What the radio header reports, in captures of 802.11.
    pub radio: Option<Radio>,
}
