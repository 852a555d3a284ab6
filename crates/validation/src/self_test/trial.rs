//! The self-test as a whole: every case is run, captured, diagnosed and scored.

use super::kept::KeptCase;
use super::plan::{Plan, Suite};
use super::run::{Place, SelfTestError, capture_file};
use super::score::{Score, score};
use super::write::{KernelTotals, TruthFile, make_case};
use ackord_diagnose::{Cause, Diagnosis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is tried, and how.
#[derive(Clone, Debug)]
pub struct SelfTestOptions {
    /// Which cases.
    pub cases: Vec<Plan>,
    /// How many at the same time.
    pub jobs: NonZeroUsize,
    /// Where captures and truths are kept, a folder for each case.
    pub keep: Option<PathBuf>,
}

/// Diagnoses the captures of one place.
pub type Diagnoser = dyn Fn(&[PathBuf]) -> Result<Diagnosis, String> + Sync;

/// What came of a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseScore {
    /// Its name.
    pub case: String,
    /// Its family.
    pub family: String,
    /// Part of the self-test.
    #[serde(default)]
    pub suite: Suite,
    /// What was injected.
    pub injected: Vec<Cause>,
    /// True seconds by cause.
    pub truth: Vec<(Cause, f64)>,
    /// What the kernels counted.
    pub kernels: [Option<KernelTotals>; 2],
    /// At each place.
    pub scores: Vec<Score>,
    /// Captures that could not be diagnosed, and why.
    pub failed: Vec<String>,
}

/// Called after each case with the share that is done, from several threads.
pub type Progress<'a> = dyn Fn(f64, &CaseScore) -> ControlFlow<()> + Sync + 'a;

/// Runs every case and scores what `diagnose` returns for its captures.
///
/// # Errors
/// [`SelfTestError`]: the first that a case met with.
pub fn self_test(
    options: &SelfTestOptions,
    diagnose: &Diagnoser,
    progress: &Progress<'_>,
) -> Result<Vec<CaseScore>, SelfTestError> {
    let one = |plan: &Plan| {
        let passing = tempfile::tempdir()?;
        let keep = options.keep.as_ref();
        let folder = keep.map_or(passing.path().to_owned(), |keep| keep.join(plan.name()));
        let truth = make_case(plan, &folder)?;
        Ok(score_case(&truth, &folder, diagnose))
    };
    each(&options.cases, options.jobs, &one, progress)
}

/// Scores what `diagnose` returns for the captures of kept cases; no kernel runs.
///
/// # Errors
/// [`SelfTestError::Stopped`].
pub fn rescore(
    cases: &[KeptCase],
    jobs: NonZeroUsize,
    diagnose: &Diagnoser,
    progress: &Progress<'_>,
) -> Result<Vec<CaseScore>, SelfTestError> {
    let one = |kept: &KeptCase| Ok(score_case(&kept.truth, &kept.folder, diagnose));
    each(cases, jobs, &one, progress)
}

fn each<T: Sync>(
    cases: &[T],
    jobs: NonZeroUsize,
    score: &(dyn Fn(&T) -> Result<CaseScore, SelfTestError> + Sync),
    progress: &Progress<'_>,
) -> Result<Vec<CaseScore>, SelfTestError> {
    let done = AtomicUsize::new(0);
    let one = |case: &T| {
        let scored = score(case)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        match progress(done as f64 / cases.len() as f64, &scored) {
            ControlFlow::Continue(()) => Ok(scored),
            ControlFlow::Break(()) => Err(SelfTestError::Stopped),
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build();
    let pool = pool.map_err(std::io::Error::other)?;
    pool.install(|| cases.par_iter().with_max_len(1).map(one).collect())
}

fn score_case(truth: &TruthFile, folder: &Path, diagnose: &Diagnoser) -> CaseScore {
    let mut failed = Vec::new();
    let mut scores = Vec::new();
    for place in Place::ALL.into_iter().filter(|place| truth.scored.contains(place)) {
        let said = diagnose(&[capture_file(folder, place)]).unwrap_or_else(|why| {
            failed.push(format!("{}: {why}", place.name()));
            Diagnosis { captures: Vec::new(), artefacts: Vec::new(), connections: Vec::new() }
        });
        scores.push(score(truth, place, &said));
    }
    CaseScore {
        case: truth.case.clone(),
        family: truth.family.clone(),
        suite: truth.suite,
        injected: truth.injected.clone(),
        truth: seconds_by_cause(truth),
        kernels: truth.kernels,
        scores,
        failed,
    }
}

fn seconds_by_cause(truth: &TruthFile) -> Vec<(Cause, f64)> {
    let seconds = |cause: Cause| {
        let of = truth.intervals.iter().filter(|one| one.cause == cause);
        (cause, of.map(|one| one.to_s - one.from_s).sum::<f64>())
    };
    Cause::ALL.into_iter().map(seconds).filter(|one| one.1 > 0.0).collect()
}
