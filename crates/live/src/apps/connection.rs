//! One end of a connection on a socket of the kernel: what its application writes and reads.
//!
//! Every write of the application is one send(2), so that the kernel's Nagle algorithm sees what
//! the simulator's does. What the kernel takes of it only in part is finished before the
//! application is asked again. What arrives is discarded in the kernel without being copied.
//!
//! A side that has read the end of its peer's data finishes too, as in the simulator; the end is
//! over when the kernel's state is CLOSED, which is what a socket in TIME-WAIT says as well.

use super::desk::{Desk, PIECE};
use super::reader::Reader;
use super::{AppEvent, Call, EndReport, SocketOption};
use crate::tcp_info::TcpInfo;
use ackord_events::EndpointId;
use ackord_sys::socket::{
    TCP_INFO_ROOM, connect, tcp_info_bytes, tell_of_acknowledgments, unacknowledged,
};
use ackord_traffic::{Socket, Step, Workload};
use ackord_units::{Bytes, Time};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, Shutdown, getsockopt, recv, send, shutdown, sockopt};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
/// Reads in a row before the other ends get their turn.
const READS_IN_A_ROW: usize = 16;

/// One end of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) report: EndReport,
    pub(super) remote: SocketAddr,
    options: Vec<SocketOption>,
    workload: Workload,
    phase: Phase,
    output: OutputState,
    /// Everything has been read.
    input_ended: bool,
    /// Of a write: not taken by the kernel yet.
    pending: usize,
    /// The kernel did not take all of the last write; its readiness says when that has changed.
    buffer_full: bool,
    socket: Option<OwnedFd>,
    /// Who reads, if it is not done when something has come.
    reader: Option<Reader>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client has not connected yet, or nobody has connected to the server.
    Before,
    /// The handshake is under way.
    Connecting,
    Running,
    /// Closed, failed or cut off.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputState {
    Open,
    /// Finishes as soon as the kernel has taken what is pending.
    Finishing,
    /// The kernel has been told.
    Finished,
}

/// What the application sees of its socket.
struct View<'a> {
    socket: BorrowedFd<'a>,
    writable: Bytes,
}

impl Socket for View<'_> {
    /// As much as one call may write, as long as the kernel takes more: how much it really takes
    /// (its buffer grows as it goes) it says itself, and the rest of a write waits here.
    fn writable(&self) -> Bytes {
        self.writable
    }

    fn is_drained(&self) -> bool {
        unacknowledged(self.socket) == Ok(0)
    }
}

impl Connection {
    pub(super) fn new(
        endpoint: EndpointId,
        remote: SocketAddr,
        options: Vec<SocketOption>,
        workload: Workload,
    ) -> Connection {
        Connection {
            report: EndReport::new(endpoint),
            remote,
            options,
            workload,
            phase: Phase::Before,
            output: OutputState::Open,
            input_ended: false,
            pending: 0,
            buffer_full: false,
            socket: None,
            reader: None,
        }
    }

