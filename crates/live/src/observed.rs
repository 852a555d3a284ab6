//! What a stock kernel's end of a connection does, told as our own endpoint tells it.
//!
//! The driver sees every segment that a host puts on its wire and takes from it; now and then it
//! also has the kernel's own view of the socket. [`ObservedEnd`] makes of both the events that
//! `ackord-tcp` tells of itself, so that the same measures, captures and logs work for either.
//! It reads no clock and opens nothing: facts in, events out.
//!
//! | file | what |
//! | --- | --- |
//! | `outgoing.rs` | the half that sends: what is new, what is retransmitted, what is acknowledged |
//! | `incoming.rs` | the half that receives: what has arrived in order |
//! | `inflight.rs` | when what is outstanding was sent, for round-trip times |
//! | `sampled.rs` | the kernel's own view: windows, timeouts, recoveries |
//!
//! # How far it can be believed
//! Segments, retransmissions, acknowledgments and bytes are counted where they cross the wire:
//! exact. Round-trip times are taken from the wire too, one for each acknowledgment of new data
//! that was sent only once (Karn and Partridge 1987); they end where the packet is handed to the
//! host, so the host's own delay until it reads its device is not in them. Windows, timeouts and
//! recoveries are only as fine as the samples: what began and ended between two of them is not seen,
//! except timeouts, which the kernel counts.
//!
//! Not modelled: what the kernel throws away after it took it from the wire (pruned buffers), until
//! its acknowledgments show it; `RetransmissionSpurious` for reports beyond the last
//! thousand retransmissions; a wait in TIME-WAIT that ends.

#[cfg(test)]
mod against_endpoints;
mod incoming;
mod inflight;
mod outgoing;
mod sampled;
#[cfg(test)]
mod tests;

use crate::tcp_info::TcpInfo;
use ackord_events::{EndpointId, Event, SegmentKind, Sink, TcpState};
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::{Flags, Segment, Side};
use incoming::Incoming;
use outgoing::{Acknowledged, Outgoing};
use sampled::Sampled;

/// One end of one connection, known by what crosses its host's wire.
#[derive(Clone, Debug)]
pub struct ObservedEnd {
    endpoint: EndpointId,
    state: TcpState,
    /// Nothing until it sends.
    outgoing: Option<Outgoing>,
    /// Nothing until it receives.
    incoming: Option<Incoming>,
    /// Bytes of earlier connections between the same addresses and ports: acknowledged, received.
    acknowledged_before: u64,
    received_before: u64,
    scales: Scales,
    sampled: Sampled,
}

/// Window scale shifts of both ends, as their SYNs say (RFC 7323 §2).
#[derive(Clone, Copy, Debug, Default)]
struct Scales {
    ours: Option<u8>,
    theirs: Option<u8>,
}

impl Scales {
    /// The shifts in use: none unless both ends spoke of them.
    fn agreed(self) -> (u32, u32) {
        match (self.ours, self.theirs) {
            (Some(ours), Some(theirs)) => (u32::from(ours.min(14)), u32::from(theirs.min(14))),
            _ => (0, 0),
        }
    }
}

impl ObservedEnd {
    /// An end of which nothing has been seen yet.
    pub fn new(endpoint: EndpointId) -> ObservedEnd {
        let state = match endpoint.side {
            Side::Client => TcpState::Closed,
            Side::Server => TcpState::Listen,
        };
        ObservedEnd {
            endpoint,
            state,
            outgoing: None,
            incoming: None,
            acknowledged_before: 0,
            received_before: 0,
            scales: Scales::default(),
            sampled: Sampled::default(),
        }
    }

    /// Where the connection stands as far as SYN, FIN and RST have shown it.
    pub fn state(&self) -> TcpState {
        self.state
    }

    /// Whether this end has nothing left to say. Also true before it has said anything.
    pub fn is_over(&self) -> bool {
        matches!(self.state, TcpState::Closed | TcpState::Listen | TcpState::TimeWait)
    }

