//! A gateway to the caller's own network, without any right: packets of any destination come in, and
//! what they carry goes on over sockets that this process opens.
//!
//! ```text
//! packets ─► write ─┬─ TCP: our endpoint, as if it were the far host ─► connect()ed stream socket
//!                   ├─ UDP: a connect()ed socket for each pair of ends
//!                   ├─ ICMP echo: answered here for the base address, else a ping socket
//! packets ◄─ read ◄─┴─ the rest: counted and dropped
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `relay.rs` | [`Relay`]: the device, which packet is whose |
//! | `relay/streams.rs` | TCP: a SYN waits for the real connection, then [`crate::host::Host`] answers |
//! | `relay/splice.rs` | one connection: bytes between our endpoint and a socket |
//! | `relay/flows.rs` | UDP and echo: a socket for each flow, for as long as it is used |
//! | `relay/icmp.rs` | what cannot be reached is told with ICMP |
//! | `relay/outside.rs` | the sockets themselves, and waiting for them |
//!
//! A SYN is answered when the real connection stands: refused is a reset, unreachable an ICMP error,
//! silence stays silence. From then on both ends give way to each other: our window closes when the
//! socket takes nothing, and the socket is not read while our send buffer is full.
//!
//! What ending TCP here loses: across the emulated path the far sender is our endpoint (profile
//! `linux`), not the kernel of the server. The server's congestion control, options, marks and window
//! are not seen there; its path to us adds its delay and rate, but its losses are recovered before. An
//! byte that the client sees acknowledged has reached us, and perhaps not the server. Servers see the
//! caller's address and a port of its own; nobody can connect inwards.
//!
//! Not modelled: fragments in either direction, datagrams longer than the device's MTU, ICMP other
//! than echo, time to live, IPv6 extension headers, multicast, several destinations over one UDP
//! port of the outside (RFC 4787 §4.1: each has its own).

mod flows;
mod icmp;
mod outside;
mod splice;
mod streams;
#[cfg(test)]
mod tests;

use crate::addresses::Addresses;
use crate::host::Uplink;
use ackord_events::NoSink;
use ackord_tcp::nagle::NagleOffConfig;
use ackord_tcp::registry::Stack;
use ackord_units::Time;
use ackord_wire::{DecodeError, IpDecoded, decode, decode_ip, decode_udp};
use flows::{FlowKey, Flows};
use nix::errno::Errno;
use outside::{Poller, Ready, RealSockets};
use serde::{Serialize, Serializer};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use streams::TcpStreams;

pub(crate) use outside::OutsideSockets;

/// How a gateway is made.
#[derive(Clone, Debug)]
pub(crate) struct RelayOptions {
    /// The addresses that mean the caller's own machine.
    pub(crate) base: Addresses,
    /// Where port 53 of the base address leads; to the same port of the machine, if nowhere else.
    pub(crate) name_server: Option<SocketAddr>,
    /// The longest packet in bytes; at least 1280 (RFC 8200 §5).
    pub(crate) mtu: u16,
    /// Our end of TCP connections.
    pub(crate) tcp: Stack,
}

impl RelayOptions {
    /// A gateway whose endpoints are as the profile `linux` has them, but for Nagle's algorithm: the
    /// kernel of the server has held back already what its application allowed it to.
    pub(crate) fn new(base: Addresses, mtu: u16) -> RelayOptions {
        let mut tcp = Stack::named("linux").expect("it is listed");
        tcp.nagle = NagleOffConfig::default().into();
        RelayOptions { base, name_server: None, mtu, tcp }
    }
}

