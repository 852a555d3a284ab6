//! Values to bytes.

use super::{PROTOCOL_TCP, PROTOCOL_UDP, options};
use crate::{Ecn, Endpoints, FlowAddresses, IpVersion, Packet, Segment};
use etherparse::IpEcn;
use etherparse::checksum::u64_16bit_word::{add_slice, ones_complement};
use std::net::SocketAddr;

/// Bytes of a TCP header without options.
const TCP_HEADER_LEN: usize = 20;
const UDP_HEADER_LEN: usize = 8;

/// What a caller chooses in the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpFields {
    /// The ECN field.
    pub ecn: Ecn,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// IPv4 identification; IPv6 has none.
    pub identification: u16,
}

impl Default for IpFields {
    fn default() -> IpFields {
        // RFC 6864 §4.1: an atomic datagram may carry any identification. 64 is the TTL that
        // the IANA registry of parameters recommends.
        IpFields { ecn: Ecn::NotEct, ttl: 64, identification: 0 }
    }
}

/// The bytes after the transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Real data.
    Bytes(&'a [u8]),
    /// This many zero bytes: simulated data, which add nothing to the checksum.
    Zeros(u32),
}

impl Payload<'_> {
    /// Bytes of payload.
    pub fn len(&self) -> usize {
        match self {
            Payload::Bytes(bytes) => bytes.len(),
            Payload::Zeros(count) => *count as usize,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn append_to(&self, out: &mut Vec<u8>) {
        match self {
            Payload::Bytes(bytes) => out.extend_from_slice(bytes),
            Payload::Zeros(count) => out.resize(out.len() + *count as usize, 0),
        }
    }
}

/// A packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// One address is IPv4 and the other IPv6.
    #[error("a packet cannot go from {src} to {dst}: one is IPv4, the other IPv6", src = .0.src, dst = .0.dst)]
    MixedFamilies(Endpoints),
    /// The options need more than the 40 bytes there are.
    #[error("TCP options of {len} bytes do not fit into 40")]
    OptionsTooLong {
        /// Bytes they need.
        len: u32,
    },
    /// The segment says it has another length of payload than was given.
    #[error("the segment says {said} bytes of payload, {given} were given")]
    PayloadMismatch {
        /// What the segment says.
        said: u32,
        /// What was given.
        given: usize,
    },
    /// The packet is longer than IP's length field can say.
    #[error("an IP packet of {len} bytes does not exist")]
    TooLong {
        /// Bytes of the whole packet.
        len: usize,
    },
    /// The packet's length is not that of its headers and payload.
    #[error("the packet says {said} bytes, its headers and payload make {made}")]
    LengthMismatch {
        /// What the packet says.
        said: u32,
        /// What its parts make.
        made: usize,
    },
}

/// Appends an IP packet with `segment` and `payload` to `out`.
///
/// # Errors
/// [`EncodeError`]; `out` is then unchanged.
pub fn encode(
    endpoints: Endpoints,
    ip: IpFields,
    segment: &Segment,
    payload: Payload<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    put_tcp_headers(&endpoints, ip, segment, payload, out)?;
    payload.append_to(out);
    Ok(())
}

/// Appends a simulated packet with zeros for payload to `out`: TCP if it carries a segment, else a
/// UDP datagram of the packet's length.
///
/// # Errors
/// [`EncodeError`]; `out` is then unchanged. The addresses decide about the version of IP.
pub fn encode_packet(
    packet: &Packet,
    addresses: &FlowAddresses,
    identification: u16,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    encode_beginning(packet, &addresses.endpoints(packet.from), identification, usize::MAX, out)
}

/// The same, but no more than the first `most` bytes of it. Its checksums are those of the whole packet.
///
/// # Errors
/// As [`encode_packet`].
pub(crate) fn encode_beginning(
    packet: &Packet,
    endpoints: &Endpoints,
    identification: u16,
    most: usize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let start = out.len();
    let ip = IpFields { ecn: packet.ecn, identification, ..IpFields::default() };
    let version = if endpoints.src.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 };
    let said = packet.ip_len;
    match &packet.tcp {
        Some(segment) => {
            let made = version.header_len() + segment.header_len() + segment.payload_len;
            if made != said {
                return Err(EncodeError::LengthMismatch { said, made: made as usize });
            }
            let payload = Payload::Zeros(segment.payload_len);
            put_tcp_headers(endpoints, ip, segment, payload, out)?;
        }
        None => {
            let made = version.header_len() as usize + UDP_HEADER_LEN;
            let payload_len = said.checked_sub(made as u32);
            let payload_len = payload_len.ok_or(EncodeError::LengthMismatch { said, made })?;
            put_udp_headers(endpoints, ip, Payload::Zeros(payload_len), out)?;
        }
    }
    // The payload, or less than the headers where not even they are wanted.
    out.resize(start + (said as usize).min(most), 0);
    Ok(())
}

/// Appends an IP packet with a UDP datagram to `out`.
///
/// # Errors
/// [`EncodeError`]; `out` is then unchanged.
pub fn encode_udp(
    endpoints: Endpoints,
    ip: IpFields,
    payload: Payload<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    put_udp_headers(&endpoints, ip, payload, out)?;
    payload.append_to(out);
    Ok(())
}

