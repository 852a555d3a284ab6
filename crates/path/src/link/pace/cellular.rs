//! One direction of a cellular hop: what a phone's packets wait for.
//!
//! Time goes in *slots* (transmission time intervals). In each the scheduler gives this phone as
//! many bytes as the link's rate makes of a slot: one transport block, filled with the packets that
//! wait when the slot begins, a packet going on in the next where it does not fit. A block that
//! cannot be decoded is retransmitted a fixed time after the try before (HARQ), in a slot that new
//! data then cannot have, up to a limit; then all packets with a part in it are lost. Packets leave
//! in order (RLC): what arrived behind a block that is tried again waits for it, or for its last
//! try.
//!
//! *Upward* a phone with nothing to send first has to ask: it waits for the next occasion to
//! request and then for the grant. While it has data, each block says so and grants go on.
//!
//! Closed forms, for a rate R, slots of T, a block error e at every try, n the limit of retries and
//! d the time per try: mean tries per block m = (1 - e^(n+1)) / (1 - e); greatest throughput R / m;
//! loss per block e^(n+1); a lone short packet takes T/2 to the next slot (upward in its place
//! half a request interval, the grant, and what is left to a slot), T in it, and d (m - 1) more.
//!
//! Not modelled: other phones (their share is in the rate), a rate that changes (give a `trace` or
//! `rate_changes` where that is the question; they exclude this), RLC's own retransmissions after
//! HARQ (acknowledged mode), reordering timers, handover, sleep cycles (DRX), grants smaller than a
//! slot. Who could notice: anyone studying energy, idle phones, or losses that RLC would recover.

use super::sent::{Asks, Sent};
use ackord_events::DropReason;
use ackord_units::{RandomStream, Rate, Ratio, Span, Time};
use std::collections::VecDeque;

/// A cellular hop in one direction.
#[derive(Clone, Debug)]
pub struct CellularConfig {
    /// What the scheduler gives this phone, mean over slots.
    pub rate: Rate,
    /// One slot; not zero.
    pub slot: Span,
    /// Probability that a block cannot be decoded, at every try anew.
    pub block_error: Ratio,
    /// From one try to the next, in slots; not zero.
    pub retry_after_slots: u64,
    /// How often a block is retransmitted.
    pub retries: u32,
    /// How a phone asks; nothing downward.
    pub request: Option<Request>,
    /// Draws what can be decoded.
    pub stream: RandomStream,
}

/// How a phone asks to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// From one occasion to ask to the next; not zero.
    pub every: Span,
    /// From asking to the first slot that is granted.
    pub grant_after: Span,
}

/// One direction of a cellular hop at work.
#[derive(Clone, Debug)]
pub struct Cellular {
    config: CellularConfig,
    /// The slot of the block that is being filled.
    slot: u64,
    /// Bytes it still takes; none before the first.
    room: u64,
    /// When it is decoded, or given up.
    done_at: Time,
    given_up: bool,
    /// Slots that retransmissions take, in order, none before `slot`.
    taken: VecDeque<u64>,
    /// When everything sent so far is released.
    released_at: Time,
    /// Slots that retransmissions have taken since they were last counted.
    retried: u64,
}

impl Cellular {
    /// An idle hop at the start of the run.
    pub fn new(config: CellularConfig) -> Cellular {
        Cellular {
            config,
            slot: 0,
            room: 0,
            done_at: Time::ZERO,
            given_up: false,
            taken: VecDeque::new(),
            released_at: Time::ZERO,
            retried: 0,
        }
    }

    pub(super) fn wait_until(&mut self, at: Time, asks: Asks) -> Option<Time> {
        if asks == Asks::FromQueue && self.room > 0 && at == self.starts(self.slot) {
            return None;
        }
        let earliest = match (asks, self.config.request) {
            (Asks::Fresh, Some(request)) => round_up(at, request.every) + request.grant_after,
            (Asks::Fresh, None) => at + Span::from_nanos(1),
            (Asks::FromQueue, _) => at,
        };
        let slot = earliest.as_nanos().div_ceil(self.config.slot.as_nanos());
        let slot = self.next_untaken(slot);
        let starts = self.starts(slot);
        // A block that is not full takes nothing more once its slot is over or has begun.
        if starts > at {
            return Some(starts);
        }
        self.open(slot);
        None
    }

    pub(super) fn send(&mut self, at: Time, ip_len: u32) -> Sent {
        debug_assert_eq!(at, self.starts(self.slot), "packets go when slots begin");
        let mut need = u64::from(ip_len);
        let (mut out_at, mut lost) = (Time::ZERO, false);
        let mut takes = Span::ZERO;
        loop {
            let part = need.min(self.room);
            takes += self.share_of_slot(part);
            (self.room, need) = (self.room - part, need - part);
            if part > 0 {
                out_at = out_at.max(self.done_at);
                lost |= self.given_up;
            }
            if need == 0 {
                break;
            }
            self.open(self.next_untaken(self.slot + 1));
        }
        takes += self.config.slot * std::mem::take(&mut self.retried);
        self.released_at = self.released_at.max(out_at);
        let free_slot = match self.room {
            0 => self.next_untaken(self.slot + 1),
            _ => self.slot,
        };
        Sent {
            out_at,
            released_at: self.released_at,
            free_at: self.starts(free_slot),
            takes,
            busy_until: self.starts(self.slot + 1),
            fate: lost.then_some(DropReason::RetryLimit),
        }
    }

    fn starts(&self, slot: u64) -> Time {
        Time::from_nanos(slot * self.config.slot.as_nanos())
    }

    /// The first slot from this one on that no retransmission takes.
    fn next_untaken(&self, mut slot: u64) -> u64 {
        for &taken in &self.taken {
            if taken == slot {
                slot += 1;
            }
        }
        slot
    }

    /// A block in this slot: how much it takes, and what will become of it.
    fn open(&mut self, slot: u64) {
        while self.taken.front().is_some_and(|&taken| taken < slot) {
            self.taken.pop_front();
            self.retried += 1;
        }
        self.slot = slot;
        self.room = self.bytes_of(slot);
        let mut last_try = slot;
        self.given_up = self.config.stream.chance(self.config.block_error);
        for _ in 0..self.config.retries {
            if !self.given_up {
                break;
            }
            last_try += self.config.retry_after_slots;
            let place = self.taken.partition_point(|&taken| taken < last_try);
            self.taken.insert(place, last_try);
            self.given_up = self.config.stream.chance(self.config.block_error);
        }
        self.done_at = self.starts(last_try + 1);
    }

    /// The bytes of a slot: what the rate makes of the time up to its end, rounded once, less the same up to
    /// its beginning. All slots of a long and fast run together hold more than 64 bits can count.
    fn bytes_of(&self, slot: u64) -> u64 {
        let rate = u128::from(self.config.rate.as_bits_per_sec());
        let before = |slot: u64| {
            let nanos = u128::from(slot) * u128::from(self.config.slot.as_nanos());
            rate * nanos / 8_000_000_000
        };
        (before(slot + 1) - before(slot)) as u64
    }

    fn share_of_slot(&self, bytes: u64) -> Span {
        let all = self.bytes_of(self.slot);
        let share = u128::from(self.config.slot.as_nanos()) * u128::from(bytes);
        Span::from_nanos((share / u128::from(all.max(1))) as u64)
    }
}

/// The first multiple of `step` at or after `at`.
fn round_up(at: Time, step: Span) -> Time {
    Time::from_nanos(at.as_nanos().div_ceil(step.as_nanos()) * step.as_nanos())
}
