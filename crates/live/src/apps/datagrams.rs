//! The ends of a datagram flow on sockets of the kernel.
//!
//! Packets are as long as the simulated ones, headers included, and leave at the same intervals.
//! Where the payload has room its first octets say when it was sent, so that who reads it knows
//! the one-way delay between the two calls.
//!
//! Not modelled: a datagram that the kernel has no room for is lost, and counted, as any
//! application with a non-blocking socket would lose it.

use super::connection::{Desk, Left};
use super::{AppNews, Call, EndReport};
use ackord_events::EndpointId;
use ackord_traffic::{DATAGRAM_HEADERS, Datagrams};
use ackord_units::{Bytes, Time};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// What begins a payload that says when it was sent.
const MARK: [u8; 4] = *b"ackd";
/// The mark and a time in nanoseconds.
const STAMP: usize = 12;
/// Reads in a row before the other ends get their turn.
const READS_IN_A_ROW: usize = 64;
/// The longest payload of a datagram.
const LONGEST: usize = 65_535;

/// One end of a datagram flow, bound and connected.
#[derive(Debug)]
pub(super) struct DatagramEnd {
    pub(super) report: EndReport,
    source: Option<Datagrams>,
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl DatagramEnd {
    pub(super) fn new(
        endpoint: EndpointId,
        source: Option<Datagrams>,
        socket: OwnedFd,
    ) -> DatagramEnd {
        let buffer = vec![0; LONGEST];
        DatagramEnd { report: EndReport::new(endpoint), source, socket, buffer }
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
        let (at, endpoint) = (desk.now, self.report.endpoint);
        while let Some(packet) = source.next(at) {
            let payload = packet.saturating_sub(DATAGRAM_HEADERS);
            let octets = &mut self.buffer[..(payload.get() as usize).min(LONGEST)];
            stamp(octets, at);
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            match send(self.socket.as_raw_fd(), octets, flags) {
                Ok(_) => {
                    self.report.datagrams += 1;
                    self.report.written += payload;
                    desk.news.push(AppNews::DatagramSent { at, endpoint, payload });
                }
                // Nobody there to take it yet, or any more: it went out all the same, and the
                // error is an earlier one's.
                Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::ECONNREFUSED | Errno::EINTR) => {
                    self.report.datagrams_refused += 1;
                }
                Err(errno) => return self.fail(Call::Send, errno, desk),
            }
        }
    }

    /// Takes what has arrived.
    pub(super) fn ready(&mut self, desk: &mut Desk<'_>) -> Left {
        let (at, endpoint) = (desk.now, self.report.endpoint);
        for _ in 0..READS_IN_A_ROW {
            let read = recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_DONTWAIT);
            match read {
                Ok(len) => {
                    let payload = Bytes(len as u64);
                    self.report.datagrams += 1;
                    self.report.read += payload;
                    let sent = stamped(&self.buffer[..len]);
                    let one_way_delay = sent.map(|sent| at.saturating_since(sent));
                    desk.news.push(AppNews::DatagramReceived {
                        at,
                        endpoint,
                        payload,
                        one_way_delay,
                    });
                }
                Err(Errno::EAGAIN) => return Left::Nothing,
                Err(Errno::EINTR | Errno::ECONNREFUSED) => {}
                Err(errno) => {
                    self.fail(Call::Receive, errno, desk);
                    return Left::Nothing;
                }
            }
        }
        Left::Something
    }

    fn fail(&mut self, call: Call, errno: Errno, desk: &mut Desk<'_>) {
        self.source = None;
        if self.report.failure.is_none() {
            self.report.failure = Some((call, errno));
            let endpoint = self.report.endpoint;
            desk.news.push(AppNews::Failed { at: desk.now, endpoint, call, errno });
        }
    }
}

/// Says in a payload when it was sent, if there is room.
fn stamp(payload: &mut [u8], at: Time) {
    if let Some(room) = payload.first_chunk_mut::<STAMP>() {
        room[..4].copy_from_slice(&MARK);
        room[4..].copy_from_slice(&at.as_nanos().to_be_bytes());
    }
}

/// When a payload says that it was sent.
fn stamped(payload: &[u8]) -> Option<Time> {
    let [a, b, c, d, nanos @ ..] = payload.first_chunk::<STAMP>()?;
    ([*a, *b, *c, *d] == MARK).then(|| Time::from_nanos(u64::from_be_bytes(*nanos)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_with_room_says_when_it_was_sent_and_others_say_nothing() {
        let at = Time::from_nanos(123_456_789_012);
        let mut payload = [0; 20];
        assert_eq!(stamped(&payload), None, "zeros, as a simulated sender's");
        stamp(&mut payload, at);
        assert_eq!(stamped(&payload), Some(at));
        let mut short = [0; STAMP - 1];
        stamp(&mut short, at);
        assert_eq!((short, stamped(&short)), ([0; STAMP - 1], None));
    }
}
