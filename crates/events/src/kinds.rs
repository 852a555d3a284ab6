//! What the fields of events choose from: states, kinds and reasons.

use crate::LinkId;

/// What a packet that a middlebox made is for.
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

/// What a middlebox did about a connection.
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
    /// Bytes never sent before (SYN and FIN included).
    New,
    /// Bytes sent before.
    Retransmission,
    /// Only an acknowledgment.
    PureAck,
    /// A probe of a closed window (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// A probe of a silent peer (RFC 9293 §3.8.4).
    KeepaliveProbe,
    /// A reset.
    Reset,
}

/// Why an endpoint refused a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalReason {
    /// No part of it lies in the window (RFC 9293 §3.10.7.4).
    OutsideWindow,
    /// Its timestamp is older than the newest in order: PAWS (RFC 7323 §5).
    OldTimestamp,
    /// It carries no timestamp, which both ends had agreed on (RFC 7323 §3.2).
    NoTimestamp,
    /// A reset that lies in the window, but not where the next byte is expected (RFC 5961 §3).
    InexactReset,
    /// A SYN amid the connection (RFC 5961 §4).
    UnexpectedSyn,
    /// It acknowledges what was never sent (RFC 9293 §3.10.7.4).
    AcksUnsent,
    /// It acknowledges what is older than a window (RFC 5961 §5).
    AcksTooOld,
    /// A reset of a connection that has ended, whose wait it would cut short (RFC 1337).
    ResetInTimeWait,
}

/// What the sender of a refused segment is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefusalAnswer {
    /// Where the connection stands: an acknowledgment, or the SYN-ACK again.
    Acknowledgment,
    /// Nothing: too many of its kind were answered lately (RFC 5961 §7).
    Throttled,
    /// Nothing.
    Silence,
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
    /// A driver of the run set it in place of the congestion control.
    Steered,
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
    /// The receiver reported everything retransmitted as duplicate (RFC 2883, RFC 3708).
    Dsack,
    /// The acknowledgment echoes a timestamp older than the retransmission (RFC 3522).
    Timestamps,
    /// The acknowledgment came before a timer of the loss detector had run out.
    DetectionTimer,
    /// The acknowledgments after a timeout were not those of retransmissions (RFC 5682).
    FRto,
}

/// Kinds of loss recovery.
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
    /// A policer had too few tokens for it.
    Policed,
}

impl DropReason {
    /// Every reason, in the order in which reports list them.
    pub const ALL: [DropReason; 10] = [
        DropReason::QueueFull,
        DropReason::OverShare,
        DropReason::EarlyDrop,
        DropReason::RandomLoss,
        DropReason::Outage,
        DropReason::Corrupted,
        DropReason::BadChecksum,
        DropReason::RetryLimit,
        DropReason::NoRoute,
        DropReason::Policed,
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
            DropReason::Policed => "policed",
        }
    }
}
