//! Buckets of a few segments: each burst that is longer loses what is beyond them.
//!
//! Such a bucket is full again before the next burst, so that the time between drops says nothing of its rate. Its
//! mark is the place of the drops: many segments behind so many others of their burst are dropped, and hardly any
//! before. Random loss takes the same part everywhere.

use crate::flow::loss::{Drop, Loss};
use crate::flow::{BURST, Half};
use std::ops::Range;

/// Losses by chance share a place with this probability, and so many losses do at least.
const CHANCE: f64 = 1e-6;
const LOSSES: usize = 4;
/// This part of the segments beyond the bucket is dropped ...
const BEYOND: f64 = 0.1;
/// ... so many times the part of those before it ...
const TIMES: f64 = 20.0;
/// ... and of all drops no more than this are before it.
const BEFORE: f64 = 0.1;
/// Buckets of so many segments are full again before the next burst.
pub(super) const FEW: Range<usize> = 2..16;
/// Those of so many may be.
pub(super) const SOME: Range<usize> = 2..BURST;

/// Segments by the number of segments before them in their burst.
#[derive(Clone, Copy, Debug)]
struct Places {
    dropped: [u32; BURST],
    passed: [u32; BURST],
    /// Drops, with those in longer bursts.
    all: usize,
}

/// Returns the number of segments that pass at once, of these, if drops are behind so many.
pub(super) fn segments(half: &Half, losses: &[Loss], range: Range<usize>) -> Option<usize> {
    let places = Places::of(half, range.end)?;
    let apart = |place: &usize| places.apart(*place);
    let place = range.max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let (before, beyond) = (places.part(0..place), places.part(place..BURST));
    let few = places.dropped[place..].iter().sum::<u32>() as f64;
    let most = few >= (1.0 - BEFORE) * places.all as f64;
    let found = most && beyond >= BEYOND && beyond >= TIMES * before;
    let events = losses_beyond(half, losses, place);
    let chance = places.behind(place).powi(events as i32);
    (found && events >= LOSSES && chance <= CHANCE).then_some(place)
}

impl Places {
    /// Counts the segments before the place `end`.
    fn of(half: &Half, end: usize) -> Option<Places> {
        let seen = half.sending.bursts.as_deref()?;
        let all = half.drops.len();
        let mut places = Places { dropped: [0; BURST], passed: *seen, all };
        places.passed[end..].fill(0);
        for drop in &half.drops {
            let place = usize::from(drop.burst);
            if let Some(dropped) = places.dropped[..end].get_mut(place) {
                *dropped += 1;
                // The first drop was seen before places were counted.
                let seen = u32::from(drop.seen > 0);
                places.passed[place] = places.passed[place].saturating_sub(seen);
            }
        }
        Some(places)
    }

    /// Returns the part of segments at these places that was dropped.
    fn part(&self, places: Range<usize>) -> f64 {
        let sum = |of: &[u32; BURST]| f64::from(of[places.clone()].iter().sum::<u32>());
        let dropped = sum(&self.dropped);
        dropped / (dropped + sum(&self.passed)).max(1.0)
    }

    /// Returns how far a place parts drops from others: the part of drops behind it, less that of others.
    fn apart(&self, place: usize) -> f64 {
        part_behind(&self.dropped, place) - part_behind(&self.passed, place)
    }

    /// Returns the part of all segments that are behind so many.
    fn behind(&self, place: usize) -> f64 {
        let all = std::array::from_fn(|at| self.dropped[at] + self.passed[at]);
        part_behind(&all, place)
    }
}

fn part_behind(of: &[u32; BURST], place: usize) -> f64 {
    let sum = |of: &[u32]| f64::from(of.iter().sum::<u32>());
    sum(&of[place..]) / sum(of).max(1.0)
}

/// Returns the number of losses with a drop beyond so many segments of a burst, without those of the last segments
/// of a message, which have a place of their own.
fn losses_beyond(half: &Half, losses: &[Loss], segments: usize) -> usize {
    let tail = |drop: &Drop| losses.get(drop.loss as usize).is_some_and(|loss| loss.tail);
    let beyond = half.drops.iter().filter(|drop| is_beyond(drop, segments) && !tail(drop));
    let mut losses: Vec<u32> = beyond.map(|drop| drop.loss).collect();
    losses.sort_unstable();
    losses.dedup();
    losses.len()
}

/// Returns true if a drop was beyond so many segments of its burst.
pub(super) fn is_beyond(drop: &Drop, segments: usize) -> bool {
    usize::from(drop.burst) >= segments
}
