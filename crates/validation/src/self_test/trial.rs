//! The self-test as a whole: every case is run, captured, diagnosed and scored.

use super::plan::Plan;
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

/// Runs every case and scores what `diagnose` says of its captures. `progress` is called from several
/// threads with the share that is done.
///
/// # Errors
/// [`SelfTestError`]: the first that a case met with.
pub fn self_test(
    options: &SelfTestOptions,
    diagnose: &Diagnoser,
    progress: &(dyn Fn(f64, &CaseScore) -> ControlFlow<()> + Sync),
) -> Result<Vec<CaseScore>, SelfTestError> {
    let done = AtomicUsize::new(0);
    let one = |plan: &Plan| {
        let scored = one_case(plan, options.keep.as_deref(), diagnose)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        match progress(done as f64 / options.cases.len() as f64, &scored) {
            ControlFlow::Continue(()) => Ok(scored),
            ControlFlow::Break(()) => Err(SelfTestError::Stopped),
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs.get()).build();
    let pool = pool.map_err(std::io::Error::other)?;
    pool.install(|| options.cases.par_iter().with_max_len(1).map(one).collect())
}

fn one_case(
    plan: &Plan,
    keep: Option<&Path>,
    diagnose: &Diagnoser,
) -> Result<CaseScore, SelfTestError> {
    let passing = tempfile::tempdir()?;
    let folder = keep.map_or(passing.path().to_owned(), |keep| keep.join(plan.name()));
    let truth = make_case(plan, &folder)?;
    let mut failed = Vec::new();
    let mut scores = Vec::new();
    for place in Place::ALL {
        let said = diagnose(&[capture_file(&folder, place)]).unwrap_or_else(|why| {
            failed.push(format!("{}: {why}", place.name()));
            Diagnosis { captures: Vec::new(), artefacts: Vec::new(), connections: Vec::new() }
        });
        scores.push(score(&truth, place, &said));
    }
    Ok(CaseScore {
        case: truth.case.clone(),
        family: truth.family.clone(),
        injected: truth.injected.clone(),
        truth: seconds_by_cause(&truth),
        kernels: truth.kernels,
        scores,
        failed,
    })
}

fn seconds_by_cause(truth: &TruthFile) -> Vec<(Cause, f64)> {
    let seconds = |cause: Cause| {
        let of = truth.intervals.iter().filter(|one| one.cause == cause);
        (cause, of.map(|one| one.to_s - one.from_s).sum::<f64>())
    };
    Cause::ALL.into_iter().map(seconds).filter(|one| one.1 > 0.0).collect()
}
