//! Which name server a shell's caller uses, where it listens on the caller's loopback only.
//!
//! A name server of the network is reached through the gateway like any other host. One on 127.0.0.x
//! (systemd-resolved, dnsmasq) is out of reach from inside, where 127.0.0.x is the inside itself:
//! questions to the base address, port 53, are then taken to it.

use std::net::{IpAddr, SocketAddr};

/// The port of the domain name system.
pub(super) const PORT: u16 = 53;
/// Where the resolver library looks (resolv.conf(5)).
const FILE: &str = "/etc/resolv.conf";

/// The caller's name server, if it listens on the loopback interface.
pub(super) fn on_loopback() -> Option<SocketAddr> {
    on_loopback_in(&std::fs::read_to_string(FILE).ok()?)
}

fn on_loopback_in(file: &str) -> Option<SocketAddr> {
    let servers = file.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("nameserver")).then(|| words.next()?.parse::<IpAddr>().ok())?
    });
    // The first is asked first, and where it answers the only one.
    servers.take(1).find(IpAddr::is_loopback).map(|server| SocketAddr::new(server, PORT))
}

/// Whether an IP packet is a question to a name server: UDP or TCP to port 53.
pub(super) fn is_question(packet: &[u8]) -> bool {
    let (protocol, transport) = match packet.first().map(|first| (first >> 4, first & 15)) {
        Some((4, words)) => (packet.get(9), usize::from(words) * 4),
        Some((6, _)) => (packet.get(6), 40),
        _ => return false,
    };
    let port = packet.get(transport + 2..transport + 4);
    matches!(protocol, Some(6 | 17)) && port == Some(&PORT.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_wire::{Endpoints, IpFields, Payload, encode_udp};

    #[test]
    fn only_a_first_name_server_on_loopback_has_to_be_stood_for() {
        let of = |file: &str| on_loopback_in(file).map(|server| server.to_string());
        assert_eq!(
            of("# x\nnameserver 127.0.0.53\noptions edns0\n").as_deref(),
            Some("127.0.0.53:53")
        );
        assert_eq!(of("nameserver ::1\n").as_deref(), Some("[::1]:53"));
        assert_eq!(of("nameserver 192.0.2.1\nnameserver 127.0.0.1\n"), None);
        assert_eq!((of("search example.org\n"), of("nameserver\n")), (None, None));
    }

    #[test]
    fn questions_are_told_by_their_port_in_both_families() {
        let packet = |to: &str, from: &str| {
            let endpoints = Endpoints {
                src: from.parse().expect("an address"),
                dst: to.parse().expect("an address"),
            };
            let mut bytes = Vec::new();
            encode_udp(endpoints, IpFields::default(), Payload::Bytes(b"?"), &mut bytes)
                .expect("sound");
            bytes
        };
        assert!(is_question(&packet("192.0.2.1:53", "192.0.2.2:4000")));
        assert!(is_question(&packet("[fd00::1]:53", "[fd00::2]:4000")));
        assert!(!is_question(&packet("192.0.2.1:54", "192.0.2.2:53")));
        assert!(!is_question(&[0x45; 11]));
    }
}
