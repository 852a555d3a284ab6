//! What a control in Python hears that keeps a model of the path. Sizes are in bytes, times in seconds.

use super::facts::{kind, span_seconds};
use ackord_events::RecoveryKind;
use ackord_tcp::congestion::{self, RecoveryPhase};
use pyo3::prelude::*;

/// A delivery-rate sample: what an acknowledgment that delivered something says of the path
/// (draft-ietf-ccwg-bbr-06 §4.1).
#[pyclass(frozen, module = "ackord")]
pub(crate) struct RateSample(pub(super) congestion::RateSample);

#[pymethods]
impl RateSample {
    /// RS.delivery_rate in bit/s; None where the interval is too short to be believed.
    #[getter]
    fn delivery_rate(&self) -> Option<f64> {
        self.0.delivery_rate.map(|rate| rate.as_bits_per_sec() as f64)
    }

    /// RS.delivered: bytes delivered over the interval.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.get()
    }

    /// RS.interval in seconds: the longer of the times over which they were sent and acknowledged.
    #[getter]
    fn interval(&self) -> f64 {
        self.0.interval.as_secs_f64()
    }

    /// RS.prior_delivered: bytes delivered when the newest of the acknowledged segments was sent.
    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered.get()
    }

    /// C.delivered: bytes delivered so far.
    #[getter]
    fn total_delivered(&self) -> u64 {
        self.0.total_delivered.get()
    }

    /// RS.rtt in seconds, of the newest of the acknowledged segments, where Karn's rule allows.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        span_seconds(self.0.rtt)
    }

    /// Bytes in the network before this acknowledgment.
    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.0.prior_in_flight.get()
    }

    /// C.inflight: bytes in the network after it.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight.get()
    }

    /// RS.newly_acked: bytes it delivered.
    #[getter]
    fn newly_acked(&self) -> u64 {
        self.0.newly_acked.get()
    }

    /// RS.newly_lost: bytes declared lost since the last sample.
    #[getter]
    fn newly_lost(&self) -> u64 {
        self.0.newly_lost.get()
    }

    /// RS.tx_in_flight: bytes in the network just after the newest segment was sent.
    #[getter]
    fn sent_in_flight(&self) -> u64 {
        self.0.sent_in_flight.get()
    }

    /// RS.lost: bytes declared lost since the newest segment was sent.
    #[getter]
    fn lost_since_sent(&self) -> u64 {
        self.0.lost_since_sent.get()
    }

    /// RS.is_app_limited: whether it was sent in a time limited by the application.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }

    /// C.is_cwnd_limited: whether the congestion window held the sender back.
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.0.cwnd_limited
    }

    /// The recovery under way after this acknowledgment: "fast", "timeout", or None.
    #[getter]
    fn recovery(&self) -> Option<&'static str> {
        match self.0.recovery_phase {
            RecoveryPhase::Open => None,
            RecoveryPhase::FastRecovery => Some(kind(RecoveryKind::Fast)),
            RecoveryPhase::Timeout => Some(kind(RecoveryKind::Timeout)),
        }
    }
}

/// A segment was declared lost.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct LostSegment {
    /// Its bytes.
    bytes: u64,
    /// Whether the segment just before it was declared lost last.
    adjoins: bool,
    /// Bytes in the network just after it was sent, itself included.
    sent_in_flight: u64,
    /// Bytes declared lost since it was sent, itself included.
    lost_since_sent: u64,
    /// Bytes delivered so far.
    total_delivered: u64,
    /// Whether it was sent in a time limited by the application.
    app_limited: bool,
}

impl From<congestion::LostSegment> for LostSegment {
    fn from(lost: congestion::LostSegment) -> LostSegment {
        LostSegment {
            bytes: lost.bytes.get(),
            adjoins: lost.adjoins,
            sent_in_flight: lost.sent_in_flight.get(),
            lost_since_sent: lost.lost_since_sent.get(),
            total_delivered: lost.total_delivered.get(),
            app_limited: lost.app_limited,
        }
    }
}
