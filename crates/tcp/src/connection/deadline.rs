//! Timers of a connection, and when it is given up: R1, R2 and the user timeout (RFC 9293 §3.8.3).

use super::{CloseReason, Connection, PendingControl, reset};
use crate::config::{ClosedWindow, GiveUp};
use crate::receiver::Owed;
use crate::sender::earlier;
use crate::trace::Trace;
use ackord_events::{Event, Sink, TcpState};
use ackord_units::{Seq, Time};

/// What has been waiting for an acknowledgment since the timer first expired for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnacknowledgedSince {
    /// The oldest byte.
    una: Seq,
    /// When it was sent.
    since: Time,
}

impl Connection {
    /// When [`Connection::handle_deadline`] has something to do. It may lie in the past; it may
    /// also pass without anything happening, if the timer was moved meanwhile.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let owed = match self.receiver.owed {
            Owed::By(at) => Some(at),
            Owed::Nothing | Owed::Now | Owed::BeforeAnswers => None,
        };
        earlier(earlier(self.sender.deadline(), owed), self.timers.next())
    }

    /// Lets the timers that are due at `now` act. Then poll for segments.
    pub fn handle_deadline<S: Sink>(&mut self, now: Time, sink: &mut S) {
        let trace = &mut Trace::new(now, self.id, sink);
        if self.timers.next().is_some_and(|at| at <= now) {
            self.on_connection_timer(trace);
        }
        if self.sender.detector_at().is_some_and(|at| at <= now) {
            self.sender.on_detector_timer(trace);
        }
        // A probe that is due with the retransmission timer goes before it (RFC 8985 §7.2).
        if self.sender.probe_at().is_some_and(|at| at <= now) {
            self.sender.on_probe_timer(now);
        }
        if self.sender.timer().at().is_some_and(|at| at <= now) {
            self.on_retransmission_timer(trace);
        }
        if self.sender.persist().at().is_some_and(|at| at <= now) {
            self.on_persist_timer(trace);
        }
        self.sender.on_pacing_timer(now);
        // An acknowledgment that is due leaves with the next poll.
    }

    fn on_connection_timer<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.timers.state_has_ended(trace.now) {
            match self.state {
                TcpState::TimeWait => self.enter(trace, TcpState::Closed),
                _ => self.fail(trace, CloseReason::TimedOut),
            }
            return;
        }
        if self.timers.keepalive_is_due(trace.now) {
            self.on_keepalive_timer(trace);
        }
    }

    fn on_retransmission_timer<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.sender.puts_rto_off(trace.now) {
            return;
        }
        self.stats.timeouts += 1;
        let since = self.unacknowledged_since(trace.now);
        let user_limit = self.config.retries.user_timeout.map(|timeout| since + timeout);
        if self.sender.timer().timeouts_in_row() >= self.retransmissions_allowed()
            || user_limit.is_some_and(|at| at <= trace.now)
            || self.closed_window_is_silent(trace.now, since)
        {
            return self.give_up(trace);
        }
        let before = self.sender.timer().timeouts_in_row();
        match self.state {
            TcpState::SynSent | TcpState::SynReceived => self.on_syn_timeout(trace),
            _ => self.sender.on_rto(trace),
        }
        // The user's limit is not missed for want of a timer.
        self.sender.bound_rto(user_limit);
        let consecutive = self.sender.timer().timeouts_in_row();
        // Into a closed window an expiry may not count: then R1 is not reached anew.
        if consecutive > before && consecutive == self.config.retries.r1 {
            self.stats.delivery_troubles += 1;
            trace.emit(|endpoint| Event::R1Reached { endpoint, consecutive });
        }
    }

    fn on_syn_timeout<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        self.syn.pending = true;
        self.syn.repeats += 1;
        let opening = self.state == TcpState::SynSent;
        let linear_timeouts = if opening { self.config.retries.syn_linear } else { 0 };
        self.sender.on_syn_timeout(trace.now, linear_timeouts);
        let timer = self.sender.timer();
        let (next_rto, consecutive) = (timer.rtt().rto(), timer.timeouts_in_row());
        trace.emit(|endpoint| Event::RetransmissionTimeout { endpoint, next_rto, consecutive });
    }

    /// RFC 9293 §3.8.6.1: a closed window is probed for as long as the probes are answered. Those
    /// that nobody answers count as retransmissions do.
    fn on_persist_timer<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let (unanswered, silent_for) = self.sender.probe_silence(trace.now);
        let user_limit =
            self.config.retries.user_timeout.is_some_and(|timeout| silent_for >= timeout);
        if unanswered >= self.config.retries.max || (unanswered > 0 && user_limit) {
            return self.give_up(trace);
        }
        self.sender.on_persist();
    }

    /// When the oldest byte was first sent, as far as the first timeout can tell.
    fn unacknowledged_since(&mut self, now: Time) -> Time {
        let una = self.sender.queue().snd_una();
        if let Some(stuck) = self.unacknowledged.filter(|stuck| stuck.una == una) {
            return stuck.since;
        }
        let sent_at = match self.state {
            TcpState::SynSent | TcpState::SynReceived => self.syn.sent_at,
            _ => self.sender.board().oldest().map(|oldest| oldest.sent_at),
        };
        let since = sent_at.unwrap_or(now);
        self.unacknowledged = Some(UnacknowledgedSince { una, since });
        since
    }

    /// With a closed window that the retransmission timer watches over, as in Linux, expiries do
    /// not count: what does is that nothing at all has come for twice the longest timeout.
    fn closed_window_is_silent(&self, now: Time, since: Time) -> bool {
        let patience = self.config.rto.max * 2;
        self.config.sending.closed_window == ClosedWindow::Timeout
            && self.sender.peer_window().is_closed()
            && self.state != TcpState::SynSent
            && self.state != TcpState::SynReceived
            && now.saturating_since(self.keepalive.since) > patience
            && now.saturating_since(since) > patience
    }

    fn give_up<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        // A peer that has not answered the SYN knows of no connection.
        let known = reset::peer_is_to_be_told(self.state) && self.state != TcpState::SynReceived;
        if known && self.config.retries.give_up == GiveUp::Reset {
            self.pending_control = Some(PendingControl::Reset);
        }
        self.fail(trace, CloseReason::TimedOut);
    }

    /// R2 of what is being sent (RFC 9293 §3.8.3).
    fn retransmissions_allowed(&self) -> u32 {
        let handshake = match self.state {
            TcpState::SynSent => self.config.retries.syn,
            TcpState::SynReceived => self.config.retries.syn_ack,
            _ => None,
        };
        handshake.unwrap_or(self.config.retries.max)
    }
}
