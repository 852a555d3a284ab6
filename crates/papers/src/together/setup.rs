//! The five remedies, their thirty-two combinations, and the plan of runs.

use crate::runs::Job;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};
use ackord_study::KeepSeries;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The library scenario of the phone.
pub(super) const SCENARIO: &str = "phone";
/// The phone's own flows, with what their application's history says (ARI's knobs).
const FLOWS: [(&str, &str); 3] = [
    ("video", "most_sent = \"64 kB\", verdict = \"bulk\""),
    ("pages", "most_sent = \"30 kB\""),
    ("chat", "most_sent = \"400 B\""),
];

/// One of the five remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The adaptive delayed ACK at both hosts.
    Adaptive,
    /// ARI at both hosts.
    Ari,
    /// DAD-SD at the senders.
    DadSd,
    /// Proxy TCP at the access point.
    ProxyTcp,
    /// Selective drop in the queue of the access point's line.
    SelectiveDrop,
}

impl Remedy {
    pub(super) const ALL: [Remedy; 5] =
        [Remedy::Adaptive, Remedy::Ari, Remedy::DadSd, Remedy::ProxyTcp, Remedy::SelectiveDrop];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Remedy::Adaptive => "adaptive",
            Remedy::Ari => "ari",
            Remedy::DadSd => "dad-sd",
            Remedy::ProxyTcp => "proxy-tcp",
            Remedy::SelectiveDrop => "selective-drop",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A combination of remedies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Combination(u8);

impl Combination {
    pub(super) const NONE: Combination = Combination(0);
    pub(super) const ALL_FIVE: Combination = Combination(31);

    /// Every combination: none first, all five last.
    pub(super) fn each() -> impl Iterator<Item = Combination> {
        (0..32).map(Combination)
    }

    pub(super) fn only(remedy: Remedy) -> Combination {
        Combination(remedy.bit())
    }

    pub(super) fn has(self, remedy: Remedy) -> bool {
        self.0 & remedy.bit() != 0
    }

    /// This one with a remedy more.
    pub(super) fn and(self, remedy: Remedy) -> Combination {
        Combination(self.0 | remedy.bit())
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// What switches it on.
    fn changes(self) -> Vec<Override> {
        let mut changes = Vec::new();
        let set = |path: String, value: String| Override::new(path, value);
        for (flow, history) in FLOWS {
            if let Some(ack) = self.ack(history) {
                changes.push(set(format!("flows.{flow}.tcp.ack"), ack));
            }
            if self.has(Remedy::Ari) {
                // Nagle stays on for bulk: the verdict is part of the history.
                let verdict = if history.contains("bulk") { "bulk" } else { "short" };
                let nagle = format!("{{ kind = \"ari\", verdict = \"{verdict}\" }}");
                changes.push(set(format!("flows.{flow}.tcp.nagle"), nagle));
            }
            if self.has(Remedy::DadSd) {
                changes.push(set(format!("flows.{flow}.tcp.loss"), "dad-sd".to_owned()));
            }
        }
        if self.has(Remedy::ProxyTcp) {
            changes.push(set("proxies.gateway.proxy".to_owned(), "proxy-tcp".to_owned()));
        }
        if self.has(Remedy::SelectiveDrop) {
            let queue = "{ kind = \"selective-drop\", limit = \"150 packets\" }";
            changes.push(set("links.line.queue".to_owned(), queue.to_owned()));
        }
        changes
    }

    /// The acknowledgment policy: both remedies at once are ARI with the adaptive delay after it.
    fn ack(self, history: &str) -> Option<String> {
        match (self.has(Remedy::Ari), self.has(Remedy::Adaptive)) {
            (false, false) => None,
            (false, true) => Some("adaptive".to_owned()),
            (true, adaptive) => {
                let then = if adaptive { "adaptive" } else { "linux" };
                Some(format!("{{ kind = \"ari\", then = \"{then}\", {history} }}"))
            }
        }
    }

    pub(super) fn scenario(self) -> Result<Arc<Scenario>, Errors> {
        let file = ScenarioFile::from_library(SCENARIO)?;
        file.with_overrides(self.changes()).check().map(Arc::new)
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Combination::NONE {
            return f.write_str("none");
        }
        let names: Vec<_> =
            Remedy::ALL.into_iter().filter(|remedy| self.has(*remedy)).map(Remedy::name).collect();
        f.write_str(&names.join(" + "))
    }
}

/// Every run: each combination with the same seeds, so that they meet the same fades.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
    pub(super) seeds: u64,
}

impl Plan {
    pub(super) fn new(seeds: u64) -> Result<Plan, Errors> {
        let mut jobs = Vec::new();
        for combination in Combination::each() {
            let scenario = combination.scenario()?;
            let job = |seed| Job { scenario: Arc::clone(&scenario), seed, series: KeepSeries::No };
            jobs.extend((1..=seeds).map(job));
        }
        Ok(Plan { jobs, seeds })
    }

    /// The runs of a combination: indices into the jobs.
    pub(super) fn runs(&self, combination: Combination) -> Range<usize> {
        let seeds = self.seeds as usize;
        combination.index() * seeds..(combination.index() + 1) * seeds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_thirty_two_sound_scenarios_all_different() {
        let hashes: BTreeSet<String> = Combination::each()
            .map(|combination| combination.scenario().expect("a sound scenario").hash())
            .collect();
        assert_eq!(hashes.len(), 32);
        assert_eq!(Combination::ALL_FIVE.to_string().matches(" + ").count(), 4);
    }

    #[test]
    fn each_remedy_changes_the_place_that_is_its_own() {
        let mechanisms = |remedy| {
            let scenario = Combination::only(remedy).scenario().expect("a sound scenario");
            let video = &scenario.flows[0];
            let names = [
                video.receiver_tcp().ack.mechanism.name,
                video.sender_tcp().nagle.mechanism.name,
                video.sender_tcp().loss.mechanism.name,
                scenario.proxies[0].choice.as_ref().map_or("none", |chosen| chosen.mechanism.name),
                scenario.links[1].forward.queue.mechanism.name,
            ];
            names.map(str::to_owned)
        };
        let plain = ["linux", "minshall", "rack", "none", "drop-tail"];
        for (remedy, changed) in [
            (Remedy::Adaptive, vec![(0, "adaptive")]),
            (Remedy::Ari, vec![(0, "ari"), (1, "ari")]),
            (Remedy::DadSd, vec![(2, "dad-sd")]),
            (Remedy::ProxyTcp, vec![(3, "proxy-tcp")]),
            (Remedy::SelectiveDrop, vec![(4, "selective-drop")]),
        ] {
            let mut expected = plain;
            changed.into_iter().for_each(|(at, name)| expected[at] = name);
            assert_eq!(mechanisms(remedy), expected, "{}", remedy.name());
        }
    }
}
