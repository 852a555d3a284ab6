//! The mechanism guide: the idea of each mechanism, a picture, and a run that shows where it helps,
//! where it does nothing and where it hurts.
//!
//! ```text
//! Entry (words, cases, picture) ─► measure: run both sides of every case ─► page: a document
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | what an entry is, and all of them |
//! | `measure.rs` | a case run, and what it came to |
//! | `page.rs` | entries as documents |
//! | `ack.rs`, `nagle.rs`, `loss.rs`, `recovery.rs`, `congestion.rs` | entries: endpoints |
//! | `queue.rs`, `queue/`, `proxy.rs`, `processing.rs` | entries: the path, and hosts |
//!
//! The words say what should come out; the runs say what does. A case whose runs do not bear out its
//! words is an error, so the guide cannot go stale unnoticed.

mod ack;
mod congestion;
mod loss;
mod measure;
mod nagle;
mod page;
mod processing;
mod proxy;
mod queue;
mod recovery;

pub use measure::{GuideError, Guided, Measured, measure};
pub use page::{document, index_document, page_document};

use crate::compare::{Variants, VaryError};
use ackord_scenario::{Override, ScenarioFile};
use ackord_units::Span;

/// What the guide says about one mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in a scenario.
    pub name: &'static str,
    /// Its family: `ack`, `loss`, `recovery`, `congestion`, `nagle`, `queue`, `proxy` or
    /// `processing`.
    pub family: &'static str,
    /// The idea, in five lines at most.
    pub idea: &'static str,
    /// What is drawn.
    pub picture: Picture,
    /// Where it helps, does nothing, hurts.
    pub cases: &'static [Case],
}

/// A comparison of two values of one key.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// A scenario of the library.
    pub scenario: &'static str,
    /// Changes to it, `path=value`, common to both sides.
    pub set: &'static [&'static str],
    /// The key that is varied.
    pub vary: &'static str,
    /// Its value without the mechanism, and with it.
    pub values: [&'static str; 2],
}

/// A statement about a mechanism, and the comparison that shows it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What the mechanism does there.
    pub effect: Effect,
    /// Where, and why.
    pub when: &'static str,
    /// What is compared.
    pub setup: Setup,
    /// What is measured.
    pub metric: Metric,
    /// How many runs of each side.
    pub runs: u32,
}

/// What a mechanism does in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The metric is better by at least [`WORTH`], beyond both intervals.
    Helps,
    /// The metric differs by less than [`WORTH`], or not beyond the intervals.
    Nothing,
    /// The metric is worse by at least [`WORTH`], beyond both intervals.
    Hurts,
}

/// A smaller difference than this share is none for a user.
pub const WORTH: f64 = 0.03;

/// What is measured in a case, of the first flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Bytes delivered per second; more is better.
    Goodput,
    /// From the start to the last byte; less is better.
    Completion,
    /// Pure acknowledgments sent; less is better.
    Acks,
    /// Retransmission timeouts; less is better.
    Timeouts,
    /// Share of segments retransmitted; less is better.
    Retransmitted,
    /// Mean measured round trip; less is better.
    RoundTrip,
    /// Smaller goodput over larger, of all flows; more is better.
    Fairness,
    /// Mean waiting in the scenario's first link; less is better.
    QueueDelay,
}

/// What is drawn of a mechanism: one run of each side, laid over each other.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// What is compared.
    pub setup: Setup,
    /// Which plot.
    pub plot: Drawn,
    /// What part of the run.
    pub from: Span,
    /// Its end.
    pub to: Span,
    /// What to see in it.
    pub caption: &'static str,
}

/// Which plot of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Segments sent and acknowledged.
    Sequence,
    /// Congestion windows.
    Window,
    /// Measured round trips.
    RoundTrip,
    /// Bytes delivered per interval.
    Throughput,
}

/// A case, in the order in which one would say it.
const fn case(effect: Effect, when: &'static str, setup: Setup, metric: Metric, runs: u32) -> Case {
    Case { effect, when, setup, metric, runs }
}

