//! DAD-SD for a sender that has more to go by than the authors': SACK, DSACK, timestamps.
//!
//! Kept from the paper: the threshold follows the reordering observed, smoothed; a detection timer
//! bounds how long a doubt may last; below the threshold arrivals let new segments out; a spurious
//! recovery is undone. Different, each for a reason:
//!
//! - The threshold is a mean plus deviations, and no less than the longest run seen since it was last
//!   forgotten: half of all reordering is longer than its mean.
//! - Lateness in time is smoothed beside extent in segments and sets the timer, within one
//!   round trip and half of what is left to the retransmission timer, so that it never expires
//!   because of the threshold.
//! - No more than a window is waited for: what has arrived above the hole, at most cwnd, bounds both
//!   threshold and limited transmit.
//! - Timestamps or DSACK say whether a recovery was spurious where they are in use; only without them
//!   does an acknowledgment within the detection timer count as proof. What is given back is what
//!   was taken, not twice the window.
//! - A retransmission is lost once more when something sent after it has arrived and the learnt
//!   delay has passed since; a tail loss probe (RFC 8985 §7) asks where nothing arrives at all.
//!   Both spare the retransmission timer, whose expiry costs more than any threshold saves. Without
//!   SACK neither is there.
//! - The timer's expiry does not forget what was learnt, for a real loss says nothing about reordering;
//!   sixteen recoveries with no reordering between them do, and a timeout does.
//!
//! Without reordering it is RFC 5681 with RFC 3042, and the timer makes up for duplicate
//! acknowledgments that never come.

use super::super::dad::DEFAULT_THRESHOLD;
use super::super::{
    Advance, Delivered, DetectorProfile, DetectorView, Hole, LossDetector, LossEvent, LossFacts,
    LossVerdict, Overdue, Spurious, TimeScope, Undo,
};
use super::overtaken::Overtaken;
use super::retransmitted::Retransmitted;
use super::smoothed::Smoothed;
use ackord_events::RecoveryKind;
use ackord_units::{Bytes, Span, Time};

/// The smoothed threshold, with a timer by smoothed delay.
#[derive(Clone, Debug)]
pub struct DadSd {
    /// Weight of what was known before against the reordering just seen.
    alpha: f64,
    /// Whether tail loss probes are wanted, and TLP.max_ack_delay.
    tail_probe: Option<Span>,
    /// What judges retransmissions; nothing without SACK.
    retransmitted: Option<Retransmitted>,
    /// Segments that had arrived above a hole when its original came.
    extent_segments: Smoothed,
    /// Seconds from the first arrival above a hole to the original's.
    delay_s: Smoothed,
    /// How many arrivals above a hole make it lost, bounded by the window.
    threshold: u32,
    /// The hole under suspicion.
    run: Option<Run>,
    overtaken: Overtaken,
    /// The hole for which the last recovery began, until it is filled; then what it was.
    recovered: Recovered,
    /// When the oldest segment is to be retransmitted, during fast recovery.
    resend_at: Option<Time>,
    /// Recoveries since reordering was last seen.
    recoveries_in_order: u32,
}

/// A run of arrivals above a hole.
#[derive(Clone, Copy, Debug)]
struct Run {
    began_at: Time,
    expires_at: Option<Time>,
}

/// What is known about the hole for which a recovery began.
#[derive(Clone, Copy, Debug)]
enum Recovered {
    /// Nothing any more.
    Nothing,
    /// It was first seen then.
    Missing { since: Time },
    /// It was filled.
    Filled { extent_segments: u32, delay: Span },
}

/// Recoveries without reordering between them after which what was learnt is forgotten: as many as
/// RFC 8985 §6.2 step 4 lets its reordering window outlive.
const RECOVERIES_TO_FORGET: u32 = 16;

impl DadSd {
    /// A detector with this alpha (0 to 1), and with tail loss probes where it is said how long the
    /// peer may hold back the acknowledgment of a lone segment.
    pub fn new(alpha: f64, tail_probe: Option<Span>) -> DadSd {
        DadSd {
            alpha,
            tail_probe,
            retransmitted: Some(Retransmitted::default()),
            extent_segments: Smoothed::default(),
            delay_s: Smoothed::default(),
            threshold: DEFAULT_THRESHOLD,
            run: None,
            overtaken: Overtaken::default(),
            recovered: Recovered::Nothing,
            resend_at: None,
            recoveries_in_order: 0,
        }
    }

