//! Treated connections against those left alone, and whether a remedy harms.

use crate::Progress;
use ackord_measure::stats::{Estimate, estimate};
use ackord_measure::welch::{Difference, welch};
use ackord_units::portable;
use std::collections::VecDeque;

/// Ended connections of an arm that are remembered: conditions change, and so does what a remedy is worth.
const REMEMBERED: usize = 512;
/// What is remembered of one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    goodput_bps: f64,
    stalled_share: f64,
}

impl Sample {
    fn of(progress: &Progress) -> Option<Sample> {
        let goodput_bps = progress.goodput_bps()?;
        Some(Sample { goodput_bps, stalled_share: progress.stalled_share() })
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
        let goodputs: Vec<f64> = self.samples().map(|one| one.goodput_bps).collect();
        let stalled: Vec<f64> = self.samples().map(|one| one.stalled_share).collect();
        ArmFigures {
            connections: goodputs.len(),
            goodput_bps: estimate(&goodputs),
            stalled_share: estimate(&stalled),
        }
    }
}

/// What was seen of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArmFigures {
    /// Connections of which enough was seen.
    pub connections: usize,
    /// Octets acknowledged a second while something was under way.
    pub goodput_bps: Option<Estimate>,
    /// Share of that time spent waiting half a second or longer.
    pub stalled_share: Option<Estimate>,
}

/// Treated against control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// Who gets the remedy.
    pub treated: ArmFigures,
    /// Who is left alone.
    pub control: ArmFigures,
    /// The logarithm of treated goodput over that of control, with its 95 % interval.
    pub goodput_log_ratio: Option<Difference>,
    /// Treated minus control, with its 95 % interval.
    pub stalled_difference: Option<Difference>,
}

/// What a remedy does that it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Treated connections are slower.
    Slower,
    /// Treated connections stall more.
    StallsMore,
}

impl Harm {
    /// In words.
    pub fn told(self) -> &'static str {
        match self {
            Harm::Slower => "its connections are slower than those left alone",
            Harm::StallsMore => "its connections stall more than those left alone",
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

    /// A connection is over, or forgotten.
    pub fn ended(&mut self, is_control: bool, progress: &Progress) {
        let Some(sample) = Sample::of(progress) else { return };
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
    pub fn living(&mut self, is_control: bool, progress: &Progress) {
        self.arm(is_control).living.extend(Sample::of(progress));
    }

    /// Goodputs, as logarithms, and shares of time in stalls: treated, control.
    fn values(&self) -> [[Vec<f64>; 2]; 2] {
        let both = |of: fn(&Sample) -> f64| {
            [&self.treated, &self.control].map(|arm| arm.samples().map(of).collect::<Vec<f64>>())
        };
        [both(|one| portable::ln(one.goodput_bps)), both(|one| one.stalled_share)]
    }

    /// How the arms compare.
    pub fn compare(&self) -> Compared {
        let [goodput, stalled] = self.values();
        Compared {
            treated: self.treated.figures(),
            control: self.control.figures(),
            goodput_log_ratio: welch(&goodput[0], &goodput[1], 0.95),
            stalled_difference: welch(&stalled[0], &stalled[1], 0.95),
        }
    }

    /// Whether an interval of this confidence says that the remedy harms, with so many connections in either
    /// arm at least. It is asked again and again, so it should be surer than the 95 % that are shown.
    pub fn harm(&self, confidence: f64, connections: usize) -> Option<Harm> {
        let [goodput, stalled] = self.values();
        if goodput[0].len().min(goodput[1].len()) < connections {
            return None;
        }
        if welch(&goodput[0], &goodput[1], confidence)?.high < 0.0 {
            return Some(Harm::Slower);
        }
        (welch(&stalled[0], &stalled[1], confidence)?.low > 0.0).then_some(Harm::StallsMore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Span;

    fn progress(mbps: f64, stalled: f64) -> Progress {
        let mut progress = Progress::default();
        progress.octets = (mbps * 1e6 / 8.0) as u64;
        progress.active = Span::from_secs(1);
        progress.stalled = Span::from_secs_f64(stalled);
        progress
    }

    fn evidence(treated: &[(f64, f64)], control: &[(f64, f64)]) -> Evidence {
        let mut evidence = Evidence::default();
        for (is_control, arm) in [(false, treated), (true, control)] {
            for &(mbps, stalled) in arm {
                evidence.ended(is_control, &progress(mbps, stalled));
            }
        }
        evidence
    }

    /// Around a value, a tenth to either side.
    fn around(mbps: f64, stalled: f64, count: usize) -> Vec<(f64, f64)> {
        (0..count).map(|at| (mbps * (0.9 + 0.2 * at as f64 / count as f64), stalled)).collect()
    }

    #[test]
    fn harm_is_seen_in_goodput_and_in_stalls_and_not_in_their_absence() {
        let control = around(5.0, 0.1, 10);
        let harm = |treated: &[(f64, f64)]| evidence(treated, &control).harm(0.999, 8);
        assert_eq!(harm(&around(2.0, 0.1, 40)), Some(Harm::Slower));
        assert_eq!(harm(&around(9.0, 0.0, 40)), None);
        assert_eq!(harm(&around(2.0, 0.1, 7)), None, "too few to tell");
        let mut stalls = around(5.0, 0.5, 40);
        stalls.iter_mut().enumerate().for_each(|(at, one)| one.1 += at as f64 * 0.002);
        assert_eq!(harm(&stalls), Some(Harm::StallsMore));
    }

    #[test]
    fn an_arm_forgets_its_oldest_and_the_living_are_told_anew() {
        let mut evidence = evidence(&around(1.0, 0.0, REMEMBERED), &[]);
        for _ in 0..REMEMBERED {
            evidence.ended(false, &progress(8.0, 0.0));
        }
        for _ in 0..3 {
            evidence.begin_living();
            evidence.living(true, &progress(4.0, 0.0));
            evidence.living(true, &Progress::default());
        }
        let found = evidence.compare();
        assert_eq!((found.treated.connections, found.control.connections), (REMEMBERED, 1));
        assert_eq!(found.treated.goodput_bps.expect("many").mean, 8e6);
    }

    #[test]
    fn arms_of_one_kind_do_no_harm() {
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
            evidence(&treated, &control).harm(0.999, 8).is_some()
        });
        assert!(found.count() <= 2);
    }
}