    /// Has a thread read from now on, if it takes whatever comes; its socket, if that is new.
    pub(super) fn read_in_thread(&mut self) -> Option<BorrowedFd<'_>> {
        let wants = self.phase == Phase::Running && !self.input_ended;
        if !wants || self.reader.is_some() || !self.workload.is_idle() {
            return None;
        }
        let socket = self.socket.as_ref()?.as_fd();
        // Without a thread left it goes on as it is.
        self.reader = Some(Reader::start(socket).ok()?);
        Some(socket)
    }

    /// The socket is closed, and nobody reads any more.
    fn let_go(&mut self) {
        if let Some(reader) = self.reader.take() {
            self.report.read += Bytes(reader.finish());
        }
        self.socket = None;
    }

    /// Opens the connection on its bound `socket`.
    pub(super) fn open(&mut self, socket: OwnedFd, desk: &mut Desk<'_>) {
        let result = connect(socket.as_fd(), self.remote);
        self.socket = Some(socket);
        match result {
            Ok(()) | Err(Errno::EINPROGRESS) => self.phase = Phase::Connecting,
            Err(errno) => self.fail(Call::Connect, errno, desk),
        }
    }

    /// Whether it waits for a peer to connect.
    pub(super) fn is_before(&self) -> bool {
        self.phase == Phase::Before
    }

    /// A peer has connected.
    pub(super) fn accepted(&mut self, socket: OwnedFd, desk: &mut Desk<'_>) {
        let options = std::mem::take(&mut self.options);
        self.report.apply(socket.as_fd(), &options);
        self.socket = Some(socket);
        self.begin(desk);
        self.act(desk);
    }

    /// Something has happened on the socket; `room` says whether the kernel takes more. It is read
    /// until a read brings less than there is room for: nothing more is there (epoll(7)), and what
    /// comes later is told anew; or `to_the_end`, which may already be there and is not told twice.
    pub(super) fn ready(&mut self, room: bool, to_the_end: bool, desk: &mut Desk<'_>) -> bool {
        if self.phase == Phase::Connecting {
            match self.handshake_result() {
                Ok(None) => return false,
                Ok(Some(())) => self.begin(desk),
                Err(errno) => {
                    self.fail(Call::Connect, errno, desk);
                    return false;
                }
            }
        }
        if room {
            self.buffer_full = false;
        }
        self.forget_acknowledgments();
        self.go_on(to_the_end, desk)
    }

    /// Reads a bounded amount, lets the application act, and looks whether the end is over.
    pub(super) fn go_on(&mut self, to_the_end: bool, desk: &mut Desk<'_>) -> bool {
        if self.phase != Phase::Running {
            return false;
        }
        let left = self.read(to_the_end, desk);
        self.act(desk);
        self.look_whether_over(desk);
        left
    }

    /// When the application wants to act whatever happens.
    pub(super) fn deadline(&self) -> Option<Time> {
        let acts = self.phase == Phase::Running && self.output == OutputState::Open;
        // What is pending comes first, and the kernel's readiness tells when.
        if acts && self.pending == 0 { self.workload.deadline() } else { None }
    }

    /// Asks the kernel about the connection.
    pub(super) fn sample(&mut self, desk: &mut Desk<'_>) {
        if self.phase == Phase::Running && self.ask().is_some() {
            self.tell_sample(desk);
        }
    }

    /// The run is over: asks once more and lets the socket go.
    pub(super) fn cut_off(&mut self, desk: &mut Desk<'_>) {
        if self.phase == Phase::Running && self.ask().is_some() {
            self.tell_sample(desk);
        }
        self.phase = Phase::Over;
        self.let_go();
    }

    /// Whether the handshake has ended, and how.
    fn handshake_result(&self) -> Result<Option<()>, Errno> {
        let Some(socket) = &self.socket else { return Ok(None) };
        match getsockopt(socket, sockopt::SocketError)? {
            0 => {}
            error => return Err(Errno::from_raw(error)),
        }
        let state = self.info().map(|info| info.state);
        // A handshake that is under way still: SYN-SENT, or SYN-RECEIVED when both connect.
        Ok((!matches!(state, Some(2 | 3))).then_some(()))
    }

    /// The connection stands: the application starts.
    fn begin(&mut self, desk: &mut Desk<'_>) {
        self.phase = Phase::Running;
        self.report.established_at = Some(desk.now());
        if let Some(socket) = self.socket.as_ref().filter(|_| self.workload.waits_for_acks())
            && let Err(errno) = tell_of_acknowledgments(socket.as_fd())
        {
            self.report.options_refused.push(("word of acknowledgments".to_owned(), errno));
        }
        desk.tell(self.report.endpoint, AppEvent::Established);
        self.workload.start(desk.now());
    }

    /// Lets the application do what it wants to.
    pub(super) fn act(&mut self, desk: &mut Desk<'_>) {
        while self.phase == Phase::Running {
            if self.pending > 0 && !self.write_pending(desk) {
                return;
            }
            match self.output {
                OutputState::Open => {
                    if !self.step(desk) {
                        return;
                    }
                }
                OutputState::Finishing => {
                    self.output = OutputState::Finished;
                    // It fails where the peer has reset the connection: reading tells of that.
                    let _ = self.socket.as_ref().map(|s| shutdown(s.as_raw_fd(), Shutdown::Write));
                }
                OutputState::Finished => return,
            }
        }
    }

    /// One step of the application; false when it waits.
    fn step(&mut self, desk: &mut Desk<'_>) -> bool {
        if self.workload.is_idle() {
            return false;
        }
        let Some(socket) = &self.socket else { return false };
        let writable = if self.buffer_full { Bytes::ZERO } else { Bytes(PIECE as u64) };
        let (at, endpoint) = (desk.now(), self.report.endpoint);
        match self.workload.next(at, &View { socket: socket.as_fd(), writable }) {
            Step::Write(bytes) => self.pending = bytes.get() as usize,
            Step::Began(transfer) => desk.tell(endpoint, AppEvent::Began(transfer)),
            Step::Completed(transfer) => desk.tell(endpoint, AppEvent::Completed(transfer)),
            Step::Wait => return false,
            Step::Close => self.output = OutputState::Finishing,
        }
        true
    }

    /// Gives the kernel what is pending; false if it does not take all of it now.
    fn write_pending(&mut self, desk: &mut Desk<'_>) -> bool {
        let Some(socket) = &self.socket else { return false };
        if self.buffer_full {
            return false;
        }
        let bytes = &desk.piece[..self.pending];
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
        match send(socket.as_raw_fd(), bytes, flags) {
            Ok(taken) => {
                self.pending -= taken;
                self.report.written += Bytes(taken as u64);
                if self.pending > 0 {
                    self.buffer_full = true;
                }
            }
            Err(Errno::EAGAIN) => self.buffer_full = true,
            Err(Errno::EINTR) => {}
            Err(errno) => self.fail(Call::Send, errno, desk),
        }
        self.pending == 0 || !self.buffer_full
    }

    fn read(&mut self, to_the_end: bool, desk: &mut Desk<'_>) -> bool {
        for _ in 0..READS_IN_A_ROW {
            let (Some(socket), false) = (&self.socket, self.input_ended) else {
                return false;
            };
            // TCP discards what MSG_TRUNC reads without copying it (tcp(7)).
            let flags = MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT;
            match recv(socket.as_raw_fd(), desk.piece, flags) {
                Ok(0) => {
                    self.input_ended = true;
                    self.tell_what_is_complete(desk);
                    if self.output == OutputState::Open {
                        self.output = OutputState::Finishing;
                    }
                }
                Ok(len) => {
                    let bytes = Bytes(len as u64);
                    self.report.read += bytes;
                    if !self.workload.is_idle() {
                        self.workload.handle_data(desk.now(), bytes);
                    }
                    if len < desk.piece.len() && !to_the_end {
                        return false;
                    }
                }
                Err(Errno::EAGAIN) => return false,
                Err(Errno::EINTR) => {}
                Err(errno) => {
                    self.fail(Call::Receive, errno, desk);
                    return false;
                }
            }
        }
        true
    }

    /// The peer has finished: what its last data have completed is told; nothing more is written.
    fn tell_what_is_complete(&mut self, desk: &mut Desk<'_>) {
        let Some(socket) = &self.socket else { return };
        let (at, endpoint) = (desk.now(), self.report.endpoint);
        let view = View { socket: socket.as_fd(), writable: Bytes::ZERO };
        while self.output == OutputState::Open {
            match self.workload.next(at, &view) {
                Step::Completed(transfer) => desk.tell(endpoint, AppEvent::Completed(transfer)),
                Step::Began(_) => {}
                Step::Write(_) | Step::Wait | Step::Close => return,
            }
        }
    }

    fn look_whether_over(&mut self, desk: &mut Desk<'_>) {
        let done = self.input_ended && self.output == OutputState::Finished;
        if self.phase != Phase::Running || !done {
            return;
        }
        if self.ask().is_none_or(|info| info.state == TcpInfo::CLOSED) {
            self.tell_sample(desk);
            self.phase = Phase::Over;
            self.let_go();
            self.report.closed_at = Some(desk.now());
            desk.tell(self.report.endpoint, AppEvent::Closed);
        }
    }

    /// The error queue has only been there to wake us.
    fn forget_acknowledgments(&self) {
        let waits = self.workload.waits_for_acks();
        let Some(socket) = self.socket.as_ref().filter(|_| waits) else { return };
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        while recv(socket.as_raw_fd(), &mut [0; 64], flags).is_ok() {}
    }

    fn fail(&mut self, call: Call, errno: Errno, desk: &mut Desk<'_>) {
        if self.phase == Phase::Running && self.ask().is_some() {
            self.tell_sample(desk);
        }
        self.report.failure = Some((call, errno));
        self.phase = Phase::Over;
        self.let_go();
        desk.tell(self.report.endpoint, AppEvent::Failed { call, errno });
    }

    fn info(&self) -> Option<TcpInfo> {
        let mut room = [0; TCP_INFO_ROOM];
        let bytes = tcp_info_bytes(self.socket.as_ref()?.as_fd(), &mut room).ok()?;
        Some(TcpInfo::from_bytes(bytes))
    }

    /// Asks the kernel and keeps the answer.
    fn ask(&mut self) -> Option<TcpInfo> {
        let info = self.info()?;
        self.report.last = Some(info);
        Some(info)
    }

    fn tell_sample(&self, desk: &mut Desk<'_>) {
        if let Some(info) = self.report.last {
            desk.tell(self.report.endpoint, AppEvent::Sampled(Box::new(info)));
        }
    }
}
