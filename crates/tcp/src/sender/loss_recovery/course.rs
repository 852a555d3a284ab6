//! The course of a recovery: what begins it, what an acknowledgment does to it, and what ends it.

use super::Phase;
use crate::congestion::{AckSample, CongestionEvent, LossAnswer, LossResponse};
use crate::recovery::{Entry, RecoveryAck, RecoveryDecision};
use crate::sender::Sender;
use crate::sender::marks::Cause;
use crate::sender::sent::Sent;
use crate::trace::Trace;
use ackord_events::{CwndReason, Event, LossReason, RecoveryKind, Sink};
use ackord_units::{Bytes, Seq, Time};

impl Sender {
    /// Lets the scoreboard declare losses during recovery; true if it found any.
    pub(in crate::sender) fn find_losses<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> bool {
        let mut found = false;
        if self.board.keeps_time_order() {
            found = self.mark_overdue(trace);
        }
        if !self.peer.sack() || self.board.goes_by_time_alone() {
            return found;
        }
        let own = self.recovery.profile.hole_threshold;
        let threshold = own.unwrap_or_else(|| self.detection.view().duplicate_threshold);
        self.board.mark_lost_by_sack(threshold, self.sizes.smss(), |sent| {
            found = true;
            emit_lost(trace, sent, LossReason::Scoreboard);
        });
        found
    }

