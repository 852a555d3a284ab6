//! Every event.

use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{FlowId, Packet, Side};

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

/// A middle box, numbered as in the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProxyId(pub u32);

/// What happened. Fields carry units in their types; reasons are enums.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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
    /// An endpoint put a segment on the path.
    SegmentSent {
        /// Who sent it.
        endpoint: EndpointId,
        /// First octet.
        seq: Seq,
        /// Octets of payload.
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
        /// Octets that the flow's sending end sends in it.
        bytes: Bytes,
    },
    /// The application has all of a transfer, or the whole answer of an exchange.
    TransferCompleted {
        /// The end whose application has it.
        endpoint: EndpointId,
        /// Which of the flow's, counted from zero.
        index: u64,
        /// Octets that the flow's sending end sent in it.
        bytes: Bytes,
    },
    /// The sending end of a datagram flow put a packet on the path.
    DatagramSent {
        /// The sending end.
        endpoint: EndpointId,
        /// Octets of payload.
        payload: Bytes,
    },
    /// A packet of a datagram flow arrived.
    DatagramDelivered {
        /// The receiving end.
        endpoint: EndpointId,
        /// Octets of payload.
        payload: Bytes,
        /// How long it was under way.
        one_way_delay: Span,
    },
    /// An acknowledgment moved `snd_una`.
    AckAdvanced {
        /// The sending end.
        endpoint: EndpointId,
        /// Octets newly acknowledged.
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
        /// First octet.
        seq: Seq,
        /// Octets declared lost.
        bytes: Bytes,
        /// How the sender came to think so.
        reason: LossReason,
    },
    /// The sender began to repair.
    RecoveryEntered {
        /// The sending end.
        endpoint: EndpointId,
        /// Which kind of repair.
        kind: RecoveryKind,
    },
    /// The sender has repaired everything that was outstanding when it began.
    RecoveryExited {
        /// The sending end.
        endpoint: EndpointId,
        /// Which kind of repair.
        kind: RecoveryKind,
    },
    /// A repair turned out to have been unnecessary, and what it took was given back.
    RepairUndone {
        /// The sending end.
        endpoint: EndpointId,
        /// Which kind of repair.
        kind: RecoveryKind,
        /// What showed it.
        evidence: SpuriousEvidence,
    },
    /// The receiver had a retransmitted segment already (RFC 2883).
    RetransmissionSpurious {
        /// The sending end.
        endpoint: EndpointId,
        /// First octet received twice.
        seq: Seq,
        /// Octets received twice.
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
    /// A middle box sent a packet of its own.
    ProxySent {
        /// The box.
        proxy: ProxyId,
        /// Which.
        packet: &'a Packet,
        /// What for.
        what: ProxySending,
    },
    /// A packet ended in a middle box, or waits there.
    ProxyAbsorbed {
        /// The box.
        proxy: ProxyId,
        /// Which.
        packet: &'a Packet,
    },
    /// A middle box sent a packet on that it had absorbed.
    ProxyReleased {
        /// The box.
        proxy: ProxyId,
        /// Which.
        packet: &'a Packet,
    },
    /// A middle box did something about a connection.
    ProxyActed {
        /// The box.
        proxy: ProxyId,
        /// The connection.
        flow: FlowId,
        /// What.
        act: ProxyAct,
    },
    /// A middle box died, or began anew.
    ProxyTurned {
        /// The box.
        proxy: ProxyId,
        /// Which of the two.
        life: ProxyLife,
    },
    /// A packet passed a place where captures are taken.
    PacketTapped {
        /// Where.
        tap: TapPoint,
        /// Which.
        packet: &'a Packet,
    },
}

/// What a packet that a middle box made is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProxySending {
    /// Cached data, again.
    Retransmission,
    /// Cached data, to find out whether the mobile host is back.
    Probe,
    /// An acknowledgment in the name of the mobile host.
    Acknowledgment,
    /// A segment of the box's own connection, where it splits one in two.
    Relay,
}

/// What a middle box did about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProxyAct {
    /// It took the mobile host for unreachable.
    HoldBegan,
    /// The mobile host was heard again.
    HoldEnded,
    /// The hold had been a mistake: nothing was lost meanwhile.
    HoldWasFalse,
    /// It gave cached data up.
    Evicted,
}

