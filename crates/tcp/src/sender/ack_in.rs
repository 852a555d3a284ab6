//! An acknowledgment arrives.

use super::doubt::{Arrivals, hole, tell_lost};
use super::frto::{AckKind, Frto, OldDelivered};
use super::marks::{Arrived, Cause, Echo, Growing};
use super::scoreboard::{Acked, Attempts, Scoreboard, Sent};
use super::tail_probe::Seen;
use super::undo::{UndoGrowth, dsack_block};
use super::{Fin, FinProgress, Forced, Marks, PartialAcks, Phase, Run, Sender};
use crate::congestion::{AckSample, CongestionEvent, LossAnswer, Repair, SendLimit};
use crate::loss::{Advance, Hole, LossVerdict};
use crate::recovery::{
    Entry, ExitGrowth, NewLosses, OnPartialAck, PartialAckTimer, RecoveryAck, Reentry, SackMemory,
};
use crate::trace::Trace;
use ackord_events::{CwndReason, Event, LossReason, RecoveryKind, Sink};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::SackBlocks;

/// The parts of a segment that concern the sending half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingAck<'a> {
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    /// The window, scaled.
    pub(crate) window: u32,
    /// Whether the segment carries data or a FIN, and so is no duplicate acknowledgment.
    pub(crate) carries_data: bool,
    pub(crate) sack: &'a SackBlocks,
    /// Round-trip time by the timestamps option.
    pub(crate) timestamp_rtt: Option<Span>,
    /// TSecr, if the segment carries it.
    pub(crate) echo: Option<u32>,
    /// Whether it says that a packet was marked.
    pub(crate) marked: Marked,
}

/// The ECE flag of an acknowledgment, where ECN is in use (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    Yes,
    No,
}

