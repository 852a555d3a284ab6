//! What an instant of a connection's life may be spent on.

use serde::{Deserialize, Serialize};

/// One cause. Every instant of a connection belongs to exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The handshake, as long as the path takes.
    SetUp,
    /// A SYN or SYN-ACK was lost and waited for its timer.
    SynLoss,
    /// The client's application had nothing to send.
    ClientIdle,
    /// The server's application had nothing to send.
    ServerIdle,
    /// The receiver's window was full.
    ReceiverWindow,
    /// The receiver's window was zero.
    ZeroWindow,
    /// The sender's socket buffer held no more.
    SendBuffer,
    /// Nagle's algorithm held a small segment until a delayed ACK came.
    NagleDelayedAck,
    /// The window was full and the ACK that would have opened it was delayed.
    DelayedAck,
    /// The congestion window was still growing: slow start, or after a loss by congestion.
    WindowGrowth,
    /// Loss by congestion, recovered by fast recovery.
    FastRecovery,
    /// Timeout: the last segments of a transfer were lost.
    TimeoutTail,
    /// Timeout: all of a window was lost.
    TimeoutWindow,
    /// Timeout: too few segments under way for duplicate ACKs.
    TimeoutSmallWindow,
    /// Timeout: a retransmission was lost, too.
    TimeoutLostRetransmission,
    /// Reordering was taken for loss.
    SpuriousReordering,
    /// A sudden delay was taken for loss.
    SpuriousDelay,
    /// Waiting in a queue that this connection filled itself.
    QueueingOwn,
    /// Waiting in a queue that others filled.
    QueueingOthers,
    /// Nothing got through for a while: a fade, a handover.
    Outage,
    /// Loss that no queue explains, its recovery, and the window it took.
    RandomLoss,
    /// Full-sized segments never arrive, smaller ones do: a link's MTU is too small, and no ICMP error reports it.
    MtuBlackHole,
    /// A policer dropped what was beyond its rate.
    Policer,
    /// A shaper let its burst pass, then held back to its rate.
    Shaper,
    /// ACKs were lost or thinned out on the way back.
    AckPath,
    /// Other flows at the same queue took more than their share.
    UnfairShare,
    /// The path was full, or its round trip was all there was to wait for: nothing to gain.
    PathLimited,
    /// The capture does not show what happened.
    CaptureArtefact,
    /// None of these.
    Unknown,
}

impl Cause {
    /// All, in the order in which they are listed.
    pub const ALL: [Cause; 29] = [
        Cause::SetUp,
        Cause::SynLoss,
        Cause::ClientIdle,
        Cause::ServerIdle,
        Cause::ReceiverWindow,
        Cause::ZeroWindow,
        Cause::SendBuffer,
        Cause::NagleDelayedAck,
        Cause::DelayedAck,
        Cause::WindowGrowth,
        Cause::FastRecovery,
        Cause::TimeoutTail,
        Cause::TimeoutWindow,
        Cause::TimeoutSmallWindow,
        Cause::TimeoutLostRetransmission,
        Cause::SpuriousReordering,
        Cause::SpuriousDelay,
        Cause::QueueingOwn,
        Cause::QueueingOthers,
        Cause::Outage,
        Cause::RandomLoss,
        Cause::MtuBlackHole,
        Cause::Policer,
        Cause::Shaper,
        Cause::AckPath,
        Cause::UnfairShare,
        Cause::PathLimited,
        Cause::CaptureArtefact,
        Cause::Unknown,
    ];

    /// Its name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Cause::SetUp => "set-up",
            Cause::SynLoss => "syn-loss",
            Cause::ClientIdle => "client-idle",
            Cause::ServerIdle => "server-idle",
            Cause::ReceiverWindow => "receiver-window",
            Cause::ZeroWindow => "zero-window",
            Cause::SendBuffer => "send-buffer",
            Cause::NagleDelayedAck => "nagle-delayed-ack",
            Cause::DelayedAck => "delayed-ack",
            Cause::WindowGrowth => "window-growth",
            Cause::FastRecovery => "fast-recovery",
            Cause::TimeoutTail => "timeout-tail",
            Cause::TimeoutWindow => "timeout-window",
            Cause::TimeoutSmallWindow => "timeout-small-window",
            Cause::TimeoutLostRetransmission => "timeout-lost-retransmission",
            Cause::SpuriousReordering => "spurious-reordering",
            Cause::SpuriousDelay => "spurious-delay",
            Cause::QueueingOwn => "queueing-own",
            Cause::QueueingOthers => "queueing-others",
            Cause::Outage => "outage",
            Cause::RandomLoss => "random-loss",
            Cause::MtuBlackHole => "mtu-black-hole",
            Cause::Policer => "policer",
            Cause::Shaper => "shaper",
            Cause::AckPath => "ack-path",
            Cause::UnfairShare => "unfair-share",
            Cause::PathLimited => "path-limited",
            Cause::CaptureArtefact => "capture-artefact",
            Cause::Unknown => "unknown",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Cause::SetUp => "connection set-up",
            Cause::SynLoss => "SYN loss",
            Cause::ClientIdle => "client application idle",
            Cause::ServerIdle => "server application idle",
            Cause::ReceiverWindow => "receiver window",
            Cause::ZeroWindow => "zero window",
            Cause::SendBuffer => "send buffer",
            Cause::NagleDelayedAck => "Nagle against delayed ACK",
            Cause::DelayedAck => "delayed ACK at a small window",
            Cause::WindowGrowth => "window growth",
            Cause::FastRecovery => "congestion loss, fast recovery",
            Cause::TimeoutTail => "timeout, tail loss",
            Cause::TimeoutWindow => "timeout, whole window lost",
            Cause::TimeoutSmallWindow => "timeout, small window",
            Cause::TimeoutLostRetransmission => "timeout, lost retransmission",
            Cause::SpuriousReordering => "spurious retransmission by reordering",
            Cause::SpuriousDelay => "spurious retransmission by delay",
            Cause::QueueingOwn => "queueing, its own",
            Cause::QueueingOthers => "queueing behind others",
            Cause::Outage => "outage",
            Cause::RandomLoss => "random loss",
            Cause::MtuBlackHole => "MTU black hole",
            Cause::Policer => "policer",
            Cause::Shaper => "shaper",
            Cause::AckPath => "ACK loss or thinning",
            Cause::UnfairShare => "unfair share of a queue",
            Cause::PathLimited => "path-limited",
            Cause::CaptureArtefact => "capture artefact",
            Cause::Unknown => "unknown",
        }
    }

    /// Whether time spent on it is time that a remedy could give back. Waiting for an application
    /// or for the path itself is not.
    pub fn is_loss(self) -> bool {
        !matches!(
            self,
            Cause::SetUp
                | Cause::ClientIdle
                | Cause::ServerIdle
                | Cause::PathLimited
                | Cause::CaptureArtefact
                | Cause::Unknown
        )
    }

    /// Its place in [`Cause::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}