impl Setup {
    /// A library scenario as it stands, with one key varied.
    const fn of(scenario: &'static str, vary: &'static str, values: [&'static str; 2]) -> Setup {
        Setup { scenario, set: &[], vary, values }
    }

    /// The same with changes common to both sides.
    const fn with(self, set: &'static [&'static str]) -> Setup {
        Setup { set, ..self }
    }

    /// The scenario with its changes.
    fn file(&self) -> Result<ScenarioFile, VaryError> {
        let file = ScenarioFile::from_library(self.scenario)?;
        let changes = self.set.iter().map(|text| text.parse::<Override>());
        let changes = changes.collect::<Result<Vec<_>, _>>();
        let changes = changes.map_err(|error| VaryError::Form { given: error.given })?;
        Ok(file.with_overrides(changes))
    }

    /// The same as `--vary` takes it.
    fn varied(&self) -> String {
        format!("{}={},{}", self.vary, self.values[0], self.values[1])
    }

    /// Both sides, checked.
    fn variants(&self) -> Result<Variants, VaryError> {
        Variants::of(&self.file()?, &self.varied())
    }

    /// The command that makes `runs` runs of each side.
    pub fn command(&self, runs: u32) -> String {
        let mut command = format!("ackord compare {}", self.scenario);
        for change in self.set {
            command.push_str(&format!(" --set {}", quoted(change)));
        }
        command.push_str(&format!(" --vary {}", quoted(&self.varied())));
        if runs > 1 {
            command.push_str(&format!(" --runs {runs}"));
        }
        command
    }
}

/// For a shell, quoted where it has to be.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".,=-_/".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{text}'") }
}

/// Every entry, family by family.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        ack::ENTRIES,
        nagle::ENTRIES,
        loss::ENTRIES,
        recovery::ENTRIES,
        congestion::ENTRIES,
        queue::ENTRIES,
        proxy::ENTRIES,
        processing::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The families, in the order of [`entries`], each with what it decides.
pub const FAMILIES: &[(&str, &str)] = &[
    ("ack", "When the receiver acknowledges"),
    ("nagle", "When a small segment waits"),
    ("loss", "When a segment counts as lost"),
    ("recovery", "What is sent during recovery"),
    ("congestion", "How much may be outstanding"),
    ("queue", "Who waits and who is dropped at a link"),
    ("proxy", "What a middlebox does at a wireless link"),
    ("processing", "How long a host takes to send a packet"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_tcp::registry as tcp;
    use ackord_units::Choice;
    use std::collections::BTreeSet;

    /// Every registered mechanism that a guide should speak of.
    fn registered() -> BTreeSet<(&'static str, &'static str)> {
        let endpoints = tcp::CHOICES.iter().flat_map(|chosen| chosen.mechanisms);
        let queues = ackord_path::registry::QueueChoice::MECHANISMS.iter();
        let boxes = ackord_path::registry::ProxyChoice::MECHANISMS.iter();
        let hosts = ackord_path::registry::ProcessingChoice::MECHANISMS.iter();
        endpoints
            .chain(queues)
            .chain(boxes)
            .chain(hosts)
            .map(|mechanism| (mechanism.family, mechanism.name))
            .collect()
    }

    #[test]
    fn every_mechanism_has_an_entry_and_every_entry_a_mechanism() {
        let told: BTreeSet<_> = entries().map(|entry| (entry.family, entry.name)).collect();
        let missing: Vec<_> = registered().difference(&told).copied().collect();
        assert!(missing.is_empty(), "not in the guide: {missing:?}");
        let unknown: Vec<_> = told.difference(&registered()).copied().collect();
        assert!(unknown.is_empty(), "not registered: {unknown:?}");
    }

    #[test]
    fn every_setup_is_sound_and_every_idea_is_short() {
        for entry in entries() {
            assert!(entry.idea.lines().count() <= 5, "{}", entry.name);
            for case in entry.cases {
                case.setup.variants().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            }
            entry
                .picture
                .setup
                .variants()
                .unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        }
    }

    #[test]
    fn families_are_told_in_the_order_of_the_entries() {
        let mut order: Vec<_> = entries().map(|entry| entry.family).collect();
        order.dedup();
        assert_eq!(order, FAMILIES.iter().map(|(family, _)| *family).collect::<Vec<_>>());
    }
}
