//! Bytes in and out, of sockets and of pipes.

use super::link::{Cork, Link, LinkKey};
use super::socket::State;
use super::{Attempt, Open, World};
use ackord_events::TcpState;
use nix::errno::Errno;

/// What a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// As many bytes at most.
    pub(crate) most: usize,
    /// What is read stays (MSG_PEEK).
    pub(crate) peek: bool,
    /// The call returns when all is there (MSG_WAITALL), not when SO_RCVLOWAT is: a byte, mostly.
    pub(crate) wait_all: bool,
}

/// What a writer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writing {
    /// Whether more follows at once (MSG_MORE).
    pub(crate) more: bool,
    /// Whether a record ends with the last byte (MSG_EOR).
    pub(crate) end_of_record: bool,
}

impl World {
    /// Reads, adding to what was `got` before in the same call. [`Attempt::Wait`] leaves what it
    /// found in `got`.
    pub(crate) fn read(&mut self, fd: i32, reading: Reading, got: &mut Vec<u8>) -> Attempt<()> {
        let key = match self.file(fd).map(|file| &file.open) {
            Err(error) => return Attempt::Done(Err(error)),
            Ok(Open::PipeOut(pipe)) => {
                let pipe = *pipe;
                return self.read_pipe(pipe, reading.most, got);
            }
            Ok(Open::PipeIn(_)) => return Attempt::Done(Err(Errno::EBADF)),
            Ok(Open::Epoll(_)) => return Attempt::Done(Err(Errno::EINVAL)),
            Ok(Open::Socket(socket)) => match socket.state {
                State::Linked { link, .. } => link,
                State::Fresh | State::Listening(_) => return Attempt::Done(Err(Errno::ENOTCONN)),
            },
        };
        let Ok(socket) = self.socket(fd) else { return Attempt::Done(Err(Errno::EBADF)) };
        let low_water =
            if reading.wait_all { usize::MAX } else { socket.options.receive_low_water() };
        let least = reading.most.min(low_water);
        let reads_no_more = socket.shut.read;
        let Some(link) = self.links.get_mut(&key) else { return Attempt::Done(Ok(())) };
        if reading.peek {
            got.clear();
            link.peek(reading.most, got);
        } else {
            link.read(reading.most - got.len(), got);
        }
        let answer = if got.len() >= least.max(1) || reading.most == 0 {
            Attempt::Done(Ok(()))
        } else {
            link.at_end(reads_no_more, got)
        };
        // The window may have opened.
        self.work(key);
        answer
    }

    /// Writes what is left of `bytes` after the `sent` that earlier tries of the same call wrote.
    pub(crate) fn write(
        &mut self,
        fd: i32,
        writing: Writing,
        (bytes, sent): (&[u8], &mut usize),
    ) -> Attempt<()> {
        let key = match self.file(fd).map(|file| &file.open) {
            Err(error) => return Attempt::Done(Err(error)),
            Ok(Open::PipeIn(pipe)) => {
                let pipe = *pipe;
                return self.write_pipe(pipe, (bytes, sent));
            }
            Ok(Open::PipeOut(_)) => return Attempt::Done(Err(Errno::EBADF)),
            Ok(Open::Epoll(_)) => return Attempt::Done(Err(Errno::EINVAL)),
            Ok(Open::Socket(socket)) => match socket.state {
                State::Linked { .. } if socket.shut.write => {
                    return Attempt::Done(Err(self.take_error(fd).unwrap_or(Errno::EPIPE)));
                }
                State::Linked { link, .. } => link,
                State::Fresh | State::Listening(_) => return Attempt::Done(Err(Errno::EPIPE)),
            },
        };
        let corked = self.socket(fd).map_or(Cork::Out, |socket| socket.options.cork());
        let lowat = self.notsent_lowat(fd);
        let Some(link) = self.links.get_mut(&key) else { return Attempt::Done(Err(Errno::EPIPE)) };
        if let Some(refusal) = link.refuses_data() {
            return refusal;
        }
        link.cork = if corked == Cork::Out && writing.more { Cork::More } else { corked };
        while let Some(link) = self.links.get_mut(&key) {
            let rest = &bytes[*sent..];
            let taken = link.write(&rest[..rest.len().min(link.admits(lowat))]);
            *sent += taken;
            if taken > 0 {
                link.note_more(writing.more);
            }
            if writing.end_of_record && *sent == bytes.len() {
                link.end_record();
            }
            self.work(key);
            if taken == 0 || *sent == bytes.len() {
                break;
            }
        }
        if *sent == bytes.len() { Attempt::Done(Ok(())) } else { Attempt::Wait }
    }

    /// What went wrong with a socket since this was last asked (SO_ERROR).
    pub(crate) fn take_error(&mut self, fd: i32) -> Option<Errno> {
        let key = self.link_of(fd)?;
        self.links.get_mut(&key)?.error.take()
    }

    /// An error that was taken and not told.
    pub(crate) fn give_error_back(&mut self, fd: i32, error: Errno) {
        if let Some(key) = self.link_of(fd)
            && let Some(link) = self.links.get_mut(&key)
            && error != Errno::EPIPE
        {
            link.error = Some(error);
        }
    }

    /// The connection of a socket, if it has one.
    pub(super) fn link_of(&self, fd: i32) -> Option<LinkKey> {
        match self.socket(fd).ok()?.state {
            State::Linked { link, .. } => Some(link),
            _ => None,
        }
    }
}

impl Link {
    /// What a reader is told who did not get enough (the order of tcp_recvmsg).
    fn at_end(&mut self, reads_no_more: bool, got: &[u8]) -> Attempt<()> {
        if !got.is_empty() && (self.connection.peer_finished() || self.error.is_some()) {
            return Attempt::Done(Ok(()));
        }
        if self.connection.peer_finished() {
            return Attempt::Done(Ok(()));
        }
        if let Some(error) = self.error.take() {
            return Attempt::Done(Err(error));
        }
        if reads_no_more || self.connection.state() == TcpState::Closed {
            return Attempt::Done(Ok(()));
        }
        Attempt::Wait
    }

    /// What a writer is told whose bytes cannot even be kept.
    fn refuses_data(&mut self) -> Option<Attempt<()>> {
        if let Some(error) = self.error.take() {
            return Some(Attempt::Done(Err(error)));
        }
        match self.connection.state() {
            TcpState::Established | TcpState::CloseWait => None,
            TcpState::SynSent | TcpState::SynReceived => Some(Attempt::Wait),
            _ => Some(Attempt::Done(Err(Errno::EPIPE))),
        }
    }
}
