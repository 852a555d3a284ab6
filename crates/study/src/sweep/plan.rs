//! What a sweep's folder is of: everything its runs follow from, as `sweep.json`.

use super::axes::Axis;
use super::metrics::Kept;
use super::study::{Study, overrides, place_of, told};
use crate::run::VERSION;
use crate::runs::Key;
use ackord_measure::stats::estimate;
use ackord_scenario::Override;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The form of `sweep.json`.
const FORMAT: u32 = 1;
/// What the journal calls a record; changes when its form does.
const KEPT: &str = "sweep 1";

/// Every run of a sweep: point by point, each with the seeds one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    format: u32,
    version: String,
    pub(super) name: String,
    pub(super) purpose: String,
    pub(super) scenario: String,
    set: Vec<(String, String)>,
    pub(super) axes: Vec<Axis>,
    first_seed: u64,
    pub(super) runs: u32,
    pub(super) until: Option<Until>,
    pub(super) metrics: Kept,
    pub(super) series: Vec<String>,
    pub(super) shard: Option<Shard>,
    /// Of the scenario at each point.
    hashes: Vec<String>,
}

/// When a point has runs enough: when the half width of a mean's 95 % interval is within this share of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Until {
    pub(super) metric: String,
    pub(super) within: f64,
    pub(super) at_least: u32,
    pub(super) at_most: u32,
    pub(super) batch: u32,
}

/// One of several parts of a sweep, each run by itself: `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Shard {
    number: u32,
    of: u32,
}

/// A run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunAt {
    pub(super) point: usize,
    /// Which of the point's, from zero.
    pub(super) at: u32,
}

/// Not of the form `3/8`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no part of a whole: allowed is `1/8` to `8/8`, for any number of parts")]
pub struct ParseShardError(String);

impl Plan {
    pub(super) fn of(study: &Study, shard: Option<Shard>) -> Plan {
        let pair = |change: &Override| (change.path.clone(), change.value.clone());
        Plan {
            format: FORMAT,
            version: VERSION.to_owned(),
            name: study.name.clone(),
            purpose: study.purpose.clone(),
            scenario: study.scenario.clone(),
            set: study.set.iter().map(pair).collect(),
            axes: study.axes.clone(),
            first_seed: study.first_seed,
            runs: study.runs,
            until: study.until.clone(),
            metrics: study.kept.clone(),
            series: study.series.clone(),
            shard,
            hashes: study.points.iter().map(|point| point.hash.clone()).collect(),
        }
    }

    /// The whole of which it is a shard.
    pub(super) fn whole(self) -> Plan {
        Plan { shard: None, ..self }
    }

    pub(super) fn points(&self) -> usize {
        self.hashes.len()
    }

    /// The number of a run among all there may be.
    pub(super) fn number(&self, run: RunAt) -> u64 {
        run.point as u64 * u64::from(self.runs) + u64::from(run.at)
    }

    pub(super) fn seed(&self, run: RunAt) -> u64 {
        self.first_seed.wrapping_add(u64::from(run.at))
    }

    pub(super) fn hash(&self, run: RunAt) -> &str {
        &self.hashes[run.point]
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Whether this sweep makes it, and not another shard: of whole points where the number of a point's runs
    /// follows from them.
    pub(super) fn makes(&self, run: RunAt) -> bool {
        let Some(Shard { number, of }) = self.shard else { return true };
        let turn = if self.until.is_some() { run.point as u64 } else { self.number(run) };
        turn % u64::from(of) == u64::from(number - 1)
    }

    /// Which of its point's runs a key is of, if of one.
    pub(super) fn at(&self, key: &Key) -> Option<u32> {
        let at = u32::try_from(key.seed.wrapping_sub(self.first_seed)).ok()?;
        let ours = at < self.runs && key.version == self.version && key.kept == KEPT;
        ours.then_some(at)
    }

    /// What the journal has a run under.
    pub(super) fn key(&self, run: RunAt) -> Key {
        Key {
            scenario: self.hash(run).to_owned(),
            seed: self.seed(run),
            version: self.version.clone(),
            kept: KEPT.to_owned(),
        }
    }

    /// A point in words.
    pub(super) fn point(&self, point: usize) -> String {
        told(&self.axes, &place_of(&self.axes, point))
    }

    /// The command that makes a run again.
    pub(super) fn command(&self, run: RunAt) -> String {
        let point = overrides(&self.axes, &place_of(&self.axes, run.point));
        let set = self.set.iter().map(|(path, value)| Override::new(path, value));
        let mut command = format!("ackord run {}", quoted(&self.scenario));
        for change in set.chain(point) {
            command.push_str(&format!(" --set {}", quoted(&change.to_string())));
        }
        format!("{command} --seed {}", self.seed(run))
    }

    /// What another sweep's runs follow from that this one's do not, in words.
    pub(super) fn differences(&self, there: &Plan) -> Vec<String> {
        let mut told = Vec::new();
        let mut differ = |what: &str, here: String, there: String| {
            if here != there {
                told.push(format!("`{what}` is {here} here and {there} there"));
            }
        };
        let none = || "nothing".to_owned();
        let shard =
            |plan: &Plan| plan.shard.map_or_else(|| "the whole".to_owned(), |it| it.to_string());
        let names = |names: &[String]| if names.is_empty() { none() } else { names.join(", ") };
        differ("version", self.version.clone(), there.version.clone());
        differ("shard", shard(self), shard(there));
        differ("set", changes(&self.set), changes(&there.set));
        let axis = |plan: &Plan, at: usize| plan.axes.get(at).map_or_else(none, values);
        for at in 0..self.axes.len().max(there.axes.len()) {
            differ("axes", axis(self, at), axis(there, at));
        }
        differ("seeds", self.seeds(), there.seeds());
        let until = |plan: &Plan| plan.until.as_ref().map_or_else(none, Until::to_string);
        differ("until", until(self), until(there));
        differ("series", names(&self.series), names(&there.series));
        if self.metrics != there.metrics {
            told.push("`metrics` differ".to_owned());
        }
        if told.is_empty() && self.hashes != there.hashes {
            told.push(format!("the scenario `{}` has changed", self.scenario));
        }
        told
    }

    fn seeds(&self) -> String {
        format!("{} from {} on", self.runs, self.first_seed)
    }

    /// Whether this version of the program can read it.
    pub(super) fn is_known(&self) -> bool {
        self.format == FORMAT && self.metrics.is_known()
    }
}

fn changes(set: &[(String, String)]) -> String {
    let told: Vec<_> = set.iter().map(|(path, value)| format!("{path}={value}")).collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join(", ") }
}

