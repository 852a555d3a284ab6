//! The ends of a datagram flow on sockets of the kernel.
//!
//! Packets are as long as the simulated ones, headers included, and leave at the same intervals,
//! filled with any bytes. What is sent and received, and how long it took, is told from the wire.
//!
//! Not modelled: a datagram that the kernel has no room for is lost, and counted, as any
//! application with a non-blocking socket would lose it.

use super::desk::Desk;
use super::{AppEvent, Call, EndReport};
use ackord_events::EndpointId;
use ackord_traffic::{DATAGRAM_HEADERS, Datagrams};
use ackord_units::{Bytes, Time};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Reads in a row before the other ends get their turn.
const READS_IN_A_ROW: usize = 64;
/// The longest payload of a datagram over IPv4 (RFC 768, RFC 791).
const LONGEST: usize = 65_507;

/// One end of a datagram flow, bound and connected.
#[derive(Debug)]
pub(super) struct DatagramEnd {
    pub(super) report: EndReport,
    source: Option<Datagrams>,
    socket: OwnedFd,
}

impl DatagramEnd {
    pub(super) fn new(
        endpoint: EndpointId,
        source: Option<Datagrams>,
        socket: OwnedFd,
    ) -> DatagramEnd {
        DatagramEnd { report: EndReport::new(endpoint), source, socket }
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// When the next packet leaves.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.source.as_ref().map(Datagrams::deadline).filter(|at| *at != Time::NEVER)
    }

    /// Sends what is due.
    pub(super) fn send_due(&mut self, desk: &mut Desk<'_>) {
        let Some(source) = &mut self.source else { return };
        while let Some(packet) = source.next(desk.now()) {
            let payload = (packet.saturating_sub(DATAGRAM_HEADERS).get() as usize).min(LONGEST);
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            match send(self.socket.as_raw_fd(), &desk.piece[..payload], flags) {
                Ok(_) => {
                    self.report.datagrams += 1;
                    self.report.written += Bytes(payload as u64);
                }
                // No room; or an earlier one was answered that nobody is there.
                Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::ECONNREFUSED | Errno::EINTR) => {
                    self.report.datagrams_refused += 1;
                }
                Err(errno) => return self.fail(Call::Send, errno, desk),
            }
        }
    }

    /// Takes what has arrived.
    pub(super) fn ready(&mut self, desk: &mut Desk<'_>) -> bool {
        // With MSG_TRUNC the length is told although nothing is copied (udp(7)).
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
        for _ in 0..READS_IN_A_ROW {
            match recv(self.socket.as_raw_fd(), &mut [], flags) {
                Ok(len) => {
                    self.report.datagrams += 1;
                    self.report.read += Bytes(len as u64);
                }
                Err(Errno::EAGAIN) => return false,
                Err(Errno::EINTR | Errno::ECONNREFUSED) => {}
                Err(errno) => {
                    self.fail(Call::Receive, errno, desk);
                    return false;
                }
            }
        }
        true
    }

    fn fail(&mut self, call: Call, errno: Errno, desk: &mut Desk<'_>) {
        self.source = None;
        if self.report.failure.is_none() {
            self.report.failure = Some((call, errno));
            desk.tell(self.report.endpoint, AppEvent::Failed { call, errno });
        }
    }
}