impl Sender {
    /// Takes in an acknowledgment that is not beyond what was sent.
    pub(crate) fn on_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, ack: &IncomingAck<'_>) {
        self.begin_sample(trace.now);
        let same_window = !self.update_window(trace.now, ack);
        let snd_una_before = self.snd_una;
        let flight_before = self.flight_size();
        let newly_sacked = self.take_in_blocks(trace.now, ack);
        self.delivered_now = Bytes(newly_sacked);
        if matches!(self.phase, Phase::FastRecovery { .. }) {
            self.recovery.on_arrival();
        }
        if ack.ack.after(self.snd_una) {
            self.on_new_ack(trace, ack, newly_sacked);
        } else if !self.board.is_empty() {
            if self.is_duplicate(ack, same_window, newly_sacked) {
                self.on_duplicate_ack(trace, newly_sacked);
            }
            if newly_sacked > 0 {
                self.note_sacked_in_peace(newly_sacked);
            }
        }
        let dsack = if self.reads_dsack { dsack_block(ack.sack, ack.ack) } else { None };
        if let Some(duplicate) = dsack {
            self.on_dsack(trace, duplicate);
        }
        self.grow_send_buffer();
        self.look_for_overdue(trace);
        if self.tail.is_some() {
            self.look_at_probe(trace, ack, Seen { snd_una_before, dsack });
        }
        self.refresh_detector();
        if self.marks != Marks::Off {
            let acked = self.snd_una.since(snd_una_before);
            let delivered = Bytes(u64::from(acked) + newly_sacked);
            if ack.marked == Marked::Yes {
                self.on_echo(trace, Echo { flight_size: flight_before });
            }
            self.note_delivered(Arrived { acked: Bytes(u64::from(acked)), delivered });
        }
        self.tell_sample(trace);
    }

    /// RFC 6675 §2 with SACK: what a block reports is news whatever number it comes with, also one
    /// that a later acknowledgment has overtaken. RFC 5681 §2 without.
    fn is_duplicate(&self, ack: &IncomingAck<'_>, same_window: bool, newly_sacked: u64) -> bool {
        let current = ack.ack == self.snd_una;
        if self.uses_sack {
            newly_sacked > 0 && (current || self.recovery.sack_memory() == SackMemory::Kept)
        } else {
            current && !ack.carries_data && same_window
        }
    }

    /// Linux lets cwnd grow by what SACK reports only once it has seen reordering
    /// (tcp_may_raise_cwnd); a repair forgets it.
    fn note_sacked_in_peace(&mut self, newly_sacked: u64) {
        let reordered = self.loss.by_time().is_some_and(|by_time| by_time.has_seen_reordering());
        if self.phase == Phase::Open && reordered {
            self.sacked_in_peace += Bytes(newly_sacked);
        } else {
            self.sacked_in_peace = Bytes::ZERO;
        }
    }

    /// Octets newly reported by SACK.
    #[inline]
    fn take_in_blocks(&mut self, now: Time, ack: &IncomingAck<'_>) -> u64 {
        if !self.uses_sack || ack.sack.is_empty() || self.ignores_blocks() {
            return 0;
        }
        let una = self.snd_una.max(ack.ack);
        if self.board.keeps_time_order() {
            let nxt = self.snd_nxt;
            let (board, mut arrivals) = self.arrivals(now, ack.echo);
            return board.mark_sacked(ack.sack, una, nxt, |sent| arrivals.tell(sent));
        }
        self.board.mark_sacked(ack.sack, una, self.snd_nxt, |_| {})
    }

    /// Whether blocks tell a sender nothing at this time: after a timeout, to one that begins
    /// anew then.
    fn ignores_blocks(&self) -> bool {
        matches!(self.phase, Phase::SlowStartRecovery { .. })
            && self.recovery.sack_memory() == SackMemory::UntilNewAck
    }

    /// Empties the scoreboard for a sender that does not keep it.
    fn forget_blocks_after_new_ack(&mut self) {
        if self.board.sacked() > Bytes::ZERO
            && !matches!(self.phase, Phase::FastRecovery { .. })
            && self.recovery.sack_memory() == SackMemory::UntilNewAck
        {
            self.board.forget_sacked();
        }
    }

    fn on_new_ack<S: Sink>(
        &mut self,
        t: &mut Trace<'_, S>,
        ack: &IncomingAck<'_>,
        newly_sacked: u64,
    ) {
        let flight_before = self.flight_size();
        let acked_octets = ack.ack.since(self.snd_una);
        let advance = self.advance(Bytes(u64::from(acked_octets)));
        let lateness = self.lateness(t.now);
        let acked = self.take_off(t.now, ack);
        self.delivered_now = Bytes(acked.newly_delivered + newly_sacked);
        self.snd_una = ack.ack;
        self.forget_blocks_after_new_ack();
        let fin_acked = self.fin == FinProgress::Sent && self.board.is_empty();
        let data = u64::from(acked_octets) - u64::from(fin_acked);
        self.una_offset += data;
        if fin_acked {
            self.fin = FinProgress::Acked;
        }
        let stream_offset = Bytes(self.una_offset);
        t.emit(|endpoint| Event::AckAdvanced { endpoint, bytes: Bytes(data), stream_offset });
        self.sample_rtt(t, &acked, ack.timestamp_rtt);
        self.timeouts_in_row = 0;
        if self.phase == Phase::Open && !self.uses_sack {
            self.delivered_now = self.less_duplicates(self.delivered_now);
        }
        self.duplicate_acks = 0;
        self.run = if newly_sacked > 0 { Run::BegunByReport } else { Run::BegunSilently };
        self.missed_since = None;
        self.note_missing(t.now);
        let repairing = self.phase != Phase::Open;
        self.look_at_first_new_ack(t, ack, &advance, lateness);
        let verdict = self.ask_after_new_ack(t, &advance);
        if self.frto.is_undecided() {
            let old = acked.earliest_sent_at.is_some() || newly_sacked > 0;
            let delivered = if old { OldDelivered::Yes } else { OldDelivered::No };
            self.look_into_timeout(t, AckKind::Advances, delivered);
        }
        let undone = repairing && self.phase == Phase::Open;
        let sample = self.sample_of(t.now, &acked, Bytes(u64::from(acked_octets)), flight_before);
        match self.phase {
            Phase::FastRecovery { recover, partial_acks } => {
                // RFC 6582 §3.2 step 3: only the first partial acknowledgment resets the timer,
                // unless a scoreboard shows that repairs get through.
                let all = ack.ack.at_or_after(recover);
                let each =
                    self.uses_sack || self.recovery.partial_ack_timer() == PartialAckTimer::Each;
                if all || each || partial_acks == PartialAcks::None {
                    self.restart_rto(t.now);
                }
                self.on_ack_in_fast_recovery(t, &sample, self.delivered_now, recover);
            }
            Phase::SlowStartRecovery { recover } => {
                self.restart_rto(t.now);
                if ack.ack.at_or_after(recover) {
                    self.leave_repair(t, RecoveryKind::Timeout);
                }
                self.congestion.on_ack(t.now, &sample);
                self.tell_window(t, CwndReason::Ack);
            }
            Phase::Open => {
                self.restart_rto(t.now);
                self.forget_duplicates();
                self.validate_by_ack(t.now);
                if !undone || self.undo_growth == UndoGrowth::On {
                    self.congestion.on_ack(t.now, &sample);
                    self.tell_window(t, CwndReason::Ack);
                }
                self.follow_after_new_ack(t, verdict);
            }
        }
    }

    /// What congestion control is told of an acknowledgment that has been taken off the scoreboard.
    #[inline]
    fn sample_of(
        &mut self,
        now: Time,
        taken_off: &Acked,
        acked: Bytes,
        flight_before: Bytes,
    ) -> AckSample {
        let limit = match self.marks.on_advance(self.snd_una) {
            Growing::Allowed => self.send_limit(now, flight_before),
            Growing::Held => SendLimit::Other,
        };
        let timed = taken_off.latest_sent_at.filter(|_| !taken_off.ambiguous);
        AckSample {
            acked,
            delivered: self.delivered_now + std::mem::take(&mut self.sacked_in_peace),
            rtt: timed.map(|sent_at| now - sent_at),
            srtt: self.rtt.srtt(),
            flight_size: flight_before,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            limit,
        }
    }

    fn follow_after_new_ack<S: Sink>(&mut self, t: &mut Trace<'_, S>, verdict: LossVerdict) {
        if !self.board.is_empty() {
            let by_sack = self.board.sacked() > Bytes::ZERO;
            let reason = if by_sack { LossReason::Scoreboard } else { LossReason::DetectorTimer };
            self.follow(t, verdict, reason);
        }
    }

    /// What an acknowledgment of new data is about to end.
    #[inline]
    fn advance(&self, acked: Bytes) -> Advance {
        let sacked = self.board.sacked();
        let extent = match self.uses_sack {
            true if sacked > Bytes::ZERO => sacked.get().div_ceil(self.smss.get()) as u32,
            true => 0,
            false => self.duplicate_acks,
        };
        Advance {
            acked,
            duplicate_acks: self.duplicate_acks,
            extent_segments: extent,
            hole: self.board.oldest().map_or(Hole::SentOnce, hole),
        }
    }

    /// Takes off the scoreboard what is acknowledged.
    #[inline]
    fn take_off(&mut self, now: Time, ack: &IncomingAck<'_>) -> Acked {
        if self.board.keeps_time_order() {
            let (board, mut arrivals) = self.arrivals(now, ack.echo);
            return board.acknowledge(ack.ack, |sent| arrivals.tell(sent));
        }
        self.board.acknowledge(ack.ack, |_| {})
    }

    /// The scoreboard, and who is told of what arrives.
    fn arrivals(&mut self, now: Time, echo: Option<u32>) -> (&mut Scoreboard, Arrivals<'_>) {
        let (loss, rtt) = (&mut *self.loss, &self.rtt);
        (&mut self.board, Arrivals { now, loss, rtt, echo: echo.zip(self.ts_clock) })
    }

    /// What an acknowledgment delivers beyond the segments that the duplicates before it stood for;
    /// at least the one that they were waiting for (Linux's tcp_remove_reno_sacks).
    fn less_duplicates(&self, acked: Bytes) -> Bytes {
        let stood_for = self.smss * u64::from(self.duplicate_acks);
        acked.saturating_sub(stood_for).max(acked.min(self.smss))
    }

    #[inline]
    pub(super) fn forget_duplicates(&mut self) {
        self.duplicate_acks = 0;
        self.beyond_cwnd = Bytes::ZERO;
        self.limited_sent = Bytes::ZERO;
    }

    fn on_duplicate_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, newly_sacked: u64) {
        self.duplicate_acks += 1;
        self.note_missing(trace.now);
        if !self.uses_sack {
            self.board.credit_duplicate(self.smss);
        }
        match self.phase {
            Phase::Open => {
                let verdict = self.loss.on_duplicate_ack(trace.now, &self.doubt());
                self.follow(trace, verdict, LossReason::DuplicateAcks);
            }
            Phase::FastRecovery { .. } => {
                let new_losses = self.find_losses(trace);
                let delivered = if self.uses_sack { Bytes(newly_sacked) } else { self.smss };
                let acked = Bytes::ZERO;
                let flight = self.flight();
                self.recovery.on_ack(&RecoveryAck { acked, delivered, new_losses, flight });
            }
            Phase::SlowStartRecovery { .. } if self.uses_sack => {
                self.look_into_timeout(trace, AckKind::Sacking, OldDelivered::Yes);
            }
            Phase::SlowStartRecovery { .. } => {
                self.look_into_timeout(trace, AckKind::Duplicate, OldDelivered::No);
            }
        }
    }

    /// Lets the scoreboard declare losses while a repair goes on.
    fn find_losses<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> NewLosses {
        let mut found = NewLosses::No;
        if self.board.keeps_time_order() {
            found = self.mark_overdue(trace);
        }
        if !self.uses_sack || self.board.goes_by_time_alone() {
            return found;
        }
        let threshold =
            self.recovery.hole_threshold().unwrap_or_else(|| self.loss.duplicate_threshold());
        self.board.mark_lost_by_sack(threshold, self.smss, |sent| {
            found = NewLosses::Yes;
            tell_lost(trace, sent, LossReason::Scoreboard);
        });
        found
    }

    fn on_ack_in_fast_recovery<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        sample: &AckSample,
        delivered: Bytes,
        recover: Seq,
    ) {
        let acked = sample.acked;
        if self.snd_una.at_or_after(recover) {
            self.leave_fast_recovery(trace, sample);
            return;
        }
        let new_losses = self.find_losses(trace);
        let flight = self.flight();
        let ack = RecoveryAck { acked, delivered, new_losses, flight };
        self.phase = Phase::FastRecovery { recover, partial_acks: PartialAcks::Some };
        match self.recovery.on_partial_ack(&ack) {
            OnPartialAck::Exit => self.leave_fast_recovery(trace, sample),
            OnPartialAck::Continue => {}
            // Only the passing of time shows a detector that judges by it what is lost.
            OnPartialAck::RetransmitOldest if self.board.goes_by_time_alone() => {}
            OnPartialAck::RetransmitOldest => {
                self.lose_oldest(trace, LossReason::PartialAck);
                self.forced = Forced::Retransmission;
            }
        }
    }

    fn leave_fast_recovery<S: Sink>(&mut self, trace: &mut Trace<'_, S>, sample: &AckSample) {
        let exit_bound = self.recovery.exit_bound(&self.flight());
        let validated = self.bound_after_unvalidated_repair();
        let cwnd_at_most = [exit_bound, validated].into_iter().flatten().min();
        self.congestion.on_congestion(trace.now, CongestionEvent::Recovered { cwnd_at_most });
        self.leave_repair(trace, RecoveryKind::Fast);
        self.forget_blocks_after_new_ack();
        if self.recovery.exit_growth() == ExitGrowth::Yes {
            self.congestion.on_ack(trace.now, sample);
        }
        self.tell_window(trace, CwndReason::Recovery);
    }

    pub(super) fn leave_repair<S: Sink>(&mut self, trace: &mut Trace<'_, S>, kind: RecoveryKind) {
        self.phase = Phase::Open;
        self.frto = Frto::Off;
        self.forget_duplicates();
        trace.emit(|endpoint| Event::RecoveryExited { endpoint, kind });
    }

    pub(super) fn lose_oldest<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: LossReason) {
        if let Some(oldest) = self.board.mark_oldest_lost() {
            tell_lost(trace, &oldest, reason);
        }
    }

    /// Everything that has not been reported is lost.
    pub(super) fn lose_all<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: LossReason) {
        self.board.mark_all_lost(|sent| tell_lost(trace, sent, reason));
    }

    /// The oldest segment is lost: fast retransmit, and what follows it.
    pub(super) fn repair<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: LossReason) {
        if self.may_repair() {
            self.lose_oldest(trace, reason);
            self.begin_repair(trace, reason);
        }
    }

    /// RFC 6582 §3.2 step 2: one repair for a window of data. Without SACK the acknowledgment has
    /// to cover more than `recover`: what the repair sent again for nothing draws duplicates of
    /// exactly that, and a repair on their account would do the same again, for ever. New blocks
    /// cannot come of that.
    pub(super) fn may_repair(&self) -> bool {
        self.recover.is_none_or(|recover| match self.recovery.reentry() {
            Reentry::Allowed => true,
            Reentry::AfterRecover if self.uses_sack => self.snd_una.at_or_after(recover),
            Reentry::AfterRecover | Reentry::BeyondRecover => self.snd_una.after(recover),
        })
    }

    /// Something is lost, and marked so: reduce the window and repair it.
    pub(super) fn begin_repair<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: LossReason) {
        let recover = self.snd_nxt;
        self.recover = Some(recover);
        self.reduced_at = trace.now;
        self.rescue_rxt = self.board.oldest().map_or(self.snd_una, Sent::end);
        self.timed = None;
        // RFC 5681 §3.2 step 2: without what limited transmit let out.
        let flight_size = self.flight_size().saturating_sub(self.limited_sent);
        let flight_size = self.flight_size_at_loss(trace.now, flight_size);
        let repair = match self.congestion.loss_answer() {
            LossAnswer::SlowStart => Repair::SlowStart,
            LossAnswer::AsRecovery | LossAnswer::OwnWindow => self.recovery.repair(),
        };
        self.remember(RecoveryKind::Fast);
        if !self.is_answered(repair) {
            self.congestion.on_congestion(trace.now, CongestionEvent::Loss { flight_size, repair });
            self.marks.on_reduced(Cause::Loss, recover);
        }
        self.loss.on_repair(trace.now, RecoveryKind::Fast);
        self.forced = Forced::Retransmission;
        self.beyond_cwnd = Bytes::ZERO;
        if let Some(tail) = &mut self.tail {
            tail.stand_down();
        }
        let kind = match repair {
            Repair::FastRecovery => {
                self.phase = Phase::FastRecovery { recover, partial_acks: PartialAcks::None };
                self.find_losses(trace);
                let flight = self.flight();
                let (duplicate_acks, delivered) = (self.duplicate_acks, self.delivered_now);
                self.recovery.enter(&Entry { flight, duplicate_acks, delivered });
                RecoveryKind::Fast
            }
            Repair::SlowStart => {
                self.lose_all(trace, reason);
                self.phase = Phase::SlowStartRecovery { recover };
                RecoveryKind::Timeout
            }
        };
        trace.emit(|endpoint| Event::RecoveryEntered { endpoint, kind });
        self.tell_window(trace, CwndReason::Recovery);
        // The retransmission gets a whole timeout of its own, as in common stacks.
        self.restart_rto(trace.now);
    }

    /// A probe of a closed window was accepted: its octet counts as sent from now on.
    pub(crate) fn adopt_probe(&mut self, now: Time) {
        self.board.push(Sent {
            // Which of the probes was accepted is unknown: no sample.
            attempts: Attempts::Again,
            ..Sent::first(self.snd_nxt, 1, Fin::No, now)
        });
        self.snd_nxt += 1;
        self.nxt_offset += 1;
        self.persist.octet_out = false;
    }
}
