//! The sockets of the outside, and waiting for them.

use ackord_sys::socket::connect;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Opens sockets towards the world; all of them do not block.
pub(crate) trait OutsideSockets: std::fmt::Debug {
    /// A connection on its way to `to`: writable when it stands or has failed.
    fn stream(&mut self, to: SocketAddr) -> Result<TcpStream, Errno>;
    /// A socket for datagrams to and from `to`.
    fn datagrams(&mut self, to: SocketAddr) -> Result<OwnedFd, Errno>;
    /// A socket for ICMP echo to and from `to`.
    fn echo(&mut self, to: IpAddr) -> Result<OwnedFd, Errno>;
}

/// The machine this process runs on, as the process is allowed to use it.
#[derive(Debug)]
pub(super) struct RealSockets;

impl OutsideSockets for RealSockets {
    fn stream(&mut self, to: SocketAddr) -> Result<TcpStream, Errno> {
        let socket = opened(to.ip(), SockType::Stream, None)?;
        match connect(socket.as_fd(), to) {
            Ok(()) | Err(Errno::EINPROGRESS) => {}
            Err(errno) => return Err(errno),
        }
        let stream = TcpStream::from(socket);
        // What comes in has been held back where it was sent, if it was to be.
        stream.set_nodelay(true).map_err(|error| errno_of(&error))?;
        Ok(stream)
    }

    fn datagrams(&mut self, to: SocketAddr) -> Result<OwnedFd, Errno> {
        connected(opened(to.ip(), SockType::Datagram, None)?, to)
    }

    fn echo(&mut self, to: IpAddr) -> Result<OwnedFd, Errno> {
        let protocol = if to.is_ipv4() { SockProtocol::Icmp } else { SockProtocol::IcmpV6 };
        connected(opened(to, SockType::Datagram, Some(protocol))?, SocketAddr::new(to, 0))
    }
}

fn opened(to: IpAddr, kind: SockType, protocol: Option<SockProtocol>) -> Result<OwnedFd, Errno> {
    let family = if to.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    socket(family, kind, SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC, protocol)
}

fn connected(socket: OwnedFd, to: SocketAddr) -> Result<OwnedFd, Errno> {
    connect(socket.as_fd(), to)?;
    Ok(socket)
}

/// What the system said.
pub(super) fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// What a stream socket is ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Readiness {
    pub(super) read: bool,
    pub(super) write: bool,
}

/// A socket with news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    /// A stream, by its key.
    Stream(usize, Readiness),
    /// The socket of a flow, by its key.
    Flow(usize),
}

/// Waits for all sockets with one descriptor. Edge-triggered: a socket that has been told ready is not
/// told again before it had nothing more to give or to take.
#[derive(Debug)]
pub(super) struct Poller {
    epoll: Epoll,
}

/// Marks the keys of flows.
const FLOW: u64 = 1 << 63;
/// News taken from the kernel at once.
const AT_ONCE: usize = 64;

impl Poller {
    pub(super) fn new() -> std::io::Result<Poller> {
        Ok(Poller { epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)? })
    }

    /// Watches a stream socket until it is closed.
    pub(super) fn watch_stream(&self, socket: &impl AsFd, key: usize) -> Result<(), Errno> {
        let both = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP;
        self.epoll.add(socket, EpollEvent::new(both | EpollFlags::EPOLLET, key as u64))
    }

    /// Watches the socket of a flow until it is closed.
    pub(super) fn watch_flow(&self, socket: &impl AsFd, key: usize) -> Result<(), Errno> {
        let arrivals = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        self.epoll.add(socket, EpollEvent::new(arrivals, key as u64 | FLOW))
    }

    /// Takes the news there are; more than some are left for the next time.
    pub(super) fn take(&self, out: &mut Vec<Ready>) {
        let mut events = [EpollEvent::empty(); AT_ONCE];
        // Interrupted: the descriptor stays readable, and the driver comes again.
        let count = self.epoll.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
        out.extend(events[..count].iter().map(|event| {
            let (data, events) = (event.data(), event.events());
            if data & FLOW != 0 {
                return Ready::Flow((data & !FLOW) as usize);
            }
            let broken = events.intersects(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP);
            let read = events.intersects(EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP);
            let write = events.contains(EpollFlags::EPOLLOUT);
            Ready::Stream(data as usize, Readiness { read: read || broken, write: write || broken })
        }));
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}
