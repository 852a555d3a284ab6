//! Sockets: how they come to a connection, and how they leave it.

use super::link::{Link, LinkKey, Owner};
use super::options::Options;
use super::{Attempt, Open, World};
use ackord_events::{EndpointId, TcpState};
use ackord_tcp::Connection;
use ackord_units::{Seq, Time};
use ackord_wire::{Endpoints, FlowId, IpVersion, Side};
use nix::errno::Errno;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) family: IpVersion,
    /// Address and port bound to; IPv4 is never mapped here.
    pub(super) bound: Option<SocketAddr>,
    pub(super) state: State,
    pub(super) options: Options,
    pub(super) shut: Shut,
}

/// Which directions the application has shut down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shut {
    pub(super) read: bool,
    pub(super) write: bool,
}

#[derive(Debug)]
pub(super) enum State {
    /// Neither connected nor listening.
    Fresh,
    Listening(Listener),
    Linked {
        link: LinkKey,
        progress: Progress,
    },
}

#[derive(Debug)]
pub(super) struct Listener {
    pub(super) backlog: usize,
    /// Established and not yet accepted.
    pub(super) queue: VecDeque<LinkKey>,
    pub(super) activity: u64,
}

/// Whether connect has said that the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Connecting,
    Connected,
}

/// An accepted connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) fd: i32,
    pub(crate) peer: SocketAddr,
    pub(crate) family: IpVersion,
}

/// Directions of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
    Both,
}
impl World {
    /// A new socket.
    pub(crate) fn open_socket(
        &mut self,
        family: IpVersion,
        nonblocking: bool,
    ) -> Result<i32, Errno> {
        self.setup.refresh();
        let socket = Socket {
            family,
            bound: None,
            state: State::Fresh,
            options: Options::default(),
            shut: Shut::default(),
        };
        let fd = self.open(Open::Socket(Box::new(socket)))?;
        self.set_nonblocking(fd, nonblocking)?;
        Ok(fd)
    }

