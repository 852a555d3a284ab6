//! Sockets: how they come to a connection, and how they leave it.

use super::link::{Link, LinkKey, Owner};
use super::options::Options;
use super::{Attempt, Blocking, File, Open, World};
use ackord_events::{EndpointId, TcpState};
use ackord_tcp::Connection;
use ackord_units::{Seq, Time};
use ackord_wire::{Decoded, Endpoints, Flags, FlowId, IpVersion, Side};
use nix::errno::Errno;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Family of a socket's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) family: Family,
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
    pub(crate) family: Family,
}

/// Which end an address is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
    Both,
}

/// As many connections as are held at once; more SYNs are left unanswered.
const MOST_LINKS: usize = 4096;
/// net.core.somaxconn.
const MOST_BACKLOG: i32 = 4096;
/// net.ipv4.ip_local_port_range.
const FIRST_PORT: u16 = 32_768;
const PORTS: u16 = 28_232;

impl World {
    /// A new socket.
    pub(crate) fn open_socket(&mut self, family: Family, blocking: Blocking) -> Result<i32, Errno> {
        self.setup.refresh();
        let socket = Socket {
            family,
            bound: None,
            state: State::Fresh,
            options: Options::default(),
            shut: Shut::default(),
        };
        self.open(Open::Socket(Box::new(socket)), blocking)
    }