/// What a gateway has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RelayReport {
    /// TCP connections that reached their server.
    #[serde(rename = "connections")]
    pub connected: u64,
    /// Refused by the server.
    pub refused: u64,
    /// That could not be: no way there, no answer, not allowed.
    pub unreachable: u64,
    /// Refused here, because there were too many, or no file descriptor was left.
    pub turned_away: u64,
    /// TCP connections at once, at most.
    pub most_connections: usize,
    /// Flows of UDP and echo begun.
    #[serde(rename = "datagram_flows")]
    pub flows: u64,
    /// Flows of UDP and echo at once, at most.
    #[serde(rename = "most_datagram_flows")]
    pub most_flows: usize,
    /// Flows of UDP and echo ended for others though not yet idle long enough.
    #[serde(rename = "datagram_flows_cut_short")]
    pub flows_cut_short: u64,
    /// Datagrams that did not go on: too long for the device, no socket, nobody there.
    #[serde(rename = "dropped_datagrams")]
    pub datagrams_dropped: u64,
    /// Fragments, which are dropped.
    #[serde(rename = "dropped_fragments")]
    pub fragments: u64,
    /// Why the kernel allows no ping socket, if it does not and one was wanted; written as whether.
    #[serde(serialize_with = "is_some")]
    pub pings_refused: Option<Errno>,
    /// Sound packets that nothing here relays: multicast, unknown protocols, addresses without a host.
    #[serde(skip)]
    pub ignored: u64,
    /// Packets that could not be read.
    #[serde(skip)]
    pub malformed: u64,
}

fn is_some<S: Serializer>(what: &Option<Errno>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(what.is_some())
}

/// The gateway.
#[derive(Debug)]
pub(crate) struct Relay {
    map: Map,
    mtu: usize,
    uplink: Uplink,
    streams: TcpStreams,
    flows: Flows,
    poller: Poller,
    outside: Box<dyn OutsideSockets>,
    report: RelayReport,
}

/// Which outside address an inside one stands for.
#[derive(Clone, Copy, Debug)]
struct Map {
    base: Addresses,
    name_server: Option<SocketAddr>,
}

/// What all parts of a gateway use.
struct Shared<'a> {
    now: Time,
    map: Map,
    mtu: usize,
    uplink: &'a mut Uplink,
    poller: &'a Poller,
    outside: &'a mut dyn OutsideSockets,
    report: &'a mut RelayReport,
}

/// Number of ICMP as an IP protocol.
const ICMP: u8 = 1;
/// Number of ICMPv6.
const ICMP_V6: u8 = 58;
/// Port of the domain name system.
const NAMES: u16 = 53;

impl Relay {
    /// A gateway over sockets of this process.
    ///
    /// # Errors
    /// If the system has no file descriptor left.
    pub(crate) fn new(options: &RelayOptions) -> io::Result<Relay> {
        Relay::over(Box::new(RealSockets), options)
    }

    /// A gateway over any outside.
    pub(crate) fn over(
        outside: Box<dyn OutsideSockets>,
        options: &RelayOptions,
    ) -> io::Result<Relay> {
        Ok(Relay {
            map: Map { base: options.base, name_server: options.name_server },
            mtu: usize::from(options.mtu),
            uplink: Uplink::default(),
            streams: TcpStreams::new(&options.tcp, options.mtu),
            flows: Flows::default(),
            poller: Poller::new()?,
            outside,
            report: RelayReport::default(),
        })
    }

    /// Takes an IP packet that has come at `now`.
    pub(crate) fn write(&mut self, now: Time, packet: &[u8]) {
        let ip = match decode_ip(packet) {
            Ok(ip) => ip,
            Err(DecodeError::Fragment) => return self.report.fragments += 1,
            Err(_) => return self.report.malformed += 1,
        };
        if !is_host(ip.src) || !is_host(ip.dst) {
            return self.report.ignored += 1;
        }
        let sound = match ip.protocol {
            ICMP | ICMP_V6 => self.write_icmp(now, packet, &ip),
            _ => self.write_transport(now, packet),
        };
        match sound {
            Ok(()) => {}
            Err(DecodeError::NotUdp { .. }) => self.report.ignored += 1,
            Err(_) => self.report.malformed += 1,
        }
    }

