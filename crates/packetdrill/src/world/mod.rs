//! The whole of what a script sees, without threads and without C: descriptors, sockets, connections,
//! and the packets that have left, at one moment of virtual time.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`World`]: descriptors, time, packets in |
//! | `link.rs`, `tally.rs` | a connection with its bytes, and what it counts |
//! | `socket.rs` | connect, shutdown, close |
//! | `listening.rs` | listen, accept, and how packets come to connections |
//! | `ports.rs` | bind, and ports that are free |
//! | `transfer.rs` | bytes in and out, of sockets and pipes |
//! | `ready.rs` | what poll and epoll say |
//! | `pipe.rs` | pipes, and splice |
//! | `options.rs`, `option_table.rs` | options of a socket, and what they make of an endpoint |
//! | `sockopt.rs` | setsockopt and getsockopt, ioctl and fcntl |
//! | `tests.rs` | any calls in any order |
//! | `info.rs` | the kernel's `struct tcp_info` |
//!
//! A call that cannot be answered yet says so ([`Attempt::Wait`]) and is tried again whenever
//! something has happened; who waits, and for how long, is the door's business.
//! Not modelled: anything but TCP, ICMP errors, routes (every address is reachable), dup and fork.

mod info;
mod link;
mod listening;
mod option_table;
mod options;
mod pipe;
mod ports;
mod ready;
mod socket;
mod sockopt;
mod tally;
#[cfg(test)]
mod tests;
mod transfer;

pub(crate) use link::LinkKey;
pub(crate) use option_table::TCP_INQ;
pub(crate) use pipe::SpliceEnds;
pub(crate) use ready::{Change, EpollEvent, Interest, PollEntry};
pub(crate) use socket::{Accepted, Direction};
pub(crate) use sockopt::Waiting;
pub(crate) use transfer::{Reading, Writing};

use crate::descriptor::Descriptor;
use crate::setup::Setup;
use ackord_tcp::reset_for;
use ackord_units::Time;
use ackord_wire::{Decoded, Endpoints, Flags, IpFields, Payload, decode, encode};
use link::{Link, Owner};
use nix::errno::Errno;
use pipe::Pipe;
use ready::Epoll;
use socket::Socket;
use std::collections::{BTreeMap, VecDeque};

/// What trying a call came to.
#[derive(Debug, PartialEq)]
pub(crate) enum Attempt<T> {
    /// It is over.
    Done(Result<T, Errno>),
    /// It has to wait, if it may.
    Wait,
}

impl<T> Attempt<T> {
    /// The same with another kind of answer.
    pub(crate) fn map<U>(self, as_answer: impl FnOnce(T) -> U) -> Attempt<U> {
        match self {
            Attempt::Done(answer) => Attempt::Done(answer.map(as_answer)),
            Attempt::Wait => Attempt::Wait,
        }
    }
}

/// A packet that has left the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Departed {
    pub(crate) at: Time,
    pub(crate) bytes: Vec<u8>,
}

/// What a descriptor stands for.
#[derive(Debug)]
enum Open {
    Socket(Box<Socket>),
    PipeOut(u32),
    PipeIn(u32),
    Epoll(Epoll),
}

#[derive(Debug)]
struct File {
    open: Open,
    /// O_NONBLOCK: calls never wait.
    nonblocking: bool,
    /// Rises from one descriptor to the next, unlike the kernel's numbers.
    order: u32,
    _number: Descriptor,
}

#[derive(Debug)]
pub(crate) struct World {
    now: Time,
    setup: Setup,
    files: BTreeMap<i32, File>,
    links: BTreeMap<LinkKey, Link>,
    by_endpoints: BTreeMap<Endpoints, LinkKey>,
    pipes: BTreeMap<u32, Pipe>,
    outbox: VecDeque<Departed>,
    /// Numbers given out so far: connections, pipes, ports.
    numbers: u32,
    ports: u16,
}

