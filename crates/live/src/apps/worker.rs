//! The thread of the applications: waits for all sockets at once, and for the earliest deadline.
//!
//! Readiness is told once per change (EPOLLET), so that an end with nothing to do costs nothing.
//! Deadlines are the timer descriptor's, to the nanosecond; where nothing is due and nothing is
//! ready the thread sleeps.

use super::connection::Connection;
use super::datagrams::DatagramEnd;
use super::desk::{Desk, PIECE, noise};
use super::sockets::{bind_to, failed, set_nonblocking, watch};
use super::{AppNews, Application, Call, EndReport, Exchange, KernelEnd, Sampling};
use crate::clock::Clock;
use ackord_path::Schedule;
use ackord_sys::socket::{accept, connect, peer};
use ackord_sys::{Urgency, sharpen_timers};
use ackord_units::{Span, Time};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{Backlog, listen};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Tokens of what is waited for beside the ends, which have their numbers.
const TIMER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
/// Listening sockets are numbered from here.
const FIRST_LISTENER: u64 = 1 << 40;

/// Everything the thread has.
pub(super) struct Worker {
    ends: Vec<AppEnd>,
    listeners: Vec<ListeningSocket>,
    /// When each end's application is due; the last id is the sampling.
    due: Schedule,
    /// That id.
    sampling: u32,
    epoll: Epoll,
    timer: TimerFd,
    /// What the timer is set to.
    armed: Time,
    /// Ends that have more to read than one turn allows.
    unread: VecDeque<usize>,
    clock: Clock,
    sampling_every: Span,
    /// Applications that take whatever comes read in a thread each, see [`super::reader`], and not
    /// when something has come.
    reads_in_threads: bool,
    /// What the clock said in this turn, if it was looked at.
    looked: Option<Time>,
    exchange: Arc<Exchange>,
    news: Vec<AppNews>,
    piece: Vec<u8>,
}

enum AppEnd {
    Tcp(Box<Connection>),
    /// A connection that is to be opened, with its bound socket.
    Client(Box<Connection>, OwnedFd),
    Datagrams(Box<DatagramEnd>),
    /// Only while one thing takes the other's place.
    Nobody,
}

struct ListeningSocket {
    socket: OwnedFd,
    local: SocketAddr,
    /// Those who may be meant.
    ends: Vec<usize>,
}

