//! What an application may change while a connection lives, as `setsockopt` lets it.

use super::Connection;
use crate::config::Keepalive;
use crate::congestion::Steering;
use crate::nagle::Nagle;
use crate::receiver::Owed;
use crate::trace::Trace;
use ackord_events::Sink;
use ackord_units::{Bytes, Span, Time};

impl Connection {
    /// Another rule for small segments (TCP_NODELAY). Poll for segments afterwards: one that waited
    /// may leave now.
    pub fn set_nagle(&mut self, nagle: Box<dyn Nagle>) {
        self.sender.set_nagle(nagle);
    }

    /// An acknowledgment that waits leaves with the next poll (TCP_QUICKACK).
    pub fn acknowledge_now(&mut self) {
        if let Owed::By(_) = self.receiver.owed {
            self.receiver.owed = Owed::Now;
        }
    }

    /// Replaces the congestion control: these windows hold from `now` on, until they are set anew, whatever is
    /// acknowledged or lost. Poll for segments afterwards.
    pub fn steer<S: Sink>(&mut self, now: Time, steering: Steering, sink: &mut S) {
        let mut trace = Trace::new(now, self.id, sink);
        self.sender.steer(&mut trace, steering);
    }

    /// As much may be written and not yet acknowledged from now on (SO_SNDBUF).
    pub fn set_send_buffer(&mut self, bytes: Bytes) {
        self.sender.set_send_buffer(bytes);
    }

    /// How a silent peer is watched from `now` on (SO_KEEPALIVE, TCP_KEEPIDLE and its kind). The
    /// silence there has been counts.
    pub fn set_keepalive(&mut self, now: Time, keepalive: Keepalive) {
        self.config.keepalive = keepalive;
        if Connection::watches_peer(self.state) {
            let due = (self.keepalive.since + keepalive.idle).max(now);
            let wanted = keepalive.wanted;
            self.timers.arm_keepalive(wanted.then_some(due));
        }
    }

    /// How long data may stay unacknowledged from now on (TCP_USER_TIMEOUT, RFC 9293 §3.9.1).
    pub fn set_user_timeout(&mut self, timeout: Option<Span>) {
        self.config.retries.user_timeout = timeout;
    }
}
