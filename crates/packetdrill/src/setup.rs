//! What the endpoints of one run are made of.

use ackord_tcp::registry::Stack;
use ackord_tcp::{Config, Mechanisms};
use ackord_units::Bytes;
use ackord_wire::IpVersion;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What the endpoints of one run are made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setup {
    pub(crate) stack: Stack,
    /// The address a socket gets that connects without having been bound.
    pub(crate) local: Locals,
    /// Bytes of the largest IP packet that leaves.
    pub(crate) mtu: u16,
    /// net.ipv4.tcp_notsent_lowat.
    pub(crate) notsent_lowat: u32,
    /// net.ipv4.tcp_min_tso_segs.
    pub(crate) min_tso_segments: u64,
    /// Whether segmentation is offloaded; as in the profile where absent.
    pub(crate) gso: Option<bool>,
    /// The flags, if they ask for the sysctls of the host, which may be others each time.
    pub(crate) of_host: Option<String>,
    /// Sysctls of the host that are not modelled: each is told once.
    pub(crate) told: Vec<String>,
}

/// Our own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locals {
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
}
/// The profile of those who name none.
const DEFAULT_PROFILE: &str = "linux";
/// The largest MSS that a knob takes: the MTU bounds it.
const LARGEST_MSS: &str = "65495 B";

impl Default for Setup {
    fn default() -> Setup {
        let mut stack = Stack::named(DEFAULT_PROFILE).expect("registered");
        bound_mss_by_mtu(&mut stack);
        Setup {
            stack,
            // In the networks from which packetdrill takes its own local addresses.
            local: Locals {
                v4: Ipv4Addr::new(192, 168, 0, 2),
                v6: Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 2),
            },
            mtu: 1500,
            notsent_lowat: u32::MAX,
            min_tso_segments: 2,
            gso: None,
            of_host: None,
            told: Vec::new(),
        }
    }
}

impl Setup {
    /// The configuration of an endpoint that speaks this version of IP.
    pub(crate) fn config(&self, ip: IpVersion) -> Config {
        let mut config = self.stack.config();
        // RFC 6691 §2: the MTU less the headers without options.
        let headers = Bytes(u64::from(ip.header_len()) + 20);
        config.mss = config.mss.min(Bytes(u64::from(self.mtu)).saturating_sub(headers));
        config.ip = ip;
        config.sending.offload = self.gso.unwrap_or(config.sending.offload);
        config.min_tso_segments = Some(self.min_tso_segments);
        config
    }

    /// The mechanisms of an endpoint, newly built.
    pub(crate) fn mechanisms(&self) -> Mechanisms {
        self.stack.mechanisms()
    }
}

/// Lets only the MTU bound the MSS, as on a host, until a flag sets it.
pub(crate) fn bound_mss_by_mtu(stack: &mut Stack) {
    stack.set("mss", LARGEST_MSS).expect("in its range");
}

impl Locals {
    /// The one of the same family as `peer`.
    pub(crate) fn toward(&self, peer: IpAddr) -> IpAddr {
        match peer {
            IpAddr::V4(_) => IpAddr::V4(self.v4),
            IpAddr::V6(_) => IpAddr::V6(self.v6),
        }
    }
}
