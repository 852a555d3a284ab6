//! When is a segment lost: what a run of duplicate acknowledgments, or the passing of time, means.
//!
//! | file | what |
//! | --- | --- |
//! | `facts.rs` | what the sender tells a detector |
//! | `fixed.rs` | a fixed number of duplicate acknowledgments, with limited transmit |
//! | `vegas.rs` | the same, or sooner by a fine-grained timeout |
//! | `rack.rs`, `rack/` | by time: RACK with tail loss probes |
//! | `eifel.rs` | the same, and undo by timestamps |
//! | `dad.rs` | TCP-DAD: the length of the last reordering |
//! | `dad_sd/` | TCP-DAD-SD: a smoothed threshold, as in the paper and as we would have it |
//! | `detection_timer.rs` | the timer of those two |
//! | `blanton_allman.rs` | a threshold raised by what DSACK shows |
//! | `ncr.rs`, `dcr.rs` | a round trip's worth of segments, or of time |
//! | `pr.rs` | no duplicate acknowledgments at all: a timer per segment |
//!
//! The retransmission timer is not here: it is the connection's last resort under every policy.
//! Nor is the finding of spurious retransmissions by DSACK and timestamps: the sender does that,
//! and asks the detector what to make of it.

mod detection_timer;
mod facts;

mechanisms! {
    /// Loss detectors: when is a segment lost.
    pub enum Loss: dyn LossConfig {
        mod fixed => Fixed(FixedConfig);
        mod vegas => Vegas(VegasLossConfig);
        mod rack => Rack(RackConfig);
        mod eifel => Eifel(EifelConfig);
        mod dad => Dad(DadConfig);
        mod dad_sd => DadSd(DadSdConfig);
        mod blanton_allman => BlantonAllman(BlantonAllmanConfig);
        mod ncr => Ncr(NcrConfig);
        mod dcr => Dcr(DcrConfig);
        mod pr => Pr(PrConfig);
    }
}

/// What every loss detector's knobs lead to.
pub trait LossConfig {
    /// The detector at the start of a connection.
    fn build(&self) -> Box<dyn LossDetector>;
}

pub use blanton_allman::{BlantonAllman, ReorderingVariant};
pub use dad::Dad;
pub use dad_sd::{DadSd, DadSdPaper, PaperUndo};
pub use dcr::Dcr;
pub use eifel::Eifel;
pub use facts::{AckContext, Advance, Delivered, Duplicates, Echo, Hole, LossFacts, Spurious};
pub use fixed::{Fixed, LimitedTransmit};
pub use ncr::{ExtendedLimitedTransmit, Ncr};
pub use pr::Pr;
pub(crate) use rack::{ProbeAck, ProbeFacts, ProbeKind, ProbeOutcome, Report, Tlp};
pub use rack::{Rack, RackRules};
pub use vegas::VegasLoss;

use crate::plug_in::copied_in_boxes;
use ackord_events::RecoveryKind;
use ackord_units::{Bytes, Keyword, Seq, Span, Time, mechanisms};
use std::fmt;

/// What a detector makes of the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossVerdict {
    /// Not lost as far as one can tell; so much new data may be sent beyond cwnd meanwhile.
    NotYet {
        /// Allowance of limited transmit, for the whole run of duplicates.
        beyond_cwnd: Bytes,
    },
    /// The oldest outstanding segment is lost.
    Lost,
    /// What arrived shows that the last recovery was unnecessary: give back what it took.
    Spurious(Undo),
}

impl LossVerdict {
    /// Not lost, and nothing beyond cwnd.
    pub const WAIT: LossVerdict = LossVerdict::NotYet { beyond_cwnd: Bytes::ZERO };
}

/// How much of a reduction is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// cwnd and ssthresh are again what they were when the recovery began, or more where they have
    /// grown beyond it since: what was taken and no more.
    Restore,
    /// As [`Undo::Restore`], but cwnd grows back to where it was by slow start instead of at once,
    /// from FlightSize and a segment.
    SlowStartBack,
    /// As RFC 4015 §3 answers a spurious timeout: cwnd grows back to where it was from FlightSize
    /// and what was acknowledged, the initial window at most, with ssthresh = pipe_prev, and the
    /// retransmission timer becomes more conservative.
    EifelResponse,
    /// ssthresh is again what it was before the last recovery, and cwnd doubles (Park et al. 2008
    /// Eq. 2 and 3). Where nothing had been reduced, cwnd doubles all the same.
    DoubleCwnd,
}

