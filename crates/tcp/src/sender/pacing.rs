//! Pacing: data leaves no faster than the control asks, or than the window divided by the
//! round-trip time.
//!
//! After each segment the next may leave when that one has passed at the pacing rate
//! (draft-ietf-ccwg-bbr-06 §5.6.2). The send quantum is one segment: nothing here is offloaded, and
//! the draft asks for the smallest feasible. A driver that comes late catches up by at most
//! [`CATCH_UP`]; a pause saves nothing up.
//! Acknowledgments without data and probes of a closed window are not paced.

use super::Sender;
use crate::config::Pacing;
use ackord_units::{Bytes, Rate, Span, Time};

/// How much of a late wake-up may be made up for; the aggregate of draft-ietf-ccwg-bbr-06 §5.6.3.
const CATCH_UP: Span = Span::from_millis(1);

/// Percent of cwnd/SRTT in slow start and beyond: Linux's tcp_pacing_ss_ratio and
/// tcp_pacing_ca_ratio (its ip-sysctl documentation).
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    choice: Pacing,
    /// Whether this connection paces, known once it is established.
    active: bool,
    next_at: Time,
    /// Something waits for `next_at`.
    wake_at: Option<Time>,
    /// The last `next_at` for which something had to wait.
    waited_for: Option<Time>,
}

impl Pacer {
    pub(crate) fn new(choice: Pacing) -> Pacer {
        Pacer { choice, active: false, next_at: Time::ZERO, wake_at: None, waited_for: None }
    }

    /// When what waits may leave.
    #[inline]
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.wake_at
    }

    pub(super) fn stop(&mut self) {
        self.wake_at = None;
    }

    /// The handshake is complete.
    pub(crate) fn establish(&mut self, control_may_pace: bool) {
        self.active = match self.choice {
            Pacing::Auto => control_may_pace,
            Pacing::Off => false,
            Pacing::On => true,
        };
    }

    /// Starts anew at `now` with a control that may ask for a rate: what was held for the old rate's sake may leave.
    pub(crate) fn start_over(&mut self, now: Time) {
        self.active = self.choice != Pacing::Off;
        self.next_at = self.next_at.min(now);
        (self.wake_at, self.waited_for) = (None, None);
    }

    /// Whether anything of this connection may be paced.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Whether all data of this connection is paced, whatever the control says.
    pub(crate) fn is_on(&self) -> bool {
        self.choice == Pacing::On
    }

    /// Whether data has to wait at `now`; it is then waited for.
    #[inline]
    pub(crate) fn holds(&mut self, now: Time) -> bool {
        let holds = self.next_at > now;
        if holds {
            self.wake_at = Some(self.next_at);
            self.waited_for = Some(self.next_at);
        }
        holds
    }

    /// The time waited for has come.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        self.wake_at = self.wake_at.filter(|&at| at > now);
    }
}

impl Sender {
    /// `bytes` left at `now`.
    #[inline]
    pub(super) fn pace(&mut self, now: Time, bytes: Bytes) {
        if self.pacer.active {
            self.hold_the_next(now, bytes);
        }
    }

    #[cold]
    fn hold_the_next(&mut self, now: Time, bytes: Bytes) {
        if let Some(rate) = self.pacing_rate().filter(|rate| rate.as_bits_per_sec() > 0) {
            let late_for = now.saturating_since(self.pacer.next_at).min(CATCH_UP);
            // A segment that nothing held up is not late: a pause saves nothing up.
            let waited = self.pacer.waited_for == Some(self.pacer.next_at);
            let made_up_for = if waited { late_for } else { Span::ZERO };
            self.pacer.next_at = now - made_up_for + rate.time_for(bytes);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let own = self.congestion.pacing_rate();
        if !self.pacer.is_on() {
            return own;
        }
        own.or_else(|| {
            let percent = if self.congestion.cwnd() < self.congestion.ssthresh() {
                SLOW_START_PERCENT
            } else {
                AVOIDANCE_PERCENT
            };
            let rate = self.congestion.cwnd().over(self.timer.rtt().srtt()?).as_bits_per_sec();
            Some(Rate::from_bits_per_sec(rate.saturating_mul(percent) / 100))
        })
    }
}
