//! What an entry says: words, cases, a picture.

use crate::compare::{Variants, VaryError};
use ackord_measure::stats::Estimate;
use ackord_measure::{FLOW_METRICS, QUEUE_METRICS, RUN_METRICS, Unit, VariantSummary};
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

/// What is measured in a case, of the first flow: a metric of the results, as the guide calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    key: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Whether more of it is better.
    pub more_is_better: bool,
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
pub(super) const fn case(
    effect: Effect,
    when: &'static str,
    setup: Setup,
    metric: Metric,
    runs: u32,
) -> Case {
    Case { effect, when, setup, metric, runs }
}

impl Setup {
    /// A library scenario as it stands, with one key varied.
    pub(super) const fn of(
        scenario: &'static str,
        vary: &'static str,
        values: [&'static str; 2],
    ) -> Setup {
        Setup { scenario, set: &[], vary, values }
    }

    /// The same with changes common to both sides.
    pub(super) const fn with(self, set: &'static [&'static str]) -> Setup {
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
    pub(super) fn variants(&self) -> Result<Variants, VaryError> {
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

impl Effect {
    /// As a heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Effect::Helps => "Helps when",
            Effect::Nothing => "Does nothing when",
            Effect::Hurts => "Hurts when",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Effect::Helps => "helps",
            Effect::Nothing => "does nothing",
            Effect::Hurts => "hurts",
        }
    }
}

const fn more(key: &'static str, name: &'static str) -> Metric {
    Metric { key, name, more_is_better: true }
}

const fn less(key: &'static str, name: &'static str) -> Metric {
    Metric { key, name, more_is_better: false }
}

impl Metric {
    /// Bytes delivered per second.
    pub const GOODPUT: Metric = more("goodput_bit_s", "goodput");
    /// From the start to the last byte.
    pub const COMPLETION: Metric = less("completion_s", "completion time");
    /// Pure acknowledgments sent.
    pub const ACKS: Metric = less("acks_sent", "acknowledgments");
    /// Retransmission timeouts.
    pub const TIMEOUTS: Metric = less("timeouts", "timeouts");
    /// Share of segments retransmitted.
    pub const RETRANSMITTED: Metric = less("retransmitted_percent", "retransmitted");
    /// Mean measured round trip.
    pub const ROUND_TRIP: Metric = less("rtt_mean_ms", "mean round trip");
    /// Smaller goodput over larger, of all flows.
    pub const FAIRNESS: Metric = more("min_max_percent", "smaller share over larger");
    /// Mean waiting in the scenario's first link.
    pub const QUEUE_DELAY: Metric = less("mean_delay_ms", "mean queueing delay");

    /// What it is counted in.
    fn declared(self) -> Unit {
        let flows = FLOW_METRICS.iter().map(|metric| (metric.key, metric.unit));
        let runs = RUN_METRICS.iter().map(|metric| (metric.key, metric.unit));
        let queues = QUEUE_METRICS.iter().map(|metric| (metric.key, metric.unit));
        let found = flows.chain(runs).chain(queues).find(|(key, _)| *key == self.key);
        found.expect("the guide's metrics are declared, which a test asserts").1
    }

    /// Its unit; empty for plain counts.
    pub fn unit(self) -> &'static str {
        self.declared().name
    }

    pub(super) fn of(self, variant: &VariantSummary) -> Option<Estimate> {
        let flow = || variant.flows.first()?.estimate(self.key);
        let link = || variant.links.first()?.estimates.of(self.key);
        let found = flow().or_else(|| variant.estimates.of(self.key)).or_else(link)?;
        Some(found.times(1.0 / self.declared().size))
    }
}
