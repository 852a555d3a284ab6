//! The bucket that is empty at the drops.
//!
//! The rate is the highest that many spans between drops of one busy time have in common: a slow sender lets the
//! bucket run over, and in a pause of the application it fills, so that a burst passes. The burst is the most that
//! passed beyond the rate between two drops. The bucket is then followed from drop to drop: it must be empty at
//! nearly all of them.

use super::super::path::Path;
use super::points::Passed;

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
/// A rate is sure that so many spans have, and this part of them, where they differ by no more than that.
const SURE_RATES: usize = 5;
const SURE: f64 = 0.6;
const TIGHT: f64 = 0.03;
/// So many rates are alike at least.
const RATES: f64 = 4.0;
/// A bucket is empty where it holds no more than so many segments, or half of it.
const SEGMENTS: f64 = 8.0;
/// Where the time of a drop is not known exactly, the bucket holds no more than this part of it.
const HALF: f64 = 0.5;
/// A bucket of fewer segments is none.
const LEAST: f64 = 8.0;
/// This part of all drops finds it empty.
const EMPTY: f64 = 0.9;

/// A token bucket: bytes of payload per second, and bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    pub(super) rate: f64,
    pub(super) burst: f64,
    /// Whether most spans between drops have this rate.
    pub(super) sure: bool,
}

impl Bucket {
    /// Returns what an empty bucket may hold, bytes.
    pub(super) fn slack(&self, mss: f64) -> f64 {
        (SEGMENTS * mss).min(self.burst / 2.0)
    }
}

/// Returns the policer whose bucket is empty at most drops, with what it held at each point.
pub(super) fn explained(passed: &[Passed], path: &Path) -> Option<(Bucket, Vec<f64>)> {
    let found = fit(passed, path)?;
    let levels = levels(passed, found);
    let slack = found.slack(path.mss);
    let at_drops = passed.iter().zip(&levels).filter(|(point, _)| point.loss.is_some());
    let trip = found.rate * path.base;
    let near = |point: &Passed| match point.unseen {
        true => -slack - trip..=(slack + trip).min(found.burst * HALF),
        false => -slack..=slack,
    };
    let empty = at_drops.clone().filter(|(point, level)| near(point).contains(level)).count();
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
    let most = alike.len() >= SURE_RATES && alike.len() as f64 >= SURE * rates.len() as f64;
    let sure = most && alike[0] >= (1.0 - TIGHT) * alike[alike.len() - 1];
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
        // What passed during the pause is known to a round trip: the bucket is full unless more had passed.
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
                let near = lost.clone().filter(|(_, level)| **level <= found.slack(MSS)).count();
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