impl Worker {
    pub(super) fn new(
        ends: Vec<KernelEnd>,
        clock: Clock,
        sampling: Sampling,
        exchange: Arc<Exchange>,
    ) -> io::Result<Worker> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer_flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, timer_flags)?;
        let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(&timer, EpollEvent::new(edge, TIMER))?;
        epoll.add(&exchange.stop, EpollEvent::new(EpollFlags::EPOLLIN, STOP))?;
        let mut worker = Worker {
            due: Schedule::new(ends.len() + 1),
            sampling: ends.len() as u32,
            ends: Vec::with_capacity(ends.len()),
            listeners: Vec::new(),
            epoll,
            timer,
            armed: Time::NEVER,
            unread: VecDeque::new(),
            clock,
            sampling_every: sampling.every,
            looked: None,
            reads_in_threads: exchange.teller.is_some(),
            exchange,
            news: Vec::new(),
            piece: noise(PIECE),
        };
        for end in ends {
            worker.add(end)?;
        }
        if sampling.every > Span::ZERO {
            worker.due.set(worker.sampling, Time::ZERO + sampling.every + sampling.after);
        }
        Ok(worker)
    }

    fn add(&mut self, end: KernelEnd) -> io::Result<()> {
        let index = self.ends.len();
        let (connects, local, start) = (end.connects(), end.local, end.start);
        let KernelEnd { endpoint, remote, application, options, socket, .. } = end;
        set_nonblocking(&socket)?;
        let mut report = EndReport::new(endpoint);
        report.apply(socket.as_fd(), &options);
        let datagrams = |source, socket: OwnedFd| {
            bind_to(&socket, local)?;
            connect(socket.as_fd(), remote)
                .map_err(|errno| failed(Call::Connect, remote, errno))?;
            let end = DatagramEnd::new(endpoint, source, socket);
            Ok::<_, io::Error>(AppEnd::Datagrams(Box::new(end)))
        };
        let mut made = match application {
            Application::Tcp(workload) => {
                let connection = Connection::new(endpoint, remote, options, workload);
                let connection = Box::new(connection);
                if connects {
                    bind_to(&socket, local)?;
                    self.due.set(index as u32, start);
                    AppEnd::Client(connection, socket)
                } else {
                    self.listen(index, local, socket)?;
                    AppEnd::Tcp(connection)
                }
            }
            Application::DatagramSource(source) => {
                self.due.set(index as u32, source.deadline());
                datagrams(Some(source), socket)?
            }
            Application::DatagramSink => datagrams(None, socket)?,
        };
        if let AppEnd::Datagrams(end) = &made {
            let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
            self.epoll.add(end.socket(), EpollEvent::new(edge, index as u64))?;
        }
        if let Some(to) = made.report_mut() {
            to.options_refused = report.options_refused;
        }
        self.ends.push(made);
        Ok(())
    }

    /// Waits for connections to the end's address, together with others that have the same.
    fn listen(&mut self, index: usize, local: SocketAddr, socket: OwnedFd) -> io::Result<()> {
        if let Some(listener) = self.listeners.iter_mut().find(|there| there.local == local) {
            listener.ends.push(index);
            return Ok(());
        }
        bind_to(&socket, local)?;
        listen(&socket, Backlog::MAXCONN).map_err(|errno| failed(Call::Listen, local, errno))?;
        let token = FIRST_LISTENER + self.listeners.len() as u64;
        let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        self.epoll.add(&socket, EpollEvent::new(edge, token))?;
        self.listeners.push(ListeningSocket { socket, local, ends: vec![index] });
        Ok(())
    }

    /// Works until it is told to stop.
    pub(super) fn run(mut self, realtime_priority: bool) -> io::Result<Vec<EndReport>> {
        sharpen_timers();
        let _urgency = Urgency::of(realtime_priority);
        while self.turn()? {}
        let (clock, news, piece) = (&self.clock, &mut self.news, &mut self.piece);
        for end in &mut self.ends {
            if let AppEnd::Tcp(connection) = end {
                connection.cut_off(&mut Desk::new(clock, news, piece));
            }
        }
        self.exchange.tell(&mut self.news);
        Ok(self.ends.into_iter().filter_map(AppEnd::into_report).collect())
    }

    /// Waits for something, and does all of it; says whether to go on.
    fn turn(&mut self) -> io::Result<bool> {
        self.arm()?;
        let mut events = [EpollEvent::empty(); 64];
        let mut rang = false;
        self.looked = None;
        let timeout = if self.unread.is_empty() { EpollTimeout::NONE } else { EpollTimeout::ZERO };
        let count = match self.epoll.wait(&mut events, timeout) {
            Err(Errno::EINTR) => 0,
            other => other?,
        };
        for event in &events[..count] {
            match event.data() {
                TIMER => {
                    self.armed = Time::NEVER;
                    rang = true;
                }
                STOP => return Ok(false),
                token if token >= FIRST_LISTENER => {
                    self.accept((token - FIRST_LISTENER) as usize)?;
                }
                token => self.ready(token as usize, event.events()),
            }
        }
        for _ in 0..self.unread.len() {
            if let Some(index) = self.unread.pop_front() {
                self.attend(index, |connection, desk| connection.go_on(true, desk));
            }
        }
        // What has become due only now rings the timer, which costs less than a look at the clock in
        // every turn.
        while let Some((at, id)) = self.due.peek().filter(|_| rang) {
            if at > self.now() {
                break;
            }
            self.on_due(at, id)?;
        }
        self.exchange.tell(&mut self.news);
        Ok(true)
    }

    /// The present. In simulated time none passes within a turn but what a look at the clock costs, and
    /// that look costs more than all else: there, one does for the turn.
    fn now(&mut self) -> Time {
        match self.looked {
            Some(now) if self.reads_in_threads => now,
            _ => *self.looked.insert(self.clock.now()),
        }
    }

    /// Sets the timer to the earliest deadline.
    fn arm(&mut self) -> io::Result<()> {
        let next = self.due.next_at();
        if next == self.armed || next == Time::NEVER {
            return Ok(());
        }
        self.armed = next;
        // Nothing at all would disarm it.
        let nanos = next.saturating_since(self.now()).as_nanos().max(1);
        let after = TimeSpec::new((nanos / NANOS) as i64, (nanos % NANOS) as i64);
        self.timer.set(Expiration::OneShot(after), TimerSetTimeFlags::empty())?;
        Ok(())
    }

    fn on_due(&mut self, at: Time, id: u32) -> io::Result<()> {
        self.due.clear(id);
        if id == self.sampling {
            self.sample_all();
            // A thread that was held up does not make up for what it has missed.
            let next = (at + self.sampling_every).max(self.now());
            self.due.set(id, next);
            return Ok(());
        }
        let index = id as usize;
        match &self.ends[index] {
            AppEnd::Client(..) => self.open(index),
            _ => {
                self.attend(index, |connection, desk| {
                    connection.act(desk);
                    false
                });
                Ok(())
            }
        }
    }

    /// The client's time has come.
    fn open(&mut self, index: usize) -> io::Result<()> {
        let taken = std::mem::replace(&mut self.ends[index], AppEnd::Nobody);
        let AppEnd::Client(connection, socket) = taken else { return Ok(()) };
        watch(&self.epoll, socket.as_fd(), index)?;
        self.ends[index] = AppEnd::Tcp(connection);
        self.attend(index, |connection, desk| {
            connection.open(socket, desk);
            false
        });
        Ok(())
    }

    fn accept(&mut self, number: usize) -> io::Result<()> {
        loop {
            let socket = match accept(self.listeners[number].socket.as_fd()) {
                Ok(socket) => socket,
                Err(Errno::EAGAIN) => return Ok(()),
                // The connection was gone before it was accepted.
                Err(Errno::ECONNABORTED | Errno::EPROTO | Errno::EINTR) => continue,
                Err(errno) => {
                    return Err(failed(Call::Accept, self.listeners[number].local, errno));
                }
            };
            let Ok(peer) = peer(socket.as_fd()) else { continue };
            let meant = self.listeners[number].ends.iter().copied().find(|index| {
                let AppEnd::Tcp(connection) = &self.ends[*index] else { return false };
                connection.is_before() && connection.remote == peer
            });
            // Nobody whom the scenario knows: the socket is closed again.
            let Some(index) = meant else { continue };
            watch(&self.epoll, socket.as_fd(), index)?;
            self.attend(index, |connection, desk| {
                connection.accepted(socket, desk);
                false
            });
        }
    }

    fn ready(&mut self, index: usize, events: EpollFlags) {
        let room = events.contains(EpollFlags::EPOLLOUT);
        let ends = EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR;
        let to_the_end = events.intersects(ends);
        self.attend(index, |connection, desk| connection.ready(room, to_the_end, desk));
    }

    /// Lets one end do something, and notes what it leaves and when it is due next.
    fn attend(
        &mut self,
        index: usize,
        on_connection: impl FnOnce(&mut Connection, &mut Desk<'_>) -> bool,
    ) {
        let mut desk = Desk::new(&self.clock, &mut self.news, &mut self.piece);
        let (left, deadline) = match &mut self.ends[index] {
            AppEnd::Tcp(connection) => {
                (on_connection(connection, &mut desk), connection.deadline())
            }
            AppEnd::Datagrams(end) => {
                end.send_due(&mut desk);
                (end.ready(&mut desk), end.deadline())
            }
            AppEnd::Client(..) | AppEnd::Nobody => return,
        };
        if self.reads_in_threads
            && let AppEnd::Tcp(connection) = &mut self.ends[index]
            && let Some(socket) = connection.read_in_thread()
        {
            let what = EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
            // It is in the set, or there would be no connection.
            let _ = self.epoll.modify(socket, &mut EpollEvent::new(what, index as u64));
        }
        self.due.set(index as u32, deadline.unwrap_or(Time::NEVER));
        if left && !self.unread.contains(&index) {
            self.unread.push_back(index);
        }
    }

    fn sample_all(&mut self) {
        let known = self.looked.filter(|_| self.reads_in_threads);
        let (clock, news, piece) = (&self.clock, &mut self.news, &mut self.piece);
        for end in &mut self.ends {
            if let AppEnd::Tcp(connection) = end {
                connection.sample(&mut Desk::at(known, clock, news, piece));
            }
        }
    }
}

const NANOS: u64 = 1_000_000_000;

impl AppEnd {
    fn report_mut(&mut self) -> Option<&mut EndReport> {
        match self {
            AppEnd::Tcp(connection) | AppEnd::Client(connection, _) => Some(&mut connection.report),
            AppEnd::Datagrams(end) => Some(&mut end.report),
            AppEnd::Nobody => None,
        }
    }

    fn into_report(self) -> Option<EndReport> {
        match self {
            AppEnd::Tcp(connection) | AppEnd::Client(connection, _) => Some(connection.report),
            AppEnd::Datagrams(end) => Some(end.report),
            AppEnd::Nobody => None,
        }
    }
}
