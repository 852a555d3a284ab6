//! The paper's links and numbers, its scenario files, and how runs are derived from them.

use crate::plan::{File, Setup, file, set};
use ackord_scenario::Override;
use ackord_units::Span;

/// A bottleneck of Tables 1 and 2, with the paper's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// One of [`LINKS`].
pub(super) type Link = &'static PaperLink;

/// How Reno and Vegas shared a link in the paper.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
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

pub(super) const DROP_TAIL: File = file!("selective-drop/drop-tail");
pub(super) const SELECTIVE_DROP: File = file!("selective-drop/selective-drop");
pub(super) const BASE_WINDOW: File = file!("selective-drop/base-window");
pub(super) const SMALLEST_WINDOW: File = file!("selective-drop/smallest-window");
pub(super) const FILES: [File; 4] = [DROP_TAIL, SELECTIVE_DROP, BASE_WINDOW, SMALLEST_WINDOW];

/// What makes a file's bottleneck one of the paper's.
pub(super) fn on_link(link: Link) -> Vec<Override> {
    vec![set("links.bottleneck.rate", link.rate), set("links.bottleneck.delay", link.delay)]
}

/// The paper's Q_thresh on a link, or another one.
pub(super) fn threshold(link: Link, packets: u32) -> Vec<Override> {
    let queue = set("links.bottleneck.queue.threshold", packets.to_string());
    [on_link(link), vec![queue]].concat()
}

/// How much is run of a set-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Much {
    /// Runs with random start times.
    pub(super) random: u32,
    /// Length of every run; the files say 100 s.
    pub(super) duration: Span,
}

impl Much {
    /// One run with the start times of the file (or the changes).
    pub(super) fn single(self, file: File, changes: Vec<Override>) -> Setup {
        Setup::new(file, changes).with([set("duration", self.duration.to_string())])
    }

    /// Runs with each flow's start drawn from the first second, with the seeds from `first` on.
    pub(super) fn random(self, file: File, changes: Vec<Override>, first: u32) -> Setup {
        let start = set("flows.*.start", r#"{ from = "0 s", to = "1 s" }"#);
        self.single(file, changes).with([start]).seeds_from(first, self.random)
    }

    /// Both flows at once, as in the paper, and then with random start times.
    pub(super) fn both(self, file: File, changes: Vec<Override>) -> [Setup; 2] {
        [self.single(file, changes.clone()), self.random(file, changes, 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::testkit::sound;

    #[test]
    fn every_file_is_sound_and_says_where_it_comes_from() {
        for file in FILES {
            assert!(sound(file).source.starts_with("Chae and Choi 2004"), "{}", file.path);
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
        let much = Much { random: 3, duration: Span::from_secs(2) };
        let mut plan = Plan::default();
        let planned = plan.each([()], |()| much.both(DROP_TAIL, on_link(&LINKS[0])));
        planned.expect("a sound scenario");
        let seeds: Vec<_> = plan.jobs[1..].iter().map(|job| job.seed).collect();
        assert_eq!(seeds, [1, 2, 3]);
        assert_eq!(plan.jobs[0].scenario.links[0].forward.rate.to_string(), "512 kbit/s");
    }
}
