//! The scenario's workloads on the kernel's sockets: one thread, which waits for all of them.
//!
//! | file | what |
//! | --- | --- |
//! | `apps.rs` | [`Apps`]: what the driver starts, what it is told, and the reports at the end |
//! | `apps/build.rs` | the ends of a scenario's flows |
//! | `apps/worker.rs` | the thread: readiness, deadlines, samples, the order to stop |
//! | `apps/connection.rs` | one end of a connection: its socket, its application |
//! | `apps/datagrams.rs` | the ends of a datagram flow |
//! | `apps/desk.rs` | what an end does its work with |
//! | `apps/sockets.rs` | sockets bound and watched |
//! | `apps/reader.rs` | a thread that reads, for applications that take whatever comes |
//! | `apps/tests.rs`, `apps/path_tests.rs` | every workload against itself over loopback; between kernels |
//!
//! Every socket was made in the namespace it belongs to and is handed over; nothing here enters a
//! namespace. Flows to one host share a listening socket where they share its port, as the
//! simulator's addresses have it, and are told apart by who connects.
//!
//! Not modelled: an application that reads slowly (both ends read at once, and discard); options
//! that have to be set before the handshake differ between flows that share a listening socket
//! (the first flow's count, and the others' are set when the connection is accepted).

mod build;
mod connection;
mod datagrams;
mod desk;
#[cfg(test)]
mod path_tests;
mod reader;
mod sockets;
#[cfg(test)]
mod tests;
mod worker;

use crate::clock::Clock;
use crate::plain::Plain;
use crate::tcp_info::TcpInfo;
use ackord_events::EndpointId;
use ackord_sys::socket::set_option;
use ackord_traffic::{Datagrams, Transfer, Workload};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::Side;
use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use worker::Worker;

#[allow(unused_imports, reason = "the emulation that starts the ends is written beside them")]
pub(crate) use build::addresses_of;
#[cfg(test)]
pub(crate) use desk::noise;

/// One end of a flow on a socket of the kernel.
#[derive(Debug)]
pub(crate) struct KernelEnd {
    /// Which end of which flow. The client's connects, the server's accepts.
    pub(crate) endpoint: EndpointId,
    /// What the socket is bound to.
    pub(crate) local: SocketAddr,
    /// The other end.
    pub(crate) remote: SocketAddr,
    /// What it does.
    pub(crate) application: Application,
    /// When the client connects. A datagram flow has its start in its own source.
    pub(crate) start: Time,
    /// What is set on the socket before it connects or listens, and once more on what it accepts.
    pub(crate) options: Vec<SocketOption>,
    /// The socket, made inside the namespace of its host and in no state yet.
    pub(crate) socket: OwnedFd,
}

/// What runs at one end of a flow.
#[derive(Debug)]
pub(crate) enum Application {
    /// An application on a TCP connection.
    Tcp(Workload),
    /// The source of a datagram flow, started.
    DatagramSource(Datagrams),
    /// Who takes the datagrams.
    DatagramSink,
}

/// A socket option as setsockopt(2) takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketOption {
    /// Its name, for reports.
    pub(crate) told_as: &'static str,
    pub(crate) level: i32,
    pub(crate) name: i32,
    pub(crate) value: Vec<u8>,
}

/// What has happened at an end, in order of time within an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AppNews {
    #[serde(with = "crate::plain")]
    pub(crate) at: Time,
    #[serde(rename = "end", with = "crate::plain")]
    pub(crate) endpoint: EndpointId,
    pub(crate) what: AppEvent,
}

/// What it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum AppEvent {
    /// The connection is established and the application starts.
    Established,
    /// The application writes the first byte of a transfer.
    Began(#[serde(with = "TransferFields")] Transfer),
    /// The application has all of a transfer.
    Completed(#[serde(with = "TransferFields")] Transfer),
    /// The connection as the kernel sees it.
    Sampled(Box<TcpInfo>),
    /// Both sides have finished and the kernel is done with this end, or is in TIME-WAIT.
    Closed,
    /// A call failed and the end is given up.
    Failed {
        call: Call,
        #[serde(with = "crate::plain")]
        errno: Errno,
    },
}

/// How a transfer is told.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Transfer")]
struct TransferFields {
    index: u64,
    #[serde(with = "crate::plain")]
    bytes: Bytes,
}

/// Which call of an application failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// bind(2).
    Bind,
    /// listen(2).
    Listen,
    /// connect(2).
    Connect,
    /// accept(2).
    Accept,
    /// send(2).
    Send,
    /// recv(2).
    Receive,
}

impl Call {
    /// As a word.
    pub const fn word(self) -> &'static str {
        match self {
            Call::Bind => "bind",
            Call::Listen => "listen",
            Call::Connect => "connect",
            Call::Accept => "accept",
            Call::Send => "send",
            Call::Receive => "receive",
        }
    }
}

impl Plain for Call {
    type As = Call;
    fn plain(&self) -> Call {
        *self
    }
    fn of(call: Call) -> Call {
        call
    }
}

