//! Streams for tests: bytes in memory.

use crate::host::Stream;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// A stream whose other end is the test.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    pub(crate) incoming: Vec<u8>,
    pub(crate) finished: bool,
    pub(crate) outgoing: Vec<u8>,
    /// How much is still taken; nothing for no limit.
    pub(crate) room: Option<usize>,
    pub(crate) acked: u64,
    pub(crate) closed: bool,
    pub(crate) aborted: bool,
}

impl Stream for Scripted {
    fn read(&mut self, limit: usize, out: &mut Vec<u8>) -> usize {
        let count = limit.min(self.incoming.len());
        out.extend(self.incoming.drain(..count));
        count
    }

    fn at_end(&self) -> bool {
        self.finished && self.incoming.is_empty()
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        let count = self.room.unwrap_or(usize::MAX).min(bytes.len());
        self.room = self.room.map(|room| room - count);
        self.outgoing.extend_from_slice(&bytes[..count]);
        count
    }

    fn readable(&self) -> usize {
        self.incoming.len()
    }

    fn drain(&mut self, limit: usize, take: &mut dyn FnMut(&[u8]) -> usize) {
        let count = limit.min(self.incoming.len());
        let taken = take(&self.incoming[..count]);
        self.incoming.drain(..taken);
    }

    fn room(&self) -> usize {
        self.room.unwrap_or(usize::MAX)
    }

    fn written(&self) -> u64 {
        self.outgoing.len() as u64
    }

    fn acked(&self) -> u64 {
        self.acked
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn abort(&mut self) {
        self.aborted = true;
    }
}

/// An output that the test keeps a hand on.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedOutput(Rc<RefCell<Vec<u8>>>);

impl SharedOutput {
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
