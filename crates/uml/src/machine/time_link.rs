//! The conversation with a kernel about time: `struct um_timetravel_msg` over a socket.
//!
//! The kernel asks to run at a time, waits, and is told to run; between, it may go on by itself up to
//! the next thing that happens elsewhere. Kernels since 6.12 do most of it through a page of memory
//! ([`SharedTime`]); older ones send a message for each step and wait for its answer.

use super::MachineError;
use super::shared_time::{KERNEL_ID, SharedTime};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use std::fs::File;
use std::io::{IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// What messages are about.
mod op {
    pub(super) const ACK: u32 = 0;
    pub(super) const START: u32 = 1;
    pub(super) const REQUEST: u32 = 2;
    pub(super) const WAIT: u32 = 3;
    pub(super) const GET: u32 = 4;
    pub(super) const UPDATE: u32 = 5;
    pub(super) const RUN: u32 = 6;
    pub(super) const FREE_UNTIL: u32 = 7;
    pub(super) const GET_TOD: u32 = 8;
    pub(super) const BROADCAST: u32 = 9;
}

/// Bytes of a message.
const LEN: usize = 16;

/// What the kernel has said that its calendar must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It has nothing to do until the time it asks for, if any.
    Waits,
    /// Something that has been answered.
    Answered,
}

/// The calendar's end.
pub(super) struct TimeLink {
    socket: UnixStream,
    shared: SharedTime,
    /// Whether the page is in use; known after the first message.
    shares: bool,
    /// When the kernel wants to run.
    request: Option<u64>,
    /// What time it is there.
    now: u64,
    /// Nanoseconds since 1970 at time zero.
    time_of_day: u64,
    sequence: u32,
}

#[derive(Clone, Copy)]
struct Message {
    op: u32,
    sequence: u32,
    time: u64,
}

impl TimeLink {
    /// Greets a kernel that has just connected.
    pub(super) fn greet(socket: UnixStream, time_of_day: u64) -> Result<TimeLink, MachineError> {
        let shared = SharedTime::new()?;
        let mut link = TimeLink {
            socket,
            shared,
            shares: false,
            request: None,
            now: 0,
            time_of_day,
            sequence: 0,
        };
        let start = link.receive()?;
        if start.op != op::START {
            return Err(link.unexpected(start));
        }
        link.shared.kernel_runs(0, 0);
        // The second descriptor is for a log that the kernel does not write.
        let log = File::options().write(true).open("/dev/null")?;
        let bytes = Message { op: op::ACK, sequence: start.sequence, time: KERNEL_ID }.bytes();
        let descriptors = [link.shared.as_fd().as_raw_fd(), log.as_raw_fd()];
        sendmsg::<()>(
            link.socket.as_raw_fd(),
            &[IoSlice::new(&bytes)],
            &[ControlMessage::ScmRights(&descriptors)],
            MsgFlags::MSG_NOSIGNAL,
            None,
        )?;
        Ok(link)
    }

    /// Readable when the kernel has said something.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// What time it is, as far as the kernel has told.
    pub(super) fn now(&mut self) -> u64 {
        if self.shares {
            self.now = self.now.max(self.shared.now());
        }
        self.now
    }

    /// When the kernel wants to run; to be asked while it waits.
    pub(super) fn request(&self) -> Option<u64> {
        if self.shares { self.shared.request() } else { self.request }
    }

    /// While the kernel waits: something reaches it at this time.
    pub(super) fn set_now(&mut self, now: u64) {
        self.now = now;
        self.shared.set_now(now);
    }

    /// The kernel runs from `now` on, and by itself up to `free_until`.
    pub(super) fn run(&mut self, now: u64, free_until: u64) -> Result<(), MachineError> {
        self.now = now;
        if self.shares {
            self.shared.kernel_runs(now, free_until);
            return self.send(op::RUN, now);
        }
        self.request = None;
        self.tell(op::FREE_UNTIL, free_until)?;
        self.tell(op::RUN, now)
    }

    /// Takes the next message and answers it.
    pub(super) fn handle_message(&mut self) -> Result<Said, MachineError> {
        let message = self.receive()?;
        self.shares = self.shared.is_used();
        let mut answer = 0;
        match message.op {
            op::WAIT => {
                if self.shares {
                    self.now = self.now.max(self.shared.now());
                    self.shared.calendar_runs();
                    // Nobody waits for an answer to this one.
                    return Ok(Said::Waits);
                }
                self.acknowledge(message, 0)?;
                return Ok(Said::Waits);
            }
            op::REQUEST => self.request = Some(message.time),
            op::UPDATE => self.now = self.now.max(message.time),
            op::GET => answer = self.now,
            op::GET_TOD => answer = self.time_of_day + self.now,
            op::BROADCAST => {}
            _ => return Err(self.unexpected(message)),
        }
        self.acknowledge(message, answer)?;
        Ok(Said::Answered)
    }

    /// Sends and waits for the answer.
    fn tell(&mut self, op: u32, time: u64) -> Result<(), MachineError> {
        self.send(op, time)?;
        let answer = self.receive()?;
        if answer.op == op::ACK && answer.sequence == self.sequence {
            return Ok(());
        }
        Err(self.unexpected(answer))
    }

    fn send(&mut self, op: u32, time: u64) -> Result<(), MachineError> {
        self.sequence = self.sequence.wrapping_add(1);
        let message = Message { op, sequence: self.sequence, time };
        Ok(self.socket.write_all(&message.bytes())?)
    }

    fn acknowledge(&mut self, message: Message, time: u64) -> Result<(), MachineError> {
        let answer = Message { op: op::ACK, sequence: message.sequence, time };
        Ok(self.socket.write_all(&answer.bytes())?)
    }

    fn receive(&mut self) -> Result<Message, MachineError> {
        let mut bytes = [0; LEN];
        self.socket.read_exact(&mut bytes)?;
        Ok(Message::from_bytes(bytes))
    }

    fn unexpected(&self, message: Message) -> MachineError {
        let Message { op, time, .. } = message;
        MachineError::Protocol(format!("message {op} of time {time} at {} ns", self.now))
    }
}

impl Message {
    fn bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..4].copy_from_slice(&self.op.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    fn from_bytes(bytes: [u8; LEN]) -> Message {
        let [a, b, c, d, e, f, g, h, time @ ..] = bytes;
        Message {
            op: u32::from_ne_bytes([a, b, c, d]),
            sequence: u32::from_ne_bytes([e, f, g, h]),
            time: u64::from_ne_bytes(time),
        }
    }
}
