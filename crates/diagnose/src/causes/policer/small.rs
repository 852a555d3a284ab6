//! Buckets of a few segments: each burst that is longer loses what is beyond them.
//!
//! Such a bucket is full again before the next burst, so the time between drops does not depend on its rate. Evidence
//! is the position of drops in their bursts: many segments from one position on are dropped, and hardly any before it.
//! Random loss takes the same part at every position.

use crate::flow::loss::{Drop, Loss};
use crate::flow::{BURST, Half};
use std::ops::Range;

/// Highest probability that all losses are behind a position by chance, and the least number of losses.
const CHANCE: f64 = 1e-6;
const LOSSES: usize = 4;
/// This part of the segments beyond the bucket is dropped ...
const BEYOND: f64 = 0.1;
/// ... so many times the part of those before it ...
const TIMES: f64 = 20.0;
/// ... and of all drops no more than this are before it.
const BEFORE: f64 = 0.1;
/// Sizes in segments of a bucket that is full again before the next burst.
pub(super) const FEW: Range<usize> = 2..16;
/// Sizes tried if no rate is found.
pub(super) const SOME: Range<usize> = 2..BURST;

/// Segments by the number of segments before them in their burst.
#[derive(Clone, Copy, Debug)]
struct Positions {
    dropped: [u32; BURST],
    passed: [u32; BURST],
    /// Drops, with those in longer bursts.
    all: usize,
}

/// Returns the number of segments that pass at once, of these, if drops are behind so many.
pub(super) fn segments(half: &Half, losses: &[Loss], range: Range<usize>) -> Option<usize> {
    let positions = Positions::of(half, range.end)?;
    let apart = |position: &usize| positions.apart(*position);
    let position = range.max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let (before, beyond) = (positions.part(0..position), positions.part(position..BURST));
    let few = positions.dropped[position..].iter().sum::<u32>() as f64;
    let most = few >= (1.0 - BEFORE) * positions.all as f64;
    let found = most && beyond >= BEYOND && beyond >= TIMES * before;
    let events = losses_beyond(half, losses, position);
    let chance = positions.behind(position).powi(events as i32);
    (found && events >= LOSSES && chance <= CHANCE).then_some(position)
}

impl Positions {
    /// Counts the segments before the position `end`.
    fn of(half: &Half, end: usize) -> Option<Positions> {
        let seen = half.sending.bursts.as_deref()?;
        let all = half.drops.len();
        let mut positions = Positions { dropped: [0; BURST], passed: *seen, all };
        positions.passed[end..].fill(0);
        for drop in &half.drops {
            let position = usize::from(drop.burst);
            if let Some(dropped) = positions.dropped[..end].get_mut(position) {
                *dropped += 1;
                // The first drop was seen before positions were counted.
                let seen = u32::from(drop.seen > 0);
                positions.passed[position] = positions.passed[position].saturating_sub(seen);
            }
        }
        Some(positions)
    }

    /// Returns the part of segments at these positions that was dropped.
    fn part(&self, range: Range<usize>) -> f64 {
        let sum = |of: &[u32; BURST]| f64::from(of[range.clone()].iter().sum::<u32>());
        let dropped = sum(&self.dropped);
        dropped / (dropped + sum(&self.passed)).max(1.0)
    }

    /// Returns the part of drops at or behind a position, less the same part of segments that passed.
    fn apart(&self, position: usize) -> f64 {
        part_behind(&self.dropped, position) - part_behind(&self.passed, position)
    }

    /// Returns the part of all segments that are behind so many.
    fn behind(&self, position: usize) -> f64 {
        let all = std::array::from_fn(|at| self.dropped[at] + self.passed[at]);
        part_behind(&all, position)
    }
}

fn part_behind(of: &[u32; BURST], position: usize) -> f64 {
    let sum = |of: &[u32]| f64::from(of.iter().sum::<u32>());
    sum(&of[position..]) / sum(of).max(1.0)
}

/// Returns the number of losses with a drop beyond so many segments of a burst. Losses of the last segments of a
/// message do not count: messages of one length have them at one position.
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
