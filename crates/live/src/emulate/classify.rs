//! Which packet this is: from bytes to a [`Packet`], its flow by its addresses and ports.
//!
//! The scenario's flows are known by [`FlowAddresses`]; whatever else is seen gets a number of its
//! own from there on, and its client is who was seen first.
//!
//! Not modelled: fragments put together (each passes as a packet of its own, without ports); ICMP
//! errors told as belonging to the flow they are about.

#[cfg(test)]
mod tests;

use super::Directory;
use ackord_scenario::{Scenario, Transport};
use ackord_wire::{
    DecodeError, Decoded, Endpoints, FlowAddresses, FlowId, FlowNodes, IpDecoded, IpVersion,
    NodeId, Packet, Side, decode, decode_ip,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// A packet as the path wants it; its tag is still to come.
#[derive(Clone, Debug)]
pub(crate) struct Classified {
    pub(crate) packet: Packet,
    /// Where the TCP payload lies in the bytes; empty for other protocols.
    pub(crate) payload: std::ops::Range<usize>,
}

/// Why a packet does not enter the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnedAway {
    /// Nobody here has its address.
    Ignored,
    /// It is no sound packet.
    Malformed,
}

/// The flows there are.
#[derive(Debug, Default)]
pub(crate) struct FlowTable {
    /// Both directions of every flow, as its packets say.
    numbers: BTreeMap<Key, (FlowId, Side)>,
    /// By number, the scenario's flows.
    known: Vec<Key>,
    /// The others, as their clients' packets say, in order of number.
    others: VecDeque<(FlowId, Key)>,
    next: u32,
}

/// A packet's protocol, addresses and ports; addresses of IPv4 as mapped ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    src: u128,
    dst: u128,
    ports: u32,
    protocol: u8,
    ip: IpVersion,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Flows beyond the scenario's that are remembered; of more the oldest is forgotten, and gets
/// another number when it is seen again.
const MOST_OTHERS: usize = 1 << 16;

impl FlowTable {
    /// The flows of `scenario`.
    pub(crate) fn new(scenario: &Scenario) -> FlowTable {
        let mut table = FlowTable {
            numbers: BTreeMap::new(),
            known: Vec::with_capacity(scenario.flows.len()),
            others: VecDeque::new(),
            next: scenario.flows.len() as u32,
        };
        for (flow, number) in scenario.flows.iter().zip(0..) {
            let number = FlowId(number);
            let nodes = FlowNodes { client: flow.client, server: flow.server };
            let (protocol, ip) = match flow.transport() {
                Transport::Tcp => (TCP, flow.tcp(Side::Client).config().ip),
                Transport::Udp => (UDP, IpVersion::V4),
            };
            let addresses = FlowAddresses::of(number, nodes, ip);
            let key = Key::of(protocol, addresses.endpoints(Side::Client));
            table.enter(number, key);
            table.known.push(key);
        }
        table
    }

    fn enter(&mut self, number: FlowId, key: Key) {
        self.numbers.insert(key, (number, Side::Client));
        self.numbers.insert(key.reversed(), (number, Side::Server));
    }

    /// The flow of a packet and who sent it.
    fn number(&mut self, key: Key) -> (FlowId, Side) {
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let number = FlowId(self.next);
        self.next = self.next.checked_add(1).unwrap_or(self.known.len() as u32);
        if self.others.len() >= MOST_OTHERS
            && let Some((_, oldest)) = self.others.pop_front()
        {
            self.numbers.remove(&oldest);
            self.numbers.remove(&oldest.reversed());
        }
        self.enter(number, key);
        self.others.push_back((number, key));
        (number, Side::Client)
    }

    /// The flow of a connection, whose client has the first of these endpoints if it is a new one.
    pub(crate) fn of_connection(&mut self, endpoints: Endpoints) -> FlowId {
        self.number(Key::of(TCP, endpoints)).0
    }

    /// The number that the next flow gets that nobody knows.
    pub(crate) fn next_unknown(&self) -> FlowId {
        FlowId(self.next)
    }

    fn key(&self, flow: FlowId) -> Option<Key> {
        if let Some(key) = self.known.get(flow.0 as usize) {
            return Some(*key);
        }
        let (first, _) = self.others.front()?;
        let (_, key) = self.others.get(flow.0.checked_sub(first.0)? as usize)?;
        Some(*key)
    }

    /// The addresses and ports of a flow's packets from this side; nothing for a flow that is not
    /// known (any more).
    pub(crate) fn endpoints(&self, flow: FlowId, from: Side) -> Option<Endpoints> {
        let endpoints = self.key(flow)?.endpoints();
        Some(match from {
            Side::Client => endpoints,
            Side::Server => endpoints.reversed(),
        })
    }