/// An end when everything is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    /// Which.
    #[serde(rename = "end", with = "crate::plain")]
    pub endpoint: EndpointId,
    /// When the connection stood; nothing if it never did, or for datagrams.
    #[serde(with = "crate::plain")]
    pub established_at: Option<Time>,
    /// When the kernel was done with it; nothing if it was cut off by the end of the run.
    #[serde(with = "crate::plain")]
    pub closed_at: Option<Time>,
    /// Bytes the kernel took from the application.
    #[serde(with = "crate::plain")]
    pub written: Bytes,
    /// Bytes the application has read.
    #[serde(with = "crate::plain")]
    pub read: Bytes,
    /// Datagrams the kernel took, or handed out.
    pub datagrams: u64,
    /// Datagrams that were due and that the kernel had no room for.
    pub datagrams_refused: u64,
    /// The connection as the kernel saw it last, just before its socket was closed.
    pub last: Option<TcpInfo>,
    /// What failed.
    #[serde(with = "crate::plain")]
    pub failure: Option<(Call, Errno)>,
    /// Options that the kernel did not take.
    #[serde(with = "crate::plain")]
    pub options_refused: Vec<(String, Errno)>,
}

/// What is left when the thread has ended.
#[derive(Debug)]
pub(crate) struct AppsRemains {
    /// What had not been fetched yet.
    pub(crate) news: Vec<AppNews>,
    /// One per end, in the order they were given in.
    pub(crate) reports: Vec<EndReport>,
}

/// Takes news where they happen.
pub(crate) type Teller = Box<dyn Fn(AppNews) + Send + Sync>;

/// What the driver and the thread share.
struct Exchange {
    news: Mutex<Vec<AppNews>>,
    /// Who is told at once; nothing where news are fetched.
    teller: Option<Teller>,
    /// Readable when there is news to be fetched.
    told: EventFd,
    /// Readable when the thread has to end.
    stop: EventFd,
}

/// When the kernel is asked about its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    /// How often; where this is nothing, only when a connection ends.
    pub(crate) every: Span,
    /// By how much later than a multiple of that.
    pub(crate) after: Span,
}

/// The thread of the applications.
pub(crate) struct Apps {
    exchange: Arc<Exchange>,
    thread: JoinHandle<io::Result<Vec<EndReport>>>,
}

impl Apps {
    /// Binds every socket, listens where connections are to be accepted, and starts the thread.
    /// Connections are opened at their time on `clock` and sampled as `sampling` says. The thread may have
    /// `realtime_priority`: it never waits by looking, so it may come before all others. `teller`, if
    /// there is one, hears the news instead of [`Apps::news`]; then the kernel runs in simulated time,
    /// and who takes whatever comes has a thread for it.
    ///
    /// # Errors
    /// If a socket cannot be bound or listened on, or no thread or descriptor is left.
    pub(crate) fn start(
        ends: Vec<KernelEnd>,
        clock: Clock,
        sampling: Sampling,
        realtime_priority: bool,
        teller: Option<Teller>,
    ) -> io::Result<Apps> {
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let exchange = Arc::new(Exchange {
            news: Mutex::default(),
            teller,
            told: EventFd::from_flags(flags)?,
            stop: EventFd::from_flags(flags)?,
        });
        let worker = Worker::new(ends, clock, sampling, Arc::clone(&exchange))?;
        let thread = std::thread::Builder::new().name("apps".to_owned());
        let thread = thread.spawn(move || worker.run(realtime_priority))?;
        Ok(Apps { exchange, thread })
    }

    /// Readable when there is news.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.exchange.told.as_fd()
    }

    /// What has happened since the last call.
    pub(crate) fn news(&mut self) -> Vec<AppNews> {
        // Before the news are taken: what is told in between makes it readable again.
        let _ = self.exchange.told.read();
        self.exchange.take()
    }

    /// Ends the thread: every connection that still stands is sampled and closed where it is.
    ///
    /// # Errors
    /// If the thread had to give up waiting.
    pub(crate) fn finish(self) -> io::Result<AppsRemains> {
        // It can only fail when the counter is full, and then it is set.
        let _ = self.exchange.stop.write(1);
        let reports =
            self.thread.join().map_err(|_| io::Error::other("a panic among the apps"))??;
        Ok(AppsRemains { news: self.exchange.take(), reports })
    }
}

impl Exchange {
    fn take(&self) -> Vec<AppNews> {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Hands over what is in `news`, which is empty afterwards.
    fn tell(&self, news: &mut Vec<AppNews>) {
        if let Some(teller) = &self.teller {
            news.drain(..).for_each(teller);
        } else if !news.is_empty() {
            self.news.lock().unwrap_or_else(PoisonError::into_inner).append(news);
            let _ = self.told.write(1);
        }
    }
}

impl EndReport {
    fn new(endpoint: EndpointId) -> EndReport {
        EndReport {
            endpoint,
            established_at: None,
            closed_at: None,
            written: Bytes::ZERO,
            read: Bytes::ZERO,
            datagrams: 0,
            datagrams_refused: 0,
            last: None,
            failure: None,
            options_refused: Vec::new(),
        }
    }

    /// Sets what was asked for, and remembers what the kernel did not take.
    fn apply(&mut self, socket: BorrowedFd<'_>, options: &[SocketOption]) {
        for option in options {
            let told_as = option.told_as;
            let known = self.options_refused.iter().any(|(name, _)| *name == told_as);
            match set_option(socket, option.level, option.name, &option.value) {
                Err(errno) if !known => self.options_refused.push((told_as.to_owned(), errno)),
                Ok(()) | Err(_) => {}
            }
        }
    }
}

impl KernelEnd {
    fn connects(&self) -> bool {
        self.endpoint.side == Side::Client
    }
}
