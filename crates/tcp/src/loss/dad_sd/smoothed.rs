//! Mean and mean deviation of what has been observed, as RFC 6298 keeps them of the round trip.

/// An exponentially weighted mean with its mean deviation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Smoothed {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    deviation: f64,
}

impl Smoothed {
    /// Takes a sample; `alpha` is the weight of what was known before.
    pub(super) fn add(&mut self, alpha: f64, sample: f64) {
        self.estimate = Some(match self.estimate {
            None => Estimate { mean: sample, deviation: sample / 2.0 },
            Some(Estimate { mean, deviation }) => Estimate {
                deviation: alpha * deviation + (1.0 - alpha) * (sample - mean).abs(),
                mean: alpha * mean + (1.0 - alpha) * sample,
            },
        });
    }

    /// What a sample hardly ever exceeds: the mean plus four deviations.
    pub(super) fn bound(&self) -> Option<f64> {
        self.estimate.map(|Estimate { mean, deviation }| mean + 4.0 * deviation)
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
    }
}
