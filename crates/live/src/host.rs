//! Our host at its end of the path: TCP connections with an application on each, and echo.
//!
//! | file | what |
//! | --- | --- |
//! | `host.rs` | [`Host`]: which segment belongs to which connection, listening, timers, resets |
//! | `host/numbers.rs` | initial sequence numbers (RFC 6528) |
//! | `host/service.rs` | [`Service`]: an application, and the [`Stream`] it has |
//! | `host/entry.rs` | one connection with its buffers and its application |
//! | `host/echo.rs` | ICMP echo, so that `ping` works |
//! | `host/tests.rs` | the host without a device |
//! | `host/uplink.rs` | [`Uplink`]: packets on their way into the path |
//! | `host/device.rs` | [`HostDevice`]: the host at its end of an emulated path |
//!
//! Like the endpoint it wraps it reads no clock; but the key of its initial sequence numbers comes
//! from the operating system.
//! Not modelled: UDP (ignored), ICMP errors, more than one address of each family.

mod device;
mod echo;
mod entry;
mod numbers;
mod service;
#[cfg(test)]
mod tests;
mod uplink;

use ackord_events::{EndpointId, Sink, TcpState};
use ackord_path::Schedule;
use ackord_tcp::registry::Stack;
use ackord_tcp::{Config, Connection, Outbound, reset_for};
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::{Ecn, Endpoints, Flags, FlowId, IpVersion, Segment, Side};
use entry::Entry;
use numbers::InitialNumbers;
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

pub(crate) use device::{HostDevice, HostEnd};
pub(crate) use echo::{reply as echo_reply, reply_of as echo_message};
pub use service::ConnectionReport;
pub(crate) use service::{Service, Stream};
pub(crate) use uplink::{Uplink, version_of};

/// Makes the application of a connection that a peer opens.
pub(crate) type Acceptor = Box<dyn FnMut() -> Box<dyn Service>>;

/// What a host listens to.
pub(crate) struct Listener {
    pub(crate) port: u16,
    pub(crate) accept: Acceptor,
}

/// How the endpoints of a host are made.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    choices: Stack,
    config: Config,
    side: Side,
    mtu: u16,
}

/// Our host.
pub(crate) struct Host {
    recipe: Recipe,
    listener: Option<Listener>,
    connections: Slab<Entry>,
    /// By the endpoints of the packets it sends.
    by_endpoints: BTreeMap<Endpoints, usize>,
    timers: Schedule,
    numbers: InitialNumbers,
    closed: Vec<ConnectionReport>,
    /// Those of the connections that are in TIME-WAIT: nothing is left of them but their end.
    waiting: BTreeSet<usize>,
}

/// Bytes of a TCP header without options.
const TCP_HEADER: u64 = 20;
/// As many connections as are held at once, without those in TIME-WAIT; more are refused with a
/// reset.
const MOST_CONNECTIONS: usize = 4096;
/// As many as are held in TIME-WAIT; one more is forgotten at once, as busy servers do.
const MOST_WAITING: usize = 65_536;

impl Recipe {
    /// Endpoints as `choices` say, with segments that fit into packets of `mtu` bytes.
    pub(crate) fn new(choices: &Stack, side: Side, mtu: u16) -> Recipe {
        Recipe { choices: choices.clone(), config: choices.config(), side, mtu }
    }

    /// The configuration of a connection over this version of IP.
    fn config(&self, ip: IpVersion) -> Config {
        // RFC 6691 §2: the MTU less the headers without options.
        let most = Bytes(u64::from(self.mtu) - u64::from(ip.header_len()) - TCP_HEADER);
        Config { mss: self.config.mss.min(most), ip, ..self.config.clone() }
    }
}

impl Host {
    /// A host without connections.
    pub(crate) fn new(recipe: Recipe, listener: Option<Listener>) -> Host {
        Host {
            recipe,
            listener,
            connections: Slab::new(),
            by_endpoints: BTreeMap::new(),
            timers: Schedule::new(16),
            numbers: InitialNumbers::new(),
            closed: Vec::new(),
            waiting: BTreeSet::new(),
        }
    }

    /// Whether no connection of ours has these endpoints, as we would send from them.
    pub(crate) fn is_free(&self, endpoints: Endpoints) -> bool {
        !self.by_endpoints.contains_key(&endpoints)
    }

    /// Whether a connection of ours is closed, but perhaps for TIME-WAIT.
    pub(crate) fn is_over(&self, endpoints: Endpoints) -> bool {
        let key = self.by_endpoints.get(&endpoints);
        key.is_none_or(|key| self.waiting.contains(key))
    }

