//! Calls that may have to wait, as values: tried whenever something has happened, by whichever
//! thread made it happen, so that what a call returns does not depend on when its own thread is next
//! given a processor.

use crate::world::{
    Accepted, Attempt, Departed, EpollEvent, LinkKey, PollEntry, Reading, SpliceEnds, World,
    Writing,
};
use nix::errno::Errno;

/// A call under way.
#[derive(Debug)]
pub(crate) enum Call {
    /// Nothing but time has to pass.
    Sleep,
    /// A packet of at most so many bytes has to leave.
    Packet {
        room: usize,
    },
    Accept {
        fd: i32,
    },
    Connect {
        fd: i32,
    },
    Read {
        fd: i32,
        reading: Reading,
        got: Vec<u8>,
    },
    Write {
        fd: i32,
        writing: Writing,
        bytes: Vec<u8>,
        sent: usize,
    },
    Poll {
        entries: Vec<PollEntry>,
    },
    Epoll {
        fd: i32,
        most: usize,
    },
    Splice {
        ends: SpliceEnds,
        most: usize,
        more: bool,
    },
    /// Everything written on a closed socket has to be acknowledged.
    Linger {
        link: LinkKey,
    },
}

/// What a call comes to.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Nothing,
    Packet(Departed),
    Accepted(Accepted),
    Bytes(Vec<u8>),
    Count(usize),
    Polled(Vec<PollEntry>),
    Events(Vec<EpollEvent>),
}

impl Call {
    /// Tries it.
    pub(crate) fn attempt(&mut self, world: &mut World) -> Attempt<Answer> {
        match self {
            Call::Sleep => Attempt::Wait,
            Call::Packet { room } => match world.peek_departed() {
                None => Attempt::Wait,
                Some(packet) if packet.bytes.len() > *room => Attempt::Done(Err(Errno::EMSGSIZE)),
                Some(_) => {
                    let packet = world.next_departed();
                    Attempt::Done(packet.map(Answer::Packet).ok_or(Errno::EAGAIN))
                }
            },
            Call::Accept { fd } => world.accept(*fd).map(Answer::Accepted),
            Call::Connect { fd } => world.connected(*fd).map(|()| Answer::Nothing),
            Call::Read { fd, reading, got } => {
                let answer = world.read(*fd, *reading, got);
                answer.map(|()| Answer::Bytes(std::mem::take(got)))
            }
            Call::Write { fd, writing, bytes, sent } => {
                match world.write(*fd, *writing, (bytes, sent)) {
                    // What was written counts; the error is the next call's.
                    Attempt::Done(Err(error)) if *sent > 0 => {
                        world.give_error_back(*fd, error);
                        Attempt::Done(Ok(Answer::Count(*sent)))
                    }
                    answer => answer.map(|()| Answer::Count(*sent)),
                }
            }
            Call::Poll { entries } => match world.poll(entries) {
                0 => Attempt::Wait,
                _ => Attempt::Done(Ok(Answer::Polled(std::mem::take(entries)))),
            },
            Call::Epoll { fd, most } => world.epoll_wait(*fd, *most).map(Answer::Events),
            Call::Splice { ends, most, more } => {
                world.splice(*ends, *most, *more).map(Answer::Count)
            }
            Call::Linger { link } => {
                if world.is_drained(*link) {
                    Attempt::Done(Ok(Answer::Nothing))
                } else {
                    Attempt::Wait
                }
            }
        }
    }

    /// It may not wait, or not any longer.
    pub(crate) fn give_up(&mut self) -> Result<Answer, Errno> {
        match self {
            Call::Sleep | Call::Linger { .. } => Ok(Answer::Nothing),
            Call::Packet { .. } => Err(Errno::ETIMEDOUT),
            Call::Connect { .. } => Err(Errno::EINPROGRESS),
            Call::Accept { .. } | Call::Splice { .. } => Err(Errno::EAGAIN),
            Call::Read { got, .. } if got.is_empty() => Err(Errno::EAGAIN),
            Call::Read { got, .. } => Ok(Answer::Bytes(std::mem::take(got))),
            Call::Write { sent: 0, .. } => Err(Errno::EAGAIN),
            Call::Write { sent, .. } => Ok(Answer::Count(*sent)),
            Call::Poll { entries } => Ok(Answer::Polled(std::mem::take(entries))),
            Call::Epoll { .. } => Ok(Answer::Events(Vec::new())),
        }
    }
}