    /// Moves the next IP packet that leaves into `out`, which has room for one of the MTU; its length,
    /// or nothing if there is none.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Option<usize> {
        self.uplink.read(out)
    }

    /// When something is due although neither packet nor socket says so.
    pub(crate) fn deadline(&self) -> Option<Time> {
        [self.streams.deadline(), self.flows.deadline()].into_iter().flatten().min()
    }

    /// The deadline has come.
    pub(crate) fn handle_deadline(&mut self, now: Time) {
        let (streams, flows, mut shared) = self.parts(now);
        streams.handle_deadline(&mut shared);
        flows.handle_deadline(&mut shared);
    }

    /// The descriptor of [`AsFd`] is readable.
    pub(crate) fn handle_ready(&mut self, now: Time) {
        let mut ready = Vec::new();
        self.poller.take(&mut ready);
        let (streams, flows, mut shared) = self.parts(now);
        for ready in ready {
            match ready {
                Ready::Stream(key, events) => streams.handle_ready(key, events, &mut shared),
                Ready::Flow(key) => flows.handle_ready(key, &mut shared),
            }
        }
    }

    /// What it has done so far.
    pub(crate) fn report(&self) -> RelayReport {
        self.report
    }

    fn parts(&mut self, now: Time) -> (&mut TcpStreams, &mut Flows, Shared<'_>) {
        let Relay { map, mtu, uplink, streams, flows, poller, outside, report } = self;
        let (map, mtu, outside) = (*map, *mtu, outside.as_mut());
        (streams, flows, Shared { now, map, mtu, uplink, poller, outside, report })
    }

    fn write_transport(&mut self, now: Time, packet: &[u8]) -> Result<(), DecodeError> {
        match decode(packet) {
            Ok(decoded) => {
                let (streams, _, mut shared) = self.parts(now);
                streams.handle_packet(packet, &decoded, &mut shared);
                Ok(())
            }
            Err(DecodeError::NotTcp { .. }) => {
                let datagram = decode_udp(packet)?;
                let (_, flows, mut shared) = self.parts(now);
                let quote = icmp::quote(packet, &datagram.ip);
                let key = FlowKey::Datagrams(datagram.endpoints);
                flows.send(key, &packet[datagram.payload], quote, &mut shared);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn write_icmp(&mut self, now: Time, packet: &[u8], ip: &IpDecoded) -> Result<(), DecodeError> {
        let mut answer = self.uplink.buffer();
        // Whether it is a sound request shows in whether there is an answer.
        let asked = crate::host::echo_reply(packet, &mut answer).is_some();
        if asked && self.map.base.has(ip.dst) {
            self.uplink.send(answer);
            return Ok(());
        }
        self.uplink.recycle(answer);
        if !asked {
            self.report.ignored += 1;
            return Ok(());
        }
        let message = &packet[ip.payload.clone()];
        let id = u16::from_be_bytes([message[4], message[5]]);
        let (_, flows, mut shared) = self.parts(now);
        let key = FlowKey::Echo { src: ip.src, dst: ip.dst, id };
        flows.send(key, message, icmp::quote(packet, ip), &mut shared);
        Ok(())
    }
}

impl AsFd for Relay {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_fd()
    }
}

impl Map {
    /// Where packets to this address and port are to go.
    fn outside_of(&self, inside: SocketAddr) -> SocketAddr {
        if !self.base.has(inside.ip()) {
            return inside;
        }
        if let Some(server) = self.name_server.filter(|_| inside.port() == NAMES) {
            return server;
        }
        let own = match inside.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        SocketAddr::new(own, inside.port())
    }
}

/// Whether one host can have this address: no group, nobody, and not the machine itself, which has
/// the base address for that.
fn is_host(address: IpAddr) -> bool {
    let everybody = match address {
        IpAddr::V4(v4) => v4.is_broadcast(),
        // Link-local ones are nothing without a link; mapped ones would go out as IPv4.
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6.to_ipv4_mapped().is_some(),
    };
    !everybody && !address.is_multicast() && !address.is_unspecified() && !address.is_loopback()
}
