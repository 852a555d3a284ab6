//! How much may be outstanding.
//!
//! | file | control |
//! | --- | --- |
//! | `reno.rs` | slow start and additive increase (RFC 5681) |
//! | `tahoe.rs` | the same, back to one segment on every loss |
//! | `westwood.rs` | the same, but the bandwidth estimate says what is left after a loss |
//! | `growth.rs` | the growth these share, per acknowledgment or per byte (RFC 3465) |
//! | `vegas.rs` | a few segments in the queue, judged by the round-trip time |
//! | `cubic/` | cubic growth (RFC 9438), and as Linux counts it |
//! | `hystart.rs` | how CUBIC may leave slow start before it loses |
//! | `bbr/` | a model of the path decides rate and window (BBR version 3) |
//! | `model.rs` | what a control hears that keeps a model of the path: delivery-rate samples |
//! | `steered.rs` | windows that a driver sets from outside |
//! | `ns2.rs` | Reno as ns-2's agents count it, in whole segments |
//!
//! In fast recovery the recovery decides what leaves; the control
//! hears of the loss once and of the end of the recovery once.

mod growth;
mod hystart;
mod model;
mod steered;

mechanisms! {
    /// Congestion controls: how much may be outstanding.
    pub enum Congestion: dyn CongestionConfig {
        mod reno => Reno(RenoConfig);
        mod tahoe => Tahoe(TahoeConfig);
        mod westwood => Westwood(WestwoodConfig);
        mod ns2 => Ns2(Ns2Config);
        mod vegas => Vegas(VegasConfig);
        mod cubic => Cubic(CubicConfig);
        mod bbr => Bbr(BbrConfig);
    }
}

/// What every congestion control's knobs lead to.
pub trait CongestionConfig {
    /// The control, before the handshake.
    fn build(&self) -> Box<dyn CongestionControl>;
}

pub use bbr::Bbr;
pub use cubic::{Cubic, CubicRules};
pub(crate) use growth::SlowStartAfter;
pub use growth::{AbcKnobs, Growth, GrowthBy};
pub use hystart::HyStart;
pub use model::{LostSegment, PathModel, RateSample, RecoveryPhase, SampleAdvice};
pub use ns2::Ns2;
pub use reno::Reno;
pub use steered::Steering;
pub use tahoe::Tahoe;
pub use vegas::Vegas;
pub use westwood::Westwood;

use crate::plug_in::copied_in_boxes;
use ackord_units::{Bytes, Rate, Seq, Span, Time, mechanisms};
use std::fmt;

/// An acknowledgment of new data.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Bytes newly acknowledged.
    pub acked: Bytes,
    /// Bytes of which the peer is known to have them since this acknowledgment: those newly
    /// acknowledged that no SACK block had reported before, and those newly reported; also those
    /// reported before it that were no sign of loss, as reordering had been seen.
    pub delivered: Bytes,
    /// Round-trip time of the most recently sent segment it covers, where Karn's rule allows.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time, once known.
    pub srtt: Option<Span>,
    /// Bytes in flight before this acknowledgment.
    pub flight_size: Bytes,
    /// Oldest byte not acknowledged, after it.
    pub snd_una: Seq,
    /// Next byte to be sent.
    pub snd_nxt: Seq,
    /// What held the sender back.
    pub limit: SendLimit,
}

/// What held the sender back when the acknowledgment came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// The congestion window: it may grow.
    Cwnd,
    /// The application, the receiver's window or a fixed bound: growing cwnd would tell nothing
    /// about the path (RFC 9293 §3.8.2, RFC 7661 §3).
    Other,
}

/// A sign of congestion, or the end of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// A loss was detected without the retransmission timer.
    Loss {
        /// Bytes in flight, without those that limited transmit let out.
        flight_size: Bytes,
        /// What the recovery sender does next.
        response: LossResponse,
    },
    /// The path marked a packet (RFC 3168): heard once for each window of data, and not where a loss
    /// of the same window was heard.
    Mark {
        /// Bytes in flight.
        flight_size: Bytes,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Bytes in flight.
        flight_size: Bytes,
        /// Whether it is the first in a row for the same segment.
        order: TimeoutOrder,
        /// Next byte to be sent that was never sent.
        snd_nxt: Seq,
    },
    /// The last reduction proved wrong: these windows are to hold again. Whatever else it changed
    /// is to be as it was before.
    Undone {
        /// The congestion window.
        cwnd: Bytes,
        /// The slow-start threshold.
        ssthresh: Bytes,
    },
    /// Nothing was sent for longer than a retransmission timeout (RFC 5681 §4.1): these windows
    /// hold from now on. A control that models the path need not follow.
    Restart {
        /// The congestion window.
        cwnd: Bytes,
        /// The slow-start threshold.
        ssthresh: Bytes,
    },
    /// Fast recovery is over.
    Recovered {
        /// A bound on cwnd that keeps the sender from a burst (RFC 6582 §3.2 step 3), if any.
        cwnd_at_most: Option<Bytes>,
    },
}

