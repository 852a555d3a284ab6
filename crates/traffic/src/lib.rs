//! Workloads: what the applications at both ends of a flow write and read, and when.
//!
//! | file | what |
//! | --- | --- |
//! | `bulk.rs` | as fast as TCP takes it |
//! | `paced.rs` | a message at regular intervals |
//! | `lengths.rs` | lengths of transfers, and which of them is due |
//! | `transfers.rs` | one transfer after the other on one connection, with pauses |
//! | `exchange.rs` | questions and answers: request and response, write-write-read |
//! | `telnet.rs` | keystrokes and their echoes |
//! | `web.rs` | pages of several objects |
//! | `on_off.rs` | bursts at a rate, with silence in between |
//! | `datagrams.rs` | a datagram flow, which is no connection |
//! | `draw.rs` | lengths and pauses: fixed, or drawn |
//! | `knobs.rs` | knobs that several have |
//!
//! Grammar: `start` when the connection is established, `handle_data` for what was read, `next`
//! until it waits or closes, `deadline` for time. Each end of a flow is a [`Workload`] of its own
//! and knows only its socket, so the two may run on different machines; what both have to know of
//! random lengths they draw from streams of the same name.
//!
//! Not modelled: an application that reads slowly (both ends read at once); several connections
//! for one workload (a flow is one connection: list several flows, with staggered starts).

mod draw;
mod knobs;
mod lengths;

mechanisms! {
    /// Workloads: what the applications at both ends of a flow do.
    pub enum WorkloadChoice: dyn WorkloadKnobs {
        mod bulk => Bulk(BulkKnobs);
        mod paced => Paced(PacedKnobs);
        mod transfers => Transfers(TransfersKnobs);
        mod exchange => Request(RequestKnobs), WriteWriteRead(WriteWriteReadKnobs);
        mod telnet => Telnet(TelnetKnobs);
        mod web => Web(WebKnobs);
        mod on_off => OnOff(OnOffKnobs);
        mod datagrams => Cbr(CbrKnobs);
    }
}

/// What every workload's knobs lead to.
pub trait WorkloadKnobs {
    /// What carries it.
    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    /// Which end sends a flow's data where the flow does not say: the one that opens the connection,
    /// but the one that is asked where the other asks.
    fn usual_sender(&self) -> Side {
        Side::Client
    }

    /// What the sending end offers at most, on average.
    fn offer(&self) -> Offer {
        Offer::UNLIMITED
    }

    /// The applications at both ends, with streams by what is drawn from them ("lengths", "objects",
    /// "pauses", "thoughts"); idle where it is no connection's.
    fn build(&self, stream: &dyn Fn(&str) -> RandomStream) -> Workloads;

    /// The sending end of one that UDP carries; nothing for the others.
    fn datagrams(&self, _stream: &dyn Fn(&str) -> RandomStream) -> Option<Datagrams> {
        None
    }
}

/// What an application has to send at most, on average: to estimate what a run costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// The bytes per second; as many as TCP takes when absent.
    pub rate: Option<f64>,
    /// The bytes of one write; as many as TCP takes when absent.
    pub write: Option<Bytes>,
}

impl Offer {
    /// As much and as fast as TCP takes it.
    pub const UNLIMITED: Offer = Offer { rate: None, write: None };

    /// One write of `write` bytes in each `interval`.
    pub(crate) fn each(write: Bytes, interval: Span) -> Offer {
        Offer { rate: Offer::rate_of(write, interval), write: Some(write) }
    }

    /// The rate of `bytes` in each `interval`, which has no bound if that is zero.
    pub(crate) fn rate_of(bytes: Bytes, interval: Span) -> Option<f64> {
        (interval > Span::ZERO).then(|| bytes.get() as f64 / interval.as_secs_f64())
    }
}

/// What carries a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP connection.
    Tcp,
    /// UDP datagrams, one way.
    Udp,
}

impl Transport {
    /// Its name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        }
    }
}

pub use bulk::Bulk;
pub use datagrams::{Bursts, DATAGRAM_HEADERS, Datagrams};
pub use draw::{Distribution, Draw};
pub use exchange::{Answerer, Exchange, Requester};
pub use lengths::DrawBudget;
pub use on_off::OnOff;
pub use paced::Paced;
pub use telnet::{Echoer, Keys, TelnetClient};
pub use transfers::{Collector, Transfers};
pub use web::Browser;

use ackord_units::{Bytes, RandomStream, Span, Time, mechanisms};
use ackord_wire::Side;
use std::fmt::Debug;

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

/// What an application does with its connection.
pub trait Application: Debug + Send {
    /// The connection is established: the application starts.
    fn start(&mut self, _now: Time) {}

    /// It has read `bytes`.
    fn handle_data(&mut self, _now: Time, _bytes: Bytes) {}

