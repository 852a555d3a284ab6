//! The drop probability of PIE and its burst allowance (RFC 8033 §4.2, §4.4).

use super::PieConfig;
use ackord_units::Span;

/// The controller's state.
#[derive(Clone, Debug)]
pub(super) struct Control {
    alpha: f64,
    beta: f64,
    target: Span,
    update_every: Span,
    max_burst: Span,
    /// drop_prob.
    pub(super) probability: f64,
    /// qdelay_old: the delay at the last update.
    pub(super) last_delay: Span,
    /// burst_allowance: how long nothing is dropped yet.
    pub(super) burst: Span,
}

impl Control {
    /// Takes over the settings of `fresh`, and keeps the state.
    pub(super) fn adopt(&mut self, fresh: Control) {
        let Control { probability, last_delay, burst, .. } = *self;
        *self = Control { probability, last_delay, burst, ..fresh };
    }

    pub(super) fn new(config: &PieConfig) -> Control {
        Control {
            alpha: config.alpha,
            beta: config.beta,
            target: config.target,
            update_every: config.update_every,
            max_burst: config.burst,
            probability: 0.0,
            last_delay: Span::ZERO,
            burst: config.burst,
        }
    }

    pub(super) fn probability(&self) -> f64 {
        self.probability
    }

    /// The delay at the last update.
    pub(super) fn last_delay(&self) -> Span {
        self.last_delay
    }

    pub(super) fn allows_bursts(&self) -> bool {
        self.burst > Span::ZERO
    }

    /// Whether another update with an empty queue would change nothing.
    pub(super) fn is_at_rest(&self) -> bool {
        self.probability == 0.0 && self.last_delay == Span::ZERO && !self.allows_bursts()
    }

    /// What is done every T_UPDATE.
    pub(super) fn update(&mut self, delay: Span) {
        let error = delay.as_secs_f64() - self.target.as_secs_f64();
        let change = delay.as_secs_f64() - self.last_delay.as_secs_f64();
        let mut step = (self.alpha * error + self.beta * change) / scale(self.probability);
        if self.probability >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        self.probability += step;
        let half = self.target / 2;
        if delay < half && self.last_delay < half {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last_delay = delay;
        self.burst = self.burst.saturating_sub(self.update_every);
    }

    /// A packet has been taken: once congestion has gone, bursts are allowed again.
    pub(super) fn renew_burst(&mut self, delay: Span) {
        let half = self.target / 2;
        if self.probability == 0.0 && delay < half && self.last_delay < half {
            self.burst = self.max_burst;
        }
    }
}

/// By what the step is divided at this probability, so that the controller stays stable while it
/// is small (RFC 8033 §4.2).
fn scale(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2_048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{DelayEstimate, Limit};
    use ackord_units::{Bytes, RandomStream};

    fn control() -> Control {
        Control::new(&PieConfig {
            limit: Limit::Packets(100),
            target: Span::from_millis(15),
            update_every: Span::from_millis(15),
            burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            derandomise: true,
            delay: DelayEstimate::Timestamps,
            mean_packet: Bytes(1_500),
            ecn: false,
            ecn_up_to: 0.1,
            stream: RandomStream::for_element(1, "pie"),
        })
    }

    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-12, "{found}, by hand {by_hand}");
    }

    #[test]
    fn the_probability_moves_as_worked_out_by_hand() {
        let mut control = control();
        // 0.125 * (20 - 15) ms + 1.25 * 20 ms = 0.025625, over 2048 at a probability of zero.
        control.update(Span::from_millis(20));
        near(control.probability(), 0.025_625 / 2_048.0);
        // 1.25e-5 is from 1e-5 to 1e-4: 0.125 * 15 ms + 1.25 * 10 ms = 0.014375, over 128.
        control.update(Span::from_millis(30));
        near(control.probability(), 0.025_625 / 2_048.0 + 0.014_375 / 128.0);
        // 1.2e-4: over 32; the delay falls, which weighs more than that it is above the target:
        // 0.125 * 5 ms - 1.25 * 10 ms = -0.011875. Below zero it stays at zero.
        control.update(Span::from_millis(20));
        near(control.probability(), 0.0);
    }

    #[test]
    fn each_range_of_the_probability_has_its_scale() {
        for (probability, by) in [
            (0.0, 2_048.0),
            (0.000_001, 512.0),
            (0.000_01, 128.0),
            (0.000_1, 32.0),
            (0.001, 8.0),
            (0.01, 2.0),
            (0.1, 1.0),
        ] {
            let mut control = control();
            (control.probability, control.last_delay) = (probability, Span::from_millis(25));
            // At a standing 25 ms the step is 0.125 * 10 ms = 0.00125 over the scale.
            control.update(Span::from_millis(25));
            near(control.probability(), probability + 0.001_25 / by);
        }
    }

    #[test]
    fn from_a_tenth_on_it_rises_by_two_hundredths_at_most() {
        let mut control = control();
        (control.probability, control.last_delay) = (0.3, Span::from_millis(10));
        control.update(Span::from_millis(500));
        near(control.probability(), 0.32);
        for _ in 0..100 {
            control.update(Span::from_millis(500));
        }
        near(control.probability(), 1.0);
    }

    #[test]
    fn when_congestion_has_gone_it_decays() {
        let mut control = control();
        control.probability = 0.5;
        // 0.125 * -15 ms = -0.001875, then 2 % less.
        control.update(Span::ZERO);
        near(control.probability(), (0.5 - 0.001_875) * 0.98);
        // Half the target is not below half of it.
        let mut above = Control { probability: 0.5, ..control };
        above.update(Span::from_nanos(7_500_000));
        near(above.probability(), 0.5 - 0.125 * 0.007_5 + 1.25 * 0.007_5);
    }

    #[test]
    fn a_burst_is_allowed_for_ten_updates_and_again_when_all_is_quiet() {
        let mut control = control();
        for _ in 0..10 {
            assert!(control.allows_bursts());
            control.update(Span::from_millis(40));
        }
        assert!(!control.allows_bursts());
        control.renew_burst(Span::ZERO);
        assert!(!control.allows_bursts(), "the probability is not zero");
        (control.probability, control.last_delay) = (0.0, Span::from_millis(7));
        control.renew_burst(Span::from_millis(8));
        assert!(!control.allows_bursts(), "8 ms are above half the target");
        control.renew_burst(Span::from_millis(7));
        assert!(control.allows_bursts());
    }
}
