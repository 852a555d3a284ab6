//! Buckets of a few segments: each burst that is longer loses what is beyond them.
//!
//! Such a bucket is full again before the next burst, so that the time between drops says nothing of its rate. Its
//! mark is the place of the drops: nearly all segments behind so many others of their burst are dropped, and nearly
//! none before. Random loss takes the same part everywhere.

use crate::flow::loss::Drop;
use crate::flow::{BURST, Half};

/// Fewer losses share a place by chance.
const LOSSES: usize = 8;
/// This part of the segments beyond the bucket is dropped ...
const BEYOND: f64 = 0.5;
/// ... and of those before it no more than this, of all drops no more than that.
const BEFORE: f64 = 0.02;
const BEFORE_OF_ALL: f64 = 0.1;
/// A shorter burst has no place before its last segment.
const SHORTEST: usize = 2;

/// Returns the number of segments that pass at once, if nearly all behind them are dropped.
pub(super) fn segments(half: &Half) -> Option<usize> {
    let passed = half.sending.bursts.as_deref()?;
    let mut dropped = [0_u32; BURST];
    let mut unseen = [0_u32; BURST];
    for drop in &half.drops {
        if let Some(place) = dropped.get_mut(usize::from(drop.burst)) {
            *place += 1;
            unseen[usize::from(drop.burst)] += u32::from(drop.seen == 0);
        }
    }
    let all = half.drops.len() as f64;
    let sum = |of: &[u32]| f64::from(of.iter().sum::<u32>());
    (SHORTEST..BURST).find(|&place| {
        let (before, beyond) = dropped.split_at(place);
        let part = |drops: f64, passed: &[u32], unseen: &[u32]| {
            drops / (sum(passed) + sum(unseen)).max(1.0)
        };
        let beyond_part = part(sum(beyond), &passed[place..], &unseen[place..]);
        let before_part = part(sum(before), &passed[..place], &unseen[..place]);
        losses_beyond(half, place) >= LOSSES
            && beyond_part >= BEYOND
            && before_part <= BEFORE
            && all - sum(beyond) <= BEFORE_OF_ALL * all
            && dropped[place] * 2 >= passed[place]
    })
}

/// Returns the number of losses with a drop beyond so many segments of a burst.
fn losses_beyond(half: &Half, segments: usize) -> usize {
    let beyond = half.drops.iter().filter(|drop| is_beyond(drop, segments));
    let mut losses: Vec<u32> = beyond.map(|drop| drop.loss).collect();
    losses.sort_unstable();
    losses.dedup();
    losses.len()
}

/// Returns true if a drop was beyond so many segments of its burst.
pub(super) fn is_beyond(drop: &Drop, segments: usize) -> bool {
    usize::from(drop.burst) >= segments
}