    /// Opens a connection; fails if one with these endpoints is still there.
    pub(crate) fn connect<S: Sink>(
        &mut self,
        now: Time,
        (flow, endpoints): (FlowId, Endpoints),
        service: Box<dyn Service>,
        (uplink, sink): (&mut Uplink, &mut S),
    ) -> io::Result<()> {
        if !self.is_free(endpoints) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let key = self.begin(now, (flow, endpoints), service, None);
        self.connections[key].connection.open(now, sink);
        self.work(now, key, uplink, sink);
        Ok(())
    }

    /// A segment has arrived.
    pub(crate) fn handle_segment<S: Sink>(
        &mut self,
        now: Time,
        arrival: Arrival<'_>,
        uplink: &mut Uplink,
        sink: &mut S,
    ) {
        let outgoing = arrival.endpoints.reversed();
        let port = arrival.endpoints.dst.port();
        let listens = self.listener.as_ref().is_some_and(|listener| listener.port == port);
        let least_iss = listens.then(|| self.make_way(now, outgoing, arrival.segment)).flatten();
        let known = self.by_endpoints.get(&outgoing).copied();
        let key = known.or_else(|| self.accept(now, &arrival, least_iss));
        let Some(key) = key else {
            return self.refuse(arrival.endpoints, arrival.segment, uplink);
        };
        self.connections[key].handle_segment(now, &arrival, sink);
        self.work(now, key, uplink, sink);
    }

    /// Whether a segment wants to open a connection, and may: there is none between these ends, or
    /// one in TIME-WAIT that gives way.
    pub(crate) fn may_open(&self, arriving: Endpoints, segment: &Segment) -> bool {
        let gives_way =
            |key: &usize| self.connections[*key].connection.may_be_succeeded_by(segment).is_some();
        opens(segment) && self.by_endpoints.get(&arriving.reversed()).is_none_or(gives_way)
    }

    /// Whether no further connection is taken.
    pub(crate) fn is_full(&self) -> bool {
        self.under_way() >= MOST_CONNECTIONS
    }

    /// How many connections there are, without those in TIME-WAIT.
    pub(crate) fn under_way(&self) -> usize {
        self.connections.len() - self.waiting.len()
    }

    /// Accepts the connection that a segment opens, listener or not, with an application that is
    /// there already; one that may not be opened is refused with a reset.
    pub(crate) fn admit<S: Sink>(
        &mut self,
        now: Time,
        arrival: Arrival<'_>,
        service: Box<dyn Service>,
        (uplink, sink): (&mut Uplink, &mut S),
    ) {
        if self.is_full() || !self.may_open(arrival.endpoints, arrival.segment) {
            return self.refuse(arrival.endpoints, arrival.segment, uplink);
        }
        let outgoing = arrival.endpoints.reversed();
        let least_iss = self.make_way(now, outgoing, arrival.segment);
        let key = self.begin(now, (arrival.flow, outgoing), service, least_iss);
        self.connections[key].handle_segment(now, &arrival, sink);
        self.work(now, key, uplink, sink);
    }

    /// The application of a connection, named as its peer sends, has something to do.
    pub(crate) fn wake<S: Sink>(
        &mut self,
        now: Time,
        arriving: Endpoints,
        uplink: &mut Uplink,
        sink: &mut S,
    ) {
        if let Some(&key) = self.by_endpoints.get(&arriving.reversed()) {
            self.work(now, key, uplink, sink);
        }
    }

    /// Answers a segment for which there is no connection.
    pub(crate) fn refuse(&self, arriving: Endpoints, segment: &Segment, uplink: &mut Uplink) {
        // RFC 9293 §3.10.7.1: a reset is never answered with one.
        if !segment.flags.contains(Flags::RST) {
            let (segment, ecn) = (reset_for(segment), Ecn::NotEct);
            let reset = Outbound { segment, ecn };
            uplink.send_tcp(arriving.reversed(), &reset, |_| Some(()));
        }
    }

    /// A packet that is not TCP has arrived: an echo request is answered, the rest ignored.
    pub(crate) fn handle_other(&mut self, bytes: &[u8], uplink: &mut Uplink) {
        let mut answer = uplink.buffer();
        match echo::reply(bytes, &mut answer) {
            Some(()) => uplink.send(answer),
            None => uplink.recycle(answer),
        }
    }

