//! The gateway of a shell, between packets of any kind and sockets that end in this process.

use super::case::{ExpectedStream, TrialCase, are_in_place, stream, tcp};
use crate::addresses::Addresses;
use crate::relay::{OutsideSockets, Relay, RelayOptions};
use ackord_units::{Seq, Span, Time};
use ackord_wire::{Ecn, Endpoints, Flags, IpFields, Payload, decode, decode_ip, encode_udp};
use etherparse::PacketBuilder;
use nix::errno::Errno;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::rc::Rc;

const BASE: Addresses =
    Addresses { v4: Ipv4Addr::new(100, 64, 0, 1), v6: Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1) };
const MTU: u16 = 1500;

/// Plays the case; panics if anything is not as it has to be.
pub fn gateway(data: &[u8]) {
    let mut case = TrialCase(data);
    let mut trial = GatewayTrial::new();
    while !case.is_over() {
        trial.step(&mut case);
        trial.look();
    }
    // In the end everything is given up or at rest.
    trial.pass(Span::from_secs(4_000));
}

/// An outside that ends in this process: nothing of a trial goes out.
#[derive(Debug)]
struct Nowhere(Rc<RefCell<Servers>>);

/// The other ends of the gateway's sockets.
#[derive(Debug, Default)]
struct Servers {
    streams: Vec<Server>,
    datagrams: Vec<UnixDatagram>,
}

#[derive(Debug)]
struct Server {
    socket: UnixStream,
    /// How much it has sent: its bytes count up from zero.
    sent: Seq,
    /// The number of the next byte that it should receive, once there was one.
    next: Option<Seq>,
}

impl Nowhere {
    fn pair(&mut self) -> Result<OwnedFd, Errno> {
        let (ours, theirs) = UnixDatagram::pair().map_err(|_| Errno::EMFILE)?;
        ours.set_nonblocking(true).expect("it can");
        theirs.set_nonblocking(true).expect("it can");
        self.0.borrow_mut().datagrams.push(theirs);
        Ok(ours.into())
    }
}

impl OutsideSockets for Nowhere {
    fn stream(&mut self, to: SocketAddr) -> Result<TcpStream, Errno> {
        let fates = [Errno::ECONNREFUSED, Errno::ENETUNREACH, Errno::EMFILE, Errno::ETIMEDOUT];
        if let Some(errno) = fates.get(usize::from(to.port() % 16)) {
            return Err(*errno);
        }
        let (ours, socket) = UnixStream::pair().map_err(|_| Errno::EMFILE)?;
        ours.set_nonblocking(true).expect("it can");
        socket.set_nonblocking(true).expect("it can");
        self.0.borrow_mut().streams.push(Server { socket, sent: Seq(0), next: None });
        Ok(TcpStream::from(OwnedFd::from(ours)))
    }

    fn datagrams(&mut self, _: SocketAddr) -> Result<OwnedFd, Errno> {
        self.pair()
    }

    fn echo(&mut self, _: IpAddr) -> Result<OwnedFd, Errno> {
        self.pair()
    }
}

struct GatewayTrial {
    relay: Relay,
    servers: Rc<RefCell<Servers>>,
    now: Time,
    /// By the ends as the client sends: where its connection stands, and where the numbers of the
    /// gateway begin.
    connections: BTreeMap<Endpoints, (ExpectedStream, Option<Seq>)>,
}

impl GatewayTrial {
    fn new() -> GatewayTrial {
        let servers = Rc::default();
        let outside = Box::new(Nowhere(Rc::clone(&servers)));
        let relay = Relay::over(outside, &RelayOptions::new(BASE, MTU)).expect("a descriptor");
        GatewayTrial { relay, servers, now: Time::ZERO, connections: BTreeMap::new() }
    }

    fn step(&mut self, case: &mut TrialCase<'_>) {
        match case.byte() % 12 {
            0 => {
                let len = usize::from(case.byte());
                self.relay.write(self.now, case.bytes(len));
            }
            1..=4 => self.send_tcp(case),
            5 => self.send_udp(case),
            6 => self.send_echo(case),
            7 => self.pass(Span::from_millis(u64::from(case.word()))),
            8 | 9 => self.relay.handle_ready(self.now),
            10 => self.serve(case),
            _ => self.answer_datagram(case),
        }
    }

    fn ends(case: &mut TrialCase<'_>) -> Endpoints {
        let which = case.byte();
        let (own, other): (IpAddr, IpAddr) = match which >> 6 {
            0 | 1 => ([100, 64, 0, 2].into(), [192, 0, 2, 1].into()),
            2 => ([100, 64, 0, 2].into(), BASE.v4.into()),
            _ => (Ipv6Addr::from([0xfd77, 0, 0, 0, 0, 0, 0, 2]).into(), BASE.v6.into()),
        };
        let port = u16::from(which & 15);
        Endpoints { src: SocketAddr::new(own, 5_000), dst: SocketAddr::new(other, port) }
    }

