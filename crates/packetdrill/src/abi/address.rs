//! Socket addresses as the bytes of `struct sockaddr_in` and `struct sockaddr_in6`.

use ackord_wire::IpVersion;
use nix::errno::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes of each structure.
const V4_LEN: usize = 16;
const V6_LEN: usize = 28;

/// An address that a caller gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// AF_UNSPEC: no address, connect takes it for an end.
    Unspecified,
    Address(SocketAddr),
}

/// Reads an address.
pub(super) fn read(bytes: &[u8]) -> Result<Given, Errno> {
    let family = i32::from(u16::from_ne_bytes(*bytes.first_chunk().ok_or(Errno::EINVAL)?));
    let port = |bytes: &[u8]| u16::from_be_bytes([bytes[2], bytes[3]]);
    match family {
        libc::AF_UNSPEC => Ok(Given::Unspecified),
        libc::AF_INET => {
            let bytes: &[u8; V4_LEN] = bytes.first_chunk().ok_or(Errno::EINVAL)?;
            let ip = Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]);
            Ok(Given::Address(SocketAddr::new(IpAddr::V4(ip), port(bytes))))
        }
        libc::AF_INET6 => {
            // The scope at the end may be missing (SIN6_LEN_RFC2133).
            let ip: &[u8; 16] =
                bytes.get(8..).and_then(|rest| rest.first_chunk()).ok_or(Errno::EINVAL)?;
            let ip = Ipv6Addr::from(*ip);
            Ok(Given::Address(SocketAddr::new(IpAddr::V6(ip), port(bytes))))
        }
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

/// An address as a socket of this family is told it.
pub(super) fn written(address: SocketAddr, family: IpVersion) -> Vec<u8> {
    let port = address.port().to_be_bytes();
    match (family, address.ip()) {
        (IpVersion::V4, IpAddr::V4(ip)) => {
            let mut bytes = vec![0; V4_LEN];
            bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
            bytes[2..4].copy_from_slice(&port);
            bytes[4..8].copy_from_slice(&ip.octets());
            bytes
        }
        (_, ip) => {
            let ip = match ip {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            let mut bytes = vec![0; V6_LEN];
            bytes[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
            bytes[2..4].copy_from_slice(&port);
            bytes[8..24].copy_from_slice(&ip.octets());
            bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_ipv4_is_mapped_for_ipv6_sockets() {
        let v4: SocketAddr = "192.0.2.1:8080".parse().expect("an address");
        let v6: SocketAddr = "[2001:db8::1]:8080".parse().expect("an address");
        let mapped: SocketAddr = "[::ffff:192.0.2.1]:8080".parse().expect("an address");
        for (address, family, told) in
            [(v4, IpVersion::V4, v4), (v6, IpVersion::V6, v6), (v4, IpVersion::V6, mapped)]
        {
            assert_eq!(read(&written(address, family)), Ok(Given::Address(told)));
        }
    }

    #[test]
    fn what_is_too_short_or_of_no_family_is_refused() {
        let whole = written("192.0.2.1:1".parse().expect("an address"), IpVersion::V4);
        assert_eq!(read(&whole[..15]), Err(Errno::EINVAL));
        assert_eq!(read(&[]), Err(Errno::EINVAL));
        assert_eq!(read(&[0; 16]), Ok(Given::Unspecified));
        assert_eq!(read(&[77; 28]), Err(Errno::EAFNOSUPPORT));
    }
}
