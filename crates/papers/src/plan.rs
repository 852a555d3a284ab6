//! What a paper runs: its scenario files with changes and seeds, as data, each under a key of the paper's own.

use crate::cells::{Cell, Cells, Runs};
use crate::reproduction::PaperError;
use ackord_scenario::{Errors, Override, Scenario, ScenarioFile};
use ackord_study::{Ended, Job, Journal, Key, RunOutcome, Watch, run_all, run_all_with_journal};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// A scenario file of a paper: its path in the repository, and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

impl File {
    /// Whether a scenario was made from this file.
    pub(crate) fn is(self, scenario: &Scenario) -> bool {
        self.path.ends_with(&format!("/{}.toml", scenario.name))
    }
}

/// Embeds a scenario file of a paper, by its path below `papers/`, without the ending.
macro_rules! file {
    ($path:literal) => {
        $crate::plan::File {
            path: concat!("papers/", $path, ".toml"),
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../papers/",
                $path,
                ".toml"
            )),
        }
    };
}
pub(crate) use file;

/// A change to a scenario file.
pub(crate) fn set(path: &str, value: impl Into<String>) -> Override {
    Override::new(path, value)
}

/// Several of them.
pub(crate) fn set_each(changes: &[(&str, &str)]) -> Vec<Override> {
    changes.iter().map(|(path, value)| set(path, *value)).collect()
}

/// Where a scenario is from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Paper(File),
    /// The library scenario of this name.
    Library(&'static str),
}

impl From<File> for Source {
    fn from(file: File) -> Source {
        Source::Paper(file)
    }
}

/// Runs of one scenario: with which changes to its file, with which seeds, and whether series are kept.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    source: Source,
    changes: Vec<Override>,
    /// Nothing for the file's own.
    seeds: Option<RangeInclusive<u64>>,
    series: bool,
}

impl Setup {
    /// One run, with the file's own seed.
    pub(crate) fn new(source: impl Into<Source>, changes: Vec<Override>) -> Setup {
        Setup { source: source.into(), changes, seeds: None, series: false }
    }

    /// So many runs, with the seeds from 1 on: the same for every set-up, so that runs can be compared one by
    /// one.
    pub(crate) fn seeds(self, seeds: u32) -> Setup {
        self.seeds_from(1, seeds)
    }

    /// So many runs, with the seeds from `first` on.
    pub(crate) fn seeds_from(self, first: u32, seeds: u32) -> Setup {
        let first = u64::from(first);
        Setup { seeds: Some(first..=first + u64::from(seeds) - 1), ..self }
    }

    /// With these changes, too.
    pub(crate) fn with(mut self, changes: impl IntoIterator<Item = Override>) -> Setup {
        self.changes.extend(changes);
        self
    }

    /// With series, for plots and readings over time.
    pub(crate) fn with_series(self) -> Setup {
        Setup { series: true, ..self }
    }

    pub(crate) fn scenario(&self) -> Result<Arc<Scenario>, Errors> {
        let file = match self.source {
            Source::Paper(File { path, text }) => ScenarioFile::new(path, text),
            Source::Library(name) => ScenarioFile::from_library(name)?,
        };
        file.with_overrides(self.changes.clone()).check().map(Arc::new)
    }
}

/// Every run that is to be made.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) jobs: Vec<Job>,
}

/// The runs under each key: indices into the plan's jobs.
#[derive(Debug)]
pub(crate) struct Planned<K>(Vec<(K, Range<usize>)>);

/// What was taken from every run of a plan, in its order.
pub(crate) struct Outcomes<S>(Vec<S>);

impl Plan {
    /// Plans what `setups` says for each key, one set-up after the other.
    pub(crate) fn each<K, I: IntoIterator<Item = Setup>>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
        setups: impl Fn(&K) -> I,
    ) -> Result<Planned<K>, Errors> {
        let mut planned = Vec::new();
        for key in keys {
            let first = self.jobs.len();
            for setup in setups(&key) {
                self.add(&setup)?;
            }
            planned.push((key, first..self.jobs.len()));
        }
        Ok(Planned(planned))
    }

    fn add(&mut self, setup: &Setup) -> Result<(), Errors> {
        let scenario = setup.scenario()?;
        let series = setup.series;
        let seeds = setup.seeds.clone().unwrap_or(scenario.seed..=scenario.seed);
        let first = self.jobs.len();
        let job =
            |(at, seed)| Job { number: first + at, scenario: Arc::clone(&scenario), seed, series };
        self.jobs.extend(seeds.enumerate().map(job));
        Ok(())
    }

    /// Makes every run; `take` takes what is wanted of each, so that thousands fit into memory.
    pub(crate) fn run<S: Send>(
        &self,
        take: impl Fn(&Job, RunOutcome) -> S + Sync,
        watch: &Watch<'_>,
    ) -> Result<Outcomes<S>, PaperError> {
        all_of(run_all(&self.jobs, take, watch))
    }

    /// The same, with what is taken written down; `kept` says what that is, and changes when its form does.
    pub(crate) fn run_with_journal<S: Send + Serialize + DeserializeOwned>(
        &self,
        take: impl Fn(&Job, RunOutcome) -> S + Sync,
        journal: (Option<&Journal>, &str),
        watch: &Watch<'_>,
    ) -> Result<Outcomes<S>, PaperError> {
        match journal {
            (Some(journal), kept) => {
                let key = |job: &Job| Key::new(&job.scenario, job.seed, kept);
                all_of(run_all_with_journal(&self.jobs, take, journal, key, watch))
            }
            (None, _) => self.run(take, watch),
        }
    }
}

/// There are no half-finished papers.
fn all_of<S>(ended: Vec<Ended<S>>) -> Result<Outcomes<S>, PaperError> {
    let each = ended.into_iter().map(|ended| match ended {
        Ended::Kept(taken) => Ok(taken),
        Ended::Failed(error) => Err(PaperError::Run(error)),
        Ended::Stopped => Err(PaperError::Interrupted),
    });
    each.collect::<Result<_, _>>().map(Outcomes)
}

impl<S> Outcomes<S> {
    pub(crate) fn map<T>(self, of: impl FnMut(S) -> T) -> Outcomes<T> {
        Outcomes(self.0.into_iter().map(of).collect())
    }
}

impl<S: Clone> Outcomes<S> {
    /// What was taken, by key.
    pub(crate) fn of<K>(&self, planned: Planned<K>) -> Cells<K, S> {
        let cell = |(key, runs): (K, Range<usize>)| Cell { key, runs: Runs(self.0[runs].to_vec()) };
        Cells(planned.0.into_iter().map(cell).collect())
    }
}
