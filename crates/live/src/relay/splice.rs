//! One connection of the gateway: bytes between our endpoint and a socket.
//!
//! Each direction ends by itself: the client's FIN is the socket's SHUT_WR, the socket's end of file
//! our FIN. A reset goes through, behind what came before it. Neither side is read faster than the
//! other takes.
//!
//! What a segment brings does not go to the socket by itself, but with all that comes at the same
//! instant: a call for each would take more time than everything else.

use super::outside::{Readiness, errno_of};
use crate::host::{Service, Stream};
use ackord_units::Time;
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::rc::Rc;

/// What a splice shares with the table of sockets.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// What the socket can do, as far as is known.
    pub(super) ready: Cell<Readiness>,
    /// Whether what has arrived goes to the socket now.
    pub(super) pushing: Cell<Pushing>,
}

/// When what has arrived goes to the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pushing {
    /// It waits for more, and is not known to wait yet.
    #[default]
    Later,
    /// It waits for more: its key is in [`Common::full`].
    Noted,
    /// Now.
    Now,
}

/// The application of our endpoint: a socket.
#[derive(Debug)]
pub(super) struct Splice {
    line: Rc<Line>,
    common: Rc<Common>,
    key: usize,
    /// Gone once both directions are over.
    socket: Option<TcpStream>,
    /// Towards the socket.
    out: HalfState,
    /// From the socket.
    back: HalfState,
}

/// What all splices of a gateway share.
#[derive(Debug)]
pub(super) struct Common {
    /// Where bytes lie between a socket and a send buffer.
    scratch: RefCell<Vec<u8>>,
    /// Keys of the splices that are gone.
    pub(super) gone: RefCell<Vec<usize>>,
    /// Keys of the splices that have something for their socket.
    pub(super) full: RefCell<Vec<usize>>,
}

/// How far one direction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HalfState {
    Open,
    /// Its end has been handed on.
    Finished,
    /// The socket was reset; our endpoint resets too once everything before that has arrived.
    Reset,
}

/// Read from a socket at once.
const SCRATCH: usize = 65_536;

impl Common {
    pub(super) fn new() -> Common {
        Common {
            scratch: RefCell::new(vec![0; SCRATCH]),
            gone: RefCell::default(),
            full: RefCell::default(),
        }
    }
}

impl Splice {
    /// Over a socket that is connected.
    pub(super) fn new(key: usize, socket: TcpStream, line: Rc<Line>, common: Rc<Common>) -> Splice {
        Splice {
            line,
            common,
            key,
            socket: Some(socket),
            out: HalfState::Open,
            back: HalfState::Open,
        }
    }

    /// Moves what has arrived to the socket.
    fn push(&mut self, stream: &mut dyn Stream) -> Result<(), Errno> {
        let Some(socket) = self.socket.as_mut().filter(|_| self.out == HalfState::Open) else {
            return Ok(());
        };
        let mut ready = self.line.ready.get();
        let something = if stream.readable() > 0 { ready.write } else { stream.at_end() };
        match self.line.pushing.get() {
            _ if !something => return Ok(()),
            Pushing::Now => {}
            Pushing::Noted => return Ok(()),
            Pushing::Later => {
                self.line.pushing.set(Pushing::Noted);
                self.common.full.borrow_mut().push(self.key);
                return Ok(());
            }
        }
        let mut failed = None;
        stream.drain(usize::MAX, &mut |bytes| match write(socket, bytes) {
            Ok(count) => {
                ready.write = count == bytes.len();
                count
            }
            Err(errno) => {
                ready.write = false;
                failed = Some(errno).filter(|errno| *errno != Errno::EAGAIN);
                0
            }
        });
        self.line.ready.set(ready);
        if let Some(errno) = failed {
            return Err(errno);
        }
        if stream.at_end() {
            self.out = HalfState::Finished;
            // It fails where the connection is gone already, and then reading says so.
            let _ = socket.shutdown(Shutdown::Write);
        }
        Ok(())
    }

    /// Moves what the socket has to our endpoint, as far as that has room.
    fn pull(&mut self, stream: &mut dyn Stream) -> Result<(), Errno> {
        let Some(socket) = self.socket.as_mut().filter(|_| self.back == HalfState::Open) else {
            return Ok(());
        };
        let mut scratch = self.common.scratch.borrow_mut();
        while self.line.ready.get().read {
            let room = stream.room().min(scratch.len());
            if room == 0 {
                return Ok(());
            }
            match read(socket, &mut scratch[..room]) {
                Ok(0) => {
                    self.back = HalfState::Finished;
                    stream.close();
                    return Ok(());
                }
                Ok(count) => {
                    let taken = stream.write(&scratch[..count]);
                    debug_assert_eq!(taken, count, "there was room");
                }
                Err(Errno::EAGAIN) => {
                    self.line.ready.set(Readiness { read: false, ..self.line.ready.get() });
                }
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}

impl Service for Splice {
    fn advance(&mut self, _: Time, stream: &mut dyn Stream) {
        // First what has come from there: it may be the last before a reset.
        if self.pull(stream).and_then(|()| self.push(stream)).is_err() {
            (self.out, self.back) = (HalfState::Reset, HalfState::Reset);
            self.socket = None;
        }
        if self.back == HalfState::Reset && stream.acked() >= stream.written() {
            stream.abort();
        }
        if (self.out, self.back) == (HalfState::Finished, HalfState::Finished) {
            // What it has not sent yet the kernel sends by itself.
            self.socket = None;
        }
    }
}

impl Drop for Splice {
    fn drop(&mut self) {
        if let Some(socket) = &self.socket {
            // Our endpoint has ended before both directions had: the server learns that by a reset,
            // which is what closing without lingering is.
            let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
            let _ = setsockopt(socket, sockopt::Linger, &at_once);
        }
        self.common.gone.borrow_mut().push(self.key);
    }
}

fn write(socket: &mut TcpStream, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        match socket.write(bytes).map_err(|error| errno_of(&error)) {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}

fn read(socket: &mut TcpStream, room: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match socket.read(room).map_err(|error| errno_of(&error)) {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}