/// An axis in words; of many values the ends.
fn values(axis: &Axis) -> String {
    let written = |at: usize| {
        let each: Vec<_> = axis.keys.iter().map(|key| key.values[at].label()).collect();
        each.join(", ")
    };
    // What a name stands for counts, too.
    let label = |at: usize| match &axis.labels {
        Some(names) => format!("{} ({})", names[at], written(at)),
        None => written(at),
    };
    let labels: Vec<_> = (0..axis.len()).map(label).collect();
    let name = match &axis.name {
        Some(name) => {
            let paths: Vec<_> = axis.keys.iter().map(|key| key.path.as_str()).collect();
            format!("{name} ({})", paths.join(", "))
        }
        None => axis.name(),
    };
    match &labels[..] {
        [first, second, .., last] if labels.len() > 6 => {
            format!("{name} = {first}, {second} .. {last} ({} values)", labels.len())
        }
        few => format!("{name} = {}", few.join(", ")),
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=%:+,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl Until {
    /// Whether these are enough: the values of the runs so far, in the order of their seeds, of those that
    /// have one.
    pub(super) fn is_met(&self, values: &[f64]) -> bool {
        let Some(found) = estimate(values) else { return false };
        found.ci95.is_some_and(|half| half <= self.within * found.mean.abs())
    }

    /// After how many runs it is looked at, behind so many.
    pub(super) fn after(&self, runs: u32) -> u32 {
        runs.saturating_add(self.batch).min(self.at_most)
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Until { metric, within, at_least, at_most, batch } = self;
        let percent = within * 100.0;
        write!(f, "{metric} within {percent} %, {at_least} to {at_most} runs by {batch}")
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = ParseShardError;

    fn from_str(text: &str) -> Result<Shard, ParseShardError> {
        let parts = text.split_once('/').and_then(|(number, of)| {
            Some(Shard { number: number.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        let sound = parts.filter(|shard| (1..=shard.of).contains(&shard.number));
        sound.ok_or_else(|| ParseShardError(text.to_owned()))
    }
}

impl TryFrom<String> for Shard {
    type Error = ParseShardError;

    fn try_from(text: String) -> Result<Shard, ParseShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl Shard {
    /// Of how many parts.
    pub(super) fn of(self) -> u32 {
        self.of
    }

    /// Every part of so many.
    pub(super) fn all(of: u32) -> impl Iterator<Item = Shard> {
        (1..=of).map(move |number| Shard { number, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_part_of_a_whole() {
        assert_eq!("3/8".parse::<Shard>().map(|it| it.to_string()), Ok("3/8".to_owned()));
        for wrong in ["0/8", "9/8", "3", "3/0", "a/b", "-1/8"] {
            let error = wrong.parse::<Shard>().expect_err(wrong).to_string();
            assert!(error.contains(wrong) && error.contains("1/8"), "{error}");
        }
    }

    #[test]
    fn words_of_a_command_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("dumbbell"), "dumbbell");
        assert_eq!(quoted("links.a.delay=10 ms"), "'links.a.delay=10 ms'");
        assert_eq!(quoted("a='b'"), "'a='\\''b'\\'''");
        assert_eq!(quoted("flows.*.x=1"), "'flows.*.x=1'");
    }

    #[test]
    fn runs_are_enough_when_the_interval_is_as_narrow_as_asked() {
        let until =
            |within| Until { metric: "x".to_owned(), within, at_least: 2, at_most: 9, batch: 5 };
        // 10 ± 1.24 by Student's t with two degrees of freedom: 4.303 x 0.5 / sqrt 3.
        let values = [9.5, 10.0, 10.5];
        assert!(until(0.1243).is_met(&values) && !until(0.1241).is_met(&values));
        assert!(!until(1.0).is_met(&[1.0]) && !until(1.0).is_met(&[]));
        assert!(until(0.01).is_met(&[0.0, 0.0]));
        assert_eq!((until(0.1).after(2), until(0.1).after(7)), (7, 9));
    }
}