/// Appends the headers of a TCP packet whose payload follows.
fn put_tcp_headers(
    endpoints: &Endpoints,
    ip: IpFields,
    segment: &Segment,
    payload: Payload<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    if segment.payload_len as usize != payload.len() {
        let (said, given) = (segment.payload_len, payload.len());
        return Err(EncodeError::PayloadMismatch { said, given });
    }
    let options_len = segment.options.wire_len();
    if options_len > options::MAX_LEN {
        return Err(EncodeError::OptionsTooLong { len: options_len });
    }
    let header_len = TCP_HEADER_LEN + options_len as usize;
    let mut header = [0; TCP_HEADER_LEN];
    header[..2].copy_from_slice(&endpoints.src.port().to_be_bytes());
    header[2..4].copy_from_slice(&endpoints.dst.port().to_be_bytes());
    header[4..8].copy_from_slice(&segment.seq.0.to_be_bytes());
    header[8..12].copy_from_slice(&segment.ack.0.to_be_bytes());
    // In words of four bytes, in the upper half.
    header[12] = (header_len as u8 / 4) << 4;
    header[13] = segment.flags.bits();
    header[14..16].copy_from_slice(&segment.window.to_be_bytes());
    let mut sum = put_ip_header(endpoints, ip, PROTOCOL_TCP, header_len + payload.len(), out)?;
    sum += words(&header);
    let at = out.len();
    out.extend_from_slice(&header);
    if options_len > 0 {
        options::put(&segment.options, out);
        sum += words(&out[at + TCP_HEADER_LEN..]);
    }
    let field = checksum(sum, payload);
    out[at + 16..at + 18].copy_from_slice(&field);
    Ok(())
}

/// Appends the headers of a datagram whose payload follows.
fn put_udp_headers(
    endpoints: &Endpoints,
    ip: IpFields,
    payload: Payload<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let len = UDP_HEADER_LEN + payload.len();
    let mut header = [0; UDP_HEADER_LEN];
    header[..2].copy_from_slice(&endpoints.src.port().to_be_bytes());
    header[2..4].copy_from_slice(&endpoints.dst.port().to_be_bytes());
    header[4..6].copy_from_slice(&length(len, len)?);
    let sum = put_ip_header(endpoints, ip, PROTOCOL_UDP, len, out)? + words(&header);
    header[6..].copy_from_slice(&match checksum(sum, payload) {
        // RFC 768: a computed zero is sent as all ones, because zero means "no checksum".
        [0, 0] => [0xff, 0xff],
        checksum => checksum,
    });
    out.extend_from_slice(&header);
    Ok(())
}

/// Appends the header of a packet with so many bytes of transport header and payload. Gives what the
/// pseudo-header adds to the transport's checksum (RFC 9293 §3.1, RFC 8200 §8.1).
fn put_ip_header(
    endpoints: &Endpoints,
    ip: IpFields,
    protocol: u8,
    transport_len: usize,
    out: &mut Vec<u8>,
) -> Result<u64, EncodeError> {
    let ecn = ip_ecn(ip.ecn).value();
    match (&endpoints.src, &endpoints.dst) {
        (SocketAddr::V4(src), SocketAddr::V4(dst)) => {
            let len = transport_len + IpVersion::V4.header_len() as usize;
            let mut header = [0; IpVersion::V4.header_len() as usize];
            // Version 4, five words of four bytes.
            (header[0], header[1]) = (0x45, ecn);
            header[2..4].copy_from_slice(&length(len, len)?);
            header[4..6].copy_from_slice(&ip.identification.to_be_bytes());
            // Not to be fragmented.
            header[6] = 0x40;
            (header[8], header[9]) = (ip.ttl, protocol);
            header[12..16].copy_from_slice(&src.ip().octets());
            header[16..].copy_from_slice(&dst.ip().octets());
            let checksum = checksum(words(&header), Payload::Zeros(0));
            header[10..12].copy_from_slice(&checksum);
            out.extend_from_slice(&header);
            Ok(words(&header[12..]) + pseudo_end(protocol, transport_len))
        }
        (SocketAddr::V6(src), SocketAddr::V6(dst)) => {
            let len = transport_len + IpVersion::V6.header_len() as usize;
            let mut header = [0; IpVersion::V6.header_len() as usize];
            // Version 6, with the ECN field in the traffic class behind it.
            (header[0], header[1]) = (0x60, ecn << 4);
            header[4..6].copy_from_slice(&length(transport_len, len)?);
            (header[6], header[7]) = (protocol, ip.ttl);
            header[8..24].copy_from_slice(&src.ip().octets());
            header[24..].copy_from_slice(&dst.ip().octets());
            out.extend_from_slice(&header);
            Ok(words(&header[8..]) + pseudo_end(protocol, transport_len))
        }
        _ => Err(EncodeError::MixedFamilies(*endpoints)),
    }
}

/// A field of two bytes for a length; `whole` is the packet's.
fn length(len: usize, whole: usize) -> Result<[u8; 2], EncodeError> {
    let len = u16::try_from(len).map_err(|_| EncodeError::TooLong { len: whole })?;
    Ok(len.to_be_bytes())
}

/// The pseudo-header behind the addresses.
fn pseudo_end(protocol: u8, transport_len: usize) -> u64 {
    let [high, low] = (transport_len as u16).to_be_bytes();
    words(&[0, protocol, high, low])
}

/// What bytes add to a checksum: a header or a part of one, whose length is a multiple of four.
#[inline]
fn words(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum()
}

/// The checksum field for such a sum and a payload. (The sum's byte order is the machine's, and so is the field's.)
#[inline]
fn checksum(sum: u64, payload: Payload<'_>) -> [u8; 2] {
    let sum = match payload {
        Payload::Bytes(bytes) => add_slice(sum, bytes),
        Payload::Zeros(_) => sum,
    };
    ones_complement(sum).to_ne_bytes()
}

pub(super) fn ip_ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}
