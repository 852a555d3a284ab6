//! Whether losses are those of a policer: a token bucket without a queue (Flach et al. 2016).
//!
//! At each loss the bucket is empty. So from one loss to the next the rate times the time has passed, or
//! less where the sender was slow for so long that the bucket was full meanwhile; then what passed since
//! is the burst and the rate times the time. Losses by chance come whatever the bucket would hold; a queue
//! that overflows lets round trips grow before.
//!
//! The rate is that of what passed between losses, the burst the most that went beyond it before one. The
//! bucket is then followed through the connection: it must be empty at losses, and far from it at times.

use super::losses::Verdict;
use super::path::Path;
use crate::Cause;
use crate::account::Stretch;
use crate::flow::Connection;
use crate::flow::loss::{Loss, Trigger};

/// Fewer losses come at an empty bucket by chance.
const LOSSES: usize = 6;
/// Between the first and the last of them at least so many segments have passed.
const SPAN: f64 = 400.0;
/// A rate is measured over so many segments at least.
const LENGTH: f64 = 100.0;
/// Where the bucket did not run over, rates between losses differ by this part at most ...
const ALIKE: f64 = 0.06;
/// ... and such are this part of all: losses by chance leave no two rates alike.
const MANY: f64 = 0.4;
/// No rate between losses exceeds it by more than this, but for what is not exact in it.
const EXCEEDS: f64 = 1.4;
/// The rate is this quantile of them: no more than that passes, less where the sender was slow.
const QUANTILE: f64 = 0.9;
/// Which of the bursts before losses is that of the bucket: most of them do not find it full.
const BURSTS: f64 = 0.9;
/// A bucket is empty where it holds no more than so many segments, or half of it ...
const SEGMENTS: f64 = 6.0;
/// ... or this part of it.
const PART: f64 = 0.15;
/// A loss is put down to a policer that is known where the bucket holds no more than so many times that.
const NEARLY: f64 = 1.5;
/// A bucket of fewer segments is none.
const LEAST: f64 = 8.0;
/// This part of all losses finds it empty.
const EMPTY: f64 = 0.6;
/// The path carries this much more than the rate.
const BEYOND: f64 = 1.45;
/// A round trip longer than the base by this part, and by this many seconds, shows a queue.
const RISEN: f64 = 0.3;
const QUEUE: f64 = 0.002;

/// A policer's rate and burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Policer {
    /// Bytes per second.
    pub(crate) rate: f64,
    /// Bytes that pass at once.
    pub(crate) burst: f64,
}

/// What a policer did.
#[derive(Clone, Debug)]
pub(super) struct Policed {
    /// By the number of the loss: whether the bucket was empty.
    empty: Vec<bool>,
}

/// What had passed at an instant.
#[derive(Clone, Copy, Debug)]
struct Passed {
    at: f64,
    bytes: f64,
    /// The loss that was noticed then.
    loss: Option<u32>,
}

/// Whether a packet that took so much longer than the base round trip has been in a queue, not behind a
/// delayed acknowledgment.
pub(super) fn is_queue(risen: f64, path: &Path) -> bool {
    risen > RISEN * path.base + QUEUE
}

/// The policer that explains the losses of one direction, if one does.
pub(super) fn policer(connection: &Connection, side: usize, path: &Path) -> Option<Policed> {
    let mine = |loss: &&Loss| usize::from(loss.side) == side;
    let mut losses = connection.losses.iter().filter(mine);
    let delivered = |loss: Option<&Loss>| loss.map_or(0, |loss| loss.delivered);
    let span = delivered(losses.clone().next_back()).saturating_sub(delivered(losses.next()));
    if losses.count() + 1 < LOSSES || (span as f64) < SPAN * path.mss {
        return None;
    }
    let passed = passed(connection, side);
    let found = fit(&passed, path.mss).filter(|found| path.rate >= BEYOND * found.rate)?;
    let slack = slack(found, path.mss);
    let mut empty = vec![false; connection.losses.len()];
    let (mut at_empty, mut all, mut queued) = (0, 0, 0);
    for (point, level) in passed.iter().zip(levels(&passed, found)) {
        let Some(number) = point.loss else { continue };
        let loss = &connection.losses[number as usize];
        empty[number as usize] = level <= NEARLY * slack;
        if loss.trigger == Trigger::Acks && loss.unneeded == 0 {
            all += 1;
            at_empty += usize::from(level <= slack && level >= -3.0 * slack);
            queued += usize::from(is_queue(loss.rtt.as_secs_f64() - path.base, path));
        }
    }
    let sound = all >= LOSSES && at_empty as f64 >= EMPTY * all as f64 && queued * 2 < all;
    sound.then_some(Policed { empty })
}

