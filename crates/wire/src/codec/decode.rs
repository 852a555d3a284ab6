//! Bytes to values. Whatever the bytes are, the answer is a value.

use super::options::{self, OptionsError};
use super::{PROTOCOL_TCP, PROTOCOL_UDP, PseudoHeader};
use crate::{Ecn, Endpoints, Flags, IpVersion, Segment};
use ackord_units::Seq;
use etherparse::checksum::Sum16BitWords;
use etherparse::err::{ipv4, ipv6, tcp};
use etherparse::{IpEcn, Ipv4HeaderSlice, Ipv6HeaderSlice, TcpSlice, UdpHeaderSlice};
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

/// An IP header that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpDecoded {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Version of IP.
    pub version: IpVersion,
    /// ECN field.
    pub ecn: Ecn,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Number of the protocol inside; for IPv6 that of the first extension header, if there is one.
    pub protocol: u8,
    /// Length of the IP packet, header included.
    pub ip_len: u32,
    /// Where the IP payload lies in the bytes that were read.
    pub payload: Range<usize>,
}

/// A TCP packet that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Where it comes from and goes to.
    pub endpoints: Endpoints,
    /// Its IP header.
    pub ip: IpDecoded,
    /// Its TCP header.
    pub segment: Segment,
    /// Where the TCP payload lies in the bytes that were read.
    pub payload: Range<usize>,
}

/// A UDP packet that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpDecoded {
    /// Where it comes from and goes to.
    pub endpoints: Endpoints,
    /// Its IP header.
    pub ip: IpDecoded,
    /// Where the UDP payload lies in the bytes that were read.
    pub payload: Range<usize>,
}

/// Bytes are not a sound packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There is nothing.
    #[error("no bytes at all")]
    Empty,
    /// Neither IPv4 nor IPv6.
    #[error("IP version {0} is neither 4 nor 6")]
    NotIp(u8),
    /// The bytes end before the packet does.
    #[error("the packet needs {needed} bytes, there are {there}")]
    Truncated {
        /// Bytes it needs at least.
        needed: usize,
        /// Bytes there are.
        there: usize,
    },
    /// A header says that it is shorter than a header can be.
    #[error("a header length of {0} bytes is impossible")]
    BadHeaderLength(usize),
    /// The IPv4 header checksum is wrong.
    #[error("the IPv4 header checksum is wrong")]
    BadIpChecksum,
    /// A fragment of a packet; fragments are not put together.
    #[error("a fragment")]
    Fragment,
    /// Sound, but not TCP.
    #[error("IP protocol {protocol} is not TCP")]
    NotTcp {
        /// The protocol's number.
        protocol: u8,
    },
    /// Sound, but not UDP.
    #[error("IP protocol {protocol} is not UDP")]
    NotUdp {
        /// The protocol's number.
        protocol: u8,
    },
    /// The UDP checksum is wrong.
    #[error("the UDP checksum is wrong")]
    BadUdpChecksum,
    /// The TCP checksum is wrong.
    #[error("the TCP checksum is wrong")]
    BadTcpChecksum,
    /// The TCP options cannot be read.
    #[error(transparent)]
    BadOptions(#[from] OptionsError),
}

/// Reads an IP header; bytes after the packet's own length are ignored.
///
/// # Errors
/// [`DecodeError`], except for the TCP kinds.
pub fn decode_ip(bytes: &[u8]) -> Result<IpDecoded, DecodeError> {
    let ip = decode_ip_header(bytes)?;
    match ip.payload.end {
        needed if needed > bytes.len() => {
            Err(DecodeError::Truncated { needed, there: bytes.len() })
        }
        _ => Ok(ip),
    }
}

/// The same of a packet that may be cut off behind its headers.
fn decode_ip_header(bytes: &[u8]) -> Result<IpDecoded, DecodeError> {
    match bytes.first().ok_or(DecodeError::Empty)? >> 4 {
        4 => decode_ipv4(bytes),
        6 => decode_ipv6(bytes),
        version => Err(DecodeError::NotIp(version)),
    }
}

/// What a reader does about the checksum of a TCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpChecksum {
    /// It has to be right.
    Verified,
    /// Somebody else has verified it, or it is still to be filled in by a network card.
    Trusted,
    /// Nobody can tell, and need not: the packet may be cut off behind its headers.
    HeadersOnly,
}

/// Reads a TCP packet and verifies its checksums.
///
/// # Errors
/// [`DecodeError`]: everything a peer, a damaging path or a stranger can send is one of its values.
pub fn decode(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    decode_offloaded(bytes, TcpChecksum::Verified)
}

