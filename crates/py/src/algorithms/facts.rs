//! What algorithms are told. Sizes are in bytes, times in seconds, sequence numbers as on the wire.

use ackord_events::{RecoveryKind, SpuriousEvidence};
use ackord_tcp::ack;
use ackord_tcp::congestion::{self, CongestionEvent, LossResponse, SendLimit, TimeoutOrder};
use ackord_tcp::loss::{self, Hole};
use ackord_units::{Bytes, Span};
use pyo3::prelude::*;

pub(super) fn span_seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::as_secs_f64)
}

/// No slow-start threshold yet.
pub(super) fn threshold(bytes: Bytes) -> f64 {
    if bytes == Bytes::MAX { f64::INFINITY } else { bytes.get() as f64 }
}

/// What is known once the connection is established.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Established {
    /// Sender maximum segment size, in bytes.
    smss: u64,
    /// Congestion window to begin with, in bytes.
    initial_window: u64,
    /// The smoothed round-trip time in seconds, if the handshake gave a sample.
    srtt: Option<f64>,
    /// The initial sequence number.
    iss: u32,
    /// Whether both ends speak SACK.
    selective_acks: bool,
    /// Whether what cwnd allows is paced, whatever the control says of a rate.
    paced: bool,
}

impl From<congestion::Established> for Established {
    fn from(sizes: congestion::Established) -> Established {
        Established {
            smss: sizes.smss.get(),
            initial_window: sizes.initial_window.get(),
            srtt: span_seconds(sizes.srtt),
            iss: sizes.iss.0,
            selective_acks: sizes.selective_acks,
            paced: sizes.paced,
        }
    }
}

/// An acknowledgment of new data, outside fast recovery.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct AckSample(pub(super) congestion::AckSample);

#[pymethods]
impl AckSample {
    /// Bytes newly acknowledged.
    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked.get()
    }

    /// Bytes that the peer is known to have since this acknowledgment, those SACKed included.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.get()
    }

    /// Round-trip time of the segment it covers that was sent last, in seconds, where Karn's rule allows.
    #[getter]
    fn rtt(&self) -> Option<f64> {
        span_seconds(self.0.rtt)
    }

    /// The smoothed round-trip time in seconds, once known.
    #[getter]
    fn srtt(&self) -> Option<f64> {
        span_seconds(self.0.srtt)
    }

    /// Bytes in flight before it.
    #[getter]
    fn flight_size(&self) -> u64 {
        self.0.flight_size.get()
    }

    /// Oldest byte not acknowledged, after it.
    #[getter]
    fn snd_una(&self) -> u32 {
        self.0.snd_una.0
    }

    /// Next byte to be sent.
    #[getter]
    fn snd_nxt(&self) -> u32 {
        self.0.snd_nxt.0
    }

    /// Whether the congestion window held the sender back: only then may it grow (RFC 7661 §3).
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.0.limit == SendLimit::Cwnd
    }
}

/// A loss was detected without the retransmission timer.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Loss {
    /// Bytes in flight, without those that limited transmit let out.
    flight_size: u64,
    /// Whether slow start from one segment answers it (Tahoe), and not fast recovery.
    slow_start: bool,
}

/// The path marked a packet (RFC 3168).
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Mark {
    /// Bytes in flight.
    flight_size: u64,
}

/// The retransmission timer expired.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Timeout {
    /// Bytes in flight.
    flight_size: u64,
    /// Whether the same segment had timed out before: ssthresh is then held (RFC 5681 §3.1).
    repeated: bool,
    /// Next byte to be sent that was never sent.
    snd_nxt: u32,
}

/// The last reduction proved wrong: these windows are to hold again.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Undone {
    /// The congestion window in bytes.
    cwnd: u64,
    /// The slow-start threshold in bytes; infinite where there is none.
    ssthresh: f64,
}

/// Nothing was sent for longer than a retransmission timeout (RFC 5681 §4.1): these windows hold from
/// now on.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Restart {
    /// The congestion window in bytes.
    cwnd: u64,
    /// The slow-start threshold in bytes; infinite where there is none.
    ssthresh: f64,
}

/// Fast recovery is over.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Recovered {
    /// A bound on cwnd in bytes that keeps the sender from a burst (RFC 6582 §3.2 step 3), if any.
    cwnd_at_most: Option<u64>,
}

