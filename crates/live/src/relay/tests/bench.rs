//! A client of ours before the gateway, without a device, and real servers behind it.

use crate::addresses::Addresses;
use crate::clock::Clock;
use crate::host::{Arrival, Host, Recipe, Service, Stream, Uplink};
use crate::relay::{Relay, RelayOptions};
use ackord_events::NoSink;
use ackord_tcp::registry::Stack;
use ackord_units::{Span, Time};
use ackord_wire::{Endpoints, FlowId, Side, decode};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::rc::Rc;

pub(super) const BASE: Addresses = Addresses {
    v4: std::net::Ipv4Addr::new(100, 64, 0, 1),
    v6: std::net::Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1),
};
pub(super) const MTU: u16 = 1500;

/// What a client's application does and has seen.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// Still to be sent.
    pub(super) to_send: Vec<u8>,
    /// How much of it is sent.
    pub(super) sent: usize,
    /// Close once everything is sent.
    pub(super) closes: bool,
    /// Reset the connection.
    pub(super) aborts: bool,
    /// Read no more than so many bytes in all.
    pub(super) reads_up_to: Option<usize>,
    /// What has come.
    pub(super) received: Vec<u8>,
    /// The server has finished.
    pub(super) ended: bool,
}

/// A client's application, shared with the test.
#[derive(Clone, Debug, Default)]
pub(super) struct Client(pub(super) Rc<RefCell<Talk>>);

impl Service for Client {
    fn advance(&mut self, _: Time, stream: &mut dyn Stream) {
        let talk = &mut *self.0.borrow_mut();
        let limit = talk.reads_up_to.map_or(usize::MAX, |most| most - talk.received.len());
        stream.read(limit, &mut talk.received);
        talk.sent += stream.write(&talk.to_send[talk.sent..]);
        talk.ended |= stream.at_end();
        if talk.closes && talk.sent == talk.to_send.len() {
            stream.close();
        }
        if talk.aborts {
            stream.abort();
        }
    }
}

impl Client {
    pub(super) fn sending(bytes: &[u8]) -> Client {
        let client = Client::default();
        client.0.borrow_mut().to_send = bytes.to_vec();
        client
    }
}

/// Client, gateway, and the clock.
pub(super) struct Bench {
    pub(super) client: Host,
    uplink: Uplink,
    pub(super) relay: Relay,
    clock: Clock,
    next_port: u16,
    /// Everything that is neither TCP for the client nor lost: UDP, ICMP.
    pub(super) others: Vec<Vec<u8>>,
    /// The longest packet of the gateway.
    pub(super) longest: usize,
}

impl Bench {
    pub(super) fn new() -> Bench {
        Bench::with(Relay::new(&RelayOptions::new(BASE, MTU)).expect("a descriptor"))
    }

    pub(super) fn with(relay: Relay) -> Bench {
        let tcp = Stack::named("linux").expect("it is listed");
        Bench {
            client: Host::new(Recipe::new(&tcp, Side::Client, MTU), None),
            uplink: Uplink::default(),
            relay,
            clock: Clock::start(),
            next_port: 40_000,
            others: Vec::new(),
            longest: 0,
        }
    }

    /// Opens a connection to `port` of the base address, over the family of `over`.
    pub(super) fn connect(&mut self, client: &Client, over: IpAddr, port: u16) -> Endpoints {
        let (own, base): (IpAddr, IpAddr) = match over {
            IpAddr::V4(_) => ([100, 64, 0, 2].into(), BASE.v4.into()),
            IpAddr::V6(_) => ([0xfd77, 0, 0, 0, 0, 0, 0, 2].into(), BASE.v6.into()),
        };
        self.next_port += 1;
        let src = SocketAddr::new(own, self.next_port);
        let endpoints = Endpoints { src, dst: SocketAddr::new(base, port) };
        let towards = (&mut self.uplink, &mut NoSink);
        let service = Box::new(client.clone());
        let ends = (FlowId(0), endpoints);
        self.client.connect(self.clock.now(), ends, service, towards).expect("a free port");
        endpoints
    }

    /// Lets the client's application look at its connection.
    pub(super) fn nudge(&mut self, ends: Endpoints) {
        self.client.wake(self.clock.now(), ends.reversed(), &mut self.uplink, &mut NoSink);
    }

    /// Hands the gateway a packet.
    pub(super) fn write(&mut self, packet: &[u8]) {
        self.relay.write(self.clock.now(), packet);
    }

    /// Goes on until `done`, at most for a minute; says whether it came to be.
    pub(super) fn until(&mut self, mut done: impl FnMut(&mut Bench) -> bool) -> bool {
        let end = self.clock.now() + Span::from_secs(60);
        while !done(self) {
            if self.clock.now() > end {
                return false;
            }
            self.turn();
        }
        true
    }

    /// Goes on for this long.
    pub(super) fn pass(&mut self, span: Span) {
        let end = self.clock.now() + span;
        self.until(|bench| bench.clock.now() >= end);
    }

    fn turn(&mut self) {
        let mut quiet = true;
        for _ in 0..64 {
            let now = self.clock.now();
            while self.client.deadline().is_some_and(|at| at <= now) {
                self.client.handle_deadline(now, &mut self.uplink, &mut NoSink);
            }
            if self.relay.deadline().is_some_and(|at| at <= now) {
                self.relay.handle_deadline(now);
            }
            if !self.exchange(now) {
                break;
            }
            quiet = false;
        }
        let patience = PollTimeout::from(u8::from(quiet));
        let mut watched = [PollFd::new(self.relay.as_fd(), PollFlags::POLLIN)];
        if poll(&mut watched, patience).is_ok_and(|ready| ready > 0) {
            self.relay.handle_ready(self.clock.now());
        }
    }

    /// Moves what there is both ways; says whether there was anything.
    fn exchange(&mut self, now: Time) -> bool {
        let mut moved = false;
        let mut buffer = vec![0; 65_536];
        while let Some(len) = self.uplink.read(&mut buffer) {
            moved = true;
            self.relay.write(now, &buffer[..len]);
        }
        while let Some(len) = self.relay.read(&mut buffer) {
            let bytes = &buffer[..len];
            moved = true;
            self.longest = self.longest.max(len);
            let Ok(decoded) = decode(bytes) else {
                self.others.push(bytes.to_vec());
                continue;
            };
            let (endpoints, segment) = (decoded.endpoints, &decoded.segment);
            let payload = &bytes[decoded.payload.clone()];
            let (flow, ecn) = (FlowId(0), decoded.ip.ecn);
            let arrival = Arrival { flow, endpoints, segment, ecn, payload };
            self.client.handle_segment(now, arrival, &mut self.uplink, &mut NoSink);
        }
        moved
    }
}

/// Bytes that do not repeat soon.
pub(super) fn pattern(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

/// Descriptors of this process.
pub(super) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("procfs").count()
}