    /// The host put this segment on its wire.
    pub fn sent<S: Sink>(&mut self, at: Time, segment: &Segment, sink: &mut S) {
        if segment.flags.contains(Flags::SYN) {
            self.syn_sent(segment);
        }
        if segment.flags.contains(Flags::RST) {
            self.tell_sent(at, segment, SegmentKind::Reset, sink);
            self.enter(at, TcpState::Closed, sink);
            return;
        }
        let shown = self.note_what_is_acknowledged(segment);
        self.tell_delivered(at, shown, sink);
        let outgoing = self.outgoing.get_or_insert_with(|| Outgoing::from_amid(segment.seq));
        let kind = outgoing.sent(at, segment);
        self.tell_sent(at, segment, kind, sink);
        self.state_after_sending(at, segment, sink);
    }

    /// The host took this segment from its wire.
    pub fn received<S: Sink>(&mut self, at: Time, segment: &Segment, sink: &mut S) {
        if segment.flags.contains(Flags::RST) {
            if self.takes_reset(segment) {
                self.enter(at, TcpState::Closed, sink);
            }
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            self.syn_received(segment);
        } else if self.incoming.as_mut().is_some_and(|it| it.is_old(segment)) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.acknowledgment(at, segment, sink);
        }
        let Some(incoming) = &mut self.incoming else {
            // The middle of a connection whose beginning nobody saw.
            self.incoming = Some(Incoming::from_amid(segment.end_seq()));
            return;
        };
        let before = incoming.is_finished();
        let delivered = incoming.received(segment);
        let finished = incoming.is_finished() && !before;
        self.tell_delivered(at, delivered, sink);
        if finished {
            self.fin_received(at, sink);
        }
    }

    /// The kernel was asked how its socket is doing.
    pub fn sampled<S: Sink>(&mut self, at: Time, sample: &TcpInfo, sink: &mut S) {
        self.sampled.take(at, self.endpoint, sample, sink);
    }

    fn syn_sent(&mut self, segment: &Segment) {
        self.scales.ours = segment.options.window_scale;
        if self.outgoing.as_ref().is_some_and(|outgoing| outgoing.iss() == segment.seq) {
            return;
        }
        if !segment.flags.contains(Flags::ACK) {
            self.forget_incoming();
            self.scales.theirs = None;
        }
        self.forget_outgoing();
        self.outgoing = Some(Outgoing::new(segment.seq));
    }

    fn syn_received(&mut self, segment: &Segment) {
        let again = self.incoming.as_ref().is_some_and(|it| it.irs() == segment.seq);
        let amid = !matches!(
            self.state,
            TcpState::Listen | TcpState::Closed | TcpState::SynSent | TcpState::TimeWait
        );
        // A SYN amid a connection begins no other (RFC 5961 §4).
        if again || amid {
            return;
        }
        self.forget_incoming();
        if !segment.flags.contains(Flags::ACK) && self.state != TcpState::SynSent {
            self.forget_outgoing();
        }
        self.scales.theirs = segment.options.window_scale;
        let timestamp = segment.options.timestamps.map(|stamps| stamps.value);
        self.incoming = Some(Incoming::new(segment.seq, timestamp));
    }

    fn forget_outgoing(&mut self) {
        if let Some(outgoing) = self.outgoing.take() {
            self.acknowledged_before += outgoing.acknowledged();
        }
    }

    fn forget_incoming(&mut self) {
        if let Some(incoming) = self.incoming.take() {
            self.received_before += incoming.received_in_order();
        }
    }

    /// What the host acknowledges it has, whatever we saw of it; and what it is ready to take.
    fn note_what_is_acknowledged(&mut self, segment: &Segment) -> u64 {
        let Some(incoming) = &mut self.incoming else { return 0 };
        if !segment.flags.contains(Flags::ACK) {
            return 0;
        }
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.scales.agreed().0 };
        incoming.acknowledged(segment.ack, u32::from(segment.window) << shift)
    }

    fn acknowledgment<S: Sink>(&mut self, at: Time, segment: &Segment, sink: &mut S) {
        let Some(outgoing) = &mut self.outgoing else { return };
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.scales.agreed().1 };
        let window = u32::from(segment.window) << shift;
        let endpoint = self.endpoint;
        if let Some(spurious) = outgoing.reported_twice(segment) {
            let (seq, bytes) = (spurious.start, u64::from(spurious.end.since(spurious.start)));
            let bytes = Bytes(bytes);
            sink.emit(at, Event::RetransmissionSpurious { endpoint, seq, bytes });
        }
        let Acknowledged { data, advanced, fin, sent_at } =
            outgoing.acknowledged_up_to(segment.ack, window);
        let offset = self.acknowledged_before + outgoing.acknowledged();
        if advanced {
            let (bytes, stream_offset) = (Bytes(data), Bytes(offset));
            sink.emit(at, Event::AckAdvanced { endpoint, bytes, stream_offset });
        }
        // Endpoints of this project tell no round-trip time of their handshake either.
        if advanced && let Some(sent_at) = sent_at {
            self.sampled.round_trip(at, endpoint, at.saturating_since(sent_at), sink);
        }
        self.state_after_acknowledgment(at, fin, segment, sink);
    }

    fn takes_reset(&self, segment: &Segment) -> bool {
        match (self.state, &self.incoming, &self.outgoing) {
            // RFC 9293 §3.10.7.3: if it acknowledges the SYN.
            (TcpState::SynSent, _, Some(outgoing)) => segment.ack == outgoing.highest(),
            // RFC 5961 §3.2: exactly where the next byte is expected.
            (_, Some(incoming), _) => segment.seq == incoming.rcv_nxt(),
            _ => false,
        }
    }

    fn tell_sent<S: Sink>(&self, at: Time, segment: &Segment, kind: SegmentKind, sink: &mut S) {
        let payload = Bytes(u64::from(segment.payload_len));
        let endpoint = self.endpoint;
        sink.emit(at, Event::SegmentSent { endpoint, seq: segment.seq, payload, kind });
    }

    fn tell_delivered<S: Sink>(&self, at: Time, delivered: u64, sink: &mut S) {
        if delivered == 0 {
            return;
        }
        let in_order = self.incoming.as_ref().map_or(0, Incoming::received_in_order);
        let stream_offset = Bytes(self.received_before + in_order);
        let (endpoint, bytes) = (self.endpoint, Bytes(delivered));
        sink.emit(at, Event::DataDelivered { endpoint, bytes, stream_offset });
    }

    fn state_after_sending<S: Sink>(&mut self, at: Time, segment: &Segment, sink: &mut S) {
        let syn = segment.flags.contains(Flags::SYN);
        let fin = segment.flags.contains(Flags::FIN);
        let to = match self.state {
            _ if syn && segment.flags.contains(Flags::ACK) => TcpState::SynReceived,
            TcpState::Listen | TcpState::Closed | TcpState::TimeWait if syn => TcpState::SynSent,
            TcpState::Established | TcpState::SynReceived if fin => TcpState::FinWait1,
            TcpState::CloseWait if fin => TcpState::LastAck,
            _ => return,
        };
        self.enter(at, to, sink);
    }

    fn state_after_acknowledgment<S: Sink>(
        &mut self,
        at: Time,
        fin_acknowledged: bool,
        segment: &Segment,
        sink: &mut S,
    ) {
        let syn_acknowledged =
            self.outgoing.as_ref().is_some_and(|outgoing| segment.ack.after(outgoing.iss()));
        let to = match (self.state, fin_acknowledged) {
            (TcpState::SynSent, _) if syn_acknowledged && segment.flags.contains(Flags::SYN) => {
                TcpState::Established
            }
            (TcpState::SynReceived, _) if syn_acknowledged => TcpState::Established,
            (TcpState::FinWait1, true) => TcpState::FinWait2,
            (TcpState::Closing, true) => TcpState::TimeWait,
            (TcpState::LastAck, true) => TcpState::Closed,
            _ => return,
        };
        self.enter(at, to, sink);
    }

    fn fin_received<S: Sink>(&mut self, at: Time, sink: &mut S) {
        let to = match self.state {
            TcpState::Established | TcpState::SynReceived => TcpState::CloseWait,
            TcpState::FinWait1 => TcpState::Closing,
            TcpState::FinWait2 => TcpState::TimeWait,
            _ => return,
        };
        self.enter(at, to, sink);
    }

    fn enter<S: Sink>(&mut self, at: Time, to: TcpState, sink: &mut S) {
        if self.state != to {
            let (endpoint, from) = (self.endpoint, self.state);
            self.state = to;
            sink.emit(at, Event::StateChanged { endpoint, from, to });
        }
    }
}

/// The distance from `from` to `to` where `to` lies ahead, else nothing.
fn ahead(to: Seq, from: Seq) -> u32 {
    if to.after(from) { to.since(from) } else { 0 }
}
