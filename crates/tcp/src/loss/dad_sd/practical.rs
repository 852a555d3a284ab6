//! DAD-SD for a sender that has more to go by than the authors': SACK, DSACK, timestamps.
//!
//! Kept from the paper: the threshold follows the reordering observed, smoothed; a detection timer
//! bounds how long a doubt may last; below the threshold arrivals let new segments out; a spurious
//! repair is undone. Different, each for a reason:
//!
//! - The threshold is a mean plus deviations, not a mean: half of all reordering is longer than its
//!   mean.
//! - Lateness in time is smoothed beside extent in segments and sets the timer, within one
//!   round trip and half of what is left to the retransmission timer, so that it never expires
//!   because of the threshold.
//! - No more than a window is waited for: what has arrived above the hole, at most cwnd, bounds both
//!   threshold and limited transmit.
//! - Timestamps or DSACK say whether a repair was spurious where they are in use; only without them
//!   does an acknowledgment within the detection timer count as proof. What is given back is what
//!   was taken, not twice the window.
//! - The timer's expiry does not forget what was learnt, for a real loss says nothing about reordering;
//!   sixteen repairs with no reordering between them do, and a timeout does.
//!
//! Without reordering it is RFC 5681 with RFC 3042, and the timer makes up for duplicate
//! acknowledgments that never come.

use super::super::dad::DEFAULT_THRESHOLD;
use super::super::{
    Advance, Available, Doubt, Hole, LossDetector, LossVerdict, Spurious, Stage, Undo,
};
use super::smoothed::Smoothed;
use ackord_events::RecoveryKind;
use ackord_units::{Bytes, Span, Time};

/// The smoothed threshold, with a timer by smoothed lateness.
#[derive(Clone, Copy, Debug)]
pub struct DadSd {
    /// Weight of what was known before against the reordering just seen.
    alpha: f64,
    /// Segments that had arrived above a hole when its original came.
    extent_segments: Smoothed,
    /// Seconds from the first sign of a hole to the original's arrival.
    lateness_s: Smoothed,
    /// What the two make of it, bounded by the window.
    threshold: u32,
    /// The hole under suspicion.
    run: Option<Run>,
    /// Repairs since reordering was last seen.
    repairs_in_order: u32,
}

/// A run of arrivals above a hole.
#[derive(Clone, Copy, Debug)]
struct Run {
    began_at: Time,
    expires_at: Option<Time>,
}

/// Repairs without reordering between them after which what was learnt is forgotten: as many as
/// RFC 8985 §6.2 step 4 lets its reordering window outlive.
const REPAIRS_TO_FORGET: u32 = 16;

impl DadSd {
    /// A detector with this alpha (0 to 1).
    pub fn new(alpha: f64) -> DadSd {
        DadSd {
            alpha,
            extent_segments: Smoothed::default(),
            lateness_s: Smoothed::default(),
            threshold: DEFAULT_THRESHOLD,
            run: None,
            repairs_in_order: 0,
        }
    }

    /// The segment that was missing came after all.
    fn learn(&mut self, extent_segments: u32, lateness: Span) {
        self.extent_segments.add(self.alpha, f64::from(extent_segments));
        self.lateness_s.add(self.alpha, lateness.as_secs_f64());
        self.repairs_in_order = 0;
    }

    fn forget(&mut self) {
        self.extent_segments = Smoothed::default();
        self.lateness_s = Smoothed::default();
        self.repairs_in_order = 0;
    }

    fn has_seen_reordering(&self) -> bool {
        self.extent_segments.bound().is_some()
    }

    /// How many arrivals above a hole are waited for: what reordering hardly ever exceeds, but
    /// no more than a window can bring.
    fn threshold_for(&self, doubt: &Doubt) -> u32 {
        let learnt = self.extent_segments.bound().map_or(0.0, f64::ceil) as u32;
        let window = doubt.cwnd.min(doubt.flight_size).get() / doubt.smss.get().max(1);
        let others = u32::try_from(window.saturating_sub(1)).unwrap_or(u32::MAX);
        learnt.saturating_add(1).min(others).max(DEFAULT_THRESHOLD)
    }

