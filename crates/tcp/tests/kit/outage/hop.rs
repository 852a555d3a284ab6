//! One direction of a hop: a drop-tail queue, a rate, a delay, random loss, and an outage that takes
//! what leaves the transmitter meanwhile and what is on its way when it begins.

use ackord_units::{Span, Time};
use ackord_wire::Segment;
use std::collections::VecDeque;

const DELAY: Span = Span::from_millis(10);
const IP_HEADER: u64 = 20;

/// What a hop is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Medium {
    pub(super) bits_per_sec: u64,
    /// Packets that may wait.
    pub(super) queue: usize,
    pub(super) loss_per_mille: u32,
    pub(super) seed: u32,
    pub(super) outage: (Time, Time),
}

impl Default for Medium {
    fn default() -> Medium {
        let outage = (Time::ZERO, Time::ZERO);
        Medium { bits_per_sec: 1, queue: 0, loss_per_mille: 0, seed: 0, outage }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Hop {
    medium: Medium,
    /// When each packet that is there will have left.
    leaving: VecDeque<Time>,
    random: u64,
}

impl Hop {
    pub(super) fn new(medium: Medium) -> Hop {
        let random = 0x9E37_79B9_7F4A_7C15 ^ (u64::from(medium.seed) << 32 | 1);
        Hop { medium, leaving: VecDeque::new(), random }
    }

    /// When the segment arrives at the other end, if it does.
    pub(super) fn carry(&mut self, now: Time, segment: &Segment) -> Option<Time> {
        let Medium { bits_per_sec, queue, outage, .. } = self.medium;
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() > queue {
            return None;
        }
        let bytes = IP_HEADER + u64::from(segment.header_len() + segment.payload_len);
        let takes = Span::from_nanos(bytes * 8 * 1_000_000_000 / bits_per_sec);
        let gone = self.leaving.back().map_or(now, |at| now.max(*at)) + takes;
        self.leaving.push_back(gone);
        let arrives = gone + DELAY;
        let dead = gone < outage.1 && arrives > outage.0;
        (!dead && !self.loses()).then_some(arrives)
    }

    /// Whether this packet is lost: a xorshift sequence.
    fn loses(&mut self) -> bool {
        if self.medium.loss_per_mille == 0 {
            return false;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % 1000 < u64::from(self.medium.loss_per_mille)
    }
}
