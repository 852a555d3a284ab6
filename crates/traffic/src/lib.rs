//! Workloads: what the applications at both ends of a flow write and read, and when.
//!
//! | file | what |
//! | --- | --- |
//! | `bulk.rs` | as fast as TCP takes it |
//! | `paced.rs` | a message at regular intervals |
//! | `transfers.rs` | one transfer after the other on one connection, with pauses |
//! | `exchange.rs` | questions and answers: request and response, write-write-read |
//! | `telnet.rs` | keystrokes and their echoes |
//! | `web.rs` | pages of several objects |
//! | `on_off.rs` | bursts at a rate, with silence in between |
//! | `datagrams.rs` | a datagram flow, which is no connection |
//! | `draw.rs` | lengths and pauses: fixed, or drawn |
//! | `registry.rs`, `registry/` | every workload with its knobs, and how a choice becomes one |
//!
//! Grammar: `start` when the connection is established, `handle_data` for what was read, `next`
//! until it waits or closes, `deadline` for time. Each end of a flow is a [`Workload`] of its own
//! and knows only its socket, so the two may run on different machines; what both have to know of
//! random lengths they draw from streams of the same name.
//!
//! Not modelled: an application that reads slowly (both ends read at once); several connections
//! for one workload (a flow is one connection: list several flows, with staggered starts).

mod bulk;
mod datagrams;
mod draw;
mod exchange;
mod on_off;
mod paced;
pub mod registry;
mod telnet;
mod transfers;
mod web;

pub use bulk::Bulk;
pub use datagrams::{Bursts, DATAGRAM_HEADERS, Datagrams};
pub use draw::{Draw, Law};
pub use exchange::{Answerer, Asker, Exchange};
pub use on_off::OnOff;
pub use paced::Paced;
pub use telnet::{Echoer, Keys, Typist};
pub use transfers::{Gathering, Transfers};
pub use web::Browser;

use ackord_units::{Bytes, Time};

/// What the application does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It writes so much (never nothing, never more than is writable). What is written by one step
    /// is handed to TCP before the next step is asked for.
    Write(Bytes),
    /// It tells that a transfer begins: this end is going to write its first byte.
    Began(Transfer),
    /// It tells that a transfer is complete: this end has all of it.
    Completed(Transfer),
    /// It waits: for room in the send buffer, for data, or for its own deadline.
    Wait,
    /// It is done and closes.
    Close,
}

/// A transfer, or an exchange of question and answer, of a workload that has such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Which, counted from zero.
    pub index: u64,
    /// What the flow's sending end sends in it.
    pub bytes: Bytes,
}

/// What an application can learn from its socket.
pub trait Socket {
    /// Room in the send buffer.
    fn writable(&self) -> Bytes;

    /// Whether the peer has acknowledged everything that was written (what Linux tells by
    /// SIOCOUTQ).
    fn is_drained(&self) -> bool;
}

/// The application at one end of a flow. Those with much to remember are boxed, so that many bulk
/// flows stay close together in memory.
#[derive(Clone, Debug)]
pub enum Workload {
    /// As fast as TCP takes it.
    Bulk(Bulk),
    /// A message at regular intervals.
    Paced(Paced),
    /// Writes one transfer after the other.
    Transfers(Box<Transfers>),
    /// Takes in what [`Workload::Transfers`] at the other end writes.
    Gathering(Box<Gathering>),
    /// Asks and waits for the answer.
    Asker(Box<Asker>),
    /// Answers.
    Answerer(Box<Answerer>),
    /// Types, and waits for echoes.
    Typist(Box<Typist>),
    /// Echoes.
    Echoer(Echoer),
    /// Looks at pages.
    Browser(Box<Browser>),
    /// Sends bursts.
    OnOff(Box<OnOff>),
    /// Takes whatever comes and writes nothing.
    Idle,
}

/// The applications at the two ends of a flow.
#[derive(Clone, Debug)]
pub struct Workloads {
    /// Of the end that sends the flow's data.
    pub sends: Workload,
    /// Of the other end.
    pub receives: Workload,
}

