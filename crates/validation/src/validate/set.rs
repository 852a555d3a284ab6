//! The scenarios of the fidelity report, embedded so that they run from anywhere.

use ackord_scenario::{Errors, NodeKind, Override, Scenario, ScenarioFile};
use ackord_study::Effort;
use ackord_units::Knobs;
use ackord_wire::NodeId;
use std::collections::BTreeSet;

/// A scenario of the report.
#[derive(Debug)]
pub struct ValidateCase {
    /// Its name, and that of its file in `scenarios/validate`.
    pub name: &'static str,
    /// Its duration in a quick report; the file has that of a full one.
    pub quick_duration: &'static str,
    text: &'static str,
}

/// Embeds `scenarios/validate/NAME.toml` of the repository for each name.
macro_rules! embedded {
    ($($name:literal quick $quick:literal),* $(,)?) => {
        &[$(ValidateCase {
            name: $name,
            quick_duration: $quick,
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/../../scenarios/validate/", $name, ".toml"
            )),
        }),*]
    };
}

/// Every scenario of the report, in the order in which it tells them.
pub static CASES: &[ValidateCase] = embedded![
    "clean" quick "4 s",
    "loss-1" quick "4 s",
    "loss-3" quick "4 s",
    "burst-loss" quick "4 s",
    "reno-loss-1" quick "4 s",
    "reordering-slight" quick "4 s",
    "reordering-strong" quick "4 s",
    "fading" quick "7 s",
    "small-buffer" quick "4 s",
    "big-buffer" quick "4 s",
    "high-bdp" quick "5 s",
    "ecn-codel" quick "4 s",
    "unequal-rtt" quick "6 s",
    "reno-against-cubic" quick "6 s",
    "short-transfers" quick "5 s",
    "write-write-read" quick "3 s",
    "ping-pong" quick "4 s",
    "paced-messages" quick "4 s",
    "fading-snoop" quick "7 s",
    "fading-proxy-tcp" quick "7 s",
    "selective-drop" quick "6 s",
    "adaptive-receiver" quick "4 s",
    "adaptive-questions" quick "2 s",
    "ari-receiver" quick "5 s",
];

impl ValidateCase {
    /// The scenario, as long as asked.
    ///
    /// # Errors
    /// When the file is not sound, which its test excludes.
    pub fn scenario(&self, effort: Effort) -> Result<Scenario, Errors> {
        let file = ScenarioFile::new(self.file(), self.text);
        match effort {
            Effort::Full => file.check(),
            Effort::Quick => {
                file.with_overrides([Override::new("duration", self.quick_duration)]).check()
            }
        }
    }

    /// The file's name below the repository.
    pub fn file(&self) -> String {
        format!("scenarios/validate/{}.toml", self.name)
    }
}

/// The hosts of a scenario, those that are kernels in a comparison first: all but those with an ACK
/// policy that no kernel has, which are our own TCP on both sides.
pub(super) fn kernels_and_ours(scenario: &Scenario) -> (BTreeSet<NodeId>, BTreeSet<NodeId>) {
    let ends = scenario
        .flows
        .iter()
        .flat_map(|flow| [(flow.client, &flow.client_tcp), (flow.server, &flow.server_tcp)]);
    let ours: BTreeSet<NodeId> =
        ends.filter(|(_, tcp)| tcp.ack.mechanism().name != "linux").map(|(node, _)| node).collect();
    let nodes = scenario.nodes.iter().zip(0..);
    let hosts = nodes.filter(|(node, _)| node.kind == NodeKind::Host).map(|(_, node)| NodeId(node));
    (hosts.filter(|node| !ours.contains(node)).collect(), ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_scenario_is_sound_says_where_it_is_from_and_has_the_linux_profile_where_a_kernel_is() {
        for case in CASES {
            for length in [Effort::Full, Effort::Quick] {
                let scenario = case.scenario(length).unwrap_or_else(|errors| panic!("{errors:?}"));
                assert_eq!(scenario.name, case.name);
                assert!(!scenario.purpose.is_empty() && !scenario.source.is_empty());
                let (kernels, ours) = kernels_and_ours(&scenario);
                assert!(!kernels.is_empty(), "{}", case.name);
                assert_eq!(!ours.is_empty(), case.name.starts_with("a"), "{}", case.name);
                for flow in &scenario.flows {
                    assert!(kernels.contains(&flow.client) || kernels.contains(&flow.server));
                    for end in [flow.sender_tcp(), flow.receiver_tcp()] {
                        assert_eq!(end.loss.mechanism().name, "rack", "{}", case.name);
                    }
                }
            }
        }
    }

    #[test]
    fn the_folder_holds_these_and_no_others() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/validate");
        let files = std::fs::read_dir(folder).expect("the folder is in the repository");
        let files: BTreeSet<String> = files
            .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        let known: BTreeSet<String> =
            CASES.iter().map(|case| format!("{}.toml", case.name)).collect();
        assert_eq!(files, known);
    }
}
