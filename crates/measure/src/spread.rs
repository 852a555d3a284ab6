//! Mean, quantiles and extremes of many time spans in bounded memory.
//!
//! Mean, minimum and maximum are exact. Quantiles come from a log-linear histogram and are within
//! the resolution the caller chose; they never lie outside the extremes.

use crate::buckets::Buckets;
use ackord_units::Span;
use serde::Serialize;

/// Collects time spans.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Those of more than zero.
    longer: Buckets,
    /// Those of zero, which most are of packets that find their link free.
    zeros: u64,
    total_ns: u128,
    /// Of those of more than zero.
    least: Span,
    most: Span,
}

/// What a [`Spread`] adds up to, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpreadSummary {
    /// How many spans there were.
    pub samples: u64,
    /// Arithmetic mean.
    pub mean_ms: f64,
    /// Shortest.
    pub min_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Longest.
    pub max_ms: f64,
}

impl Spread {
    /// Quantiles within 0.1 %; about 170 kB once a span of a second has been seen.
    pub fn fine() -> Spread {
        Spread::with_digits(3)
    }

    /// Quantiles within 1 %; about 25 kB once a span of a second has been seen.
    pub fn coarse() -> Spread {
        Spread::with_digits(2)
    }

    fn with_digits(digits: u32) -> Spread {
        Spread {
            longer: Buckets::with_digits(digits),
            zeros: 0,
            total_ns: 0,
            least: Span::MAX,
            most: Span::ZERO,
        }
    }

    /// Takes one more.
    #[inline(always)]
    pub fn add(&mut self, span: Span) {
        if span == Span::ZERO {
            self.zeros += 1;
            return;
        }
        self.longer.add(span.as_nanos());
        self.total_ns += u128::from(span.as_nanos());
        self.least = self.least.min(span);
        self.most = self.most.max(span);
    }

    /// What they add up to; nothing if there were none.
    pub fn summary(&self) -> Option<SpreadSummary> {
        self.summary_with_zeros(0)
    }

    /// What they add up to with so many more of zero; nothing if there were none.
    pub(crate) fn summary_with_zeros(&self, more: u64) -> Option<SpreadSummary> {
        let zeros = self.zeros + more;
        let samples = self.longer.total() + zeros;
        if samples == 0 {
            return None;
        }
        let least = if zeros > 0 { Span::ZERO } else { self.least };
        let quantile = |q: f64| {
            let rank = ((q * samples as f64).ceil() as u64).max(1);
            let beyond_zeros = rank.checked_sub(zeros).filter(|rank| *rank > 0);
            let nanos = beyond_zeros.and_then(|rank| self.longer.at_rank(rank)).unwrap_or(0);
            ms(Span::from_nanos(nanos).clamp(least, self.most))
        };
        Some(SpreadSummary {
            samples,
            mean_ms: self.total_ns as f64 / samples as f64 / 1e6,
            min_ms: ms(least),
            p50_ms: quantile(0.5),
            p99_ms: quantile(0.99),
            max_ms: ms(self.most),
        })
    }
}

fn ms(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_spans_have_no_summary() {
        assert_eq!(Spread::fine().summary(), None);
    }

    #[test]
    fn a_hundred_known_spans_give_their_own_quantiles() {
        let mut spread = Spread::fine();
        (1..=100).for_each(|i| spread.add(Span::from_millis(i)));
        let summary = spread.summary().expect("a hundred spans");
        assert_eq!((summary.samples, summary.min_ms, summary.max_ms), (100, 1.0, 100.0));
        assert!((summary.mean_ms - 50.5).abs() < 1e-9);
        assert!((summary.p50_ms - 50.0).abs() < 0.05, "{summary:?}");
        assert!((summary.p99_ms - 99.0).abs() < 0.1, "{summary:?}");
    }

    proptest! {
        #[test]
        fn quantiles_stay_within_the_stated_resolution(
            mut nanos in prop::collection::vec(prop_oneof![Just(0), 0u64..10_000_000_000], 1..400),
        ) {
            let mut spread = Spread::fine();
            nanos.iter().for_each(|n| spread.add(Span::from_nanos(*n)));
            nanos.sort_unstable();
            let rank = (nanos.len() as f64 * 0.99).ceil() as usize;
            let exact = nanos[rank - 1] as f64 / 1e6;
            let summary = spread.summary().expect("at least one span");
            prop_assert!((summary.p99_ms - exact).abs() <= exact * 1e-3 + 1e-6);
            prop_assert!(summary.min_ms <= summary.p50_ms && summary.p50_ms <= summary.p99_ms);
            prop_assert!(summary.p99_ms <= summary.max_ms);
        }
    }
}
