//! Delays recorded as they happen, and told as quantiles and as counts up to fixed bounds.

use ackord_units::Span;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The bounds up to which delays are counted, us: from what a good machine takes to what a user notices.
pub const BUCKETS_US: [u64; 12] =
    [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 1_000_000];

/// Longer delays count as this one, ns.
const LONGEST: u64 = 3_600_000_000_000;

/// Delays: two significant digits of each, at most an hour; some 40 KiB however many they are.
#[derive(Clone, Debug)]
pub struct Delays {
    histogram: Histogram<u64>,
    sum: f64,
    /// How many were no longer than each bound and longer than the one before it.
    within: [u64; BUCKETS_US.len()],
}

/// A distribution of delays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelayStatus {
    /// How many.
    pub count: u64,
    /// Their sum, s.
    pub sum_s: f64,
    /// Half of them are no longer, us.
    pub p50_us: f64,
    /// 99 of 100 are no longer, us.
    pub p99_us: f64,
    /// The longest, us.
    pub max_us: f64,
    /// How many were no longer than each bound of [`BUCKETS_US`]; empty without any.
    pub up_to: Vec<u64>,
}

impl Default for Delays {
    fn default() -> Delays {
        let histogram = Histogram::new_with_bounds(1, LONGEST, 2).expect("bounds that suit");
        Delays { histogram, sum: 0.0, within: [0; BUCKETS_US.len()] }
    }
}

impl Delays {
    /// One more.
    pub fn record(&mut self, delay: Span) {
        let nanos = delay.as_nanos();
        self.histogram.saturating_record(nanos.max(1));
        self.sum += nanos as f64 / 1e9;
        let bucket = BUCKETS_US.partition_point(|bound| bound * 1_000 < nanos);
        if let Some(count) = self.within.get_mut(bucket) {
            *count += 1;
        }
    }

    /// All so far.
    pub fn status(&self) -> DelayStatus {
        if self.histogram.is_empty() {
            return DelayStatus::default();
        }
        let micros = |nanos: u64| nanos as f64 / 1e3;
        let mut up_to = 0;
        DelayStatus {
            count: self.histogram.len(),
            sum_s: self.sum,
            p50_us: micros(self.histogram.value_at_quantile(0.5)),
            p99_us: micros(self.histogram.value_at_quantile(0.99)),
            max_us: micros(self.histogram.max()),
            up_to: self
                .within
                .iter()
                .map(|count| {
                    up_to += count;
                    up_to
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_told_as_quantiles_and_up_to_bounds() {
        let mut delays = Delays::default();
        assert_eq!(delays.status(), DelayStatus::default());
        for micros in 1..=100 {
            delays.record(Span::from_micros(micros));
        }
        delays.record(Span::from_secs(7_200));
        let status = delays.status();
        assert_eq!((status.count, status.up_to[0], status.up_to[3]), (101, 10, 100));
        assert_eq!(status.up_to.last(), Some(&100), "longer than the last bound");
        assert!((50.0..52.0).contains(&status.p50_us), "{status:?}");
        assert!((99.0..102.0).contains(&status.p99_us), "{status:?}");
        assert!(status.sum_s > 7_200.0 && status.max_us > 3.5e9);
    }

    #[test]
    fn a_delay_at_a_bound_counts_up_to_it() {
        let mut delays = Delays::default();
        delays.record(Span::from_micros(10));
        delays.record(Span::from_nanos(10_001));
        delays.record(Span::ZERO);
        assert_eq!(delays.status().up_to[..2], [2, 3]);
    }
}
