//! What a sender does with a window it has not used: restart after an idle time (RFC 5681 §4.1,
//! RFC 2861, RFC 7661), and when a window counts as used at all. What RFC 2861 and RFC 7661 do about a
//! window that is used in part is in `validation.rs`.

use super::Sender;
use super::queue::SendQueue;
use super::validation::Validation;
use crate::config::{Config, CwndUse, IdleRestart};
use crate::congestion::{CongestionEvent, SendLimit};
use crate::trace::Trace;
use ackord_events::{CwndReason, Sink};
use ackord_units::{Bytes, Seq, Span, Time};

/// When data last left, and how much of cwnd is in use.
#[derive(Clone, Debug)]
pub(super) struct Usage {
    idle_restart: IdleRestart,
    validation: Validation,
    cwnd_use: CwndUse,
    used: Used,
    last_sent_at: Option<Time>,
}

/// How much of cwnd was in use, as far as [`CwndUse::HalfInSlowStart`] asks.
#[derive(Clone, Copy, Debug)]
struct Used {
    /// The most that was outstanding in this round trip.
    most: Bytes,
    /// Whether that was all of cwnd.
    full: bool,
    /// Where the round trip ends.
    until: Seq,
}

impl Usage {
    pub(super) fn new(config: &Config, iss: Seq) -> Usage {
        Usage {
            idle_restart: config.sending.idle_restart,
            validation: Validation::new(config.sending.idle_restart),
            cwnd_use: config.sending.cwnd_use,
            used: Used { most: Bytes::ZERO, full: false, until: iss },
            last_sent_at: None,
        }
    }

    pub(super) fn establish(&mut self, now: Time) {
        self.validation.establish(now);
    }

    /// Whether nobody keeps account of how much of cwnd is used.
    pub(super) fn keeps_no_account(&self) -> bool {
        matches!(self.validation, Validation::No) && self.cwnd_use != CwndUse::HalfInSlowStart
    }

    #[inline]
    pub(super) fn validation(&self) -> &Validation {
        &self.validation
    }

    #[inline]
    pub(super) fn validation_mut(&mut self) -> &mut Validation {
        &mut self.validation
    }

    /// When data last left.
    #[inline]
    pub(super) fn last_sent_at(&self) -> Option<Time> {
        self.last_sent_at
    }

    /// Data leaves.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time) {
        self.last_sent_at = Some(now);
    }

    /// More could have left, had it not waited for a packet to be filled.
    pub(super) fn count_as_full(&mut self) {
        self.used.full = true;
    }

    /// So much is outstanding now that new data has left: keeps the most during a round trip, and
    /// whether that was all of cwnd.
    #[inline]
    pub(super) fn note(&mut self, queue: &SendQueue, full: impl FnOnce(Bytes) -> bool) {
        if self.cwnd_use != CwndUse::HalfInSlowStart {
            return;
        }
        let flight = queue.flight_size();
        let full = full(flight);
        let more = !self.used.full && flight > self.used.most;
        if queue.snd_una().at_or_after(self.used.until) || more || full {
            self.used = Used { most: flight, full, until: queue.snd_nxt() };
        }
    }
}

impl Sender {
    /// Something may be sent: if it is the first after an idle time, the window restarts. Probes of
    /// a closed window are nothing sent.
    #[inline]
    pub(crate) fn restart_if_idle<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let fresh = self.usage.idle_restart != IdleRestart::Off
            && self.board.is_empty()
            && !self.peer_window.is_closed()
            && self.queue.unsent() > Bytes::ZERO;
        if let Some(last) = self.usage.last_sent_at.filter(|_| fresh && self.recovery.is_open()) {
            self.restart_after(trace, trace.now.saturating_since(last));
        }
    }

    fn restart_after<S: Sink>(&mut self, trace: &mut Trace<'_, S>, idle_for: Span) {
        let rto = self.timer.rtt().rto();
        if self.usage.idle_restart == IdleRestart::Rfc7661 {
            return self.end_unvalidated_period(trace);
        }
        if idle_for <= rto {
            return;
        }
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        let restart_window = cwnd.min(self.sizes.initial_window());
        let (cwnd, ssthresh) = match self.usage.idle_restart {
            IdleRestart::Off | IdleRestart::Rfc7661 => return,
            IdleRestart::InitialWindow => (restart_window, ssthresh),
            IdleRestart::Decay | IdleRestart::Rfc2861 => {
                let part_use = self.usage.idle_restart == IdleRestart::Rfc2861;
                let (win, least) = if part_use {
                    (cwnd.min(Bytes(u64::from(self.peer_window.max()))), self.sizes.smss())
                } else {
                    (cwnd, restart_window)
                };
                let timeouts = (idle_for.as_nanos() - 1) / rto.as_nanos().max(1);
                let halved = Bytes(win.get().checked_shr(timeouts.min(63) as u32).unwrap_or(0));
                (halved.max(least), ssthresh.max(Bytes(cwnd.get() / 4 * 3)))
            }
        };
        self.restart(trace, cwnd, ssthresh);
        // It restarts once: the next idle time begins now.
        self.usage.on_sent(trace.now);
        self.usage.validation.restart_part_use(trace.now);
    }

    pub(super) fn restart<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        cwnd: Bytes,
        ssthresh: Bytes,
    ) {
        self.congestion.on_congestion(trace.now, CongestionEvent::Restart { cwnd, ssthresh });
        self.emit_window(trace, CwndReason::Idle);
    }

    /// Whether cwnd held the sender back when `flight_before` was outstanding.
    #[inline]
    pub(super) fn send_limit(&self, now: Time, flight_before: Bytes) -> SendLimit {
        // What only waits for its pace is held by cwnd too, from which the pace comes.
        let paced = self.pacer.wake_at().is_some();
        let cwnd = self.congestion.cwnd();
        let limited = match self.usage.cwnd_use {
            CwndUse::Full => flight_before + self.sizes.smss() > cwnd,
            // RFC 7661 §4.4: only what is full grows while it is not validated.
            _ if self.is_not_validated(now) => flight_before + self.sizes.smss() > cwnd,
            CwndUse::HalfInSlowStart => {
                let slow_start = cwnd < self.congestion.ssthresh();
                self.usage.used.full || (slow_start && cwnd < self.usage.used.most * 2)
            }
            CwndUse::Any => true,
        };
        if paced || limited { SendLimit::Cwnd } else { SendLimit::Other }
    }
}