/// Which segments in flight are lost by the passing of time: every one last sent before `sent_before`
/// (at the same time: ending before that byte) and longer ago than `age`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// Only transmissions before this one; any, if absent.
    pub sent_before: Option<(Time, Seq)>,
    /// How long a segment may be in flight.
    pub age: Span,
}

/// Which transmissions a detector judges by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeScope {
    /// All: counting what arrived above a hole means nothing.
    Everything,
    /// Retransmissions only; for first transmissions its threshold and [`LossDetector::on_ack`]
    /// stand.
    Retransmissions,
}

/// What becomes of the window when a segment that a fast recovery retransmitted is lost once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum LostRetransmission {
    /// Nothing: it is only retransmitted once more, as Linux does.
    Repeats,
    /// It is reduced a second time (RFC 5681 §4.3).
    Reduces,
}

/// What a detector asks of the sender for as long as the connection lives.
#[derive(Clone, Copy, Debug)]
pub struct DetectorProfile {
    /// Whether it has to be asked about every acknowledgment, and may have a timer; else only about
    /// those that leave a doubt ([`LossFacts::leave_doubt`]), so that others are not asked for
    /// nothing.
    pub every_ack: bool,
    /// Which transmissions it judges by time, if any: only then does the sender keep their order.
    pub by_time: Option<TimeScope>,
    /// What a lost retransmission means.
    pub lost_retransmission: LostRetransmission,
    /// Whether the sender is to send tail loss probes (RFC 8985 §7), and how long the peer may hold
    /// back the acknowledgment of a lone segment.
    pub tail_probe: Option<Span>,
    /// How much later than they are due its timers expire, the probe's for a lone segment apart.
    pub timer_slack: Span,
}

impl DetectorProfile {
    /// Asked about every acknowledgment, and nothing by time.
    pub const STANDARD: DetectorProfile = DetectorProfile {
        every_ack: true,
        by_time: None,
        lost_retransmission: LostRetransmission::Repeats,
        tail_probe: None,
        timer_slack: Span::ZERO,
    };
}

/// What a detector has learnt so far.
#[derive(Clone, Copy, Debug)]
pub struct DetectorView {
    /// DupThresh: how many segments above a hole make it lost (RFC 6675 §4 IsLost).
    pub duplicate_threshold: u32,
    /// Whether segments have been seen to overtake each other.
    pub reordering_seen: bool,
    /// From the end of a segment to that of one that overtook it, at most, where that is looked at.
    pub overtaken_by: Bytes,
}

impl DetectorView {
    /// A threshold, and nothing seen.
    pub const fn threshold(duplicate_threshold: u32) -> DetectorView {
        DetectorView { duplicate_threshold, reordering_seen: false, overtaken_by: Bytes::ZERO }
    }
}

/// What else a detector is told.
#[derive(Clone, Copy, Debug)]
pub enum LossEvent {
    /// A recovery begins: a fast retransmit, or the retransmission timer expired.
    Recovery(RecoveryKind),
    /// Segments were overdue that had been retransmitted before.
    RetransmissionOverdue,
    /// The receiver had one of our retransmissions twice (RFC 2883), and it was no probe.
    Dsack {
        /// The next byte to be sent.
        snd_nxt: Seq,
    },
}

copied_in_boxes!(LossDetector, CopiedDetector);

/// Decides when a segment is lost. Never sends, never changes cwnd.
///
/// Whatever it says about a loss during recovery is for the sender to use or not: in fast recovery
/// the recovery and the scoreboard, by its threshold and [`LossDetector::overdue`], find what else is
/// lost.
pub trait LossDetector: CopiedDetector + Send + fmt::Debug {
    /// What it asks of the sender. Asked once, when the connection is established.
    fn profile(&self) -> DetectorProfile {
        DetectorProfile::STANDARD
    }

    /// What it has learnt so far.
    fn view(&self) -> DetectorView;

    /// A duplicate acknowledgment came outside recovery, or one of new data: then the facts are about
    /// what is the oldest segment now, and during recovery only [`LossVerdict::Spurious`] has an
    /// effect.
    fn on_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict;

