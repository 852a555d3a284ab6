//! The paper's path and numbers, its scenario file, and how a run is derived from them.

use super::policies::Policy;
use crate::runs::Job;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};
use ackord_study::KeepSeries;
use ackord_units::Span;
use std::ops::Range;
use std::sync::Arc;

/// How often the delay is drawn anew, and the figure that shows it (Park et al. 2008 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) millis: u64,
    pub(super) figure: u32,
}

pub(super) static INTERVALS: [Interval; 2] =
    [Interval { millis: 50, figure: 2 }, Interval { millis: 250, figure: 3 }];

/// tau in tenths: 0, 0.2 .. 2.
pub(super) static TAUS: [u32; 11] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20];

/// The transfer begins then (§4.1).
pub(super) const START: Span = Span::from_secs(10);
/// Payload and headers of every data packet.
pub(super) const PAYLOAD_BYTES: f64 = 1_500.0;
pub(super) const HEADER_BYTES: f64 = 40.0;
pub(super) const LOSS: f64 = 0.001;
pub(super) const HOP_MBIT_S: f64 = 3.0;
pub(super) const WINDOW_PACKETS: f64 = 500.0;

/// The scenario file's path in the repository, and its text.
pub(super) const FILE: (&str, &str) =
    ("papers/dad-sd/reordering.toml", include_str!("../../../../papers/dad-sd/reordering.toml"));

/// tau as a number.
pub(super) fn tau(tenths: u32) -> f64 {
    f64::from(tenths) / 10.0
}

/// The hop's mean delay in milliseconds: 50 + 200 tau.
pub(super) fn mean_delay_ms(tenths: u32) -> u64 {
    50 + 20 * u64::from(tenths)
}

/// A change to the scenario file.
pub(super) fn set(path: &str, value: impl Into<String>) -> Override {
    Override::new(path, value)
}

/// What makes the hop that of this tau and interval.
fn hop(tenths: u32, interval: Interval) -> Vec<Override> {
    // Standard deviation 200 tau / 3 ms, to the nanosecond.
    let deviation_nanos = u64::from(tenths) * 20_000_000 / 3;
    vec![
        set("links.hop.delay", format!("{} ms", mean_delay_ms(tenths))),
        set("links.hop.jitter.deviation", format!("{deviation_nanos} ns")),
        set("links.hop.jitter.every", format!("{} ms", interval.millis)),
    ]
}

/// Every run that is to be made.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
    /// Length of every transfer; the file says 1000 s.
    pub(super) transfer: Span,
}

/// The runs of one policy at one tau and interval: indices into the plan's jobs.
pub(super) type Runs = Range<usize>;

impl Plan {
    pub(super) fn new(transfer: Span) -> Plan {
        Plan { jobs: Vec::new(), transfer }
    }

    /// Adds `seeds` runs of `policy`, with `more` changes on top.
    pub(super) fn add(
        &mut self,
        policy: &Policy,
        more: &[Override],
        (tenths, interval): (u32, Interval),
        seeds: u64,
    ) -> Result<Runs, Errors> {
        let mut changes = hop(tenths, interval);
        changes.push(set("duration", (START + self.transfer).to_string()));
        changes.extend(policy.overrides());
        changes.extend(more.iter().cloned());
        let scenario = scenario(&changes)?;
        let first = self.jobs.len();
        self.jobs.extend((1..=seeds).map(|seed| Job {
            scenario: Arc::clone(&scenario),
            seed,
            series: KeepSeries::No,
        }));
        Ok(first..self.jobs.len())
    }
}

fn scenario(changes: &[Override]) -> Result<Arc<Scenario>, Errors> {
    let file = ScenarioFile::new(FILE.0, FILE.1).with_overrides(changes.to_vec());
    file.check().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::super::policies::POLICIES;
    use super::*;

    #[test]
    fn the_file_is_the_papers_tau_of_one() {
        let plain = scenario(&[]).expect("a sound scenario");
        assert!(plain.source.starts_with("Park et al. 2008"), "{}", plain.source);
        assert!(FILE.0.ends_with(&format!("/{}.toml", plain.name)));
        let hop = &plain.links[1].forward;
        assert_eq!(hop.delay, Span::from_millis(mean_delay_ms(10)));
        assert_eq!(plain.duration, START + Span::from_secs(1_000));
    }

    #[test]
    fn every_policy_makes_a_sound_scenario_of_its_own() {
        let mut plan = Plan::new(Span::from_secs(1));
        let mut hashes = std::collections::BTreeSet::new();
        for policy in POLICIES {
            let runs = plan.add(policy, &[], (10, INTERVALS[0]), 2).expect(policy.id);
            assert_eq!(plan.jobs[runs.clone()].iter().map(|job| job.seed).max(), Some(2));
            let hash = plan.jobs[runs.start].scenario.hash();
            assert!(hashes.insert(hash), "{} is like another", policy.id);
        }
    }
}
