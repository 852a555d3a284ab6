//! What a connection shows of its path: the base round trip, the rate, how far the queue rose.

use crate::account::{Stretch, Wait};
use crate::flow::Connection;

/// What is known of the path in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Path {
    /// Shortest round trip, s.
    pub(crate) base: f64,
    /// Highest rate of delivery over some round trips, bytes per second.
    pub(crate) rate: f64,
    /// The highest over some more: what a shaper let pass before it held back.
    pub(crate) burst_rate: f64,
    /// The rate that this connection had for most of the time in which a queue stood; zero if none did.
    pub(crate) queued_rate: f64,
    /// Most that the round trip rose above the base, s: a mean over a stretch.
    pub(crate) queue_most: f64,
    /// How high the queue was when it overflowed: the median over the losses, where that is high; the
    /// highest otherwise.
    pub(crate) queue_at_losses: f64,
    /// The part of that which shows a loss to be by congestion.
    pub(crate) loss_share: f64,
    /// A round trip risen by this shows a queue, s.
    pub(crate) queue_least: f64,
    /// The rate held for long: the share of the sending time at nine tenths of it or more.
    pub(crate) plateau: f64,
    /// Bytes of a full segment.
    pub(crate) mss: f64,
    /// Mean length of its segments is far below the MSS: an application that sends little.
    pub(crate) sparse: bool,
}

/// The rate is taken over this many round trips, and this long, at least.
const ROUND_TRIPS: f64 = 2.0;
const WINDOW: f64 = 0.05;

/// What a shaper let pass at once came in this part of a connection.
const EARLY: usize = 3;
/// A queue is told from jitter where it is this many times as long as the mean step between samples.
const JITTERS: f64 = 4.0;
/// A standing queue above this and above the base round trip is more than a buffer is for, s.
const BLOATED: f64 = 0.1;
/// Bytes that a packet has beside its payload.
const HEADERS: f64 = 66.0;
/// Fewer round-trip times may all be of delayed ACKs.
const RTTS: u32 = 4;

/// Segments of less than this share of the MSS on average come from an application that sends little.
const SPARSE: f64 = 0.5;

/// Whether bytes were sent as fast as a window let them.
pub(crate) fn is_bulk(stretch: &Stretch) -> bool {
    matches!(
        stretch.wait,
        Wait::SlowStart | Wait::Window | Wait::Recovery | Wait::ReceiverWindow | Wait::SlowReader
    )
}

/// Returns true if enough round trips were measured.
pub(super) fn is_measured(stretch: &Stretch) -> bool {
    stretch.seen.rtts >= RTTS
}

impl Path {
    /// A path of which nothing is known.
    #[cfg(test)]
    pub(super) const NONE: Path = Path {
        base: 0.0,
        rate: 0.0,
        burst_rate: 0.0,
        queued_rate: 0.0,
        queue_most: 0.0,
        queue_at_losses: 0.0,
        loss_share: 0.0,
        queue_least: 0.0,
        plateau: 0.0,
        mss: 0.0,
        sparse: false,
    };

    pub(crate) fn of(connection: &Connection, side: usize) -> Path {
        let base = connection.base(side).as_secs_f64();
        let mss = f64::from(connection.halves[side].mss());
        let stretches: Vec<&Stretch> = connection
            .account
            .stretches()
            .iter()
            .filter(|stretch| usize::from(stretch.side) == side)
            .collect();
        let rate = highest_rate(&stretches, (base * ROUND_TRIPS).max(WINDOW));
        let serialisation = if rate > 0.0 { 3.0 * (mss + HEADERS) / rate } else { 0.0 };
        let half = &connection.halves[side];
        let (sum, count) = half.jitters;
        let jitter = if count > 0 { sum as f64 / 1e9 / f64::from(count) } else { 0.0 };
        let queue_least = (0.02 * base).max(0.001).max(serialisation).max(JITTERS * jitter);
        let risen = |stretch: &&Stretch| {
            let enough = is_measured(stretch) && is_bulk(stretch);
            stretch.seen.rtt_mean().filter(|_| enough).map(|mean| mean / 1e9 - base)
        };
        let queue_most = stretches.iter().filter_map(risen).fold(0.0, f64::max);
        let sparse = half.counts.bytes as f64 <= SPARSE * mss * half.counts.segments as f64;
        let (queue_at_losses, loss_share) = queue_at_losses(connection, side, base, queue_most);
        let early = stretches.len().div_ceil(EARLY);
        let burst_rate =
            highest_rate(&stretches[..early], (base * 2.0 * ROUND_TRIPS).max(5.0 * WINDOW));
        let path = Path {
            mss,
            burst_rate,
            queue_at_losses,
            loss_share,
            base,
            rate,
            queue_most,
            queue_least,
            sparse,
            ..Path::default()
        };
        let queued_rate = path.queued_rate(&stretches);
        Path { queued_rate, plateau: plateau(&stretches, rate), ..path }
    }

    /// The median rate, weighed by time, of stretches during which the queue never emptied.
    fn queued_rate(&self, stretches: &[&Stretch]) -> f64 {
        let mut rates: Vec<(f64, f64)> = stretches
            .iter()
            .filter(|stretch| is_bulk(stretch) && self.stands(stretch))
            .map(|stretch| (stretch.rate(), stretch.span().as_secs_f64()))
            .collect();
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = rates.iter().map(|(_, span)| span).sum::<f64>() / 2.0;
        let mut sum = 0.0;
        let median = rates.iter().find(|(_, span)| {
            sum += span;
            sum >= half
        });
        median.map_or(0.0, |(rate, _)| *rate)
    }