/// The same for a packet on its way through this machine, whose TCP checksum a network card may have
/// verified or have still to fill in.
///
/// # Errors
/// [`DecodeError`]
pub fn decode_offloaded(bytes: &[u8], checksum: TcpChecksum) -> Result<Decoded, DecodeError> {
    let ip = match checksum {
        TcpChecksum::HeadersOnly => decode_ip_header(bytes)?,
        TcpChecksum::Verified | TcpChecksum::Trusted => decode_ip(bytes)?,
    };
    if ip.protocol != PROTOCOL_TCP {
        return Err(DecodeError::NotTcp { protocol: ip.protocol });
    }
    let transport = &bytes[ip.payload.start..ip.payload.end.min(bytes.len())];
    let tcp = TcpSlice::from_slice(transport).map_err(|error| match error {
        tcp::HeaderSliceError::Len(error) => {
            DecodeError::Truncated { needed: error.required_len, there: error.len }
        }
        tcp::HeaderSliceError::Content(tcp::HeaderError::DataOffsetTooSmall { data_offset }) => {
            DecodeError::BadHeaderLength(usize::from(data_offset) * 4)
        }
    })?;
    let len = transport.len() as u32;
    let pseudo = PseudoHeader { src: ip.src, dst: ip.dst, protocol: PROTOCOL_TCP, len };
    if checksum == TcpChecksum::Verified && !pseudo.verifies(transport) {
        return Err(DecodeError::BadTcpChecksum);
    }
    let segment = Segment {
        seq: Seq(tcp.sequence_number()),
        ack: Seq(tcp.acknowledgment_number()),
        flags: Flags::from_bits(transport[13]),
        window: tcp.window_size(),
        payload_len: (ip.payload.len().saturating_sub(tcp.header_len())) as u32,
        options: options::read(tcp.options())?,
    };
    let data = (ip.payload.start + tcp.header_len()).min(ip.payload.end);
    let payload = data..ip.payload.end;
    let endpoints = Endpoints {
        src: SocketAddr::new(ip.src, tcp.source_port()),
        dst: SocketAddr::new(ip.dst, tcp.destination_port()),
    };
    Ok(Decoded { endpoints, ip, segment, payload })
}

/// Reads a UDP packet and verifies its checksums.
///
/// # Errors
/// [`DecodeError`]: everything a peer, a damaging path or a stranger can send is one of its values.
pub fn decode_udp(bytes: &[u8]) -> Result<UdpDecoded, DecodeError> {
    let ip = decode_ip(bytes)?;
    if ip.protocol != PROTOCOL_UDP {
        return Err(DecodeError::NotUdp { protocol: ip.protocol });
    }
    let transport = &bytes[ip.payload.clone()];
    let header = UdpHeaderSlice::from_slice(transport)
        .map_err(|error| DecodeError::Truncated { needed: error.required_len, there: error.len })?;
    let len = usize::from(header.length());
    if len < header.slice().len() {
        return Err(DecodeError::BadHeaderLength(len));
    }
    let there = transport.len();
    let datagram = transport.get(..len).ok_or(DecodeError::Truncated { needed: len, there })?;
    let pseudo = PseudoHeader { src: ip.src, dst: ip.dst, protocol: PROTOCOL_UDP, len: len as u32 };
    // RFC 768: zero means that there is none; RFC 8200 §8.1 does not allow that.
    let absent = header.checksum() == 0 && ip.version == IpVersion::V4;
    if !absent && (header.checksum() == 0 || !pseudo.verifies(datagram)) {
        return Err(DecodeError::BadUdpChecksum);
    }
    let endpoints = Endpoints {
        src: SocketAddr::new(ip.src, header.source_port()),
        dst: SocketAddr::new(ip.dst, header.destination_port()),
    };
    let start = ip.payload.start;
    Ok(UdpDecoded { endpoints, payload: start + header.slice().len()..start + len, ip })
}

fn decode_ipv4(bytes: &[u8]) -> Result<IpDecoded, DecodeError> {
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(|error| match error {
        ipv4::HeaderSliceError::Len(error) => {
            DecodeError::Truncated { needed: error.required_len, there: error.len }
        }
        ipv4::HeaderSliceError::Content(error) => match error {
            ipv4::HeaderError::UnexpectedVersion { version_number } => {
                DecodeError::NotIp(version_number)
            }
            ipv4::HeaderError::HeaderLengthSmallerThanHeader { ihl } => {
                DecodeError::BadHeaderLength(usize::from(ihl) * 4)
            }
        },
    })?;
    let header_len = header.slice().len();
    let total_len = usize::from(header.total_len());
    // Over the bytes as they are: the reserved bit counts too.
    if Sum16BitWords::new().add_slice(header.slice()).ones_complement() != 0 {
        return Err(DecodeError::BadIpChecksum);
    }
    if total_len < header_len {
        return Err(DecodeError::BadHeaderLength(header_len));
    }
    if header.is_fragmenting_payload() {
        return Err(DecodeError::Fragment);
    }
    Ok(IpDecoded {
        src: IpAddr::V4(header.source_addr()),
        dst: IpAddr::V4(header.destination_addr()),
        version: IpVersion::V4,
        ecn: ecn(header.ecn()),
        ttl: header.ttl(),
        protocol: header.protocol().0,
        ip_len: total_len as u32,
        payload: header_len..total_len,
    })
}

