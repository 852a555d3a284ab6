//! Loss recovery: whether one is under way, and what it lets out. `course.rs` begins and ends it.

mod course;

use crate::config::TimeoutInRecovery;
use crate::recovery::{Flight, Recovery, RecoveryAck, RecoveryDecision, RecoveryProfile, Reentry};
use ackord_events::RecoveryKind;
use ackord_units::{Bytes, Seq, Span, Time};

pub(super) use course::emit_lost;

/// Where the sender stands with respect to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No recovery is under way.
    Open,
    /// Fast recovery until `recover` is acknowledged.
    FastRecovery { recover: Seq, had_partial_ack: bool },
    /// Slow start after a timeout (or Tahoe's fast retransmit) until `recover` is acknowledged.
    SlowStartRecovery { recover: Seq },
}

impl Phase {
    /// Which kind of recovery is under way, as events call it; the one that has just ended
    /// otherwise.
    pub(super) fn kind(self) -> RecoveryKind {
        match self {
            Phase::Open | Phase::FastRecovery { .. } => RecoveryKind::Fast,
            Phase::SlowStartRecovery { .. } => RecoveryKind::Timeout,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct LossRecovery {
    policy: Box<dyn Recovery>,
    profile: RecoveryProfile,
    timeout_in_recovery: TimeoutInRecovery,
    phase: Phase,
    duplicate_acks: u32,
    /// The acknowledgment that advanced last also reported something new by SACK: with SACK it is a
    /// duplicate acknowledgment too (RFC 6675 §2, §5).
    advance_reported: bool,
    /// Delivered by the acknowledgment at hand; nothing while a timer acts.
    delivered: Bytes,
    /// What SACK alone has reported since the last acknowledgment that advanced, outside recovery
    /// and with reordering known: no sign of loss.
    sacked_outside_recovery: Bytes,
    /// When the first sign came that the oldest segment is missing.
    missing_since: Option<Time>,
    /// When a fast recovery last reduced the window.
    reduced_at: Time,
    /// What limited transmit allows beyond cwnd, and what it has let out.
    beyond_cwnd: Bytes,
    limited_sent: Bytes,
    /// RescueRxt (RFC 6675 §4): the tail may be retransmitted once more than this is acknowledged.
    rescue_rxt: Seq,
    /// A new recovery may not begin before this is acknowledged (RFC 6582 §3.2 step 2).
    recover: Option<Seq>,
    /// The next retransmission leaves regardless of the windows (the fast retransmit itself, the one
    /// after a timeout, the one a partial acknowledgment calls for).
    forced: bool,
}

impl LossRecovery {
    pub(super) fn new(
        policy: Box<dyn Recovery>,
        timeout_in_recovery: TimeoutInRecovery,
        iss: Seq,
    ) -> LossRecovery {
        LossRecovery {
            profile: policy.profile(),
            policy,
            timeout_in_recovery,
            phase: Phase::Open,
            duplicate_acks: 0,
            advance_reported: false,
            delivered: Bytes::ZERO,
            sacked_outside_recovery: Bytes::ZERO,
            missing_since: None,
            reduced_at: Time::ZERO,
            beyond_cwnd: Bytes::ZERO,
            limited_sent: Bytes::ZERO,
            rescue_rxt: iss,
            recover: None,
            forced: false,
        }
    }

    /// Whether the policy reads SACK blocks: Tahoe, Reno and NewReno do not, whoever sends them.
    pub(super) fn reads_sack(&self) -> bool {
        self.policy.without_sack().is_some()
    }

    /// A policy that presumes a peer that speaks SACK is replaced where there is none.
    pub(super) fn do_without_sack(&mut self) {
        if let Some(instead) = self.policy.without_sack() {
            self.profile = instead.profile();
            self.policy = instead;
        }
    }

    #[inline]
    pub(super) fn profile(&self) -> &RecoveryProfile {
        &self.profile
    }

    /// Whether a timeout in fast recovery leaves ssthresh where the loss has put it.
    pub(super) fn timeout_keeps_ssthresh(&self) -> bool {
        self.timeout_in_recovery == TimeoutInRecovery::Keeps
    }

    #[inline]
    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Whether no recovery is under way, and nothing says that one may have to begin.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        self.is_open() && self.duplicate_acks == 0 && !self.forced
    }

    #[inline]
    pub(super) fn is_fast(&self) -> bool {
        matches!(self.phase, Phase::FastRecovery { .. })
    }

    #[inline]
    pub(super) fn is_after_timeout(&self) -> bool {
        matches!(self.phase, Phase::SlowStartRecovery { .. })
    }

    /// Duplicate acknowledgments in a row.
    #[inline]
    pub(super) fn duplicate_acks(&self) -> u32 {
        self.duplicate_acks
    }

    /// DupAcks of RFC 6675 §5: the same and, with SACK, the acknowledgment that began the run, if it
    /// advanced and reported something new at once.
    pub(super) fn reports(&self) -> u32 {
        self.duplicate_acks + u32::from(self.advance_reported)
    }

    /// Delivered by the acknowledgment at hand.
    #[inline]
    pub(super) fn delivered(&self) -> Bytes {
        self.delivered
    }

    #[inline]
    pub(super) fn set_delivered(&mut self, delivered: Bytes) {
        self.delivered = delivered;
    }

    /// What congestion control is told was delivered, with what SACK had reported before.
    #[inline]
    pub(super) fn take_delivered(&mut self) -> Bytes {
        self.delivered + std::mem::take(&mut self.sacked_outside_recovery)
    }

    /// An acknowledgment arrived that reports so much by SACK.
    #[inline]
    pub(super) fn on_arrival(&mut self, newly_sacked: Bytes) {
        self.delivered = newly_sacked;
        if self.is_fast() {
            self.policy.on_arrival();
        }
    }

    /// Linux lets cwnd grow by what SACK reports only once it has seen reordering
    /// (tcp_may_raise_cwnd); a recovery forgets it.
    pub(super) fn note_sacked(&mut self, newly_sacked: Bytes, reordering_seen: bool) {
        if self.is_open() && reordering_seen {
            self.sacked_outside_recovery += newly_sacked;
        } else {
            self.sacked_outside_recovery = Bytes::ZERO;
        }
    }

    /// Whether blocks tell a sender nothing at this time: after a timeout, to one that begins
    /// anew then.
    pub(super) fn ignores_blocks(&self) -> bool {
        self.is_after_timeout() && self.profile.forgets_sacked
    }

    /// Whether what was SACKed is learnt anew after each acknowledgment of new data.
    #[inline]
    pub(super) fn forgets_sacked(&self) -> bool {
        self.profile.forgets_sacked && !self.is_fast()
    }

    /// Notes that the oldest segment is missing while later ones arrive, or that none is.
    #[inline]
    fn note_missing(&mut self, now: Time, sacked: Bytes) {
        if self.duplicate_acks == 0 && sacked == Bytes::ZERO {
            self.missing_since = None;
        } else {
            self.missing_since.get_or_insert(now);
        }
    }

    /// How long the oldest segment has been missing.
    #[inline]
    pub(super) fn missing_for(&self, now: Time) -> Span {
        self.missing_since.map_or(Span::ZERO, |since| now.saturating_since(since))
    }

    /// A duplicate acknowledgment arrived.
    pub(super) fn on_duplicate_ack(&mut self, now: Time, sacked: Bytes) {
        self.duplicate_acks += 1;
        self.note_missing(now, sacked);
    }

    /// An acknowledgment of new data arrived, and reported something by SACK as well or not.
    #[inline]
    pub(super) fn on_advance(&mut self, now: Time, reported: bool, sacked: Bytes) {
        self.duplicate_acks = 0;
        self.advance_reported = reported;
        self.missing_since = None;
        self.note_missing(now, sacked);
    }

    #[inline]
    pub(super) fn forget_duplicates(&mut self) {
        self.duplicate_acks = 0;
        self.beyond_cwnd = Bytes::ZERO;
        self.limited_sent = Bytes::ZERO;
    }

    /// What limited transmit allows beyond cwnd.
    #[inline]
    pub(super) fn beyond_cwnd(&self) -> Bytes {
        self.beyond_cwnd
    }

    pub(super) fn allow_beyond_cwnd(&mut self, allowed: Bytes) {
        self.beyond_cwnd = allowed;
    }

    /// Limited transmit has let so much out.
    pub(super) fn on_limited_sent(&mut self, payload: Bytes) {
        self.limited_sent += payload;
    }

    #[inline]
    pub(super) fn is_forced(&self) -> bool {
        self.forced
    }

    /// The next retransmission leaves regardless of the windows.
    pub(super) fn force_retransmission(&mut self) {
        self.forced = true;
    }

    #[inline]
    pub(super) fn unforce(&mut self) {
        self.forced = false;
    }

    /// RFC 6582 §3.2 step 2: one recovery for a window of data. Without SACK the acknowledgment has
    /// to cover more than `recover`: what a recovery retransmitted for nothing draws duplicates of
    /// exactly that, and another on their account would do the same again, for ever. New blocks
    /// cannot come of that.
    pub(super) fn may_begin(&self, snd_una: Seq, uses_sack: bool) -> bool {
        self.recover.is_none_or(|recover| match self.profile.reentry {
            Reentry::Allowed => true,
            Reentry::AfterRecover if uses_sack => snd_una.at_or_after(recover),
            Reentry::AfterRecover | Reentry::BeyondRecover => snd_una.after(recover),
        })
    }

    /// Once in a recovery the tail of the window, above which nothing can be SACKed, may be
    /// retransmitted (RFC 6675 §4 NextSeg rule 4).
    pub(super) fn may_rescue(&self, snd_una: Seq) -> bool {
        self.profile.rescues && snd_una.after(self.rescue_rxt)
    }

    pub(super) fn on_rescued(&mut self, recover: Seq) {
        self.rescue_rxt = recover;
    }

    /// Whether a transmission at `sent_at` was sent since the last reduction.
    pub(super) fn is_since_reduction(&self, sent_at: Time) -> bool {
        sent_at >= self.reduced_at
    }

    /// The window is reduced for a loss, until `recover` is acknowledged.
    fn on_reduced(&mut self, now: Time, recover: Seq) {
        self.recover = Some(recover);
        self.reduced_at = now;
    }

    /// The retransmission timer expired.
    pub(super) fn begin_after_timeout(&mut self, recover: Seq) {
        self.phase = Phase::SlowStartRecovery { recover };
        self.recover = Some(recover);
        self.forget_duplicates();
    }

    /// A recovery was undone: a real loss in the same window may begin one of its own.
    pub(super) fn forget_recover(&mut self) {
        self.recover = None;
    }

    /// Data has left, new or not.
    #[inline]
    pub(super) fn on_sent(&mut self, bytes: Bytes) {
        if self.is_fast() {
            self.policy.on_sent(bytes);
        }
    }

    /// What fast recovery lets out.
    pub(super) fn allowance(&self, flight: &Flight) -> Bytes {
        self.policy.allowance(flight)
    }

    /// An acknowledgment during fast recovery that does not cover all of it.
    pub(super) fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        self.policy.on_ack(ack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::{NewReno, PartialAckTimer};

    fn recovery() -> LossRecovery {
        let policy = Box::new(NewReno::new(PartialAckTimer::First));
        LossRecovery::new(policy, TimeoutInRecovery::Reduces, Seq(0))
    }

    #[test]
    fn one_recovery_for_a_window_of_data() {
        let mut recovery = recovery();
        assert!(recovery.may_begin(Seq(0), false));
        recovery.on_reduced(Time::ZERO, Seq(1_000));
        assert!(!recovery.may_begin(Seq(1_000), false), "its own duplicates are of this very byte");
        assert!(recovery.may_begin(Seq(1_001), false));
        assert!(recovery.may_begin(Seq(1_000), true), "new blocks cannot come of it");
        recovery.forget_recover();
        assert!(recovery.may_begin(Seq(0), false));
    }

    #[test]
    fn an_advance_ends_a_run_of_duplicates_and_may_begin_the_next() {
        let mut recovery = recovery();
        let ms = |millis| Time::ZERO + Span::from_millis(millis);
        recovery.on_duplicate_ack(ms(1), Bytes::ZERO);
        recovery.on_duplicate_ack(ms(2), Bytes::ZERO);
        assert_eq!((recovery.reports(), recovery.missing_for(ms(4))), (2, Span::from_millis(3)));
        recovery.on_advance(ms(5), true, Bytes(1_000));
        assert_eq!((recovery.duplicate_acks(), recovery.reports()), (0, 1));
        assert_eq!(recovery.missing_for(ms(7)), Span::from_millis(2));
    }

    #[test]
    fn what_sack_reports_counts_outside_recovery_once_reordering_was_seen() {
        let mut recovery = recovery();
        recovery.note_sacked(Bytes(500), true);
        recovery.note_sacked(Bytes(500), true);
        assert_eq!(
            (recovery.take_delivered(), recovery.take_delivered()),
            (Bytes(1_000), Bytes(0))
        );
        recovery.note_sacked(Bytes(500), true);
        recovery.begin_after_timeout(Seq(9));
        recovery.note_sacked(Bytes(500), true);
        assert_eq!(recovery.take_delivered(), Bytes::ZERO);
    }
}
