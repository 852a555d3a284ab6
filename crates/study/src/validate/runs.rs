//! The runs of both sides, in rounds: simulations first, then live runs, each side in parallel.

use super::{Effort, KernelRun, KernelSide, ValidateError};
use crate::execute::{Ending, KeepSeries, RunOptions, execute};
use ackord_measure::{RunSummary, SeriesSet};
use ackord_scenario::Scenario;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far a report has come.
#[derive(Clone, Copy, Debug)]
pub struct ValidateProgress<'a> {
    /// The share that is done of what is planned so far, 0 to 1, live runs counted by their length.
    pub share: f64,
    /// The live run that has just ended, if one has.
    pub ended: Option<LiveEnded<'a>>,
}

/// A live run that has just ended.
#[derive(Clone, Copy, Debug)]
pub struct LiveEnded<'a> {
    /// Of which scenario.
    pub scenario: &'a str,
    /// With which seed.
    pub seed: u64,
    /// What it came to.
    pub run: &'a KernelRun,
    /// Which attempt it was, from one.
    pub attempt: u32,
}

/// One run of each side against time.
#[derive(Clone, Debug)]
pub struct FirstRuns {
    /// Of which scenario.
    pub scenario: String,
    /// The simulator's.
    pub sim: Option<SeriesSet>,
    /// The kernel's.
    pub kernel: Option<SeriesSet>,
}

/// The runs of one seed.
pub(super) struct Pair {
    pub(super) seed: u64,
    pub(super) sim: RunSummary,
    sim_series: Option<SeriesSet>,
    pub(super) kernel: KernelDone,
}

/// A live run that counts, after so many attempts.
pub(super) struct KernelDone {
    pub(super) run: KernelRun,
    pub(super) attempts: u32,
}

/// All runs, scenario by scenario.
pub(super) struct AllRuns {
    pub(super) cases: Vec<CaseRuns>,
    pub(super) finished: usize,
    pub(super) planned: usize,
}

/// A scenario with its runs.
pub(super) struct CaseRuns {
    /// The name it is told under.
    pub(super) name: String,
    pub(super) scenario: Scenario,
    pub(super) pairs: Vec<Pair>,
}

impl Pair {
    pub(super) fn first_runs(self, scenario: String) -> FirstRuns {
        FirstRuns { scenario, sim: self.sim_series, kernel: self.kernel.run.series }
    }
}

