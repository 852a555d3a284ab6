//! Timers of a connection.

use super::{CloseReason, Connection};
use crate::receiver::Owed;
use crate::sender::earlier;
use crate::trace::Trace;
use ackord_events::{Event, Sink, TcpState};
use ackord_units::Time;

impl Connection {
    /// When [`Connection::handle_deadline`] has something to do. It may lie in the past; it may
    /// also pass without anything happening, if the timer was moved meanwhile.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let owed = match self.receiver.owed {
            Owed::By(at) => Some(at),
            Owed::Nothing | Owed::Now => None,
        };
        earlier(earlier(self.sender.deadline(), owed), self.time_wait_until)
    }

    /// Lets the timers that are due at `now` act. Then poll for segments.
    pub fn handle_deadline<S: Sink>(&mut self, now: Time, sink: &mut S) {
        let trace = &mut Trace::new(now, self.id, sink);
        if self.time_wait_until.is_some_and(|at| at <= now) {
            self.enter(trace, TcpState::Closed);
        }
        if self.sender.detector_at.is_some_and(|at| at <= now) {
            self.sender.on_detector_timer(trace);
        }
        // A probe that is due with the retransmission timer goes before it (RFC 8985 §7.2).
        if self.sender.probe_at().is_some_and(|at| at <= now) {
            self.sender.on_probe_timer(now);
        }
        if self.sender.rto_at.is_some_and(|at| at <= now) {
            self.on_retransmission_timer(trace);
        }
        if self.sender.persist.at.is_some_and(|at| at <= now) {
            self.sender.on_persist();
        }
        self.sender.pacer.on_deadline(now);
        // An acknowledgment that is due leaves with the next poll.
    }

    fn on_retransmission_timer<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if let Some(at) = self.sender.rto_waits_until(trace.now) {
            self.sender.rto_at = Some(at);
            return;
        }
        self.stats.timeouts += 1;
        if self.sender.timeouts_in_row >= self.retransmissions_allowed() {
            self.urgent_reply = Some(self.reset_segment());
            self.fail(trace, CloseReason::TimedOut);
            return;
        }
        if matches!(self.state, TcpState::SynSent | TcpState::SynReceived) {
            self.syn.pending = true;
            self.sender.timeouts_in_row += 1;
            let linear = self.state == TcpState::SynSent
                && self.sender.timeouts_in_row <= self.config.syn_linear_timeouts;
            if !linear {
                self.sender.rtt.back_off();
            }
            let next_rto = self.sender.rtt.rto();
            self.sender.rto_at = Some(trace.now + next_rto);
            let consecutive = self.sender.timeouts_in_row;
            trace.emit(|endpoint| Event::RetransmissionTimeout { endpoint, next_rto, consecutive });
            return;
        }
        self.sender.on_rto(trace);
    }

    /// R2 of what is being sent (RFC 9293 §3.8.3).
    fn retransmissions_allowed(&self) -> u32 {
        let handshake = match self.state {
            TcpState::SynSent => self.config.syn_retransmissions,
            TcpState::SynReceived => self.config.syn_ack_retransmissions,
            _ => None,
        };
        handshake.unwrap_or(self.config.max_retransmissions)
    }
}
