//! Whether losses are those of a policer: a token bucket without a queue (Flach et al. 2016).
//!
//! At each dropped packet the bucket is empty. So between two drops the rate times the time has passed, or
//! less if the sender was slow for so long that the bucket was full meanwhile. Random losses are found at any
//! level of the bucket; a queue that overflows lets round trips grow before.
//!
//! | file | what |
//! | --- | --- |
//! | `points.rs` | what had passed at each drop |
//! | `small.rs` | buckets of a few segments |
//! | `shared.rs` | policers that several connections share |
//!
//! The rate is the highest that many spans between drops of one busy time have in common: a slow sender lets the
//! bucket run over, and in a pause of the application it fills, so that a burst passes. The burst is the most that
//! passed beyond the rate between two drops. The bucket is then followed from drop to drop: it must be empty at
//! nearly all of them.

mod points;
mod shared;
mod small;

use super::losses::Verdict;
use super::path::{Path, is_measured};
use crate::Cause;
use crate::account::Stretch;
use crate::flow::Connection;
use crate::flow::loss::{Loss, Trigger};
use points::{Passed, passed};
pub(super) use shared::Shared;

/// Fewer drops come at an empty bucket by chance.
const DROPS: usize = 8;
/// Between the first and the last drop at least so many segments have passed.
const SPAN: f64 = 200.0;
/// A rate is measured over so many segments at least.
const LENGTH: f64 = 60.0;
/// ... and over so many round trips where the time of a drop is known to one.
const ROUND_TRIPS: f64 = 3.0;
/// Rates between drops differ by this part at most ...
const ALIKE: f64 = 0.03;
/// ... and such are this part of all: losses by chance leave no two rates alike.
const MANY: f64 = 0.4;
/// ... or this part where hardly any is higher: a sender that pauses now and then lowers rates, and nothing raises them.
const TOP: f64 = 0.25;
const ABOVE: f64 = 0.1;
/// Nearly all rates are alike from this part on.
const SURE: f64 = 0.8;
/// So many rates are alike at least.
const RATES: f64 = 4.0;
/// A bucket is empty where it holds no more than so many segments, or half of it ...
const SEGMENTS: f64 = 8.0;
/// ... or this part of it.
const PART: f64 = 0.15;
/// Where the time of a drop is not known exactly, the bucket holds no more than this part of it.
const HALF: f64 = 0.5;
/// A loss is put down to a known policer where the bucket holds no more than so many times that.
const NEARLY: f64 = 2.0;
/// A bucket of fewer segments is none.
const LEAST: f64 = 8.0;
/// This part of all drops finds it empty.
const EMPTY: f64 = 0.9;
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

/// A token bucket: bytes of payload per second, and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    rate: f64,
    burst: f64,
    /// Nearly all rates between drops are this one.
    sure: bool,
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

/// Returns the policer that explains the losses of one direction, if one does.
pub(super) fn policer(connection: &Connection, side: usize, path: &Path) -> Option<Policed> {
    small(connection, side, path).or_else(|| large(connection, side, path))
}

