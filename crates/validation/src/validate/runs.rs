//! The runs of both sides, in rounds: simulations first, then live runs, each side in parallel.

use super::measured::Measured;
use super::{Goals, KernelRun, KernelSide, Sampling, ValidateError};
use ackord_measure::{KernelLateness, KernelTime, SeriesSet, UnsettableKnob};
use ackord_scenario::Scenario;
use ackord_study::{Ending, RunOptions, execute};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Mutex;

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

/// What is done with the runs.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) sampling: &'a Sampling,
    pub(super) goals: Goals,
    /// Whether the course of each scenario's first runs against time is kept.
    pub(super) series: bool,
}

/// The runs of one seed.
pub(super) struct Pair {
    pub(super) seed: u64,
    pub(super) sim: Measured,
    sim_series: Option<SeriesSet>,
    pub(super) kernel: KernelDone,
}

/// A live run that counts, after so many attempts. No more of it is kept than is compared: live runs start
/// programs by a copy of this process, which takes the longer the more it holds, and their packets wait.
pub(super) struct KernelDone {
    pub(super) measured: Measured,
    pub(super) lateness: KernelLateness,
    pub(super) settings: Vec<UnsettableKnob>,
    pub(super) attempts: u32,
    series: Option<SeriesSet>,
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
        FirstRuns { scenario, sim: self.sim_series, kernel: self.kernel.series }
    }
}