    /// Whether the path carries what it can: its queue never empties, or the rate is that of a path that
    /// has a queue at other times, or holds for long.
    pub(crate) fn is_full(&self, stretch: &Stretch) -> bool {
        let rate = stretch.rate();
        let as_queued = self.queued_rate >= 0.7 * self.rate && rate >= 0.93 * self.queued_rate;
        self.stands(stretch) || as_queued || (self.plateau >= 0.5 && rate >= 0.9 * self.rate)
    }

    /// Whether this is the rate that the path keeps to where a queue stands, and once was higher.
    pub(crate) fn holds(&self, stretch: &Stretch) -> bool {
        let near = (stretch.rate() - self.queued_rate).abs() <= 0.2 * self.queued_rate;
        near && self.queued_rate > 0.0 && self.queued_rate < 0.75 * self.burst_rate
    }

    /// Whether the queue never emptied during a stretch: even the shortest round trip was longer.
    pub(crate) fn stands(&self, stretch: &Stretch) -> bool {
        is_measured(stretch)
            && self.standing(stretch).is_some_and(|queue| queue >= self.queue_least)
    }

    /// The least that a packet waited during a stretch, s.
    pub(crate) fn standing(&self, stretch: &Stretch) -> Option<f64> {
        let least = stretch.seen.rtt_least as f64 / 1e9;
        (stretch.seen.rtts > 0).then(|| (least - self.base).max(0.0))
    }

    /// Returns true if a packet that waited for this long, s, waited in a queue of more than a buffer is for.
    pub(crate) fn is_bloated(&self, waited: f64) -> bool {
        waited > BLOATED.max(self.base)
    }

    /// Returns the time that a full packet takes at the rate of this connection, s. Where its own packets fill the
    /// path, this is no wait.
    pub(crate) fn transmission(&self) -> f64 {
        if self.rate > 0.0 { (self.mss + HEADERS) / self.rate } else { 0.0 }
    }

    /// How far the round trip was above the base during a stretch, s.
    pub(crate) fn queue(&self, stretch: &Stretch) -> Option<f64> {
        stretch.seen.rtt_mean().map(|mean| (mean / 1e9 - self.base).max(0.0))
    }

    /// Bytes under way that fill the path.
    pub(crate) fn bdp(&self) -> f64 {
        self.rate * self.base
    }
}

/// Losses by congestion come where the queue is as long as it can be. How long that is, and which part of
/// it a queue before a loss has to have: nearly all, where many losses come at short queues.
fn queue_at_losses(connection: &Connection, side: usize, base: f64, most: f64) -> (f64, f64) {
    let of_side = connection.losses.iter().filter(|loss| usize::from(loss.side) == side);
    let mut queues: Vec<f64> = of_side.map(|loss| loss.rtt.as_secs_f64() - base).collect();
    queues.sort_by(f64::total_cmp);
    let at = |part: f64| queues[((queues.len() - 1) as f64 * part) as usize];
    if queues.len() < 4 {
        return (most, 0.5);
    }
    let alike = at(0.2) >= 0.6 * at(0.8) && at(0.5) >= 0.3 * most;
    let full = if alike { at(0.5).min(most) } else { most };
    let short = queues.iter().filter(|queue| **queue < 0.5 * full).count();
    (full, if short * 5 > queues.len() * 2 { 0.85 } else { 0.5 })
}

/// Returns the highest rate over `window` seconds of stretches that follow each other. A folded stretch counts
/// by itself.
fn highest_rate(stretches: &[&Stretch], window: f64) -> f64 {
    let mut highest = 0.0_f64;
    let (mut first, mut acked, mut span) = (0, 0_u64, 0.0);
    for (index, stretch) in stretches.iter().enumerate() {
        let own = stretch.span().as_secs_f64();
        if stretch.is_folded() {
            let rate = if own >= window { stretch.rate() } else { 0.0 };
            highest = highest.max(rate);
            (first, acked, span) = (index + 1, 0, 0.0);
            continue;
        }
        if index > 0 && stretches[index - 1].to != stretch.from {
            (first, acked, span) = (index, 0, 0.0);
        }
        acked += stretch.seen.acked;
        span += own;
        while span - stretches[first].span().as_secs_f64() >= window {
            acked -= stretches[first].seen.acked;
            span -= stretches[first].span().as_secs_f64();
            first += 1;
        }
        if span >= window {
            highest = highest.max(acked as f64 / span);
        }
    }
    if highest > 0.0 {
        return highest;
    }
    // Too short for a window: what it had all in all.
    let all: u64 = stretches.iter().map(|stretch| stretch.seen.acked).sum();
    let bulk = stretches.iter().filter(|stretch| is_bulk(stretch) || stretch.wait == Wait::Transit);
    let span: f64 = bulk.map(|stretch| stretch.span().as_secs_f64()).sum();
    if span > 0.0 { all as f64 / span } else { 0.0 }
}

/// The share of the sending time at nine tenths of the rate or more.
fn plateau(stretches: &[&Stretch], rate: f64) -> f64 {
    let (mut at_rate, mut all) = (0.0, 0.0);
    for stretch in stretches.iter().filter(|stretch| is_bulk(stretch)) {
        let span = stretch.span().as_secs_f64();
        all += span;
        if stretch.rate() >= 0.9 * rate {
            at_rate += span;
        }
    }
    if all > 0.0 { at_rate / all } else { 0.0 }
}