/// A sign of congestion, or the end of a recovery, as an object of its own type.
pub(super) fn event(py: Python<'_>, event: CongestionEvent) -> PyResult<Py<PyAny>> {
    Ok(match event {
        CongestionEvent::Loss { flight_size, response } => {
            let slow_start = response == LossResponse::SlowStart;
            Py::new(py, Loss { flight_size: flight_size.get(), slow_start })?.into_any()
        }
        CongestionEvent::Mark { flight_size } => {
            Py::new(py, Mark { flight_size: flight_size.get() })?.into_any()
        }
        CongestionEvent::Timeout { flight_size, order, snd_nxt } => {
            let repeated = order == TimeoutOrder::Repeated;
            let flight_size = flight_size.get();
            Py::new(py, Timeout { flight_size, repeated, snd_nxt: snd_nxt.0 })?.into_any()
        }
        CongestionEvent::Undone { cwnd, ssthresh } => {
            Py::new(py, Undone { cwnd: cwnd.get(), ssthresh: threshold(ssthresh) })?.into_any()
        }
        CongestionEvent::Restart { cwnd, ssthresh } => {
            Py::new(py, Restart { cwnd: cwnd.get(), ssthresh: threshold(ssthresh) })?.into_any()
        }
        CongestionEvent::Recovered { cwnd_at_most } => {
            Py::new(py, Recovered { cwnd_at_most: cwnd_at_most.map(Bytes::get) })?.into_any()
        }
    })
}

/// A data segment that has just arrived and was accepted.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Arrival {
    /// Its payload in bytes.
    payload: u64,
    /// The largest payload that this peer has sent so far: what counts as full-sized.
    full_size: u64,
    /// Bytes received in order that no acknowledgment has covered, this segment included.
    unacknowledged: u64,
    /// How it fits in: "in-order", "overlapping", "out-of-order", "fills-gap", "duplicate" or "final".
    order: &'static str,
    /// Whether the sender had nothing more to send behind it (PSH).
    push: bool,
    /// Bytes in order that the application has not read yet, this segment's included.
    unread: u64,
    /// The window in bytes that the last acknowledgment offered.
    offered: u64,
    /// What could be offered now, in bytes.
    free: u64,
    /// The smoothed round-trip time in seconds, once known; an end that only receives has the
    /// handshake's.
    srtt: Option<f64>,
}

impl Arrival {
    pub(super) fn of(arrival: &ack::Arrival<'_>) -> Arrival {
        Arrival {
            payload: arrival.payload.get(),
            full_size: arrival.full_size.get(),
            unacknowledged: arrival.unacknowledged.get(),
            order: match arrival.order {
                ack::Order::InOrder => "in-order",
                ack::Order::Overlapping => "overlapping",
                ack::Order::OutOfOrder => "out-of-order",
                ack::Order::FillsGap => "fills-gap",
                ack::Order::Duplicate => "duplicate",
                ack::Order::Final => "final",
            },
            push: arrival.push,
            unread: arrival.window.unread.get(),
            offered: arrival.window.offered.get(),
            free: arrival.window.free.get(),
            srtt: span_seconds(arrival.rtt.srtt()),
        }
    }
}

/// What the sender knows when an acknowledgment arrives, or a timer expires.
#[pyclass(frozen, module = "ackord")]
pub(crate) struct LossFacts(pub(super) loss::LossFacts);

macro_rules! getters {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = |$facts:ident| $value:expr;)+) => {
        #[pymethods]
        impl LossFacts {
            $(
                $(#[doc = $doc])+
                #[getter]
                fn $name(&self) -> $type {
                    let $facts = &self.0;
                    $value
                }
            )+

            /// Whether the oldest segment may be missing: by a duplicate acknowledgment, or by what was
            /// SACKed above it.
            fn leave_doubt(&self) -> bool {
                self.0.leave_doubt()
            }

            /// Whether so many duplicates came, or what was SACKed makes the segment lost (RFC 6675 §5).
            fn reaches(&self, threshold: u32) -> bool {
                self.0.reaches(threshold)
            }
        }
    };
}