type Watch<'a> = &'a (dyn Fn(ValidateProgress<'_>) -> ControlFlow<()> + Sync);

/// What a simulated run leaves.
type Simulated = (Measured, Option<SeriesSet>);

/// A run to be made, of either side.
struct Job {
    /// Of which of the scenarios.
    number: usize,
    name: String,
    scenario: Scenario,
    seed: u64,
    series: bool,
}

/// Rounds of runs: in each those scenarios that `wanted` more of, which says how many runs a scenario
/// should have now that it has these.
pub(super) fn all(
    cases: Vec<(String, Scenario)>,
    plan: Plan<'_>,
    kernel: &dyn KernelSide,
    progress: Watch<'_>,
    wanted: &dyn Fn(&CaseRuns) -> usize,
) -> Result<AllRuns, ValidateError> {
    let Plan { sampling, goals, series } = plan;
    let new = |(name, scenario)| CaseRuns { name, scenario, pairs: Vec::new() };
    let mut cases: Vec<CaseRuns> = cases.into_iter().map(new).collect();
    let (mut finished, mut planned, mut seconds_before) = (0, 0, 0.0);
    loop {
        let jobs: Vec<Job> = (0..cases.len())
            .flat_map(|number| {
                let runs = &cases[number];
                let series = |run| series && run == 0;
                let first = runs.pairs.len();
                (first..wanted(runs)).map(move |run| Job {
                    number,
                    name: runs.name.clone(),
                    scenario: runs.scenario.clone(),
                    seed: sampling.first_seed.wrapping_add(run as u64),
                    series: series(run),
                })
            })
            .collect();
        if jobs.is_empty() {
            break;
        }
        planned += 2 * jobs.len();
        let simulate = |job: &Job| job.simulate(goals, progress);
        let simulated: Vec<Option<Simulated>> =
            jobs.par_iter().map(simulate).collect::<Result<_, _>>()?;
        let live = Live { plan, kernel, progress, jobs: &jobs, seconds_before };
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
    cases.retain(|runs| runs.pairs.len() >= sampling.seeds.get() as usize);
    Ok(AllRuns { cases, finished, planned })
}

impl Job {
    fn seconds(&self) -> f64 {
        self.scenario.duration.as_secs_f64()
    }

    fn simulate(
        &self,
        goals: Goals,
        progress: Watch<'_>,
    ) -> Result<Option<Simulated>, ValidateError> {
        let options = RunOptions { series: self.series, ..RunOptions::summary_only(self.seed) };
        let mut watch = |_| progress(ValidateProgress { share: 0.0, ended: None });
        let outcome = execute(&self.scenario, options, &mut watch)?;
        let measured = || Measured::of(&outcome.summary, goals);
        Ok((outcome.ending == Ending::Complete).then(|| (measured(), outcome.series)))
    }
}

/// The live runs.
struct Live<'a> {
    plan: Plan<'a>,
    kernel: &'a dyn KernelSide,
    progress: Watch<'a>,
    jobs: &'a [Job],
    /// How long the live runs of earlier rounds were.
    seconds_before: f64,
}

/// The live runs of one job so far.
struct Attempt {
    /// Which of the jobs.
    job: usize,
    made: u32,
    /// The least late.
    best: Option<KernelDone>,
}

impl Attempt {
    fn first(job: usize) -> Attempt {
        Attempt { job, made: 0, best: None }
    }

    /// Whether it was in time, or as often as is allowed.
    fn lasts(&self, sampling: &Sampling) -> bool {
        let in_time = self.best.as_ref().is_some_and(|best| best.lateness.within_budget);
        in_time || self.made > sampling.repeats
    }
}

impl Live<'_> {
    /// In the order of the jobs; nothing where somebody stopped them.
    fn all(&self) -> Result<Vec<Option<KernelDone>>, ValidateError> {
        let mut done: Vec<Option<KernelDone>> = self.jobs.iter().map(|_| None).collect();
        let mut waiting: VecDeque<Attempt> = (0..self.jobs.len()).map(Attempt::first).collect();
        let at_once = match self.kernel.time() {
            // Whatever is begun or taken down while others run makes their packets late: in step, nothing is.
            KernelTime::Real => self.plan.sampling.jobs.get(),
            KernelTime::Simulated => usize::MAX,
        };
        let seconds_done = Mutex::new(self.seconds_before);
        while !waiting.is_empty() {
            let batch = waiting.drain(..waiting.len().min(at_once)).collect();
            for attempt in self.batch(batch, &seconds_done)? {
                match attempt.lasts(self.plan.sampling) {
                    true => done[attempt.job] = attempt.best,
                    false => waiting.push_back(attempt),
                }
            }
        }
        Ok(done)
    }

    /// Makes one run of each, so many at a time as there are jobs; those that somebody stopped are missing.
    fn batch(
        &self,
        batch: Vec<Attempt>,
        seconds_done: &Mutex<f64>,
    ) -> Result<Vec<Attempt>, ValidateError> {
        let (waiting, made) = (Mutex::new(batch.into_iter()), Mutex::new(Vec::new()));
        let failed: Mutex<Option<ValidateError>> = Mutex::new(None);
        let work = || {
            while let Some(mut attempt) = {
                let next = locked(&waiting).next();
                next.filter(|_| locked(&failed).is_none())
            } {
                match self.attempt(&mut attempt, seconds_done) {
                    Ok(ControlFlow::Continue(())) => locked(&made).push(attempt),
                    Ok(ControlFlow::Break(())) => return,
                    Err(error) => {
                        locked(&failed).get_or_insert(error);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.plan.sampling.jobs.get() {
                scope.spawn(work);
            }
        });
        match locked(&failed).take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut *locked(&made))),
        }
    }

    /// One more run, which counts if it is less late than those before.
    fn attempt(
        &self,
        attempt: &mut Attempt,
        seconds_done: &Mutex<f64>,
    ) -> Result<ControlFlow<()>, ValidateError> {
        if self.tell(seconds_done, 0.0, None).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let job = &self.jobs[attempt.job];
        let go_on = || self.tell(seconds_done, 0.0, None);
        let run = self.kernel.run(&job.scenario, job.seed, &go_on).map_err(|source| {
            ValidateError::Live { scenario: job.name.clone(), seed: job.seed, source }
        })?;
        if run.stopped {
            return Ok(ControlFlow::Break(()));
        }
        attempt.made += 1;
        let (scenario, seed) = (job.name.as_str(), job.seed);
        let ended = LiveEnded { scenario, seed, run: &run, attempt: attempt.made };
        let last = run.lateness.within_budget || attempt.made > self.plan.sampling.repeats;
        let counted = if last { job.seconds() } else { 0.0 };
        // Whether to stop is asked before the next run.
        let _ = self.tell(seconds_done, counted, Some(ended));
        let better = |best: &KernelDone| run.lateness.p99_us <= best.lateness.p99_us;
        if attempt.best.as_ref().is_none_or(better) {
            attempt.best = Some(KernelDone {
                measured: Measured::of(&run.summary, self.plan.goals),
                lateness: run.lateness,
                settings: run.settings,
                attempts: 0,
                series: run.series.filter(|_| job.series),
            });
        }
        attempt.best.iter_mut().for_each(|best| best.attempts = attempt.made);
        Ok(ControlFlow::Continue(()))
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
