//! TCP of the gateway: a SYN waits here until the real connection stands, and then our endpoint
//! answers it.

use super::icmp::{self, Quote, Unreachable};
use super::outside::{Readiness, errno_of};
use super::splice::{Common, Line, Pushing, Splice};
use super::{NoSink, Shared};
use crate::host::{Arrival, Host, Recipe};
use ackord_tcp::registry::Stack;
use ackord_units::Time;
use ackord_wire::{Decoded, Ecn, Endpoints, Flags, FlowId, Segment, Side};
use nix::errno::Errno;
use slab::Slab;
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::rc::Rc;

/// All TCP connections.
pub(super) struct TcpStreams {
    host: Host,
    links: Slab<Link>,
    /// Those whose SYN waits, by the ends of the packets that come in.
    waiting: BTreeMap<Endpoints, usize>,
    common: Rc<Common>,
}

/// A socket, from connect() on.
#[derive(Debug)]
struct Link {
    /// As packets come in.
    ends: Endpoints,
    progress: LinkProgress,
}

#[derive(Debug)]
enum LinkProgress {
    Connecting(Box<Dialling>),
    /// The splice has the socket.
    Open(Rc<Line>),
}

/// What is kept while the real connection is being made.
#[derive(Debug)]
struct Dialling {
    socket: TcpStream,
    syn: Segment,
    ecn: Ecn,
    quote: Quote,
}

/// What all connections are called in events, which nobody listens to here.
const FLOW: FlowId = FlowId(0);
/// As many sockets at once; one more is refused with a reset.
const MOST_LINKS: usize = 4_096;