/// Returns the policer with a bucket of few segments that explains the losses of one direction, if one does.
fn small(connection: &Connection, side: usize, path: &Path) -> Option<Policed> {
    let half = &connection.halves[side];
    let segments = small::segments(half, &connection.losses)?;
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
fn large(connection: &Connection, side: usize, path: &Path) -> Option<Policed> {
    let drops = &connection.halves[side].drops;
    let ends = || {
        Some((drops.iter().map(|drop| drop.from).min()?, drops.iter().map(|drop| drop.from).max()?))
    };
    let (first, last) = ends()?;
    if drops.len() < DROPS || ((last - first) as f64) < SPAN * path.mss {
        return None;
    }
    let passed = passed(connection, side, path);
    let (found, levels) = explained(&passed, path)?;
    let slack = slack(found, path.mss);
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

    /// Returns true if losses come without a queue, and the path carries more than the rate, or all rates are alike.
    fn is_sound(&self, found: Bucket) -> bool {
        let carries = self.rate >= BEYOND * found.rate && self.is_queueless(found);
        carries || (found.sure && self.is_no_queue(found))
    }

    /// Returns true if losses come without a queue, and one as long as the bucket would have delayed more than was
    /// measured.
    fn is_no_queue(&self, found: Bucket) -> bool {
        self.is_short(found) && self.is_queueless(found)
    }

    fn is_short(&self, found: Bucket) -> bool {
        self.queue <= SHORT * found.burst / found.rate
    }

    fn is_queueless(&self, found: Bucket) -> bool {
        // The rate at which a queue is served is no policer's, unless the queue is much shorter than the bucket.
        let served = (self.queued_rate / found.rate - 1.0).abs() <= SERVED && !self.is_short(found);
        !served && self.queued * 2 <= self.losses
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

fn slack(policer: Bucket, mss: f64) -> f64 {
    (SEGMENTS * mss).min(policer.burst / 2.0).max(PART * policer.burst)
}

/// Returns the policer whose bucket is empty at most drops, with what it held at each point.
fn explained(passed: &[Passed], path: &Path) -> Option<(Bucket, Vec<f64>)> {
    let found = fit(passed, path)?;
    let levels = levels(passed, found);
    let slack = slack(found, path.mss);
    // When packets pass is known to a round trip.
    let least = -3.0 * slack - found.rate * path.base;
    let at_drops = passed.iter().zip(&levels).filter(|(point, _)| point.loss.is_some());
    let trip = found.rate * path.base;
    let most = |point: &Passed| match point.unseen {
        true => (slack + trip).min(found.burst * HALF),
        false => slack,
    };
    let empty =
        at_drops.clone().filter(|(point, level)| (least..=most(point)).contains(*level)).count();
    let enough = empty as f64 >= EMPTY * at_drops.count() as f64;
    enough.then_some((found, levels))
}

/// Returns rate and burst, if the rate is one.
fn fit(passed: &[Passed], path: &Path) -> Option<Bucket> {
    let mut rates = Vec::new();
    for busy in passed.split(|point| point.rested) {
        rates.extend(self::rates(busy, (LENGTH * path.mss, ROUND_TRIPS * path.base)));
    }
    rates.sort_by(f64::total_cmp);
    let alike = common(&rates)?;
    let rate = alike.iter().sum::<f64>() / alike.len() as f64;
    let burst = most_beyond(passed, rate);
    let sure = alike.len() >= DROPS && alike.len() as f64 >= SURE * rates.len() as f64;
    (burst >= LEAST * path.mss).then_some(Bucket { rate, burst, sure })
}

/// Returns the highest of these sorted rates that many have in common.
fn common(rates: &[f64]) -> Option<&[f64]> {
    let all = rates.len() as f64;
    let many = |group: &[f64], above: usize| {
        let part = if above as f64 <= ABOVE * all { TOP } else { MANY };
        group.len() as f64 >= (part * all).max(RATES)
    };
    let mut from = 0;
    let groups = (0..rates.len()).map(|to| {
        while rates[from] < rates[to] * (1.0 - 2.0 * ALIKE) {
            from += 1;
        }
        (&rates[from..=to], rates.len() - 1 - to)
    });
    groups.filter(|(group, above)| many(group, *above)).last().map(|(group, _)| group)
}

/// Returns the rates from one drop to the first that is so many bytes later, and so on from there.
fn rates(passed: &[Passed], (length, span): (f64, f64)) -> Vec<f64> {
    let lost: Vec<&Passed> = passed.iter().filter(|point| point.loss.is_some()).collect();
    let mut found = Vec::new();
    let mut from = 0;
    for to in 0..lost.len() {
        let (bytes, time) = (lost[to].bytes - lost[from].bytes, lost[to].at - lost[from].at);
        let exact = !lost[from].unseen && !lost[to].unseen;
        if bytes >= length && time > 0.0 && (exact || time >= span) {
            found.push(bytes / time);
            from = to;
        }
    }
    found
}

/// Returns the most that passed beyond the rate before a drop, since the beginning or the drop before it.
fn most_beyond(passed: &[Passed], rate: f64) -> f64 {
    let left = |point: &Passed| rate * point.at - point.bytes;
    // At the very beginning nothing had passed.
    let (mut fullest, mut most) = (0.0_f64, 0.0_f64);
    for point in passed {
        fullest = fullest.max(left(point));
        if point.loss.is_some() {
            most = most.max(fullest - left(point));
            fullest = left(point);
        }
    }
    most
}

/// Returns what the bucket held at each point. It is empty after a drop.
fn levels(passed: &[Passed], policer: Bucket) -> Vec<f64> {
    let mut level = policer.burst;
    let mut before = Passed::default();
    let mut levels = Vec::with_capacity(passed.len());
    for point in passed {
        let filled = policer.rate * (point.at - before.at);
        level = (level + filled).min(policer.burst) - (point.bytes - before.bytes);
        if point.rested {
            level = policer.burst.min(level + policer.burst);
        }
        levels.push(level);
        if point.loss.is_some() || level < 0.0 {
            level = 0.0;
        }
        before = *point;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path { mss: 1448.0, base: 0.01, ..Path::NONE };
    const MSS: f64 = PATH.mss;

    /// Returns what passes a bucket of this rate (bytes/s) and burst (bytes) of a sender that sends at
    /// `offered(t)` bytes/s, every 10 ms and at each drop for 20 s; if it `pauses`, for the last second of four.
    fn policed(policer: Bucket, offered: impl Fn(f64) -> f64, pauses: bool) -> Vec<Passed> {
        let (mut bytes, mut level, mut owed) = (0.0, policer.burst, 0.0);
        let mut points = Vec::new();
        let mut lost = None;
        for step in 1..=20_000_u32 {
            let at = f64::from(step) * 0.001;
            level = (level + policer.rate * 0.001).min(policer.burst);
            let pauses = pauses && at % 4.0 >= 3.0;
            if !pauses {
                owed += offered(at) * 0.001;
            }
            while owed >= MSS {
                owed -= MSS;
                match level >= MSS {
                    true => (level, bytes) = (level - MSS, bytes + MSS),
                    false => lost = Some(step),
                }
            }
            if step % 10 == 0 || lost.is_some() {
                let rested = pauses && at % 4.0 >= 3.985;
                points.push(Passed { at, bytes, loss: lost.take(), rested, unseen: false });
            }
        }
        points
    }

    /// A third faster than the rate for 0.4 s, then as much slower.
    fn in_turns(at: f64) -> f64 {
        if at % 0.8 >= 0.4 { 6.5e5 } else { 3.5e5 }
    }

    #[test]
    fn finds_rate_and_burst_of_any_bucket_with_and_without_pauses() {
        for burst in [2e4, 6e4, 2e5, 1e6] {
            for pauses in [false, true] {
                let truth = Bucket { rate: 5e5, burst, sure: true };
                let offered = |at: f64| in_turns(at) + burst / 2.0;
                let points = policed(truth, offered, pauses);
                let (found, levels) = explained(&points, &PATH).expect("a policer");
                assert!((found.rate / truth.rate - 1.0).abs() < 0.05, "{truth:?} {found:?}");
                assert!((found.burst / truth.burst - 1.0).abs() < 0.3, "{truth:?} {found:?}");
                let lost = points.iter().zip(&levels).filter(|(point, _)| point.loss.is_some());
                let near = lost.clone().filter(|(_, level)| **level <= slack(found, MSS)).count();
                assert!(near * 10 >= lost.count() * 9, "{truth:?} {found:?}");
            }
        }
    }

    #[test]
    fn finds_none_where_losses_come_by_chance() {
        // Between 300 and 700 kB/s, another rate for every half of a second.
        let rate = |at: f64| 3e5 + 4e5 * ((at * 2.0).floor() * 0.618).fract();
        let mut bytes = 0.0;
        let points: Vec<Passed> = (1..=2_000_u32)
            .map(|step| {
                let at = f64::from(step) * 0.01;
                bytes += rate(at) * 0.01;
                let loss = (step * 7919 % 70 < 1).then_some(step);
                Passed { at, bytes, loss, rested: false, unseen: false }
            })
            .collect();
        assert!(explained(&points, &PATH).is_none());
    }
}
