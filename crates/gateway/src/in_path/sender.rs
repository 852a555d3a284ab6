//! What leaves the queue goes out by a packet socket, with its virtio header: a card cuts up and fills in what
//! offloading has left to it.

#![allow(unsafe_code, reason = "socket options and a control message without a wrapper")]

use super::frames::Frame;
use crate::LinkKind;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Bytes that may wait in the interface's own queue.
const SEND_BUFFER: libc::c_int = 4 << 20;
/// SO_COOKIE (linux/socket.h).
const SO_COOKIE: libc::c_int = 57;

/// Sends frames by one interface.
#[derive(Debug)]
pub(super) struct Sender {
    socket: OwnedFd,
    index: u32,
    kind: LinkKind,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Yes,
    /// Not yet: the interface has enough to do.
    Later,
    /// The interface's own queue dropped it.
    Dropped,
    /// The interface does not send such a frame.
    Refused,
}

impl Sender {
    pub(super) fn open(index: u32, kind: LinkKind) -> io::Result<Sender> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
        let sender = Sender { socket, index, kind };
        sender.set(libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
        if sender.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, SEND_BUFFER).is_err() {
            sender.set(libc::SOL_SOCKET, libc::SO_SNDBUF, SEND_BUFFER)?;
        }
        // Without a protocol it receives nothing.
        let address = sender.address(0);
        let len = size_of::<libc::sockaddr_ll>() as u32;
        // SAFETY: an address of this length.
        let bound =
            unsafe { libc::bind(sender.socket.as_raw_fd(), (&raw const address).cast(), len) };
        Errno::result(bound)?;
        Ok(sender)
    }

    fn set(
        &self,
        level: libc::c_int,
        option: libc::c_int,
        value: libc::c_int,
    ) -> Result<(), Errno> {
        let len = size_of::<libc::c_int>() as u32;
        let socket = self.socket.as_raw_fd();
        // SAFETY: a number of this length.
        let answer =
            unsafe { libc::setsockopt(socket, level, option, (&raw const value).cast(), len) };
        Errno::result(answer).map(drop)
    }

    /// The number that this socket, and no other of this kernel, ever has.
    pub(super) fn cookie(&self) -> Result<u64, Errno> {
        let mut cookie = 0_u64;
        let mut len = size_of::<u64>() as u32;
        let socket = self.socket.as_raw_fd();
        // SAFETY: a number of this length, to be written.
        let answer = unsafe {
            let to = (&raw mut cookie).cast();
            libc::getsockopt(socket, libc::SOL_SOCKET, SO_COOKIE, to, &raw mut len)
        };
        Errno::result(answer).map(|_| cookie)
    }

    fn address(&self, protocol: u16) -> libc::sockaddr_ll {
        libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: protocol.to_be(),
            sll_ifindex: self.index as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// Where the interface is down or gone.
    pub(super) fn send(&self, frame: &Frame) -> io::Result<Sent> {
        match self.send_message(frame) {
            Ok(_) => Ok(Sent::Yes),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(Sent::Later),
            Err(Errno::ENOBUFS | Errno::ENOMEM) => Ok(Sent::Dropped),
            Err(Errno::EINVAL | Errno::EMSGSIZE | Errno::EIO) => Ok(Sent::Refused),
            Err(errno) => Err(errno.into()),
        }
    }

    fn send_message(&self, frame: &Frame) -> Result<usize, Errno> {
        let all = frame.with_header();
        let mut part = libc::iovec { iov_base: all.as_ptr().cast_mut().cast(), iov_len: all.len() };
        // A bare packet says by itself what it is, but nobody looks.
        let is_v6 = frame.bytes().first().is_some_and(|first| first >> 4 == 6);
        let mut address =
            self.address(if is_v6 { libc::ETH_P_IPV6 } else { libc::ETH_P_IP } as u16);
        let mut control = [0_u64; 4];
        // SAFETY: all-zero bytes are a value of this structure; what it points to lives through the call.
        unsafe {
            let mut message: libc::msghdr = zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            if self.kind == LinkKind::Bare {
                message.msg_name = (&raw mut address).cast();
                message.msg_namelen = size_of::<libc::sockaddr_ll>() as u32;
            }
            if frame.mark != 0 {
                message.msg_control = control.as_mut_ptr().cast();
                message.msg_controllen = libc::CMSG_SPACE(4) as _;
                let mark = libc::CMSG_FIRSTHDR(&raw const message);
                (*mark).cmsg_level = libc::SOL_SOCKET;
                (*mark).cmsg_type = libc::SO_MARK;
                (*mark).cmsg_len = libc::CMSG_LEN(4) as _;
                libc::CMSG_DATA(mark).cast::<u32>().write_unaligned(frame.mark);
            }
            let sent =
                libc::sendmsg(self.socket.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT);
            Errno::result(sent).map(|sent| sent as usize)
        }
    }
}

impl AsFd for Sender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
