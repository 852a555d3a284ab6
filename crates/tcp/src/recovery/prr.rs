//! Proportional rate reduction (RFC 9937, the successor of RFC 6937): what is sent follows what is
//! delivered, so that the window comes down to its new size over the round trip instead of at once.

use ackord_units::Bytes;

/// A reduction that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prr {
    /// RecoverFS: bytes in flight when it began.
    pub(crate) recover_flight: Bytes,
    /// prr_delivered.
    pub(crate) delivered: Bytes,
    /// prr_out.
    sent: Bytes,
    /// What the last acknowledgment allows, prr_out already taken off.
    send_count: Bytes,
    /// Whether it counts in whole segments, as Linux does: then the first one leaves with the first
    /// that was delivered.
    whole_segments: bool,
}

/// What an acknowledgment shows, and the books after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    /// All that is newly known to have arrived.
    pub(crate) bytes: Bytes,
    /// Whether retransmissions get through: it acknowledges new data and shows no more losses.
    pub(crate) safe: bool,
    /// The window that it comes down to.
    pub(crate) target: Bytes,
    /// Bytes thought to be in the network.
    pub(crate) pipe: Bytes,
    /// The sender's segment size.
    pub(crate) smss: Bytes,
}

impl Prr {
    /// A reduction that begins with so much in flight.
    pub(crate) fn begin(recover_flight: Bytes, whole_segments: bool) -> Prr {
        let (delivered, sent, send_count) = (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO);
        Prr { recover_flight, delivered, sent, send_count, whole_segments }
    }

    /// RFC 9937 §6.2, once per acknowledgment.
    pub(crate) fn on_ack(&mut self, ack: Delivered) {
        let Delivered { bytes, safe, target, pipe, smss } = ack;
        self.delivered += bytes;
        self.send_count = if pipe > target {
            // CEIL (prr_delivered * ssthresh / RecoverFS) - prr_out
            let due = u128::from(self.delivered.get()) * u128::from(target.get());
            let due = due.div_ceil(u128::from(self.recover_flight.get().max(1))) as u64;
            let due = match self.whole_segments {
                true => smss * due.div_ceil(smss.get().max(1)),
                false => Bytes(due),
            };
            due.saturating_sub(self.sent)
        } else {
            // Slow-start reduction bound while retransmissions get through, conservative otherwise.
            let mut limit = self.delivered.saturating_sub(self.sent).max(bytes);
            if safe {
                limit += smss;
            }
            limit.min(target.saturating_sub(pipe))
        };
        if self.sent == Bytes::ZERO && (self.whole_segments || self.send_count == Bytes::ZERO) {
            // The first one leaves in any case.
            self.send_count = self.send_count.max(smss);
        }
    }

    /// Bytes left.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: Bytes) {
        self.sent += bytes;
        self.send_count = self.send_count.saturating_sub(bytes);
    }

    /// What may leave now.
    #[inline]
    pub(crate) fn allowance(&self) -> Bytes {
        self.send_count
    }
}
