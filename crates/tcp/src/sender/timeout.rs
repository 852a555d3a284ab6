//! The retransmission timer (RFC 6298 §5) and the persist timer (RFC 9293 §3.8.6.1).

use super::Sender;
use super::marks::Cause;
use crate::congestion::{CongestionEvent, TimeoutOrder};
use crate::trace::Trace;
use ackord_events::{CwndReason, Event, LossReason, RecoveryKind, Sink};

impl Sender {
    /// The retransmission timer expired with data outstanding.
    pub(crate) fn on_rto<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        self.note_if_app_limited();
        let flight_size = self.queue.flight_size();
        self.usage.validation_mut().on_timeout();
        let repeated = self.timer.timeouts_in_row() > 0;
        let reduced = repeated || self.recovery.timeout_keeps_ssthresh() && self.recovery.is_fast();
        let order = if reduced { TimeoutOrder::Repeated } else { TimeoutOrder::First };
        // Into a closed window it is a probe: Linux counts none of those.
        self.timer.on_timeout(!self.peer_window.is_closed());
        // RFC 2018 §8: the oldest segment is retransmitted whatever was reported of it. One that was
        // reported and is outstanding all the same has been discarded, and so may others have been.
        let reneged = self.board.has_been_reneged_on();
        if reneged || self.recovery.profile().forgets_sacked {
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
        let recover = self.queue.snd_nxt();
        let event = CongestionEvent::Timeout { flight_size, order: held, snd_nxt: recover };
        self.congestion.on_congestion(trace.now, event);
        self.marks.on_reduced(Cause::Loss, recover);
        self.detection.on_recovery(RecoveryKind::Timeout);
        self.begin_frto(self.recovery.phase(), repeated, recover);
        self.recovery.begin_after_timeout(recover);
        if let Some(tail) = &mut self.tail {
            tail.stand_down();
        }
        self.detection.refresh();
        self.recovery.force_retransmission();
        let (next_rto, consecutive) = (self.timer.rtt().rto(), self.timer.timeouts_in_row());
        self.timer.start(trace.now);
        trace.emit(|endpoint| Event::RetransmissionTimeout { endpoint, next_rto, consecutive });
        let kind = RecoveryKind::Timeout;
        trace.emit(|endpoint| Event::RecoveryEntered { endpoint, kind });
        self.report_losses(trace.now);
        self.emit_window(trace, CwndReason::Timeout);
    }

    /// The persist timer expired: a probe may leave.
    pub(crate) fn on_persist(&mut self) {
        self.persist.on_expiry();
        if !self.board.is_empty() {
            self.probe_with_oldest();
        }
    }
}
