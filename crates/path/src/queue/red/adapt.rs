//! What adaptive RED sets by itself (Floyd, Gummadi and Shenker 2001).

use super::RedConfig;
use super::average::Average;
use ackord_units::{Bytes, Rate, Span, Time};

/// max_p, and the instants at which it is looked at.
#[derive(Clone, Debug)]
pub(super) struct Adaptation {
    max_probability: f64,
    adaptive: bool,
    /// The target range: from 0.4 to 0.6 of the way between the thresholds.
    low: f64,
    high: f64,
    next_at: Time,
}

/// How often max_p is looked at.
const INTERVAL: Span = Span::from_millis(500);
/// The range in which max_p stays.
const BOTTOM: f64 = 0.01;
const TOP: f64 = 0.5;
/// The least step up, and the factor down.
const ALPHA: f64 = 0.01;
const BETA: f64 = 0.9;

impl Adaptation {
    pub(super) fn new(config: &RedConfig) -> Adaptation {
        let span = config.max_threshold - config.min_threshold;
        Adaptation {
            max_probability: config.max_probability,
            adaptive: config.adaptive,
            low: config.min_threshold + 0.4 * span,
            high: config.min_threshold + 0.6 * span,
            next_at: Time::ZERO + INTERVAL,
        }
    }

    /// Takes over the settings of `fresh`; max_p only where `sets_probability`.
    pub(super) fn adopt(&mut self, fresh: &Adaptation, sets_probability: bool) {
        let own = (self.max_probability, self.next_at);
        *self = Adaptation { next_at: own.1, ..fresh.clone() };
        if !sets_probability {
            self.max_probability = own.0;
        }
    }

    pub(super) fn max_probability(&self) -> f64 {
        self.max_probability
    }

    /// Does what was due up to `now`, before the packet that arrives then counts.
    pub(super) fn catch_up(&mut self, now: Time, average: &Average) {
        while self.adaptive && self.next_at <= now {
            self.step(average.at(self.next_at));
            self.next_at += INTERVAL;
        }
    }

    fn step(&mut self, average: f64) {
        if average > self.high && self.max_probability <= TOP {
            self.max_probability += ALPHA.min(self.max_probability / 4.0);
        } else if average < self.low && self.max_probability >= BOTTOM {
            self.max_probability *= BETA;
        }
    }
}

/// What the 2001 paper sets for a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AutomaticRed {
    /// min_th, packets.
    pub(crate) min_threshold: f64,
    /// w_q.
    pub(crate) average_weight: f64,
}

impl AutomaticRed {
    /// min_th is half the target delay in packets, but at least five (§4.3); w_q is `1 - exp(-1/C)`
    /// for C packets a second, a time constant of a second (§4.4, Eq. 3).
    pub(crate) fn of(rate: Rate, mean_packet: Bytes, target_delay: Span) -> AutomaticRed {
        let per_second = rate.as_bits_per_sec() as f64 / (8.0 * mean_packet.get() as f64);
        AutomaticRed {
            min_threshold: (target_delay.as_secs_f64() * per_second / 2.0).max(5.0),
            average_weight: one_less_exponential(1.0 / per_second),
        }
    }
}

/// `1 - exp(-x)` from sums and products alone.
fn one_less_exponential(x: f64) -> f64 {
    // The series of exp(-x/2^n), squared n times: each term is below a quarter of the last.
    let mut halvings = 0;
    let mut small = x;
    while small > 0.25 {
        small /= 2.0;
        halvings += 1;
    }
    let mut gap = (1..20).rev().fold(0.0, |sum, n| small / f64::from(n) * (1.0 - sum));
    for _ in 0..halvings {
        gap = gap * (2.0 - gap);
    }
    gap
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what a test expects may be off by a bit")]
mod tests {
    use super::*;

    #[test]
    fn the_automatic_values_are_the_papers() {
        // ns-2's comment and the paper's rule by hand: 15 Mbit/s of 1000 B packets are 1875 a
        // second; 5 ms of them are 9.4, half of which is below five.
        let of = |mbits| {
            AutomaticRed::of(Rate::from_mbits_per_sec(mbits), Bytes(1_000), Span::from_millis(5))
        };
        assert_eq!(of(15).min_threshold, 5.0);
        assert!((of(15).average_weight - (1.0 - (-1.0_f64 / 1_875.0).exp())).abs() < 1e-15);
        assert_eq!(of(100).min_threshold, 31.25);
    }

    #[test]
    fn one_less_the_exponential_is_right_over_the_range_of_links() {
        for x in [1e-9, 1e-4, 0.1, 0.25, 0.9, 2.0, 9.0] {
            let (found, known) = (one_less_exponential(x), -f64::exp_m1(-x));
            assert!((found - known).abs() < 1e-14, "{x}: {found} {known}");
        }
    }
}