    /// The segment that was missing came after all.
    fn learn(&mut self, extent_segments: u32, delay: Span) {
        self.extent_segments.add(self.alpha, f64::from(extent_segments));
        self.delay_s.add(self.alpha, delay.as_secs_f64());
        self.recoveries_in_order = 0;
    }

    fn forget(&mut self) {
        self.extent_segments = Smoothed::default();
        self.delay_s = Smoothed::default();
        self.recoveries_in_order = 0;
    }

    /// How many arrivals above a hole are waited for: what reordering hardly ever exceeds, but
    /// no more than a window can bring.
    fn threshold_for(&self, facts: &LossFacts) -> u32 {
        let Some(learnt) = self.extent_segments.bound() else { return DEFAULT_THRESHOLD };
        let window = facts.cwnd.min(facts.flight_size).get() / facts.smss.get().max(1);
        let others = u32::try_from(window.saturating_sub(1)).unwrap_or(u32::MAX);
        (learnt as u32).saturating_add(1).min(others).max(DEFAULT_THRESHOLD)
    }

    /// How long a hole is waited for at most: one round trip from the first arrival above it, as in
    /// the paper, and half of what is then left to the retransmission timer.
    fn most_patience(began_at: Time, facts: &LossFacts) -> Option<Span> {
        let srtt = facts.srtt?;
        let left = facts.rto_at.map_or(srtt * 2, |at| at.saturating_since(began_at));
        Some(srtt.min(left / 2))
    }

    /// The segment that is the oldest now is missing: is it lost?
    fn judge(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        self.threshold = self.threshold_for(facts);
        let since = self.overtaken.since().unwrap_or(now);
        // What was retransmitted after it had been overtaken is given a whole round trip: arrivals
        // from before say nothing about the retransmission.
        let resent_at = facts.oldest_sent_at.filter(|at| *at > since);
        let began_at = resent_at.unwrap_or(self.run.map_or(since, |run| run.began_at));
        let most = Self::most_patience(began_at, facts);
        // What delay hardly ever exceeds; nothing is known of it before reordering was seen.
        let usual = self.delay_s.bound().map_or(Span::ZERO, Span::from_secs_f64);
        let arrived = resent_at.is_none() && facts.reaches(self.threshold);
        let patience = if arrived { most.map(|most| most.min(usual)) } else { most };
        let expires_at = patience.map(|patience| began_at + patience);
        self.run = Some(Run { began_at, expires_at });
        let overdue = expires_at.is_some_and(|at| at <= now);
        if overdue || (arrived && patience.is_none()) {
            return LossVerdict::Lost;
        }
        // RFC 3042 until reordering has been seen; then a segment for each that has arrived, as
        // RFC 4653's aggressive variant has it, up to a second window.
        let allowed = match self.extent_segments.bound() {
            None => facts.duplicate_acks.min(2),
            Some(_) => facts.arrived_above(),
        };
        LossVerdict::NotYet { beyond_cwnd: (facts.smss * u64::from(allowed)).min(facts.cwnd) }
    }

    /// During fast recovery a timer alone watches the oldest segment: one round trip from when it
    /// became the oldest.
    fn watch(&mut self, now: Time, facts: &LossFacts) {
        let patience = facts.oldest_sent_at.and(Self::most_patience(now, facts));
        self.resend_at = patience.map(|patience| now + patience);
    }

    /// Without DSACK and timestamps: whether an acknowledgment came too early to be that of the
    /// retransmission.
    fn original_arrived(now: Time, facts: &LossFacts, advance: &Advance, since: Time) -> bool {
        let Hole::Retransmitted(resent_at) = advance.hole else { return false };
        let proved_otherwise = facts.timestamps || facts.dsack;
        let too_early = facts.min_rtt.is_some_and(|least| now.saturating_since(resent_at) < least);
        let pending = now < since + facts.srtt.unwrap_or(Span::ZERO);
        !proved_otherwise && (too_early || pending)
    }

