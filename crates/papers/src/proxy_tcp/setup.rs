//! The paper's paths, the boxes and senders that are compared on them, and the plan of runs.

use crate::runs::Job;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};
use ackord_study::KeepSeries;
use ackord_units::Span;
use std::ops::Range;
use std::sync::Arc;

/// A scenario file of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    /// Fig. 5 with bit errors.
    BitErrors,
    /// Fig. 5 with a fade.
    Fading,
    /// The path on which a real kernel was measured.
    StockLinux,
    /// Fig. 5 with bit errors, and the mobile host sends.
    Upload,
    /// Fig. 5 with bit errors, and wire between box and base station.
    Distance,
    /// Fig. 5 with another base station.
    Handover,
}

impl File {
    /// Whether its runs are as long as is asked for: those with bit errors are.
    fn has_errors(self) -> bool {
        matches!(self, File::BitErrors | File::Upload | File::Distance)
    }
}

/// The files with their paths in the repository, and their texts.
pub(super) static FILES: [(File, &str, &str); 6] = [
    (
        File::BitErrors,
        "papers/proxy-tcp/bit-errors.toml",
        include_str!("../../../../papers/proxy-tcp/bit-errors.toml"),
    ),
    (
        File::Fading,
        "papers/proxy-tcp/fading.toml",
        include_str!("../../../../papers/proxy-tcp/fading.toml"),
    ),
    (
        File::StockLinux,
        "papers/proxy-tcp/stock-linux.toml",
        include_str!("../../../../papers/proxy-tcp/stock-linux.toml"),
    ),
    (
        File::Upload,
        "papers/proxy-tcp/upload.toml",
        include_str!("../../../../papers/proxy-tcp/upload.toml"),
    ),
    (
        File::Distance,
        "papers/proxy-tcp/distance.toml",
        include_str!("../../../../papers/proxy-tcp/distance.toml"),
    ),
    (
        File::Handover,
        "papers/proxy-tcp/handover.toml",
        include_str!("../../../../papers/proxy-tcp/handover.toml"),
    ),
];

/// Payload of a data packet on the paper's path, bytes: its text gives none; 1000 is ns-2's.
pub(super) const PAYLOAD_BYTES: f64 = 1_000.0;
/// Of the wireless link, Mbit/s.
pub(super) const AIR_MBIT_S: f64 = 2.0;

/// What stands at the base station.
#[derive(Debug, PartialEq)]
pub(super) struct Middle {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    /// As in a scenario file.
    pub(super) proxy: &'static str,
}

const fn middle(id: &'static str, label: &'static str, proxy: &'static str) -> Middle {
    Middle { id, label, proxy }
}

/// Every box that is compared, and none.
pub(super) static BOXES: [Middle; 8] = [
    middle("none", "none", "none"),
    middle("snoop", "Snoop", "snoop"),
    middle("i-tcp", "I-TCP", "i-tcp"),
    middle("mtcp", "MTCP", "mtcp"),
    middle("m-tcp", "M-TCP", "m-tcp"),
    middle("paper", "Proxy, paper", "{ kind = \"proxy-tcp\", mode = \"paper\" }"),
    middle("practical", "Proxy, practical", "proxy-tcp"),
    middle("in-path", "Proxy, in path", "{ kind = \"proxy-tcp\", place = \"in-path\" }"),
];

/// The paper's box read in the way that is kindest to it.
static DUPLICATES: Middle = middle(
    "duplicates",
    "Proxy, paper, also after duplicates",
    "{ kind = \"proxy-tcp\", mode = \"paper\", proxy_ack = \"duplicates\" }",
);

/// Who sends.
#[derive(Debug, PartialEq)]
pub(super) struct Sender {
    pub(super) id: &'static str,
    pub(super) label: &'static str,
    pub(super) changes: &'static [(&'static str, &'static str)],
}

/// Every sender that is compared.
pub(super) static SENDERS: [Sender; 4] = [
    Sender { id: "ns2", label: "ns-2 Reno", changes: &[] },
    Sender {
        id: "linux",
        label: "linux",
        changes: &[("tcp.profile", "linux"), ("tcp.max_window", "1000")],
    },
    Sender {
        id: "linux-no-timestamps",
        label: "no timestamps",
        changes: &[("tcp.profile", "linux"), ("tcp.max_window", "1000"), ("tcp.timestamps", "off")],
    },
    Sender {
        id: "linux-no-sack",
        label: "no SACK",
        changes: &[
            ("tcp.profile", "linux"),
            ("tcp.max_window", "1000"),
            ("tcp.sack", "off"),
            // What a stock kernel falls back to.
            ("tcp.recovery", "newreno"),
        ],
    },
];

