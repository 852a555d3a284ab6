//! Mean and mean deviation of what has been observed, as RFC 6298 keeps them of the round trip, and the greatest.
//!
//! The mean and its deviations alone follow the last few samples: after two short ones they promise too little,
//! and a recovery that is needless once in ten times costs more than any patience.

/// An exponentially weighted mean with its mean deviation, and the greatest sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Smoothed {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    deviation: f64,
    greatest: f64,
}

impl Smoothed {
    /// Takes a sample; `alpha` is the weight of what was known before.
    pub(super) fn add(&mut self, alpha: f64, sample: f64) {
        self.estimate = Some(match self.estimate {
            None => Estimate { mean: sample, deviation: sample / 2.0, greatest: sample },
            Some(Estimate { mean, deviation, greatest }) => Estimate {
                deviation: alpha * deviation + (1.0 - alpha) * (sample - mean).abs(),
                mean: alpha * mean + (1.0 - alpha) * sample,
                greatest: greatest.max(sample),
            },
        });
    }

    /// What a sample hardly ever exceeds: the mean plus four deviations, and no less than the greatest that
    /// there was.
    pub(super) fn bound(&self) -> Option<f64> {
        let Estimate { mean, deviation, greatest } = self.estimate?;
        Some((mean + 4.0 * deviation).max(greatest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_closes_in_on_a_steady_value_and_jumps_with_a_larger_one() {
        let mut smoothed = Smoothed::default();
        assert_eq!(smoothed.bound(), None);
        smoothed.add(0.5, 8.0);
        assert_eq!(smoothed.bound(), Some(24.0));
        for _ in 0..30 {
            smoothed.add(0.5, 8.0);
        }
        assert!((smoothed.bound().expect("sampled") - 8.0).abs() < 0.01);
        smoothed.add(0.5, 16.0);
        assert!((smoothed.bound().expect("sampled") - 28.0).abs() < 0.01);
        for _ in 0..30 {
            smoothed.add(0.5, 8.0);
        }
        assert_eq!(smoothed.bound(), Some(16.0), "as great as any that there was");
    }
}
