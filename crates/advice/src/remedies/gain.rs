//! A gain with its interval: one definition for offers, tables, JSON and verification.
//!
//! A gain is the share of the active time ([`active_s`](super::facts::active_s)) that a connection no
//! longer needs. Its interval has three parts: how simulated runs scatter, how far the model is from what
//! was observed, and what follows from the range in which the rate of the path may be. It always
//! has a width.

/// Error of a model that reproduces the observed time exactly, percent of the time that it predicts.
pub(super) const LEAST_ERROR_PERCENT: f64 = 5.0;
/// An interval is at least this wide to either side, percent.
const LEAST_HALF_PERCENT: f64 = 0.5;
/// Nothing takes no time at all.
const MOST_PERCENT: f64 = 99.9;

/// A gain in percent of the active time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gain {
    pub(super) percent: f64,
    pub(super) ci95: [f64; 2],
}

/// What a gain is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    /// Gain of the simulated transfer, percent of its time.
    pub(super) percent: f64,
    /// Half of the interval of its mean over runs, percent.
    pub(super) scatter: f64,
    /// Gains at the lowest and the highest rate that the path may have, percent.
    pub(super) at_rates: Option<[f64; 2]>,
    /// Share of the active time to which the gain applies, 0 to 1.
    pub(super) applies_to: f64,
    /// How far the model is off, percent of the time.
    pub(super) error_percent: f64,
    /// The most that the bound of the rate leaves to gain, percent; of the gain, and of its interval.
    pub(super) most: [f64; 2],
}

impl Gain {
    /// Returns the gain of a connection.
    pub(super) fn new(evidence: &Evidence) -> Gain {
        let of_all = |percent: f64| evidence.applies_to * percent;
        let off = together(evidence.error_percent, LEAST_ERROR_PERCENT) / 100.0;
        let around = |percent: f64, scatter: f64| {
            let half = together(scatter, off * (100.0 - percent)).max(LEAST_HALF_PERCENT);
            [percent - half, percent + half]
        };
        let percent = of_all(evidence.percent);
        let [mut low, mut high] = around(percent, of_all(evidence.scatter));
        for other in evidence.at_rates.into_iter().flatten() {
            let [least, most] = around(of_all(other), of_all(evidence.scatter));
            (low, high) = (low.min(least), high.max(most));
        }
        let [most, most_of_interval] = evidence.most;
        Gain::bounded(percent, [low, high], [most, most_of_interval.max(most)])
    }

    /// Returns a gain within its bounds: the interval has a width, and the gain is in it.
    pub(super) fn bounded(percent: f64, [low, high]: [f64; 2], most: [f64; 2]) -> Gain {
        let [most, most_of_interval] = most.map(|most| most.min(MOST_PERCENT));
        let percent = percent.min(most);
        let high = high.min(most_of_interval).max(percent);
        let low = low.min(percent - LEAST_HALF_PERCENT);
        Gain { percent, ci95: [low, high] }
    }
}

/// The root of the sum of two squares.
pub(super) fn together(one: f64, other: f64) -> f64 {
    (one * one + other * other).sqrt()
}
