//! Bytes of a packet or a frame: no bytes make a reader panic, and a packet that is read is written
//! and read again as the same.

use ackord_wire::{
    EncodeError, IpFields, LinkType, Payload, decode, decode_ip, encode, glimpse, set_ecn,
};

#[path = "../../live/src/host/echo.rs"]
#[allow(dead_code, reason = "asked for replies only")]
mod echo;

const LINKS: [LinkType; 10] = [
    LinkType::ETHERNET,
    LinkType::RAW,
    LinkType::NULL,
    LinkType::LOOP,
    LinkType::RAW_BSD,
    LinkType::RAW_OPENBSD,
    LinkType::LINUX_SLL,
    LinkType::LINUX_SLL2,
    LinkType::IPV4,
    LinkType::IPV6,
];

/// Bytes of a packet or a frame.
pub fn packet(data: &[u8]) {
    let Some((&how, packet)) = data.split_first() else { return };
    let mut packet = packet.to_vec();
    if how & 1 == 1 {
        crate::checksums::set_checksums(&mut packet);
    }
    let link = LINKS[usize::from(how >> 1) % LINKS.len()];
    let _ = glimpse(link, &packet, packet.len() as u32 + u32::from(how >> 6) * 1_000);
    if let Ok(ip) = decode_ip(&packet) {
        assert!(ip.payload.end <= packet.len() && ip.payload.start <= ip.payload.end);
    }
    let mut reply = Vec::new();
    if echo::reply(&packet, &mut reply).is_some() {
        decode_ip(&reply).expect("a reply is a sound packet");
    }
    if let Ok(read) = decode(&packet) {
        let fields = IpFields { ecn: read.ip.ecn, ttl: read.ip.ttl, ..IpFields::default() };
        let payload = Payload::Bytes(&packet[read.payload.clone()]);
        let mut again = Vec::new();
        match encode(read.endpoints, fields, &read.segment, payload, &mut again) {
            Ok(()) => {
                let second = decode(&again).expect("what is written can be read");
                assert_eq!(second.segment, read.segment);
                assert_eq!(second.endpoints, read.endpoints);
                assert_eq!(second.ip.ecn, read.ip.ecn);
                assert_eq!(again[second.payload.clone()], packet[read.payload.clone()]);
                set_ecn(&mut again, ackord_wire::Ecn::Ce);
                assert_eq!(decode(&again).expect("still sound").ip.ecn, ackord_wire::Ecn::Ce);
            }
            // Others pack options more tightly than this does, or fill IP's length to the last.
            Err(EncodeError::OptionsTooLong { .. } | EncodeError::TooLong { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    set_ecn(&mut packet, ackord_wire::Ecn::Ect0);
}
