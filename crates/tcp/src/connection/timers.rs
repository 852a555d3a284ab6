//! The timers that hardly ever expire: the end of TIME-WAIT, of a FIN-WAIT-2 that nobody waits for
//! any more, and keepalive.
//!
//! They share one slot in [`Connection::deadline`](super::Connection::deadline), so that asking
//! costs the same whatever is configured.

use crate::sender::earlier;
use ackord_units::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConnectionTimers {
    /// When the state ends by itself.
    state_ends_at: Option<Time>,
    /// When a silent peer is to be looked at.
    keepalive_at: Option<Time>,
    /// The earlier of them.
    next: Option<Time>,
}

impl ConnectionTimers {
    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        self.next
    }

    pub(super) fn state_ends_at(&self) -> Option<Time> {
        self.state_ends_at
    }

    pub(super) fn state_has_ended(&self, now: Time) -> bool {
        self.state_ends_at.is_some_and(|at| at <= now)
    }

    pub(super) fn keepalive_is_due(&self, now: Time) -> bool {
        self.keepalive_at.is_some_and(|at| at <= now)
    }

    pub(super) fn end_state(&mut self, at: Option<Time>) {
        self.state_ends_at = at;
        self.next = earlier(at, self.keepalive_at);
    }

    pub(super) fn arm_keepalive(&mut self, at: Option<Time>) {
        self.keepalive_at = at;
        self.next = earlier(self.state_ends_at, at);
    }

    pub(super) fn stop(&mut self) {
        *self = ConnectionTimers::default();
    }
}
