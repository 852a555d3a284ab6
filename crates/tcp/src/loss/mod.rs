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

mod blanton_allman;
mod dad;
mod dad_sd;
mod dcr;
mod detection_timer;
mod eifel;
mod facts;
mod fixed;
mod ncr;
mod pr;
mod rack;
mod vegas;

pub use blanton_allman::{BlantonAllman, ReorderingVariant};
pub use dad::Dad;
pub use dad_sd::{DadSd, DadSdPaper, PaperUndo};
pub use dcr::Dcr;
pub use eifel::Eifel;
pub use facts::{
    Advance, Aside, Available, Delivered, Doubt, Duplicates, Echo, Hole, MarkEchoed, Spurious,
    Stage, Verification,
};
pub use fixed::{Fixed, LimitedTransmit};
pub use ncr::{ExtendedLimitedTransmit, Ncr};
pub use pr::Pr;
pub(crate) use rack::{Outstanding, ProbeAck, ProbeFacts, ProbeKind, ProbeOutcome, Report, Tlp};
pub use rack::{Rack, RackKnobs, RackRules, UndoReductions};
pub use vegas::VegasLoss;

use crate::plug_in::copied_in_boxes;
use ackord_events::RecoveryKind;
use ackord_units::{Bytes, Seq, Span, Time};
use std::fmt;

/// What a detector makes of a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossVerdict {
    /// Not lost as far as one can tell; so much new data may be sent beyond cwnd meanwhile.
    NotYet {
        /// Allowance of limited transmit, for the whole run of duplicates.
        beyond_cwnd: Bytes,
    },
    /// The oldest outstanding segment is lost.
    Lost,
    /// What arrived shows that the last repair was unnecessary: give back what it took.
    Spurious(Undo),
}

impl LossVerdict {
    /// Not lost, and nothing beyond cwnd.
    pub const WAIT: LossVerdict = LossVerdict::NotYet { beyond_cwnd: Bytes::ZERO };
}

/// How much of a reduction is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// cwnd and ssthresh are again what they were when the repair began, or more where they have
    /// grown beyond it since: what was taken and no more.
    Restore,
    /// As [`Undo::Restore`], but cwnd grows back to where it was by slow start instead of at once,
    /// from FlightSize and a segment.
    SlowStartBack,
    /// As RFC 4015 §3 answers a spurious timeout: cwnd grows back to where it was from FlightSize
    /// and what was acknowledged, the initial window at most, with ssthresh = pipe_prev, and the
    /// retransmission timer becomes more conservative.
    EifelResponse,
    /// ssthresh is again what it was before the last repair, and cwnd doubles (Park et al. 2008
    /// Eq. 2 and 3). Where nothing had been reduced, cwnd doubles all the same.
    DoubleCwnd,
}

/// Which segments in flight are lost by the passing of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// As yet nothing can be lost.
    Unknown,
    /// Every segment last sent before `sent_before` (at the same time: ending before that octet)
    /// and longer ago than `age` is lost.
    Overdue {
        /// Only transmissions before this one; any, if absent.
        sent_before: Option<(Time, Seq)>,
        /// How long a segment may be in flight.
        age: Span,
    },
}

/// What a loss detector has to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heeds {
    /// Every acknowledgment, and it may have a timer.
    EveryAck,
    /// Acknowledgments that leave a doubt: duplicates, and those of new data while nothing is
    /// being repaired and later data has been SACKed. It has no timer.
    Doubts,
}

/// Which transmissions a detector by time has the say over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// All: counting what arrived above a hole means nothing.
    Everything,
    /// Of segments sent again only; for first transmissions [`LossDetector::duplicate_threshold`]
    /// and [`LossDetector::on_duplicate_ack`] stand.
    Retransmissions,
}

/// What becomes of the window when a segment that a fast recovery sent again is lost once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostRetransmission {
    /// Nothing: it is only sent again, as Linux does.
    Repeats,
    /// It is reduced a second time (RFC 5681 §4.3).
    Reduces,
}

copied_in_boxes!(LossDetector, CopiedDetector);

/// Decides when a segment is lost. Never sends, never changes cwnd.
///
/// Whatever it says about a loss while a repair goes on is for the sender to use or not: in fast
/// recovery the recovery sender and the scoreboard, by [`LossDetector::duplicate_threshold`] and
/// [`ByTime::horizon`], find what else is lost.
pub trait LossDetector: CopiedDetector + Send + fmt::Debug {
    /// A duplicate acknowledgment came while nothing was being repaired.
    fn on_duplicate_ack(&mut self, now: Time, doubt: &Doubt) -> LossVerdict;

