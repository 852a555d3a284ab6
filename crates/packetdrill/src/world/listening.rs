//! Sockets that listen: how packets begin connections, and how these come to be accepted.

use super::link::{LinkKey, Owner};
use super::options::Options;
use super::socket::{Accepted, Listener, Progress, Shut, Socket, State};
use super::{Attempt, File, Open, World};
use ackord_events::TcpState;
use ackord_units::Seq;
use ackord_wire::{Decoded, Flags, IpVersion, Side};
use nix::errno::Errno;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// As many connections as are held at once; more SYNs are left unanswered.
const MOST_LINKS: usize = 4096;
/// net.core.somaxconn.
const MOST_BACKLOG: i32 = 4096;

impl World {
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
                let anywhere = SocketAddr::new(unspecified(socket.family), port);
                socket.bound.get_or_insert(anywhere);
                let queue = VecDeque::new();
                socket.state = State::Listening(Listener { backlog: limit, queue, activity: 0 });
            }
        }
        Ok(())
    }

    /// Takes the oldest connection that waits.
    pub(crate) fn accept(&mut self, fd: i32) -> Attempt<Accepted> {
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
        Attempt::Done(self.adopt(key, family, options))
    }

    fn adopt(
        &mut self,
        key: LinkKey,
        family: IpVersion,
        options: Options,
    ) -> Result<Accepted, Errno> {
        let endpoints = self.links.get(&key).ok_or(Errno::ECONNABORTED)?.endpoints;
        let state = State::Linked { link: key, progress: Progress::Connected };
        let bound = Some(endpoints.src);
        let socket = Socket { family, bound, state, options, shut: Shut::default() };
        let fd = self.open(Open::Socket(Box::new(socket)))?;
        self.links.get_mut(&key).ok_or(Errno::ECONNABORTED)?.owner = Owner::Socket(fd);
        Ok(Accepted { fd, peer: endpoints.dst, family })
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

    /// Connections that wait to be accepted are reset, those that are only opening are forgotten.
    pub(super) fn stop_listening(&mut self, fd: i32, listener: Listener) {
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
}

fn unspecified(family: IpVersion) -> IpAddr {
    match family {
        IpVersion::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}
