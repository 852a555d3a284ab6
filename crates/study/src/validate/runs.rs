//! The runs of both sides: simulations first, then live runs, each side in parallel.

use super::{KernelRun, KernelSide, ValidateCase, ValidateError, ValidateOptions};
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
    /// The share that is done, 0 to 1, live runs counted by their length.
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
    pub scenario: &'static str,
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
    pub(super) cases: Vec<(&'static ValidateCase, Scenario, Vec<Pair>)>,
    pub(super) finished: usize,
    pub(super) planned: usize,
}

impl Pair {
    pub(super) fn first_runs(self, scenario: &'static str) -> FirstRuns {
        FirstRuns { scenario, sim: self.sim_series, kernel: self.kernel.run.series }
    }
}

type Watch<'a> = &'a (dyn Fn(ValidateProgress<'_>) -> ControlFlow<()> + Sync);

/// A run to be made, of either side.
struct Job<'a> {
    case: &'static ValidateCase,
    scenario: &'a Scenario,
    seed: u64,
}

pub(super) fn all(
    options: &ValidateOptions,
    kernel: &dyn KernelSide,
    progress: Watch<'_>,
) -> Result<AllRuns, ValidateError> {
    let scenarios: Vec<Scenario> =
        options.cases.iter().map(|case| case.scenario(options.length)).collect::<Result<_, _>>()?;
    let seeds = u64::from(options.seeds.get());
    let jobs: Vec<Job<'_>> = options
        .cases
        .iter()
        .zip(&scenarios)
        .flat_map(|(case, scenario)| {
            let seeds = (0..seeds).map(|number| options.first_seed.wrapping_add(number));
            seeds.map(move |seed| Job { case, scenario, seed })
        })
        .collect();
    let simulated: Vec<Option<(RunSummary, Option<SeriesSet>)>> =
        jobs.par_iter().map(|job| job.simulate(progress)).collect::<Result<_, _>>()?;
    let live = Live { options, kernel, progress, jobs: &jobs };
    let lived = live.all()?;
    let finished = simulated.iter().flatten().count() + lived.iter().flatten().count();
    let planned = 2 * jobs.len();
    let seeds_of: Vec<u64> = jobs.iter().map(|job| job.seed).collect();
    drop(jobs);
    let mut runs = simulated.into_iter().zip(lived).zip(seeds_of);
    let mut cases = Vec::new();
    for (case, scenario) in options.cases.iter().zip(scenarios) {
        let pairs: Vec<Pair> = runs
            .by_ref()
            .take(seeds as usize)
            .filter_map(|((sim, kernel), seed)| {
                let (sim, sim_series) = sim?;
                Some(Pair { seed, sim, sim_series, kernel: kernel? })
            })
            .collect();
        // A scenario that somebody did not let come to its end is not told.
        if pairs.len() == seeds as usize {
            cases.push((*case, scenario, pairs));
        }
    }
    Ok(AllRuns { cases, finished, planned })
}

impl Job<'_> {
    fn simulate(
        &self,
        progress: Watch<'_>,
    ) -> Result<Option<(RunSummary, Option<SeriesSet>)>, ValidateError> {
        let options = RunOptions { seed: self.seed, series: KeepSeries::Yes, captures: None };
        let mut watch = |_| progress(ValidateProgress { share: 0.0, ended: None });
        let outcome = execute(self.scenario, options, &mut watch)?;
        Ok((outcome.ending == Ending::Complete).then_some((outcome.summary, outcome.series)))
    }
}

/// The live runs.
struct Live<'a> {
    options: &'a ValidateOptions,
    kernel: &'a dyn KernelSide,
    progress: Watch<'a>,
    jobs: &'a [Job<'a>],
}

impl Live<'_> {
    /// In the order of the jobs; nothing where somebody stopped them.
    fn all(&self) -> Result<Vec<Option<KernelDone>>, ValidateError> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Option<KernelDone>>> =
            Mutex::new(self.jobs.iter().map(|_| None).collect());
        let failed: Mutex<Option<ValidateError>> = Mutex::new(None);
        let seconds_done = Mutex::new(0.0);
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
            for _ in 0..self.options.jobs.get() {
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
        job: &Job<'_>,
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
            let run = self.kernel.run(job.scenario, job.seed, &go_on).map_err(|source| {
                ValidateError::Live { scenario: job.case.name, seed: job.seed, source }
            })?;
            if run.stopped {
                return Ok(None);
            }
            let (scenario, seed) = (job.case.name, job.seed);
            let ended = LiveEnded { scenario, seed, run: &run, attempt };
            let last = run.lateness.within_budget || attempt > self.options.repeats;
            let counted = if last { job.scenario.duration.as_secs_f64() } else { 0.0 };
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

    fn tell(
        &self,
        seconds_done: &Mutex<f64>,
        more: f64,
        ended: Option<LiveEnded<'_>>,
    ) -> ControlFlow<()> {
        let all: f64 = self.jobs.iter().map(|job| job.scenario.duration.as_secs_f64()).sum();
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
