//! Packets one by one, from the queue of a socket (packet(7), PACKET_AUXDATA).

use super::seen::Seen;
use super::{Ring, VNET_HEADER, set, set_at};
use ackord_daemon::wall_nanos;
use nix::errno::Errno;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes that may wait: while blocks are made ready somebody else reads nothing.
const WAITING: libc::c_int = 4 << 20;
/// Not more at a time: others are to be read, too.
const AT_A_TIME: u32 = 4_096;

/// Where a packet is put that is read.
#[derive(Debug)]
pub(super) struct Queue {
    bytes: Vec<u8>,
}

impl Queue {
    pub(super) fn new(socket: &OwnedFd) -> io::Result<Queue> {
        set(socket, libc::PACKET_AUXDATA, 1)?;
        set_at(socket, (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE), WAITING)?;
        Ok(Queue { bytes: vec![0; VNET_HEADER + Ring::FRAME] })
    }

    /// Shows the packets that wait. Their time is that of being read: somebody is woken for each.
    pub(super) fn read(&mut self, socket: &OwnedFd, show: &mut impl FnMut(&Seen<'_>)) -> u32 {
        let mut shown = 0;
        // An error of the interface is told to whoever waits for the socket.
        while shown < AT_A_TIME
            && let Ok((len, address, said)) = receive(socket, &mut self.bytes)
        {
            let bytes = &self.bytes[..len];
            if let Some(seen) = Seen::received(bytes, &address, &said, wall_nanos()) {
                show(&seen);
                shown += 1;
            }
        }
        shown
    }
}

/// Room for what the kernel says of a packet, aligned as a header of it is.
#[repr(C)]
struct Said {
    header: libc::cmsghdr,
    packet: libc::tpacket_auxdata,
}

fn receive(
    socket: &OwnedFd,
    bytes: &mut [u8],
) -> Result<(usize, libc::sockaddr_ll, libc::tpacket_auxdata), Errno> {
    // SAFETY: all of them are plain numbers and null pointers, for which zeros are sound.
    let (mut address, mut said, mut message): (libc::sockaddr_ll, Said, libc::msghdr) =
        unsafe { (zeroed(), zeroed(), zeroed()) };
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    message.msg_name = (&raw mut address).cast();
    message.msg_namelen = size_of::<libc::sockaddr_ll>() as u32;
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    (message.msg_control, message.msg_controllen) =
        ((&raw mut said).cast(), size_of::<Said>() as _);
    // SAFETY: it may write what it points to, of the lengths that it says.
    let answer = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let len = usize::try_from(Errno::result(answer)?).map_err(|_| Errno::EIO)?;
    Ok((len, address, said.packet))
}
