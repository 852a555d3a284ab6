//! A DNS forwarder inside for a name server that the caller has on loopback.
//!
//! ```text
//! program ─► 127.0.0.53:53 inside ─► this ─► base address:53 ═ link ═ gateway ─► 127.0.0.53:53 outside
//! ```
//!
//! Both sockets are of the inside, so questions and answers cross the link like everything else. A
//! question has a socket of its own, so that its port is as hard to guess as any (RFC 5452 §4.5).
//!
//! Not modelled: questions over TCP, name servers on IPv6 loopback addresses.

use ackord_sys::Namespace;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockType, SockaddrIn, bind, connect, recv, recvfrom, send, sendto,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The forwarder.
#[derive(Debug)]
pub(super) struct DnsForwarder {
    /// Where programs ask.
    front: OwnedFd,
    /// Where it asks itself.
    server: SockaddrIn,
    epoll: Epoll,
    /// Questions that are not answered yet, the oldest first.
    asked: VecDeque<Question>,
    next: u64,
}

#[derive(Debug)]
struct Question {
    number: u64,
    from: SockaddrIn,
    socket: OwnedFd,
}

/// Questions under way at once; of more the oldest is given up, as a busy server would.
const MOST: usize = 256;
/// Longer than any answer over UDP.
const LONGEST: usize = 65_535;
/// The number that stands for the front.
const FRONT: u64 = 0;

impl DnsForwarder {
    /// Forwards to `server`, which is reached at `base`; nothing for one that needs none.
    ///
    /// # Errors
    /// If the sockets cannot be had.
    pub(super) fn open(
        namespace: &Namespace,
        server: Option<SocketAddr>,
        base: Ipv4Addr,
    ) -> nix::Result<Option<DnsForwarder>> {
        let Some(SocketAddr::V4(server)) = server else { return Ok(None) };
        let front = namespace.socket(AddressFamily::Inet, SockType::Datagram)?;
        bind(front.as_raw_fd(), &SockaddrIn::from(server))?;
        let front = without_waiting(front)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(&front, EpollEvent::new(EpollFlags::EPOLLIN, FRONT))?;
        let server = SockaddrIn::from(SocketAddrV4::new(base, super::names::PORT));
        Ok(Some(DnsForwarder { front, server, epoll, asked: VecDeque::new(), next: FRONT + 1 }))
    }

    /// Takes questions and answers on.
    pub(super) fn handle_ready(&mut self, namespace: &Namespace) {
        let mut ready = [EpollEvent::empty(); 32];
        let count = self.epoll.wait(&mut ready, EpollTimeout::ZERO).unwrap_or(0);
        for event in &ready[..count] {
            // Whoever asked asks again if this fails.
            let _ = match event.data() {
                FRONT => self.ask(namespace),
                number => self.answer(number),
            };
        }
    }

    fn ask(&mut self, namespace: &Namespace) -> nix::Result<()> {
        let mut question = [0; 4096];
        let (len, from) = recvfrom::<SockaddrIn>(self.front.as_raw_fd(), &mut question)?;
        let from = from.ok_or(Errno::EDESTADDRREQ)?;
        let socket = namespace.socket(AddressFamily::Inet, SockType::Datagram)?;
        connect(socket.as_raw_fd(), &self.server)?;
        send(socket.as_raw_fd(), &question[..len], MsgFlags::MSG_NOSIGNAL)?;
        self.epoll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, self.next))?;
        if self.asked.len() >= MOST {
            self.asked.pop_front();
        }
        self.asked.push_back(Question { number: self.next, from, socket });
        self.next += 1;
        Ok(())
    }

    fn answer(&mut self, number: u64) -> nix::Result<()> {
        let place = self.asked.iter().position(|question| question.number == number);
        let Some(question) = place.and_then(|place| self.asked.remove(place)) else {
            return Ok(());
        };
        let mut answer = vec![0; LONGEST];
        let len = recv(question.socket.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT)?;
        let to = &question.from;
        sendto(self.front.as_raw_fd(), &answer[..len], to, MsgFlags::MSG_DONTWAIT).map(drop)
    }
}

/// The same socket, so that a read answers at once: the kernel may announce a datagram and then find
/// its checksum wrong, and the link must not wait for the next.
fn without_waiting(socket: OwnedFd) -> nix::Result<OwnedFd> {
    let socket = UdpSocket::from(socket);
    let set = socket.set_nonblocking(true);
    set.map_err(|error| error.raw_os_error().map_or(Errno::EINVAL, Errno::from_raw))?;
    Ok(socket.into())
}

impl AsFd for DnsForwarder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.0.as_fd()
    }
}