fn decode_ipv6(bytes: &[u8]) -> Result<IpDecoded, DecodeError> {
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(|error| match error {
        ipv6::HeaderSliceError::Len(error) => {
            DecodeError::Truncated { needed: error.required_len, there: error.len }
        }
        ipv6::HeaderSliceError::Content(ipv6::HeaderError::UnexpectedVersion {
            version_number,
        }) => DecodeError::NotIp(version_number),
    })?;
    let header_len = header.slice().len();
    let total_len = header_len + usize::from(header.payload_length());
    Ok(IpDecoded {
        src: IpAddr::V6(header.source_addr()),
        dst: IpAddr::V6(header.destination_addr()),
        version: IpVersion::V6,
        ecn: ecn(header.ecn()),
        ttl: header.hop_limit(),
        protocol: header.next_header().0,
        ip_len: total_len as u32,
        payload: header_len..total_len,
    })
}

fn ecn(ecn: IpEcn) -> Ecn {
    match ecn {
        IpEcn::NotEct => Ecn::NotEct,
        IpEcn::Ect1 => Ecn::Ect1,
        IpEcn::Ect0 => Ecn::Ect0,
        IpEcn::CongestionExperienced => Ecn::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IpFields, Payload, encode, encode_udp};

    fn datagram(src: &str, dst: &str) -> Vec<u8> {
        let endpoints = Endpoints {
            src: src.parse().expect("an address"),
            dst: dst.parse().expect("an address"),
        };
        let mut bytes = Vec::new();
        encode_udp(endpoints, IpFields::default(), Payload::Bytes(b"a question"), &mut bytes)
            .expect("fits");
        bytes
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written_and_damage_is_seen() {
        for (src, dst) in [("10.0.0.1:700", "10.0.1.1:53"), ("[fd00::1]:700", "[fd00::2]:53")] {
            let bytes = datagram(src, dst);
            let read = decode_udp(&bytes).expect("sound");
            assert_eq!(read.endpoints.src.to_string(), src);
            assert_eq!(read.endpoints.dst.to_string(), dst);
            assert_eq!(&bytes[read.payload], b"a question");
            let mut damaged = bytes.clone();
            *damaged.last_mut().expect("not empty") ^= 1;
            assert_eq!(decode_udp(&damaged), Err(DecodeError::BadUdpChecksum));
            assert!(matches!(decode(&bytes), Err(DecodeError::NotTcp { protocol: 17 })));
        }
    }

    #[test]
    fn a_datagram_without_a_checksum_is_sound_over_ipv4_only() {
        let mut bytes = datagram("10.0.0.1:700", "10.0.1.1:53");
        bytes[26..28].fill(0);
        assert!(decode_udp(&bytes).is_ok());
        let mut bytes = datagram("[fd00::1]:700", "[fd00::2]:53");
        bytes[46..48].fill(0);
        assert_eq!(decode_udp(&bytes), Err(DecodeError::BadUdpChecksum));
    }

    #[test]
    fn headers_are_enough_where_nothing_else_is_asked_for() {
        let endpoints = Endpoints {
            src: "10.0.0.1:700".parse().expect("one"),
            dst: "10.0.1.1:80".parse().expect("one"),
        };
        let segment = Segment { seq: Seq(7), payload_len: 900, ..Segment::default() };
        let mut bytes = Vec::new();
        encode(endpoints, IpFields::default(), &segment, Payload::Zeros(900), &mut bytes)
            .expect("fits");
        let whole = decode(&bytes).expect("sound");
        let headers = whole.payload.start;
        for there in 0..bytes.len() {
            let cut = decode_offloaded(&bytes[..there], TcpChecksum::HeadersOnly);
            match there < headers {
                true => assert!(cut.is_err(), "{there}"),
                false => assert_eq!(cut.as_ref(), Ok(&whole)),
            }
            assert!(decode_offloaded(&bytes[..there], TcpChecksum::Trusted).is_err());
        }
    }

    #[test]
    fn a_length_that_cannot_be_is_refused() {
        let mut bytes = datagram("[fd00::1]:700", "[fd00::2]:53");
        bytes[44..46].copy_from_slice(&7_u16.to_be_bytes());
        assert_eq!(decode_udp(&bytes), Err(DecodeError::BadHeaderLength(7)));
        bytes[44..46].copy_from_slice(&700_u16.to_be_bytes());
        assert_eq!(decode_udp(&bytes), Err(DecodeError::Truncated { needed: 700, there: 18 }));
    }
}
