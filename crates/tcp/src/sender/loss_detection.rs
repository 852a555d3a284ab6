//! What the loss detector is asked, and what follows from its verdicts.

use super::Sender;
use super::loss_recovery::{Phase, emit_lost};
use super::sent::Sent;
use super::tail_probe::TailProbe;
use crate::loss::{
    Advance, Delivered, DetectorProfile, DetectorView, Echo, Hole, LossDetector, LossEvent,
    LossFacts, LossVerdict, LostRetransmission, Overdue, Spurious, Undo,
};
use crate::rtt::RttEstimator;
use crate::trace::Trace;
use crate::ts_clock::TsClock;
use ackord_events::{LossReason, RecoveryKind, Sink, SpuriousEvidence};
use ackord_units::{Bytes, Seq, Time};

/// The loss detector, and when it wants to be woken.
#[derive(Clone, Debug)]
pub(super) struct LossDetection {
    detector: Box<dyn LossDetector>,
    profile: DetectorProfile,
    at: Option<Time>,
    /// When the next segment falls due under a detector that judges by time.
    overdue_at: Option<Time>,
}

impl LossDetection {
    pub(super) fn new(detector: Box<dyn LossDetector>) -> LossDetection {
        LossDetection { profile: detector.profile(), detector, at: None, overdue_at: None }
    }

    /// A detector that presumes a peer that speaks SACK is replaced where there is none.
    pub(super) fn do_without_sack(&mut self) {
        if let Some(instead) = self.detector.without_sack() {
            self.profile = instead.profile();
            self.detector = instead;
        }
    }

    /// Whether it is to be asked about every acknowledgment.
    pub(super) fn hears_every_ack(&self) -> bool {
        self.profile.every_ack
    }

    /// When it wants to be woken.
    #[inline]
    pub(super) fn at(&self) -> Option<Time> {
        self.at
    }

    pub(super) fn stop(&mut self) {
        self.at = None;
    }

    /// Looks up when it wants to be woken.
    #[inline]
    pub(super) fn refresh(&mut self) {
        if self.profile.every_ack {
            self.look_up();
        }
    }

    fn look_up(&mut self) {
        self.at = super::earlier(self.detector.deadline(), self.overdue_at);
    }

    /// What the detector has learnt so far.
    pub(super) fn view(&self) -> DetectorView {
        self.detector.view()
    }

    pub(super) fn on_recovery(&mut self, kind: RecoveryKind) {
        self.detector.on_event(LossEvent::Recovery(kind));
    }

    pub(super) fn on_spurious(&mut self, now: Time, spurious: &Spurious) -> Option<Undo> {
        self.detector.on_spurious(now, spurious)
    }

    pub(super) fn on_dsack(&mut self, snd_nxt: Seq) {
        self.detector.on_event(LossEvent::Dsack { snd_nxt });
    }

    /// Who is told of each segment that arrives.
    pub(super) fn arrivals<'a>(
        &'a mut self,
        now: Time,
        rtt: &'a RttEstimator,
        echo: Option<(u32, TsClock)>,
    ) -> Arrivals<'a> {
        Arrivals { now, detector: &mut *self.detector, rtt, echo }
    }
}

/// What a detector that judges by time is told about each segment that arrives.
pub(super) struct Arrivals<'a> {
    now: Time,
    detector: &'a mut dyn LossDetector,
    rtt: &'a RttEstimator,
    /// TSecr and our clock, where timestamps are in use.
    echo: Option<(u32, TsClock)>,
}

impl Arrivals<'_> {
    pub(super) fn on_delivered(&mut self, sent: &Sent) {
        let echo = match self.echo {
            None => Echo::Absent,
            Some((echo, clock)) if clock.is_before(echo, sent.sent_at) => Echo::Older,
            Some(_) => Echo::NotOlder,
        };
        self.detector.on_delivered(
            self.now,
            &Delivered {
                sent_at: sent.sent_at,
                end_seq: sent.end(),
                hole: hole(sent),
                rtt: self.now.saturating_since(sent.sent_at),
                echo,
                min_rtt: self.rtt.min_rtt(),
                srtt: self.rtt.srtt(),
            },
        );
    }
}

/// What has become of a segment so far.
#[inline]
pub(super) fn hole(sent: &Sent) -> Hole {
    if sent.retransmitted { Hole::Retransmitted(sent.sent_at) } else { Hole::SentOnce }
}