    /// What it does at `now`. To be asked again until it waits or closes.
    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step;

    /// When it wants to be asked again, whatever happens.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// The bytes that it writes in all. Returns `None` if it never ends, or if the size takes more
    /// draws than `budget` has left.
    fn size(&self, _budget: &mut DrawBudget) -> Option<Bytes> {
        Some(Bytes::ZERO)
    }

    /// Whether it waits for the peer's acknowledgments, of which nothing tells on a kernel's socket.
    fn waits_for_acks(&self) -> bool {
        false
    }
}

/// An application that can be copied as it stands: every one that is [`Clone`].
pub trait BoxedApplication: Application {
    /// Itself.
    fn boxed_clone(&self) -> Box<dyn BoxedApplication>;
}

impl<A: Application + Clone + 'static> BoxedApplication for A {
    fn boxed_clone(&self) -> Box<dyn BoxedApplication> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn BoxedApplication> {
    fn clone(&self) -> Box<dyn BoxedApplication> {
        (**self).boxed_clone()
    }
}

/// The application at one end of a flow. Bulk transfers, of which there may be many, stay close together
/// in memory; the others are in boxes.
#[derive(Clone, Debug)]
pub enum Workload {
    /// As fast as TCP takes it.
    Bulk(Bulk),
    /// Another.
    Other(Box<dyn BoxedApplication>),
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

impl Workloads {
    /// The other end takes whatever comes.
    pub fn one_way(sends: Workload) -> Workloads {
        Workloads { sends, receives: Workload::Idle }
    }
}

impl Workload {
    /// An application that is not a bulk transfer.
    pub fn of(application: impl BoxedApplication + 'static) -> Workload {
        Workload::Other(Box::new(application))
    }

    /// The connection is established: the application starts.
    pub fn start(&mut self, now: Time) {
        if let Workload::Other(application) = self {
            application.start(now);
        }
    }

    /// It has read `bytes`.
    #[inline]
    pub fn handle_data(&mut self, now: Time, bytes: Bytes) {
        if let Workload::Other(application) = self {
            application.handle_data(now, bytes);
        }
    }

    /// What it does at `now`. To be asked again until it waits or closes.
    #[inline]
    pub fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        match self {
            Workload::Bulk(bulk) => bulk.next(socket.writable()),
            Workload::Other(application) => application.next(now, socket),
            Workload::Idle => Step::Wait,
        }
    }

    /// When it wants to be asked again, whatever happens.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Workload::Other(application) => application.deadline(),
            Workload::Bulk(_) | Workload::Idle => None,
        }
    }

    /// Whether all that it waits for is room in the send buffer.
    #[inline]
    pub fn waits_for_room(&self) -> bool {
        matches!(self, Workload::Bulk(bulk) if bulk.has_more())
    }

    /// Whether it ever does anything: nobody needs to drive an idle one.
    pub fn is_idle(&self) -> bool {
        matches!(self, Workload::Idle)
    }

    /// The bytes that it writes in all. Returns `None` if it never ends, or if the size takes more
    /// draws than `budget` has left.
    pub fn size(&self, budget: &mut DrawBudget) -> Option<Bytes> {
        match self {
            Workload::Bulk(bulk) => bulk.size(),
            Workload::Other(application) => application.size(budget),
            Workload::Idle => Some(Bytes::ZERO),
        }
    }

    /// Whether it waits for the peer's acknowledgments.
    pub fn waits_for_acks(&self) -> bool {
        matches!(self, Workload::Other(application) if application.waits_for_acks())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::{Choice, KnobValue, Knobs, Span, confused_words};

    fn built(choice: &WorkloadChoice) -> String {
        let stream = &|name: &str| RandomStream::for_element(1, name);
        let Workloads { sends, receives } = choice.config().build(stream);
        format!("{sends:?} {receives:?} {:?}", choice.config().datagrams(stream))
    }

    #[test]
    fn every_workload_builds_from_its_defaults_and_something_else_from_every_word() {
        for mechanism in WorkloadChoice::MECHANISMS {
            let choice = WorkloadChoice::named(mechanism.name).expect("listed");
            built(&choice);
            let confused = confused_words(&choice, |choice| {
                // How bursts and silences are drawn shows where there are any.
                let mut pausing = choice.clone();
                if mechanism.knob("off").is_some() {
                    assert!(pausing.set("off", KnobValue::Span(Span::from_secs(1))));
                }
                Some(built(&pausing))
            });
            assert_eq!(confused, [], "{}", mechanism.name);
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

    /// A socket with so much room, which is not drained.
    pub(crate) const fn room(writable: Bytes) -> Fixed {
        Fixed { writable, drained: false }
    }

    pub(crate) fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }
}