/// What answers a detected loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossResponse {
    /// By fast recovery: cwnd falls to the new ssthresh.
    FastRecovery,
    /// By slow start from one segment (Tahoe).
    SlowStart,
}

/// Whether a timeout repeats an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutOrder {
    /// The segment had not timed out before.
    First,
    /// It had (RFC 5681 §3.1: ssthresh is then held).
    Repeated,
}

/// What is known once the connection is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Established {
    /// Sender maximum segment size.
    pub smss: Bytes,
    /// Congestion window to begin with.
    pub initial_window: Bytes,
    /// The smoothed round-trip time, if the handshake gave a sample.
    pub srtt: Option<Span>,
    /// The initial sequence number: what a control that needs chance derives it from.
    pub iss: Seq,
    /// Whether the peer reports what arrives out of order.
    pub selective_acks: bool,
    /// Whether what cwnd allows is paced, whatever the control says of a rate; otherwise it leaves all
    /// at once.
    pub paced: bool,
}

/// How a control wants a loss answered that was detected without the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAnswer {
    /// As the recovery sender does it; during fast recovery it decides what leaves.
    AsRecovery,
    /// By slow start from one segment, whatever the recovery sender would do.
    SlowStart,
    /// As the recovery sender does it, but the control's own window bounds what is in the network
    /// meanwhile (with SACK; without it nobody knows what is in the network).
    OwnWindow,
}

copied_in_boxes!(CongestionControl, CopiedControl);

/// Decides how much may be outstanding. Never sees the scoreboard, never sends.
pub trait CongestionControl: CopiedControl + Send + fmt::Debug {
    /// The connection is established.
    fn on_established(&mut self, now: Time, sizes: Established);

    /// New data was acknowledged, outside fast recovery.
    fn on_ack(&mut self, now: Time, ack: &AckSample);

    /// Congestion, or the end of a recovery.
    fn on_congestion(&mut self, now: Time, event: CongestionEvent);

    /// The congestion window.
    fn cwnd(&self) -> Bytes;

    /// The slow-start threshold; [`Bytes::MAX`] while there is none.
    fn ssthresh(&self) -> Bytes;

    /// The rate at which segments should leave, where the control paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Whether there may ever be such a rate, as is asked once, when the connection is established.
    fn may_pace(&self) -> bool {
        self.pacing_rate().is_some()
    }

    /// How a loss is answered that was detected without the timer.
    fn loss_answer(&self) -> LossAnswer {
        LossAnswer::AsRecovery
    }

    /// The control's model of the path, if it has one: delivery-rate samples are kept for it.
    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        None
    }
}

/// The window that every control here is built around, with the rules of RFC 5681 that they share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) smss: Bytes,
    pub(crate) cwnd: Bytes,
    pub(crate) ssthresh: Bytes,
    /// What the slow start under way follows, or the last one.
    pub(crate) after: SlowStartAfter,
}

impl Window {
    pub(crate) fn new() -> Window {
        let after = SlowStartAfter::Other;
        Window { smss: Bytes(1), cwnd: Bytes(1), ssthresh: Bytes::MAX, after }
    }

