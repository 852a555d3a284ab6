//! Datagrams many at a time, each with the instant at which the kernel received it.

#![allow(unsafe_code, reason = "nix's recvmmsg borrows its buffers anew for every call")]

use nix::errno::Errno;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Datagrams taken in one call.
const BATCH: usize = 64;
/// Bytes of a datagram that are kept.
const LONGEST: usize = 2048;
/// Room for a control message with a time.
const CONTROL: usize = 64;

/// Room for a batch of datagrams.
pub struct Stamped {
    bytes: Vec<[u8; LONGEST]>,
    control: Vec<Control>,
    lengths: Vec<usize>,
    stamps: Vec<Option<u64>>,
}

/// Control messages begin where a `cmsghdr` may.
#[derive(Clone, Copy)]
#[repr(align(8))]
struct Control([u8; CONTROL]);

impl Default for Stamped {
    /// Empty room.
    fn default() -> Stamped {
        Stamped {
            bytes: vec![[0; LONGEST]; BATCH],
            control: vec![Control([0; CONTROL]); BATCH],
            lengths: vec![0; BATCH],
            stamps: vec![None; BATCH],
        }
    }
}

impl Stamped {
    /// Takes what has come, without waiting; how many datagrams that were.
    ///
    /// # Errors
    /// What recvmmsg(2) says; EAGAIN where nothing has come.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Errno> {
        // SAFETY: all zeros is a valid value of these plain structures.
        let mut parts: [libc::iovec; BATCH] = unsafe { zeroed() };
        // SAFETY: likewise.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { zeroed() };
        for index in 0..BATCH {
            parts[index].iov_base = self.bytes[index].as_mut_ptr().cast();
            parts[index].iov_len = LONGEST;
            let header = &mut headers[index].msg_hdr;
            header.msg_iov = &raw mut parts[index];
            header.msg_iovlen = 1;
            header.msg_control = self.control[index].0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL as _;
        }
        // SAFETY: every header points to buffers of the lengths it says, which live through the
        // call.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                BATCH as libc::c_uint,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let count = Errno::result(count)? as usize;
        for (index, header) in headers.iter().enumerate().take(count) {
            self.lengths[index] = (header.msg_len as usize).min(LONGEST);
            // SAFETY: the kernel has filled in this header and what it points to.
            self.stamps[index] = unsafe { stamp_of(&header.msg_hdr) };
        }
        Ok(count)
    }

    /// A datagram of the last batch, cut off after 2048 bytes, and the nanoseconds since 1970 at
    /// which the kernel received it, where the socket asks for them (SO_TIMESTAMPNS).
    pub fn datagram(&self, index: usize) -> (&[u8], Option<u64>) {
        (&self.bytes[index][..self.lengths[index]], self.stamps[index])
    }
}

/// The time in the control messages of a received header.
///
/// # Safety
/// The kernel has filled in `header`, and what it points to is still there.
unsafe fn stamp_of(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the macros walk the control messages that the kernel has written.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            let is_stamp = (*message).cmsg_level == libc::SOL_SOCKET
                && (*message).cmsg_type == libc::SCM_TIMESTAMPNS
                && (*message).cmsg_len as usize >= size_of::<libc::timespec>();
            if is_stamp {
                let time: libc::timespec =
                    std::ptr::read_unaligned(libc::CMSG_DATA(message).cast());
                return Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::socket::{setsockopt, sockopt::ReceiveTimestampns};
    use std::net::UdpSocket;
    use std::os::fd::AsFd;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    fn now() -> u128 {
        SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos()
    }

    /// The kernel begins to stamp what arrives a moment after a first socket has asked for it; until
    /// then it stamps what is read.
    fn wait_until_arrivals_are_stamped(sender: &UdpSocket, receiver: &UdpSocket) {
        let mut stamped = Stamped::default();
        for _ in 0..100 {
            sender.send(b"a stamp?").expect("sent");
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(stamped.receive(receiver.as_fd()), Ok(1));
            let (_, stamp) = stamped.datagram(0);
            if now() - u128::from(stamp.expect("it was asked for")) > 10_000_000 {
                return;
            }
        }
        panic!("after two seconds the kernel still stamps what is read");
    }

    #[test]
    fn datagrams_come_in_order_with_the_instant_of_their_arrival() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        setsockopt(&receiver, ReceiveTimestampns, &true).expect("an option of every kernel");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("another");
        sender.connect(receiver.local_addr().expect("bound")).expect("there it is");
        wait_until_arrivals_are_stamped(&sender, &receiver);
        let before = now();
        (0..100u8).for_each(|number| assert_eq!(sender.send(&[number; 9]).expect("sent"), 9));
        let (mut stamped, mut got) = (Stamped::default(), Vec::new());
        let mut last = before as u64;
        while got.len() < 100 {
            // The kernel may receive, and stamp, after the last was sent.
            let mut watched = [PollFd::new(receiver.as_fd(), PollFlags::POLLIN)];
            let ready = poll(&mut watched, PollTimeout::from(60_000_u16)).expect("descriptors");
            assert!(ready > 0, "{} of 100 have come", got.len());
            let count = stamped.receive(receiver.as_fd()).expect("they are there");
            let after = now();
            for index in 0..count {
                let (bytes, stamp) = stamped.datagram(index);
                assert_eq!(bytes.len(), 9);
                let stamp = stamp.expect("it was asked for");
                assert!(stamp >= last && u128::from(stamp) <= after, "{last} {stamp} {after}");
                (last, _) = (stamp, got.push(bytes[0]));
            }
        }
        assert_eq!(got, (0..100).collect::<Vec<u8>>());
        assert_eq!(stamped.receive(receiver.as_fd()), Err(Errno::EAGAIN));
    }
}
