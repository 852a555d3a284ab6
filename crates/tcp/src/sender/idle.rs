//! What a sender does with a window it has not used: restart after an idle time (RFC 5681 §4.1,
//! RFC 2861), and when a window counts as used at all.
//!
//! Not modelled: RFC 2861 §3 also shrinks the window of a sender that sends less than it may for a
//! whole timeout without ever being idle; applications that trickle data keep theirs.

use super::{Phase, Sender};
use crate::congestion::{CongestionEvent, SendLimit};
use crate::trace::Trace;
use crate::words::worded;
use ackord_events::{CwndReason, Sink};
use ackord_units::{Bytes, Seq, Span};

/// What becomes of cwnd when nothing was sent for longer than a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// It stays.
    Off,
    /// It becomes the initial window, or stays if that is less (RFC 5681 §4.1).
    InitialWindow,
    /// It is halved for each timeout that passed, down to the initial window, and ssthresh
    /// remembers three quarters of it (RFC 2861 §3).
    Decay,
}

worded!(IdleRestart { "off" => Off, "initial-window" => InitialWindow, "decay" => Decay });

/// When cwnd may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CwndUse {
    /// While less than one segment more would fit (RFC 9293 §3.8.2, RFC 7661 §3).
    Full,
    /// While it was full at some time during the round trip, and in slow start while it is less
    /// than twice what was in use at most: what will be needed a round trip later is there then.
    HalfInSlowStart,
    /// Always: nobody asks how much of it is in use (RFC 5681 §3.1 by itself).
    Any,
}

worded!(CwndUse { "full" => Full, "half-in-slow-start" => HalfInSlowStart, "any" => Any });

/// How much of cwnd was in use, as far as [`CwndUse::HalfInSlowStart`] asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    /// The most that was outstanding in this round trip.
    pub(super) most: Bytes,
    pub(super) extent: Extent,
    /// Where the round trip ends.
    pub(super) until: Seq,
}

/// Whether all of cwnd was in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Full,
    Part,
}

impl Sender {
    /// Something may be sent: if it is the first after an idle time, the window restarts.
    #[inline]
    pub(crate) fn restart_if_idle<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let fresh = self.idle_restart != IdleRestart::Off
            && self.board.is_empty()
            && self.written > self.nxt_offset;
        if let Some(last) = self.last_sent_at.filter(|_| fresh && self.phase == Phase::Open) {
            self.restart_after(trace, trace.now.saturating_since(last));
        }
    }

    fn restart_after<S: Sink>(&mut self, trace: &mut Trace<'_, S>, idle_for: Span) {
        let rto = self.rtt.rto();
        if idle_for <= rto {
            return;
        }
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        let restart_window = cwnd.min(self.initial_window());
        let (cwnd, ssthresh) = match self.idle_restart {
            IdleRestart::Off => return,
            IdleRestart::InitialWindow => (restart_window, ssthresh),
            IdleRestart::Decay => {
                let timeouts = (idle_for.as_nanos() - 1) / rto.as_nanos().max(1);
                let halved = Bytes(cwnd.get().checked_shr(timeouts.min(63) as u32).unwrap_or(0));
                (halved.max(restart_window), ssthresh.max(Bytes(cwnd.get() / 4 * 3)))
            }
        };
        self.congestion.on_congestion(trace.now, CongestionEvent::Restart { cwnd, ssthresh });
        // It restarts once: the next idle time begins now.
        self.last_sent_at = Some(trace.now);
        self.tell_window(trace, CwndReason::Idle);
    }

    /// Whether cwnd held the sender back when `flight_before` was outstanding.
    #[inline]
    pub(super) fn send_limit(&self, flight_before: Bytes) -> SendLimit {
        // What only waits for its pace is held by cwnd too, from which the pace comes.
        let paced = self.pacer.wake_at.is_some();
        let cwnd = self.congestion.cwnd();
        let limited = match self.cwnd_use {
            CwndUse::Full => flight_before + self.smss > cwnd,
            CwndUse::HalfInSlowStart => {
                let slow_start = cwnd < self.congestion.ssthresh();
                self.used.extent == Extent::Full || (slow_start && cwnd < self.used.most * 2)
            }
            CwndUse::Any => true,
        };
        if paced || limited { SendLimit::Cwnd } else { SendLimit::Other }
    }

    /// New data has left: keeps the most that was outstanding during a round trip, and whether that
    /// was all of cwnd.
    pub(super) fn note_use(&mut self) {
        let flight = self.flight_size();
        let extent =
            if flight + self.smss > self.congestion.cwnd() { Extent::Full } else { Extent::Part };
        let more = self.used.extent == Extent::Part && flight > self.used.most;
        let next_round = self.snd_una.at_or_after(self.used.until);
        if next_round || more || extent == Extent::Full {
            self.used = Used { most: flight, extent, until: self.snd_nxt };
        }
    }
}
