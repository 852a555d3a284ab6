//! Values to bytes.

use super::{PROTOCOL_TCP, PROTOCOL_UDP, PseudoHeader, options};
use crate::{Ecn, Endpoints, Flags, FlowAddresses, Packet, Segment};
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};
use std::net::SocketAddr;

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

impl<'a> Payload<'a> {
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

    /// What the checksum has to run over.
    fn summed(&self) -> &'a [u8] {
        match self {
            Payload::Bytes(bytes) => bytes,
            Payload::Zeros(_) => &[],
        }
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
    if segment.payload_len as usize != payload.len() {
        let (said, given) = (segment.payload_len, payload.len());
        return Err(EncodeError::PayloadMismatch { said, given });
    }
    let mut header = tcp_header(endpoints, segment)?;
    let transport_len = header.header_len() + payload.len();
    let pseudo = PseudoHeader {
        src: endpoints.src.ip(),
        dst: endpoints.dst.ip(),
        protocol: PROTOCOL_TCP,
        len: transport_len as u32,
    };
    header.checksum = pseudo.checksum([&header.to_bytes(), payload.summed()]);
    write_ip(endpoints, ip, PROTOCOL_TCP, transport_len, out)?;
    out.extend_from_slice(&header.to_bytes());
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
    let endpoints = addresses.endpoints(packet.from);
    let ip = IpFields { ecn: packet.ecn, identification, ..IpFields::default() };
    let ip_header_len = if endpoints.src.is_ipv4() { Ipv4Header::MIN_LEN } else { Ipv6Header::LEN };
    let Some(segment) = &packet.tcp else {
        let headers_len = (ip_header_len + UdpHeader::LEN) as u32;
        let payload_len =
            packet.ip_len.checked_sub(headers_len).ok_or(EncodeError::LengthMismatch {
                said: packet.ip_len,
                made: headers_len as usize,
            })?;
        return encode_udp(endpoints, ip, Payload::Zeros(payload_len), out);
    };
    let made = ip_header_len + (segment.header_len() + segment.payload_len) as usize;
    if made != packet.ip_len as usize {
        return Err(EncodeError::LengthMismatch { said: packet.ip_len, made });
    }
    encode(endpoints, ip, segment, Payload::Zeros(segment.payload_len), out)
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
    let transport_len = UdpHeader::LEN + payload.len();
    let too_long = EncodeError::TooLong { len: transport_len };
    let mut header = UdpHeader {
        source_port: endpoints.src.port(),
        destination_port: endpoints.dst.port(),
        length: u16::try_from(transport_len).map_err(|_| too_long)?,
        checksum: 0,
    };
    let pseudo = PseudoHeader {
        src: endpoints.src.ip(),
        dst: endpoints.dst.ip(),
        protocol: PROTOCOL_UDP,
        len: transport_len as u32,
    };
    // RFC 768: a computed zero is sent as all ones, because zero means "no checksum".
    header.checksum = match pseudo.checksum([&header.to_bytes(), payload.summed()]) {
        0 => 0xffff,
        checksum => checksum,
    };
    write_ip(endpoints, ip, PROTOCOL_UDP, transport_len, out)?;
    out.extend_from_slice(&header.to_bytes());
    payload.append_to(out);
    Ok(())
}

/// The TCP header, its checksum still zero.
fn tcp_header(endpoints: Endpoints, segment: &Segment) -> Result<TcpHeader, EncodeError> {
    let options = options::write(&segment.options)
        .ok_or(EncodeError::OptionsTooLong { len: segment.options.wire_len() })?;
    let mut header =
        TcpHeader::new(endpoints.src.port(), endpoints.dst.port(), segment.seq.0, segment.window);
    header.acknowledgment_number = segment.ack.0;
    header.fin = segment.flags.contains(Flags::FIN);
    header.syn = segment.flags.contains(Flags::SYN);
    header.rst = segment.flags.contains(Flags::RST);
    header.psh = segment.flags.contains(Flags::PSH);
    header.ack = segment.flags.contains(Flags::ACK);
    header.urg = segment.flags.contains(Flags::URG);
    header.ece = segment.flags.contains(Flags::ECE);
    header.cwr = segment.flags.contains(Flags::CWR);
    header.set_options_raw(options.as_slice()).expect("at most 40 bytes, a multiple of four");
    Ok(header)
}

fn write_ip(
    endpoints: Endpoints,
    ip: IpFields,
    protocol: u8,
    transport_len: usize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    match (endpoints.src, endpoints.dst) {
        (SocketAddr::V4(src), SocketAddr::V4(dst)) => {
            let too_long = EncodeError::TooLong { len: Ipv4Header::MIN_LEN + transport_len };
            let payload_len = u16::try_from(transport_len).map_err(|_| too_long)?;
            let (src, dst) = (src.ip().octets(), dst.ip().octets());
            let mut header = Ipv4Header::new(payload_len, ip.ttl, IpNumber(protocol), src, dst)
                .map_err(|_| too_long)?;
            header.ecn = ip_ecn(ip.ecn);
            header.identification = ip.identification;
            header.dont_fragment = true;
            header.header_checksum = header.calc_header_checksum();
            out.extend_from_slice(&header.to_bytes());
        }
        (SocketAddr::V6(src), SocketAddr::V6(dst)) => {
            let too_long = EncodeError::TooLong { len: Ipv6Header::LEN + transport_len };
            let mut header = Ipv6Header {
                payload_length: u16::try_from(transport_len).map_err(|_| too_long)?,
                next_header: IpNumber(protocol),
                hop_limit: ip.ttl,
                source: src.ip().octets(),
                destination: dst.ip().octets(),
                ..Ipv6Header::default()
            };
            header.set_dscp(IpDscp::ZERO);
            header.set_ecn(ip_ecn(ip.ecn));
            out.extend_from_slice(&header.to_bytes());
        }
        _ => return Err(EncodeError::MixedFamilies(endpoints)),
    }
    Ok(())
}

pub(super) fn ip_ecn(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}
