//! Lengths and pauses: always the same, or drawn from a stream of the run's seed.
//!
//! Draws are worked out in floating point, with [`portable`] functions, and rounded to whole bytes
//! or nanoseconds at one place: a seed draws the same on every machine.

use ackord_units::{Keyword, RandomStream, portable};

/// How draws are spread about their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Distribution {
    /// Always the mean.
    Fixed,
    /// Anything from nothing to twice the mean, all alike.
    Uniform,
    /// Exponential.
    Exponential,
    /// Heavy-tailed: Pareto with index 1.5, cut off at a thousand times the mean (which lowers the
    /// mean by about 1 %).
    Pareto,
    /// As the gaps between a user's keystrokes: Pareto with index 0.9, cut off at 10 000 times the
    /// least (Paxson and Floyd 1995 §4, of the packets of TELNET connections).
    #[keyword = "telnet"]
    Keystrokes,
}

/// Whole numbers, one after the other.
#[derive(Clone, Debug)]
pub struct Draw {
    mean: u64,
    distribution: Distribution,
    stream: RandomStream,
}

const PARETO_INDEX: f64 = 1.5;
const PARETO_CUT: f64 = 1000.0;
const KEYSTROKE_INDEX: f64 = 0.9;
/// Longest gap over shortest. An index below one has no mean without a limit.
const KEYSTROKE_RANGE: f64 = 1e4;

impl Draw {
    /// Numbers whose mean is `mean`.
    pub fn new(mean: u64, distribution: Distribution, stream: RandomStream) -> Draw {
        Draw { mean, distribution, stream }
    }

    /// The number that every draw yields, if it is always the same.
    pub(crate) fn constant(&self) -> Option<u64> {
        (self.distribution == Distribution::Fixed).then_some(self.mean)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        let mean = self.mean as f64;
        let drawn = match self.distribution {
            Distribution::Fixed => return self.mean,
            Distribution::Uniform => {
                let width = u128::from(self.mean) * 2 + 1;
                return ((u128::from(self.stream.next_u64()) * width) >> 64) as u64;
            }
            Distribution::Exponential => -mean * portable::ln(self.above_zero()),
            Distribution::Pareto => {
                let least = mean * (PARETO_INDEX - 1.0) / PARETO_INDEX;
                let over_least = portable::pow(self.above_zero(), -1.0 / PARETO_INDEX);
                (least * over_least).min(mean * PARETO_CUT)
            }
            Distribution::Keystrokes => {
                // The share of an unlimited Pareto law that lies beyond the longest gap.
                let beyond = portable::pow(KEYSTROKE_RANGE, -KEYSTROKE_INDEX);
                let mean_over_least = KEYSTROKE_INDEX / (1.0 - KEYSTROKE_INDEX)
                    * (portable::pow(KEYSTROKE_RANGE, 1.0 - KEYSTROKE_INDEX) - 1.0)
                    / (1.0 - beyond);
                let above = beyond + (1.0 - beyond) * self.above_zero();
                mean / mean_over_least * portable::pow(above, -1.0 / KEYSTROKE_INDEX)
            }
        };
        // The one place where draws are rounded.
        drawn.round() as u64
    }

    /// Uniform in (0, 1], with 53 bits.
    fn above_zero(&mut self) -> f64 {
        ((self.stream.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 20_000;

    fn draws(distribution: Distribution) -> Vec<u64> {
        let mut draw = Draw::new(100_000, distribution, RandomStream::for_element(5, "draw"));
        (0..DRAWS).map(|_| draw.draw()).collect()
    }

    fn mean(values: &[u64]) -> f64 {
        values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64
    }

    #[test]
    fn every_law_has_the_mean_it_was_asked_for() {
        assert!(draws(Distribution::Fixed).iter().all(|value| *value == 100_000));
        // Standard deviation of the mean: 408 for uniform draws, 707 for exponential ones; five
        // of them. The tail of Pareto draws converges slowly. Keystroke gaps have a standard
        // deviation of about 10 means, 7400 in the mean of so many; four of them.
        for (distribution, within) in [
            (Distribution::Uniform, 2_050.0),
            (Distribution::Exponential, 3_550.0),
            (Distribution::Pareto, 12_000.0),
            (Distribution::Keystrokes, 29_000.0),
        ] {
            let mean = mean(&draws(distribution));
            assert!((mean - 100_000.0).abs() < within, "{distribution:?}: {mean}");
        }
    }

    #[test]
    fn laws_differ_in_their_tails() {
        let beyond = |distribution, limit| {
            draws(distribution).iter().filter(|value| **value > limit).count()
        };
        assert_eq!(beyond(Distribution::Uniform, 200_000), 0);
        // exp(-5) = 0.67 % of the draws, 135 with a standard deviation of 12; Pareto
        // (1/15)^1.5 = 1.7 %, 344 with 18.
        assert!(beyond(Distribution::Exponential, 500_000).abs_diff(135) < 60);
        assert!(beyond(Distribution::Pareto, 500_000).abs_diff(344) < 90);
        assert_eq!(beyond(Distribution::Pareto, 100_000_000), 0);
        // Least 7350, longest 73.5 million; half lie below 2^(1/0.9) = 2.16 times the least.
        let gaps = draws(Distribution::Keystrokes);
        assert!(gaps.iter().all(|gap| (7_300..=73_600_000).contains(gap)));
        let short = gaps.iter().filter(|gap| **gap < 15_880).count();
        assert!(short.abs_diff(DRAWS as usize / 2) < 400, "{short}");
    }
    #[test]
    fn a_seed_draws_the_same_numbers_on_every_machine() {
        // Worked out apart from this code. The last bit of a draw moves the sum: with the GNU C
        // library's logarithm and power it is another one for each of the three laws.
        let sum = |distribution| -> u64 {
            let mut draw = Draw::new(
                1_000_000_000_000_000,
                distribution,
                RandomStream::for_element(5, "draw"),
            );
            (0..1_000).map(|_| draw.draw()).sum()
        };
        assert_eq!(sum(Distribution::Exponential), 947_254_855_677_120_489);
        assert_eq!(sum(Distribution::Pareto), 909_400_589_485_916_727);
        assert_eq!(sum(Distribution::Keystrokes), 844_206_561_783_445_669);
    }
}
