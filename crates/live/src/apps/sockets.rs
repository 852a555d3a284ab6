//! Sockets of ends: bound, watched, and why that failed.

use super::Call;
use ackord_sys::socket::bind;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Everything that may happen on a connection, once per change.
pub(super) fn watch(epoll: &Epoll, socket: BorrowedFd<'_>, index: usize) -> Result<(), Errno> {
    let what = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP;
    epoll.add(socket, EpollEvent::new(what | EpollFlags::EPOLLET, index as u64))
}

pub(super) fn bind_to(socket: &OwnedFd, local: SocketAddr) -> io::Result<()> {
    // An earlier run's connection may still be in TIME-WAIT.
    setsockopt(socket, sockopt::ReuseAddr, &true)?;
    bind(socket.as_fd(), local).map_err(|errno| failed(Call::Bind, local, errno))
}

pub(super) fn set_nonblocking(socket: &OwnedFd) -> Result<(), Errno> {
    let flags = OFlag::from_bits_retain(fcntl(socket, FcntlArg::F_GETFL)?);
    fcntl(socket, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map(drop)
}

pub(super) fn failed(call: Call, address: SocketAddr, errno: Errno) -> io::Error {
    let kind = io::Error::from(errno).kind();
    io::Error::new(kind, format!("{} {address}: {}", call.word(), errno.desc()))
}