    /// Begins to connect; whether it has come about is [`World::connected`]'s to say.
    pub(crate) fn connect(&mut self, fd: i32, to: SocketAddr) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        match socket.state {
            State::Fresh => {}
            State::Listening(_) | State::Linked { progress: Progress::Connected, .. } => {
                return Err(Errno::EISCONN);
            }
            State::Linked { progress: Progress::Connecting, .. } => {
                let nonblocking = self.is_nonblocking(fd)?;
                return match self.connected(fd) {
                    Attempt::Done(answer) => answer,
                    Attempt::Wait if nonblocking => Err(Errno::EALREADY),
                    Attempt::Wait => Ok(()),
                };
            }
        }
        let to = socket.own_family(to)?;
        if to.ip().is_unspecified() {
            return Err(Errno::ENETUNREACH);
        }
        let port = self.free_port();
        let socket = self.socket(fd)?;
        let own = match socket.bound {
            Some(bound) if !bound.ip().is_unspecified() => bound,
            bound => {
                let port = bound.map_or(port, |bound| bound.port());
                SocketAddr::new(self.setup.local.toward(to.ip()), port)
            }
        };
        let endpoints = Endpoints { src: own, dst: to };
        if self.by_endpoints.contains_key(&endpoints) {
            return Err(Errno::EADDRNOTAVAIL);
        }
        let key = self.begin((endpoints, None), fd, Side::Client)?;
        let socket = self.socket_mut(fd)?;
        socket.bound = Some(own);
        socket.state = State::Linked { link: key, progress: Progress::Connecting };
        let link = self.links.get_mut(&key).ok_or(Errno::ENOBUFS)?;
        link.owner = Owner::Socket(fd);
        link.connection.open(self.now, &mut ackord_events::NoSink);
        self.work(key);
        Ok(())
    }

    /// Whether a connection that was begun stands, or why it does not.
    pub(crate) fn connected(&mut self, fd: i32) -> Attempt<()> {
        let socket = match self.socket(fd) {
            Err(error) => return Attempt::Done(Err(error)),
            Ok(socket) => socket,
        };
        let State::Linked { link: key, .. } = socket.state else {
            return Attempt::Done(Err(Errno::ECONNABORTED));
        };
        let Some(link) = self.links.get_mut(&key) else {
            return Attempt::Done(Err(Errno::ECONNABORTED));
        };
        let answer = match link.connection.state() {
            TcpState::SynSent | TcpState::SynReceived => return Attempt::Wait,
            TcpState::Closed => Err(link.error.take().unwrap_or(Errno::ECONNABORTED)),
            _ => Ok(()),
        };
        if answer.is_err() {
            self.links.remove(&key);
        }
        if let Ok(socket) = self.socket_mut(fd) {
            socket.state = match answer {
                Ok(()) => State::Linked { link: key, progress: Progress::Connected },
                Err(_) => State::Fresh,
            };
        }
        Attempt::Done(answer)
    }

    /// A connect to no family at all: the socket is as new (the connection is reset).
    pub(crate) fn disconnect(&mut self, fd: i32) -> Result<(), Errno> {
        let socket = self.socket_mut(fd)?;
        let before = std::mem::replace(&mut socket.state, State::Fresh);
        socket.shut = Shut::default();
        match before {
            State::Fresh => {}
            State::Linked { link, .. } => self.abandon(link),
            State::Listening(listener) => self.stop_listening(fd, listener),
        }
        Ok(())
    }

    /// Shuts down one direction or both.
    pub(crate) fn shutdown(&mut self, fd: i32, direction: Direction) -> Result<(), Errno> {
        let reads = direction != Direction::Write;
        let writes = direction != Direction::Read;
        let socket = self.socket_mut(fd)?;
        match socket.state {
            State::Fresh => Err(Errno::ENOTCONN),
            State::Listening(_) if reads => self.disconnect(fd),
            State::Listening(_) => Ok(()),
            State::Linked { link: key, .. } => {
                socket.shut.read |= reads;
                socket.shut.write |= writes;
                let link = self.links.get_mut(&key).ok_or(Errno::ENOTCONN)?;
                link.activity += 1;
                match link.connection.state() {
                    TcpState::Closed | TcpState::TimeWait => return Err(Errno::ENOTCONN),
                    TcpState::SynSent => return self.disconnect(fd),
                    _ if writes => link.finish(),
                    _ => {}
                }
                self.work(key);
                Ok(())
            }
        }
    }

    /// Gives a descriptor back; what it stood for ends as it should. Returns the connection that a
    /// caller who lingers has to wait for.
    pub(crate) fn close(&mut self, fd: i32) -> Result<Option<LinkKey>, Errno> {
        let file = self.files.remove(&fd).ok_or(Errno::EBADF)?;
        self.forget_in_epolls(fd);
        let socket = match file.open {
            Open::Socket(socket) => socket,
            Open::PipeOut(pipe) => {
                self.close_pipe_end(pipe, Direction::Read);
                return Ok(None);
            }
            Open::PipeIn(pipe) => {
                self.close_pipe_end(pipe, Direction::Write);
                return Ok(None);
            }
            Open::Epoll(_) => return Ok(None),
        };
        let linger = socket.options.linger;
        match socket.state {
            State::Fresh => Ok(None),
            State::Listening(listener) => {
                self.stop_listening(fd, listener);
                Ok(None)
            }
            State::Linked { link: key, .. } => {
                let Some(link) = self.links.get_mut(&key) else { return Ok(None) };
                link.owner = Owner::Nobody;
                if linger == Some(ackord_units::Span::ZERO) {
                    self.abandon(key);
                    return Ok(None);
                }
                link.release(self.now);
                self.work(key);
                Ok(linger.map(|_| key))
            }
        }
    }

    /// Whether a connection whose application lingers has been acknowledged to its end.
    pub(crate) fn is_drained(&self, key: LinkKey) -> bool {
        self.links.get(&key).is_none_or(|link| {
            link.unacknowledged() == 0
                && matches!(
                    link.connection.state(),
                    TcpState::FinWait2 | TcpState::TimeWait | TcpState::Closed
                )
        })
    }

    /// Ends a connection at once.
    pub(super) fn abandon(&mut self, key: LinkKey) {
        if let Some(link) = self.links.get_mut(&key) {
            link.owner = Owner::Nobody;
            link.connection.abort();
            self.work(key);
        }
    }

    /// Forgets a connection that is over; its socket, if somebody has it, keeps what can be asked.
    pub(super) fn bury_if_dead(&mut self, key: LinkKey) {
        let Some((link, owner)) = self.live_link(key) else { return };
        if !matches!(link.connection.state(), TcpState::Closed | TcpState::Listen) {
            return;
        }
        let endpoints = link.endpoints;
        if self.by_endpoints.get(&endpoints) == Some(&key) {
            self.by_endpoints.remove(&endpoints);
        }
        let is_waiting = match owner {
            Owner::Socket(_) => true,
            Owner::Nobody => false,
            Owner::Listener(fd) => matches!(
                self.socket(fd).map(|socket| &socket.state),
                Ok(State::Listening(listener)) if listener.queue.contains(&key)
            ),
        };
        if !is_waiting {
            self.links.remove(&key);
        }
    }

    /// A connection that has not done anything yet, made as the socket `fd` asks.
    pub(super) fn begin(
        &mut self,
        (endpoints, least_iss): (Endpoints, Option<Seq>),
        fd: i32,
        side: Side,
    ) -> Result<LinkKey, Errno> {
        self.setup.refresh();
        let number = self.number();
        let ip = if endpoints.dst.is_ipv6() { IpVersion::V6 } else { IpVersion::V4 };
        let options = &self.socket(fd)?.options;
        let (config, mechanisms) = options.endpoint(&self.setup, ip);
        let (window, nagle) = (config.buffers.receive, options.nagle(&self.setup));
        let id = EndpointId { flow: FlowId(number), side };
        let chosen = initial_sequence(number);
        let iss = least_iss.filter(|least| chosen.before(*least)).unwrap_or(chosen);
        let connection = Connection::listen(config, mechanisms, id, iss);
        let mut link = Link::new(endpoints, connection, (window, nagle));
        link.ttl = options.ttl(ip);
        link.cork = options.cork();
        let key = LinkKey(number);
        self.links.insert(key, link);
        self.by_endpoints.insert(endpoints, key);
        Ok(key)
    }

    /// When a call that begins now gives up, by the socket's own timeout.
    pub(crate) fn timeout_at(&self, fd: i32, direction: Direction) -> Option<Time> {
        let options = &self.socket(fd).ok()?.options;
        let span = match direction {
            Direction::Read => options.receive_timeout,
            Direction::Write | Direction::Both => options.send_timeout,
        };
        span.map(|span| self.now + span)
    }
}

