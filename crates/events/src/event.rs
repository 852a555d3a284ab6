//! Every event.

use crate::{
    AccessOutcome, CwndReason, DropReason, LossReason, ProxyAct, ProxySending, RecoveryKind,
    RefusalAnswer, RefusalReason, SegmentKind, SpuriousEvidence, TapPoint, TcpState,
};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{FlowId, NodeId, Packet, Side};

/// One end of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId {
    /// The connection.
    pub flow: FlowId,
    /// Which end.
    pub side: Side,
}

/// One direction of one link, numbered as in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// No link: where something happens at a node before any link is taken.
    pub const NONE: LinkId = LinkId(u32::MAX);
}

/// A middlebox, numbered as in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProxyId(pub u32);

/// What happened. Fields carry units in their types; reasons are enums.
///
/// A sink lists what it leaves out, so that a new event is looked at by whoever takes events in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// A connection changed state (RFC 9293 §3.3.2).
    StateChanged {
        /// Whose.
        endpoint: EndpointId,
        /// Before.
        from: TcpState,
        /// After.
        to: TcpState,
    },
    /// Hosts that are not simulated have begun something that no flow of the scenario is about. Its
    /// events follow, under this number.
    FlowSeen {
        /// Its number, beyond those of the scenario's flows.
        flow: FlowId,
        /// Whose packet was seen first.
        client: NodeId,
        /// For whom it was.
        server: NodeId,
    },
    /// An endpoint put a segment on the path.
    SegmentSent {
        /// Who sent it.
        endpoint: EndpointId,
        /// First byte.
        seq: Seq,
        /// Bytes of payload.
        payload: Bytes,
        /// Why it was sent.
        kind: SegmentKind,
    },
    /// The application's data arrived in order at the receiver.
    DataDelivered {
        /// The receiving end.
        endpoint: EndpointId,
        /// How much became readable just now.
        bytes: Bytes,
        /// All so far, as an offset from the start of the stream.
        stream_offset: Bytes,
    },
    /// The application began a transfer, or an exchange of question and answer.
    TransferBegan {
        /// The end whose application began it.
        endpoint: EndpointId,
        /// Which of the flow's, counted from zero; they complete in this order.
        index: u64,
        /// Bytes that the flow's sending end sends in it.
        bytes: Bytes,
    },
    /// The application has all of a transfer, or the whole answer of an exchange.
    TransferCompleted {
        /// The end whose application has it.
        endpoint: EndpointId,
        /// Which of the flow's, counted from zero.
        index: u64,
        /// Bytes that the flow's sending end sent in it.
        bytes: Bytes,
    },
    /// The sending end of a datagram flow put a packet on the path.
    DatagramSent {
        /// The sending end.
        endpoint: EndpointId,
        /// Bytes of payload.
        payload: Bytes,
    },
    /// A packet of a datagram flow arrived.
    DatagramDelivered {
        /// The receiving end.
        endpoint: EndpointId,
        /// Bytes of payload.
        payload: Bytes,
        /// How long it was under way.
        one_way_delay: Span,
    },
    /// An acknowledgment moved `snd_una`.
    AckAdvanced {
        /// The sending end.
        endpoint: EndpointId,
        /// Bytes newly acknowledged.
        bytes: Bytes,
        /// All acknowledged so far, as an offset from the start of the stream.
        stream_offset: Bytes,
    },
    /// The congestion window or the slow-start threshold changed.
    CwndChanged {
        /// Whose.
        endpoint: EndpointId,
        /// Congestion window.
        cwnd: Bytes,
        /// Slow-start threshold; [`Bytes::MAX`] while there is none.
        ssthresh: Bytes,
        /// What made it change.
        reason: CwndReason,
    },
    /// A round-trip time was measured (RFC 6298 §2).
    RttSampled {
        /// Whose.
        endpoint: EndpointId,
        /// This sample.
        rtt: Span,
        /// The smoothed value after it.
        srtt: Span,
        /// The retransmission timeout after it.
        rto: Span,
    },
    /// The receiver's acknowledgment policy adapted its timeout.
    AckTimeoutChanged {
        /// The receiving end.
        endpoint: EndpointId,
        /// How long the acknowledgment of a lone segment would wait now.
        ato: Span,
    },
    /// Segments were declared lost.
    SegmentLost {
        /// The sending end.
        endpoint: EndpointId,
        /// First byte.
        seq: Seq,
        /// Bytes declared lost.
        bytes: Bytes,
        /// How the sender came to think so.
        reason: LossReason,
    },
    /// The sender entered loss recovery.
    RecoveryEntered {
        /// The sending end.
        endpoint: EndpointId,
        /// Which kind of recovery.
        kind: RecoveryKind,
    },
    /// Everything that was outstanding when the recovery began is acknowledged.
    RecoveryExited {
        /// The sending end.
        endpoint: EndpointId,
        /// Which kind of recovery.
        kind: RecoveryKind,
    },
    /// A recovery turned out to have been unnecessary, and its reduction of cwnd was undone.
    RecoveryUndone {
        /// The sending end.
        endpoint: EndpointId,
        /// Which kind of recovery.
        kind: RecoveryKind,
        /// What showed it.
        evidence: SpuriousEvidence,
    },
    /// The receiver had a retransmitted segment already (RFC 2883).
    RetransmissionSpurious {
        /// The sending end.
        endpoint: EndpointId,
        /// First byte received twice.
        seq: Seq,
        /// Bytes received twice.
        bytes: Bytes,
    },
    /// The retransmission timer expired (RFC 6298 §5.4).
    RetransmissionTimeout {
        /// The sending end.
        endpoint: EndpointId,
        /// The timeout after the back-off.
        next_rto: Span,
        /// How many times in a row.
        consecutive: u32,
    },
    /// The same segment was retransmitted so often that the application is to know of it: R1 of
    /// RFC 9293 §3.8.3.
    R1Reached {
        /// The sending end.
        endpoint: EndpointId,
        /// Timeouts in a row so far.
        consecutive: u32,
    },
    /// A segment was refused: nothing it carries was taken in.
    SegmentRefused {
        /// The end it arrived at.
        endpoint: EndpointId,
        /// Its first byte.
        seq: Seq,
        /// Why.
        reason: RefusalReason,
        /// What was said to its sender.
        answer: RefusalAnswer,
    },
    /// A packet joined a link's queue.
    PacketEnqueued {
        /// The link.
        link: LinkId,
        /// Its connection.
        flow: FlowId,
        /// Length of the packet.
        bytes: Bytes,
        /// Packets waiting, this one included.
        queue_packets: u32,
        /// Bytes waiting, this one included.
        queue_bytes: Bytes,
    },
    /// A packet left a link's queue to be transmitted.
    PacketDequeued {
        /// The link.
        link: LinkId,
        /// Its connection.
        flow: FlowId,
        /// Length of the packet.
        bytes: Bytes,
        /// How long it waited.
        waited: Span,
        /// Packets left waiting.
        queue_packets: u32,
        /// Bytes left waiting.
        queue_bytes: Bytes,
    },
    /// A packet died.
    PacketDropped {
        /// The link it died on.
        link: LinkId,
        /// Which.
        packet: &'a Packet,
        /// Why.
        reason: DropReason,
    },
    /// A link made a second packet of one: both are on their way.
    PacketDuplicated {
        /// The link.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
    },
    /// The first packet met an outage of a link: it is lost, or waits. Told when that packet's
    /// transmission begins, or would have begun; at most once for each outage and direction, never
    /// for one that no packet meets. Where both directions fade together each tells of it.
    OutageMet {
        /// The link.
        link: LinkId,
        /// When the outage begins; after the telling if it begins while the packet is transmitted.
        began: Time,
        /// When it is over; not part of it.
        ends: Time,
    },
    /// A link took the medium it shares with others and transmitted.
    MediumTaken {
        /// The link.
        link: LinkId,
        /// For how long, link acknowledgment (or the wait for one) included.
        airtime: Span,
        /// Frames transmitted.
        frames: u32,
        /// How it went.
        outcome: AccessOutcome,
    },
    /// A middlebox sent a packet of its own.
    ProxySent {
        /// The box.
        proxy: ProxyId,
        /// Which.
        packet: &'a Packet,
        /// What for.
        what: ProxySending,
    },
    /// A packet ended in a middlebox, or waits there.
    ProxyAbsorbed {
        /// The box.
        proxy: ProxyId,
        /// Which.
        packet: &'a Packet,
    },
    /// A middlebox sent a packet on that it had absorbed.
    ProxyReleased {
        /// The box.
        proxy: ProxyId,
        /// Which.
        packet: &'a Packet,
    },
    /// A middlebox did something about a connection.
    ProxyActed {
        /// The box.
        proxy: ProxyId,
        /// The connection.
        flow: FlowId,
        /// What.
        act: ProxyAct,
    },
    /// A middlebox failed, with all it knew.
    ProxyFailed {
        /// The box.
        proxy: ProxyId,
    },
    /// A middlebox that had failed restarted, knowing nothing.
    ProxyRestarted {
        /// The box.
        proxy: ProxyId,
    },
    /// A packet passed a place where captures are taken.
    PacketTapped {
        /// Where.
        tap: TapPoint,
        /// Which.
        packet: &'a Packet,
    },
}

