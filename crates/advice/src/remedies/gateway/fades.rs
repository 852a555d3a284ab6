//! Times at which nothing passes the link: how often they begin, and how long they last.
//!
//! A fade shows as a run of transmissions that are all lost. It lasted at least from the first to the last of them, and
//! at most from the transmission that arrived before to the one that arrived after: a sender's timer doubles, so the
//! two differ by a factor. The distribution of the lengths is the one that makes all these intervals most likely
//! (Turnbull 1976, interval-censored data), found by expectation maximisation on a grid.

use super::downloads::Download;
use ackord_units::RandomStream;
use ackord_units::portable::{exp, ln};

/// Shorter runs of losses are none, s: a sender has repeated nothing yet.
const LEAST_S: f64 = 0.1;
/// Expected number of runs that would come about by chance.
const BY_CHANCE: f64 = 0.05;
/// Lengths on the grid, per factor of e.
const PER_E: f64 = 20.0;
/// Rounds of expectation maximisation.
const ROUNDS: usize = 200;
/// Smaller weights are none.
const LEAST_WEIGHT: f64 = 1e-3;

/// A fade, as a download shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fade {
    /// Since the connection's first packet, s.
    pub(super) from_s: f64,
    /// Shortest time that it may have lasted, s.
    pub(super) least_s: f64,
    /// Longest, s.
    pub(super) most_s: f64,
}

/// All fades.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fades {
    /// Number seen.
    pub(super) count: usize,
    /// Mean time from the end of one to the beginning of the next, s.
    pub(super) every_s: f64,
    /// Lengths with their probabilities, s.
    pub(super) lengths: Vec<(f64, f64)>,
}

impl Fade {
    /// Returns the fades of a download: runs of losses that are too long for chance.
    pub(super) fn all(download: &Download) -> Vec<Fade> {
        let sent = &download.sent;
        let runs = runs(sent.iter().map(|one| one.lost));
        let span = |&(from, to): &(usize, usize)| sent[to - 1].t - sent[from].t;
        let long: Vec<(usize, usize)> =
            runs.iter().copied().filter(|run| span(run) >= LEAST_S).collect();
        let within: usize = long.iter().map(|(from, to)| to - from).sum();
        let lost = sent.iter().filter(|one| one.lost).count() - within;
        // Laplace's estimate: one loss more than was seen.
        let share = (lost + 1) as f64 / (sent.len() - within + 2) as f64;
        let needed = ln(BY_CHANCE / (sent.len() as f64 + 1.0)) / ln(share.min(0.9));
        let is_one = |&(from, to): &(usize, usize)| (to - from) as f64 >= needed.max(2.0);
        let fade = |(from, to): (usize, usize)| {
            let before = from.checked_sub(1).map_or(sent[from].t, |at| sent[at].t);
            let after = sent.get(to).map_or(download.lasted_s, |one| one.t);
            Fade {
                from_s: sent[from].t,
                least_s: sent[to - 1].t - sent[from].t,
                most_s: (after - before).max(sent[to - 1].t - sent[from].t),
            }
        };
        long.into_iter().filter(is_one).map(fade).collect()
    }
}

/// Returns where `true` stands, as half-open ranges.
fn runs(values: impl Iterator<Item = bool>) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in values.enumerate().filter(|(_, value)| *value) {
        match found.last_mut() {
            Some((_, to)) if *to == at => *to = at + 1,
            _ => found.push((at, at + 1)),
        }
    }
    found
}

impl Fades {
    pub(super) fn of(downloads: &[Download]) -> Fades {
        let each: Vec<Vec<Fade>> = downloads.iter().map(Fade::all).collect();
        let all: Vec<Fade> = each.iter().flatten().copied().collect();
        if all.is_empty() {
            return Fades::default();
        }
        let lengths = lengths(&all);
        let mut fades = Fades { count: all.len(), every_s: 0.0, lengths };
        let busy: f64 = downloads.iter().map(|one| one.time_s).sum();
        let up = (busy - fades.mean_s() * all.len() as f64).max(0.1 * busy);
        fades.every_s = up / all.len() as f64;
        fades
    }

    /// Mean length, s.
    pub(super) fn mean_s(&self) -> f64 {
        self.lengths.iter().map(|(length, weight)| length * weight).sum()
    }

    /// Draws fades from `0` to `until_s`: times and lengths. The link is in a fade at `0` as often as at any time.
    pub(super) fn draw(&self, until_s: f64, stream: &mut RandomStream) -> Vec<(f64, f64)> {
        let mut found = Vec::new();
        let longest = self.lengths.iter().map(|one| one.0).fold(0.0, f64::max);
        // From so long before that nothing of the beginning is left.
        let mut t = -5.0 * (longest + self.every_s);
        while !self.lengths.is_empty() {
            t += self.every_s * stream.standard_exponential();
            let mut left = stream.unit();
            let drawn = self.lengths.iter().find(|(_, weight)| {
                left -= weight;
                left <= 0.0
            });
            let length = drawn.or(self.lengths.last()).map_or(0.0, |one| one.0);
            if t >= until_s {
                break;
            }
            let end = t + length;
            if end > 0.0 {
                found.push((t.max(0.0), end - t.max(0.0)));
            }
            t = end;
        }
        found
    }
}

/// Returns the likeliest distribution of lengths.
fn lengths(fades: &[Fade]) -> Vec<(f64, f64)> {
    let bounds =
        |fade: &Fade| (fade.least_s.max(1e-3), fade.most_s.max(1.01 * fade.least_s.max(1e-3)));
    let low = fades.iter().map(|fade| bounds(fade).0).fold(f64::INFINITY, f64::min);
    let high = fades.iter().map(|fade| bounds(fade).1).fold(0.0, f64::max);
    let steps = (PER_E * ln(high / low)).ceil().max(1.0);
    let grid: Vec<f64> =
        (0..=steps as usize).map(|at| low * exp(at as f64 / steps * ln(high / low))).collect();
    let mut weights = vec![1.0 / grid.len() as f64; grid.len()];
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; grid.len()];
        for (low, high) in fades.iter().map(bounds) {
            let within = |at: &usize| grid[*at] >= low * 0.999 && grid[*at] <= high * 1.001;
            let all: f64 = (0..grid.len()).filter(within).map(|at| weights[at]).sum();
            for at in (0..grid.len()).filter(within) {
                next[at] += weights[at] / all.max(f64::MIN_POSITIVE) / fades.len() as f64;
            }
        }
        weights = next;
    }
    let kept: Vec<(f64, f64)> =
        grid.into_iter().zip(weights).filter(|(_, weight)| *weight >= LEAST_WEIGHT).collect();
    let sum: f64 = kept.iter().map(|one| one.1).sum();
    kept.into_iter().map(|(length, weight)| (length, weight / sum)).collect()
}
