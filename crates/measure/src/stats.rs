//! Statistics of small sets of runs, and of shares.
//!
//! Sums run in the order given, so the same input gives the same bits. Not modelled: intervals for
//! anything but a mean of independent runs (no bootstrap, no correction for many comparisons). Intervals of shares may
//! reach beyond 100 %.

use ackord_units::portable;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean over runs with what is known of its spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// How many runs.
    pub runs: u32,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation; absent for a single run.
    pub std_dev: Option<f64>,
    /// Half width of the 95 % confidence interval of the mean by Student's t; absent for a
    /// single run.
    pub ci95: Option<f64>,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Estimate {
    /// A number that no chance enters: every run has it.
    pub fn exact(value: f64) -> Estimate {
        let nothing = Some(0.0);
        Estimate { runs: 1, mean: value, std_dev: nothing, ci95: nothing, min: value, max: value }
    }

    /// Each value more by a constant.
    #[must_use]
    pub fn plus(self, constant: f64) -> Estimate {
        let Estimate { mean, min, max, .. } = self;
        Estimate { mean: mean + constant, min: min + constant, max: max + constant, ..self }
    }

    /// Each value times a constant.
    #[must_use]
    pub fn times(self, factor: f64) -> Estimate {
        let ends = [self.min * factor, self.max * factor];
        Estimate {
            runs: self.runs,
            mean: self.mean * factor,
            std_dev: self.std_dev.map(|spread| spread * factor.abs()),
            ci95: self.ci95.map(|half| half * factor.abs()),
            min: ends[0].min(ends[1]),
            max: ends[0].max(ends[1]),
        }
    }

    /// How large it is, whatever its sign: the sign is that of the mean, so where the interval has zero in it,
    /// single values may be negative.
    #[must_use]
    pub fn magnitude(self) -> Estimate {
        if self.mean < 0.0 { self.times(-1.0) } else { self }
    }

    /// The difference to other runs, which are independent of these.
    #[must_use]
    pub fn less(self, other: &Estimate) -> Estimate {
        self.beside(other, self.mean - other.mean, [1.0, 1.0])
    }

    /// The quotient with other runs, which are independent of these: to first order, for means that are
    /// known well.
    #[must_use]
    pub fn over(self, other: &Estimate) -> Estimate {
        let mean = self.mean / other.mean;
        self.beside(other, mean, [1.0 / other.mean, mean / other.mean])
    }

    /// A mean whose interval follows from both, by how much it changes with each of them.
    fn beside(self, other: &Estimate, mean: f64, by: [f64; 2]) -> Estimate {
        let halves = self.ci95.zip(other.ci95);
        Estimate {
            runs: self.runs.min(other.runs),
            mean,
            std_dev: None,
            ci95: halves.map(|(one, two)| ((one * by[0]).powi(2) + (two * by[1]).powi(2)).sqrt()),
            min: mean,
            max: mean,
        }
    }
}

/// Quotient of the means of runs that belong together pair by pair, with the interval of a ratio estimator:
/// the scatter of what each pair is off the common quotient. Nothing without a run, or where a run has no
/// partner.
pub fn ratio(above: &[f64], below: &[f64]) -> Option<Estimate> {
    let (numerator, denominator) = (mean(above)?, mean(below)?);
    if above.len() != below.len() {
        return None;
    }
    let quotient = numerator / denominator;
    let off = |(above, below): (&f64, &f64)| quotient + (above - quotient * below) / denominator;
    let each: Vec<f64> = above.iter().zip(below).map(off).collect();
    Some(Estimate { mean: quotient, ..estimate(&each)? })
}

/// Mean, spread and interval of `values`; nothing if there are none.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    Some(Estimate {
        runs: u32::try_from(values.len()).ok()?,
        mean: mean(values)?,
        std_dev: std_dev(values),
        ci95: ci95_half_width(values),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

/// Arithmetic mean; nothing if there are no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (division by n - 1); nothing for fewer than two values.
pub fn std_dev(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Half width of the two-sided 95 % confidence interval of the mean, by Student's t with n - 1
/// degrees of freedom; nothing for fewer than two values.
pub fn ci95_half_width(values: &[f64]) -> Option<f64> {
    let std_dev = std_dev(values)?;
    Some(t_975(values.len() - 1) * std_dev / (values.len() as f64).sqrt())
}

/// Returns the ends of the 95 % interval of the mean of a quantity that cannot be negative, from its `mean` and the half
/// width by Student's t.
///
/// Where that interval would reach below zero, it is the one of the mean's logarithm by the delta method:
/// `mean * exp(±half / mean)`. Its upper end is above that of Student's t, and in simulations of skewed and of
/// symmetric quantities it covers the mean at least as often (`the_interval_of_an_amount_covers_as_often`).
pub fn amount_interval(mean: f64, half: f64) -> [f64; 2] {
    if half <= mean || mean <= 0.0 {
        return [mean - half, mean + half].map(|end| end.max(0.0));
    }
    let factor = portable::exp(half / mean);
    [mean / factor, mean * factor]
}

/// The 0.975 quantile of Student's t.
fn t_975(degrees_of_freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom as f64)
        .expect("two values or more leave at least one degree of freedom")
        .inverse_cdf(0.975)
}