    /// A segment has newly been reported to have arrived: those reported by SACK first, then those
    /// acknowledged cumulatively, each in order of sequence. Told to detectors that judge by time.
    fn on_delivered(&mut self, _now: Time, _delivered: &Delivered) {}

    /// Which segments are lost by the passing of time; nothing while none can be. Asked of detectors
    /// that judge by time, after every acknowledgment and when time has passed.
    fn overdue(&mut self, _facts: &LossFacts) -> Option<Overdue> {
        None
    }

    /// Something else happened.
    fn on_event(&mut self, _event: LossEvent) {}

    /// The sender found, by DSACK, timestamps or F-RTO, that a recovery was unnecessary. What to
    /// give back, if anything.
    fn on_spurious(&mut self, _now: Time, _spurious: &Spurious) -> Option<Undo> {
        None
    }

    /// When a timer of the detector's own expires.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// That timer expired. During fast recovery [`LossVerdict::Lost`] retransmits the oldest segment
    /// without another reduction.
    fn on_timer(&mut self, _now: Time, _facts: &LossFacts) -> LossVerdict {
        LossVerdict::WAIT
    }

    /// Which detector takes its place where the peer does not speak SACK; nothing for one that does
    /// not need it.
    fn without_sack(&self) -> Option<Box<dyn LossDetector>> {
        None
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Shorthand for the tests of every detector.
    use super::*;
    use ackord_events::SpuriousEvidence;

    /// A doubt with segments of 1000 bytes, 20 in flight, a round trip of 100 ms and one second
    /// left on the retransmission timer.
    pub(crate) fn facts(duplicate_acks: u32, sacked: u64) -> LossFacts {
        LossFacts {
            advance: None,
            duplicate_acks,
            reports: duplicate_acks,
            sacked: Bytes(sacked),
            sacked_sequences: u32::from(sacked > 0),
            highest_sacked: (sacked > 0).then_some(Seq(20_000)),
            smss: Bytes(1000),
            snd_una: Seq(0),
            snd_nxt: Seq(20_000),
            flight_size: Bytes(20_000),
            cwnd: Bytes(20_000),
            oldest_sent_at: Some(Time::ZERO),
            srtt: Some(Span::from_millis(100)),
            rttvar: Some(Span::from_millis(10)),
            min_rtt: Some(Span::from_millis(80)),
            rto_at: Some(Time::ZERO + Span::from_secs(1)),
            recovery: None,
            dsack: false,
            timestamps: false,
        }
    }

    /// An acknowledgment that ends a run of so many duplicates.
    pub(crate) fn advance(duplicate_acks: u32) -> Advance {
        Advance {
            acked: Bytes(1000),
            duplicate_acks,
            extent_segments: duplicate_acks,
            hole: Hole::SentOnce,
        }
    }

    /// A fast retransmit that so many segments had overtaken.
    pub(crate) fn spurious(evidence: SpuriousEvidence, extent_segments: u32) -> Spurious {
        Spurious {
            evidence,
            recovery: RecoveryKind::Fast,
            extent_segments,
            delay: Span::from_millis(30),
            flight_size: Bytes(20_000),
            smss: Bytes(1000),
            context: AckContext {
                outstanding: Bytes(20_000),
                duplicates: Duplicates::Never,
                marked: false,
            },
        }
    }

    /// The questions of the tests.
    pub(crate) trait Ask: LossDetector {
        fn on_duplicate_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
            self.on_ack(now, facts)
        }

        fn on_new_ack(&mut self, now: Time, facts: &LossFacts, advance: &Advance) -> LossVerdict {
            self.on_ack(now, &LossFacts { advance: Some(*advance), ..*facts })
        }

        fn on_recovery(&mut self, kind: RecoveryKind) {
            self.on_event(LossEvent::Recovery(kind));
        }

        fn threshold(&self) -> u32 {
            self.view().duplicate_threshold
        }
    }

    impl<T: LossDetector> Ask for T {}

    pub(crate) fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    pub(crate) fn not_yet(segments: u64) -> LossVerdict {
        LossVerdict::NotYet { beyond_cwnd: Bytes(segments * 1000) }
    }
}
