//! What a captured frame says of a TCP connection, from however much of it was kept.
//!
//! Unlike [`decode`](crate::decode) this verifies no checksum and asks for no whole packet: offload
//! leaves checksums unset in captures taken at the sender, and captures are often cut off after the
//! headers. Link types: Ethernet with any VLAN tags, bare IP, BSD loopback, Linux "cooked" 1 and 2.
//! Not modelled: tunnels (the outer packet is not TCP then), fragments.

use crate::pcapng::LinkType;
use crate::{Endpoints, Flags};
use ackord_units::Seq;
use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket};
use std::net::{IpAddr, SocketAddr};

/// What a frame says of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glimpse {
    /// Where the packet comes from and goes to.
    pub endpoints: Endpoints,
    /// Sequence number.
    pub seq: Seq,
    /// TCP flags.
    pub flags: Flags,
    /// Bytes of TCP payload the packet had, whether they were kept or not.
    pub payload_len: u32,
}

/// A frame says nothing of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Nobody here knows frames of this kind.
    #[error("frames of link type {} are not understood", .0.0)]
    UnknownLink(LinkType),
    /// Sound, but not IP.
    #[error("not IP")]
    NotIp,
    /// Sound, but not TCP.
    #[error("not TCP")]
    NotTcp,
    /// A fragment of an IP packet.
    #[error("a fragment")]
    Fragment,
    /// Too short, or contradicting itself.
    #[error("malformed")]
    Malformed,
}

/// The bytes of a TCP header up to its flags.
const PREFIX: usize = 14;

/// Reads a frame of which `original_len` bytes were on the wire.
///
/// # Errors
/// [`FrameError`], whatever the bytes are.
pub fn glimpse(link: LinkType, frame: &[u8], original_len: u32) -> Result<Glimpse, FrameError> {
    let packet = sliced(link, frame)?;
    let Some(net) = &packet.net else {
        let broken = packet.stop_err.is_some();
        return Err(if broken { FrameError::Malformed } else { FrameError::NotIp });
    };
    let (src, dst, ip_len, ip_start) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (src, dst) = (header.source_addr(), header.destination_addr());
            let len = usize::from(header.total_len());
            (IpAddr::V4(src), IpAddr::V4(dst), len, header.slice().as_ptr() as usize)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let (src, dst) = (header.source_addr(), header.destination_addr());
            let len = match usize::from(header.payload_length()) {
                0 => 0,
                payload => payload + header.slice().len(),
            };
            (IpAddr::V6(src), IpAddr::V6(dst), len, header.slice().as_ptr() as usize)
        }
        LaxNetSlice::Arp(_) => return Err(FrameError::NotIp),
    };
    let transport = net.ip_payload_ref().ok_or(FrameError::NotIp)?;
    if transport.fragmented {
        return Err(FrameError::Fragment);
    }
    if transport.ip_number != IpNumber::TCP {
        return Err(FrameError::NotTcp);
    }
    // A packet that the network card was to cut up says zero where its length does not fit.
    let transport_len = if ip_len == 0 {
        transport.payload.len() + (original_len as usize).saturating_sub(frame.len())
    } else {
        ip_len.saturating_sub(transport.payload.as_ptr() as usize - ip_start)
    };
    let tcp = transport.payload.first_chunk::<PREFIX>().ok_or(FrameError::Malformed)?;
    let header_len = usize::from(tcp[12] >> 4) * 4;
    if header_len < 20 || header_len > transport_len {
        return Err(FrameError::Malformed);
    }
    let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    Ok(Glimpse {
        endpoints: Endpoints {
            src: SocketAddr::new(src, port(0)),
            dst: SocketAddr::new(dst, port(2)),
        },
        seq: Seq(u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]])),
        flags: Flags::from_bits(tcp[13]),
        payload_len: (transport_len - header_len) as u32,
    })
}