/// Median; nothing if there are no values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `q` quantile (`q` from 0 to 1) by linear interpolation between order statistics (type 7 of
/// Hyndman and Fan 1996); nothing if there are no values.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let between = place - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * between)
}

/// Jain's fairness index (Jain, Chiu and Hawe 1984): 1/n when one takes all, 1 when all take the
/// same. Nothing if there are no shares or all are zero.
pub fn jain_index(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    // Rounding alone may lead beyond the index of equal shares.
    (squares > 0.0).then(|| (sum * sum / (shares.len() as f64 * squares)).min(1.0))
}

/// The smallest share over the largest, in percent (Chae and Choi 2004 call this fairness).
/// Nothing if there are no shares or all are zero.
pub fn min_max_percent(shares: &[f64]) -> Option<f64> {
    let most = shares.iter().copied().fold(0.0, f64::max);
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    // Divided first: equal shares are then exactly 100 %.
    (most > 0.0).then(|| least / most * 100.0)
}

/// Greatest distance of the empirical distribution functions of two sets of samples, 0 to 1
/// (Kolmogorov and Smirnov). Nothing if a set is empty.
pub fn ks_distance(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    let share = |values: &[f64], at: f64| {
        values.partition_point(|value| *value <= at) as f64 / values.len() as f64
    };
    let apart = |at: &f64| (share(&a, *at) - share(&b, *at)).abs();
    Some(a.iter().chain(&b).map(apart).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_t_quantiles_are_those_of_the_printed_table() {
        // NIST/SEMATECH e-Handbook of Statistical Methods §1.3.6.7.2.
        for (degrees, quantile) in [(1, 12.706), (2, 4.303), (4, 2.776), (19, 2.093), (100, 1.984)]
        {
            assert!((t_975(degrees) - quantile).abs() < 6e-4, "{degrees}: {}", t_975(degrees));
        }
    }

    #[test]
    fn four_known_values_have_their_interval() {
        let found = estimate(&[1.0, 2.0, 3.0, 4.0]).expect("four values");
        assert_eq!((found.mean, found.min, found.max, found.runs), (2.5, 1.0, 4.0, 4));
        assert!((found.std_dev.expect("four") - 1.290_994).abs() < 1e-6);
        // 3.1824 * 1.290994 / 2
        assert!((found.ci95.expect("four") - 2.054_27).abs() < 1e-4);
    }

    #[test]
    fn a_ratio_of_pairs_knows_what_pairs_have_in_common() {
        // Runs differ, pairs do not: twice as much in each.
        let found = ratio(&[2.0, 4.0, 8.0], &[1.0, 2.0, 4.0]).expect("three pairs");
        assert_eq!((found.mean, found.ci95), (2.0, Some(0.0)));
        let apart = estimate(&[2.0, 4.0, 8.0]).expect("three");
        let apart = apart.over(&estimate(&[1.0, 2.0, 4.0]).expect("three"));
        assert_eq!(apart.mean, 2.0);
        assert!(apart.ci95.expect("three") > 3.0, "{apart:?}");
        assert_eq!(ratio(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[], &[]), None);
    }

    #[test]
    fn intervals_follow_their_means() {
        let two = estimate(&[1.0, 3.0]).expect("two");
        let half = two.ci95.expect("two");
        assert_eq!(two.plus(1.0).mean, 3.0);
        assert_eq!(two.times(-2.0).ci95, Some(2.0 * half));
        assert_eq!((two.times(-2.0).min, two.times(-2.0).max), (-6.0, -2.0));
        let below = two.times(-1.0).magnitude();
        assert_eq!((below.mean, below.ci95, below.min, below.max), (2.0, Some(half), 1.0, 3.0));
        assert_eq!(two.magnitude(), two);
        let difference = two.less(&two);
        assert_eq!((difference.mean, difference.ci95), (0.0, Some((2.0 * half * half).sqrt())));
        let exact = Estimate::exact(4.0);
        assert_eq!(two.over(&exact).ci95, Some(half / 4.0));
        assert_eq!(two.less(&exact).ci95, Some(half));
    }

    #[test]
    fn an_interval_of_an_amount_stays_above_zero_and_reaches_farther_up() {
        for (mean, half) in [(1.0, 0.5), (1.0, 1.0), (1.0, 1.5), (0.01, 3.0), (0.0, 0.0)] {
            let [low, high] = amount_interval(mean, half);
            assert!(
                0.0 <= low && low <= mean && high >= mean + half,
                "{mean} ± {half}: {low} to {high}"
            );
        }
        assert_eq!(amount_interval(4.0, 1.0), [3.0, 5.0]);
    }

    /// Exponential, uniform, and mostly zero: sets of runs in which many intervals by Student's t reach below zero.
    #[test]
    fn the_interval_of_an_amount_covers_as_often() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        type Shape = fn(f64, f64) -> f64;
        let shapes: [(Shape, f64); 3] = [
            (|one, _| -portable::ln(1.0 - one), 1.0),
            (|one, _| one, 0.5),
            (|one, two| if two < 0.3 { -portable::ln(1.0 - one) } else { 0.0 }, 0.3),
        ];
        for (shape, expected) in shapes {
            for runs in [2, 3, 5, 10] {
                let (mut by_t, mut covered, mut crossed) = (0, 0, 0);
                for _ in 0..4_000 {
                    let values: Vec<_> = (0..runs).map(|_| shape(uniform(), uniform())).collect();
                    let found = estimate(&values).expect("runs");
                    let half = found.ci95.expect("two or more");
                    let [low, high] = amount_interval(found.mean, half);
                    by_t += u32::from((found.mean - expected).abs() <= half);
                    covered += u32::from(low <= expected && expected <= high);
                    crossed += u32::from(half > found.mean);
                }
                assert!(covered >= by_t, "{runs} runs: {covered} and {by_t} of 4000");
                assert!(runs > 3 || crossed > 1_000, "{runs} runs: {crossed} reached below zero");
            }
        }
    }

    #[test]
    fn one_run_has_a_mean_and_no_interval() {
        let found = estimate(&[7.0]).expect("one value");
        assert_eq!((found.mean, found.std_dev, found.ci95), (7.0, None, None));
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
        assert_eq!(quantile(&[10.0, 20.0], 0.25), Some(12.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn fairness_at_its_ends() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[9.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(min_max_percent(&[457.16, 54.84]).map(|p| p.round()), Some(12.0));
    }

    #[test]
    fn distributions_are_as_far_apart_as_their_functions() {
        assert_eq!(ks_distance(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(0.0));
        assert_eq!(ks_distance(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        // Ties: at 2 one has all, the other half.
        assert_eq!(ks_distance(&[2.0, 2.0], &[2.0, 5.0]), Some(0.5));
        assert_eq!(ks_distance(&[], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn jain_lies_between_one_over_n_and_one_whatever_the_scale(
            shares in prop::collection::vec(0.0f64..1e9, 1..50),
            scale in 1e-3f64..1e3,
        ) {
            prop_assume!(shares.iter().any(|share| *share > 1e-3));
            let index = jain_index(&shares).expect("some share is positive");
            prop_assert!(index >= 1.0 / shares.len() as f64 - 1e-12 && index <= 1.0 + 1e-12);
            let scaled: Vec<_> = shares.iter().map(|share| share * scale).collect();
            prop_assert!((jain_index(&scaled).expect("positive") - index).abs() < 1e-9);
        }

        #[test]
        fn quantiles_are_ordered_and_inside_the_extremes(
            values in prop::collection::vec(-1e6f64..1e6, 1..60),
            low in 0.0f64..1.0,
            high in 0.0f64..1.0,
        ) {
            let (low, high) = (low.min(high), low.max(high));
            let least = quantile(&values, 0.0).expect("values");
            let most = quantile(&values, 1.0).expect("values");
            let (a, b) = (quantile(&values, low), quantile(&values, high));
            prop_assert!(Some(least) <= a && a <= b && b <= Some(most));
        }

        #[test]
        fn the_interval_shrinks_when_the_same_spread_is_seen_more_often(
            values in prop::collection::vec(-1e3f64..1e3, 3..20),
        ) {
            prop_assume!(std_dev(&values).expect("three or more") > 1e-3);
            let twice: Vec<_> = values.iter().chain(&values).copied().collect();
            prop_assert!(ci95_half_width(&twice) < ci95_half_width(&values));
        }
    }
}