type Watch<'a> = &'a (dyn Fn(ValidateProgress<'_>) -> ControlFlow<()> + Sync);

/// What a simulated run leaves.
type Simulated = (RunSummary, Option<SeriesSet>);

/// A run to be made, of either side.
struct Job {
    /// Of which of the scenarios.
    number: usize,
    name: String,
    scenario: Scenario,
    seed: u64,
    series: KeepSeries,
}

/// Rounds of runs: in each those scenarios that `wanted` more of, which says how many runs a scenario
/// should have now that it has these.
pub(super) fn all(
    cases: Vec<(String, Scenario)>,
    effort: &Effort,
    kernel: &dyn KernelSide,
    progress: Watch<'_>,
    wanted: &dyn Fn(&CaseRuns) -> usize,
) -> Result<AllRuns, ValidateError> {
    let new = |(name, scenario)| CaseRuns { name, scenario, pairs: Vec::new() };
    let mut cases: Vec<CaseRuns> = cases.into_iter().map(new).collect();
    let (mut finished, mut planned, mut seconds_before) = (0, 0, 0.0);
    loop {
        let jobs: Vec<Job> = (0..cases.len())
            .flat_map(|number| {
                let runs = &cases[number];
                (runs.pairs.len()..wanted(runs)).map(move |run| Job::new(number, runs, run, effort))
            })
            .collect();
        if jobs.is_empty() {
            break;
        }
        planned += 2 * jobs.len();
        let simulate = |job: &Job| job.simulate(progress);
        let simulated: Vec<Option<Simulated>> =
            jobs.par_iter().map(simulate).collect::<Result<_, _>>()?;
        let live = Live { effort, kernel, progress, jobs: &jobs, seconds_before };
        let lived = live.all()?;
        seconds_before += live.seconds();
        finished += simulated.iter().flatten().count() + lived.iter().flatten().count();
        for ((job, sim), kernel) in jobs.into_iter().zip(simulated).zip(lived) {
            if let (Some((sim, sim_series)), Some(kernel)) = (sim, kernel) {
                cases[job.number].pairs.push(Pair { seed: job.seed, sim, sim_series, kernel });
            }
        }
        if finished < planned {
            break;
        }
    }
    // A scenario that somebody did not let come to its end is not told.
    cases.retain(|runs| runs.pairs.len() >= effort.seeds.get() as usize);
    Ok(AllRuns { cases, finished, planned })
}

impl Job {
    /// Run number `run` of a scenario, from zero.
    fn new(number: usize, runs: &CaseRuns, run: usize, effort: &Effort) -> Job {
        Job {
            number,
            name: runs.name.clone(),
            scenario: runs.scenario.clone(),
            seed: effort.first_seed.wrapping_add(run as u64),
            // The first is what plots against time show.
            series: if run == 0 { KeepSeries::Yes } else { KeepSeries::No },
        }
    }

    fn seconds(&self) -> f64 {
        self.scenario.duration.as_secs_f64()
    }

    fn simulate(&self, progress: Watch<'_>) -> Result<Option<Simulated>, ValidateError> {
        let options = RunOptions { seed: self.seed, series: self.series, captures: None };
        let mut watch = |_| progress(ValidateProgress { share: 0.0, ended: None });
        let outcome = execute(&self.scenario, options, &mut watch)?;
        Ok((outcome.ending == Ending::Complete).then_some((outcome.summary, outcome.series)))
    }
}

/// The live runs.
struct Live<'a> {
    effort: &'a Effort,
    kernel: &'a dyn KernelSide,
    progress: Watch<'a>,
    jobs: &'a [Job],
    /// How long the live runs of earlier rounds were.
    seconds_before: f64,
}

impl Live<'_> {
    /// In the order of the jobs; nothing where somebody stopped them.
    fn all(&self) -> Result<Vec<Option<KernelDone>>, ValidateError> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Option<KernelDone>>> =
            Mutex::new(self.jobs.iter().map(|_| None).collect());
        let failed: Mutex<Option<ValidateError>> = Mutex::new(None);
        let seconds_done = Mutex::new(self.seconds_before);
        let work = || {
            while let Some((number, job)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                self.jobs.get(number).map(|job| (number, job))
            } {
                match self.attempts(job, &seconds_done) {
                    Ok(Some(run)) => locked(&done)[number] = Some(run),
                    Ok(None) => return,
                    Err(error) => {
                        locked(&failed).get_or_insert(error);
                        // Nobody begins another.
                        next.store(self.jobs.len(), Ordering::Relaxed);
                        return;
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.effort.jobs.get() {
                scope.spawn(work);
            }
        });
        match locked(&failed).take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut *locked(&done))),
        }
    }

    /// One run that was in time, or the least late of as many as are allowed.
    fn attempts(
        &self,
        job: &Job,
        seconds_done: &Mutex<f64>,
    ) -> Result<Option<KernelDone>, ValidateError> {
        let mut best: Option<KernelRun> = None;
        let mut attempt = 0;
        loop {
            if self.tell(seconds_done, 0.0, None).is_break() {
                return Ok(None);
            }
            attempt += 1;
            let go_on = || self.tell(seconds_done, 0.0, None);
            let run = self.kernel.run(&job.scenario, job.seed, &go_on).map_err(|source| {
                ValidateError::Live { scenario: job.name.clone(), seed: job.seed, source }
            })?;
            if run.stopped {
                return Ok(None);
            }
            let (scenario, seed) = (job.name.as_str(), job.seed);
            let ended = LiveEnded { scenario, seed, run: &run, attempt };
            let last = run.lateness.within_budget || attempt > self.effort.repeats;
            let counted = if last { job.seconds() } else { 0.0 };
            // Whether to stop is asked before the next attempt, or the next run.
            let _ = self.tell(seconds_done, counted, Some(ended));
            let better =
                best.as_ref().is_none_or(|best| run.lateness.p99_us <= best.lateness.p99_us);
            if better {
                best = Some(run);
            }
            if last {
                return Ok(best.map(|run| KernelDone { run, attempts: attempt }));
            }
        }
    }

    /// How long all runs of this round are together.
    fn seconds(&self) -> f64 {
        self.jobs.iter().map(Job::seconds).sum()
    }

    fn tell(
        &self,
        seconds_done: &Mutex<f64>,
        more: f64,
        ended: Option<LiveEnded<'_>>,
    ) -> ControlFlow<()> {
        let all = self.seconds_before + self.seconds();
        let done = {
            let mut done = locked(seconds_done);
            *done += more;
            *done
        };
        (self.progress)(ValidateProgress { share: (done / all).min(1.0), ended })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A thread that died while it held it has told its panic; what it holds is whole.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
