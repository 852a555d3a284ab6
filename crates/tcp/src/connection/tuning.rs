//! What an application may change while a connection lives, as `setsockopt` lets it.

use super::Connection;
use crate::nagle::Nagle;
use crate::receiver::Owed;
use ackord_units::Bytes;

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

    /// As much may be written and not yet acknowledged from now on (SO_SNDBUF).
    pub fn set_send_buffer(&mut self, bytes: Bytes) {
        self.sender.set_send_buffer(bytes);
    }
}
