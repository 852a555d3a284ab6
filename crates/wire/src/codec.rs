//! Values to bytes and back, with every checksum.
//!
//! | file | what |
//! | --- | --- |
//! | `codec/encode.rs` | [`encode`] a segment, [`encode_udp`], [`encode_packet`] a simulated packet |
//! | `codec/decode.rs` | [`decode_ip`] the IP header, [`decode`] a TCP packet, [`decode_udp`] |
//! | `codec/options.rs` | the TCP options, both ways |
//! | `codec/rewrite.rs` | [`write_piece`]: one segment of several that offloading has put together |
//!
//! [`set_ecn`] changes a mark in a packet that is under way.
//!
//! `etherparse` reads headers and has the Internet checksum. The TCP options are walked here because the library
//! stops at the first option it does not know; headers are written here because a simulation that captures writes
//! two packets for every one that passes a link.
//! Not modelled: IPv4 options when writing, IPv6 extension headers, fragments, the urgent pointer.

mod decode;
mod encode;
mod options;

mod rewrite;

pub use decode::{
    DecodeError, Decoded, IpDecoded, TcpChecksum, UdpDecoded, decode, decode_ip, decode_offloaded,
    decode_udp,
};
pub(crate) use encode::encode_beginning;
pub use encode::{EncodeError, IpFields, Payload, encode, encode_packet, encode_udp};
pub use options::OptionsError;
pub use rewrite::{Piece, write_piece};

use crate::Ecn;
use etherparse::checksum::Sum16BitWords;
use std::net::IpAddr;

/// Rewrites the ECN field of an IP packet in place, with the IPv4 header checksum; bytes that are
/// no IP packet stay as they are.
pub fn set_ecn(bytes: &mut [u8], ecn: Ecn) {
    let bits = encode::ip_ecn(ecn).value();
    match bytes {
        [first, traffic_class, _, _, _, _, _, _, _, _, high, low, ..] if *first >> 4 == 4 => {
            let before = u16::from_be_bytes([*first, *traffic_class]);
            *traffic_class = *traffic_class & !3 | bits;
            let after = u16::from_be_bytes([*first, *traffic_class]);
            // RFC 1624 equation 3, for the one word that has changed.
            let checksum = u32::from(!u16::from_be_bytes([*high, *low]));
            let sum = checksum + u32::from(!before) + u32::from(after);
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            [*high, *low] = (!(folded as u16)).to_be_bytes();
        }
        [first, second, ..] if *first >> 4 == 6 => *second = *second & !0x30 | bits << 4,
        _ => {}
    }
}

/// Protocol number of TCP.
pub(crate) const PROTOCOL_TCP: u8 = 6;
/// Protocol number of UDP.
pub(crate) const PROTOCOL_UDP: u8 = 17;

/// What the transport's checksum covers besides its own bytes.
#[derive(Clone, Copy)]
pub(crate) struct PseudoHeader {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) protocol: u8,
    /// Bytes of transport header and payload.
    pub(crate) len: u32,
}

impl PseudoHeader {
    /// The sum over the pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1).
    pub(crate) fn sum(&self) -> Sum16BitWords {
        let mut sum = Sum16BitWords::new();
        for address in [self.src, self.dst] {
            sum = match address {
                IpAddr::V4(address) => sum.add_4bytes(address.octets()),
                IpAddr::V6(address) => sum.add_16bytes(address.octets()),
            };
        }
        sum.add_4bytes(self.len.to_be_bytes()).add_2bytes([0, self.protocol])
    }

    /// The checksum to put into the header of `transport`, where the field is still zero.
    pub(crate) fn checksum(&self, transport: &[u8]) -> u16 {
        self.sum().add_slice(transport).ones_complement().to_be()
    }

    /// Whether `transport`, checksum field included, sums up as it should.
    pub(crate) fn verifies(&self, transport: &[u8]) -> bool {
        self.checksum(transport) == 0
    }
}