    /// How long after the first sign of a hole it is waited for. One round trip, as in the paper,
    /// until lateness has been seen; well before the retransmission timer in any case.
    fn patience(&self, now: Time, doubt: &Doubt) -> Option<Span> {
        let srtt = doubt.srtt?;
        let seen = self.lateness_s.bound().map_or(srtt, Span::from_secs_f64);
        let left = doubt.rto_at.map_or(srtt * 2, |at| at.saturating_since(now));
        Some(seen.max(srtt / 4).min(srtt).min(left / 2))
    }

    fn judge(&mut self, now: Time, doubt: &Doubt) -> LossVerdict {
        let patience = self.patience(now, doubt);
        self.run.get_or_insert(Run {
            began_at: now,
            expires_at: patience.map(|patience| now + patience),
        });
        self.threshold = self.threshold_for(doubt);
        let arrived = doubt.arrived_above();
        if doubt.reaches(self.threshold) {
            return LossVerdict::Lost;
        }
        // RFC 3042 until reordering has been seen; then a segment for each that has arrived, as
        // RFC 4653's aggressive variant has it, up to a second window.
        let allowed =
            if self.has_seen_reordering() { arrived } else { doubt.duplicate_acks.min(2) };
        LossVerdict::NotYet { beyond_cwnd: (doubt.smss * u64::from(allowed)).min(doubt.cwnd) }
    }

    /// Without DSACK and timestamps: whether an acknowledgment came too early to be that of the
    /// retransmission.
    fn original_arrived(&self, now: Time, doubt: &Doubt, advance: &Advance) -> bool {
        let Hole::Resent(resent_at) = advance.hole else { return false };
        let verification = doubt.verification;
        let proved_otherwise =
            Available::Yes == verification.timestamps || Available::Yes == verification.dsack;
        let too_early = doubt.min_rtt.is_some_and(|least| now.saturating_since(resent_at) < least);
        let pending = self.run.is_some_and(|run| run.expires_at.is_some_and(|at| now < at));
        !proved_otherwise && (too_early || pending)
    }
}

impl LossDetector for DadSd {
    fn on_duplicate_ack(&mut self, now: Time, doubt: &Doubt) -> LossVerdict {
        self.judge(now, doubt)
    }

    fn duplicate_threshold(&self) -> u32 {
        self.threshold
    }

    fn on_new_ack(&mut self, now: Time, doubt: &Doubt, advance: &Advance) -> LossVerdict {
        let spurious = self.original_arrived(now, doubt, advance)
            && doubt.stage == Stage::Repairing(RecoveryKind::Fast);
        let late = advance.hole == Hole::SentOnce && doubt.stage == Stage::Open;
        if let Some(run) = self.run.take()
            && advance.extent_segments > 0
            && (late || spurious)
        {
            self.learn(advance.extent_segments, now.saturating_since(run.began_at));
        }
        if spurious {
            LossVerdict::Spurious(Undo::Restore)
        } else if doubt.stage == Stage::Open && doubt.sacked > Bytes::ZERO {
            self.judge(now, doubt)
        } else {
            LossVerdict::WAIT
        }
    }

    fn on_repair(&mut self, _now: Time, kind: RecoveryKind) {
        match kind {
            RecoveryKind::Fast => {
                self.repairs_in_order += 1;
                if self.repairs_in_order >= REPAIRS_TO_FORGET {
                    self.forget();
                }
            }
            // The paper, §3.2.4: a timeout shows that the threshold was wrong.
            RecoveryKind::Timeout => {
                self.forget();
                self.run = None;
                self.threshold = DEFAULT_THRESHOLD;
            }
        }
    }

    fn on_spurious(&mut self, _now: Time, spurious: &Spurious) -> Option<Undo> {
        if spurious.extent_segments > 0 {
            self.learn(spurious.extent_segments, spurious.lateness);
        }
        Some(Undo::Restore)
    }

    fn deadline(&self) -> Option<Time> {
        self.run.and_then(|run| run.expires_at)
    }

    fn on_deadline(&mut self, _now: Time, doubt: &Doubt) -> LossVerdict {
        if let Some(run) = &mut self.run {
            run.expires_at = None;
        }
        if doubt.stage == Stage::Open { LossVerdict::Lost } else { LossVerdict::WAIT }
    }
}
