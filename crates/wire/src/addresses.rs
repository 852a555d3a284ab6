//! Addresses and ports of simulated flows: the same flow always gets the same ones.
//!
//! Node `n` is a host `.1` in its own IPv4 /24 and IPv6 /64, so that captures read like a routed
//! network. The port ranges are dynamic ones (RFC 6335 §6) in which Wireshark has no dissector by
//! default: simulated payload is zeros and must not be taken for some application's.
//! Not modelled: several addresses per host, address translation.

use crate::{FlowId, IpVersion, NodeId, Packet, Side};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// First of the 8192 ports that clients use.
const FIRST_CLIENT_PORT: u16 = 57_344;
/// How many ports clients use, as a power of two.
const CLIENT_PORT_BITS: u32 = 13;
/// First of the ports that servers use.
const FIRST_SERVER_PORT: u16 = 49_152;
/// How many ports servers use.
const SERVER_PORTS: u32 = 7_000;

/// Where a packet comes from and where it goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoints {
    /// Source address and port.
    pub src: SocketAddr,
    /// Destination address and port.
    pub dst: SocketAddr,
}

impl Endpoints {
    /// Those of a simulated packet: its flow's, as it sits at the nodes that the packet names.
    #[inline]
    pub fn of(packet: &Packet) -> Endpoints {
        let (client, server) = ports(packet.flow);
        let (from, to) = match packet.from {
            Side::Client => (client, server),
            Side::Server => (server, client),
        };
        Endpoints {
            src: SocketAddr::new(host_address(packet.src, packet.ip), from),
            dst: SocketAddr::new(host_address(packet.dst, packet.ip), to),
        }
    }

    /// The endpoints of a packet in the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Endpoints {
        Endpoints { src: self.dst, dst: self.src }
    }
}

/// The two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowAddresses {
    /// The end that opens the connection.
    pub client: SocketAddr,
    /// The end that accepts it.
    pub server: SocketAddr,
}

/// The nodes at which the two ends of a flow sit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowNodes {
    /// Where the client sits.
    pub client: NodeId,
    /// Where the server sits.
    pub server: NodeId,
}

impl FlowAddresses {
    /// The addresses of `flow`. Two flows below 57,344,000 never share both ports.
    pub fn of(flow: FlowId, nodes: FlowNodes, ip: IpVersion) -> FlowAddresses {
        let (client, server) = ports(flow);
        FlowAddresses {
            client: SocketAddr::new(host_address(nodes.client, ip), client),
            server: SocketAddr::new(host_address(nodes.server, ip), server),
        }
    }

    /// The endpoints of a packet that `from` sends.
    pub fn endpoints(&self, from: Side) -> Endpoints {
        match from {
            Side::Client => Endpoints { src: self.client, dst: self.server },
            Side::Server => Endpoints { src: self.server, dst: self.client },
        }
    }
}

/// The ports of a flow's client and server.
#[inline]
fn ports(FlowId(flow): FlowId) -> (u16, u16) {
    let low = (flow & ((1 << CLIENT_PORT_BITS) - 1)) as u16;
    let high = ((flow >> CLIENT_PORT_BITS) % SERVER_PORTS) as u16;
    (FIRST_CLIENT_PORT + low, FIRST_SERVER_PORT + high)
}

/// The address of a node: 10.hi.lo.1 or fd00:0:0:n::1 where n = 256 hi + lo.
#[inline]
pub fn host_address(node: NodeId, ip: IpVersion) -> IpAddr {
    let [high, low] = node.0.to_be_bytes();
    match ip {
        IpVersion::V4 => IpAddr::V4(Ipv4Addr::new(10, high, low, 1)),
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, node.0, 0, 0, 0, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const NODES: FlowNodes = FlowNodes { client: NodeId(0), server: NodeId(300) };

    #[test]
    fn a_node_number_is_readable_in_its_address() {
        assert_eq!(host_address(NodeId(300), IpVersion::V4).to_string(), "10.1.44.1");
        assert_eq!(host_address(NodeId(300), IpVersion::V6).to_string(), "fd00:0:0:12c::1");
    }

    #[test]
    fn flows_between_the_same_hosts_differ_in_a_port() {
        let flows = 0..100_000;
        let ports: BTreeSet<_> = flows
            .clone()
            .map(|flow| {
                let both = FlowAddresses::of(FlowId(flow), NODES, IpVersion::V4);
                (both.client.port(), both.server.port())
            })
            .collect();
        assert_eq!(ports.len(), flows.len());
    }

    #[test]
    fn the_largest_flow_number_has_ports_too() {
        let both = FlowAddresses::of(FlowId(u32::MAX), NODES, IpVersion::V6);
        assert!(both.client.port() >= FIRST_CLIENT_PORT);
        assert!((FIRST_SERVER_PORT..FIRST_CLIENT_PORT).contains(&both.server.port()));
    }

    #[test]
    fn a_packet_has_the_endpoints_of_its_flow() {
        for (from, ip) in [(Side::Client, IpVersion::V4), (Side::Server, IpVersion::V6)] {
            let (src, dst) = match from {
                Side::Client => (NODES.client, NODES.server),
                Side::Server => (NODES.server, NODES.client),
            };
            let (flow, ecn) = (FlowId(90_000), crate::Ecn::NotEct);
            let packet = Packet { flow, from, src, dst, ip, ecn, ip_len: 40, tag: 0, tcp: None };
            let both = FlowAddresses::of(flow, NODES, ip);
            assert_eq!(Endpoints::of(&packet), both.endpoints(from));
        }
    }

    #[test]
    fn the_server_answers_to_where_the_client_sent_from() {
        let both = FlowAddresses::of(FlowId(7), NODES, IpVersion::V4);
        assert_eq!(both.endpoints(Side::Client).reversed(), both.endpoints(Side::Server));
    }
}