impl Policed {
    /// What a loss is put down to, given what it looks like otherwise.
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

fn slack(policer: Policer, mss: f64) -> f64 {
    (SEGMENTS * mss).min(policer.burst / 2.0).max(PART * policer.burst)
}

/// What had passed at the end of each stretch.
fn passed(connection: &Connection, side: usize) -> Vec<Passed> {
    let seconds = |at: ackord_units::Time| at.saturating_since(connection.began).as_secs_f64();
    let mut losses = connection.losses.iter().zip(0..).peekable();
    let mut bytes = 0.0;
    let point = |stretch: &Stretch| {
        if usize::from(stretch.side) == side {
            bytes += stretch.seen.acked as f64;
        }
        let mut loss = None;
        while let Some((_, number)) = losses.next_if(|(loss, _)| loss.at <= stretch.to) {
            let mine = usize::from(connection.losses[number as usize].side) == side;
            loss = if mine { Some(number) } else { loss };
        }
        Passed { at: seconds(stretch.to), bytes, loss }
    };
    connection.account.stretches().iter().map(point).collect()
}

/// Rate and burst, if the rate is one.
fn fit(passed: &[Passed], mss: f64) -> Option<Policer> {
    let lost: Vec<usize> =
        (0..passed.len()).filter(|number| passed[*number].loss.is_some()).collect();
    let mut rates = rates(passed, &lost, LENGTH * mss);
    rates.sort_by(f64::total_cmp);
    let rate = *rates.get((rates.len().saturating_sub(1) as f64 * QUANTILE) as usize)?;
    let alike = rates.iter().filter(|other| (*other / rate - 1.0).abs() <= ALIKE);
    let (sum, count) = alike.fold((0.0, 0), |(sum, count), rate| (sum + rate, count + 1));
    let highest = rates.last().copied().unwrap_or(0.0);
    let constant = count >= 3 && f64::from(count) >= MANY * rates.len() as f64;
    if !constant || highest > EXCEEDS * rate {
        return None;
    }
    let rate = sum / f64::from(count);
    let bursts = bursts(passed, &lost, rate);
    let at_first = *bursts.first()?;
    let mut sorted = bursts;
    sorted.sort_by(f64::total_cmp);
    let usual = sorted[((sorted.len() - 1) as f64 * BURSTS) as usize];
    let burst = usual.max(at_first);
    (burst >= LEAST * mss).then_some(Policer { rate, burst })
}

/// From each loss to the first that is so many bytes further.
fn rates(passed: &[Passed], lost: &[usize], length: f64) -> Vec<f64> {
    let mut found = Vec::with_capacity(lost.len());
    let mut to = 0;
    for &from in lost {
        let begin = passed[from];
        while to < lost.len() && passed[lost[to]].bytes - begin.bytes < length {
            to += 1;
        }
        let Some(end) = lost.get(to).map(|number| passed[*number]) else {
            break;
        };
        if end.at > begin.at {
            found.push((end.bytes - begin.bytes) / (end.at - begin.at));
        }
    }
    found
}

/// How far beyond the rate the sender went before each loss, since the one before.
fn bursts(passed: &[Passed], lost: &[usize], rate: f64) -> Vec<f64> {
    let left = |point: &Passed| rate * point.at - point.bytes;
    let mut from = 0;
    let of = |&to: &usize| {
        let most = passed[from..=to].iter().map(left).fold(f64::NEG_INFINITY, f64::max);
        from = to;
        most - left(&passed[to])
    };
    lost.iter().map(of).collect()
}

/// What the bucket held at each point. It is empty where a loss shows it to be.
fn levels(passed: &[Passed], policer: Policer) -> Vec<f64> {
    let mut level = policer.burst;
    let mut before = Passed { at: 0.0, bytes: 0.0, loss: None };
    let mut levels = Vec::with_capacity(passed.len());
    for point in passed {
        let came = policer.rate * (point.at - before.at);
        level = (level + came).min(policer.burst) - (point.bytes - before.bytes);
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

    const MSS: f64 = 1448.0;

    /// What has passed, every 10 ms for 20 s, with losses where `lost` says so.
    fn passed(mut rate: impl FnMut(f64) -> f64, lost: impl Fn(u32, f64) -> bool) -> Vec<Passed> {
        let mut bytes = 0.0;
        let point = |step: u32| {
            let at = f64::from(step) * 0.01;
            bytes += rate(at) * 0.01;
            Passed { at, bytes, loss: lost(step, bytes).then_some(step) }
        };
        (1..=2_000).map(point).collect()
    }

    #[test]
    fn losses_at_an_empty_bucket_are_a_policers() {
        // 500 kB/s and 100 kB: a third faster for a while, then slower, in turns of 0.8 s; lost where it
        // was faster for so long that the bucket is empty.
        let fast = |at: f64| at % 0.8 >= 0.4;
        let rate = |at: f64| if fast(at) { 6.5e5 } else { 3.5e5 };
        let policed = passed(rate, |step, _| step % 80 == 79);
        let found = fit(&policed, MSS).expect("a policer");
        assert!((found.rate - 5e5).abs() < 5e3, "{found:?}");
        assert!((found.burst - 6e4).abs() < 8e3, "{found:?}");
        let levels = levels(&policed, found);
        let at_losses = policed.iter().zip(&levels).filter(|(point, _)| point.loss.is_some());
        assert!(at_losses.clone().count() > 20);
        assert!(at_losses.clone().skip(1).all(|(_, level)| level.abs() < slack(found, MSS)));
        assert!(levels.iter().any(|level| *level > 3e4), "it is full at times");
    }

    #[test]
    fn losses_by_chance_leave_no_two_rates_alike() {
        // Between 300 and 700 kB/s, another rate for every half of a second.
        let rate = |at: f64| 3e5 + 4e5 * ((at * 2.0).floor() * 0.618).fract();
        let lost = |step: u32, _| step * 7919 % 70 < 1;
        assert_eq!(fit(&passed(rate, lost), MSS), None);
        // The same few losses are too few, whatever the rate.
        assert_eq!(fit(&passed(|_| 5e5, |step, _| step == 100 || step == 1_000), MSS), None);
    }
}