    /// The earliest timer of any connection.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.timers.peek().map(|(at, _)| at)
    }

    /// The earliest timer has expired at `now`.
    pub(crate) fn handle_deadline<S: Sink>(
        &mut self,
        now: Time,
        uplink: &mut Uplink,
        sink: &mut S,
    ) {
        if let Some((at, key)) = self.timers.peek()
            && at <= now
        {
            let key = key as usize;
            self.connections[key].connection.handle_deadline(now, sink);
            self.work(now, key, uplink, sink);
        }
    }

    /// Whether no connection is under way; one in TIME-WAIT is not.
    pub(crate) fn is_quiet(&self) -> bool {
        self.under_way() == 0
    }

    /// The connections closed since this was last asked.
    pub(crate) fn take_closed(&mut self) -> Vec<ConnectionReport> {
        std::mem::take(&mut self.closed)
    }

    /// Reports on the connections that are still there.
    pub(crate) fn open_connections(&self) -> impl Iterator<Item = ConnectionReport> {
        self.connections.iter().map(|(_, entry)| entry.report(None))
    }

    /// A connection in TIME-WAIT gives way to a SYN that cannot be an old one (RFC 6191): from where
    /// on the numbers of the new one may begin.
    fn make_way(&mut self, now: Time, outgoing: Endpoints, segment: &Segment) -> Option<Seq> {
        let key = self.by_endpoints.get(&outgoing).copied()?;
        let least_iss = self.connections[key].connection.may_be_succeeded_by(segment)?;
        self.bury(now, key);
        Some(least_iss)
    }

    /// A connection that the peer wants to open, if anybody listens there.
    fn accept(
        &mut self,
        now: Time,
        arrival: &Arrival<'_>,
        least_iss: Option<Seq>,
    ) -> Option<usize> {
        let full = self.is_full();
        let listener = self.listener.as_mut()?;
        let wanted = arrival.endpoints.dst.port() == listener.port;
        if !opens(arrival.segment) || !wanted || full {
            return None;
        }
        let service = (listener.accept)();
        let outgoing = arrival.endpoints.reversed();
        Some(self.begin(now, (arrival.flow, outgoing), service, least_iss))
    }

    fn begin(
        &mut self,
        now: Time,
        (flow, endpoints): (FlowId, Endpoints),
        service: Box<dyn Service>,
        least_iss: Option<Seq>,
    ) -> usize {
        let key = self.connections.vacant_key();
        let id = EndpointId { flow, side: self.recipe.side };
        let mechanisms = self.recipe.choices.mechanisms();
        let mut config = self.recipe.config(version_of(endpoints.src.ip()));
        config.timestamp_offset = Some(self.numbers.timestamp_offset(endpoints));
        let window = config.buffers.receive.get() as usize;
        let chosen = self.numbers.initial(now, endpoints);
        let iss = least_iss.filter(|least| chosen.before(*least)).unwrap_or(chosen);
        let connection = Connection::listen(config, mechanisms, id, iss);
        let entry = Entry::new(now, endpoints, connection, (window, service));
        self.connections.insert(entry);
        self.by_endpoints.insert(endpoints, key);
        self.timers.grow(key + 1);
        key
    }

    /// Lets a connection do what it can, and buries it when it is dead.
    fn work<S: Sink>(&mut self, now: Time, key: usize, uplink: &mut Uplink, sink: &mut S) {
        let entry = &mut self.connections[key];
        entry.work(now, uplink, sink);
        // A SYN taken back leaves a listening connection that nobody will ever find again.
        let state = entry.connection.state();
        let mut dead = matches!(state, TcpState::Closed | TcpState::Listen);
        if state == TcpState::TimeWait && self.waiting.insert(key) {
            dead |= self.waiting.len() > MOST_WAITING;
        }
        let due = entry.deadline().filter(|_| !dead);
        self.timers.set(key as u32, due.unwrap_or(Time::NEVER));
        if dead {
            self.bury(now, key);
        }
    }

    fn bury(&mut self, now: Time, key: usize) {
        self.timers.set(key as u32, Time::NEVER);
        let entry = self.connections.remove(key);
        self.by_endpoints.remove(&entry.endpoints);
        self.waiting.remove(&key);
        self.closed.push(entry.report(Some(now)));
    }
}

/// Whether a segment asks for a new connection.
fn opens(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::ACK | Flags::RST)
}

/// A segment that has arrived, with its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    /// What its connection is called in events, where it opens one.
    pub(crate) flow: FlowId,
    /// As the peer sent it.
    pub(crate) endpoints: Endpoints,
    pub(crate) segment: &'a Segment,
    /// As the path left it.
    pub(crate) ecn: Ecn,
    pub(crate) payload: &'a [u8],
}