    fn on_advance(&mut self, now: Time, facts: &LossFacts, advance: &Advance) -> LossVerdict {
        let run = self.run.take();
        self.resend_at = None;
        let extent_segments = advance.extent_segments;
        if let Some(run) = run
            && facts.recovery.is_none()
            && advance.hole == Hole::SentOnce
            && extent_segments > 0
        {
            self.learn(extent_segments, now.saturating_since(run.began_at));
        }
        if let Recovered::Missing { since } = self.recovered {
            let delay = now.saturating_since(since);
            self.recovered = Recovered::Filled { extent_segments, delay };
            if facts.recovery == Some(RecoveryKind::Fast)
                && Self::original_arrived(now, facts, advance, since)
            {
                self.learn(extent_segments, delay);
                return LossVerdict::Spurious(Undo::Restore);
            }
        }
        match facts.recovery {
            None if facts.sacked > Bytes::ZERO => return self.judge(now, facts),
            Some(RecoveryKind::Fast) => self.watch(now, facts),
            None | Some(RecoveryKind::Timeout) => {}
        }
        LossVerdict::WAIT
    }

    fn on_recovery(&mut self, kind: RecoveryKind) {
        match kind {
            RecoveryKind::Fast => {
                self.recoveries_in_order += 1;
                if self.recoveries_in_order >= RECOVERIES_TO_FORGET {
                    self.forget();
                }
                self.recovered = match self.run.take() {
                    Some(run) => Recovered::Missing { since: run.began_at },
                    None => Recovered::Nothing,
                };
            }
            // The paper, §3.2.4: a timeout shows that the threshold was wrong.
            RecoveryKind::Timeout => {
                self.forget();
                self.run = None;
                self.resend_at = None;
                self.recovered = Recovered::Nothing;
                self.threshold = DEFAULT_THRESHOLD;
            }
        }
    }
}

impl LossDetector for DadSd {
    fn profile(&self) -> DetectorProfile {
        let by_time = self.retransmitted.as_ref().map(|_| TimeScope::Retransmissions);
        DetectorProfile { by_time, tail_probe: self.tail_probe, ..DetectorProfile::STANDARD }
    }

    fn view(&self) -> DetectorView {
        DetectorView {
            // Until what was learnt of it is forgotten. A sender as Linux's then lets cwnd grow by
            // what SACK reports.
            reordering_seen: self.extent_segments.bound().is_some(),
            ..DetectorView::threshold(self.threshold)
        }
    }

    fn on_ack(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        self.overtaken.note(now, facts.snd_una, facts.highest_sacked);
        match &facts.advance {
            Some(advance) => self.on_advance(now, facts, advance),
            None => self.judge(now, facts),
        }
    }

    fn on_event(&mut self, event: LossEvent) {
        if let LossEvent::Recovery(kind) = event {
            self.on_recovery(kind);
        }
    }

    fn on_spurious(&mut self, now: Time, spurious: &Spurious) -> Option<Undo> {
        self.resend_at = None;
        match std::mem::replace(&mut self.recovered, Recovered::Nothing) {
            Recovered::Nothing => {}
            Recovered::Missing { since } => {
                self.learn(spurious.extent_segments, now.saturating_since(since));
            }
            Recovered::Filled { extent_segments, delay } => {
                self.learn(extent_segments, delay);
            }
        }
        Some(Undo::Restore)
    }

    fn deadline(&self) -> Option<Time> {
        let expires_at = self.run.and_then(|run| run.expires_at);
        expires_at.into_iter().chain(self.resend_at).min()
    }

    fn on_timer(&mut self, now: Time, facts: &LossFacts) -> LossVerdict {
        let watched = self.resend_at.take_if(|at| *at <= now).is_some();
        let expired = self.run.as_mut().and_then(|run| run.expires_at.take_if(|at| *at <= now));
        match facts.recovery {
            None if expired.is_some() => LossVerdict::Lost,
            // Once: a retransmission that is lost again is for the retransmission timer.
            Some(RecoveryKind::Fast) if watched => LossVerdict::Lost,
            _ => LossVerdict::WAIT,
        }
    }

    fn without_sack(&self) -> Option<Box<dyn LossDetector>> {
        Some(Box::new(DadSd { retransmitted: None, tail_probe: None, ..self.clone() }))
    }

    fn on_delivered(&mut self, now: Time, delivered: &Delivered) {
        if let Some(retransmitted) = &mut self.retransmitted {
            retransmitted.on_delivered(now, delivered);
        }
    }

    fn overdue(&mut self, facts: &LossFacts) -> Option<Overdue> {
        let usual_delay = self.delay_s.bound().map(Span::from_secs_f64);
        self.retransmitted.as_ref()?.overdue(facts, usual_delay)
    }
}

#[cfg(test)]
mod tests;
