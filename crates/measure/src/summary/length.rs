//! The length of one queue over time, in packets and in bytes.

use ackord_events::Waited;
use ackord_units::{Bytes, Span, Time};

/// Adds up length times time, exactly. A queue is empty from the start of the run, not from its first packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueLength {
    last: Time,
    packets: Steps,
    bytes: Steps,
}

#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    area: u128,
    value: u64,
    most: u64,
}

impl QueueLength {
    /// From `at` on it is this long. An `at` before the last change counts as the last change.
    #[inline]
    pub(super) fn set(&mut self, at: Time, packets: u32, bytes: Bytes) {
        self.reach(at);
        self.packets.set(u64::from(packets));
        self.bytes.set(bytes.get());
    }

    /// At `at` it is one packet of so many bytes, and empty from then on.
    #[inline]
    pub(super) fn peak(&mut self, at: Time, bytes: Bytes) {
        if self.packets.value > 0 {
            self.set(at, 0, Bytes::ZERO);
        }
        // It was empty, as most queues are most of the time: there is nothing to add up.
        self.last = self.last.max(at);
        self.packets.most = self.packets.most.max(1);
        self.bytes.most = self.bytes.most.max(bytes.get());
    }

    /// A packet stood in it, beside what its length says, for as long as this returns. What all wait together is what the
    /// length adds up to over time (Little's law).
    #[inline]
    pub(super) fn stood(&mut self, packet: &Waited) -> Span {
        let waited = packet.until.saturating_since(packet.came);
        self.packets.stood(1, u64::from(packet.queue_packets), waited);
        self.bytes.stood(packet.bytes.get(), packet.queue_bytes.get(), waited);
        waited
    }

    /// From `at` on it is longer by a packet of so many bytes.
    pub(super) fn grow(&mut self, at: Time, bytes: Bytes) {
        self.reach(at);
        self.packets.value += 1;
        self.bytes.value += bytes.get();
    }

    #[inline]
    fn reach(&mut self, at: Time) {
        if at <= self.last {
            return;
        }
        // Most queues are empty most of the time.
        if self.packets.value > 0 {
            let held = at.saturating_since(self.last).as_nanos();
            self.packets.hold(held);
            self.bytes.hold(held);
        }
        self.last = at;
    }

    /// The mean number of packets up to `until`.
    pub(super) fn mean_packets(&self, until: Time) -> f64 {
        self.reached(until).packets.mean(self.last.max(until))
    }

    /// The mean number of bytes up to `until`.
    pub(super) fn mean_bytes(&self, until: Time) -> f64 {
        self.reached(until).bytes.mean(self.last.max(until))
    }

    fn reached(mut self, until: Time) -> QueueLength {
        self.reach(until);
        self
    }

    /// The packets in it now.
    pub(super) fn packets(&self) -> u64 {
        self.packets.value
    }

    /// The most packets in it so far.
    pub(super) fn most_packets(&self) -> u64 {
        self.packets.most
    }

    /// The most bytes in it so far.
    pub(super) fn most_bytes(&self) -> u64 {
        self.bytes.most
    }
}

impl Steps {
    #[inline]
    fn set(&mut self, value: u64) {
        self.value = value;
        self.most = self.most.max(value);
    }

    #[inline]
    fn hold(&mut self, nanos: u64) {
        self.area += u128::from(self.value) * u128::from(nanos);
    }

    /// So much was in it for a while, beside what the value says, and when it came the whole was so much.
    #[inline]
    fn stood(&mut self, much: u64, whole: u64, waited: Span) {
        self.area += u128::from(much) * u128::from(waited.as_nanos());
        self.most = self.most.max(whole);
    }

    fn mean(&self, until: Time) -> f64 {
        match until.as_nanos() {
            0 => self.value as f64,
            nanos => self.area as f64 / nanos as f64,
        }
    }
}