impl Sender {
    /// The sizes are final: what the detector asks for begins.
    pub(super) fn establish_detection(&mut self) {
        let profile = self.detection.profile;
        self.tail = profile.tail_probe.map(|delay| TailProbe::new(delay, profile.timer_slack));
        if let Some(scope) = profile.by_time {
            self.board.keep_time_order(scope);
        }
    }

    fn facts(&self, advance: Option<Advance>) -> LossFacts {
        let (sacked, sacked_sequences) = if self.recovery.profile().forgets_sacked {
            (Bytes::ZERO, 0)
        } else {
            (self.board.sacked(), self.board.sacked_sequences())
        };
        let rtt = self.timer.rtt();
        LossFacts {
            advance,
            duplicate_acks: self.recovery.duplicate_acks(),
            reports: self.recovery.reports(),
            sacked,
            sacked_sequences,
            highest_sacked: self.board.highest_sacked(),
            smss: self.sizes.smss(),
            snd_una: self.queue.snd_una(),
            snd_nxt: self.queue.snd_nxt(),
            flight_size: self.queue.flight_size(),
            cwnd: self.congestion.cwnd(),
            oldest_sent_at: self.board.oldest().map(|oldest| oldest.sent_at),
            srtt: rtt.srtt(),
            rttvar: rtt.rttvar(),
            min_rtt: rtt.min_rtt(),
            rto_at: self.timer.at(),
            recovery: match self.recovery.phase() {
                Phase::Open => None,
                phase => Some(phase.kind()),
            },
            dsack: self.peer.dsack(),
            timestamps: self.peer.ts_clock().is_some(),
        }
    }

    /// Asks the detector about a duplicate acknowledgment while no recovery is under way.
    pub(super) fn ask_about_duplicate(&mut self, now: Time) -> LossVerdict {
        let facts = self.facts(None);
        self.detection.detector.on_ack(now, &facts)
    }

