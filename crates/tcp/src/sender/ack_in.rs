//! An acknowledgment arrives.

use super::scoreboard::{Acked, Attempts, Sent, SentState};
use super::{Fin, FinProgress, Forced, PartialAcks, Phase, Sender};
use crate::congestion::{AckSample, CongestionEvent, Repair, SendLimit};
use crate::loss::{Doubt, LossVerdict};
use crate::recovery::{NewLosses, OnPartialAck, RecoveryAck, Reentry};
use crate::trace::Trace;
use ackord_events::{CwndReason, Event, LossReason, RecoveryKind, Sink};
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::SackBlocks;

/// The parts of a segment that concern the sending half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingAck {
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    /// The window, scaled.
    pub(crate) window: u32,
    /// Whether the segment carries data or a FIN, and so is no duplicate acknowledgment.
    pub(crate) carries_data: bool,
    pub(crate) sack: SackBlocks,
    /// Round-trip time by the timestamps option.
    pub(crate) timestamp_rtt: Option<Span>,
}

impl Sender {
    /// Takes in an acknowledgment that is not beyond what was sent.
    pub(crate) fn on_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, ack: &IncomingAck) {
        let same_window = !self.update_window(ack);
        let newly_sacked = if self.uses_sack && !ack.sack.is_empty() {
            self.board.mark_sacked(&ack.sack, self.snd_una.max(ack.ack), self.snd_nxt)
        } else {
            0
        };
        if ack.ack.after(self.snd_una) {
            self.on_new_ack(trace, ack, newly_sacked);
        } else if ack.ack == self.snd_una && !self.board.is_empty() {
            // RFC 6675 §2 with SACK, RFC 5681 §2 without.
            let duplicate =
                if self.uses_sack { newly_sacked > 0 } else { !ack.carries_data && same_window };
            if duplicate {
                self.on_duplicate_ack(trace, newly_sacked);
            }
        }
    }

    /// RFC 9293 §3.10.7.4; true if the window changed.
    fn update_window(&mut self, ack: &IncomingAck) -> bool {
        let fresh = self.snd_wl1.before(ack.seq)
            || (self.snd_wl1 == ack.seq && self.snd_wl2.at_or_before(ack.ack));
        if !fresh || ack.ack.before(self.snd_una) {
            return false;
        }
        let changed = self.snd_wnd != ack.window;
        self.snd_wnd = ack.window;
        self.max_snd_wnd = self.max_snd_wnd.max(ack.window);
        self.snd_wl1 = ack.seq;
        self.snd_wl2 = ack.ack;
        if ack.window > 0 && changed {
            self.persist.at = None;
            self.persist.due = false;
            self.persist.probes = 0;
        }
        changed
    }

    fn on_new_ack<S: Sink>(&mut self, t: &mut Trace<'_, S>, ack: &IncomingAck, newly_sacked: u64) {
        let flight_before = self.flight_size();
        let acked_octets = ack.ack.since(self.snd_una);
        let acked = self.board.acknowledge(ack.ack);
        self.snd_una = ack.ack;
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

        let sample = AckSample {
            acked: Bytes(u64::from(acked_octets)),
            rtt: acked.latest_sent_at.filter(|_| !acked.ambiguous).map(|sent_at| t.now - sent_at),
            srtt: self.rtt.srtt(),
            flight_size: flight_before,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            limit: self.send_limit(flight_before),
        };
        match self.phase {
            Phase::FastRecovery { recover, partial_acks } => {
                // RFC 6582 §3.2 step 3: only the first partial acknowledgment resets the timer,
                // unless a scoreboard shows that repairs get through.
                let all = ack.ack.at_or_after(recover);
                if all || self.uses_sack || partial_acks == PartialAcks::None {
                    self.restart_rto(t.now);
                }
                let delivered = Bytes(acked.newly_delivered + newly_sacked);
                self.on_ack_in_fast_recovery(t, sample.acked, delivered, recover);
            }
            Phase::SlowStartRecovery { recover } => {
                self.restart_rto(t.now);
                if ack.ack.at_or_after(recover) {
                    self.leave_repair(t, RecoveryKind::Timeout);
                }
                self.duplicate_acks = 0;
                self.congestion.on_ack(t.now, &sample);
                self.tell_window(t, CwndReason::Ack);
            }
            Phase::Open => {
                self.restart_rto(t.now);
                self.forget_duplicates();
                self.congestion.on_ack(t.now, &sample);
                self.tell_window(t, CwndReason::Ack);
                self.look_after_new_ack(t);
            }
        }
    }

    /// RFC 6298 §4 and Karn's rule: a sample by the sender's own clock, or else by timestamps.
    fn sample_rtt<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        acked: &Acked,
        timestamp_rtt: Option<Span>,
    ) {
        let own = acked.earliest_sent_at.filter(|_| !acked.ambiguous);
        let Some(rtt) = own.map(|sent_at| trace.now - sent_at).or(timestamp_rtt) else { return };
        self.rtt.on_sample(rtt, self.window());
        let (srtt, rto) = (self.rtt.srtt().unwrap_or(rtt), self.rtt.rto());
        trace.emit(|endpoint| Event::RttSampled { endpoint, rtt, srtt, rto });
    }

    /// The sender was held by cwnd if less than a segment more would have fitted into it.
    fn send_limit(&self, flight_before: Bytes) -> SendLimit {
        if flight_before + self.smss > self.congestion.cwnd() {
            SendLimit::Cwnd
        } else {
            SendLimit::Other
        }
    }

    fn forget_duplicates(&mut self) {
        self.duplicate_acks = 0;
        self.beyond_cwnd = Bytes::ZERO;
        self.limited_sent = Bytes::ZERO;
    }

    fn doubt(&self) -> Option<Doubt> {
        let oldest = self.board.oldest()?;
        Some(Doubt {
            duplicate_acks: self.duplicate_acks,
            sacked: self.board.sacked(),
            mss: self.smss,
            oldest_sent_at: oldest.sent_at,
            fine_timeout: self.rtt.fine_timeout(),
        })
    }

    fn look_after_new_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let Some(doubt) = self.doubt() else { return };
        if self.loss.on_new_ack(trace.now, &doubt) {
            self.repair(trace, LossReason::DetectorTimer);
        } else if self.uses_sack && self.board.sacked() > Bytes::ZERO {
            // What was SACKed before may make the new oldest segment lost at once.
            let verdict = self.loss.on_duplicate_ack(trace.now, &doubt);
            if verdict == LossVerdict::Lost {
                self.repair(trace, LossReason::Scoreboard);
            }
        }
    }

    fn on_duplicate_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, newly_sacked: u64) {
        self.duplicate_acks += 1;
        match self.phase {
            Phase::Open => {
                let Some(doubt) = self.doubt() else { return };
                match self.loss.on_duplicate_ack(trace.now, &doubt) {
                    LossVerdict::NotYet { beyond_cwnd } => self.beyond_cwnd = beyond_cwnd,
                    LossVerdict::Lost => self.repair(trace, LossReason::DuplicateAcks),
                }
            }
            Phase::FastRecovery { .. } => {
                let new_losses = self.find_losses(trace);
                let delivered = if self.uses_sack { Bytes(newly_sacked) } else { self.smss };
                let acked = Bytes::ZERO;
                let flight = self.flight();
                self.recovery.on_ack(&RecoveryAck { acked, delivered, new_losses, flight });
            }
            Phase::SlowStartRecovery { .. } => {}
        }
    }

    /// Lets the scoreboard declare losses while a repair goes on.
    fn find_losses<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> NewLosses {
        if !self.uses_sack {
            return NewLosses::No;
        }
        let mut found = NewLosses::No;
        let threshold = self.loss.duplicate_threshold();
        self.board.mark_lost_by_sack(threshold, self.smss, |sent| {
            found = NewLosses::Yes;
            let (seq, bytes) = (sent.seq, Bytes(u64::from(sent.seq_len())));
            let reason = LossReason::Scoreboard;
            trace.emit(|endpoint| Event::SegmentLost { endpoint, seq, bytes, reason });
        });
        found
    }

    fn on_ack_in_fast_recovery<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        acked: Bytes,
        delivered: Bytes,
        recover: Seq,
    ) {
        if self.snd_una.at_or_after(recover) {
            self.leave_fast_recovery(trace);
            return;
        }
        let new_losses = self.find_losses(trace);
        let flight = self.flight();
        let ack = RecoveryAck { acked, delivered, new_losses, flight };
        self.phase = Phase::FastRecovery { recover, partial_acks: PartialAcks::Some };
        match self.recovery.on_partial_ack(&ack) {
            OnPartialAck::Exit => self.leave_fast_recovery(trace),
            OnPartialAck::Continue => {}
            OnPartialAck::RetransmitOldest => {
                self.lose_oldest(trace, LossReason::PartialAck);
                self.forced = Forced::Retransmission;
            }
        }
    }

    fn leave_fast_recovery<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let cwnd_at_most = self.recovery.exit_bound(&self.flight());
        self.congestion.on_congestion(trace.now, CongestionEvent::Recovered { cwnd_at_most });
        self.leave_repair(trace, RecoveryKind::Fast);
        self.tell_window(trace, CwndReason::Recovery);
    }

    fn leave_repair<S: Sink>(&mut self, trace: &mut Trace<'_, S>, kind: RecoveryKind) {
        self.phase = Phase::Open;
        self.forget_duplicates();
        trace.emit(|endpoint| Event::RecoveryExited { endpoint, kind });
    }

    fn lose_oldest<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: LossReason) {
        if let Some(oldest) = self.board.mark_oldest_lost() {
            let (seq, bytes) = (oldest.seq, Bytes(u64::from(oldest.seq_len())));
            trace.emit(|endpoint| Event::SegmentLost { endpoint, seq, bytes, reason });
        }
    }

    /// The oldest segment is lost: fast retransmit, and what follows it.
    fn repair<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: LossReason) {
        let too_soon = self.recovery.reentry() == Reentry::AfterRecover
            && self.recover.is_some_and(|recover| self.snd_una.before(recover));
        if too_soon {
            return;
        }
        let recover = self.snd_nxt;
        self.recover = Some(recover);
        // RFC 5681 §3.2 step 2: without what limited transmit let out.
        let flight_size = self.flight_size().saturating_sub(self.limited_sent);
        let repair = self.recovery.repair();
        self.lose_oldest(trace, reason);
        self.congestion.on_congestion(trace.now, CongestionEvent::Loss { flight_size, repair });
        self.loss.on_retransmit(trace.now);
        self.forced = Forced::Retransmission;
        self.beyond_cwnd = Bytes::ZERO;
        let kind = match repair {
            Repair::FastRecovery => {
                self.phase = Phase::FastRecovery { recover, partial_acks: PartialAcks::None };
                self.find_losses(trace);
                let flight = self.flight();
                self.recovery.enter(&flight, self.duplicate_acks);
                RecoveryKind::Fast
            }
            Repair::SlowStart => {
                self.board.mark_all_lost();
                self.phase = Phase::SlowStartRecovery { recover };
                RecoveryKind::Timeout
            }
        };
        trace.emit(|endpoint| Event::RecoveryEntered { endpoint, kind });
        self.tell_window(trace, CwndReason::Recovery);
        // The retransmission gets a whole timeout of its own, as in common stacks.
        self.rto_at = Some(trace.now + self.rtt.rto());
    }

    /// A probe of a closed window was accepted: its octet counts as sent from now on.
    pub(crate) fn adopt_probe(&mut self, now: Time) {
        self.board.push(Sent {
            seq: self.snd_nxt,
            payload: 1,
            fin: Fin::No,
            sent_at: now,
            state: SentState::InFlight,
            // Which of the probes was accepted is unknown: no sample.
            attempts: Attempts::Again,
        });
        self.snd_nxt += 1;
        self.nxt_offset += 1;
        self.persist.octet_out = false;
    }
}