    fn send_tcp(&mut self, case: &mut TrialCase<'_>) {
        let ends = GatewayTrial::ends(case);
        let mut connection = self.connections.get(&ends).copied().unwrap_or_default();
        let mut segment = case.segment(&connection.0);
        if !self.connections.contains_key(&ends) {
            segment.flags = Flags::SYN;
        }
        connection.0.sent(&segment);
        self.connections.insert(ends, connection);
        if let Some(bytes) = tcp(ends, &segment, Ecn::Ect0) {
            self.relay.write(self.now, &bytes);
        }
    }

    fn send_udp(&mut self, case: &mut TrialCase<'_>) {
        let mut bytes = Vec::new();
        let payload = Payload::Zeros(u32::from(case.word() % 1_400));
        let ends = GatewayTrial::ends(case);
        encode_udp(ends, IpFields::default(), payload, &mut bytes).expect("fits");
        self.relay.write(self.now, &bytes);
    }

    fn send_echo(&mut self, case: &mut TrialCase<'_>) {
        let Endpoints { src, dst } = GatewayTrial::ends(case);
        let (id, seq) = (u16::from(case.byte()), case.word());
        let mut bytes = Vec::new();
        let payload = [7; 56];
        let written = match (src.ip(), dst.ip()) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                PacketBuilder::ipv4(src.octets(), dst.octets(), 64)
                    .icmpv4_echo_request(id, seq)
                    .write(&mut bytes, &payload)
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                PacketBuilder::ipv6(src.octets(), dst.octets(), 64)
                    .icmpv6_echo_request(id, seq)
                    .write(&mut bytes, &payload)
            }
            _ => return,
        };
        written.expect("it fits");
        self.relay.write(self.now, &bytes);
    }

    /// A server does something.
    fn serve(&mut self, case: &mut TrialCase<'_>) {
        let mut servers = self.servers.borrow_mut();
        if servers.streams.is_empty() {
            return;
        }
        let which = usize::from(case.byte()) % servers.streams.len();
        let server = &mut servers.streams[which];
        match case.byte() % 8 {
            0 => drop(servers.streams.swap_remove(which)),
            1 => {
                let _ = server.socket.shutdown(std::net::Shutdown::Write);
            }
            2..=4 => {
                let bytes = stream(server.sent, usize::from(case.word()));
                // What the socket does not take, or what comes after its end, was not sent.
                let taken = server.socket.write(&bytes).unwrap_or(0);
                server.sent += taken as u32;
            }
            _ => server.read(),
        }
    }

    fn answer_datagram(&mut self, case: &mut TrialCase<'_>) {
        let servers = self.servers.borrow();
        let which = usize::from(case.byte());
        let len = usize::from(case.byte());
        if let Some(socket) = servers.datagrams.get(which % servers.datagrams.len().max(1)) {
            // Nobody is there any more where the flow has ended.
            let _ = socket.send(case.bytes(len));
        }
    }

    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        let mut at_this_instant = 0;
        while let Some(due) = self.relay.deadline().filter(|due| *due <= until) {
            at_this_instant = if due > self.now { 0 } else { at_this_instant + 1 };
            assert!(at_this_instant < 1_000, "a deadline does not go away");
            self.now = self.now.max(due);
            self.relay.handle_deadline(self.now);
            self.look();
        }
        self.now = until;
    }

    /// Looks at everything that comes out.
    fn look(&mut self) {
        let mut buffer = vec![0; 65_536];
        while let Some(len) = self.relay.read(&mut buffer) {
            assert!(len <= usize::from(MTU), "{len} bytes");
            let bytes = &buffer[..len];
            decode_ip(bytes).expect("a sound packet");
            let Ok(decoded) = decode(bytes) else { continue };
            let segment = decoded.segment;
            let Some(connection) = self.connections.get_mut(&decoded.endpoints.reversed()) else {
                panic!("a segment for nobody: {segment:?}");
            };
            connection.0.seen(&segment);
            if segment.flags.contains(Flags::SYN) {
                connection.1 = Some(segment.seq + 1);
            }
            if segment.payload_len > 0 {
                let first = connection.1.expect("a SYN came before");
                let at = Seq(segment.seq.since(first));
                assert!(are_in_place(at, &bytes[decoded.payload]), "bytes of {segment:?}");
            }
        }
        for server in &mut self.servers.borrow_mut().streams {
            if server.next.is_some() {
                server.read();
            }
        }
    }
}

impl Server {
    /// Reads what there is: bytes count up from wherever the client's numbers began.
    fn read(&mut self) {
        let mut bytes = [0; 4_096];
        while let Ok(len @ 1..) = self.socket.read(&mut bytes) {
            let from = self.next.unwrap_or(Seq(u32::from(bytes[0])));
            assert!(are_in_place(from, &bytes[..len]), "bytes for the server");
            self.next = Some(from + len as u32);
        }
    }
}