    /// Asks the detector about an acknowledgment of new data. Its own evidence that the last
    /// recovery was not needed is acted on here; the verdict returned is about the oldest segment.
    pub(super) fn ask_after_new_ack<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        advance: &Advance,
    ) -> LossVerdict {
        let doubtful = self.recovery.is_open() && self.board.sacked() > Bytes::ZERO;
        if !self.detection.profile.every_ack && !doubtful {
            return LossVerdict::WAIT;
        }
        self.ask_about_new_ack(trace, advance)
    }

    #[inline(never)]
    fn ask_about_new_ack<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        advance: &Advance,
    ) -> LossVerdict {
        let facts = self.facts(Some(*advance));
        let verdict = self.detection.detector.on_ack(trace.now, &facts);
        if let LossVerdict::Spurious(undo) = verdict {
            self.undo_recovery(trace, undo, SpuriousEvidence::DetectionTimer);
            // What remains missing is a doubt of its own.
            let facts = self.facts(None);
            return if facts.recovery.is_none() && facts.sacked > Bytes::ZERO {
                self.detection.detector.on_ack(trace.now, &facts)
            } else {
                LossVerdict::WAIT
            };
        }
        verdict
    }

    /// Acts on what the detector says while no recovery is under way.
    pub(super) fn apply<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        verdict: LossVerdict,
        reason: LossReason,
    ) {
        match verdict {
            LossVerdict::NotYet { beyond_cwnd } => self.recovery.allow_beyond_cwnd(beyond_cwnd),
            LossVerdict::Lost => self.recover_oldest(trace, reason),
            LossVerdict::Spurious(undo) => {
                self.undo_recovery(trace, undo, SpuriousEvidence::DetectionTimer);
            }
        }
    }

    /// A timer of the loss detector expired.
    pub(crate) fn on_detector_timer<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let now = trace.now;
        self.recovery.set_delivered(Bytes::ZERO);
        if self.detection.detector.deadline().is_some_and(|at| at <= now) {
            let facts = self.facts(None);
            let verdict = self.detection.detector.on_timer(now, &facts);
            let outstanding = !self.board.is_empty();
            let spurious = matches!(verdict, LossVerdict::Spurious(_));
            match self.recovery.phase() {
                _ if spurious => self.apply(trace, verdict, LossReason::DetectorTimer),
                Phase::Open if outstanding => {
                    self.apply(trace, verdict, LossReason::DetectorTimer);
                }
                Phase::FastRecovery { .. } if outstanding && verdict == LossVerdict::Lost => {
                    self.lose_oldest(trace, LossReason::DetectorTimer);
                    self.recovery.force_retransmission();
                }
                _ => {}
            }
        }
        self.look_for_overdue(trace);
        self.detection.refresh();
        debug_assert!(
            self.detection.detector.deadline().is_none_or(|at| at > now),
            "a detector's timer that has expired is over: {:?}",
            self.detection
        );
        self.report_losses(trace.now);
    }

    /// Detects losses by the passing of time, for detectors that go by it, and begins a recovery if
    /// there are any.
    pub(super) fn look_for_overdue<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.board.keeps_time_order() {
            self.detect_by_time(trace);
        }
    }

    #[inline(never)]
    fn detect_by_time<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if !self.mark_overdue(trace) {
            return;
        }
        if self.recovery.is_open() && self.may_enter_recovery() {
            self.enter_recovery(trace, LossReason::DetectorTimer);
        } else if !self.recovery.is_after_timeout() {
            // It belongs to a window that has been answered: retransmitted without a reduction, and
            // without waiting for acknowledgments, which may not come.
            self.recovery.force_retransmission();
        }
    }

    /// A segment has left, under a detector that judges by time: it falls due unless something
    /// else does before.
    pub(super) fn watch_sent(&mut self, now: Time) {
        if self.detection.overdue_at.is_none()
            && let Some(Overdue { sent_before: None, age }) = self.overdue()
        {
            self.detection.overdue_at = Some(now + age);
            self.detection.refresh();
        }
    }

    fn overdue(&mut self) -> Option<Overdue> {
        let facts = self.facts(None);
        self.detection.detector.overdue(&facts)
    }

    /// Declares lost what is overdue; true if anything is.
    pub(super) fn mark_overdue<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> bool {
        let Some(overdue) = self.overdue() else {
            self.detection.overdue_at = None;
            return false;
        };
        let (found, again) = self.mark_older(trace, overdue, LossReason::DetectorTimer);
        if again && self.detection.profile.lost_retransmission == LostRetransmission::Reduces {
            self.reduce_again(trace);
        }
        found
    }

    /// What a timeout means to a detector that judges by time (RFC 8985 §6.3): the oldest segment
    /// is lost, and others only if they have been out for too long, whatever was sent after them.
    pub(super) fn mark_overdue_on_rto<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        self.lose_oldest(trace, LossReason::RetransmissionTimeout);
        match self.overdue() {
            Some(Overdue { age, .. }) => {
                let overdue = Overdue { sent_before: None, age };
                self.mark_older(trace, overdue, LossReason::RetransmissionTimeout);
            }
            // Nothing has arrived yet: RACK.rtt is zero, and everything has been out for longer.
            None => self.lose_all(trace, LossReason::RetransmissionTimeout),
        }
    }

    /// Declares lost what is overdue: whether anything is, and whether something is among it that was
    /// retransmitted since the last reduction.
    fn mark_older<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        overdue: Overdue,
        reason: LossReason,
    ) -> (bool, bool) {
        let (mut found, mut again, mut retransmitted) = (false, false, false);
        let recovery = &self.recovery;
        let due_at = self.board.mark_overdue(trace.now, overdue, |sent| {
            found = true;
            retransmitted |= sent.retransmitted;
            again |= sent.retransmitted && recovery.is_since_reduction(sent.sent_at);
            emit_lost(trace, sent, reason);
        });
        self.detection.overdue_at = due_at.map(|at| {
            let left = at.saturating_since(trace.now) + self.detection.profile.timer_slack;
            self.timer.expires_at(trace.now, left)
        });
        if retransmitted {
            self.detection.detector.on_event(LossEvent::RetransmissionOverdue);
        }
        (found, again)
    }

    /// A detector that gives every segment a timer of its own speaks before the retransmission
    /// timer does: when the oldest segment's falls due, if it was sent once and that is yet to come.
    fn rto_waits_until(&mut self, now: Time) -> Option<Time> {
        if !self.board.goes_by_time_alone() {
            return None;
        }
        let oldest = self.board.oldest().filter(|oldest| !oldest.retransmitted)?;
        let sent_at = oldest.sent_at;
        match self.overdue() {
            Some(Overdue { sent_before: None, age }) => Some(sent_at + age).filter(|at| *at > now),
            _ => None,
        }
    }

    /// Whether the retransmission timer, which is due, gives way to the detector: it then expires
    /// later.
    pub(crate) fn puts_rto_off(&mut self, now: Time) -> bool {
        let later = self.rto_waits_until(now);
        if later.is_some() {
            self.timer.set(later);
        }
        later.is_some()
    }
}
