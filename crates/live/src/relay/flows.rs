//! UDP and echo of the gateway: each flow has a socket of its own, for as long as it is used.
//!
//! The socket is connected, so that replies come from where the flow goes and nobody else gets in.
//! A flow ends when nothing has passed for two minutes (RFC 4787 §4.3 REQ-5), at well-known ports
//! for thirty seconds; when there are too many, the one that has been idle longest ends early.

use super::Shared;
use super::icmp::{self, Quote, Unreachable};
use crate::host::echo_message;
use ackord_units::{Span, Time};
use ackord_wire::{Endpoints, IpFields, Payload, encode_udp};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};
use slab::Slab;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// What tells flows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FlowKey {
    /// UDP, as packets come in.
    Datagrams(Endpoints),
    /// Echo requests with this identifier.
    Echo { src: IpAddr, dst: IpAddr, id: u16 },
}

#[derive(Debug)]
struct Flow {
    key: FlowKey,
    socket: OwnedFd,
    used_at: Time,
    /// Of the packet that came last.
    quote: Quote,
}

/// All flows.
#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: Slab<Flow>,
    by_key: BTreeMap<FlowKey, usize>,
    /// When to look for idle ones, while there are any.
    look_at: Option<Time>,
    /// Those whose socket had more than is read at once.
    unread: Vec<usize>,
    scratch: Vec<u8>,
}

/// As many flows at once: each takes a descriptor, of which a process often has no more than 1024.
const MOST_FLOWS: usize = 256;
/// Idle for this long a flow is over.
const IDLE: Span = Span::from_secs(120);
/// The same at well-known ports (RFC 4787 §4.3 REQ-5 a): questions and answers, mostly.
const IDLE_WELL_KNOWN: Span = Span::from_secs(30);
/// How often idle flows are looked for.
const LOOK_EVERY: Span = Span::from_secs(5);
/// Datagrams read from one socket before others have their turn.
const READS_IN_A_ROW: usize = 64;
/// The longest datagram.
const LONGEST: usize = 65_535;

impl FlowKey {
    fn idle_limit(&self) -> Span {
        match self {
            FlowKey::Datagrams(ends) if ends.dst.port() >= 1024 => IDLE,
            _ => IDLE_WELL_KNOWN,
        }
    }
}

