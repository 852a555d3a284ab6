//! ICMP echo (RFC 792, RFC 4443 §4), so that `ping` works over both versions of IP.

use ackord_wire::{IpDecoded, decode_ip};
use etherparse::checksum::Sum16BitWords;
use etherparse::{IcmpEchoHeader, Icmpv4Slice, Icmpv4Type, Icmpv6Slice, Icmpv6Type, PacketBuilder};
use std::net::IpAddr;

/// Number of ICMP as an IP protocol.
const PROTOCOL_ICMP: u8 = 1;
/// Number of ICMPv6.
const PROTOCOL_ICMPV6: u8 = 58;
/// Time to live, or hop limit, of an answer.
const TTL: u8 = 64;

/// Appends the reply to an echo request; nothing if the packet is not a sound one.
pub(crate) fn reply(request: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let IpDecoded { src, dst, protocol, payload, .. } = decode_ip(request).ok()?;
    let message = &request[payload];
    match (src, dst, protocol) {
        (IpAddr::V4(_), IpAddr::V4(_), PROTOCOL_ICMP) => {
            let icmp = Icmpv4Slice::from_slice(message).ok()?;
            let Icmpv4Type::EchoRequest(echo) = icmp.icmp_type() else { return None };
            let sound = Sum16BitWords::new().add_slice(message).ones_complement() == 0;
            sound.then(|| write_reply((dst, src), echo, icmp.payload(), out))?
        }
        (IpAddr::V6(from), IpAddr::V6(to), PROTOCOL_ICMPV6) => {
            let icmp = Icmpv6Slice::from_slice(message).ok()?;
            let Icmpv6Type::EchoRequest(echo) = icmp.icmp_type() else { return None };
            let sound = icmp.is_checksum_valid(from.octets(), to.octets());
            sound.then(|| write_reply((dst, src), echo, icmp.payload(), out))?
        }
        _ => None,
    }
}

/// Appends the packet that brings an echo reply, as a ping socket has received it, to whoever asked
/// with identifier `id`; nothing if the message is no echo reply.
pub(crate) fn reply_of(
    (from, to): (IpAddr, IpAddr),
    id: u16,
    message: &[u8],
    out: &mut Vec<u8>,
) -> Option<()> {
    let [kind, _, _, _, _, _, high, low, payload @ ..] = message else { return None };
    let echo = IcmpEchoHeader { id, seq: u16::from_be_bytes([*high, *low]) };
    let expected = if from.is_ipv4() { 0 } else { 129 };
    (*kind == expected).then(|| write_reply((from, to), echo, payload, out))?
}

fn write_reply(
    (from, to): (IpAddr, IpAddr),
    IcmpEchoHeader { id, seq }: IcmpEchoHeader,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Option<()> {
    let written = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => PacketBuilder::ipv4(from.octets(), to.octets(), TTL)
            .icmpv4_echo_reply(id, seq)
            .write(out, payload),
        (IpAddr::V6(from), IpAddr::V6(to)) => PacketBuilder::ipv6(from.octets(), to.octets(), TTL)
            .icmpv6_echo_reply(id, seq)
            .write(out, payload),
        _ => return None,
    };
    written.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    fn addresses(ip: &IpDecoded) -> (String, String) {
        (ip.src.to_string(), ip.dst.to_string())
    }

    fn request_v4() -> Vec<u8> {
        let mut bytes = Vec::new();
        PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64)
            .icmpv4_echo_request(7, 9)
            .write(&mut bytes, b"are you there?")
            .expect("fits");
        bytes
    }

    fn request_v6() -> Vec<u8> {
        let address = |last| Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, last).octets();
        let mut bytes = Vec::new();
        PacketBuilder::ipv6(address(1), address(2), 64)
            .icmpv6_echo_request(7, 9)
            .write(&mut bytes, b"are you there?")
            .expect("fits");
        bytes
    }

    #[test]
    fn a_request_is_answered_with_the_same_payload_and_anything_else_is_not() {
        for (request, from, to) in
            [(request_v4(), "10.77.0.2", "10.77.0.1"), (request_v6(), "fd77::2", "fd77::1")]
        {
            let mut answer = Vec::new();
            reply(&request, &mut answer).expect("a sound request");
            let ip = decode_ip(&answer).expect("sound");
            assert_eq!(addresses(&ip), (from.into(), to.into()));
            assert!(answer.ends_with(b"are you there?"));
            let mut nothing = Vec::new();
            assert_eq!(reply(&answer, &mut nothing), None, "a reply");
            let mut damaged = request.clone();
            *damaged.last_mut().expect("not empty") ^= 1;
            assert_eq!(reply(&damaged, &mut nothing), None);
            assert_eq!(reply(&request[..20], &mut nothing), None);
            assert!(nothing.is_empty());
        }
    }

    #[test]
    fn the_answer_over_ipv6_has_a_sound_checksum() {
        let mut answer = Vec::new();
        reply(&request_v6(), &mut answer).expect("a sound request");
        let ip = decode_ip(&answer).expect("sound");
        let (IpAddr::V6(src), IpAddr::V6(dst)) = (ip.src, ip.dst) else { panic!("IPv6") };
        let icmp = Icmpv6Slice::from_slice(&answer[ip.payload]).expect("ICMPv6");
        assert!(icmp.is_checksum_valid(src.octets(), dst.octets()));
    }

    #[test]
    fn what_a_ping_socket_received_goes_to_whoever_asked_under_their_identifier() {
        for (request, kind) in [(request_v4(), 0), (request_v6(), 129)] {
            let asked = decode_ip(&request).expect("sound");
            let mut message = request[asked.payload.clone()].to_vec();
            (message[0], message[4]) = (kind, 99);
            let mut packet = Vec::new();
            reply_of((asked.dst, asked.src), 7, &message, &mut packet).expect("a reply");
            let mut expected = Vec::new();
            reply(&request, &mut expected).expect("a sound request");
            assert_eq!(packet, expected, "as if the host itself had answered");
            let mut nothing = Vec::new();
            message[0] = 3;
            assert_eq!(reply_of((asked.dst, asked.src), 7, &message, &mut nothing), None);
            assert_eq!(reply_of((asked.dst, asked.src), 7, &message[..7], &mut nothing), None);
            assert!(nothing.is_empty());
        }
    }
}
