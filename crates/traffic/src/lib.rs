//! Workloads: what the application at the sending end of a flow writes, and when.
//!
//! | file | what |
//! | --- | --- |
//! | `bulk.rs` | as fast as TCP takes it |
//! | `paced.rs` | a message at regular intervals |
//! | `registry.rs` | every workload with its knobs, and how a choice becomes one |
//!
//! A workload is asked what to write whenever the connection may take something; it never sees the
//! connection. Not modelled: an application that reads slowly (the receiving end reads at once).

mod bulk;
mod paced;
pub mod registry;

pub use bulk::Bulk;
pub use paced::Paced;

use ackord_units::{Bytes, Time};

/// What the application does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It writes so much (never nothing, never more than is writable).
    Write(Bytes),
    /// It waits: for room in the send buffer, or for its own deadline.
    Wait,
    /// It has written everything and closes.
    Close,
}

/// An application at the sending end.
#[derive(Clone, Debug)]
pub enum Workload {
    /// As fast as TCP takes it.
    Bulk(Bulk),
    /// A message at regular intervals.
    Paced(Paced),
}

impl Workload {
    /// The connection is established: the application starts.
    pub fn start(&mut self, now: Time) {
        match self {
            Workload::Bulk(_) => {}
            Workload::Paced(paced) => paced.start(now),
        }
    }

    /// What it does at `now`, with room for `writable` in the send buffer. To be asked again until
    /// it waits or closes.
    #[inline]
    pub fn next(&mut self, now: Time, writable: Bytes) -> Step {
        match self {
            Workload::Bulk(bulk) => bulk.next(writable),
            Workload::Paced(paced) => paced.next(now, writable),
        }
    }

    /// When it wants to be asked again, whatever happens.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Workload::Bulk(_) => None,
            Workload::Paced(paced) => paced.deadline(),
        }
    }

    /// How much it writes in all, if it ever ends.
    pub fn size(&self) -> Option<Bytes> {
        match self {
            Workload::Bulk(bulk) => bulk.size(),
            Workload::Paced(paced) => paced.size(),
        }
    }
}