/// The box of this name.
///
/// # Panics
/// If there is none: for names written in this module.
pub(super) fn boxed(id: &str) -> &'static Middle {
    let mut known = BOXES.iter().chain([&DUPLICATES]);
    known.find(|middle| middle.id == id).expect("one of the list")
}

/// A change to a scenario file.
pub(super) fn set(path: &str, value: impl Into<String>) -> Override {
    Override::new(path, value)
}

impl Middle {
    pub(super) fn changes(&self) -> Vec<Override> {
        vec![set("proxies.base.proxy", self.proxy)]
    }
}

impl Sender {
    pub(super) fn changes(&self) -> Vec<Override> {
        self.changes.iter().map(|(path, value)| set(path, *value)).collect()
    }
}

/// One damaged byte in so many, in both directions of the wireless link.
pub(super) fn errors(bytes: f64) -> Vec<Override> {
    let percent = format!("{:?} %", 100.0 / bytes);
    let both = ["links.air.loss.per_byte", "links.air.reverse.loss.per_byte"];
    both.iter().map(|path| set(path, percent.clone())).collect()
}

/// The wireless link fades from then on, so long: seconds.
pub(super) fn fades(windows: &[(f64, f64)]) -> Vec<Override> {
    let list = |pick: fn(&(f64, f64)) -> f64| {
        let times: Vec<String> =
            windows.iter().map(|window| format!("\"{:.0} us\"", pick(window) * 1e6)).collect();
        format!("[{}]", times.join(", "))
    };
    let value = format!(
        "{{ kind = \"schedule\", from = {}, for = {} }}",
        list(|window| window.0),
        list(|window| window.1)
    );
    vec![set("links.air.outage", value)]
}

/// Every run that is to be made.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
    /// Length of the runs with bit errors, where it is not the file's.
    pub(super) lasts: Option<Span>,
}

/// Runs of one set-up: indices into the plan's jobs.
pub(super) type Runs = Range<usize>;

impl Plan {
    /// Adds a run for each seed.
    pub(super) fn add(
        &mut self,
        file: File,
        changes: Vec<Override>,
        seeds: u64,
    ) -> Result<Runs, Errors> {
        self.add_as(file, changes, seeds, KeepSeries::No)
    }

    /// The same, with series for plots if asked for.
    pub(super) fn add_as(
        &mut self,
        file: File,
        changes: Vec<Override>,
        seeds: u64,
        series: KeepSeries,
    ) -> Result<Runs, Errors> {
        let mut all = Vec::new();
        if let Some(lasts) = self.lasts.filter(|_| file.has_errors()) {
            // First, for the last change of a path is the one that holds.
            all.push(set("duration", lasts.to_string()));
        }
        all.extend(changes);
        let scenario = scenario(file, all)?;
        let first = self.jobs.len();
        let job = |seed| Job { scenario: Arc::clone(&scenario), seed, series };
        self.jobs.extend((1..=seeds).map(job));
        Ok(first..self.jobs.len())
    }
}

/// A file of the paper with changes.
pub(super) fn scenario(file: File, changes: Vec<Override>) -> Result<Arc<Scenario>, Errors> {
    let found = FILES.iter().find(|(known, _, _)| *known == file);
    let (_, path, text) = found.expect("every file is in the list");
    ScenarioFile::new(*path, *text).with_overrides(changes).check().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Rate;

    #[test]
    fn the_files_are_the_papers_path_and_the_measured_one() {
        for (file, path, _) in FILES {
            let plain = scenario(file, Vec::new()).expect("a sound scenario");
            assert!(path.ends_with(&format!("/{}.toml", plain.name)), "{path}");
            let air = plain.links.last().expect("a wireless link");
            let rates = [&plain.links[0], air].map(|link| link.forward.rate);
            let expected = if file == File::StockLinux { [10, 100] } else { [10, 2] };
            assert_eq!(rates, expected.map(Rate::from_mbits_per_sec), "{path}");
            let none = Span::from_millis(0);
            let delays = plain.links.iter().fold(none, |sum, link| sum + link.forward.delay);
            let one_way = if file == File::StockLinux { 20 } else { 40 };
            assert_eq!(delays, Span::from_millis(one_way), "{path}");
        }
    }

    #[test]
    fn every_box_and_sender_makes_a_sound_scenario_of_its_own() {
        let mut hashes = std::collections::BTreeSet::new();
        for middle in &BOXES {
            for sender in &SENDERS {
                let changes = [middle.changes(), sender.changes(), errors(131_072.0)].concat();
                let made = scenario(File::BitErrors, changes).expect(middle.id);
                assert!(hashes.insert(made.hash()), "{} {}", middle.id, sender.id);
            }
        }
    }
}
