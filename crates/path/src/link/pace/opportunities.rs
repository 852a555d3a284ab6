//! Instants at which a link delivers so many bytes, and at no other: a trace replayed.
//!
//! The rules are mahimahi's (Netravali et al. 2015, `mm-link`), so that a trace means here what it
//! means there. An opportunity takes 1504 bytes: an IP packet of 1500 with the 4 bytes in front of
//! it that a TUN device has, which are counted for every packet. A packet that is longer than what
//! is left goes on in the next opportunity; one that is done leaves the rest to the next packet
//! that waits; what nobody waits for is lost. A packet that comes at the very instant of an
//! opportunity comes too late for it. After the last opportunity the trace begins anew, its time
//! zero at the last one's.
//!
//! A packet counts as taking the transmitter's time from the opportunity before to its own, by its
//! share of the bytes: a link that uses every opportunity is busy all the time.
//!
//! Not modelled: mahimahi's clock of whole milliseconds, which delays each packet to the next one
//! on arrival. Who could notice: nobody above a millisecond.

use super::sent::{Asks, Sent};
use crate::Trace;
use ackord_units::{Span, Time};
use std::sync::Arc;

/// Bytes that one opportunity delivers.
pub(crate) const OPPORTUNITY_BYTES: u32 = 1_504;
/// Bytes counted with every IP packet.
pub(crate) const HEADER_BYTES: u32 = 4;

/// A trace replayed again and again.
#[derive(Clone, Debug)]
pub struct Opportunities {
    trace: Arc<Trace>,
    /// The trace's time zero.
    zero_at: Time,
    /// Which instant of the trace is current.
    instant: usize,
    /// When that is.
    at: Time,
    /// How long after the one before.
    after: Span,
    /// Opportunities left at that instant, beside the current one.
    more: u32,
    /// Bytes left in the current one.
    room: u32,
}

impl Opportunities {
    /// The trace from its beginning.
    pub fn new(trace: Arc<Trace>) -> Opportunities {
        let mut replayed = Opportunities {
            trace,
            zero_at: Time::ZERO,
            instant: 0,
            at: Time::ZERO,
            after: Span::ZERO,
            more: 0,
            room: 0,
        };
        replayed.load();
        replayed
    }

    pub(super) fn wait_until(&mut self, at: Time, asks: Asks) -> Option<Time> {
        let too_late = |opportunity: Time| match asks {
            Asks::Fresh => opportunity <= at,
            Asks::FromQueue => opportunity < at,
        };
        while too_late(self.at) {
            self.next_instant();
        }
        (self.at > at).then_some(self.at)
    }

    /// Sends a packet at the current opportunity.
    pub(super) fn send(&mut self, at: Time, ip_len: u32) -> Sent {
        debug_assert_eq!(at, self.at, "packets go at opportunities");
        let mut need = ip_len + HEADER_BYTES;
        let mut takes = Span::ZERO;
        while need > self.room {
            takes += self.share_of_time(self.room);
            need -= self.room;
            self.next_opportunity();
        }
        takes += self.share_of_time(need);
        self.room -= need;
        let out_at = self.at;
        if self.room == 0 {
            self.next_opportunity();
        }
        Sent {
            out_at,
            released_at: out_at,
            free_at: self.at,
            takes,
            busy_until: out_at,
            fate: None,
        }
    }

    /// The time since the last instant, by the share of the bytes of all opportunities of this one.
    fn share_of_time(&self, bytes: u32) -> Span {
        let count = self.trace.instants()[self.instant].count;
        let all = u128::from(count) * u128::from(OPPORTUNITY_BYTES);
        let share = u128::from(self.after.as_nanos()) * u128::from(bytes) / all;
        Span::from_nanos(share as u64)
    }

    fn next_opportunity(&mut self) {
        if self.more > 0 {
            self.more -= 1;
            self.room = OPPORTUNITY_BYTES;
        } else {
            self.next_instant();
        }
    }

    fn next_instant(&mut self) {
        self.instant += 1;
        if self.instant == self.trace.instants().len() {
            self.instant = 0;
            self.zero_at += self.trace.duration();
        }
        self.load();
    }

    fn load(&mut self) {
        let instant = self.trace.instants()[self.instant];
        let at = self.zero_at + instant.at;
        self.after = at - self.at;
        self.at = at;
        self.more = instant.count - 1;
        self.room = OPPORTUNITY_BYTES;
    }
}
