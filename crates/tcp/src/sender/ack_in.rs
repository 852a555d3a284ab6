//! An acknowledgment arrives.

use super::frto::AckKind;
use super::incoming::IncomingAck;
use super::loss_detection::{Arrivals, hole};
use super::marks::{Arrived, Echo};
use super::scoreboard::Scoreboard;
use super::sent::{Acked, Sent};
use super::tail_probe::Seen;
use super::{Marks, Phase, Sender};
use crate::congestion::{AckSample, SendLimit};
use crate::loss::{Advance, Hole, LossVerdict};
use crate::recovery::{PartialAckTimer, RecoveryAck};
use crate::trace::Trace;
use crate::ts_clock::TimestampEcho;
use ackord_events::{CwndReason, Event, LossReason, RecoveryKind, Sink};
use ackord_units::{Bytes, Time};

impl Sender {
    /// Takes in an acknowledgment that is not beyond what was sent.
    pub(crate) fn on_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, ack: &IncomingAck<'_>) {
        if self.says_only_the_window(ack) {
            self.persist.on_answer();
            self.update_window(trace.now, ack);
            return;
        }
        self.begin_sample(trace.now);
        self.persist.on_answer();
        let same_window = !self.update_window(trace.now, ack);
        let snd_una_before = self.queue.snd_una();
        let flight_before = self.queue.flight_size();
        let newly_sacked = self.take_in_blocks(trace.now, ack);
        self.recovery.on_arrival(Bytes(newly_sacked));
        if ack.ack.after(snd_una_before) {
            self.on_new_ack(trace, ack, newly_sacked);
        } else if !self.board.is_empty() {
            if self.is_duplicate(ack, same_window, newly_sacked) {
                self.on_duplicate_ack(trace, newly_sacked);
            }
            if newly_sacked > 0 {
                let reordering_seen = self.detection.view().reordering_seen;
                self.recovery.note_sacked(Bytes(newly_sacked), reordering_seen);
            }
        }
        let dsack = if self.peer.dsack() { ack.sack.duplicate(ack.ack) } else { None };
        if let Some(duplicate) = dsack {
            self.on_dsack(trace, duplicate);
        }
        self.queue.grow_buffer(|| self.congestion.cwnd());
        self.look_for_overdue(trace);
        if self.tail.is_some() {
            self.look_at_probe(trace, ack, Seen { snd_una_before, dsack });
        }
        self.detection.refresh();
        if self.marks != Marks::Off {
            let acked = self.queue.snd_una().since(snd_una_before);
            let delivered = Bytes(u64::from(acked) + newly_sacked);
            if ack.marked {
                self.on_echo(trace, Echo { flight_size: flight_before });
            }
            self.note_delivered(Arrived { acked: Bytes(u64::from(acked)), delivered });
        }
        self.report_sample(trace);
    }

    /// Whether nothing is outstanding and nothing is acknowledged: the window is all that may be new, as in every
    /// segment of a peer to which nothing is sent. Then nobody else need be asked.
    #[inline]
    fn says_only_the_window(&self, ack: &IncomingAck<'_>) -> bool {
        self.board.is_empty()
            && ack.ack == self.queue.snd_una()
            && ack.sack.is_empty()
            && self.recovery.is_open()
            && self.tail.is_none()
            && self.board.delivery.is_none()
            && self.marks == Marks::Off
    }

    /// RFC 6675 §2 with SACK: what a block reports is news whatever number it comes with, also one
    /// that a later acknowledgment has overtaken. RFC 5681 §2 without.
    fn is_duplicate(&self, ack: &IncomingAck<'_>, same_window: bool, newly_sacked: u64) -> bool {
        let current = ack.ack == self.queue.snd_una();
        if self.peer.sack() {
            newly_sacked > 0 && (current || !self.recovery.profile().forgets_sacked)
        } else {
            current && !ack.carries_data && same_window
        }
    }

    /// Bytes newly reported by SACK.
    #[inline]
    fn take_in_blocks(&mut self, now: Time, ack: &IncomingAck<'_>) -> u64 {
        if !self.peer.sack() || ack.sack.is_empty() || self.recovery.ignores_blocks() {
            return 0;
        }
        let (una, nxt) = (self.queue.snd_una().max(ack.ack), self.queue.snd_nxt());
        if self.board.keeps_time_order() {
            let (board, mut arrivals) = self.arrivals(now, ack.echo);
            return board.mark_sacked(ack.sack, una, nxt, |sent| arrivals.on_delivered(sent));
        }
        self.board.mark_sacked(ack.sack, una, nxt, |_| {})
    }

    /// Empties the scoreboard for a sender that does not keep it.
    pub(super) fn forget_blocks_after_new_ack(&mut self) {
        if self.board.sacked() > Bytes::ZERO && self.recovery.forgets_sacked() {
            self.board.forget_sacked();
        }
    }

    fn on_new_ack<S: Sink>(
        &mut self,
        t: &mut Trace<'_, S>,
        ack: &IncomingAck<'_>,
        newly_sacked: u64,
    ) {
        let flight_before = self.queue.flight_size();
        let advanced = Bytes(u64::from(ack.ack.since(self.queue.snd_una())));
        let advance = self.advance(advanced);
        let missing_for = self.recovery.missing_for(t.now);
        let acked = self.take_off(t.now, ack);
        let mut delivered = Bytes(acked.newly_delivered + newly_sacked);
        self.recovery.set_delivered(delivered);
        self.forget_blocks_after_new_ack();
        let bytes = self.queue.acknowledge(ack.ack, self.board.is_empty());
        let stream_offset = Bytes(self.queue.una_offset());
        t.emit(|endpoint| Event::AckAdvanced { endpoint, bytes, stream_offset });
        self.sample_rtt(t, &acked, ack.echo);
        self.timer.on_advance();
        if self.recovery.is_open() && !self.peer.sack() {
            delivered = self.less_duplicates(delivered);
            self.recovery.set_delivered(delivered);
        }
        self.recovery.on_advance(t.now, newly_sacked > 0, self.board.sacked());
        let recovering = !self.recovery.is_open();
        self.look_at_first_new_ack(t, ack, &advance, missing_for);
        let verdict = self.ask_after_new_ack(t, &advance);
        if self.frto.is_undecided() {
            let old_delivered = acked.earliest_sent_at.is_some() || newly_sacked > 0;
            self.look_into_timeout(t, AckKind::Advances, old_delivered);
        }
        let undone = recovering && self.recovery.is_open();
        let sample = self.sample_of(t.now, &acked, advanced, flight_before);
        match self.recovery.phase() {
            Phase::FastRecovery { recover, had_partial_ack } => {
                let end = ack.ack.at_or_after(recover);
                self.restart_rto_in_fast_recovery(t.now, end || !had_partial_ack);
                self.on_ack_in_fast_recovery(t, &sample, self.recovery.delivered(), recover);
            }
            Phase::SlowStartRecovery { recover } => {
                self.restart_rto(t.now);
                if ack.ack.at_or_after(recover) {
                    self.exit_recovery(t, RecoveryKind::Timeout);
                }
                self.congestion.on_ack(t.now, &sample);
                self.emit_window(t, CwndReason::Ack);
            }
            Phase::Open => {
                self.restart_rto(t.now);
                self.recovery.forget_duplicates();
                self.validate_by_ack(t.now);
                if !undone || self.undo.lets_cwnd_grow() {
                    self.congestion.on_ack(t.now, &sample);
                    self.emit_window(t, CwndReason::Ack);
                }
                self.apply_after_new_ack(t, verdict);
            }
        }
    }

    /// RFC 6582 §3.2 step 3: only the `first` partial acknowledgment resets the timer, and the one that
    /// ends the recovery, unless a scoreboard shows that retransmissions get through.
    fn restart_rto_in_fast_recovery(&mut self, now: Time, first: bool) {
        let timer = self.recovery.profile().partial_ack_timer;
        if first || self.peer.sack() || timer == PartialAckTimer::Each {
            self.restart_rto(now);
        }
    }

    #[inline(always)]
    pub(super) fn sample_rtt<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        acked: &Acked,
        echo: Option<u32>,
    ) {
        let window = self.queue.window();
        let peer = &self.peer;
        let by_timestamps =
            || TimestampEcho { value: echo?, clock: peer.ts_clock()? }.rtt(trace.now);
        let Some(rtt) = self.timer.sample(trace.now, acked, by_timestamps, window) else { return };
        if let Some(tail) = &mut self.tail {
            tail.on_rtt_sample();
        }
        let estimate = self.timer.rtt();
        trace.emit(|endpoint| {
            let (srtt, rto) = (estimate.srtt().unwrap_or(rtt), estimate.rto());
            Event::RttSampled { endpoint, rtt, srtt, rto }
        });
    }

    /// What congestion control is told of an acknowledgment that has been taken off the scoreboard.
    #[inline(always)]
    pub(super) fn sample_of(
        &mut self,
        now: Time,
        taken_off: &Acked,
        acked: Bytes,
        flight_before: Bytes,
    ) -> AckSample {
        let snd_una = self.queue.snd_una();
        let limit = if self.marks.on_advance(snd_una) {
            self.send_limit(now, flight_before)
        } else {
            SendLimit::Other
        };
        let timed = taken_off.latest_sent_at.filter(|_| !taken_off.ambiguous);
        AckSample {
            acked,
            delivered: self.recovery.take_delivered(),
            rtt: timed.map(|sent_at| now - sent_at),
            srtt: self.timer.rtt().srtt(),
            flight_size: flight_before,
            snd_una,
            snd_nxt: self.queue.snd_nxt(),
            limit,
        }
    }

    fn apply_after_new_ack<S: Sink>(&mut self, t: &mut Trace<'_, S>, verdict: LossVerdict) {
        if !self.board.is_empty() {
            let by_sack = self.board.sacked() > Bytes::ZERO;
            let reason = if by_sack { LossReason::Scoreboard } else { LossReason::DetectorTimer };
            self.apply(t, verdict, reason);
        }
    }

    /// What an acknowledgment of new data is about to end.
    #[inline]
    fn advance(&self, acked: Bytes) -> Advance {
        let sacked = self.board.sacked();
        let duplicate_acks = self.recovery.duplicate_acks();
        let extent_segments = match self.peer.sack() {
            true if sacked > Bytes::ZERO => sacked.get().div_ceil(self.sizes.smss().get()) as u32,
            true => 0,
            false => duplicate_acks,
        };
        let hole = self.board.oldest().map_or(Hole::SentOnce, hole);
        Advance { acked, duplicate_acks, extent_segments, hole }
    }

    /// Takes off the scoreboard what is acknowledged.
    #[inline]
    fn take_off(&mut self, now: Time, ack: &IncomingAck<'_>) -> Acked {
        if self.board.keeps_time_order() {
            let (board, mut arrivals) = self.arrivals(now, ack.echo);
            return board.acknowledge(ack.ack, |sent| arrivals.on_delivered(sent));
        }
        self.board.acknowledge(ack.ack, |_| {})
    }

    /// The scoreboard, and who is told of what arrives.
    fn arrivals(&mut self, now: Time, echo: Option<u32>) -> (&mut Scoreboard, Arrivals<'_>) {
        let echo = echo.zip(self.peer.ts_clock());
        (&mut self.board, self.detection.arrivals(now, self.timer.rtt(), echo))
    }

    /// What an acknowledgment delivers beyond the segments that the duplicates before it stood for;
    /// at least the one that they were waiting for (Linux's tcp_remove_reno_sacks).
    fn less_duplicates(&self, acked: Bytes) -> Bytes {
        let smss = self.sizes.smss();
        let stood_for = smss * u64::from(self.recovery.duplicate_acks());
        acked.saturating_sub(stood_for).max(acked.min(smss))
    }

    fn on_duplicate_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, newly_sacked: u64) {
        self.recovery.on_duplicate_ack(trace.now, self.board.sacked());
        let uses_sack = self.peer.sack();
        if !uses_sack {
            self.board.credit_duplicate(self.sizes.smss());
        }
        match self.recovery.phase() {
            Phase::Open => {
                let verdict = self.ask_about_duplicate(trace.now);
                self.apply(trace, verdict, LossReason::DuplicateAcks);
            }
            Phase::FastRecovery { .. } => {
                let new_losses = self.find_losses(trace);
                let delivered = if uses_sack { Bytes(newly_sacked) } else { self.sizes.smss() };
                let (partial, acked, flight) = (false, Bytes::ZERO, self.flight());
                let ack = RecoveryAck { partial, acked, delivered, new_losses, flight };
                self.recovery.on_ack(&ack);
            }
            Phase::SlowStartRecovery { .. } => {
                let kind = if uses_sack { AckKind::Sacking } else { AckKind::Duplicate };
                self.look_into_timeout(trace, kind, uses_sack);
            }
        }
    }

    /// A probe of a closed window was accepted: its byte counts as sent from now on.
    pub(crate) fn adopt_probe(&mut self, now: Time) {
        self.board.push(Sent {
            // Which of the probes was accepted is unknown: no sample.
            retransmitted: true,
            ..Sent::first(self.queue.snd_nxt(), 1, false, now)
        });
        self.queue.on_sent(1, false);
        self.persist.on_byte_accepted();
    }
}
