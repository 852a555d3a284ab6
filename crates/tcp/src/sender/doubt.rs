//! What the loss detector is asked, and what follows from its verdicts.

use super::by_time::Overdue;
use super::marks::Cause;
use super::{Forced, Phase, Run, Sender};
use crate::congestion::{CongestionEvent, Repair};
use crate::loss::{
    Advance, Available, Delivered, Doubt, Echo, Heeds, Hole, Horizon, LossDetector, LossVerdict,
    LostRetransmission, Stage, Verification,
};
use crate::recovery::{Entry, NewLosses, SackMemory};
use crate::rtt::RttEstimator;
use crate::sender::scoreboard::{Attempts, Sent};
use crate::trace::Trace;
use crate::ts_clock::TsClock;
use ackord_events::{CwndReason, Event, LossReason, Sink, SpuriousEvidence};
use ackord_units::{Bytes, Span, Time};

/// What a detector that judges by time is told about each segment that arrives.
pub(super) struct Arrivals<'a> {
    pub(super) now: Time,
    pub(super) loss: &'a mut dyn LossDetector,
    pub(super) rtt: &'a RttEstimator,
    /// TSecr and our clock, where timestamps are in use.
    pub(super) echo: Option<(u32, TsClock)>,
}

impl Arrivals<'_> {
    pub(super) fn tell(&mut self, sent: &Sent) {
        let echo = match self.echo {
            None => Echo::Absent,
            Some((echo, clock)) if clock.is_before(echo, sent.sent_at) => Echo::Older,
            Some(_) => Echo::NotOlder,
        };
        let Some(by_time) = self.loss.by_time() else { return };
        by_time.on_delivered(
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

/// Whether something that was sent again since the last reduction is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LostAgain {
    Yes,
    No,
}

/// What has become of a segment so far.
#[inline]
pub(super) fn hole(sent: &Sent) -> Hole {
    match sent.attempts {
        Attempts::Once => Hole::SentOnce,
        Attempts::Again => Hole::Resent(sent.sent_at),
    }
}

impl Sender {
    pub(super) fn doubt(&self) -> Doubt {
        let available = |yes: bool| if yes { Available::Yes } else { Available::No };
        let (sacked, sacked_sequences) = match self.recovery.sack_memory() {
            SackMemory::Kept => (self.board.sacked(), self.board.sacked_sequences()),
            SackMemory::UntilNewAck => (Bytes::ZERO, 0),
        };
        Doubt {
            duplicate_acks: self.duplicate_acks,
            reports: self.duplicate_acks + u32::from(self.run == Run::BegunByReport),
            sacked,
            sacked_sequences,
            highest_sacked: self.board.highest_sacked(),
            smss: self.smss,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            flight_size: self.flight_size(),
            cwnd: self.congestion.cwnd(),
            oldest_sent_at: self.board.oldest().map(|oldest| oldest.sent_at),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            min_rtt: self.rtt.min_rtt(),
            rto_at: self.rto_at,
            stage: match self.phase {
                Phase::Open => Stage::Open,
                phase => Stage::Repairing(phase.kind()),
            },
            verification: Verification {
                dsack: available(self.reads_dsack),
                timestamps: available(self.ts_clock.is_some()),
            },
        }
    }

    /// Notes that the oldest segment is missing while later ones arrive, or that none is.
    #[inline]
    pub(super) fn note_missing(&mut self, now: Time) {
        if self.duplicate_acks == 0 && self.board.sacked() == Bytes::ZERO {
            self.missed_since = None;
        } else {
            self.missed_since.get_or_insert(now);
        }
    }

    /// Asks the detector about an acknowledgment of new data. Its own evidence that the last
    /// repair was not needed is acted on here; the verdict returned is about the oldest segment.
    pub(super) fn ask_after_new_ack<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        advance: &Advance,
    ) -> LossVerdict {
        let doubtful = self.phase == Phase::Open && self.board.sacked() > Bytes::ZERO;
        if self.heeds == Heeds::Doubts && !doubtful {
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
        let verdict = self.loss.on_new_ack(trace.now, &self.doubt(), advance);
        if let LossVerdict::Spurious(undo) = verdict {
            self.undo(trace, undo, SpuriousEvidence::DetectionTimer);
            // What remains missing is a doubt of its own.
            let doubt = self.doubt();
            return if doubt.stage == Stage::Open && doubt.sacked > Bytes::ZERO {
                self.loss.on_duplicate_ack(trace.now, &doubt)
            } else {
                LossVerdict::WAIT
            };
        }
        verdict
    }

    /// Acts on what the detector says while nothing is being repaired.
    pub(super) fn follow<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        verdict: LossVerdict,
        reason: LossReason,
    ) {
        match verdict {
            LossVerdict::NotYet { beyond_cwnd } => self.beyond_cwnd = beyond_cwnd,
            LossVerdict::Lost => self.repair(trace, reason),
            LossVerdict::Spurious(undo) => {
                self.undo(trace, undo, SpuriousEvidence::DetectionTimer);
            }
        }
    }

    /// A timer of the loss detector expired.
    pub(crate) fn on_detector_timer<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let now = trace.now;
        self.delivered_now = Bytes::ZERO;
        if self.loss.deadline().is_some_and(|at| at <= now) {
            let verdict = self.loss.on_deadline(now, &self.doubt());
            let outstanding = !self.board.is_empty();
            let spurious = matches!(verdict, LossVerdict::Spurious(_));
            match self.phase {
                _ if spurious => self.follow(trace, verdict, LossReason::DetectorTimer),
                Phase::Open if outstanding => {
                    self.follow(trace, verdict, LossReason::DetectorTimer);
                }
                Phase::FastRecovery { .. } if outstanding && verdict == LossVerdict::Lost => {
                    self.lose_oldest(trace, LossReason::DetectorTimer);
                    self.forced = Forced::Retransmission;
                }
                _ => {}
            }
        }
        self.look_for_overdue(trace);
        self.refresh_detector();
        debug_assert!(
            self.loss.deadline().is_none_or(|at| at > now),
            "a detector's timer that has expired is over: {:?}",
            self.loss
        );
        self.tell_losses(trace.now);
    }

    /// Lets time pass judgment, for detectors that go by it, and begins a repair if it finds a
    /// loss.
    pub(super) fn look_for_overdue<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.board.keeps_time_order() {
            self.let_time_judge(trace);
        }
    }

    #[inline(never)]
    fn let_time_judge<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.mark_overdue(trace) == NewLosses::No {
            return;
        }
        if self.phase == Phase::Open && self.may_repair() {
            self.begin_repair(trace, LossReason::DetectorTimer);
        } else if !matches!(self.phase, Phase::SlowStartRecovery { .. }) {
            // It belongs to a window that has been answered: sent again without a reduction, and
            // without waiting for acknowledgments, which may not come.
            self.forced = Forced::Retransmission;
        }
    }

    /// A segment has left, under a detector that judges by time: it falls due unless something
    /// else does before.
    pub(super) fn watch_sent(&mut self, now: Time) {
        if self.overdue_at.is_none()
            && let Horizon::Overdue { sent_before: None, age } = self.horizon()
        {
            self.overdue_at = Some(now + age);
            self.refresh_detector();
        }
    }

    fn horizon(&mut self) -> Horizon {
        let doubt = self.doubt();
        self.loss.by_time().map_or(Horizon::Unknown, |by_time| by_time.horizon(&doubt))
    }

    /// Declares lost what is overdue.
    pub(super) fn mark_overdue<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> NewLosses {
        let Horizon::Overdue { sent_before, age } = self.horizon() else {
            self.overdue_at = None;
            return NewLosses::No;
        };
        let (found, again) =
            self.mark_older(trace, Overdue { sent_before, age }, LossReason::DetectorTimer);
        if again == LostAgain::Yes && self.lost_retransmission == LostRetransmission::Reduces {
            self.reduce_again(trace);
        }
        found
    }

    /// RFC 5681 §4.3: a retransmission that this recovery sent is lost, which is a second sign of
    /// congestion. The recovery begins anew with a window reduced once more, and lasts until all is
    /// acknowledged that is out now.
    fn reduce_again<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let Phase::FastRecovery { partial_acks, .. } = self.phase else { return };
        let (recover, flight_size) = (self.snd_nxt, self.flight_size());
        let repair = Repair::FastRecovery;
        self.congestion.on_congestion(trace.now, CongestionEvent::Loss { flight_size, repair });
        self.marks.on_reduced(Cause::Loss, recover);
        self.phase = Phase::FastRecovery { recover, partial_acks };
        self.recover = Some(recover);
        self.reduced_at = trace.now;
        let (flight, delivered) = (self.flight(), Bytes::ZERO);
        self.recovery.enter(&Entry { flight, duplicate_acks: self.duplicate_acks, delivered });
        self.forced = Forced::Retransmission;
        self.tell_window(trace, CwndReason::Recovery);
    }

    /// What a timeout means to a detector that judges by time (RFC 8985 §6.3): the oldest segment
    /// is lost, and others only if they have been out for too long, whatever was sent after them.
    pub(super) fn mark_overdue_on_rto<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        self.lose_oldest(trace, LossReason::RetransmissionTimeout);
        match self.horizon() {
            Horizon::Overdue { age, .. } => {
                let overdue = Overdue { sent_before: None, age };
                let _ = self.mark_older(trace, overdue, LossReason::RetransmissionTimeout);
            }
            // Nothing has arrived yet: RACK.rtt is zero, and everything has been out for longer.
            Horizon::Unknown => self.lose_all(trace, LossReason::RetransmissionTimeout),
        }
    }

    fn mark_older<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        overdue: Overdue,
        reason: LossReason,
    ) -> (NewLosses, LostAgain) {
        let (mut found, mut again) = (NewLosses::No, LostAgain::No);
        let mut resent = false;
        let since = self.reduced_at;
        let due_at = self.board.mark_overdue(trace.now, overdue, |sent| {
            found = NewLosses::Yes;
            if sent.attempts == Attempts::Again {
                resent = true;
                if sent.sent_at >= since {
                    again = LostAgain::Yes;
                }
            }
            tell_lost(trace, sent, reason);
        });
        self.overdue_at = due_at.map(|at| {
            let left = at.saturating_since(trace.now) + self.timer_slack;
            self.timers.expires_at(trace.now, left)
        });
        if resent && let Some(by_time) = self.loss.by_time() {
            by_time.on_overdue_again();
        }
        (found, again)
    }

    /// A detector that gives every segment a timer of its own speaks before the retransmission
    /// timer does: when the oldest segment's falls due, if it was sent once and that is yet to come.
    pub(crate) fn rto_waits_until(&mut self, now: Time) -> Option<Time> {
        if !self.board.goes_by_time_alone() {
            return None;
        }
        let oldest = self.board.oldest().filter(|oldest| oldest.attempts == Attempts::Once)?;
        let sent_at = oldest.sent_at;
        match self.horizon() {
            Horizon::Overdue { sent_before: None, age } => {
                Some(sent_at + age).filter(|at| *at > now)
            }
            _ => None,
        }
    }

    /// Looks up when the detector wants to be woken.
    #[inline]
    pub(super) fn refresh_detector(&mut self) {
        if self.heeds == Heeds::EveryAck {
            self.look_up_detector();
        }
    }

    fn look_up_detector(&mut self) {
        self.detector_at = super::earlier(self.loss.deadline(), self.overdue_at);
    }

    /// How long the oldest segment had been missing when it was acknowledged.
    #[inline]
    pub(super) fn lateness(&self, now: Time) -> Span {
        self.missed_since.map_or(Span::ZERO, |since| now.saturating_since(since))
    }
}

/// Tells that a segment was declared lost.
pub(super) fn tell_lost<S: Sink>(trace: &mut Trace<'_, S>, sent: &Sent, reason: LossReason) {
    let (seq, bytes) = (sent.seq, Bytes(u64::from(sent.seq_len())));
    trace.emit(|endpoint| Event::SegmentLost { endpoint, seq, bytes, reason });
}
