//! The five remedies and their thirty-two combinations.

use crate::plan::{Setup, Source, set};
use crate::tables::choices;
use ackord_scenario::Override;
use std::fmt;

/// The library scenario of the phone.
pub(super) const SCENARIO: &str = "phone";
/// The phone's own flows, with what their application's history says (ARI's knobs).
const FLOWS: [(&str, &str); 3] = [
    ("video", "most_sent = \"64 kB\", verdict = \"bulk\""),
    ("pages", "most_sent = \"30 kB\""),
    ("chat", "most_sent = \"400 B\""),
];

choices! {
    /// One of the five remedies.
    Remedy {
        /// The adaptive delayed ACK at both hosts.
        Adaptive = "adaptive";
        /// ARI at both hosts.
        Ari = "ari";
        /// DAD-SD at the senders.
        DadSd = "dad-sd";
        /// Proxy TCP at the access point.
        ProxyTcp = "proxy-tcp";
        /// Selective drop in the queue of the access point's line.
        SelectiveDrop = "selective-drop";
    }
}

/// A combination of remedies: a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Combination(u8);

impl Combination {
    pub(super) const NONE: Combination = Combination(0);
    pub(super) const ALL_FIVE: Combination = Combination(31);

    /// Every combination: none first, all five last.
    pub(super) fn each() -> impl Iterator<Item = Combination> {
        (0..32).map(Combination)
    }

    pub(super) fn has(self, remedy: Remedy) -> bool {
        self.0 & (1 << remedy as u8) != 0
    }

    /// This one with a remedy more.
    pub(super) fn and(self, remedy: Remedy) -> Combination {
        Combination(self.0 | 1 << remedy as u8)
    }

    pub(super) fn setup(self) -> Setup {
        Setup::new(Source::Library(SCENARIO), self.changes())
    }

    /// What switches it on.
    fn changes(self) -> Vec<Override> {
        let mut changes = Vec::new();
        for (flow, history) in FLOWS {
            if let Some(ack) = self.ack(history) {
                changes.push(set(&format!("flows.{flow}.tcp.ack"), ack));
            }
            if self.has(Remedy::Ari) {
                // Nagle stays on for bulk: the verdict is part of the history.
                let verdict = if history.contains("bulk") { "bulk" } else { "short" };
                let nagle = format!("{{ kind = \"ari\", verdict = \"{verdict}\" }}");
                changes.push(set(&format!("flows.{flow}.tcp.nagle"), nagle));
            }
            if self.has(Remedy::DadSd) {
                changes.push(set(&format!("flows.{flow}.tcp.loss"), "dad-sd"));
            }
        }
        if self.has(Remedy::ProxyTcp) {
            changes.push(set("proxies.gateway.proxy", "proxy-tcp"));
        }
        if self.has(Remedy::SelectiveDrop) {
            let queue = "{ kind = \"selective-drop\", limit = \"150 packets\" }";
            changes.push(set("links.line.queue", queue));
        }
        changes
    }

    /// The ACK policy: both remedies at once are ARI with the adaptive delay after it.
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
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Combination::NONE {
            return f.write_str("none");
        }
        let remedies = Remedy::ALL.into_iter().filter(|remedy| self.has(*remedy));
        f.write_str(&remedies.map(Remedy::id).collect::<Vec<_>>().join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Knobs as _;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_thirty_two_sound_scenarios_all_different() {
        let hashes: BTreeSet<String> = Combination::each()
            .map(|combination| combination.setup().scenario().expect("a sound scenario").hash())
            .collect();
        assert_eq!(hashes.len(), 32);
        assert_eq!(Combination::ALL_FIVE.to_string().matches(" + ").count(), 4);
    }

    #[test]
    fn each_remedy_changes_the_place_that_is_its_own() {
        let mechanisms = |remedy| {
            let one = Combination::NONE.and(remedy);
            let scenario = one.setup().scenario().expect("a sound scenario");
            let video = &scenario.flows[0];
            let names = [
                video.receiver_tcp().ack.mechanism().name,
                video.sender_tcp().nagle.mechanism().name,
                video.sender_tcp().loss.mechanism().name,
                scenario.proxies[0]
                    .choice
                    .as_ref()
                    .map_or("none", |chosen| chosen.mechanism().name),
                scenario.links[1].forward.queue.mechanism().name,
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
            assert_eq!(mechanisms(remedy), expected, "{}", remedy.id());
        }
    }
}