    /// DupThresh: how many segments above a hole make it lost (RFC 6675 §4 IsLost).
    fn duplicate_threshold(&self) -> u32;

    /// What it has to be asked, so that others are not asked for nothing at every acknowledgment.
    /// Settled when the connection is established.
    fn heeds(&self) -> Heeds {
        Heeds::EveryAck
    }

    /// New data was acknowledged; `doubt` is about what is the oldest segment now. Called during
    /// repairs too, where only [`LossVerdict::Spurious`] has an effect.
    fn on_new_ack(&mut self, now: Time, doubt: &Doubt, _advance: &Advance) -> LossVerdict {
        // What was SACKed before may make the new oldest segment lost at once.
        if doubt.stage == Stage::Open && doubt.sacked > Bytes::ZERO {
            self.on_duplicate_ack(now, doubt)
        } else {
            LossVerdict::WAIT
        }
    }

    /// A repair begins: a fast retransmit, or the retransmission timer expired.
    fn on_repair(&mut self, _now: Time, _kind: RecoveryKind) {}

    /// The sender found, by DSACK, timestamps or F-RTO, that a repair was unnecessary. What to
    /// give back, if anything.
    fn on_spurious(&mut self, _now: Time, _spurious: &Spurious) -> Option<Undo> {
        None
    }

    /// When a timer of the detector's own expires.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// That timer expired. During fast recovery [`LossVerdict::Lost`] sends the oldest segment
    /// again, without another reduction.
    fn on_deadline(&mut self, _now: Time, _doubt: &Doubt) -> LossVerdict {
        LossVerdict::WAIT
    }

    /// Who judges instead where the peer does not speak SACK; nothing for a detector that does not
    /// need it.
    fn without_sack(&self) -> Option<Box<dyn LossDetector>> {
        None
    }

    /// The detector as one that judges by time, if it is one. Asked when the connection is
    /// established: only then does the sender keep the order of transmissions.
    fn by_time(&mut self) -> Option<&mut dyn ByTime> {
        None
    }

    /// From the end of a segment to that of one that overtook it, at most, where that is looked at.
    fn overtaken_by(&self) -> Bytes {
        Bytes::ZERO
    }
}

/// A loss detector that goes by when segments were sent.
pub trait ByTime {
    /// A segment has newly been reported to have arrived: those reported by SACK first, then those
    /// acknowledged cumulatively, each in order of sequence.
    fn on_delivered(&mut self, _now: Time, _delivered: &Delivered) {}

    /// Segments were overdue that had been sent again before.
    fn on_overdue_again(&mut self) {}

    /// The receiver had one of our retransmissions twice (RFC 2883), and it was no probe.
    fn on_dsack(&mut self, _snd_nxt: Seq) {}

    /// Whether segments have been seen to overtake each other.
    fn has_seen_reordering(&self) -> bool {
        false
    }

    /// Which transmissions that is about. Asked when the connection is established.
    fn judged(&self) -> Judged {
        Judged::Everything
    }

    /// What a lost retransmission means. Asked when the connection is established.
    fn lost_retransmission(&self) -> LostRetransmission {
        LostRetransmission::Repeats
    }

    /// Which segments are lost by the passing of time. Asked after every acknowledgment and when
    /// time has passed.
    fn horizon(&mut self, doubt: &Doubt) -> Horizon;

    /// Whether the sender is to send tail loss probes (RFC 8985 §7), and how long the peer may hold
    /// back the acknowledgment of a lone segment.
    fn tail_probe(&self) -> Option<Span> {
        None
    }

    /// How much later than they are due its timers strike, the probe's for a lone segment apart.
    fn timer_slack(&self) -> Span {
        Span::ZERO
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Shorthand for the tests of every detector.
    use super::*;
    use ackord_events::SpuriousEvidence;

    /// A doubt with segments of 1000 octets, 20 in flight, a round trip of 100 ms and one second
    /// left on the retransmission timer.
    pub(crate) fn doubt(duplicate_acks: u32, sacked: u64) -> Doubt {
        Doubt {
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
            stage: Stage::Open,
            verification: Verification { dsack: Available::No, timestamps: Available::No },
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
            repair: RecoveryKind::Fast,
            extent_segments,
            lateness: Span::from_millis(30),
            flight_size: Bytes(20_000),
            smss: Bytes(1000),
            aside: Aside {
                outstanding: Bytes(20_000),
                duplicates: Duplicates::Never,
                mark: MarkEchoed::No,
            },
        }
    }

    pub(crate) fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    pub(crate) fn not_yet(segments: u64) -> LossVerdict {
        LossVerdict::NotYet { beyond_cwnd: Bytes(segments * 1000) }
    }
}
