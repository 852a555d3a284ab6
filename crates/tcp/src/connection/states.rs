//! The one place where the state changes, and what comes with it.

use super::{CloseReason, Connection, Reader};
use crate::receiver::Owed;
use crate::trace::Trace;
use ackord_events::{Event, Sink, TcpState};

impl Connection {
    /// The one place where the state changes.
    pub(super) fn enter<S: Sink>(&mut self, trace: &mut Trace<'_, S>, to: TcpState) {
        let from = self.state;
        assert!(legal(from, to), "no way leads from {from:?} to {to:?}");
        self.state = to;
        trace.emit(|endpoint| Event::StateChanged { endpoint, from, to });
        match to {
            TcpState::Established => self.begin_watch(trace.now),
            TcpState::FinWait2 => self.limit_fin_wait_2(trace.now),
            TcpState::TimeWait => {
                self.timers.stop();
                self.timers.end_state(Some(trace.now + self.config.closing.time_wait));
                self.sender.stop_timers();
                self.close_reason.get_or_insert(CloseReason::Orderly);
            }
            TcpState::Closed => self.stop_timers(),
            _ => {}
        }
        if !Connection::watches_peer(to) {
            self.timers.arm_keepalive(None);
        }
    }

    /// Closes without a moment to tell of: the next poll tells.
    pub(super) fn close_untold(&mut self, reason: CloseReason) {
        if self.state != TcpState::Closed {
            self.pending_state.get_or_insert(self.state);
            self.state = TcpState::Closed;
            self.stop_timers();
            self.close_reason.get_or_insert(reason);
        }
    }

    /// Tells of a change of state that nobody has been told of yet.
    pub(super) fn tell_untold<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if let Some(from) = self.pending_state.take() {
            let to = self.state;
            trace.emit(|endpoint| Event::StateChanged { endpoint, from, to });
        }
    }

    /// Nobody reads any more: a peer that never closes is not waited for without end.
    pub(super) fn limit_fin_wait_2(&mut self, now: ackord_units::Time) {
        if self.reader == Reader::Gone
            && self.state == TcpState::FinWait2
            && let Some(timeout) = self.config.closing.fin_wait_2_timeout
        {
            self.timers.end_state(Some(now + timeout));
        }
    }

    /// Nothing is left to wait for: a deadline that nobody acts on would stand for ever.
    pub(super) fn stop_timers(&mut self) {
        self.sender.stop_timers();
        self.receiver.owed = Owed::Nothing;
        self.timers.stop();
    }

    pub(super) fn fail<S: Sink>(&mut self, trace: &mut Trace<'_, S>, reason: CloseReason) {
        self.close_reason = Some(reason);
        self.enter(trace, TcpState::Closed);
    }
}

/// The arrows of RFC 9293 Figure 5, with the abortive ones that lead to CLOSED from anywhere.
fn legal(from: TcpState, to: TcpState) -> bool {
    use TcpState::*;
    matches!(
        (from, to),
        (Listen, SynReceived | SynSent)
            | (SynSent, SynReceived | Established)
            | (SynReceived, Listen | Established | FinWait1 | CloseWait)
            | (Established, FinWait1 | CloseWait)
            | (FinWait1, FinWait2 | Closing | TimeWait)
            | (FinWait2, TimeWait)
            | (Closing, TimeWait)
            | (CloseWait, LastAck)
            | (_, Closed)
    )
}
