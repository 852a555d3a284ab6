//! Treated connections against those left alone: whether a remedy harms, and whether it helps.

use ackord_measure::stats::{Estimate, estimate};
use ackord_measure::welch::{Difference, welch};
use ackord_units::portable;
use std::collections::VecDeque;

/// Ended connections of an arm that are remembered: conditions change, and so does what a remedy is worth.
const REMEMBERED: usize = 512;

/// How one connection got on while it had something to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How much of use arrived a second, in the daemon's unit (bit/s, messages/s). Rates are compared as logarithms:
    /// a sample without any is not taken.
    pub rate: f64,
    /// The share of that time that was lost in waits, 0 to 1.
    pub stalled_share: f64,
}

impl Sample {
    fn has_rate(&self) -> bool {
        self.rate > 0.0
    }
}

/// One arm of the comparison.
#[derive(Clone, Debug, Default)]
struct Arm {
    ended: VecDeque<Sample>,
    living: Vec<Sample>,
}

impl Arm {
    fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.ended.iter().chain(&self.living)
    }

    fn figures(&self) -> ArmFigures {
        let rates: Vec<f64> = self.samples().map(|one| one.rate).collect();
        let stalled: Vec<f64> = self.samples().map(|one| one.stalled_share).collect();
        ArmFigures {
            connections: rates.len(),
            rate: estimate(&rates),
            stalled_share: estimate(&stalled),
        }
    }
}

/// What was seen of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArmFigures {
    /// Connections of which enough was seen.
    pub connections: usize,
    /// Of [`Sample::rate`].
    pub rate: Option<Estimate>,
    /// Of [`Sample::stalled_share`].
    pub stalled_share: Option<Estimate>,
}

/// Treated against control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// Who gets the remedy.
    pub treated: ArmFigures,
    /// Who is left alone.
    pub control: ArmFigures,
    /// The logarithm of the treated rate over that of control, with its 95 % interval.
    pub rate_log_ratio: Option<Difference>,
    /// Treated minus control, with its 95 % interval.
    pub stalled_difference: Option<Difference>,
}

/// By what treated connections differ from those left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// [`Sample::rate`].
    Rate,
    /// [`Sample::stalled_share`].
    Stalls,
}

impl Figure {
    /// In words, where treated connections are worse off.
    pub fn harm_told(self) -> &'static str {
        match self {
            Figure::Rate => "its connections are slower than those left alone",
            Figure::Stalls => "its connections stall more than those left alone",
        }
    }
}

/// The evidence of one class.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    treated: Arm,
    control: Arm,
}

impl Evidence {
    fn arm(&mut self, is_control: bool) -> &mut Arm {
        if is_control { &mut self.control } else { &mut self.treated }
    }

    /// A connection is over, or forgotten; without a sample too little was seen of it to tell.
    pub fn ended(&mut self, is_control: bool, sample: impl Into<Option<Sample>>) {
        let Some(sample) = sample.into().filter(Sample::has_rate) else { return };
        let ended = &mut self.arm(is_control).ended;
        if ended.len() == REMEMBERED {
            ended.pop_front();
        }
        ended.push_back(sample);
    }

    /// What is known of the living ones is told anew.
    pub fn begin_living(&mut self) {
        self.treated.living.clear();
        self.control.living.clear();
    }

    /// A connection that goes on, as it stands now.
    pub fn living(&mut self, is_control: bool, sample: impl Into<Option<Sample>>) {
        self.arm(is_control).living.extend(sample.into().filter(Sample::has_rate));
    }

    /// Rates, as logarithms, and shares of time in stalls: treated, control.
    fn values(&self) -> [[Vec<f64>; 2]; 2] {
        let both = |of: fn(&Sample) -> f64| {
            [&self.treated, &self.control].map(|arm| arm.samples().map(of).collect::<Vec<f64>>())
        };
        [both(|one| portable::ln(one.rate)), both(|one| one.stalled_share)]
    }

    /// How the arms compare.
    pub fn compare(&self) -> Compared {
        let [rate, stalled] = self.values();
        Compared {
            treated: self.treated.figures(),
            control: self.control.figures(),
            rate_log_ratio: welch(&rate[0], &rate[1], 0.95),
            stalled_difference: welch(&stalled[0], &stalled[1], 0.95),
        }
    }

    /// By what an interval of this confidence says that the remedy harms, if by anything, with so many connections in either
    /// arm at least. It is asked again and again, so it should be surer than the 95 % that are shown.
    pub fn harm(&self, confidence: f64, connections: usize) -> Option<Figure> {
        let [rate, stalled] = self.enough(connections)?;
        if welch(&rate[0], &rate[1], confidence)?.high < 0.0 {
            return Some(Figure::Rate);
        }
        (welch(&stalled[0], &stalled[1], confidence)?.low > 0.0).then_some(Figure::Stalls)
    }

    /// By what an interval of this confidence says that the remedy helps, if by anything and none says that it harms, with so many
    /// connections in either arm at least.
    pub fn gain(&self, confidence: f64, connections: usize) -> Option<Figure> {
        if self.harm(confidence, connections).is_some() {
            return None;
        }
        let [rate, stalled] = self.enough(connections)?;
        if welch(&rate[0], &rate[1], confidence)?.low > 0.0 {
            return Some(Figure::Rate);
        }
        (welch(&stalled[0], &stalled[1], confidence)?.high < 0.0).then_some(Figure::Stalls)
    }

