//! A selective-repeat sender for the wireless hop: a fixed window, a timer for each segment, and no
//! idea of congestion (the SRP of MTCP, Yavatkar and Bhagawat 1994).
//!
//! The paper's mobile host speaks the protocol too; ours is an ordinary TCP, and these are the only
//! parts of its cooperation that are needed:
//!
//! | the paper's mobile | what stands in for it |
//! | --- | --- |
//! | tells which segments have arrived | SACK (RFC 2018), at most three or four blocks a time; from a mobile without SACK nothing can be learnt but the lowest hole, so that three duplicate acknowledgments and one recovery a round trip (RFC 6582) take the timers' place, still within the fixed window |
//! | keeps what arrives out of order, up to the window | reassembly, within the window it advertises |
//! | acknowledges each segment | the ACK policy it has: a delayed acknowledgment may outlast a lone segment's timer, which then is repeated in vain |
//!
//! So the sender is an [endpoint](ackord_tcp::Connection) with two plug-ins from here, and its
//! segments are TCP's. A segment is lost when its timer, SRTT + 4 RTTVAR and at least `timer_min`,
//! has expired: nothing is counted, so order does not matter, and silence does not double the timer,
//! so the hop is asked again at that pace however long it is silent (only repeats that prove to have
//! been needless lengthen it). Once one timer has expired, the other
//! holes below what was reported are repeated with that segment and not each at its own time: the
//! endpoint's recovery (RFC 6675 §4, rule 3) cannot be told otherwise. The window is one of sequence
//! numbers: nothing beyond `window` segments above the oldest hole is sent.
//!
//! Not registered among the choices of an endpoint: a sender that never yields has no business on a
//! path it shares.

use super::super::WirelessRoundTrip;
use ackord_tcp::congestion::{
    AckSample, CongestionControl, CongestionEvent, Established, LossAnswer,
};
use ackord_tcp::loss::{
    Delivered, DetectorProfile, DetectorView, Fixed, Hole, LimitedTransmit, LossDetector,
    LossEvent, LossFacts, LossVerdict, Overdue, TimeScope,
};
use ackord_tcp::recovery::SackRecovery;
use ackord_tcp::{Config, Mechanisms};
use ackord_units::{Bytes, Span, Time};

/// The knobs of the wireless hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectiveRepeat {
    /// Segments that may be out, from the oldest one not acknowledged on.
    pub window_segments: u64,
    /// The shortest a segment's timer can be.
    pub timer_min: Span,
}

impl SelectiveRepeat {
    /// Makes an endpoint's sender one of these.
    pub(super) fn equip(&self, config: &mut Config, mechanisms: &mut Mechanisms) {
        config.window.max_segments = Some(self.window_segments);
        mechanisms.congestion =
            Box::new(FixedWindow { segments: self.window_segments, cwnd: Bytes(1) });
        mechanisms.loss = Box::new(SegmentTimers {
            shortest: self.timer_min,
            trip: WirelessRoundTrip::default(),
            stretch: 1,
        });
        mechanisms.recovery = Box::new(SackRecovery::new(false));
    }
}

/// A window that nothing changes.
#[derive(Clone, Copy, Debug)]
struct FixedWindow {
    segments: u64,
    cwnd: Bytes,
}

impl CongestionControl for FixedWindow {
    fn on_established(&mut self, _now: Time, sizes: Established) {
        self.cwnd = sizes.smss * self.segments;
    }

    fn on_ack(&mut self, _now: Time, _ack: &AckSample) {}

    fn on_congestion(&mut self, _now: Time, _event: CongestionEvent) {}

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn ssthresh(&self) -> Bytes {
        Bytes::MAX
    }

    fn loss_answer(&self) -> LossAnswer {
        LossAnswer::OwnWindow
    }
}

/// A timer for each segment sent.
#[derive(Clone, Copy, Debug)]
struct SegmentTimers {
    shortest: Span,
    /// Of segments sent once. Not the endpoint's: after an outage that takes the echo of a stamp
    /// from before it for a round trip.
    trip: WirelessRoundTrip,
    /// How many times longer they are: doubled by repeats that were not needed, until a segment
    /// sent once gives a sample again. Where every segment is repeated too early there is none
    /// (Karn's rule), and the timer would stay as short as it is.
    stretch: u64,
}

/// The longest a timer can become, as a multiple.
const MOST_STRETCH: u64 = 16;

impl SegmentTimers {
    fn on_sample(&mut self, rtt: Span) {
        self.stretch = 1;
        self.trip.sample(rtt);
    }

    fn stretch(&mut self) {
        self.stretch = (self.stretch * 2).min(MOST_STRETCH);
    }
}

impl LossDetector for SegmentTimers {
    fn profile(&self) -> DetectorProfile {
        DetectorProfile { by_time: Some(TimeScope::Everything), ..DetectorProfile::STANDARD }
    }

    /// Never asked for a threshold: the timers decide.
    fn view(&self) -> DetectorView {
        DetectorView::threshold(u32::MAX)
    }

    fn on_ack(&mut self, _now: Time, _facts: &LossFacts) -> LossVerdict {
        LossVerdict::WAIT
    }

    /// A timer that knows not which segments arrived would repeat them all: three duplicates mean
    /// a loss then, and one hole is found a round trip.
    fn without_sack(&self) -> Option<Box<dyn LossDetector>> {
        Some(Box::new(Fixed::new(3, LimitedTransmit::On)))
    }

    fn on_delivered(&mut self, _now: Time, delivered: &Delivered) {
        match delivered.hole {
            Hole::SentOnce => self.on_sample(delivered.rtt),
            // No repeat comes back sooner than the fastest round trip: the original did.
            Hole::Retransmitted(_)
                if delivered.min_rtt.is_some_and(|least| delivered.rtt < least) =>
            {
                self.stretch();
            }
            Hole::Retransmitted(_) => {}
        }
    }

    fn on_event(&mut self, event: LossEvent) {
        if let LossEvent::Dsack { .. } = event {
            self.stretch();
        }
    }

    fn overdue(&mut self, facts: &LossFacts) -> Option<Overdue> {
        let timeout = self.trip.timeout().or_else(|| facts.fine_timeout())?;
        Some(Overdue { sent_before: None, age: timeout.max(self.shortest) * self.stretch })
    }
}

/// What the wireless hop speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// TCP, as [`SplitConfig::wireless`](super::SplitConfig::wireless) has it.
    Tcp,
    /// A selective-repeat protocol, with the rest of [`SplitConfig::wireless`](super::SplitConfig::wireless).
    SelectiveRepeat(SelectiveRepeat),
}