impl Flows {
    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        if self.unread.is_empty() { self.look_at } else { Some(Time::ZERO) }
    }

    pub(super) fn handle_deadline(&mut self, shared: &mut Shared<'_>) {
        for key in std::mem::take(&mut self.unread) {
            self.handle_ready(key, shared);
        }
        if self.look_at.is_some_and(|at| at <= shared.now) {
            let over =
                |flow: &Flow| shared.now.saturating_since(flow.used_at) >= flow.key.idle_limit();
            let idle: Vec<usize> =
                self.flows.iter().filter(|(_, flow)| over(flow)).map(|(key, _)| key).collect();
            for key in idle {
                self.end(key);
            }
            self.look_at = (!self.flows.is_empty()).then(|| shared.now + LOOK_EVERY);
        }
    }

    /// Sends a datagram, or an echo request, on its way out.
    pub(super) fn send(
        &mut self,
        key: FlowKey,
        message: &[u8],
        quote: Quote,
        shared: &mut Shared<'_>,
    ) {
        let Some(place) = self.find(key, &quote, shared) else {
            shared.report.datagrams_dropped += 1;
            return;
        };
        let flow = &mut self.flows[place];
        flow.used_at = shared.now;
        flow.quote = quote;
        let socket = flow.socket.as_raw_fd();
        let mut sent = send(socket, message, MsgFlags::MSG_NOSIGNAL);
        if let Err(errno) = sent
            && Unreachable::of(errno).is_some()
        {
            // That was the fate of an earlier one: it is told, and this one tries for itself.
            self.tell(place, errno, shared);
            sent = send(socket, message, MsgFlags::MSG_NOSIGNAL);
        }
        match sent {
            Ok(_) => {}
            Err(errno) => {
                shared.report.datagrams_dropped += 1;
                self.tell(place, errno, shared);
            }
        }
    }

    /// The socket of a flow has something.
    pub(super) fn handle_ready(&mut self, place: usize, shared: &mut Shared<'_>) {
        self.scratch.resize(LONGEST, 0);
        for _ in 0..READS_IN_A_ROW {
            let Some(flow) = self.flows.get_mut(place) else { return };
            match recv(flow.socket.as_raw_fd(), &mut self.scratch, MsgFlags::MSG_DONTWAIT) {
                Ok(len) => {
                    flow.used_at = shared.now;
                    let key = flow.key;
                    if reply(key, &self.scratch[..len], shared).is_none() {
                        shared.report.datagrams_dropped += 1;
                    }
                }
                Err(Errno::EAGAIN) => return,
                Err(Errno::EINTR) => {}
                Err(errno) if Unreachable::of(errno).is_some() => self.tell(place, errno, shared),
                // A socket that is broken otherwise would only say so again.
                Err(_) => return self.end(place),
            }
        }
        self.unread.push(place);
    }

    /// The flow of this key, made if need be.
    fn find(&mut self, key: FlowKey, quote: &Quote, shared: &mut Shared<'_>) -> Option<usize> {
        if let Some(place) = self.by_key.get(&key) {
            return Some(*place);
        }
        if self.flows.len() >= MOST_FLOWS {
            let (oldest, _) = self.flows.iter().min_by_key(|(_, flow)| flow.used_at)?;
            self.end(oldest);
            shared.report.flows_cut_short += 1;
        }
        let place = self.flows.vacant_key();
        let opened = match key {
            FlowKey::Datagrams(ends) => shared.outside.datagrams(shared.map.outside_of(ends.dst)),
            FlowKey::Echo { dst, .. } => shared.outside.echo(dst),
        };
        match opened.and_then(|socket| shared.poller.watch_flow(&socket, place).map(|()| socket)) {
            Ok(socket) => {
                self.flows.insert(Flow { key, socket, used_at: shared.now, quote: quote.clone() });
                self.by_key.insert(key, place);
                self.look_at.get_or_insert(shared.now + LOOK_EVERY);
                shared.report.flows += 1;
                let most = &mut shared.report.most_flows;
                *most = (*most).max(self.flows.len());
                Some(place)
            }
            Err(errno) => {
                if matches!(key, FlowKey::Echo { .. }) {
                    shared.report.pings_refused = Some(errno);
                } else if let Some(why) = Unreachable::of(errno) {
                    icmp::tell(why, quote, shared);
                }
                None
            }
        }
    }

    /// Tells the sender that what it sent has not arrived.
    fn tell(&self, place: usize, errno: Errno, shared: &mut Shared<'_>) {
        if let Some(why) = Unreachable::of(errno) {
            icmp::tell(why, &self.flows[place].quote, shared);
        }
    }

    fn end(&mut self, place: usize) {
        let flow = self.flows.remove(place);
        self.by_key.remove(&flow.key);
    }
}

/// Sends a reply on its way in; nothing if it cannot be one packet.
fn reply(key: FlowKey, message: &[u8], shared: &mut Shared<'_>) -> Option<()> {
    let mut bytes = shared.uplink.buffer();
    let made = match key {
        FlowKey::Datagrams(ends) => {
            let payload = Payload::Bytes(message);
            encode_udp(ends.reversed(), IpFields::default(), payload, &mut bytes).ok()
        }
        FlowKey::Echo { src, dst, id } => echo_message((dst, src), id, message, &mut bytes),
    };
    let fits = bytes.len() <= shared.mtu;
    if made.is_none() || !fits {
        shared.uplink.recycle(bytes);
        return None;
    }
    shared.uplink.send(bytes);
    Some(())
}
