//! Which remedy for which connection: the first rule that matches, else the default.

use super::{Conditions, MarkMatch};
use ackord_path::registry::ProxyChoice;
use std::fmt;
use std::net::SocketAddr;

/// What rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowFacts {
    /// Its LAN interface, as an index into [`GatewayConfig::lan`](super::GatewayConfig::lan).
    pub interface: usize,
    /// The end behind the LAN interface.
    pub mobile: SocketAddr,
    /// The end behind the WAN interface.
    pub fixed: SocketAddr,
    /// The differentiated services code point of the packet by which it became known.
    pub dscp: u8,
    /// What is known of the mark of its packets towards the mobile host; nothing at first.
    pub mark: MarkMatch,
}

/// A rule of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleIndex(pub usize);

/// Connections with something in common, and what is done for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What it is called in counters and logs.
    pub name: String,
    /// What they have in common.
    pub conditions: Conditions,
    /// What is done for them; nothing when absent.
    pub remedy: Option<ProxyChoice>,
}

/// Rules in their order, and what is done where none matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    rules: Vec<Rule>,
    default: Option<ProxyChoice>,
}

impl Rules {
    /// What the default is called in counters and logs. No rule has this name.
    pub const DEFAULT: &str = "default";

    /// These, and the remedy where none matches.
    pub fn new(rules: Vec<Rule>, default: Option<ProxyChoice>) -> Rules {
        Rules { rules, default }
    }

    /// The rule for a connection: the first that matches, or else the default.
    pub fn classify(&self, flow: &FlowFacts) -> RuleIndex {
        let matches = |rule: &Rule| rule.conditions.match_flow(flow);
        RuleIndex(self.rules.iter().position(matches).unwrap_or(self.rules.len()))
    }

    /// Its name.
    pub fn name(&self, index: RuleIndex) -> &str {
        self.rules.get(index.0).map_or(Rules::DEFAULT, |rule| &rule.name)
    }

    /// What is done for its connections.
    pub fn remedy(&self, index: RuleIndex) -> Option<&ProxyChoice> {
        match self.rules.get(index.0) {
            Some(rule) => rule.remedy.as_ref(),
            None => self.default.as_ref(),
        }
    }

    /// All of them with their names and remedies, the default last.
    pub fn iter(&self) -> impl Iterator<Item = (RuleIndex, &str, Option<&ProxyChoice>)> {
        (0..=self.rules.len())
            .map(RuleIndex)
            .map(|index| (index, self.name(index), self.remedy(index)))
    }

    /// All but the default.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What any of them asks of marks, each once.
    pub fn marks(&self) -> Vec<MarkMatch> {
        let mut marks: Vec<MarkMatch> = Vec::new();
        for mark in self.rules.iter().filter_map(|rule| rule.conditions.mark) {
            if !marks.contains(&mark) {
                marks.push(mark);
            }
        }
        marks
    }

    /// The first rule that leaves nothing for the one at this place.
    pub fn covered_by(&self, index: RuleIndex) -> Option<RuleIndex> {
        let rule = &self.rules.get(index.0)?.conditions;
        let before = &self.rules[..index.0];
        before.iter().position(|earlier| earlier.conditions.cover(rule)).map(RuleIndex)
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.iter().map(|(_, name, remedy)| match remedy {
            Some(remedy) => format!("{name}: {}", ackord_scenario::choice_text(remedy)),
            None => format!("{name}: none"),
        });
        f.write_str(&each.collect::<Vec<_>>().join("; "))
    }
}
