//! The paper's links and numbers, its scenario files, and how a run is derived from them.

use crate::runs::Job;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};
use ackord_study::KeepSeries;
use ackord_units::Span;
use std::ops::Range;
use std::sync::Arc;

/// A bottleneck of Tables 1 and 2, with the paper's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaperLink {
    /// In names of claims and files.
    pub(super) id: &'static str,
    /// For people.
    pub(super) label: &'static str,
    pub(super) rate: &'static str,
    pub(super) delay: &'static str,
    pub(super) rate_kbit_s: f64,
    /// Table 2's threshold, which the authors found to be the best.
    pub(super) q_thresh: u32,
    /// Table 1.
    pub(super) drop_tail: PaperShare,
    /// Table 2.
    pub(super) selective_drop: PaperShare,
}

/// How Reno and Vegas shared a link in the paper.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct PaperShare {
    pub(super) reno_kbit_s: f64,
    pub(super) vegas_kbit_s: f64,
    pub(super) fairness_percent: f64,
}

const fn share(reno_kbit_s: f64, vegas_kbit_s: f64, fairness_percent: f64) -> PaperShare {
    PaperShare { reno_kbit_s, vegas_kbit_s, fairness_percent }
}

/// Chae and Choi 2004 Tables 1 and 2.
pub(super) static LINKS: [PaperLink; 4] = [
    PaperLink {
        id: "512k",
        label: "512 kbit/s, 5 ms",
        rate: "512 kbit/s",
        delay: "5 ms",
        rate_kbit_s: 512.0,
        q_thresh: 4,
        drop_tail: share(457.16, 54.84, 12.0),
        selective_drop: share(244.8, 267.2, 91.62),
    },
    PaperLink {
        id: "1.5m",
        label: "1.5 Mbit/s, 2 ms",
        rate: "1.5 Mbit/s",
        delay: "2 ms",
        rate_kbit_s: 1_500.0,
        q_thresh: 5,
        drop_tail: share(1_348.18, 151.82, 11.26),
        selective_drop: share(772.89, 727.1, 94.08),
    },
    PaperLink {
        id: "2m",
        label: "2 Mbit/s, 2 ms",
        rate: "2 Mbit/s",
        delay: "2 ms",
        rate_kbit_s: 2_000.0,
        q_thresh: 6,
        drop_tail: share(1_797.69, 202.31, 11.25),
        selective_drop: share(936.98, 1_063.02, 88.14),
    },
    PaperLink {
        id: "5m",
        label: "5 Mbit/s, 2 ms",
        rate: "5 Mbit/s",
        delay: "2 ms",
        rate_kbit_s: 5_000.0,
        q_thresh: 6,
        drop_tail: share(4_528.53, 471.47, 10.41),
        selective_drop: share(2_454.58, 2_545.42, 96.43),
    },
];

/// What the paper calls fair: the lowest fairness of its own Table 2.
pub(super) const FAIR_PERCENT: f64 = 88.14;
/// A link counts as full from this share of its rate on, as in `ns2/band.py`.
pub(super) const FULL_PERCENT: f64 = 99.0;

/// Embeds a scenario file of the paper.
macro_rules! embedded {
    ($name:literal) => {
        (
            concat!("papers/selective-drop/", $name, ".toml"),
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../papers/selective-drop/",
                $name,
                ".toml"
            )),
        )
    };
}

/// A scenario file of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    DropTail,
    SelectiveDrop,
    BaseWindow,
    SmallestWindow,
}

impl File {
    pub(super) const ALL: [File; 4] =
        [File::DropTail, File::SelectiveDrop, File::BaseWindow, File::SmallestWindow];

    /// Its path in the repository, and its text.
    pub(super) fn embedded(self) -> (&'static str, &'static str) {
        match self {
            File::DropTail => embedded!("drop-tail"),
            File::SelectiveDrop => embedded!("selective-drop"),
            File::BaseWindow => embedded!("base-window"),
            File::SmallestWindow => embedded!("smallest-window"),
        }
    }

    fn with(self, changes: &[Override]) -> Result<Arc<Scenario>, Errors> {
        let (path, text) = self.embedded();
        let file = ScenarioFile::new(path, text).with_overrides(changes.to_vec());
        file.check().map(Arc::new)
    }
}

