//! The persist timer: the probing of a closed window (RFC 9293 §3.8.6.1).

use crate::config::ClosedWindow;
use ackord_units::{Span, Time};

/// The longest time between two probes.
const MAX_INTERVAL: Span = Span::from_secs(60);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Persist {
    closed_window: ClosedWindow,
    /// When the next probe is due.
    at: Option<Time>,
    /// A probe may leave now.
    due: bool,
    /// A byte beyond snd_nxt is on its way as a probe.
    byte_out: bool,
    probes: u32,
    /// Expiries of the timer since anything came from the peer.
    unanswered: u32,
    /// When the first of those was.
    unanswered_since: Time,
}

impl Persist {
    pub(super) fn new(closed_window: ClosedWindow) -> Persist {
        Persist {
            closed_window,
            at: None,
            due: false,
            byte_out: false,
            probes: 0,
            unanswered: 0,
            unanswered_since: Time::ZERO,
        }
    }

    /// When the next probe is due.
    #[inline]
    pub(crate) fn at(&self) -> Option<Time> {
        self.at
    }

    /// Probes since the window closed.
    pub(crate) fn probes(&self) -> u32 {
        self.probes
    }

    /// Whether a byte beyond snd_nxt is on its way as a probe.
    #[inline]
    pub(crate) fn byte_out(&self) -> bool {
        self.byte_out
    }

    /// Whether the retransmission timer watches over what is outstanding while the window is closed.
    pub(super) fn leaves_it_to_rto(&self) -> bool {
        self.closed_window == ClosedWindow::Timeout
    }

    /// How many probes nobody has answered, and for how long: the silence before the first is nobody's
    /// fault.
    pub(super) fn silence(&mut self, now: Time) -> (u32, Span) {
        if self.unanswered == 0 {
            self.unanswered_since = now;
        }
        (self.unanswered, now.saturating_since(self.unanswered_since))
    }

    /// Anything came from the peer.
    #[inline]
    pub(super) fn on_answer(&mut self) {
        self.unanswered = 0;
    }

    /// The timer expired: a probe may leave.
    pub(super) fn on_expiry(&mut self) {
        self.at = None;
        self.due = true;
        self.probes += 1;
        self.unanswered += 1;
    }

    /// Whether a probe may leave, which it does now.
    pub(super) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }

    /// Starts the timer unless it runs.
    pub(super) fn arm(&mut self, at: impl FnOnce(&Persist) -> Time) {
        if self.at.is_none() {
            self.at = Some(at(self));
        }
    }

    /// What fits into the window leaves after all: it is no probe, and the next one does not wait
    /// longer.
    pub(super) fn on_override(&mut self) {
        self.probes = 0;
    }

    /// A probe leaves, with a new byte or without; the next one is due at `next`.
    pub(super) fn on_probe_sent(&mut self, next: Time, with_byte: bool) {
        (self.at, self.byte_out) = (Some(next), with_byte);
    }

    /// The byte of a probe was accepted.
    pub(super) fn on_byte_accepted(&mut self) {
        self.byte_out = false;
    }

    /// The window has opened.
    pub(super) fn on_opened(&mut self) {
        (self.at, self.due, self.probes) = (None, false, 0);
    }

    /// New data has left: the byte of an earlier probe is part of it, and no longer beyond what was
    /// sent.
    #[inline]
    pub(super) fn on_data_sent(&mut self) {
        (self.at, self.due, self.byte_out) = (None, false, false);
    }

    pub(super) fn stop(&mut self) {
        self.at = None;
    }

    /// Nothing waits for the window any more.
    pub(super) fn reset(&mut self) {
        *self = Persist::new(self.closed_window);
    }

    /// RFC 9293 §3.8.6.1: the first probe after one RTO, then doubling.
    pub(super) fn interval(&self, rto: Span) -> Span {
        rto.saturating_mul(1 << self.probes.min(16)).min(MAX_INTERVAL)
    }
}

/// RFC 9293 §3.8.6.2.1 (4): how long a window too small to be worth a segment is waited for, a tenth
/// of a second to a second.
pub(super) fn override_timeout(rto: Span) -> Span {
    rto.clamp(Span::from_millis(100), Span::from_secs(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn probes_come_at_doubled_intervals_of_a_minute_at_most() {
        let mut persist = Persist::new(ClosedWindow::Probe);
        let rto = Span::from_secs(1);
        let mut intervals = Vec::new();
        for _ in 0..7 {
            intervals.push(persist.interval(rto).as_nanos() / 1_000_000_000);
            persist.on_expiry();
            assert!(persist.take_due() && !persist.take_due());
        }
        assert_eq!(intervals, [1, 2, 4, 8, 16, 32, 60]);
        persist.on_opened();
        assert_eq!(persist.interval(rto), rto);
    }

    #[test]
    fn the_silence_begins_with_the_first_probe_that_nobody_answers() {
        let mut persist = Persist::new(ClosedWindow::Probe);
        assert_eq!(persist.silence(ms(500)), (0, Span::ZERO));
        persist.on_expiry();
        assert_eq!(persist.silence(ms(800)), (1, Span::from_millis(300)));
        persist.on_answer();
        assert_eq!(persist.silence(ms(900)), (0, Span::ZERO));
    }
}
