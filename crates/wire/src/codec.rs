//! Values to bytes and back, with every checksum.
//!
//! | file | what |
//! | --- | --- |
//! | `codec/encode.rs` | [`encode`] a segment, [`encode_packet`] a simulated packet |
//! | `codec/decode.rs` | [`decode_ip`] the IP header, [`decode`] a TCP packet |
//! | `codec/options.rs` | the TCP options, both ways |
//!
//! Header layouts and the Internet checksum come from `etherparse`; the TCP options are walked
//! here because the library stops at the first option it does not know.
//! Not modelled: IPv4 options when writing, IPv6 extension headers, fragments, the urgent pointer.

mod decode;
mod encode;
mod options;

pub use decode::{DecodeError, Decoded, IpDecoded, decode, decode_ip};
pub use encode::{EncodeError, IpFields, Payload, encode, encode_packet};
pub use options::OptionsError;

use etherparse::checksum::Sum16BitWords;
use std::net::IpAddr;

/// Protocol number of TCP.
pub(crate) const PROTOCOL_TCP: u8 = 6;
/// Protocol number of UDP.
pub(crate) const PROTOCOL_UDP: u8 = 17;

/// What the transport's checksum covers besides its own octets.
#[derive(Clone, Copy)]
pub(crate) struct PseudoHeader {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    pub(crate) protocol: u8,
    /// Octets of transport header and payload.
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

    /// The checksum to put into a transport header whose checksum field is still zero.
    pub(crate) fn checksum(&self, parts: [&[u8]; 2]) -> u16 {
        // The first part is a header, so of even length: the second starts at a 16-bit border.
        let sum = parts.into_iter().fold(self.sum(), |sum, part| sum.add_slice(part));
        sum.ones_complement().to_be()
    }

    /// Whether `transport`, checksum field included, sums up as it should.
    pub(crate) fn verifies(&self, transport: &[u8]) -> bool {
        self.checksum([transport, &[]]) == 0
    }
}
