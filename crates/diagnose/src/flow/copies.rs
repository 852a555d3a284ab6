//! Copies of one packet in one capture: captured twice at one interface, or at two interfaces that it crosses.
//!
//! A copy at the same interface follows within milliseconds. One at another interface differs in its hop
//! ([`Seen::hop`]) or its TTL and follows as late as the queue between them lets it pass. The first hop of a
//! direction is the capture point; packets at other hops are searched among those that passed it. Repetitions of
//! 802.11 frames are recognised before, by their own numbers (`air.rs`).
//!
//! Not modelled: a path that changes so that packets reach the second hop first.

use super::folding::Folding;
use crate::{DelayBetween, Seen};
use ackord_units::{Span, Time};
use std::collections::VecDeque;
use std::hash::Hasher;

/// Packets remembered where only one hop is known: more than an initial window.
const RECENT: usize = 16;
/// Packets remembered between two hops.
const BETWEEN: usize = 8192;
/// Longest time between a packet and its copy at the same hop.
const SAME_HOP: Span = Span::from_millis(2);
/// Longest time between a packet and its copy at another hop.
const OTHER_HOP: Span = Span::from_secs(60);
/// Waits sampled between two hops.
const WAITS: usize = 512;
/// Fewest waits for which percentiles are given.
const FEWEST: usize = 10;

/// Returns a fingerprint of the fields that a copy has in common with its original.
#[inline]
pub(super) fn fingerprint(seen: &Seen) -> u64 {
    let mut fold = Folding::default();
    fold.write_u64(u64::from(seen.seq) << 32 | u64::from(seen.ack));
    let (value, echo) = seen.timestamps.unwrap_or_default();
    fold.write_u64(u64::from(value) << 32 | u64::from(echo));
    fold.write_u64(
        u64::from(seen.payload_len) << 32 | u64::from(seen.window) << 16 | u64::from(seen.ip_id),
    );
    fold.finish()
}

/// Packets of one direction that may yet be copied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    recent: [(u64, Time); RECENT],
    oldest: u8,
    /// Hop and TTL at the capture point.
    hop: Option<(u32, u8)>,
    /// What is remembered once a second hop was seen.
    between: Option<Box<BetweenHops>>,
}

/// Packets on their way from the first hop to the second.
#[derive(Clone, Debug, Default)]
struct BetweenHops {
    passed: VecDeque<(u64, Time)>,
    /// A packet that passed after the second hop was known has been found there.
    complete: bool,
    /// Packets of the first hop that were not found at the second, though later ones were.
    lost: u64,
    copies: u64,
    waits: Vec<u64>,
    /// Every so many waits are sampled.
    every: u64,
}

impl Copies {
    /// Returns true if this packet is a copy of one that passed before. `repeats` is true if the capture has all
    /// that the packet carries, and its number or timestamp is older than the last.
    #[inline]
    pub(crate) fn is_copy(&mut self, seen: &Seen, at: Time, repeats: bool) -> bool {
        let print = fingerprint(seen);
        let hop = (seen.hop, seen.ttl);
        let here = *self.hop.get_or_insert(hop);
        if hop != here {
            if self.is_copy_elsewhere(print, at, repeats) {
                return true;
            }
            if self.between.as_ref().is_none_or(|between| between.copies == 0) {
                // Not another point: the sender or the path changed.
                self.hop = Some(hop);
            }
        }
        // Only a number that changes from packet to packet tells a copy from another packet.
        let numbered = seen.ip_id != 0 || (seen.timestamps.is_some() && seen.payload_len > 0);
        let copy = numbered && self.was_just_here(print, at);
        self.recent[usize::from(self.oldest)] = (print, at);
        self.oldest = (self.oldest + 1) % RECENT as u8;
        if !copy && let Some(between) = &mut self.between {
            between.passed(print, at);
        }
        copy
    }

    #[inline]
    fn was_just_here(&self, print: u64, at: Time) -> bool {
        let oldest = usize::from(self.oldest);
        let newest_first = (1..=RECENT).map(|back| self.recent[(oldest + RECENT - back) % RECENT]);
        newest_first
            .take_while(|(_, passed)| at.saturating_since(*passed) <= SAME_HOP)
            .any(|(before, _)| before == print)
    }

    #[cold]
    fn is_copy_elsewhere(&mut self, print: u64, at: Time, repeats: bool) -> bool {
        let (recent, oldest) = (&self.recent, usize::from(self.oldest));
        let between = self.between.get_or_insert_with(|| {
            let mut between = BetweenHops { every: 1, ..BetweenHops::default() };
            let order = (0..RECENT).map(|place| recent[(oldest + place) % RECENT]);
            between.passed.extend(order.filter(|(_, passed)| *passed > Time::ZERO));
            Box::new(between)
        });
        // At first, copies arrive of packets that passed before they were remembered; a retransmission has a
        // number of its own.
        let found = between.found(print, at);
        between.copies += u64::from(repeats && !found);
        found || repeats
    }

    /// Returns packets lost between the two hops, and how much longer than the quickest the others took.
    pub(crate) fn between(&self) -> Option<(u64, Option<DelayBetween>)> {
        let between = self.between.as_ref().filter(|between| between.copies > 0)?;
        let mut waits = between.waits.clone();
        waits.sort_unstable();
        let above = |part: f64| {
            let place = (waits.len().saturating_sub(1) as f64 * part) as usize;
            waits[place].saturating_sub(waits[0]) as f64 / 1e9
        };
        let delay = (waits.len() >= FEWEST).then(|| DelayBetween {
            packets: between.copies,
            median_s: above(0.5),
            p95_s: above(0.95),
            most_s: above(1.0),
        });
        Some((between.lost, delay))
    }
}

impl BetweenHops {
    /// Remembers a packet at the first hop.
    fn passed(&mut self, hash: u64, at: Time) {
        while self.passed.len() >= BETWEEN
            || self
                .passed
                .front()
                .is_some_and(|(_, before)| at.saturating_since(*before) > OTHER_HOP)
        {
            self.passed.pop_front();
        }
        self.passed.push_back((hash, at));
    }

    /// Returns true if a packet with this hash passed the first hop. Those before it that were not found are
    /// lost: a queue keeps the order.
    fn found(&mut self, hash: u64, at: Time) -> bool {
        let Some(place) = self.passed.iter().position(|(passed, _)| *passed == hash) else {
            return false;
        };
        let Some((_, passed)) = self.passed.get(place).copied() else { return false };
        if self.complete {
            self.lost += place as u64;
        }
        self.passed.drain(..=place);
        self.complete = true;
        if self.copies.is_multiple_of(self.every) {
            if self.waits.len() == WAITS {
                let mut odd = false;
                self.waits.retain(|_| {
                    odd = !odd;
                    odd
                });
                self.every *= 2;
            }
            self.waits.push(at.saturating_since(passed).as_nanos());
        }
        self.copies += 1;
        true
    }
}
