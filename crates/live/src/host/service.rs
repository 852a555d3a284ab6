//! An application on a connection, what it sees of it, and what is reported of both.

use crate::http::transfer::Transfer;
use ackord_tcp::{CloseReason, Stats};
use ackord_units::{Span, Time};
use std::net::SocketAddr;

/// What an application sees of a connection.
pub(crate) trait Stream {
    /// Moves up to `limit` bytes that have arrived to the end of `out`; says how many.
    fn read(&mut self, limit: usize, out: &mut Vec<u8>) -> usize;
    /// Whether the peer has closed and everything it sent has been read.
    fn at_end(&self) -> bool;
    /// Bytes that have arrived and wait to be read.
    fn readable(&self) -> usize;
    /// Hands up to `limit` bytes that have arrived to `take`, without moving them, in pieces of
    /// what lies side by side; `take` says how many it took, and taking fewer than it was given
    /// ends it.
    fn drain(&mut self, limit: usize, take: &mut dyn FnMut(&[u8]) -> usize);
    /// How many bytes [`Stream::write`] would take now.
    fn room(&self) -> usize;
    /// Takes bytes to be sent, as many as there is room for; says how many.
    fn write(&mut self, bytes: &[u8]) -> usize;
    /// Bytes written so far.
    fn written(&self) -> u64;
    /// Bytes acknowledged by the peer so far.
    fn acked(&self) -> u64;
    /// No more will be written; reading goes on.
    fn close(&mut self);
    /// Ends the connection at once, with a reset.
    fn abort(&mut self);
}

/// An application on one connection.
pub(crate) trait Service: std::fmt::Debug {
    /// Does what can be done; called whenever something has happened on the connection.
    fn advance(&mut self, now: Time, stream: &mut dyn Stream);
    /// The bodies moved so far.
    fn transfers(&self) -> &[Transfer] {
        &[]
    }
    /// When it wants to be called although nothing may have happened.
    fn deadline(&self) -> Option<Time> {
        None
    }
}

/// A connection of our host, from its first segment on.
#[derive(Clone, Debug)]
pub struct ConnectionReport {
    /// The other end.
    pub peer: SocketAddr,
    /// When it began, since the start of the run.
    pub began_at: Time,
    /// When it was closed; nothing if it still was open when the run ended.
    pub ended_at: Option<Time>,
    /// Why it was closed; nothing if it still was open.
    pub close_reason: Option<CloseReason>,
    /// Our endpoint's counters.
    pub stats: Stats,
    /// Our endpoint's smoothed round-trip time at the end, if it ever measured one.
    pub srtt: Option<Span>,
    /// What was moved over it.
    pub transfers: Vec<Transfer>,
}