impl Listener {
    /// Linux lets one more wait than the backlog says.
    pub(super) fn is_full(&self) -> bool {
        self.queue.len() > self.backlog
    }
}

impl Socket {
    /// The address without mapping, if a socket of this family may have it.
    pub(super) fn own_family(&self, address: SocketAddr) -> Result<SocketAddr, Errno> {
        let canonical = SocketAddr::new(address.ip().to_canonical(), address.port());
        match (self.family, address.is_ipv6()) {
            (IpVersion::V4, true) | (IpVersion::V6, false) => Err(Errno::EAFNOSUPPORT),
            (IpVersion::V6, true) if canonical.is_ipv4() && self.options.only_ipv6() => {
                Err(Errno::EINVAL)
            }
            _ => Ok(canonical),
        }
    }

    /// Whether a socket bound to no address in particular is meant by this one.
    pub(super) fn takes(&self, at: IpAddr) -> bool {
        match (self.family, at) {
            (IpVersion::V4, IpAddr::V4(_)) | (IpVersion::V6, IpAddr::V6(_)) => true,
            (IpVersion::V4, IpAddr::V6(_)) => false,
            (IpVersion::V6, IpAddr::V4(_)) => {
                !self.options.only_ipv6() && self.bound.is_some_and(|bound| bound.is_ipv6())
            }
        }
    }
}

/// An initial sequence number: the same in every run, and different enough from the next one's.
fn initial_sequence(number: u32) -> Seq {
    Seq(number.wrapping_mul(0x9e37_79b1) ^ 0x0005_eed5)
}