    /// Whether a flow's packets are UDP datagrams.
    pub(crate) fn is_udp(&self, flow: FlowId) -> bool {
        self.key(flow).is_some_and(|key| key.protocol == UDP)
    }

    /// What a packet that came through the device of `src` is.
    pub(crate) fn classify(
        &mut self,
        bytes: &[u8],
        src: NodeId,
        directory: &Directory,
    ) -> Result<Classified, TurnedAway> {
        let (ip, tcp, payload) = match read(bytes)? {
            Contents::Tcp(Decoded { endpoints, ip, segment, payload }) => {
                (ip, Some((endpoints, segment)), payload)
            }
            Contents::Other(ip) => (ip, None, 0..0),
        };
        let dst = directory.node(ip.dst).filter(|dst| *dst != src).ok_or(TurnedAway::Ignored)?;
        let (protocol, endpoints) = match &tcp {
            Some((endpoints, _)) => (TCP, *endpoints),
            None => (ip.protocol, ports_of(&ip, bytes)),
        };
        let (flow, from) = self.number(Key::of(protocol, endpoints));
        let packet = Packet {
            flow,
            from,
            src,
            dst,
            ip: ip.version,
            ecn: ip.ecn,
            ip_len: ip.ip_len,
            tag: 0,
            tcp: tcp.map(|(_, segment)| segment),
        };
        Ok(Classified { packet, payload })
    }
}

impl Key {
    fn of(protocol: u8, endpoints: Endpoints) -> Key {
        let Endpoints { src, dst } = endpoints;
        Key {
            src: as_number(src.ip()),
            dst: as_number(dst.ip()),
            ports: u32::from(src.port()) << 16 | u32::from(dst.port()),
            protocol,
            ip: if src.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 },
        }
    }

    fn reversed(self) -> Key {
        Key { src: self.dst, dst: self.src, ports: self.ports.rotate_left(16), ..self }
    }

    fn endpoints(self) -> Endpoints {
        let address = |number: u128| match self.ip {
            IpVersion::V4 => IpAddr::V4((number as u32).into()),
            IpVersion::V6 => IpAddr::V6(number.into()),
        };
        Endpoints {
            src: SocketAddr::new(address(self.src), (self.ports >> 16) as u16),
            dst: SocketAddr::new(address(self.dst), self.ports as u16),
        }
    }
}

/// What is in a packet.
enum Contents {
    Tcp(Decoded),
    Other(IpDecoded),
}

fn read(bytes: &[u8]) -> Result<Contents, TurnedAway> {
    let protocol = match bytes.first().map(|first| first >> 4) {
        Some(4) => bytes.get(9),
        Some(6) => bytes.get(6),
        _ => None,
    };
    let contents = match protocol {
        Some(&TCP) => decode(bytes).map(Contents::Tcp),
        _ => decode_ip(bytes).map(Contents::Other),
    };
    match contents {
        Ok(contents) => Ok(contents),
        Err(DecodeError::Fragment) => fragment(bytes).ok_or(TurnedAway::Malformed),
        Err(_) => Err(TurnedAway::Malformed),
    }
}

/// A fragment of an IPv4 packet whose header has been found sound.
fn fragment(bytes: &[u8]) -> Option<Contents> {
    let header: &[u8; 20] = bytes.first_chunk()?;
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 4] = header.get(at..at + 4)?.try_into().ok()?;
        Some(IpAddr::from(bytes))
    };
    let header_len = usize::from(header[0] & 0xf) * 4;
    let ip_len = usize::from(u16::from_be_bytes([header[2], header[3]]));
    // As one of no protocol: its first bytes need not be a transport header.
    let (protocol, payload) = (255, header_len..ip_len);
    let ecn = match header[1] & 3 {
        0 => ackord_wire::Ecn::NotEct,
        1 => ackord_wire::Ecn::Ect1,
        2 => ackord_wire::Ecn::Ect0,
        _ => ackord_wire::Ecn::Ce,
    };
    Some(Contents::Other(IpDecoded {
        src: address(12)?,
        dst: address(16)?,
        version: IpVersion::V4,
        ecn,
        ttl: header[8],
        protocol,
        ip_len: ip_len as u32,
        payload,
    }))
}

/// The addresses of a packet that is not TCP, with its ports if it is UDP.
fn ports_of(ip: &IpDecoded, bytes: &[u8]) -> Endpoints {
    let ports = match bytes.get(ip.payload.clone()).and_then(|payload| payload.first_chunk()) {
        Some([a, b, c, d]) if ip.protocol == UDP => {
            [u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])]
        }
        _ => [0, 0],
    };
    let [src, dst] = ports;
    Endpoints { src: SocketAddr::new(ip.src, src), dst: SocketAddr::new(ip.dst, dst) }
}

fn as_number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}
