//! When the receiver acknowledges.
//!
//! | file | policy |
//! | --- | --- |
//! | `immediate.rs` | every data segment at once |
//! | `delayed.rs` | every second full-sized segment, or after a fixed time |
//! | `quickack.rs` | the first few segments at once, then delayed |
//! | `linux/` | what a stock Linux kernel does |
//! | `adaptive/` | the delay follows the gaps between segments: as published, and in practice |
//! | `adaptive_static.rs` | a small fixed delay, given or measured once |
//! | `tack.rs` | few: by rate and round-trip time |
//! | `ari.rs` | as many at once as the application's usual transfer needs |
//!
//! A policy is told of the SYN, of each data segment, of reads and of acknowledgments that leave,
//! and says how long an acknowledgment may wait. What no policy may change is the connection's
//! own: segments that the sequence check refuses are acknowledged at once, and a window that opens
//! is announced (RFC 9293 §3.8.6.2.2).
//!
//! Not modelled: acknowledgments thinned out or merged by network cards and middleboxes.

mechanisms! {
    /// ACK policies of the receiver.
    pub enum Ack: dyn AckConfig {
        mod immediate => Immediate(ImmediateConfig);
        mod delayed => Delayed(DelayedConfig);
        mod quickack => QuickAck(QuickAckConfig);
        mod linux => Linux(LinuxAckConfig);
        mod adaptive => Adaptive(AdaptiveConfig);
        mod adaptive_static => AdaptiveStatic(AdaptiveStaticConfig);
        mod ari => Ari(AriConfig);
        mod tack => Tack(TackConfig);
    }
}

/// What every ACK policy's knobs lead to.
pub trait AckConfig {
    /// The policy at the start of a connection.
    fn build(&self) -> Box<dyn AckPolicy>;
}

pub use adaptive::{Adaptive, AdaptivePaper};
pub use adaptive_static::AdaptiveStatic;
pub(crate) use ari::VERDICT;
pub use ari::{Ari, Division, Then, Verdict};
pub use delayed::{Counted, DelayKnobs, Delayed};
pub use immediate::Immediate;
pub use linux::{LinuxAck, SoRcvbuf};
pub use quickack::QuickAck;
pub use tack::Tack;

use crate::ecn::MarkSeen;
use crate::plug_in::copied_in_boxes;
use crate::rtt::RttEstimator;
use crate::ts_clock::TimestampEcho;
use ackord_units::{Bytes, Span, Time, mechanisms};
use std::fmt;

/// What the two SYNs have settled.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// Whether acknowledgments carry SACK blocks.
    pub sack: bool,
}

/// A data segment that has just arrived and was accepted.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its payload.
    pub payload: Bytes,
    /// The largest payload this peer has sent so far: what counts as full-sized.
    pub full_size: Bytes,
    /// Bytes received in order that no acknowledgment has covered, this segment included.
    pub unacknowledged: Bytes,
    /// How it fits in.
    pub order: Order,
    /// Whether the sender had nothing more to send behind it.
    pub push: bool,
    /// The receive window.
    pub window: ReceiveWindow,
    /// What this end knows of the round-trip time. It may be one-sided: an end that only receives
    /// has but the sample of the handshake.
    pub rtt: &'a RttEstimator,
    /// The echo of our clock in this segment, where timestamps are in use: the round-trip time as
    /// an end sees it that only receives.
    pub echo: Option<TimestampEcho>,
    /// What it says about congestion, where ECN is in use.
    pub mark: MarkSeen,
}

/// The receive window at the moment of an arrival, before the application has read the segment.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindow {
    /// The window that the last acknowledgment offered, counted from what it acknowledged.
    pub offered: Bytes,
    /// What could be offered now, counted from what has arrived in order. The right edge moves
    /// forward by all that has arrived if it is no less than `offered`.
    pub free: Bytes,
    /// Bytes in order that the application has not read yet, this segment's included.
    pub unread: Bytes,
}

/// How a segment fits into what has been received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It is the next one, and nothing waits beyond it.
    InOrder,
    /// It begins before what is next and ends after it: part of it had been received before. Nothing waits beyond
    /// it.
    Overlapping,
    /// It leaves a gap before it.
    OutOfOrder,
    /// It fills a gap, wholly or in part.
    FillsGap,
    /// All of it had been received before.
    Duplicate,
    /// It ends the stream.
    Final,
}

/// The application has read while an acknowledgment is waiting.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Bytes in order that it has left unread.
    pub left: Bytes,
    /// Bytes received in order that no acknowledgment has covered.
    pub unacknowledged: Bytes,
}

/// What to do about the acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckDecision {
    /// Send it now; what the application answers at the same instant may carry it.
    Now,
    /// Send it before the application can answer: it rides on data only that was waiting to be sent
    /// when the segment came.
    BeforeAnswers,
    /// It may wait for company until then.
    NoLaterThan(Time),
}

/// What a read does to an acknowledgment that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckOnRead {
    /// Send it now; what the application writes at the same instant may carry it.
    Now,
    /// Send it before the application writes anything.
    BeforeAnswers,
    /// It goes on waiting.
    KeepsWaiting,
}

/// An acknowledgment that is to be sent now, and an application that answers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answering {
    /// The answer carries the acknowledgment: the endpoint sends when the application has acted.
    CarriesAck,
    /// The acknowledgment has left by itself: in the interrupt that brought the segment, or in the
    /// call that read it, both of which are over before the application can write.
    FollowsAck,
}

/// What an acknowledgment left on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A segment of its own.
    PureAck,
    /// A segment with data of this end.
    Data,
}

copied_in_boxes!(AckPolicy, CopiedPolicy);

/// Decides when to acknowledge. Never sends, never sees the sender's side.
pub trait AckPolicy: CopiedPolicy + Send + fmt::Debug {
    /// The peer's SYN has come.
    fn on_open(&mut self, _now: Time, _opening: &Opening) {}

    /// A data segment was accepted.
    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision;

    /// The application has read. Asked only while an acknowledgment waits.
    fn on_read(&mut self, _reading: &Reading) -> AckOnRead {
        AckOnRead::KeepsWaiting
    }

    /// An acknowledgment left.
    fn on_ack_sent(&mut self, _now: Time, _carrier: Carrier) {}

    /// Whether an answer that the application gives at once can carry an acknowledgment that is to
    /// be sent now. Asked once.
    fn answering(&self) -> Answering {
        Answering::CarriesAck
    }

    /// What it decides about every segment, if that never depends on anything: then it hears of no segments and no
    /// acknowledgments. Asked once.
    fn always(&self) -> Option<AckDecision> {
        None
    }

    /// How long a lone segment's acknowledgment would wait now, where that changes over time.
    fn ato(&self) -> Option<Span> {
        None
    }
}

#[cfg(test)]
mod testing;