getters! {
    /// Bytes that the acknowledgment newly acknowledged; None for a duplicate.
    acked: Option<u64> = |facts| facts.advance.map(|advance| advance.acked.get());
    /// Segments that had arrived above the hole that it filled; None for a duplicate.
    extent_segments: Option<u32> = |facts| facts.advance.map(|advance| advance.extent_segments);
    /// Whether the segment that it acknowledges was retransmitted; None for a duplicate.
    hole_retransmitted: Option<bool> = |facts| {
        facts.advance.map(|advance| matches!(advance.hole, Hole::Retransmitted(_)))
    };
    /// Duplicate acknowledgments in a row.
    duplicate_acks: u32 = |facts| facts.duplicate_acks;
    /// Bytes known to have arrived above the oldest segment (zero without SACK).
    sacked: u64 = |facts| facts.sacked.get();
    /// The sender's segment size, in bytes.
    smss: u64 = |facts| facts.smss.get();
    /// Oldest byte not acknowledged.
    snd_una: u32 = |facts| facts.snd_una.0;
    /// Next byte to be sent.
    snd_nxt: u32 = |facts| facts.snd_nxt.0;
    /// Bytes sent and not acknowledged.
    flight_size: u64 = |facts| facts.flight_size.get();
    /// The congestion window, in bytes.
    cwnd: u64 = |facts| facts.cwnd.get();
    /// When the oldest outstanding segment was last sent, in seconds; None if none is outstanding.
    oldest_sent_at: Option<f64> = |facts| facts.oldest_sent_at.map(|at| at.as_secs_f64());
    /// The smoothed round-trip time in seconds, once known.
    srtt: Option<f64> = |facts| span_seconds(facts.srtt);
    /// Its mean deviation in seconds, once known.
    rttvar: Option<f64> = |facts| span_seconds(facts.rttvar);
    /// The smallest round-trip time seen, in seconds.
    min_rtt: Option<f64> = |facts| span_seconds(facts.min_rtt);
    /// When the retransmission timer expires, in seconds, if it runs.
    rto_at: Option<f64> = |facts| facts.rto_at.map(|at| at.as_secs_f64());
    /// The recovery under way: "fast" or "timeout"; None outside recovery.
    recovery: Option<&'static str> = |facts| facts.recovery.map(kind);
}

pub(super) fn kind(recovery: RecoveryKind) -> &'static str {
    match recovery {
        RecoveryKind::Fast => "fast",
        RecoveryKind::Timeout => "timeout",
    }
}

/// A segment that has newly been reported to have arrived.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Delivered {
    /// When it was last sent, in seconds.
    sent_at: f64,
    /// The byte after its last.
    end_seq: u32,
    /// Whether it was ever retransmitted.
    retransmitted: bool,
    /// How long ago it was last sent, in seconds.
    rtt: f64,
    /// The smallest round-trip time seen, in seconds.
    min_rtt: Option<f64>,
    /// The smoothed round-trip time in seconds, once known.
    srtt: Option<f64>,
}

impl Delivered {
    pub(super) fn of(delivered: &loss::Delivered) -> Delivered {
        Delivered {
            sent_at: delivered.sent_at.as_secs_f64(),
            end_seq: delivered.end_seq.0,
            retransmitted: matches!(delivered.hole, Hole::Retransmitted(_)),
            rtt: delivered.rtt.as_secs_f64(),
            min_rtt: span_seconds(delivered.min_rtt),
            srtt: span_seconds(delivered.srtt),
        }
    }
}

/// A recovery that turned out to have been unnecessary.
#[pyclass(frozen, get_all, module = "ackord")]
pub(crate) struct Spurious {
    /// What showed it: "dsack", "timestamps", "detection-timer" or "f-rto".
    evidence: &'static str,
    /// Which kind of recovery it was: "fast" or "timeout".
    recovery: &'static str,
    /// How many segments had arrived above the hole when it was filled.
    extent_segments: u32,
    /// How long after the first sign of the hole it was filled, in seconds.
    delay: f64,
    /// Bytes in flight when the recovery began.
    flight_size: u64,
    /// The sender's segment size, in bytes.
    smss: u64,
}

impl Spurious {
    pub(super) fn of(spurious: &loss::Spurious) -> Spurious {
        Spurious {
            evidence: match spurious.evidence {
                SpuriousEvidence::Dsack => "dsack",
                SpuriousEvidence::Timestamps => "timestamps",
                SpuriousEvidence::DetectionTimer => "detection-timer",
                SpuriousEvidence::FRto => "f-rto",
            },
            recovery: kind(spurious.recovery),
            extent_segments: spurious.extent_segments,
            delay: spurious.delay.as_secs_f64(),
            flight_size: spurious.flight_size.get(),
            smss: spurious.smss.get(),
        }
    }
}
