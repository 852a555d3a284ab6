//! What an end of a flow does its work with: the clock, somebody to tell, and something to write.

use super::{AppEvent, AppNews};
use crate::clock::Clock;
use ackord_events::EndpointId;
use ackord_units::Time;

/// The most that one call writes or reads.
pub(super) const PIECE: usize = 256 * 1024;

/// What there is for an end to do its work with.
pub(super) struct Desk<'a> {
    clock: &'a Clock,
    /// What it said when it was looked at.
    now: Option<Time>,
    news: &'a mut Vec<AppNews>,
    /// What is written: bytes that do not repeat soon, so that one in a wrong place is noticed. What is read is never put here.
    pub(super) piece: &'a mut [u8],
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        clock: &'a Clock,
        news: &'a mut Vec<AppNews>,
        piece: &'a mut [u8],
    ) -> Desk<'a> {
        Desk::at(None, clock, news, piece)
    }

    /// The same where it is known what the clock says.
    pub(super) fn at(
        now: Option<Time>,
        clock: &'a Clock,
        news: &'a mut Vec<AppNews>,
        piece: &'a mut [u8],
    ) -> Desk<'a> {
        Desk { clock, now, news, piece }
    }

    /// The present, the same as long as the work is. Who does not need it does not look at the clock,
    /// which costs more than all else where a kernel runs in simulated time.
    pub(super) fn now(&mut self) -> Time {
        *self.now.get_or_insert_with(|| self.clock.now())
    }

    /// Something has happened, now.
    pub(super) fn tell(&mut self, endpoint: EndpointId, what: AppEvent) {
        let at = self.now();
        self.news.push(AppNews { at, endpoint, what });
    }
}

/// Bytes that do not repeat soon, always the same: Marsaglia's xorshift.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}
