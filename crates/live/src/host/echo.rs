//! ICMP echo (RFC 792), so that `ping` works.

use ackord_wire::decode_ip;
use etherparse::checksum::Sum16BitWords;
use etherparse::{Icmpv4Slice, Icmpv4Type, PacketBuilder};
use std::net::IpAddr;

/// Number of ICMP as an IP protocol.
const PROTOCOL_ICMP: u8 = 1;

/// Appends the reply to an echo request; nothing if the packet is not a sound one.
pub(crate) fn reply(request: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let ip = decode_ip(request).ok().filter(|ip| ip.protocol == PROTOCOL_ICMP)?;
    let (IpAddr::V4(src), IpAddr::V4(dst)) = (ip.src, ip.dst) else { return None };
    let message = &request[ip.payload];
    let icmp = Icmpv4Slice::from_slice(message).ok()?;
    let Icmpv4Type::EchoRequest(echo) = icmp.icmp_type() else { return None };
    if Sum16BitWords::new().add_slice(message).ones_complement() != 0 {
        return None;
    }
    PacketBuilder::ipv4(dst.octets(), src.octets(), 64)
        .icmpv4_echo_reply(echo.id, echo.seq)
        .write(out, icmp.payload())
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Vec<u8> {
        let mut bytes = Vec::new();
        PacketBuilder::ipv4([10, 77, 0, 1], [10, 77, 0, 2], 64)
            .icmpv4_echo_request(7, 9)
            .write(&mut bytes, b"are you there?")
            .expect("fits");
        bytes
    }

    #[test]
    fn a_request_is_answered_with_the_same_payload_and_anything_else_is_not() {
        let mut answer = Vec::new();
        reply(&request(), &mut answer).expect("a sound request");
        let ip = decode_ip(&answer).expect("sound");
        assert_eq!(
            (ip.src.to_string(), ip.dst.to_string()),
            ("10.77.0.2".into(), "10.77.0.1".into())
        );
        assert!(answer.ends_with(b"are you there?"));
        let mut nothing = Vec::new();
        assert_eq!(reply(&answer, &mut nothing), None, "a reply");
        let mut damaged = request();
        *damaged.last_mut().expect("not empty") ^= 1;
        assert_eq!(reply(&damaged, &mut nothing), None);
        assert_eq!(reply(&request()[..20], &mut nothing), None);
        assert!(nothing.is_empty());
    }
}
