//! Pipes (pipe(7)), and splice between a pipe and anything else.

use super::socket::Direction;
use super::transfer::{Reading, Writing};
use super::{Attempt, Open, World};
use nix::errno::Errno;
use std::collections::VecDeque;

/// Bytes on their way from one end of a pipe to the other.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    buffer: VecDeque<u8>,
    reader_gone: bool,
    writer_gone: bool,
    activity: u64,
}

/// Bytes that a pipe holds (pipe(7)).
const CAPACITY: usize = 65_536;
/// A write of no more is whole or not at all (PIPE_BUF).
const ATOMIC: usize = 4_096;

/// What is spliced with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpliceEnds {
    pub(crate) from: i32,
    pub(crate) to: i32,
}

impl World {
    /// A new pipe: the end to read from, the end to write to.
    pub(crate) fn open_pipe(&mut self) -> Result<[i32; 2], Errno> {
        let number = self.number();
        self.pipes.insert(number, Pipe::default());
        let out = self.open(Open::PipeOut(number))?;
        let into = self.open(Open::PipeIn(number))?;
        Ok([out, into])
    }

    pub(super) fn close_pipe_end(&mut self, number: u32, end: Direction) {
        let Some(pipe) = self.pipes.get_mut(&number) else { return };
        match end {
            Direction::Read => pipe.reader_gone = true,
            Direction::Write | Direction::Both => pipe.writer_gone = true,
        }
        pipe.activity += 1;
        if pipe.reader_gone && pipe.writer_gone {
            self.pipes.remove(&number);
        }
    }

    pub(super) fn read_pipe(&mut self, number: u32, most: usize, got: &mut Vec<u8>) -> Attempt<()> {
        let Some(pipe) = self.pipes.get_mut(&number) else {
            return Attempt::Done(Err(Errno::EBADF));
        };
        if pipe.buffer.is_empty() && !pipe.writer_gone && most > 0 {
            return Attempt::Wait;
        }
        let count = most.min(pipe.buffer.len());
        got.extend(pipe.buffer.drain(..count));
        pipe.activity += 1;
        Attempt::Done(Ok(()))
    }

    pub(super) fn write_pipe(
        &mut self,
        number: u32,
        (bytes, sent): (&[u8], &mut usize),
    ) -> Attempt<()> {
        let Some(pipe) = self.pipes.get_mut(&number) else {
            return Attempt::Done(Err(Errno::EBADF));
        };
        if pipe.reader_gone {
            return Attempt::Done(Err(Errno::EPIPE));
        }
        let room = pipe.room();
        if bytes.len() <= ATOMIC && room < bytes.len() {
            return Attempt::Wait;
        }
        let count = room.min(bytes.len() - *sent);
        pipe.buffer.extend(&bytes[*sent..*sent + count]);
        pipe.activity += 1;
        *sent += count;
        if *sent == bytes.len() { Attempt::Done(Ok(())) } else { Attempt::Wait }
    }

    /// What poll says of a pipe's end.
    pub(super) fn pipe_readiness(&self, number: u32, end: Direction) -> u32 {
        let Some(pipe) = self.pipes.get(&number) else { return libc::EPOLLERR as u32 };
        let mut ready = 0;
        if end == Direction::Read {
            if !pipe.buffer.is_empty() {
                ready |= libc::EPOLLIN | libc::EPOLLRDNORM;
            }
            if pipe.writer_gone {
                ready |= libc::EPOLLHUP;
            }
        } else {
            if pipe.room() >= ATOMIC {
                ready |= libc::EPOLLOUT | libc::EPOLLWRNORM;
            }
            if pipe.reader_gone {
                ready |= libc::EPOLLERR;
            }
        }
        ready as u32
    }

    pub(super) fn pipe_activity(&self, number: u32) -> u64 {
        self.pipes.get(&number).map_or(0, |pipe| pipe.activity)
    }

    /// Bytes a pipe holds (FIONREAD).
    pub(super) fn pipe_len(&self, number: u32) -> usize {
        self.pipes.get(&number).map_or(0, |pipe| pipe.buffer.len())
    }

    /// Moves up to `most` bytes; one of the two ends has to be a pipe. What comes back is how many.
    pub(crate) fn splice(&mut self, ends: SpliceEnds, most: usize, more: bool) -> Attempt<usize> {
        let room = match self.splice_room(ends) {
            Err(error) => return Attempt::Done(Err(error)),
            Ok(room) => room,
        };
        if most == 0 {
            return Attempt::Done(Ok(0));
        }
        if room == 0 {
            return Attempt::Wait;
        }
        let mut got = Vec::new();
        let reading = Reading { most: most.min(room), peek: false, wait_all: false };
        match self.read(ends.from, reading, &mut got) {
            Attempt::Wait => return Attempt::Wait,
            Attempt::Done(Err(error)) => return Attempt::Done(Err(error)),
            Attempt::Done(Ok(())) => {}
        }
        let mut sent = 0;
        match self.write(ends.to, Writing { more, end_of_record: false }, (&got, &mut sent)) {
            Attempt::Done(Err(error)) => Attempt::Done(Err(error)),
            _ => {
                debug_assert_eq!(sent, got.len(), "there was room");
                Attempt::Done(Ok(sent))
            }
        }
    }

    /// Bytes that the far end of a splice takes without waiting.
    fn splice_room(&mut self, ends: SpliceEnds) -> Result<usize, Errno> {
        let is_pipe = |open: &Open| matches!(open, Open::PipeIn(_) | Open::PipeOut(_));
        let (from, to) = (&self.file(ends.from)?.open, &self.file(ends.to)?.open);
        if !is_pipe(from) && !is_pipe(to) {
            return Err(Errno::EINVAL);
        }
        if matches!(from, Open::PipeIn(_)) || matches!(to, Open::PipeOut(_)) {
            return Err(Errno::EBADF);
        }
        match to {
            Open::PipeIn(number) => match self.pipes.get(number) {
                Some(pipe) if pipe.reader_gone => Err(Errno::EPIPE),
                Some(pipe) => Ok(pipe.room()),
                None => Err(Errno::EBADF),
            },
            Open::Socket(_) => {
                let mut nothing = 0;
                match self.write(
                    ends.to,
                    Writing { more: true, end_of_record: false },
                    (&[], &mut nothing),
                ) {
                    Attempt::Done(Err(error)) => Err(error),
                    Attempt::Wait => Ok(0),
                    Attempt::Done(Ok(())) => {
                        let key = self.link_of(ends.to).ok_or(Errno::EPIPE)?;
                        Ok(self.links.get(&key).map_or(0, |link| link.room()))
                    }
                }
            }
            _ => Err(Errno::EINVAL),
        }
    }
}

impl Pipe {
    fn room(&self) -> usize {
        CAPACITY - self.buffer.len()
    }
}