    pub(crate) fn establish(&mut self, sizes: Established) {
        // RFC 5681 §3.1: the initial ssthresh should be arbitrarily high.
        *self = Window { smss: sizes.smss, cwnd: sizes.initial_window, ..Window::new() };
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow-start growth, which never passes ssthresh.
    pub(crate) fn slow_start(&mut self, acked: Bytes, growth: Growth) {
        let step = growth.slow_start_step(acked, self.smss, self.after);
        self.slow_start_by(step);
    }

    /// The same, by so many bytes.
    pub(crate) fn slow_start_by(&mut self, step: Bytes) {
        self.cwnd = (self.cwnd + step).min(self.ssthresh.max(self.cwnd));
    }

    /// Sets ssthresh to `factor` of what was in flight, at least two segments (RFC 5681 Eq. 4).
    ///
    /// "No more than" Eq. 4 is what the RFC asks for. During a recovery FlightSize counts segments
    /// that have long left the network, so that it can be a multiple of what cwnd allows; then cwnd
    /// is the better measure.
    pub(crate) fn reduce_ssthresh(&mut self, flight_size: Bytes, factor: f64) {
        let reduced = Bytes((flight_size.min(self.cwnd).get() as f64 * factor) as u64);
        self.ssthresh = reduced.max(self.smss * 2);
    }

    /// The same, rounded down to whole segments: as Linux keeps windows.
    pub(crate) fn reduce_ssthresh_to_whole_segments(&mut self, flight_size: Bytes, factor: f64) {
        let segments = flight_size.min(self.cwnd).get() / self.smss.get();
        self.ssthresh = self.smss * ((segments as f64 * factor) as u64).max(2);
    }

    /// The window after a loss.
    pub(crate) fn enter(&mut self, response: LossResponse) {
        self.cwnd = match response {
            LossResponse::FastRecovery => self.ssthresh,
            LossResponse::SlowStart => self.smss,
        };
    }

    /// The window after a timeout: LW is one full-sized segment (RFC 5681 §3.1).
    pub(crate) fn time_out(&mut self) {
        self.cwnd = self.smss;
        self.after = SlowStartAfter::Timeout;
    }

    /// The windows as the sender gives them: after an undone reduction, or an idle time.
    pub(crate) fn set(&mut self, cwnd: Bytes, ssthresh: Bytes) {
        self.after = SlowStartAfter::Other;
        self.cwnd = cwnd.max(self.smss);
        self.ssthresh = ssthresh.max(self.smss * 2);
    }

    /// The window when fast recovery is over: ssthresh, where [`Window::enter`] has put it, or less.
    pub(crate) fn recovered(&mut self, cwnd_at_most: Option<Bytes>) {
        if let Some(bound) = cwnd_at_most {
            self.cwnd = self.cwnd.min(bound).max(self.smss);
        }
    }
}

#[cfg(test)]
mod suite;

#[cfg(test)]
pub(crate) mod testing {
    //! Shorthand for the tests of every control: segments of 1000 bytes, a window of ten.
    use super::*;

    pub(crate) fn established<C: CongestionControl>(mut control: C) -> C {
        control.on_established(Time::ZERO, sizes());
        control
    }

    pub(crate) fn sizes() -> Established {
        Established {
            smss: Bytes(1000),
            initial_window: Bytes(10_000),
            srtt: Some(Span::from_millis(100)),
            iss: Seq(4711),
            selective_acks: true,
            paced: false,
        }
    }

    pub(crate) fn ack_of(bytes: u64) -> AckSample {
        AckSample {
            acked: Bytes(bytes),
            delivered: Bytes(bytes),
            rtt: Some(Span::from_millis(100)),
            srtt: Some(Span::from_millis(100)),
            flight_size: Bytes(10_000),
            snd_una: Seq(0),
            snd_nxt: Seq(10_000),
            limit: SendLimit::Cwnd,
        }
    }

    /// A delivery of so many bytes on a path that is neither idle nor lossy.
    pub(crate) fn sample_of(bytes: u64) -> RateSample {
        RateSample {
            delivery_rate: Some(Rate::from_mbits_per_sec(8)),
            delivered: Bytes(bytes),
            interval: Span::from_millis(100),
            prior_delivered: Bytes::ZERO,
            total_delivered: Bytes(bytes),
            rtt: Some(Span::from_millis(100)),
            prior_in_flight: Bytes(10_000),
            in_flight: Bytes(10_000),
            newly_acked: Bytes(bytes),
            newly_lost: Bytes::ZERO,
            sent_in_flight: Bytes(10_000),
            lost_since_sent: Bytes::ZERO,
            app_limited: false,
            cwnd_limited: true,
            recovery_phase: RecoveryPhase::Open,
            selective_acks: true,
        }
    }

    pub(crate) fn loss(flight_size: u64, response: LossResponse) -> CongestionEvent {
        CongestionEvent::Loss { flight_size: Bytes(flight_size), response }
    }

    pub(crate) fn timeout(flight_size: u64, order: TimeoutOrder) -> CongestionEvent {
        CongestionEvent::Timeout { flight_size: Bytes(flight_size), order, snd_nxt: Seq(0) }
    }
}
