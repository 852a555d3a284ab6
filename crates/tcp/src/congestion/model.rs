//! What a control hears that keeps a model of the path: delivery-rate samples, losses segment by
//! segment, the end of an idle time.
//!
//! The samples are those of draft-ietf-ccwg-bbr-06 §4.1 (first published as
//! draft-cheng-iccrg-delivery-rate-estimation). The sender keeps what they need only for a control
//! that has a [`PathModel`].

use ackord_units::{Bytes, Rate, Span, Time};

/// A delivery-rate sample: what an acknowledgment that delivered something says about the path.
/// Names in capitals are the draft's.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// RS.delivery_rate; nothing if the interval is too short to be believed.
    pub delivery_rate: Option<Rate>,
    /// RS.delivered: bytes delivered over the interval.
    pub delivered: Bytes,
    /// RS.interval: the longer of the times over which they were sent and acknowledged.
    pub interval: Span,
    /// RS.prior_delivered: bytes that had been delivered when the newest of the acknowledged
    /// segments was sent.
    pub prior_delivered: Bytes,
    /// C.delivered: bytes delivered so far.
    pub total_delivered: Bytes,
    /// RS.rtt of the newest of the acknowledged segments, where Karn's rule allows.
    pub rtt: Option<Span>,
    /// Bytes in the network before this acknowledgment.
    pub prior_in_flight: Bytes,
    /// C.inflight: bytes in the network after it.
    pub in_flight: Bytes,
    /// RS.newly_acked: bytes it delivered.
    pub newly_acked: Bytes,
    /// RS.newly_lost: bytes declared lost since the last sample.
    pub newly_lost: Bytes,
    /// RS.tx_in_flight: bytes in the network just after the newest segment was sent.
    pub sent_in_flight: Bytes,
    /// RS.lost: bytes declared lost since the newest segment was sent.
    pub lost_since_sent: Bytes,
    /// RS.is_app_limited.
    pub app_limited: bool,
    /// C.is_cwnd_limited.
    pub cwnd_limited: bool,
    /// The recovery under way, after this acknowledgment.
    pub recovery_phase: RecoveryPhase,
    /// Whether the peer reports what arrived out of order.
    pub selective_acks: bool,
}

/// Which recovery is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryPhase {
    /// None.
    Open,
    /// Of a loss detected without the timer.
    FastRecovery,
    /// Of everything outstanding at a timeout.
    Timeout,
}

/// A segment was declared lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// Its bytes.
    pub bytes: Bytes,
    /// Whether the segment just before it was declared lost last.
    pub adjoins: bool,
    /// Bytes in the network just after it was sent, itself included.
    pub sent_in_flight: Bytes,
    /// Bytes declared lost since it was sent, itself included.
    pub lost_since_sent: Bytes,
    /// Bytes delivered so far.
    pub total_delivered: Bytes,
    /// Whether it was sent in a time limited by the application.
    pub app_limited: bool,
}

/// What the control wants done with the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleAdvice {
    /// Nothing.
    GoOn,
    /// The coming samples tell nothing about the path's capacity (the draft's
    /// MarkConnectionAppLimited).
    MarkAppLimited,
}

/// A model of the path that delivery-rate samples feed.
pub trait PathModel {
    /// An acknowledgment delivered something, in whatever phase the sender is. It comes after the
    /// other calls for the same acknowledgment.
    fn on_rate_sample(&mut self, now: Time, sample: &RateSample) -> SampleAdvice;

    /// A segment was declared lost.
    fn on_segment_lost(&mut self, _now: Time, _lost: &LostSegment) {}

    /// A segment is about to leave after a time with nothing in flight and nothing to send.
    fn on_restart_from_idle(&mut self, _now: Time) {}
}