/// A change to a scenario file.
pub(super) fn set(path: &str, value: impl Into<String>) -> Override {
    Override::new(path, value)
}

/// The overrides that make a file's bottleneck one of the paper's.
pub(super) fn on_link(link: &PaperLink) -> Vec<Override> {
    vec![set("links.bottleneck.rate", link.rate), set("links.bottleneck.delay", link.delay)]
}

/// Every run that is to be made.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
    /// Runs with random start times of each variation.
    pub(super) random_runs: u32,
    /// Length of every run; the files say 100 s.
    duration: Span,
}

/// The runs of one set-up: both flows at once, as in the paper, and with random start times. Indices
/// into the plan's jobs.
#[derive(Clone, Debug)]
pub(super) struct Variation {
    pub(super) at_once: usize,
    pub(super) random: Range<usize>,
}

impl Plan {
    pub(super) fn new(random_runs: u32, duration: Span) -> Plan {
        Plan { jobs: Vec::new(), random_runs, duration }
    }

    fn scenario(&self, file: File, changes: &[Override]) -> Result<Arc<Scenario>, Errors> {
        let mut changes = changes.to_vec();
        changes.push(set("duration", self.duration.to_string()));
        file.with(&changes)
    }

    /// One run with the start times of the file (or the overrides).
    pub(super) fn single(&mut self, file: File, changes: &[Override]) -> Result<usize, Errors> {
        let scenario = self.scenario(file, changes)?;
        let seed = scenario.seed;
        self.jobs.push(Job { scenario, seed, series: KeepSeries::No });
        Ok(self.jobs.len() - 1)
    }

    /// A run at once, and with each flow's start drawn from the first second.
    pub(super) fn variation(
        &mut self,
        file: File,
        changes: &[Override],
        series: KeepSeries,
    ) -> Result<Variation, Errors> {
        let at_once = self.single(file, changes)?;
        self.jobs[at_once].series = series;
        let mut changes = changes.to_vec();
        changes.push(set("flows.*.start", r#"{ from = "0 s", to = "1 s" }"#));
        let scenario = self.scenario(file, &changes)?;
        let first = self.jobs.len();
        self.jobs.extend((1..=u64::from(self.random_runs)).map(|seed| Job {
            scenario: Arc::clone(&scenario),
            seed,
            series: KeepSeries::No,
        }));
        Ok(Variation { at_once, random: first..self.jobs.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_sound_and_says_where_it_comes_from() {
        for file in File::ALL {
            let scenario = file.with(&[]).expect("a sound scenario");
            assert!(scenario.source.starts_with("Chae and Choi 2004"), "{}", scenario.source);
            let (path, _) = file.embedded();
            assert!(path.ends_with(&format!("/{}.toml", scenario.name)), "{path}");
        }
    }

    #[test]
    fn the_papers_numbers_add_up_to_the_links_and_to_its_fairness() {
        for link in &LINKS {
            for share in [link.drop_tail, link.selective_drop] {
                let (reno, vegas) = (share.reno_kbit_s, share.vegas_kbit_s);
                assert!((reno + vegas - link.rate_kbit_s).abs() < 0.02, "{}", link.label);
                let fairness = 100.0 * reno.min(vegas) / reno.max(vegas);
                // The authors cut the digits rather than round them, and wrote 12 for 11.996.
                assert!((fairness - share.fairness_percent).abs() < 0.02, "{}", link.label);
            }
        }
    }

    #[test]
    fn random_starts_differ_by_seed_and_share_a_scenario() {
        let mut plan = Plan::new(3, Span::from_secs(2));
        let variation = plan.variation(File::DropTail, &on_link(&LINKS[0]), KeepSeries::No);
        let variation = variation.expect("a sound scenario");
        let seeds: Vec<_> = plan.jobs[variation.random].iter().map(|job| job.seed).collect();
        assert_eq!(seeds, [1, 2, 3]);
        assert_eq!(
            plan.jobs[variation.at_once].scenario.links[0].forward.rate.to_string(),
            "512 kbit/s"
        );
    }
}
