//! Which address is at which node.

use ackord_scenario::{NodeKind, Scenario};
use ackord_wire::{IpVersion, NodeId, host_address};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Where packets for an address leave the path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// Addresses of the hosts.
    pub(crate) hosts: BTreeMap<IpAddr, NodeId>,
    /// Networks whose addresses are all at a node: each with the length of its prefix in bits.
    pub(crate) networks: Vec<(IpAddr, u8, NodeId)>,
    /// Where every other address is that packets can be sent to from afar; nothing where nobody else
    /// can be reached.
    pub(crate) elsewhere: Option<NodeId>,
}

impl Directory {
    /// Every host of `scenario` at its addresses ([`host_address`]), and nobody elsewhere.
    pub(crate) fn of_hosts(scenario: &Scenario) -> Directory {
        let is_host = |node: &NodeId| scenario.node(*node).kind == NodeKind::Host;
        let nodes = (0..scenario.nodes.len()).map(|number| NodeId(number as u16)).filter(is_host);
        let hosts = nodes.flat_map(|node| {
            [IpVersion::V4, IpVersion::V6].map(|ip| (host_address(node, ip), node))
        });
        Directory { hosts: hosts.collect(), ..Directory::default() }
    }

    /// The node of an address.
    pub(crate) fn node(&self, address: IpAddr) -> Option<NodeId> {
        let host = self.hosts.get(&address).copied();
        let network = || {
            let mut networks = self.networks.iter();
            networks.find(|(net, bits, _)| is_in(address, *net, *bits)).map(|(_, _, node)| *node)
        };
        host.or_else(network).or_else(|| self.elsewhere.filter(|_| is_far(address)))
    }
}

/// Whether an address shares its first bits with another of its family.
fn is_in(address: IpAddr, net: IpAddr, bits: u8) -> bool {
    match (address, net) {
        (IpAddr::V4(address), IpAddr::V4(net)) => {
            let differ = u32::from(address) ^ u32::from(net);
            differ.leading_zeros() >= u32::from(bits)
        }
        (IpAddr::V6(address), IpAddr::V6(net)) => {
            let differ = u128::from(address) ^ u128::from(net);
            differ.leading_zeros() >= u32::from(bits)
        }
        _ => false,
    }
}

/// Whether routers forward packets for this address, and to one host.
fn is_far(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let local = address.is_link_local() || address.is_loopback();
            !(local || address.is_multicast() || address.is_broadcast() || address.is_unspecified())
        }
        IpAddr::V6(address) => {
            let local = address.is_unicast_link_local() || address.is_loopback();
            !(local || address.is_multicast() || address.is_unspecified())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_comes_before_its_network_and_a_network_before_everywhere() {
        let address = |text: &str| -> IpAddr { text.parse().expect("an address") };
        let directory = Directory {
            hosts: BTreeMap::from([(address("10.1.0.1"), NodeId(1))]),
            networks: vec![
                (address("10.1.0.2"), 16, NodeId(2)),
                (address("fd00::2"), 112, NodeId(2)),
            ],
            elsewhere: Some(NodeId(3)),
        };
        let at = |text| directory.node(address(text)).map(|node| node.0);
        assert_eq!(["10.1.0.1", "10.1.255.9", "10.2.0.1"].map(at), [Some(1), Some(2), Some(3)]);
        assert_eq!(["fd00::ffff", "fd00::1:0"].map(at), [Some(2), Some(3)]);
    }

    #[test]
    fn what_no_router_forwards_is_nowhere() {
        let directory = Directory { elsewhere: Some(NodeId(3)), ..Directory::default() };
        for far in ["192.0.2.1", "10.0.0.1", "2001:db8::1", "fd00::9"] {
            assert_eq!(directory.node(far.parse().expect("an address")), Some(NodeId(3)), "{far}");
        }
        let near = ["224.0.0.1", "169.254.0.1", "255.255.255.255", "127.0.0.1", "0.0.0.0"];
        for near in near.into_iter().chain(["ff02::1", "fe80::1", "::1", "::"]) {
            assert_eq!(directory.node(near.parse().expect("an address")), None, "{near}");
        }
    }
}