/// A turn in the life of a middle box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProxyLife {
    /// It died, with all it knew.
    Died,
    /// It began anew, knowing nothing.
    Restarted,
}

/// How a transmission on a shared medium went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessOutcome {
    /// At least one frame arrived and was acknowledged.
    Acknowledged,
    /// Every frame was damaged.
    Damaged,
    /// Somebody else transmitted at the same instant.
    Collided,
}

/// A place where captures are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TapPoint {
    /// A packet enters a link, before its queue decides about it.
    LinkIn(LinkId),
    /// A packet leaves a link at its far end.
    LinkOut(LinkId),
}

/// The states of RFC 9293 §3.3.2.
#[allow(missing_docs, reason = "the names are the RFC's")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TcpState {
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

/// Why a segment was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentKind {
    /// Octets never sent before (SYN and FIN included).
    New,
    /// Octets sent before.
    Retransmission,
    /// Only an acknowledgment.
    PureAck,
    /// A probe of a closed window (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// A reset.
    Reset,
}

/// What made the congestion window change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CwndReason {
    /// The connection began.
    Initial,
    /// New data was acknowledged.
    Ack,
    /// A fast retransmit, or the recovery that follows it.
    Recovery,
    /// The retransmission timer expired.
    Timeout,
    /// An ECN mark came back.
    Ecn,
    /// The sender was idle.
    Idle,
    /// An earlier reduction proved wrong.
    Undo,
}

/// How a sender came to think that a segment is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossReason {
    /// Duplicate acknowledgments reached the threshold.
    DuplicateAcks,
    /// The scoreboard says so (RFC 6675 IsLost).
    Scoreboard,
    /// A partial acknowledgment showed the next hole (RFC 6582).
    PartialAck,
    /// A fine-grained timer of the loss detector (Vegas, RACK).
    DetectorTimer,
    /// The retransmission timer.
    RetransmissionTimeout,
}

/// What showed that a retransmission was unnecessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpuriousEvidence {
    /// The receiver reported everything sent again as duplicate (RFC 2883, RFC 3708).
    Dsack,
    /// The acknowledgment echoes a timestamp older than the retransmission (RFC 3522).
    Timestamps,
    /// The acknowledgment came before a timer of the loss detector had run out.
    DetectionTimer,
    /// The acknowledgments after a timeout were not those of retransmissions (RFC 5682).
    FRto,
}

/// Kinds of repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecoveryKind {
    /// After a fast retransmit.
    Fast,
    /// After a retransmission timeout.
    Timeout,
}

/// Why a packet died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue had no room.
    QueueFull,
    /// The connection had more than its share queued (selective drop).
    OverShare,
    /// The queue's management chose to drop (RED, CoDel, PIE ...).
    EarlyDrop,
    /// Random loss on the medium.
    RandomLoss,
    /// The medium was out.
    Outage,
    /// Damaged on the way.
    Corrupted,
    /// Damaged on the way, and discarded by the host it was for.
    BadChecksum,
    /// The link layer tried as often as it may, in vain.
    RetryLimit,
    /// No way leads to its destination.
    NoRoute,
}

impl DropReason {
    /// Every reason, in the order in which reports list them.
    pub const ALL: [DropReason; 9] = [
        DropReason::QueueFull,
        DropReason::OverShare,
        DropReason::EarlyDrop,
        DropReason::RandomLoss,
        DropReason::Outage,
        DropReason::Corrupted,
        DropReason::BadChecksum,
        DropReason::RetryLimit,
        DropReason::NoRoute,
    ];

    /// The stable name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue-full",
            DropReason::OverShare => "over-share",
            DropReason::EarlyDrop => "early-drop",
            DropReason::RandomLoss => "random-loss",
            DropReason::Outage => "outage",
            DropReason::Corrupted => "corrupted",
            DropReason::BadChecksum => "bad-checksum",
            DropReason::RetryLimit => "retry-limit",
            DropReason::NoRoute => "no-route",
        }
    }
}
