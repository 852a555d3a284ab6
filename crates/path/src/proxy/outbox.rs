//! What a middlebox sends and tells.

use ackord_events::{ProxyAct, ProxySending};
use ackord_wire::{FlowId, Packet};

/// Filled by a box during one call, emptied by the graph after it: packets leave in the order in
/// which they were put in.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    pub(crate) sent: Vec<(Packet, Made)>,
    pub(crate) notes: Vec<Note>,
}

/// Where a packet that a box sends comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// The box made it, or made a copy: one packet more than its hosts sent.
    New(ProxySending),
    /// The same, ahead of what waits in the queue of the link towards the mobile hosts.
    First(ProxySending),
    /// The box had absorbed it earlier.
    Released,
}

/// What a box tells of itself, for the event log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The connection it is about.
    pub flow: FlowId,
    /// What happened.
    pub act: ProxyAct,
}

impl Outbox {
    /// Sends a packet that the box made, and says what it is for. It leaves from the box's router
    /// towards `packet.dst`.
    pub fn send(&mut self, packet: Packet, what: ProxySending) {
        self.sent.push((packet, Made::New(what)));
    }

    /// The same, ahead of what waits in the queue of the link towards the mobile hosts.
    pub fn send_first(&mut self, packet: Packet, what: ProxySending) {
        self.sent.push((packet, Made::First(what)));
    }

    /// Sends a packet that the box absorbed earlier.
    pub fn release(&mut self, packet: Packet) {
        self.sent.push((packet, Made::Released));
    }

    /// Tells what the box did.
    pub fn note(&mut self, flow: FlowId, act: ProxyAct) {
        self.notes.push(Note { flow, act });
    }

    /// The packets in it, for tests of a box by itself.
    pub fn packets(&self) -> impl Iterator<Item = (&Packet, Made)> {
        self.sent.iter().map(|(packet, made)| (packet, *made))
    }

    /// What was told, for tests of a box by itself.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.sent.clear();
        self.notes.clear();
    }
}