impl Workload {
    /// The connection is established: the application starts.
    pub fn start(&mut self, now: Time) {
        match self {
            Workload::Paced(paced) => paced.start(now),
            Workload::Transfers(transfers) => transfers.start(now),
            Workload::Asker(asker) => asker.start(now),
            Workload::Typist(typist) => typist.start(now),
            Workload::Browser(browser) => browser.start(now),
            Workload::OnOff(bursts) => bursts.start(now),
            Workload::Bulk(_)
            | Workload::Gathering(_)
            | Workload::Answerer(_)
            | Workload::Echoer(_)
            | Workload::Idle => {}
        }
    }

    /// It has read `bytes`.
    #[inline]
    pub fn handle_data(&mut self, now: Time, bytes: Bytes) {
        match self {
            Workload::Gathering(gathering) => gathering.handle_data(bytes),
            Workload::Asker(asker) => asker.handle_data(bytes),
            Workload::Answerer(answerer) => answerer.handle_data(now, bytes),
            Workload::Typist(typist) => typist.handle_data(bytes),
            Workload::Echoer(echoer) => echoer.handle_data(bytes),
            Workload::Browser(browser) => browser.handle_data(bytes),
            Workload::Bulk(_)
            | Workload::Paced(_)
            | Workload::Transfers(_)
            | Workload::OnOff(_)
            | Workload::Idle => {}
        }
    }

    /// What it does at `now`. To be asked again until it waits or closes.
    #[inline]
    pub fn next(&mut self, now: Time, socket: &impl Socket) -> Step {
        match self {
            Workload::Bulk(bulk) => bulk.next(socket.writable()),
            Workload::Paced(paced) => paced.next(now, socket.writable()),
            Workload::Transfers(transfers) => transfers.next(now, socket),
            Workload::Gathering(gathering) => gathering.next(),
            Workload::Asker(asker) => asker.next(now, socket.writable()),
            Workload::Answerer(answerer) => answerer.next(now, socket.writable()),
            Workload::Typist(typist) => typist.next(now, socket.writable()),
            Workload::Echoer(echoer) => echoer.next(socket.writable()),
            Workload::Browser(browser) => browser.next(now, socket.writable()),
            Workload::OnOff(bursts) => bursts.next(now, socket.writable()),
            Workload::Idle => Step::Wait,
        }
    }

    /// When it wants to be asked again, whatever happens.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Workload::Paced(paced) => paced.deadline(),
            Workload::Transfers(transfers) => transfers.deadline(),
            Workload::Asker(asker) => asker.deadline(),
            Workload::Answerer(answerer) => answerer.deadline(),
            Workload::Typist(typist) => typist.deadline(),
            Workload::Browser(browser) => browser.deadline(),
            Workload::OnOff(bursts) => bursts.deadline(),
            Workload::Bulk(_) | Workload::Gathering(_) | Workload::Echoer(_) | Workload::Idle => {
                None
            }
        }
    }

    /// Whether it ever does anything: nobody needs to drive an idle one.
    pub fn is_idle(&self) -> bool {
        matches!(self, Workload::Idle)
    }

    /// How much it writes in all, if it ever ends.
    pub fn size(&self) -> Option<Bytes> {
        match self {
            Workload::Bulk(bulk) => bulk.size(),
            Workload::Paced(paced) => paced.size(),
            Workload::Transfers(transfers) => transfers.size(),
            Workload::Asker(asker) => asker.size(),
            Workload::Answerer(answerer) => answerer.size(),
            Workload::Typist(typist) => typist.size(),
            Workload::Browser(browser) => browser.size(),
            Workload::OnOff(bursts) => bursts.size(),
            Workload::Gathering(_) | Workload::Echoer(_) | Workload::Idle => Some(Bytes::ZERO),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use ackord_units::Span;

    /// A socket in a given state.
    pub(crate) struct Fixed {
        pub(crate) writable: Bytes,
        pub(crate) drained: bool,
    }

    impl Socket for Fixed {
        fn writable(&self) -> Bytes {
            self.writable
        }

        fn is_drained(&self) -> bool {
            self.drained
        }
    }

    pub(crate) fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }
}