/// The frame cut into layers, behind whatever its link puts before them.
fn sliced(link: LinkType, frame: &[u8]) -> Result<LaxSlicedPacket<'_>, FrameError> {
    let behind = |len: usize| frame.get(len..).ok_or(FrameError::Malformed);
    let ip = |bytes| LaxSlicedPacket::from_ip(bytes).map_err(|_| FrameError::Malformed);
    let typed = |type_at: usize, len: usize| {
        let payload = behind(len)?;
        let ether_type = u16::from_be_bytes([frame[type_at], frame[type_at + 1]]);
        Ok(LaxSlicedPacket::from_ether_type(EtherType(ether_type), payload))
    };
    match link {
        LinkType::ETHERNET => {
            LaxSlicedPacket::from_ethernet(frame).map_err(|_| FrameError::Malformed)
        }
        LinkType::RAW
        | LinkType::RAW_BSD
        | LinkType::RAW_OPENBSD
        | LinkType::IPV4
        | LinkType::IPV6 => ip(frame),
        LinkType::NULL | LinkType::LOOP => ip(behind(4)?),
        LinkType::LINUX_SLL => typed(14, 16),
        LinkType::LINUX_SLL2 => typed(0, 20),
        other => Err(FrameError::UnknownLink(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IpFields, IpVersion, Options, Payload, Segment, encode};

    fn segment() -> Segment {
        Segment {
            seq: Seq(7),
            ack: Seq(9),
            flags: Flags::ACK,
            window: 100,
            payload_len: 300,
            options: Options::default(),
        }
    }

    fn packet(version: IpVersion) -> Vec<u8> {
        let [src, dst] = match version {
            IpVersion::V4 => ["10.0.0.1:80", "10.0.0.2:4000"],
            IpVersion::V6 => ["[fd00::1]:80", "[fd00::2]:4000"],
        };
        let parse = |text: &str| text.parse().expect("an address");
        let endpoints = Endpoints { src: parse(src), dst: parse(dst) };
        let mut bytes = Vec::new();
        let payload = vec![0; 300];
        encode(endpoints, IpFields::default(), &segment(), Payload::Bytes(&payload), &mut bytes)
            .expect("a sound packet");
        bytes
    }

    /// Every way of framing a packet that is understood.
    fn framings(ether_type: [u8; 2]) -> Vec<(LinkType, Vec<u8>)> {
        let ethernet = [&[0; 12][..], &ether_type].concat();
        let vlan = [&[0; 12][..], &[0x81, 0, 0, 5], &ether_type].concat();
        let two_vlans = [&[0; 12][..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6], &ether_type].concat();
        let sll = [&[0; 14][..], &ether_type].concat();
        let sll2 = [&ether_type[..], &[0; 18]].concat();
        vec![
            (LinkType::ETHERNET, ethernet),
            (LinkType::ETHERNET, vlan),
            (LinkType::ETHERNET, two_vlans),
            (LinkType::RAW, Vec::new()),
            (LinkType::NULL, vec![2, 0, 0, 0]),
            (LinkType::LINUX_SLL, sll),
            (LinkType::LINUX_SLL2, sll2),
        ]
    }

    #[test]
    fn every_framing_tells_the_same_and_so_does_what_is_left_of_a_cut_frame() {
        for (version, ether_type) in [(IpVersion::V4, [8, 0]), (IpVersion::V6, [0x86, 0xdd])] {
            for (link, mut frame) in framings(ether_type) {
                frame.extend(packet(version));
                // Ethernet pads what is short; a trailer is no payload.
                frame.extend([0; 4]);
                let whole = frame.len() as u32;
                let found = glimpse(link, &frame, whole).expect("a sound frame");
                assert_eq!((found.payload_len, found.seq), (300, Seq(7)), "{link:?} {version:?}");
                assert_eq!((found.endpoints.src.port(), found.flags), (80, Flags::ACK));
                let cut = frame.len() - 4 - 300 - 6;
                let kept = glimpse(link, &frame[..cut], whole).expect("the headers are there");
                assert_eq!(kept, found, "{link:?} {version:?} cut off");
                for len in 0..cut {
                    let _ = glimpse(link, &frame[..len], whole);
                }
            }
        }
    }

    #[test]
    fn a_length_of_zero_is_that_of_the_frame() {
        let mut bytes = packet(IpVersion::V4);
        let len = bytes.len() as u32;
        bytes[2..4].copy_from_slice(&[0, 0]);
        assert_eq!(glimpse(LinkType::RAW, &bytes, len).map(|seen| seen.payload_len), Ok(300));
        let cut = glimpse(LinkType::RAW, &bytes[..60], len);
        assert_eq!(cut.map(|seen| seen.payload_len), Ok(300));
    }

    #[test]
    fn other_traffic_is_told_from_damage() {
        let mut udp = packet(IpVersion::V4);
        udp[9] = 17;
        let len = udp.len() as u32;
        assert_eq!(glimpse(LinkType::RAW, &udp, len), Err(FrameError::NotTcp));
        let mut fragment = packet(IpVersion::V4);
        fragment[6] = 0x20;
        assert_eq!(glimpse(LinkType::RAW, &fragment, len), Err(FrameError::Fragment));
        let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
        assert_eq!(glimpse(LinkType::ETHERNET, &arp, 42), Err(FrameError::NotIp));
        assert_eq!(glimpse(LinkType(147), &arp, 42), Err(FrameError::UnknownLink(LinkType(147))));
        let mut short_header = packet(IpVersion::V4);
        short_header[32] = 0x10;
        assert_eq!(glimpse(LinkType::RAW, &short_header, len), Err(FrameError::Malformed));
    }
}
