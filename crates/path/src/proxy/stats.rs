//! What a middlebox counts.

use ackord_units::{Bytes, Span};

/// Counters of one box since it began (or began anew). What it sends and absorbs is counted by the
/// graph as well, for the conservation of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProxyStats {
    /// Packets it saw, both ways.
    pub seen: u64,
    /// Data segments it retransmitted to the mobile host (or, where it splits the connection, sent).
    pub data_sent: u64,
    /// Acknowledgments it sent to the fixed host by itself.
    pub acks_sent: u64,
    /// Packets that ended in it for good.
    pub absorbed: u64,
    /// Packets that went on with other contents.
    pub rewritten: u64,
    /// Connections it keeps something of.
    pub flows: u32,
    /// The most at once.
    pub peak_flows: u32,
    /// Connections it let pass untouched because it had no room for more.
    pub flows_refused: u64,
    /// Data it keeps.
    pub cached: Bytes,
    /// The most at once.
    pub peak_cached: Bytes,
    /// Data whose sender has been told that it arrived while its receiver has not acknowledged it:
    /// lost for ever if the box dies. Nothing where acknowledgments keep their meaning.
    pub acknowledged_early: Bytes,
    /// The most at once.
    pub peak_acknowledged_early: Bytes,
    /// Data that its sender believes delivered and that was given up or died with the box before
    /// its receiver acknowledged it. (The receiver may have some of it all the same.)
    pub acknowledged_lost: Bytes,
    /// Data it gave up to make room.
    pub evicted: Bytes,
    /// Data that passed uncached because it did not fit.
    pub uncached: Bytes,
    /// How often it took a wireless link for faded (or gone), over all connections.
    pub holds: u64,
    /// Of those, how often an acknowledgment showed that nothing had been lost.
    pub false_holds: u64,
    /// How long the holds lasted, together.
    pub held_for: Span,
    /// Packets sent to find out whether the link is back.
    pub probes: u64,
}

impl ProxyStats {
    /// So much is kept now.
    pub fn set_cached(&mut self, cached: Bytes) {
        self.cached = cached;
        self.peak_cached = self.peak_cached.max(cached);
    }

    /// So much is acknowledged now that its receiver has not acknowledged.
    pub fn set_acknowledged_early(&mut self, early: Bytes) {
        self.acknowledged_early = early;
        self.peak_acknowledged_early = self.peak_acknowledged_early.max(early);
    }

    /// The box has died, and what it kept with it.
    pub fn bury(&mut self) {
        self.acknowledged_lost += self.acknowledged_early;
        self.acknowledged_early = Bytes::ZERO;
        self.cached = Bytes::ZERO;
        self.flows = 0;
    }

    /// So many connections are known now.
    pub fn set_flows(&mut self, flows: usize) {
        self.flows = u32::try_from(flows).unwrap_or(u32::MAX);
        self.peak_flows = self.peak_flows.max(self.flows);
    }
}
