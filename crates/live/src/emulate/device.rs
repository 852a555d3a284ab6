//! What stands at a foreign host's node: where its packets come from and go to.

use ackord_units::Time;
use ackord_wire::FlowId;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// The way out of the emulation at one node, and in.
pub(crate) trait Device {
    /// What becomes readable when there may be a packet. The same through the device's life.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// The longest IP packet that can come, in bytes.
    fn longest(&self) -> usize;

    /// Moves the next packet into `buffer`, which has room for [`Device::longest`]; its length, or
    /// nothing if there is none. Called when the descriptor is ready and when the
    /// [deadline](Device::deadline) has passed, until it answers nothing; `now` is a recent present.
    ///
    /// # Errors
    /// What the system answers when the device is gone.
    fn read_packet(&mut self, now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Takes a packet of `flow` out.
    ///
    /// # Errors
    /// What the system answers; the packet is then lost, as by a network card without room.
    fn write_packet(&mut self, now: Time, flow: FlowId, bytes: &[u8]) -> io::Result<()>;

    /// When [`Device::read_packet`] wants to be called although the descriptor may not be ready; an
    /// instant in the past for "at once".
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Whether its host lives in the emulation's own time: it gets packets at the instants at which
    /// they leave the path, what it does because of that enters the path at the same instant, and it
    /// is read at its [deadline](Device::deadline), however late the emulator comes to all this.
    fn is_local(&self) -> bool {
        false
    }
}

/// A TUN device: the stock kernel, and every program that uses its sockets, is behind it.
#[derive(Debug)]
pub(crate) struct TunDevice {
    tun: File,
    mtu: u16,
}

impl TunDevice {
    /// The device through `tun`, non-blocking, without packet information and without offloads.
    pub(crate) fn new(tun: File, mtu: u16) -> TunDevice {
        TunDevice { tun, mtu }
    }
}

impl Device for TunDevice {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }

    fn longest(&self) -> usize {
        usize::from(self.mtu)
    }

    #[inline]
    fn read_packet(&mut self, _now: Time, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.tun.read(buffer) {
                Ok(len) => return Ok(Some(len)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    #[inline]
    fn write_packet(&mut self, _now: Time, _flow: FlowId, bytes: &[u8]) -> io::Result<()> {
        self.tun.write(bytes).map(drop)
    }
}
