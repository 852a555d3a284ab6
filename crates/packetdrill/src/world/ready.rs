//! What poll(2) and epoll(7) say of a descriptor: the masks of Linux's tcp_poll.

use super::socket::{Direction, Progress, Socket, State};
use super::{Attempt, Open, World};
use ackord_events::TcpState;
use nix::errno::Errno;
use std::collections::BTreeMap;

/// One entry of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PollEntry {
    pub(crate) fd: i32,
    pub(crate) wanted: i16,
    pub(crate) found: i16,
}

/// What an epoll watches for on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interest {
    /// EPOLLIN and its kind, with EPOLLET and EPOLLONESHOT.
    pub(crate) events: u32,
    /// What the caller wants back.
    pub(crate) data: u64,
}

/// One event of an epoll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EpollEvent {
    pub(crate) events: u32,
    pub(crate) data: u64,
}

#[derive(Debug, Default)]
pub(super) struct Epoll {
    watched: BTreeMap<i32, Watched>,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    interest: Interest,
    /// The activity of the descriptor when it was last reported (edge-triggered).
    seen: Option<u64>,
    /// EPOLLONESHOT has fired.
    spent: bool,
}

const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;

impl World {
    /// Looks at each entry; the answer is how many have something to say.
    pub(crate) fn poll(&self, entries: &mut [PollEntry]) -> usize {
        for entry in entries.iter_mut() {
            entry.found = match self.readiness(entry.fd) {
                _ if entry.fd < 0 => 0,
                None => libc::POLLNVAL,
                Some(ready) => (ready & (entry.wanted as u16 as u32 | ALWAYS)) as i16,
            };
        }
        entries.iter().filter(|entry| entry.found != 0).count()
    }

    /// Everything that is so of a descriptor; nothing if there is none.
    fn readiness(&self, fd: i32) -> Option<u32> {
        Some(match &self.file(fd).ok()?.open {
            Open::Socket(socket) => self.socket_readiness(socket, self.notsent_lowat(fd)),
            Open::PipeOut(pipe) => self.pipe_readiness(*pipe, Direction::Read),
            Open::PipeIn(pipe) => self.pipe_readiness(*pipe, Direction::Write),
            Open::Epoll(epoll) => {
                let any = epoll.watched.iter().any(|(&fd, watched)| self.fires(fd, watched) != 0);
                if any { (libc::EPOLLIN | libc::EPOLLRDNORM) as u32 } else { 0 }
            }
        })
    }

    fn socket_readiness(&self, socket: &Socket, lowat: u32) -> u32 {
        let readable = libc::EPOLLIN | libc::EPOLLRDNORM;
        let writable = libc::EPOLLOUT | libc::EPOLLWRNORM;
        let unconnected = writable | libc::EPOLLHUP;
        let key = match &socket.state {
            State::Listening(listener) if listener.queue.is_empty() => return 0,
            State::Listening(_) => return readable as u32,
            State::Fresh => return unconnected as u32,
            State::Linked { link, .. } => link,
        };
        let Some(link) = self.links.get(key) else { return unconnected as u32 };
        let state = link.connection.state();
        let over = matches!(state, TcpState::Closed | TcpState::TimeWait);
        let receives_no_more = socket.shut.read || link.connection.peer_finished() || over;
        let sends_no_more = socket.shut.write || over;
        let mut ready = 0;
        if over || receives_no_more && sends_no_more {
            ready |= libc::EPOLLHUP;
        }
        if receives_no_more {
            ready |= readable | libc::EPOLLRDHUP;
        }
        if !matches!(state, TcpState::SynSent | TcpState::SynReceived) {
            let least = socket.options.receive_low_water() as u64;
            if link.connection.readable().get() >= least {
                ready |= readable;
            }
            // sk_stream_is_writeable: a third of the buffer is free, and what waits unsent is less
            // than half of what may.
            let room = link.room() as u64;
            let few_wait = link.unsent() * 2 < u64::from(lowat);
            if sends_no_more || few_wait && room >= link.unacknowledged().div_ceil(2).max(1) {
                ready |= writable;
            }
        }
        if link.error.is_some() {
            ready |= libc::EPOLLERR;
        }
        ready as u32
    }

