//! The retransmission timer (RFC 6298): the estimate it is set by, what is timed for that, and how
//! often it has expired in a row.

use super::sent::Acked;
use super::timer_wheel::TimerWheel;
use crate::config::Config;
use crate::rtt::{RttEstimator, Sampling, Window};
use ackord_units::{Seq, Span, Time};

/// A segment whose round trip is being timed.
#[derive(Clone, Copy, Debug)]
struct Timed {
    /// The byte after its last.
    end: Seq,
    sent_at: Time,
}

/// What a spurious timeout leaves to be done (RFC 4015 §3 step 11).
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// Samples of data beyond this count.
    after: Seq,
    /// SRTT_prev and RTTVAR_prev.
    srtt: Span,
    rttvar: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct RetransmissionTimer {
    rtt: RttEstimator,
    /// When it expires, if it runs.
    at: Option<Time>,
    /// The segment whose round trip is being timed, where one is at a time.
    timed: Option<Timed>,
    /// A spurious timeout that the estimate has yet to learn from.
    conservative: Option<Conservative>,
    timeouts_in_row: u32,
    /// By which this timer and the sender's others expire.
    wheel: TimerWheel,
}

impl RetransmissionTimer {
    pub(super) fn new(config: &Config) -> RetransmissionTimer {
        RetransmissionTimer {
            rtt: RttEstimator::new(config.rto),
            at: None,
            timed: None,
            conservative: None,
            timeouts_in_row: 0,
            wheel: TimerWheel::new(config.timer_tick),
        }
    }

    #[inline]
    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// When it expires, if it runs.
    #[inline]
    pub(crate) fn at(&self) -> Option<Time> {
        self.at
    }

    /// Expiries since anything new was acknowledged.
    #[inline]
    pub(crate) fn timeouts_in_row(&self) -> u32 {
        self.timeouts_in_row
    }

    /// When any timer of the sender expires that is set now for a time `after` it.
    #[inline]
    pub(super) fn expires_at(&self, now: Time, after: Span) -> Time {
        self.wheel.expires_at(now, after)
    }

    #[inline(always)]
    pub(super) fn start(&mut self, now: Time) {
        self.at = Some(self.expires_at(now, self.rtt.rto()));
    }

    /// Stops it; true if it ran.
    #[inline]
    pub(super) fn stop(&mut self) -> bool {
        self.at.take().is_some()
    }

    /// It expires then, whatever the estimate says.
    pub(super) fn set(&mut self, at: Option<Time>) {
        self.at = at;
    }

    /// It expires by `limit`, if it runs and there is one.
    pub(super) fn bound(&mut self, limit: Option<Time>) {
        if self.at.is_some() {
            self.at = super::earlier(self.at, limit);
        }
    }

    /// The SYN's timer expired; each of the first ones in a row may leave the timeout as it is.
    pub(super) fn on_syn_timeout(&mut self, linear_timeouts: u32) {
        self.timeouts_in_row += 1;
        if self.timeouts_in_row > linear_timeouts {
            self.rtt.back_off();
        }
    }

    /// Our SYN is acknowledged: it took `rtt`, where that can be told, and was lost before or not.
    pub(super) fn on_syn_acked(&mut self, rtt: Option<Span>, lost: bool, window: Window) {
        if let Some(rtt) = rtt {
            self.rtt.on_sample(rtt, window);
        }
        if lost {
            self.rtt.begin_after_lost_syn();
        }
        self.timeouts_in_row = 0;
        self.at = None;
    }

    /// The handshake is taken back.
    pub(super) fn start_over(&mut self, config: &Config) {
        self.rtt = RttEstimator::new(config.rto);
        self.at = None;
        self.timeouts_in_row = 0;
    }

    /// It expired. One that probes a closed window may not count.
    pub(super) fn on_timeout(&mut self, counts: bool) {
        self.timeouts_in_row += u32::from(counts);
        self.rtt.back_off();
        self.timed = None;
    }

    /// New data was acknowledged.
    #[inline]
    pub(super) fn on_advance(&mut self) {
        self.timeouts_in_row = 0;
    }

    /// The segment that is being timed is no sample any more.
    pub(super) fn forget_timed(&mut self) {
        self.timed = None;
    }

    /// A new segment that ends at `end` has left.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, end: Seq) {
        if self.rtt.sampling() == Sampling::OneAtATime {
            self.timed.get_or_insert(Timed { end, sent_at: now });
        }
    }

    /// RFC 6298 §4 and Karn's rule: takes a sample by the sender's own clock, or else by timestamps.
    #[inline(always)]
    pub(super) fn sample(
        &mut self,
        now: Time,
        acked: &Acked,
        by_timestamps: impl FnOnce() -> Option<Span>,
        window: Window,
    ) -> Option<Span> {
        let rtt = match self.rtt.sampling() {
            Sampling::EveryAck => match acked.earliest_sent_at.filter(|_| !acked.ambiguous) {
                Some(sent_at) => Some(now - sent_at),
                None => by_timestamps(),
            },
            Sampling::OneAtATime => self.end_timing(now, window.snd_una),
        }?;
        match self.conservative.take_if(|pending| window.snd_una.after(pending.after)) {
            None => self.rtt.on_sample(rtt, window),
            Some(previous) => self.rtt.on_late_sample(rtt, previous.srtt, previous.rttvar, window),
        }
        Some(rtt)
    }

    /// The ticks between the timed segment and its acknowledgment, if that has come. A recovery ends
    /// the timing of a segment without a sample.
    fn end_timing(&mut self, now: Time, snd_una: Seq) -> Option<Span> {
        let timed = self.timed.filter(|timed| snd_una.at_or_after(timed.end))?;
        self.timed = None;
        let tick = self.rtt.granularity().as_nanos();
        let ticks = now.as_nanos() / tick - timed.sent_at.as_nanos() / tick;
        Some(Span::from_nanos(ticks.max(1) * tick))
    }

    /// RFC 4015 §3 step 11: the estimate waits for a sample of data beyond `after`, which was not
    /// sent when the timer expired too soon; `previous` are SRTT and RTTVAR of before.
    pub(super) fn be_more_conservative(&mut self, after: Seq, previous: Option<(Span, Span)>) {
        let granularity = self.rtt.granularity();
        self.conservative = previous.map(|(srtt, rttvar)| Conservative {
            after,
            srtt: srtt + granularity * 2,
            rttvar,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn expiries_count_until_something_new_is_acknowledged_and_double_the_timeout() {
        let mut timer = RetransmissionTimer::new(&Config::default());
        let first = timer.rtt().rto();
        timer.on_timeout(true);
        timer.on_timeout(false);
        assert_eq!((timer.timeouts_in_row(), timer.rtt().rto()), (1, first * 4));
        timer.on_advance();
        assert_eq!((timer.timeouts_in_row(), timer.rtt().rto()), (0, first * 4));
    }

    #[test]
    fn a_bound_shortens_a_timer_that_runs_and_starts_none() {
        let mut timer = RetransmissionTimer::new(&Config::default());
        timer.bound(Some(ms(1)));
        assert_eq!(timer.at(), None);
        timer.start(ms(0));
        timer.bound(Some(ms(1)));
        assert_eq!(timer.at(), Some(ms(1)));
        assert!(timer.stop() && !timer.stop());
    }
}
