//! Two sets of values against each other, independent or in pairs.

use crate::stats::{mean, std_dev};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A difference of means with a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The first mean less the second.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The difference of the means of `a` and `b`, which may scatter unlike each other and be of unlike number,
/// with an interval of this confidence (Welch 1947). Nothing for fewer than two values on a side.
pub fn welch(a: &[f64], b: &[f64], confidence: f64) -> Option<Difference> {
    let difference = mean(a)? - mean(b)?;
    let share = |values: &[f64]| Some(std_dev(values)?.powi(2) / values.len() as f64);
    let (of_a, of_b) = (share(a)?, share(b)?);
    let error = (of_a + of_b).sqrt();
    let each = of_a.powi(2) / (a.len() - 1) as f64 + of_b.powi(2) / (b.len() - 1) as f64;
    // Where nothing scatters the interval has no width, whatever the degrees of freedom.
    let degrees = if each > 0.0 { (of_a + of_b).powi(2) / each } else { 1.0 };
    let quantile = StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = quantile * error;
    Some(Difference { mean: difference, low: difference - half, high: difference + half })
}

/// Returns the mean of differences of pairs, with an interval of this confidence by Student's t; `None` for fewer than
/// two.
pub fn paired(differences: &[f64], confidence: f64) -> Option<Difference> {
    let (mean, spread) = (mean(differences)?, std_dev(differences)?);
    let degrees = (differences.len() - 1) as f64;
    let quantile = StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = quantile * spread / (differences.len() as f64).sqrt();
    Some(Difference { mean, low: mean - half, high: mean + half })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_example_comes_out() {
        // Two samples of a textbook's kind, worked by hand: means 5 and 2, variances 2.5 and 1, n = 5 and 3;
        // error sqrt(0.5 + 1/3) = 0.91287, degrees (5/6)^2 / (0.25/4 + (1/9)/2) = 5.882.
        let found = welch(&[3.0, 4.0, 5.0, 6.0, 7.0], &[1.0, 2.0, 3.0], 0.95).expect("enough");
        assert_eq!(found.mean, 3.0);
        let t = (found.high - found.mean) / 0.912_870_9;
        // Between the printed quantiles of 5 and 6 degrees.
        assert!((2.447..2.571).contains(&t), "{t}");
        assert!((found.high + found.low - 6.0).abs() < 1e-12);
    }

    #[test]
    fn one_value_tells_nothing_and_no_scatter_everything() {
        assert_eq!(welch(&[1.0], &[1.0, 2.0], 0.95), None);
        let found = welch(&[2.0, 2.0], &[1.0, 1.0], 0.999).expect("enough");
        assert_eq!((found.low, found.high), (1.0, 1.0));
    }

    #[test]
    fn pairs_have_the_printed_quantile_of_one_degree_less() {
        // Variance 2.5, n = 5: error 0.70711, and 2.776 is the printed quantile of 4 degrees.
        let found = paired(&[3.0, 4.0, 5.0, 6.0, 7.0], 0.95).expect("enough");
        assert!((found.high - 5.0 - 2.776 * 0.5_f64.sqrt()).abs() < 1e-3, "{found:?}");
        assert_eq!(paired(&[1.0], 0.95), None);
    }
}
