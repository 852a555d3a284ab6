//! What the sender tells a control that models the path. Every step here returns at once where
//! there is no such control.

use super::delivery::SampleContext;
use super::{Phase, Sender};
use crate::congestion::{RecoveryPhase, SampleAdvice};
use crate::trace::Trace;
use ackord_events::{CwndReason, Sink};
use ackord_units::{Bytes, Time};

impl Sender {
    /// CheckIfApplicationLimited (draft-ietf-ccwg-bbr-06 §4.1.2.4): asked before data is written,
    /// before an acknowledgment is processed, and when a timer may let data out.
    #[inline]
    pub(super) fn note_if_app_limited(&mut self) {
        if self.board.delivery.is_none() {
            return;
        }
        self.look_for_app_limit();
    }

    #[cold]
    fn look_for_app_limit(&mut self) {
        let pipe = self.board.pipe();
        let unsent = self.queue.has_unsent();
        let (lost, cwnd) = (self.board.has_lost(), self.congestion.cwnd());
        if let Some(delivery) = &mut self.board.delivery
            && !unsent
            && !lost
            && pipe < cwnd
        {
            delivery.mark_app_limited(pipe);
        }
    }

    #[inline]
    pub(super) fn begin_sample(&mut self, now: Time) {
        if self.board.delivery.is_some() {
            self.note_if_app_limited();
            let pipe = self.board.pipe();
            if let Some(delivery) = &mut self.board.delivery {
                delivery.begin_ack(now, pipe);
            }
        }
    }

    /// A segment is about to leave: perhaps the first one after an idle time (§5.4.1).
    #[inline]
    pub(super) fn note_restart_from_idle(&mut self, now: Time) {
        if let Some(delivery) = &self.board.delivery
            && self.board.pipe() == Bytes::ZERO
            && delivery.is_app_limited()
        {
            self.congestion.tell_model(|model| model.on_restart_from_idle(now));
        }
    }

    /// Data left: it is paced, and may have filled cwnd.
    #[inline]
    pub(super) fn after_data_left(&mut self, now: Time, payload: Bytes) {
        self.pace(now, payload);
        if self.board.delivery.is_some() {
            self.look_for_cwnd_limit();
        }
    }

    #[cold]
    fn look_for_cwnd_limit(&mut self) {
        let pipe = self.board.pipe();
        let full = pipe + self.sizes.smss() > self.congestion.cwnd();
        if let Some(delivery) = &mut self.board.delivery
            && full
        {
            delivery.mark_cwnd_limited(pipe);
        }
    }

    /// The losses found since this was last called.
    pub(super) fn report_losses(&mut self, now: Time) {
        let Some(delivery) = &mut self.board.delivery else { return };
        let losses = delivery.take_losses();
        self.congestion.tell_model(|model| {
            losses.iter().for_each(|lost| model.on_segment_lost(now, lost));
        });
        delivery.return_losses(losses);
    }

    /// An acknowledgment has been processed: its losses, then its sample.
    #[inline]
    pub(super) fn report_sample<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.board.delivery.is_some() {
            self.report_losses_and_sample(trace);
        }
    }

    #[cold]
    fn report_losses_and_sample<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        self.report_losses(trace.now);
        let context = SampleContext {
            min_rtt: self.timer.rtt().min_rtt(),
            in_flight: self.board.pipe(),
            recovery_phase: match self.recovery.phase() {
                Phase::Open => RecoveryPhase::Open,
                Phase::FastRecovery { .. } => RecoveryPhase::FastRecovery,
                Phase::SlowStartRecovery { .. } => RecoveryPhase::Timeout,
            },
            selective_acks: self.peer.sack(),
        };
        let Some(delivery) = &mut self.board.delivery else { return };
        let Some(sample) = delivery.sample(&context) else { return };
        let advice = self.congestion.tell_model(|model| model.on_rate_sample(trace.now, &sample));
        if advice == Some(SampleAdvice::MarkAppLimited) {
            delivery.mark_app_limited(context.in_flight);
        }
        self.emit_window(trace, CwndReason::Ack);
    }
}