impl Event<'_> {
    /// The end of a connection or datagram flow that it is about, if it is about one.
    pub fn endpoint(&self) -> Option<EndpointId> {
        match *self {
            Event::StateChanged { endpoint, .. }
            | Event::SegmentSent { endpoint, .. }
            | Event::DataDelivered { endpoint, .. }
            | Event::TransferBegan { endpoint, .. }
            | Event::TransferCompleted { endpoint, .. }
            | Event::DatagramSent { endpoint, .. }
            | Event::DatagramDelivered { endpoint, .. }
            | Event::AckAdvanced { endpoint, .. }
            | Event::CwndChanged { endpoint, .. }
            | Event::RttSampled { endpoint, .. }
            | Event::AckTimeoutChanged { endpoint, .. }
            | Event::SegmentLost { endpoint, .. }
            | Event::RecoveryEntered { endpoint, .. }
            | Event::RecoveryExited { endpoint, .. }
            | Event::RecoveryUndone { endpoint, .. }
            | Event::RetransmissionSpurious { endpoint, .. }
            | Event::RetransmissionTimeout { endpoint, .. }
            | Event::R1Reached { endpoint, .. }
            | Event::SegmentRefused { endpoint, .. } => Some(endpoint),
            Event::FlowSeen { .. }
            | Event::PacketEnqueued { .. }
            | Event::PacketDequeued { .. }
            | Event::PacketDropped { .. }
            | Event::PacketDuplicated { .. }
            | Event::OutageMet { .. }
            | Event::MediumTaken { .. }
            | Event::ProxySent { .. }
            | Event::ProxyAbsorbed { .. }
            | Event::ProxyReleased { .. }
            | Event::ProxyActed { .. }
            | Event::ProxyFailed { .. }
            | Event::ProxyRestarted { .. }
            | Event::PacketTapped { .. } => None,
        }
    }
}