    pub(in crate::sender) fn on_ack_in_fast_recovery<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        sample: &AckSample,
        delivered: Bytes,
        recover: Seq,
    ) {
        if self.queue.snd_una().at_or_after(recover) {
            self.leave_fast_recovery(trace, sample);
            return;
        }
        let new_losses = self.find_losses(trace);
        self.recovery.phase = Phase::FastRecovery { recover, had_partial_ack: true };
        let (acked, partial, flight) = (sample.acked, true, self.flight());
        match self.recovery.on_ack(&RecoveryAck { partial, acked, delivered, new_losses, flight }) {
            RecoveryDecision::Exit => self.leave_fast_recovery(trace, sample),
            RecoveryDecision::Continue => {}
            // Only the passing of time shows a detector that judges by it what is lost.
            RecoveryDecision::RetransmitOldest if self.board.goes_by_time_alone() => {}
            RecoveryDecision::RetransmitOldest => {
                self.lose_oldest(trace, LossReason::PartialAck);
                self.recovery.force_retransmission();
            }
        }
    }

    fn leave_fast_recovery<S: Sink>(&mut self, trace: &mut Trace<'_, S>, sample: &AckSample) {
        let exit = self.recovery.policy.exit(&self.flight());
        let validated = self.bound_after_unvalidated_recovery();
        let cwnd_at_most = [exit.cwnd_at_most, validated].into_iter().flatten().min();
        self.congestion.on_congestion(trace.now, CongestionEvent::Recovered { cwnd_at_most });
        self.exit_recovery(trace, RecoveryKind::Fast);
        self.forget_blocks_after_new_ack();
        if exit.grows {
            self.congestion.on_ack(trace.now, sample);
        }
        self.emit_window(trace, CwndReason::Recovery);
    }

    pub(in crate::sender) fn exit_recovery<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        kind: RecoveryKind,
    ) {
        self.recovery.phase = Phase::Open;
        self.frto.stop();
        self.recovery.forget_duplicates();
        trace.emit(|endpoint| Event::RecoveryExited { endpoint, kind });
    }

    pub(in crate::sender) fn lose_oldest<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        reason: LossReason,
    ) {
        if let Some(oldest) = self.board.mark_oldest_lost() {
            emit_lost(trace, &oldest, reason);
        }
    }

    /// Everything that has not been reported is lost.
    pub(in crate::sender) fn lose_all<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        reason: LossReason,
    ) {
        self.board.mark_all_lost(|sent| emit_lost(trace, sent, reason));
    }

    /// The oldest segment is lost: fast retransmit, and what follows it.
    pub(in crate::sender) fn recover_oldest<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        reason: LossReason,
    ) {
        if self.may_enter_recovery() {
            self.lose_oldest(trace, reason);
            self.enter_recovery(trace, reason);
        }
    }

    pub(in crate::sender) fn may_enter_recovery(&self) -> bool {
        self.recovery.may_begin(self.queue.snd_una(), self.peer.sack())
    }

    /// Something is lost, and marked so: reduce the window and recover it.
    pub(in crate::sender) fn enter_recovery<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        reason: LossReason,
    ) {
        let recover = self.queue.snd_nxt();
        self.recovery.on_reduced(trace.now, recover);
        self.recovery.rescue_rxt = self.board.oldest().map_or(self.queue.snd_una(), Sent::end);
        self.timer.forget_timed();
        // RFC 5681 §3.2 step 2: without what limited transmit let out.
        let flight_size = self.queue.flight_size().saturating_sub(self.recovery.limited_sent);
        let flight_size = self.flight_size_at_loss(trace.now, flight_size);
        let response = match self.congestion.loss_answer() {
            LossAnswer::SlowStart => LossResponse::SlowStart,
            LossAnswer::AsRecovery | LossAnswer::OwnWindow => self.recovery.profile.response,
        };
        self.remember(RecoveryKind::Fast);
        if !self.is_answered(response) {
            self.reduce_for_loss(trace.now, flight_size, response, recover);
        }
        self.detection.on_recovery(RecoveryKind::Fast);
        self.recovery.forced = true;
        self.recovery.beyond_cwnd = Bytes::ZERO;
        if let Some(tail) = &mut self.tail {
            tail.stand_down();
        }
        let kind = match response {
            LossResponse::FastRecovery => {
                self.recovery.phase = Phase::FastRecovery { recover, had_partial_ack: false };
                self.find_losses(trace);
                self.begin_fast_recovery(self.recovery.delivered);
                RecoveryKind::Fast
            }
            LossResponse::SlowStart => {
                self.lose_all(trace, reason);
                self.recovery.phase = Phase::SlowStartRecovery { recover };
                RecoveryKind::Timeout
            }
        };
        trace.emit(|endpoint| Event::RecoveryEntered { endpoint, kind });
        self.emit_window(trace, CwndReason::Recovery);
        // The retransmission gets a whole timeout of its own, as in common stacks.
        self.restart_rto(trace.now);
    }

    /// Congestion control is told of a loss.
    pub(in crate::sender) fn reduce_for_loss(
        &mut self,
        now: Time,
        flight_size: Bytes,
        response: LossResponse,
        snd_nxt: Seq,
    ) {
        self.congestion.on_congestion(now, CongestionEvent::Loss { flight_size, response });
        self.marks.on_reduced(Cause::Loss, snd_nxt);
    }

    fn begin_fast_recovery(&mut self, delivered: Bytes) {
        let (flight, duplicate_acks) = (self.flight(), self.recovery.duplicate_acks);
        self.recovery.policy.enter(&Entry { flight, duplicate_acks, delivered });
    }

    /// RFC 5681 §4.3: a retransmission that this recovery sent is lost, which is a second sign of
    /// congestion. The recovery begins anew with a window reduced once more, and lasts until all is
    /// acknowledged that is out now.
    pub(in crate::sender) fn reduce_again<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let Phase::FastRecovery { had_partial_ack, .. } = self.recovery.phase else { return };
        let (recover, flight_size) = (self.queue.snd_nxt(), self.queue.flight_size());
        self.reduce_for_loss(trace.now, flight_size, LossResponse::FastRecovery, recover);
        self.recovery.phase = Phase::FastRecovery { recover, had_partial_ack };
        self.recovery.on_reduced(trace.now, recover);
        self.begin_fast_recovery(Bytes::ZERO);
        self.recovery.forced = true;
        self.emit_window(trace, CwndReason::Recovery);
    }
}

/// Tells that a segment was declared lost.
pub(in crate::sender) fn emit_lost<S: Sink>(
    trace: &mut Trace<'_, S>,
    sent: &Sent,
    reason: LossReason,
) {
    let (seq, bytes) = (sent.seq, Bytes(u64::from(sent.seq_len())));
    trace.emit(|endpoint| Event::SegmentLost { endpoint, seq, bytes, reason });
}
