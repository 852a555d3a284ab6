//! One of the two connections of a relay: an endpoint, and in whose name it speaks.

use crate::proxy::{NO_PAYLOAD, Outbox, ProxyStats};
use ackord_events::{NoSink, ProxySending, TcpState};
use ackord_tcp::{CloseReason, Config, Connection, Mechanisms, Outbound, reset_for};
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::{Ecn, Flags, FlowId, IpVersion, NodeId, Packet, Segment, Side};

/// Whom a half speaks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// The fixed host, over the wired path.
    Fixed,
    /// The mobile host, over the wireless link.
    Mobile,
}

/// In whose name packets leave, and to whom: the addresses of the absent host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guise {
    pub(super) flow: FlowId,
    pub(super) from: Side,
    pub(super) src: NodeId,
    pub(super) dst: NodeId,
    pub(super) ip: IpVersion,
}

/// An endpoint in another's name.
#[derive(Clone, Debug)]
pub(super) struct Half {
    pub(super) connection: Connection,
    peer: Peer,
    guise: Guise,
    /// Bytes of the peer's stream that it has been told have arrived.
    acknowledged: u64,
    /// Bytes of the other half's stream that were handed to this one.
    written: u64,
    /// The end of the highest data sent, to tell what is retransmitted.
    sent_up_to: Option<Seq>,
}

impl Guise {
    /// The one in which a packet came.
    pub(super) fn of(packet: &Packet) -> Guise {
        let Packet { flow, from, src, dst, ip, .. } = *packet;
        Guise { flow, from, src, dst, ip }
    }

    /// The one in which it is answered.
    pub(super) fn answering(packet: &Packet) -> Guise {
        let Packet { flow, from, src, dst, ip, .. } = *packet;
        Guise { flow, from: from.other(), src: dst, dst: src, ip }
    }

    fn packet(&self, segment: Segment, ecn: Ecn) -> Packet {
        Packet {
            flow: self.flow,
            from: self.from,
            src: self.src,
            dst: self.dst,
            ip: self.ip,
            ecn,
            ip_len: self.ip.header_len() + segment.header_len() + segment.payload_len,
            tag: NO_PAYLOAD,
            tcp: Some(segment),
        }
    }
}

impl Half {
    /// The half that waits for the SYN of the host that opens.
    pub(super) fn listen(made: (Config, Mechanisms), peer: Peer, guise: Guise, iss: Seq) -> Half {
        let (config, mechanisms) = made;
        let id = ackord_events::EndpointId { flow: guise.flow, side: guise.from };
        let connection = Connection::listen(config, mechanisms, id, iss);
        Half { connection, peer, guise, acknowledged: 0, written: 0, sent_up_to: None }
    }

    /// A segment of the peer's, and what routers marked it with.
    pub(super) fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.connection.handle_segment(now, segment, ecn, &mut NoSink);
        if self.connection.state() == TcpState::Listen {
            // The handshake was taken back: a half listens to one host, once.
            self.connection.abort();
        }
    }

    /// Its timers, if they are due.
    pub(super) fn handle_deadline(&mut self, now: Time) {
        if self.connection.deadline().is_some_and(|at| at <= now) {
            self.connection.handle_deadline(now, &mut NoSink);
        }
    }

    /// Sends all that may leave.
    pub(super) fn send(&mut self, now: Time, stats: &mut ProxyStats, out: &mut Outbox) {
        while let Some(Outbound { segment, ecn }) = self.connection.poll_segment(now, &mut NoSink) {
            if segment.flags.contains(Flags::ACK) {
                self.acknowledged = self.connection.bytes_received();
            }
            let what = self.purpose(&segment);
            match (self.peer, segment.payload_len) {
                (Peer::Fixed, 0) => stats.acks_sent += 1,
                (Peer::Mobile, 1..) => stats.data_sent += 1,
                _ => {}
            }
            out.send(self.guise.packet(segment, ecn), what);
        }
    }

    /// What a segment is for, as the event log has it.
    fn purpose(&mut self, segment: &Segment) -> ProxySending {
        let control = Flags::SYN | Flags::FIN | Flags::RST;
        if segment.payload_len == 0 {
            let bare = !segment.flags.intersects(control);
            return if bare && self.peer == Peer::Fixed {
                ProxySending::Acknowledgment
            } else {
                ProxySending::Relay
            };
        }
        let end = segment.end_seq();
        let again = self.sent_up_to.is_some_and(|known| end.at_or_before(known));
        if again {
            return ProxySending::Retransmission;
        }
        self.sent_up_to = Some(end);
        ProxySending::Relay
    }

    /// Answers a segment for which there is no connection any more (RFC 9293 §3.10.7.1).
    pub(super) fn refuse(&self, segment: &Segment, out: &mut Outbox) {
        if !segment.flags.contains(Flags::RST) {
            out.send(self.guise.packet(reset_for(segment), Ecn::NotEct), ProxySending::Relay);
        }
    }

    /// Whether the connection ended otherwise than by both hosts' FINs.
    pub(super) fn has_failed(&self) -> bool {
        self.is_closed() && self.connection.close_reason() != Some(CloseReason::Orderly)
    }

    /// Whether nothing is left of it.
    pub(super) fn is_closed(&self) -> bool {
        self.connection.state() == TcpState::Closed
    }

    /// Whether it only waits for old duplicates to die out.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.connection.state(), TcpState::Closed | TcpState::TimeWait)
    }

    /// Whether the handshake has come far enough that closing it sends a FIN. Before, it would
    /// take back the SYN.
    fn may_close(&self) -> bool {
        !matches!(self.connection.state(), TcpState::Listen | TcpState::SynSent)
    }

    /// Takes on what `from` has received since, and lets that one's window open: at once, or as
    /// this one's peer acknowledges. The FIN follows the last byte.
    pub(super) fn relay_from(&mut self, from: &mut Half, limit: Option<Bytes>) {
        let received = from.connection.bytes_received();
        if received > self.written {
            // What a closed connection does not take is lost, and nobody is told.
            self.connection.write(Bytes(received - self.written));
            self.written = received;
        }
        let unread = from.connection.readable();
        let leave = if limit.is_some() { self.held(from) } else { Bytes::ZERO };
        if unread > leave {
            from.connection.read(unread - leave);
        }
        if from.connection.peer_finished() && self.may_close() {
            self.connection.close();
        }
    }

    /// Bytes that `from` has received and this one's peer has not acknowledged.
    pub(super) fn held(&self, from: &Half) -> Bytes {
        let received = from.connection.bytes_received();
        Bytes(received.saturating_sub(self.connection.bytes_acked()))
    }

    /// Bytes whose sender has been told that they arrived, and that this one's peer has not
    /// acknowledged: lost for ever if the box dies now.
    pub(super) fn acknowledged_early(&self, from: &Half) -> Bytes {
        Bytes(from.acknowledged.saturating_sub(self.connection.bytes_acked()))
    }
}