    /// Gives a socket its own address; a port of zero is chosen.
    pub(crate) fn bind(&mut self, fd: i32, to: SocketAddr) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        let to = socket.own_family(to)?;
        if socket.bound.is_some() || !matches!(socket.state, State::Fresh) {
            return Err(Errno::EINVAL);
        }
        let to = if to.port() == 0 { SocketAddr::new(to.ip(), self.free_port()) } else { to };
        if self.is_taken(fd, to) {
            return Err(Errno::EADDRINUSE);
        }
        self.socket_mut(fd)?.bound = Some(to);
        Ok(())
    }

    /// Lets peers connect.
    pub(crate) fn listen(&mut self, fd: i32, backlog: i32) -> Result<(), Errno> {
        // A negative backlog is a very large one to the kernel.
        let limit = if backlog < 0 { MOST_BACKLOG } else { backlog.min(MOST_BACKLOG) } as usize;
        let port = self.free_port();
        let socket = self.socket_mut(fd)?;
        match &mut socket.state {
            State::Listening(listener) => listener.backlog = limit,
            State::Linked { .. } => return Err(Errno::EINVAL),
            State::Fresh => {
                let anywhere = SocketAddr::new(socket.family.unspecified(), port);
                socket.bound.get_or_insert(anywhere);
                let queue = VecDeque::new();
                socket.state = State::Listening(Listener { backlog: limit, queue, activity: 0 });
            }
        }
        Ok(())
    }

    /// Takes the oldest connection that waits.
    pub(crate) fn accept(&mut self, fd: i32, blocking: Blocking) -> Attempt<Accepted> {
        let (key, family, options) = match self.socket_mut(fd) {
            Err(error) => return Attempt::Done(Err(error)),
            Ok(socket) => match &mut socket.state {
                State::Listening(listener) => match listener.queue.pop_front() {
                    Some(key) => (key, socket.family, socket.options.clone()),
                    None => return Attempt::Wait,
                },
                _ => return Attempt::Done(Err(Errno::EINVAL)),
            },
        };
        Attempt::Done(self.adopt(key, family, (options, blocking)))
    }

    fn adopt(
        &mut self,
        key: LinkKey,
        family: Family,
        (options, blocking): (Options, Blocking),
    ) -> Result<Accepted, Errno> {
        let endpoints = self.links.get(&key).ok_or(Errno::ECONNABORTED)?.endpoints;
        let state = State::Linked { link: key, progress: Progress::Connected };
        let bound = Some(endpoints.src);
        let socket = Socket { family, bound, state, options, shut: Shut::default() };
        let fd = self.open(Open::Socket(Box::new(socket)), blocking)?;
        self.links.get_mut(&key).ok_or(Errno::ECONNABORTED)?.owner = Owner::Socket(fd);
        Ok(Accepted { fd, peer: endpoints.dst, family })
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
                let blocking = self.blocking(fd)?;
                return match self.connected(fd) {
                    Attempt::Done(answer) => answer,
                    Attempt::Wait if blocking == Blocking::Never => Err(Errno::EALREADY),
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
    fn abandon(&mut self, key: LinkKey) {
        if let Some(link) = self.links.get_mut(&key) {
            link.owner = Owner::Nobody;
            link.connection.abort();
            self.work(key);
        }
    }

    /// Connections that wait to be accepted are reset, those that are only opening are forgotten.
    fn stop_listening(&mut self, fd: i32, listener: Listener) {
        let opening: Vec<LinkKey> = self
            .links
            .iter()
            .filter(|(_, link)| link.owner == Owner::Listener(fd))
            .map(|(&key, _)| key)
            .collect();
        for key in opening {
            if listener.queue.contains(&key) {
                self.abandon(key);
            } else if let Some(link) = self.links.remove(&key) {
                self.by_endpoints.remove(&link.endpoints);
            }
        }
    }

    /// A connection in TIME-WAIT gives way to a SYN that cannot be an old one, if somebody listens
    /// (RFC 6191): from where on the numbers of the new one may begin.
    pub(super) fn make_way(&mut self, packet: &Decoded) -> Option<Seq> {
        let key = *self.by_endpoints.get(&packet.endpoints.reversed())?;
        self.listener_for(packet.endpoints.dst)?;
        let link = self.links.get_mut(&key)?;
        let least_iss = link.connection.may_be_succeeded_by(&packet.segment)?;
        let is_kept = matches!(link.owner, Owner::Socket(_));
        self.by_endpoints.remove(&packet.endpoints.reversed());
        if is_kept {
            // Its socket may still be asked about it.
            link.connection.abort();
        } else {
            self.links.remove(&key);
        }
        Some(least_iss)
    }

    /// A SYN for a socket that listens begins a connection.
    pub(super) fn passive_open(
        &mut self,
        packet: &Decoded,
        least_iss: Option<Seq>,
    ) -> Option<LinkKey> {
        let flags = packet.segment.flags;
        if !flags.contains(Flags::SYN) || flags.intersects(Flags::ACK | Flags::RST) {
            return None;
        }
        let fd = self.listener_for(packet.endpoints.dst)?;
        let full = match &self.socket(fd).ok()?.state {
            State::Listening(listener) => listener.is_full(),
            _ => true,
        };
        if full || self.links.len() >= MOST_LINKS {
            return None;
        }
        let key = self.begin((packet.endpoints.reversed(), least_iss), fd, Side::Server).ok()?;
        self.links.get_mut(&key)?.owner = Owner::Listener(fd);
        Some(key)
    }

    /// The socket that listens at an address.
    pub(super) fn listener_for(&self, at: SocketAddr) -> Option<i32> {
        let listens = |(fd, file): (&i32, &File)| {
            let Open::Socket(socket) = &file.open else { return None };
            let bound = socket.bound.filter(|bound| bound.port() == at.port())?;
            let same = bound.ip() == at.ip();
            let any = bound.ip().is_unspecified() && socket.takes(at.ip());
            (matches!(socket.state, State::Listening(_)) && (same || any))
                .then_some((same, file.order, *fd))
        };
        // The more precise one first, then the later one.
        self.files.iter().filter_map(listens).max().map(|(.., fd)| fd)
    }

    /// The last acknowledgment of a handshake means nothing while the queue is full.
    pub(super) fn is_held_by_full_queue(&self, key: LinkKey) -> bool {
        let Some((link, Owner::Listener(fd))) = self.live_link(key) else { return false };
        let opening = link.connection.state() == TcpState::SynReceived;
        let full = matches!(
            self.socket(fd).map(|socket| &socket.state),
            Ok(State::Listening(listener)) if listener.is_full()
        );
        opening && full
    }

    /// A connection that has just been established waits to be accepted.
    pub(super) fn enqueue_if_open(&mut self, key: LinkKey) {
        let Some((link, Owner::Listener(fd))) = self.live_link(key) else { return };
        let opening = matches!(
            link.connection.state(),
            TcpState::Listen | TcpState::SynReceived | TcpState::Closed
        );
        if let Ok(Socket { state: State::Listening(listener), .. }) = self.socket_mut(fd)
            && !opening
            && !listener.queue.contains(&key)
        {
            listener.queue.push_back(key);
            listener.activity += 1;
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
    fn begin(
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
        let (window, nagle) = (config.receive_buffer, options.nagle(&self.setup));
        let id = EndpointId { flow: FlowId(number), side };
        let chosen = initial_sequence(number);
        let iss = least_iss.filter(|least| chosen.before(*least)).unwrap_or(chosen);
        let connection = Connection::listen(config, mechanisms, id, iss);
        let mut link = Link::new(endpoints, connection, (window, nagle));
        link.ttl = options.ttl(ip);
        if let Some(least) = self.setup.offload() {
            link.set_offload(least);
        }
        link.set_cork(options.cork());
        let key = LinkKey(number);
        self.links.insert(key, link);
        self.by_endpoints.insert(endpoints, key);
        Ok(key)
    }

    /// A port that nobody has; the same ones in every run.
    fn free_port(&mut self) -> u16 {
        for _ in 0..PORTS {
            let port = FIRST_PORT + self.ports;
            self.ports = (self.ports + 1) % PORTS;
            let bound = |fd: &i32| self.socket(*fd).ok().and_then(|socket| socket.bound);
            if !self.files.keys().filter_map(bound).any(|bound| bound.port() == port) {
                return port;
            }
        }
        FIRST_PORT
    }

    /// Whether another socket or connection is in the way of binding.
    fn is_taken(&self, fd: i32, to: SocketAddr) -> bool {
        let reuses = self.socket(fd).is_ok_and(|socket| socket.options.reuses_address());
        let overlaps = |other: SocketAddr| {
            other.port() == to.port()
                && (other.ip() == to.ip()
                    || other.ip().is_unspecified()
                    || to.ip().is_unspecified())
        };
        let by_socket = self.files.keys().filter(|&&other| other != fd).any(|&other| {
            self.socket(other).is_ok_and(|socket| {
                let shares = reuses
                    && socket.options.reuses_address()
                    && !matches!(socket.state, State::Listening(_));
                socket.bound.is_some_and(overlaps) && !shares
            })
        });
        let by_remains = self
            .links
            .values()
            .any(|link| link.owner == Owner::Nobody && overlaps(link.endpoints.src));
        by_socket || by_remains && !reuses
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
    fn is_full(&self) -> bool {
        self.queue.len() > self.backlog
    }
}

impl Socket {
    /// The address without mapping, if a socket of this family may have it.
    fn own_family(&self, address: SocketAddr) -> Result<SocketAddr, Errno> {
        let canonical = SocketAddr::new(address.ip().to_canonical(), address.port());
        match (self.family, address.is_ipv6()) {
            (Family::V4, true) | (Family::V6, false) => Err(Errno::EAFNOSUPPORT),
            (Family::V6, true) if canonical.is_ipv4() && self.options.only_ipv6() => {
                Err(Errno::EINVAL)
            }
            _ => Ok(canonical),
        }
    }

    /// Whether a socket bound to no address in particular is meant by this one.
    fn takes(&self, at: IpAddr) -> bool {
        match (self.family, at) {
            (Family::V4, IpAddr::V4(_)) | (Family::V6, IpAddr::V6(_)) => true,
            (Family::V4, IpAddr::V6(_)) => false,
            (Family::V6, IpAddr::V4(_)) => {
                !self.options.only_ipv6() && self.bound.is_some_and(|bound| bound.is_ipv6())
            }
        }
    }
}

impl Family {
    fn unspecified(self) -> IpAddr {
        match self {
            Family::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Family::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        }
    }
}

/// An initial sequence number: the same in every run, and different enough from the next one's.
fn initial_sequence(number: u32) -> Seq {
    Seq(number.wrapping_mul(0x9e37_79b1) ^ 0x0005_eed5)
}