    /// A number that rises with whatever happens to a descriptor.
    fn activity(&self, fd: i32) -> u64 {
        match self.file(fd).map(|file| &file.open) {
            Ok(Open::Socket(socket)) => match &socket.state {
                State::Fresh => 0,
                State::Listening(listener) => listener.activity,
                State::Linked { link, progress } => {
                    let connected = u64::from(*progress == Progress::Connected);
                    connected + self.links.get(link).map_or(0, |link| link.activity)
                }
            },
            Ok(Open::PipeOut(pipe) | Open::PipeIn(pipe)) => self.pipe_activity(*pipe),
            _ => 0,
        }
    }

    /// What an epoll would report of a descriptor now.
    fn fires(&self, fd: i32, watched: &Watched) -> u32 {
        let wanted = watched.interest.events | ALWAYS;
        let stale = watched.interest.events & EDGE != 0 && watched.seen == Some(self.activity(fd));
        if watched.spent || stale {
            return 0;
        }
        self.readiness(fd).unwrap_or(0) & wanted
    }

    /// A new epoll.
    pub(crate) fn open_epoll(&mut self) -> Result<i32, Errno> {
        self.open(Open::Epoll(Epoll::default()))
    }

    /// Watches a descriptor, or otherwise than before.
    pub(crate) fn epoll_watch(
        &mut self,
        epoll: i32,
        fd: i32,
        (change, interest): (Change, Interest),
    ) -> Result<(), Errno> {
        self.file(fd)?;
        if fd == epoll {
            return Err(Errno::EINVAL);
        }
        let watched = &mut self.epoll_mut(epoll)?.watched;
        let fresh = Watched { interest, seen: None, spent: false };
        match (change, watched.contains_key(&fd)) {
            (Change::Add, true) => return Err(Errno::EEXIST),
            (Change::Modify | Change::Remove, false) => return Err(Errno::ENOENT),
            (Change::Add | Change::Modify, _) => drop(watched.insert(fd, fresh)),
            (Change::Remove, _) => drop(watched.remove(&fd)),
        }
        Ok(())
    }

    /// The events of an epoll, at most so many.
    pub(crate) fn epoll_wait(&mut self, epoll: i32, most: usize) -> Attempt<Vec<EpollEvent>> {
        let watched: Vec<(i32, Watched)> = match self.epoll_mut(epoll) {
            Err(error) => return Attempt::Done(Err(error)),
            Ok(epoll) => epoll.watched.iter().map(|(&fd, &watched)| (fd, watched)).collect(),
        };
        let mut found = Vec::new();
        for (fd, mut item) in watched {
            let events = self.fires(fd, &item);
            if events == 0 || found.len() == most {
                continue;
            }
            found.push(EpollEvent { events, data: item.interest.data });
            item.seen = Some(self.activity(fd));
            item.spent = item.interest.events & ONCE != 0;
            if let Ok(epoll) = self.epoll_mut(epoll) {
                epoll.watched.insert(fd, item);
            }
        }
        if found.is_empty() { Attempt::Wait } else { Attempt::Done(Ok(found)) }
    }

    fn epoll_mut(&mut self, fd: i32) -> Result<&mut Epoll, Errno> {
        match &mut self.file_mut(fd)?.open {
            Open::Epoll(epoll) => Ok(epoll),
            _ => Err(Errno::EINVAL),
        }
    }

    /// A descriptor is gone: nobody watches it any longer.
    pub(super) fn forget_in_epolls(&mut self, fd: i32) {
        for file in self.files.values_mut() {
            if let Open::Epoll(epoll) = &mut file.open {
                epoll.watched.remove(&fd);
            }
        }
    }
}

/// What epoll_ctl is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Modify,
    Remove,
}
