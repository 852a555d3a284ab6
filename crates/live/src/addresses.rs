//! Where the two hosts of `serve`, `fetch` and `interop` are found.

use ackord_wire::IpVersion;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The stock kernel's addresses inside the namespace.
pub const KERNEL: Addresses = Addresses::of_host(1);
/// Our host's addresses, at the other end of the emulated path.
pub const OURS: Addresses = Addresses::of_host(2);

/// Where one of the two hosts is found: it has an address of each family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Its IPv4 address.
    pub v4: Ipv4Addr,
    /// Its IPv6 address, a unique local one (RFC 4193).
    pub v6: Ipv6Addr,
}

impl Addresses {
    const fn of_host(number: u8) -> Addresses {
        let v6 = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number as u16);
        Addresses { v4: Ipv4Addr::new(10, 77, 0, number), v6 }
    }

    /// The address of this family.
    pub fn of(self, family: IpVersion) -> IpAddr {
        match family {
            IpVersion::V4 => IpAddr::V4(self.v4),
            IpVersion::V6 => IpAddr::V6(self.v6),
        }
    }

    /// Whether this is one of them.
    pub fn has(self, address: IpAddr) -> bool {
        address == IpAddr::V4(self.v4) || address == IpAddr::V6(self.v6)
    }
}