    /// [`Evidence::values`], with so many connections in either arm at least.
    fn enough(&self, connections: usize) -> Option<[[Vec<f64>; 2]; 2]> {
        let values = self.values();
        (values[0].iter().all(|arm| arm.len() >= connections)).then_some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(mbps: f64, stalled_share: f64) -> Sample {
        Sample { rate: mbps * 1e6, stalled_share }
    }

    fn evidence(treated: &[(f64, f64)], control: &[(f64, f64)]) -> Evidence {
        let mut evidence = Evidence::default();
        for (is_control, arm) in [(false, treated), (true, control)] {
            for &(mbps, stalled) in arm {
                evidence.ended(is_control, sample(mbps, stalled));
            }
        }
        evidence
    }

    /// Around a value, a tenth to either side.
    fn around(mbps: f64, stalled: f64, count: usize) -> Vec<(f64, f64)> {
        (0..count).map(|at| (mbps * (0.9 + 0.2 * at as f64 / count as f64), stalled)).collect()
    }

    #[test]
    fn harm_is_seen_in_rates_and_in_stalls_and_not_in_their_absence() {
        let control = around(5.0, 0.1, 10);
        let harm = |treated: &[(f64, f64)]| evidence(treated, &control).harm(0.999, 8);
        assert_eq!(harm(&around(2.0, 0.1, 40)), Some(Figure::Rate));
        assert_eq!(harm(&around(9.0, 0.0, 40)), None);
        assert_eq!(harm(&around(2.0, 0.1, 7)), None, "too few to tell");
        let mut stalls = around(5.0, 0.5, 40);
        stalls.iter_mut().enumerate().for_each(|(at, one)| one.1 += at as f64 * 0.002);
        assert_eq!(harm(&stalls), Some(Figure::Stalls));
    }

    #[test]
    fn gain_is_seen_in_rates_and_in_stalls_unless_the_other_is_worse() {
        /// Stalls that scatter by a twentieth to either side.
        fn stalling(mbps: f64, stalled: f64, count: usize) -> Vec<(f64, f64)> {
            let mut arm = around(mbps, stalled, count);
            for (at, one) in arm.iter_mut().enumerate() {
                // Not in the order of the rates.
                one.1 *= 0.95 + 0.1 * ((at * 7) % count) as f64 / count as f64;
            }
            arm
        }
        let control = stalling(5.0, 0.2, 20);
        let gain = |treated: &[(f64, f64)]| evidence(treated, &control).gain(0.999, 8);
        assert_eq!(gain(&stalling(9.0, 0.2, 40)), Some(Figure::Rate));
        assert_eq!(gain(&stalling(9.0, 0.1, 40)), Some(Figure::Rate));
        assert_eq!(gain(&stalling(5.0, 0.1, 40)), Some(Figure::Stalls));
        assert_eq!(gain(&stalling(5.0, 0.2, 40)), None, "the same");
        assert_eq!(gain(&stalling(9.0, 0.2, 7)), None, "too few to tell");
        assert_eq!(gain(&stalling(9.0, 0.4, 40)), None, "faster, and stalls more");
        assert_eq!(gain(&stalling(2.0, 0.1, 40)), None, "stalls less, and slower");
        // What is no gain by a sure interval may be one by a less sure one.
        let little = evidence(&stalling(5.25, 0.2, 20), &control);
        assert_eq!((little.gain(0.999, 8), little.gain(0.9, 8)), (None, Some(Figure::Rate)));
    }

    #[test]
    fn an_arm_forgets_its_oldest_and_the_living_are_told_anew() {
        let mut evidence = evidence(&around(1.0, 0.0, REMEMBERED), &[]);
        for _ in 0..REMEMBERED {
            evidence.ended(false, sample(8.0, 0.0));
        }
        for _ in 0..3 {
            evidence.begin_living();
            evidence.living(true, sample(4.0, 0.0));
            evidence.living(true, None);
            evidence.living(true, sample(0.0, 1.0));
        }
        let found = evidence.compare();
        assert_eq!((found.treated.connections, found.control.connections), (REMEMBERED, 1));
        assert_eq!(found.treated.rate.expect("many").mean, 8e6);
    }

    #[test]
    fn arms_of_one_kind_are_neither_harmed_nor_helped() {
        // Two hundred draws of both arms from one distribution: an interval of 99.9 % errs in one of a thousand
        // to either side, so that two of two hundred would be much.
        let mut word = 7_u64;
        let mut draw = || {
            word = word
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let uniform = (word >> 33) as f64 / (1_u64 << 31) as f64;
            (1.0 + 8.0 * uniform, 0.5 * (1.0 - uniform))
        };
        let found = (0..200).filter(|_| {
            let treated: Vec<(f64, f64)> = (0..60).map(|_| draw()).collect();
            let control: Vec<(f64, f64)> = (0..20).map(|_| draw()).collect();
            let evidence = evidence(&treated, &control);
            evidence.harm(0.999, 8).is_some() || evidence.gain(0.999, 8).is_some()
        });
        assert!(found.count() <= 2);
    }
}
