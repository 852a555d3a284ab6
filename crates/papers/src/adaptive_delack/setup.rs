//! The paper's scenario files, the ACK policies compared, the senders, and the plan of runs.

use crate::runs::Job;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};
use ackord_study::KeepSeries;
use std::ops::Range;
use std::sync::Arc;

/// Embeds a scenario file of the paper.
macro_rules! embedded {
    ($name:literal) => {
        (
            concat!("papers/adaptive-delack/", $name, ".toml"),
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../papers/adaptive-delack/",
                $name,
                ".toml"
            )),
        )
    };
}

/// A scenario file of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    Simulation,
    Phone,
    SideBySide,
    Wired,
}

impl File {
    pub(super) const ALL: [File; 4] =
        [File::Simulation, File::Phone, File::SideBySide, File::Wired];

    /// Its path in the repository, and its text.
    pub(super) fn embedded(self) -> (&'static str, &'static str) {
        match self {
            File::Simulation => embedded!("simulation"),
            File::Phone => embedded!("phone"),
            File::SideBySide => embedded!("side-by-side"),
            File::Wired => embedded!("wired"),
        }
    }

    /// Whether a scenario was made from this file.
    pub(super) fn is(self, scenario: &Scenario) -> bool {
        self.embedded().0.ends_with(&format!("/{}.toml", scenario.name))
    }

    pub(super) fn with(self, changes: &[Override]) -> Result<Arc<Scenario>, Errors> {
        let (path, text) = self.embedded();
        let file = ScenarioFile::new(path, text).with_overrides(changes.to_vec());
        file.check().map(Arc::new)
    }
}

/// A change to a scenario file.
pub(super) fn set(path: &str, value: impl Into<String>) -> Override {
    Override::new(path, value)
}

/// A receiver's way of acknowledging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Policy {
    /// In names of claims and files.
    pub(super) id: &'static str,
    /// For people.
    pub(super) label: &'static str,
    /// As a scenario has it.
    ack: &'static str,
    /// The flows whose receivers have it; others keep that of the file.
    flows: &'static str,
}

impl Policy {
    /// The change to a scenario's receivers.
    pub(super) fn set(self) -> Override {
        set(&format!("flows.{}.receiver_tcp.ack", self.flows), self.ack)
    }
}

const fn policy(id: &'static str, label: &'static str, ack: &'static str) -> Policy {
    Policy { id, label, ack, flows: "flow" }
}

/// §4: what the paper starts from. ns-3 counts segments of any size and acknowledges the first one at
/// once, whatever the timeout.
pub(super) const DELAYED_NS3: Policy = policy(
    "delayed",
    "delayed",
    r#"{ kind = "quickack", count = 1, timeout = "200 ms", counts = "any" }"#,
);
pub(super) const STATIC_900: Policy = policy(
    "static-0.9",
    "0.9 ms",
    r#"{ kind = "adaptive-static", timeout = "0.9 ms", counts = "any" }"#,
);
pub(super) const STATIC_800: Policy = policy(
    "static-0.8",
    "0.8 ms",
    r#"{ kind = "adaptive-static", timeout = "0.8 ms", counts = "any" }"#,
);
pub(super) const PAPER_NS3: Policy = policy(
    "adaptive-paper",
    "adaptive paper",
    r#"{ kind = "adaptive", mode = "paper", counts = "any" }"#,
);

/// The same by RFC 5681, which counts full-sized segments: for everything but §4.
pub(super) const DELAYED: Policy =
    policy("delayed", "delayed", r#"{ kind = "delayed", timeout = "200 ms" }"#);
pub(super) const STATIC_400: Policy =
    policy("static-0.4", "0.4 ms", r#"{ kind = "adaptive-static", timeout = "0.4 ms" }"#);
/// The same at every phone of the scenario.
pub(super) const STATIC_400_ALL: Policy =
    Policy { id: "static-0.4-all", label: "0.4 ms, all phones", flows: "*", ..STATIC_400 };
pub(super) const STATIC_600: Policy =
    policy("static-0.6", "0.6 ms", r#"{ kind = "adaptive-static", timeout = "0.6 ms" }"#);
pub(super) const STATIC: Policy =
    policy("static-0.8", "0.8 ms", r#"{ kind = "adaptive-static", timeout = "0.8 ms" }"#);
pub(super) const PAPER: Policy =
    policy("adaptive-paper", "adaptive paper", r#"{ kind = "adaptive", mode = "paper" }"#);
pub(super) const PRACTICAL: Policy =
    policy("adaptive", "adaptive practical", r#"{ kind = "adaptive", mode = "practical" }"#);
pub(super) const LINUX: Policy = policy("linux", "linux", r#"{ kind = "linux" }"#);
pub(super) const IMMEDIATE: Policy = policy("immediate", "immediate", r#"{ kind = "immediate" }"#);

/// How a sender's cwnd grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Growth {
    PerAck,
    PerByte,
}

impl Growth {
    pub(super) const BOTH: [Growth; 2] = [Growth::PerAck, Growth::PerByte];

    pub(super) fn word(self) -> &'static str {
        match self {
            Growth::PerAck => "per-ack",
            Growth::PerByte => "per-byte",
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Growth::PerAck => "per ACK",
            Growth::PerByte => "per byte",
        }
    }

    pub(super) fn set(self) -> Override {
        set("tcp.congestion.growth", self.word())
    }
}

/// Every run that is to be made.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
}

/// The runs of one set-up, seeds from 1 on: indices into the plan's jobs.
pub(super) type Runs = Range<usize>;

impl Plan {
    /// So many runs of a file with these changes.
    pub(super) fn runs(
        &mut self,
        file: File,
        changes: &[Override],
        runs: u32,
        series: KeepSeries,
    ) -> Result<Runs, Errors> {
        let scenario = file.with(changes)?;
        let first = self.jobs.len();
        self.jobs.extend((1..=u64::from(runs)).map(|seed| Job {
            scenario: Arc::clone(&scenario),
            seed,
            series,
        }));
        Ok(first..self.jobs.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Knobs as _;

    #[test]
    fn every_file_is_sound_and_says_where_it_comes_from() {
        for file in File::ALL {
            let scenario = file.with(&[]).expect("a sound scenario");
            assert!(scenario.source.contains("Lee et al. 2015"), "{}", scenario.source);
            let (path, _) = file.embedded();
            assert!(path.ends_with(&format!("/{}.toml", scenario.name)), "{path}");
        }
    }

    #[test]
    fn every_policy_and_growth_fits_every_file() {
        let policies = [
            DELAYED_NS3,
            STATIC_900,
            STATIC_800,
            PAPER_NS3,
            DELAYED,
            STATIC_400,
            STATIC_400_ALL,
            STATIC_600,
            STATIC,
            PAPER,
            PRACTICAL,
            LINUX,
            IMMEDIATE,
        ];
        for (file, policy) in File::ALL.into_iter().flat_map(|f| policies.map(|p| (f, p))) {
            for growth in Growth::BOTH {
                let scenario = file.with(&[policy.set(), growth.set()]);
                let scenario = scenario.unwrap_or_else(|errors| panic!("{errors}"));
                let flow = &scenario.flows[0];
                let kind = flow.receiver_tcp().ack.mechanism().name;
                assert!(policy.ack.contains(&format!("\"{kind}\"")), "{}: {kind}", policy.ack);
            }
        }
    }
}