impl World {
    pub(crate) fn new(setup: Setup) -> World {
        World {
            now: Time::ZERO,
            setup,
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            by_endpoints: BTreeMap::new(),
            pipes: BTreeMap::new(),
            outbox: VecDeque::new(),
            numbers: 0,
            ports: 0,
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// The next packet that has left, if one has.
    pub(crate) fn next_departed(&mut self) -> Option<Departed> {
        self.outbox.pop_front()
    }

    /// Looks at the next packet that has left.
    pub(crate) fn peek_departed(&self) -> Option<&Departed> {
        self.outbox.front()
    }

    /// When a timer of any connection is due.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.links.values().filter_map(Link::deadline).min()
    }

    /// It is `to` now; timers that have become due act.
    pub(crate) fn advance(&mut self, to: Time) {
        self.now = self.now.max(to);
        let due = |link: &Link| link.deadline().is_some_and(|at| at <= to);
        let keys: Vec<LinkKey> =
            self.links.iter().filter(|(_, link)| due(link)).map(|(&key, _)| key).collect();
        for key in keys {
            if let Some(link) = self.links.get_mut(&key) {
                link.handle_deadline(self.now);
            }
            self.work(key);
        }
    }

    /// A packet arrives from the network. Nonsense is dropped, as any stack drops it.
    pub(crate) fn packet_in(&mut self, bytes: &[u8]) {
        let Ok(packet) = decode(bytes) else { return };
        let payload = &bytes[packet.payload.clone()];
        let outgoing = packet.endpoints.reversed();
        let least_iss = self.make_way(&packet);
        let known = self.by_endpoints.get(&outgoing).copied();
        match known.or_else(|| self.passive_open(&packet, least_iss)) {
            Some(key) => {
                if self.is_held_by_full_queue(key) {
                    return;
                }
                let now = self.now;
                if let Some(link) = self.links.get_mut(&key) {
                    link.arrive(now, &packet, payload);
                }
                self.work(key);
            }
            None => self.refuse(&packet),
        }
    }

    /// Nobody knows the connection (RFC 9293 §3.10.7.1). Who listens refuses acknowledgments only:
    /// it drops anything else that begins no connection (§3.10.7.2), a SYN among it that a full
    /// queue leaves unanswered.
    fn refuse(&mut self, packet: &Decoded) {
        let flags = packet.segment.flags;
        let acknowledges = flags.contains(Flags::ACK);
        if flags.contains(Flags::RST)
            || !acknowledges && self.listener_for(packet.endpoints.dst).is_some()
        {
            return;
        }
        let (mut bytes, reset) = (Vec::new(), reset_for(&packet.segment));
        let endpoints = packet.endpoints.reversed();
        let payload = Payload::Bytes(&[]);
        if encode(endpoints, IpFields::default(), &reset, payload, &mut bytes).is_ok() {
            self.outbox.push_back(Departed { at: self.now, bytes });
        }
    }

    /// A connection does what it can, and is buried when it is dead.
    fn work(&mut self, key: LinkKey) {
        let Some(link) = self.links.get_mut(&key) else { return };
        link.pump(self.now, &mut self.outbox);
        self.enqueue_if_open(key);
        self.bury_if_dead(key);
    }

    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Gives something a descriptor.
    fn open(&mut self, open: Open) -> Result<i32, Errno> {
        let number = Descriptor::new().map_err(|_| Errno::EMFILE)?;
        let fd = number.number();
        // The kernel gives numbers anew that were closed behind our back.
        if self.files.contains_key(&fd) {
            self.close(fd)?;
        }
        let order = self.number();
        self.files.insert(fd, File { open, nonblocking: false, order, _number: number });
        Ok(fd)
    }

    fn file(&self, fd: i32) -> Result<&File, Errno> {
        self.files.get(&fd).ok_or(Errno::EBADF)
    }

    fn file_mut(&mut self, fd: i32) -> Result<&mut File, Errno> {
        self.files.get_mut(&fd).ok_or(Errno::EBADF)
    }

    fn socket(&self, fd: i32) -> Result<&Socket, Errno> {
        match &self.file(fd)?.open {
            Open::Socket(socket) => Ok(socket),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    fn socket_mut(&mut self, fd: i32) -> Result<&mut Socket, Errno> {
        match &mut self.file_mut(fd)?.open {
            Open::Socket(socket) => Ok(socket),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    /// Whether calls on a descriptor never wait.
    pub(crate) fn is_nonblocking(&self, fd: i32) -> Result<bool, Errno> {
        Ok(self.file(fd)?.nonblocking)
    }

    /// Makes calls on a descriptor never wait, or wait again.
    pub(crate) fn set_nonblocking(&mut self, fd: i32, nonblocking: bool) -> Result<(), Errno> {
        self.file_mut(fd)?.nonblocking = nonblocking;
        Ok(())
    }

    fn live_link(&self, key: LinkKey) -> Option<(&Link, Owner)> {
        self.links.get(&key).map(|link| (link, link.owner))
    }
}
