//! A sweep at work: rounds of runs until every point has enough, then the tables.

use super::folder::{Folder, JOURNAL, State, States, SweepError};
use super::metrics::Selected;
use super::plan::{Plan, RunAt, Shard};
use super::record::Record;
use super::study::Study;
use super::tables::{Formats, write_series, write_tables};
use crate::run::RunOutcome;
use crate::runs::{Ended, Job, Watch, run_all_with_journal};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A sweep that has a folder to go on in.
pub struct Sweep<'a> {
    study: &'a Study,
    folder: Folder,
    runs: Runs,
    formats: Formats,
}

/// What a sweep came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepOutcome {
    /// Runs that are finished, those known before included, failed ones too.
    pub finished_runs: usize,
    /// How many of these were made now.
    pub made_runs: usize,
    /// Those that failed.
    pub failed: Vec<FailedRun>,
    /// Whether it was stopped before every point had enough.
    pub stopped: bool,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// Where: `links.hop.delay = 10 ms`; empty where there is but one point.
    pub point: String,
    /// Why.
    pub why: String,
    /// What makes it again.
    pub command: String,
}

/// What became of the runs of a sweep, and how many each point needs.
pub(super) struct Runs {
    states: Vec<States>,
    needs: Vec<Need>,
    metric: Option<Selected>,
}

/// How many runs a point needs, as far as is known.
#[derive(Clone, Copy)]
struct Need {
    runs: u32,
    /// Whether that is all.
    decided: bool,
}

impl Runs {
    pub(super) fn of(folder: &Folder) -> Result<Runs, SweepError> {
        let plan = &folder.plan;
        let metric = plan.until.as_ref().map(|until| Selected::of(&until.metric, &plan.metrics));
        let metric = metric.transpose().map_err(|_| SweepError::Unknown(folder.path.clone()))?;
        let need = match &plan.until {
            Some(until) => Need { runs: until.at_least, decided: false },
            None => Need { runs: plan.runs, decided: true },
        };
        let needs = vec![need; plan.points()];
        let mut runs = Runs { states: folder.states(), needs, metric };
        runs.settle(plan);
        Ok(runs)
    }

    /// The same without those that failed: what made them fail may be gone.
    fn without_failures(mut self, plan: &Plan) -> Runs {
        for states in &mut self.states {
            states.retain(|_, state| !matches!(state, State::Failed(_)));
        }
        if let Some(until) = &plan.until {
            self.needs.fill(Need { runs: until.at_least, decided: false });
        }
        self.settle(plan);
        self
    }

    /// Looks at points of which all is known that was needed: by the values of a point's first runs alone, in
    /// the order of their seeds, so that neither threads nor interruptions nor shards change what it needs.
    fn settle(&mut self, plan: &Plan) {
        let Some((until, metric)) = plan.until.as_ref().zip(self.metric.as_ref()) else { return };
        for (states, need) in self.states.iter().zip(&mut self.needs) {
            while !need.decided && states.range(..need.runs).count() == need.runs as usize {
                let value = |state: &State| match state {
                    State::Done(record) => metric.value(record),
                    State::Failed(_) => None,
                };
                let first = states.range(..need.runs).map(|(_, state)| state);
                let values: Vec<f64> = first.filter_map(value).collect();
                need.decided = need.runs == until.at_most || until.is_met(&values);
                if !need.decided {
                    need.runs = until.after(need.runs);
                }
            }
        }
    }

    /// The runs that are needed and made here, in their order.
    pub(super) fn needed(&self, plan: &Plan) -> Vec<RunAt> {
        let of_point =
            |(point, need): (usize, &Need)| (0..need.runs).map(move |at| RunAt { point, at });
        self.needs.iter().enumerate().flat_map(of_point).filter(|run| plan.makes(*run)).collect()
    }

    fn missing(&self, plan: &Plan) -> Vec<RunAt> {
        self.needed(plan).into_iter().filter(|run| self.state(*run).is_none()).collect()
    }

    /// How many more there may be behind those that are needed now.
    fn open(&self, plan: &Plan) -> usize {
        let here = |(point, _): &(usize, &Need)| plan.makes(RunAt { point: *point, at: 0 });
        let open = self.needs.iter().enumerate().filter(here).filter(|(_, need)| !need.decided);
        open.map(|(_, need)| (plan.runs - need.runs) as usize).sum()
    }

    pub(super) fn state(&self, run: RunAt) -> Option<&State> {
        self.states[run.point].get(&run.at)
    }
}

