//! What a connection says about itself.

use super::{CloseReason, Connection, Stats};
use ackord_events::{EndpointId, TcpState};
use ackord_units::{Bytes, Seq, Span};

impl Connection {
    /// Which end of which connection this is.
    pub fn id(&self) -> EndpointId {
        self.id
    }

    /// The state of RFC 9293 §3.3.2.
    pub fn state(&self) -> TcpState {
        self.state
    }

    /// Why it is closed, once it is.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.close_reason
    }

    /// Whether all of the peer's data and its FIN have been received.
    pub fn peer_finished(&self) -> bool {
        self.receiver.finished
    }

    /// Whether the peer has acknowledged everything written, and the FIN if there was one.
    pub fn all_acknowledged(&self) -> bool {
        self.sender.queue().all_acknowledged()
    }

    /// Bytes acknowledged: sent bytes below this stream offset may be forgotten.
    pub fn bytes_acked(&self) -> u64 {
        self.sender.queue().una_offset()
    }

    /// Bytes received in order so far.
    pub fn bytes_received(&self) -> u64 {
        self.receiver.offset
    }

    /// The congestion window.
    pub fn cwnd(&self) -> Bytes {
        self.sender.cwnd()
    }

    /// The slow-start threshold; [`Bytes::MAX`] while there is none.
    pub fn ssthresh(&self) -> Bytes {
        self.sender.ssthresh()
    }

    /// Bytes sent and not acknowledged.
    pub fn flight_size(&self) -> Bytes {
        self.sender.queue().flight_size()
    }

    /// The smoothed round-trip time, once known.
    pub fn srtt(&self) -> Option<Span> {
        self.sender.timer().rtt().srtt()
    }

    /// The retransmission timeout as it stands.
    pub fn rto(&self) -> Span {
        self.sender.timer().rtt().rto()
    }

    /// Payload of a full-sized segment sent by this end, options taken off.
    pub fn smss(&self) -> Bytes {
        self.sender.smss()
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Stream offset of the first payload byte of a segment this end sends: `seq` must lie
    /// between what is acknowledged and what was sent.
    pub fn send_offset(&self, seq: Seq) -> Option<u64> {
        self.sender.queue().offset_of(seq)
    }
}
