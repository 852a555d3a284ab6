//! How long something lasts, drawn at random: an outage, the time between two, a state of the
//! medium.
//!
//! Not modelled: lengths that depend on one another. Who could notice: anyone replaying a measured
//! fade by its statistics; give its times as a schedule instead.

use ackord_units::{RandomStream, Span};

/// A length of time and how it varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sojourn {
    /// Its mean.
    pub mean: Span,
    /// What it is drawn from.
    pub shape: SojournShape,
}

/// The distribution of a length of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SojournShape {
    /// Always the mean.
    Constant,
    /// Even from zero to twice the mean.
    Uniform,
    /// Exponential: what is left of it does not depend on how long it has lasted.
    Exponential,
    /// Lognormal.
    Lognormal {
        /// Standard deviation as a multiple of the mean; more than zero.
        variation: f64,
    },
}

impl Sojourn {
    /// The next length. Draws in every shape but the constant.
    pub(crate) fn draw(&self, stream: &mut RandomStream) -> Span {
        match self.shape {
            SojournShape::Constant => self.mean,
            SojournShape::Uniform => stream.uniform(Span::ZERO, self.mean.saturating_mul(2)),
            SojournShape::Exponential => {
                Span::from_secs_f64(self.mean.as_secs_f64() * stream.standard_exponential())
            }
            SojournShape::Lognormal { variation } => {
                Span::from_secs_f64(self.mean.as_secs_f64() * stream.unit_lognormal(variation))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_the_mean_and_the_deviation_it_says() {
        let mean = Span::from_millis(200);
        for (shape, deviation) in [
            (SojournShape::Constant, 0.0),
            (SojournShape::Uniform, 1.0 / 3f64.sqrt()),
            (SojournShape::Exponential, 1.0),
            (SojournShape::Lognormal { variation: 0.5 }, 0.5),
        ] {
            let sojourn = Sojourn { mean, shape };
            let mut stream = RandomStream::for_element(1, "sojourn");
            let draws = 200_000;
            let lengths: Vec<f64> = (0..draws)
                .map(|_| sojourn.draw(&mut stream).as_secs_f64() / mean.as_secs_f64())
                .collect();
            let found_mean = lengths.iter().sum::<f64>() / f64::from(draws);
            let square = lengths.iter().map(|x| (x - 1.0).powi(2)).sum::<f64>();
            let found_deviation = (square / f64::from(draws)).sqrt();
            // Five standard errors of a mean with that deviation; the deviation of a skewed
            // distribution is known less well.
            let error = 5.0 * deviation / f64::from(draws).sqrt() + 1e-9;
            assert!((found_mean - 1.0).abs() < error, "{shape:?}: mean {found_mean}");
            let far = (found_deviation - deviation).abs();
            assert!(far < 3.0 * error, "{shape:?}: deviation {found_deviation}");
        }
    }
}