impl<'a> Sweep<'a> {
    /// Begins or goes on in `folder`.
    ///
    /// # Errors
    /// If there is another sweep, or one that is at work; if the system refuses.
    pub fn begin(
        study: &'a Study,
        folder: &Path,
        shard: Option<Shard>,
        formats: Formats,
    ) -> Result<Sweep<'a>, SweepError> {
        let folder = Folder::begin(folder, Plan::of(study, shard))?;
        let runs = Runs::of(&folder)?.without_failures(&folder.plan);
        Ok(Sweep { study, folder, runs, formats })
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.folder.plan.points()
    }

    /// How many runs there will be here, at most.
    pub fn most_runs(&self) -> usize {
        self.runs.needed(&self.folder.plan).len() + self.runs.open(&self.folder.plan)
    }

    /// Whether a stopping rule may need fewer.
    pub fn is_open(&self) -> bool {
        self.runs.open(&self.folder.plan) > 0
    }

    /// How many are finished already.
    pub fn known_runs(&self) -> usize {
        self.finished()
    }

    fn finished(&self) -> usize {
        let needed = self.runs.needed(&self.folder.plan).into_iter();
        needed.filter(|run| self.runs.state(*run).is_some()).count()
    }

    /// Makes what is missing, on so many threads, or one per core. `watch` is told the share of it that is
    /// done.
    ///
    /// # Errors
    /// If the journal, or what is kept against time, cannot be written.
    pub fn run(
        &mut self,
        jobs: Option<NonZeroUsize>,
        watch: &Watch<'_>,
    ) -> Result<SweepOutcome, SweepError> {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(jobs.map_or(0, NonZeroUsize::get)).build();
        let pool = pool.map_err(|error| SweepError::Io {
            what: "start threads for",
            path: self.folder.path.clone(),
            source: std::io::Error::other(error),
        })?;
        let mut made_runs = 0;
        let mut stopped = false;
        while !stopped {
            let missing = self.runs.missing(&self.folder.plan);
            if missing.is_empty() {
                break;
            }
            let most = (made_runs + missing.len() + self.runs.open(&self.folder.plan)) as f64;
            let (before, now) = (made_runs as f64, missing.len() as f64);
            let watch = |share: f64| watch((before + share * now) / most);
            let ended = pool.install(|| self.round(&missing, &watch))?;
            for (run, ended) in missing.iter().zip(ended) {
                let state = match ended {
                    Ended::Kept(record) => State::Done(record),
                    Ended::Failed(error) => State::Failed(error.to_string()),
                    Ended::Stopped => {
                        stopped = true;
                        continue;
                    }
                };
                made_runs += 1;
                self.runs.states[run.point].insert(run.at, state);
            }
            self.runs.settle(&self.folder.plan);
        }
        Ok(SweepOutcome {
            finished_runs: self.finished(),
            made_runs,
            failed: self.failed(),
            stopped,
        })
    }

    /// These runs, each written down as it ends.
    fn round(&self, runs: &[RunAt], watch: &Watch<'_>) -> Result<Vec<Ended<Record>>, SweepError> {
        let plan = &self.folder.plan;
        let job = |(number, run): (usize, &RunAt)| Job {
            number,
            scenario: Arc::clone(&self.study.points[run.point].scenario),
            seed: plan.seed(*run),
            series: !plan.series.is_empty(),
        };
        let jobs: Vec<Job> = runs.iter().enumerate().map(job).collect();
        let places = plan.metrics.places();
        let unwritten = Mutex::new(None);
        let keep = |job: &Job, outcome: RunOutcome| {
            if let Some(series) = &outcome.series {
                let run = runs[job.number];
                let written = write_series(&self.folder.path, plan, run, series, self.formats);
                if let (Err(error), Ok(mut first)) = (written, unwritten.lock()) {
                    first.get_or_insert(error);
                }
            }
            Record::of(&outcome.summary, &places)
        };
        let key = |job: &Job| plan.key(runs[job.number]);
        // Runs that nobody writes down would be made in vain.
        let watch = |share: f64| {
            let broken = self.folder.journal.is_broken()
                || unwritten.lock().is_ok_and(|unwritten| unwritten.is_some());
            if broken { ControlFlow::Break(()) } else { watch(share) }
        };
        let ended = run_all_with_journal(&jobs, keep, &self.folder.journal, key, &watch);
        if let Some(source) = self.folder.journal.take_error() {
            return Err(SweepError::Io {
                what: "write",
                path: self.folder.path.join(JOURNAL),
                source,
            });
        }
        match unwritten.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(ended),
        }
    }

    fn failed(&self) -> Vec<FailedRun> {
        let plan = &self.folder.plan;
        let failed = |run: RunAt| match self.runs.state(run) {
            Some(State::Failed(why)) => Some(FailedRun {
                point: plan.point(run.point),
                why: why.clone(),
                command: plan.command(run),
            }),
            _ => None,
        };
        self.runs.needed(plan).into_iter().filter_map(failed).collect()
    }

    /// Writes the data set, once every run is done. A shard has none: `merge` makes that of all of them.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write_tables(&self) -> Result<(), SweepError> {
        match self.folder.shard() {
            Some(_) => Ok(()),
            None => tables_of(&self.folder, &self.runs, self.formats),
        }
    }
}

fn tables_of(folder: &Folder, runs: &Runs, formats: Formats) -> Result<(), SweepError> {
    let needed = runs.needed(&folder.plan).into_iter();
    let needed: Vec<_> = needed.filter_map(|run| Some((run, runs.state(run)?))).collect();
    write_tables(&folder.path, &folder.plan, &needed, formats)
}

/// Puts the shards of a sweep together in `out`, as if they had been run there; how many runs there are.
///
/// # Errors
/// If a shard is missing, there twice, unfinished or of another sweep; if there is another sweep in `out`.
pub fn merge_sweeps(
    folders: &[impl AsRef<Path>],
    out: &Path,
    formats: Formats,
) -> Result<usize, SweepError> {
    let shards =
        folders.iter().map(|path| Folder::open(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
    super::shards::check(&shards)?;
    let whole = Folder::begin(out, shards[0].plan.clone().whole())?;
    super::shards::copy(&shards, out)?;
    // Read again: the journals of the shards are in it now.
    drop(whole);
    let whole = Folder::begin(out, shards[0].plan.clone().whole())?;
    let runs = Runs::of(&whole)?;
    tables_of(&whole, &runs, formats)?;
    Ok(runs.needed(&whole.plan).len())
}

/// How many runs of a sweep are finished, and how many there should be.
pub(super) fn finished(folder: &Folder) -> Result<(usize, usize), SweepError> {
    let runs = Runs::of(folder)?;
    let needed = runs.needed(&folder.plan);
    let done = needed.iter().filter(|run| runs.state(**run).is_some()).count();
    Ok((done, needed.len()))
}
