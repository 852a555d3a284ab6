//! Keepalive (RFC 9293 §3.8.4): a peer that is silent for long is asked whether it is still there.
//!
//! Off by default, as the RFC asks. A probe is a segment without data whose sequence number is one
//! below SND.NXT: every peer finds it unacceptable and answers with an acknowledgment.
//! Not modelled: the probe with a byte of garbage that some old stacks need (MAY in the RFC).

use super::{CloseReason, Connection, PendingControl};
use crate::config::Keepalive;
use crate::trace::Trace;
use ackord_events::{Sink, TcpState};
use ackord_units::{Span, Time};

/// What is known of the peer's silence.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepaliveState {
    /// When the last acknowledgment or data came.
    pub(super) since: Time,
    /// Probes that have left, and when the last of them did.
    probes_out: u32,
    last_probe_at: Time,
}

impl KeepaliveState {
    pub(super) fn new() -> KeepaliveState {
        KeepaliveState { since: Time::ZERO, probes_out: 0, last_probe_at: Time::ZERO }
    }

    /// Probes that nothing has answered.
    fn unanswered(&self) -> u32 {
        if self.since >= self.last_probe_at { 0 } else { self.probes_out }
    }
}

impl Connection {
    /// The connection is established: from here on silence counts.
    pub(super) fn begin_watch(&mut self, now: Time) {
        self.keepalive.since = now;
        if self.config.keepalive.wanted {
            self.timers.arm_keepalive(Some(now + self.config.keepalive.idle));
        }
    }

    pub(super) fn on_keepalive_timer<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        let Keepalive { idle, interval, probes, .. } = self.config.keepalive;
        let now = trace.now;
        let silent_for = now.saturating_since(self.keepalive.since);
        if self.sender.has_anything_unacknowledged() {
            // The retransmission timer, or the persist timer, asks already (MUST-26).
            return self.timers.arm_keepalive(Some(now + idle));
        }
        if silent_for < idle {
            return self.timers.arm_keepalive(Some(self.keepalive.since + idle));
        }
        let unanswered = self.keepalive.unanswered();
        let dead = match self.config.retries.user_timeout {
            Some(limit) => unanswered > 0 && silent_for >= limit,
            None => unanswered >= probes,
        };
        if dead {
            self.pending_control = Some(PendingControl::Reset);
            return self.fail(trace, CloseReason::TimedOut);
        }
        self.keepalive.probes_out = unanswered + 1;
        self.keepalive.last_probe_at = now;
        self.stats.keepalive_probes += 1;
        self.pending_control = Some(PendingControl::KeepaliveProbe);
        let next = match self.config.retries.user_timeout {
            Some(limit) => (now + interval).min((self.keepalive.since + limit).max(now + SHORTEST)),
            None => now + interval,
        };
        self.timers.arm_keepalive(Some(next));
    }

    /// Whether the state is one in which a peer may be silent.
    pub(super) fn watches_peer(state: TcpState) -> bool {
        use TcpState::*;
        matches!(state, Established | CloseWait | FinWait1 | FinWait2)
    }
}

/// Two looks at a peer are at least so far apart, however short the user timeout is.
const SHORTEST: Span = Span::from_millis(1);