impl TcpStreams {
    pub(super) fn new(choices: &Stack, mtu: u16) -> TcpStreams {
        TcpStreams {
            host: Host::new(Recipe::new(choices, Side::Server, mtu), None),
            links: Slab::new(),
            waiting: BTreeMap::new(),
            common: Rc::new(Common::new()),
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        let full = !self.common.full.borrow().is_empty();
        if full { Some(Time::ZERO) } else { self.host.deadline() }
    }

    pub(super) fn handle_deadline(&mut self, shared: &mut Shared<'_>) {
        self.push_all(shared);
        while self.host.deadline().is_some_and(|at| at <= shared.now) {
            self.host.handle_deadline(shared.now, shared.uplink, &mut NoSink);
        }
        self.tidy();
    }

    /// A TCP packet has come.
    pub(super) fn handle_packet(
        &mut self,
        packet: &[u8],
        decoded: &Decoded,
        shared: &mut Shared<'_>,
    ) {
        let (endpoints, segment) = (decoded.endpoints, &decoded.segment);
        if let Some(&key) = self.waiting.get(&endpoints) {
            self.while_waiting(key, decoded);
        } else if self.host.may_open(endpoints, segment) {
            self.dial(packet, decoded, shared);
        } else {
            let payload = &packet[decoded.payload.clone()];
            let (flow, ecn) = (FLOW, decoded.ip.ecn);
            let arrival = Arrival { flow, endpoints, segment, ecn, payload };
            self.host.handle_segment(shared.now, arrival, shared.uplink, &mut NoSink);
        }
        self.tidy();
    }

    /// A socket has news.
    pub(super) fn handle_ready(&mut self, key: usize, ready: Readiness, shared: &mut Shared<'_>) {
        match self.links.get(key) {
            None => {}
            Some(Link { progress: LinkProgress::Open(line), .. }) => {
                let before = line.ready.get();
                let (read, write) = (before.read || ready.read, before.write || ready.write);
                line.ready.set(Readiness { read, write });
                self.push(key, shared);
            }
            Some(_) if ready.write => self.end_dialling(key, ready, shared),
            Some(_) => {}
        }
        self.tidy();
    }

    /// Hands over to sockets what has arrived for them.
    fn push_all(&mut self, shared: &mut Shared<'_>) {
        let full = std::mem::take(&mut *self.common.full.borrow_mut());
        for key in full {
            self.push(key, shared);
        }
    }

    /// Lets a splice move what it has, both ways.
    fn push(&mut self, key: usize, shared: &mut Shared<'_>) {
        let Some(Link { ends, progress: LinkProgress::Open(line) }) = self.links.get(key) else {
            return;
        };
        let line = Rc::clone(line);
        line.pushing.set(Pushing::Now);
        self.host.wake(shared.now, *ends, shared.uplink, &mut NoSink);
        line.pushing.set(Pushing::Later);
    }

    /// A segment between the ends of a SYN that still waits.
    fn while_waiting(&mut self, key: usize, decoded: &Decoded) {
        let flags = decoded.segment.flags;
        let LinkProgress::Connecting(dialling) = &mut self.links[key].progress else { return };
        if flags.contains(Flags::RST) {
            // RFC 9293 §3.10.7.4, as in SYN-RECEIVED: only the exact one.
            if decoded.segment.seq == dialling.syn.end_seq() {
                self.waiting.remove(&decoded.endpoints);
                self.links.remove(key);
            }
        } else if flags.contains(Flags::SYN) && !flags.contains(Flags::ACK) {
            // The latest, with the latest timestamp.
            (dialling.syn, dialling.ecn) = (decoded.segment, decoded.ip.ecn);
        }
    }

    /// Begins a connection to where a SYN wants to go.
    fn dial(&mut self, packet: &[u8], decoded: &Decoded, shared: &mut Shared<'_>) {
        // A server hears what was said before the SYN before it hears of the new connection.
        self.push_all(shared);
        let (ends, syn) = (decoded.endpoints, decoded.segment);
        let quote = icmp::quote(packet, &decoded.ip);
        if self.host.is_full() || self.links.len() >= MOST_LINKS {
            shared.report.turned_away += 1;
            return self.host.refuse(ends, &syn, shared.uplink);
        }
        let key = self.links.vacant_key();
        let opened = shared.outside.stream(shared.map.outside_of(ends.dst)).and_then(|socket| {
            shared.poller.watch_stream(&socket, key)?;
            Ok(socket)
        });
        match opened {
            Ok(socket) => {
                let dialling = Dialling { socket, syn, ecn: decoded.ip.ecn, quote };
                let progress = LinkProgress::Connecting(Box::new(dialling));
                self.links.insert(Link { ends, progress });
                self.waiting.insert(ends, key);
            }
            Err(errno) => self.fail(errno, (ends, &syn, &quote), shared),
        }
    }

    /// The real connection stands, or has failed.
    fn end_dialling(&mut self, key: usize, ready: Readiness, shared: &mut Shared<'_>) {
        let Some(link) = self.links.get_mut(key) else { return };
        let ends = link.ends;
        let line = Rc::new(Line::default());
        line.ready.set(ready);
        let open = LinkProgress::Open(Rc::clone(&line));
        let LinkProgress::Connecting(dialling) = std::mem::replace(&mut link.progress, open) else {
            return;
        };
        self.waiting.remove(&ends);
        let Dialling { socket, syn, ecn, quote } = *dialling;
        match socket.take_error() {
            Ok(None) => {
                shared.report.connected += 1;
                let splice = Splice::new(key, socket, line, Rc::clone(&self.common));
                let (flow, segment, payload) = (FLOW, &syn, &[][..]);
                let arrival = Arrival { flow, endpoints: ends, segment, ecn, payload };
                let towards = (&mut *shared.uplink, &mut NoSink);
                self.host.admit(shared.now, arrival, Box::new(splice), towards);
                let most = &mut shared.report.most_connections;
                *most = (*most).max(self.host.under_way());
            }
            Ok(Some(error)) | Err(error) => {
                self.links.remove(key);
                self.fail(errno_of(&error), (ends, &syn, &quote), shared);
            }
        }
    }

    /// Tells whoever sent a SYN why it comes to nothing.
    fn fail(
        &mut self,
        errno: Errno,
        (ends, syn, quote): (Endpoints, &Segment, &Quote),
        shared: &mut Shared<'_>,
    ) {
        match (errno, Unreachable::of(errno)) {
            (Errno::ECONNREFUSED | Errno::ECONNRESET, _) => {
                shared.report.refused += 1;
                self.host.refuse(ends, syn, shared.uplink);
            }
            (_, Some(why)) => {
                shared.report.unreachable += 1;
                icmp::tell(why, quote, shared);
            }
            (Errno::ETIMEDOUT, None) => shared.report.unreachable += 1,
            // Ours is the fault: descriptors, memory.
            (_, None) => {
                shared.report.turned_away += 1;
                self.host.refuse(ends, syn, shared.uplink);
            }
        }
    }

    /// Forgets what is over.
    fn tidy(&mut self) {
        for key in self.common.gone.borrow_mut().drain(..) {
            self.links.remove(key);
        }
        self.host.take_closed();
    }
}

impl std::fmt::Debug for TcpStreams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TcpStreams").field("links", &self.links).finish_non_exhaustive()
    }
}
