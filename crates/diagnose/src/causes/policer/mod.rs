//! Whether losses are those of a policer: a token bucket without a queue (Flach et al. 2016).
//!
//! At each dropped packet the bucket is empty. So between two drops the rate times the time has passed, or
//! less if the sender was slow for so long that the bucket was full meanwhile. Random losses are found at any
//! level of the bucket; a queue that overflows lets round trips grow before.
//!
//! | file | what |
//! | --- | --- |
//! | `points.rs` | what had passed at each drop |
//! | `bucket.rs` | the bucket that is empty at the drops |
//! | `small.rs` | buckets of a few segments |
//! | `shared.rs` | policers that several connections share |

mod bucket;
mod points;
mod shared;
mod small;

use super::losses::Verdict;
use super::path::{Path, is_measured};
use crate::Cause;
use crate::account::Stretch;
use crate::flow::Connection;
use crate::flow::loss::{Loss, Trigger};
use bucket::{Bucket, explained};
use points::passed;
pub(super) use shared::Shared;
use std::ops::Range;

/// Fewer drops come at an empty bucket by chance.
const DROPS: usize = 8;
/// Between the first and the last drop at least so many segments have passed.
const SPAN: f64 = 200.0;
/// A loss is put down to a known policer where the bucket holds no more than so many times its slack.
const NEARLY: f64 = 3.0;
/// The path carries this much more than the rate.
const BEYOND: f64 = 1.3;
/// Round trips rise by less than this part of what a queue as long as the bucket would delay.
const SHORT: f64 = 0.25;
/// A rate that differs by less than this part from that of a standing queue is the queue's.
const SERVED: f64 = 0.25;
/// A round trip longer than the base by this part, and by this many seconds, shows a queue.
const RISEN: f64 = 0.3;
const QUEUE: f64 = 0.002;

/// A policer's rate and burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Policer {
    /// Bytes of payload per second; of a bucket that is full again before each burst it is unknown.
    pub(crate) rate: Option<f64>,
    /// Bytes that pass at once.
    pub(crate) burst: f64,
    /// Other connections share it.
    pub(crate) shared: bool,
}

/// Other connections to the same receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others<'a> {
    /// The policer that explains the losses of all.
    pub(super) shared: Option<&'a Policed>,
    /// Whether they send at the same time.
    pub(super) send: bool,
}

/// What a policer did.
#[derive(Clone, Debug)]
pub(super) struct Policed {
    pub(super) policer: Policer,
    /// By the number of the loss: whether the bucket was empty.
    empty: Vec<bool>,
}

/// Returns true if a packet that took so much longer than the base round trip was in a queue, not behind a
/// delayed acknowledgment.
pub(super) fn is_queue(risen: f64, path: &Path) -> bool {
    risen > RISEN * path.base + QUEUE
}

/// Returns the policer that explains the losses of one direction, if one does. If other connections send at the same
/// time, a rate counts only if it is sure: losses may come from the queue that they share.
pub(super) fn policer(
    connection: &Connection,
    side: usize,
    path: &Path,
    others: Others<'_>,
) -> Option<Policed> {
    let small = |segments| small(connection, side, path, segments);
    small(small::FEW)
        .or_else(|| others.shared.cloned())
        .or_else(|| large(connection, side, path, others.send))
        .or_else(|| {
            small(small::SOME).filter(|_| Evidence::of(connection, side, path).is_without_queue())
        })
}

/// Returns the policer with a bucket of few segments that explains the losses of one direction, if one does.
fn small(
    connection: &Connection,
    side: usize,
    path: &Path,
    segments: Range<usize>,
) -> Option<Policed> {
    let half = &connection.halves[side];
    let segments = small::segments(half, &connection.losses, segments)?;
    let mut empty = vec![false; connection.losses.len()];
    for drop in half.drops.iter().filter(|drop| small::is_beyond(drop, segments)) {
        if let Some(empty) = empty.get_mut(drop.loss as usize) {
            *empty = true;
        }
    }
    Some(Policed {
        policer: Policer { rate: None, burst: segments as f64 * path.mss, shared: false },
        empty,
    })
}

