//! Orders to a host, as frames of a protocol that nobody else has.
//!
//! They come through the host's network card, at an instant like anything else that comes, and no
//! part of its TCP/IP sees them.

use super::messages::Order;
use ackord_sys::socket::packet_socket;
use nix::sys::socket::{MsgFlags, recv, send};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// "Local experimental" of IEEE 802.
const PROTOCOL: u16 = 0x88b5;
/// Bytes before what a frame carries: two hardware addresses and the protocol.
pub(super) const HEADER: usize = 14;

/// A frame with an order, to a card of this address.
pub(crate) fn order_frame(to: [u8; 6], order: Order) -> Vec<u8> {
    let mut frame = to.to_vec();
    frame.extend(to);
    frame.extend(PROTOCOL.to_be_bytes());
    let (kind, number) = match order {
        Order::Begin(at) => (1_u8, at),
        Order::Stop => (2, 0),
    };
    frame.push(kind);
    frame.extend(number.to_be_bytes());
    // The shortest frame there is.
    frame.resize(60, 0);
    frame
}

/// Whether a host has sent this frame to say that it is there.
pub(crate) fn is_hello(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&PROTOCOL.to_be_bytes())
}

/// The host's end.
pub(super) struct Orders {
    socket: OwnedFd,
}

impl Orders {
    /// Listens at the device of this number.
    pub(super) fn listen(device: i32) -> io::Result<Orders> {
        let socket = packet_socket(device, PROTOCOL)?;
        Ok(Orders { socket })
    }

    /// Says that the host is there.
    pub(super) fn hello(&self) -> io::Result<()> {
        let frame = order_frame([2; 6], Order::Stop);
        send(self.socket.as_raw_fd(), &frame, MsgFlags::empty())?;
        Ok(())
    }

    /// Readable when there is an order.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The next order.
    pub(super) fn next(&self) -> Option<Order> {
        let mut frame = [0; 128];
        loop {
            let got = recv(self.socket.as_raw_fd(), &mut frame, MsgFlags::MSG_DONTWAIT).ok()?;
            let [kind, number @ ..] = &frame[HEADER..HEADER + 9] else { continue };
            let number = u64::from_be_bytes(number.try_into().unwrap_or_default());
            match (got >= HEADER + 9, kind) {
                (true, 1) => return Some(Order::Begin(number)),
                (true, 2) => return Some(Order::Stop),
                _ => {}
            }
        }
    }
}
