//! The retransmission timer (RFC 6298 §5) and the persist timer (RFC 9293 §3.8.6.1).

use super::marks::Cause;
use super::{Forced, Phase, Sender};
use crate::congestion::{CongestionEvent, TimeoutOrder};
use crate::recovery::SackMemory;
use crate::trace::Trace;
use crate::words::worded;
use ackord_events::{CwndReason, Event, LossReason, RecoveryKind, Sink};
use ackord_units::Span;

/// Whether a timeout in fast recovery lowers ssthresh, which the loss has lowered already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutInRecovery {
    /// It does (RFC 5681 §3.1 makes no difference).
    Reduces,
    /// It does not, and what the loss took may still be given back. F-RTO does not look into it,
    /// but into the next one, if no new data is acknowledged in between.
    Keeps,
}

worded!(TimeoutInRecovery { "reduces" => Reduces, "keeps" => Keeps });

impl Sender {
    /// The retransmission timer expired with data outstanding.
    pub(crate) fn on_rto<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        self.note_if_app_limited();
        let flight_size = self.flight_size();
        self.validation.on_timeout();
        let repeated = self.timeouts_in_row > 0;
        let reduced = repeated
            || self.timeout_in_recovery == TimeoutInRecovery::Keeps
                && matches!(self.phase, Phase::FastRecovery { .. });
        let order = if reduced { TimeoutOrder::Repeated } else { TimeoutOrder::First };
        if self.snd_wnd > 0 {
            // Into a closed window it is a probe: Linux counts none of those.
            self.timeouts_in_row += 1;
        }
        self.rtt.back_off();
        self.timed = None;
        // RFC 2018 §8: the oldest segment is sent again whatever was reported of it. One that was
        // reported and is outstanding all the same has been discarded, and so may others have been.
        let reneged = self.board.has_been_reneged_on();
        if reneged || self.recovery.sack_memory() == SackMemory::UntilNewAck {
            self.board.forget_sacked();
        }
        if self.board.goes_by_time_alone() {
            self.mark_overdue_on_rto(trace);
        } else {
            // Everything not SACKed counts as lost: what arrived meanwhile is skipped by the
            // cumulative acknowledgments of the retransmissions.
            self.lose_all(trace, LossReason::RetransmissionTimeout);
        }
        if order == TimeoutOrder::First {
            // A repeated one takes nothing more that could be given back.
            self.remember(RecoveryKind::Timeout);
        }
        // RFC 3168 §6.1.2: ssthresh does not fall twice for one window of data.
        let held = if self.is_of_marked_window() { TimeoutOrder::Repeated } else { order };
        let recover = self.snd_nxt;
        let event = CongestionEvent::Timeout { flight_size, order: held, snd_nxt: recover };
        self.congestion.on_congestion(trace.now, event);
        self.marks.on_reduced(Cause::Loss, recover);
        self.loss.on_repair(trace.now, RecoveryKind::Timeout);
        self.begin_frto(self.phase, repeated, recover);
        self.phase = Phase::SlowStartRecovery { recover };
        self.recover = Some(recover);
        if let Some(tail) = &mut self.tail {
            tail.stand_down();
        }
        self.forget_duplicates();
        self.refresh_detector();
        self.forced = Forced::Retransmission;
        let (next_rto, consecutive) = (self.rtt.rto(), self.timeouts_in_row);
        self.start_rto(trace.now);
        trace.emit(|endpoint| Event::RetransmissionTimeout { endpoint, next_rto, consecutive });
        let kind = RecoveryKind::Timeout;
        trace.emit(|endpoint| Event::RecoveryEntered { endpoint, kind });
        self.tell_losses(trace.now);
        self.tell_window(trace, CwndReason::Timeout);
    }

    /// The persist timer expired: a probe may leave.
    pub(crate) fn on_persist(&mut self) {
        self.persist.at = None;
        self.persist.due = true;
        self.persist.probes += 1;
        self.persist.unanswered += 1;
        if !self.board.is_empty() {
            self.probe_with_oldest();
        }
    }

    /// RFC 9293 §3.8.6.1: the first probe after one RTO, then doubling.
    pub(super) fn persist_interval(&self) -> Span {
        let doubled = self.rtt.rto().saturating_mul(1 << self.persist.probes.min(16));
        doubled.min(Span::from_secs(60))
    }

    /// RFC 9293 §3.8.6.2.1 (4): how long a window too small to be worth a segment is waited for, a
    /// tenth of a second to a second.
    pub(super) fn override_timeout(&self) -> Span {
        self.rtt.rto().clamp(Span::from_millis(100), Span::from_secs(1))
    }
}
