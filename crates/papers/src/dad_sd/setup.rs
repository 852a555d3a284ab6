//! The paper's path and numbers, its scenario file, and how runs are derived from it.

use super::policies::Policy;
use crate::plan::{File, Setup, file, set};
use ackord_scenario::Override;
use ackord_units::Span;

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

pub(super) const FILE: File = file!("dad-sd/reordering");

/// A policy at one tau, with the delay redrawn so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) interval: Interval,
    pub(super) policy: &'static Policy,
    pub(super) tenths: u32,
}

/// tau as a number.
pub(super) fn tau(tenths: u32) -> f64 {
    f64::from(tenths) / 10.0
}

/// The hop's mean delay in milliseconds: 50 + 200 tau.
pub(super) fn mean_delay_ms(tenths: u32) -> u64 {
    50 + 20 * u64::from(tenths)
}

impl Place {
    pub(super) fn tau(&self) -> f64 {
        tau(self.tenths)
    }

    /// Transfers of this length (the file says 1000 s), with `more` changes on top.
    pub(super) fn setup(&self, transfer: Span, more: &[Override]) -> Setup {
        // Standard deviation 200 tau / 3 ms, to the nanosecond.
        let deviation_nanos = u64::from(self.tenths) * 20_000_000 / 3;
        let mut changes = vec![
            set("links.hop.delay", format!("{} ms", mean_delay_ms(self.tenths))),
            set("links.hop.jitter.deviation", format!("{deviation_nanos} ns")),
            set("links.hop.jitter.every", format!("{} ms", self.interval.millis)),
            set("duration", (START + transfer).to_string()),
        ];
        changes.extend(self.policy.overrides());
        changes.extend_from_slice(more);
        Setup::new(FILE, changes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::policies::POLICIES;
    use super::*;

    #[test]
    fn the_file_is_the_papers_tau_of_one() {
        let plain = crate::testkit::sound(FILE);
        assert!(plain.source.starts_with("Park et al. 2008"), "{}", plain.source);
        let hop = &plain.links[1].forward;
        assert_eq!(hop.delay, Span::from_millis(mean_delay_ms(10)));
        assert_eq!(plain.duration, START + Span::from_secs(1_000));
    }

    #[test]
    fn every_policy_makes_a_sound_scenario_of_its_own() {
        let mut hashes = std::collections::BTreeSet::new();
        for policy in POLICIES {
            let place = Place { interval: INTERVALS[0], policy, tenths: 10 };
            let setup = place.setup(Span::from_secs(1), &[]);
            let hash = setup.scenario().expect(policy.id).hash();
            assert!(hashes.insert(hash), "{} is like another", policy.id);
        }
    }
}