/// Returns the policer with a bucket of many segments that explains the losses of one direction, if one does.
fn large(connection: &Connection, side: usize, path: &Path, others_send: bool) -> Option<Policed> {
    let drops = &connection.halves[side].drops;
    let ends = || {
        Some((drops.iter().map(|drop| drop.from).min()?, drops.iter().map(|drop| drop.from).max()?))
    };
    let (first, last) = ends()?;
    if drops.len() < DROPS || ((last - first) as f64) < SPAN * path.mss {
        return None;
    }
    let passed = passed(connection, side, path);
    let (found, levels) =
        explained(&passed, path).filter(|(found, _)| found.sure || !others_send)?;
    let slack = found.slack(path.mss);
    let mut empty = vec![false; connection.losses.len()];
    for (point, level) in passed.iter().zip(levels) {
        if let Some(empty) = point.loss.and_then(|number| empty.get_mut(number as usize)) {
            *empty |= level <= NEARLY * slack;
        }
    }
    let policer = Policer { rate: Some(found.rate), burst: found.burst, shared: false };
    Evidence::of(connection, side, path).is_sound(found).then_some(Policed { policer, empty })
}

/// What tells a policer from a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    /// Highest rate of delivery, bytes per second.
    rate: f64,
    /// The rate at which a queue was served, if one stood.
    queued_rate: f64,
    /// The most that round trips rose, s; infinite if none was measured.
    queue: f64,
    /// Losses found by acknowledgments, and those of them that came at a queue.
    losses: usize,
    queued: usize,
}

impl Evidence {
    fn of(connection: &Connection, side: usize, path: &Path) -> Evidence {
        let mine = |loss: &&Loss| {
            usize::from(loss.side) == side && loss.trigger == Trigger::Acks && loss.unneeded == 0
        };
        let queued = |loss: &&Loss| is_queue(loss.rtt.as_secs_f64() - path.base, path);
        let by_acks = connection.losses.iter().filter(mine);
        let stands = is_queue(path.queue_most, path);
        let measured =
            |stretch: &Stretch| usize::from(stretch.side) == side && is_measured(stretch);
        let measured = connection.account.stretches().iter().any(measured);
        Evidence {
            rate: path.rate,
            queued_rate: if stands { path.queued_rate } else { 0.0 },
            queue: if measured { path.queue_most } else { f64::INFINITY },
            losses: by_acks.clone().count(),
            queued: by_acks.filter(queued).count(),
        }
    }

    /// Returns true if losses come without a queue, and the path carries more than the rate or most rates are alike.
    fn is_sound(&self, found: Bucket) -> bool {
        let carries = self.rate >= BEYOND * found.rate && self.is_unserved(found);
        carries || (found.sure && self.excludes_queue(found))
    }

    /// Returns true if losses come without a queue, and one as long as the bucket would have delayed more than was
    /// measured.
    fn excludes_queue(&self, found: Bucket) -> bool {
        self.has_shorter_queue(found) && self.is_unserved(found)
    }

    /// Returns true if round trips rose by much less than a queue as long as the bucket would delay.
    fn has_shorter_queue(&self, found: Bucket) -> bool {
        self.queue <= SHORT * found.burst / found.rate
    }

    /// Returns true if at least half of the losses came without a queue.
    fn is_without_queue(&self) -> bool {
        self.queued * 2 <= self.losses
    }

    /// Returns true if the rate is not that at which a queue is served, and most losses come without a queue.
    fn is_unserved(&self, found: Bucket) -> bool {
        // The rate at which a queue is served is no policer's, unless the queue is much shorter than the bucket.
        let served =
            (self.queued_rate / found.rate - 1.0).abs() <= SERVED && !self.has_shorter_queue(found);
        !served && self.is_without_queue()
    }
}

impl std::iter::Sum for Evidence {
    fn sum<I: Iterator<Item = Evidence>>(all: I) -> Evidence {
        all.fold(Evidence::default(), |sum, one| Evidence {
            rate: sum.rate.max(one.rate),
            queued_rate: sum.queued_rate + one.queued_rate,
            queue: sum.queue.max(one.queue),
            losses: sum.losses + one.losses,
            queued: sum.queued + one.queued,
        })
    }
}

impl Policed {
    /// Returns the cause of a loss, given what it looks like without a policer.
    pub(super) fn verdict(&self, number: usize, otherwise: Verdict) -> Verdict {
        let other = matches!(
            otherwise.recovery,
            Cause::AckPath | Cause::SpuriousDelay | Cause::SpuriousReordering | Cause::PathLimited
        );
        match !other && self.empty.get(number).is_some_and(|empty| *empty) {
            true => Verdict { recovery: Cause::Policer, after: Cause::Policer, confidence: 0.8 },
            false => otherwise,
        }
    }
}
