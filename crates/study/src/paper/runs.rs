//! Many runs in parallel, put together in order, so that the number of threads changes nothing.

use super::{PaperError, Watch};
use crate::execute::{KeepSeries, RunOptions, RunOutcome, execute, without_progress};
use ackord_scenario::Scenario;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One run to be made.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) scenario: Arc<Scenario>,
    pub(super) seed: u64,
    pub(super) series: KeepSeries,
}

/// Runs every job; `keep` takes what is wanted of each outcome, so that thousands fit into memory.
pub(super) fn run_all<T: Send>(
    jobs: &[Job],
    keep: impl Fn(&Job, RunOutcome) -> T + Sync,
    watch: &Watch<'_>,
) -> Result<Vec<T>, PaperError> {
    let done = AtomicUsize::new(0);
    let one = |job: &Job| {
        let before = done.load(Ordering::Relaxed);
        if watch(before as f64 / jobs.len() as f64).is_break() {
            return Err(PaperError::Interrupted);
        }
        let options = RunOptions { seed: job.seed, series: job.series, captures: None };
        let outcome = execute(&job.scenario, options, &mut without_progress)?;
        done.fetch_add(1, Ordering::Relaxed);
        Ok(keep(job, outcome))
    };
    let results: Vec<Result<T, PaperError>> = jobs.par_iter().map(one).collect();
    let results = results.into_iter().collect::<Result<Vec<T>, _>>()?;
    // The last call tells a progress bar that it is over; it is too late to stop.
    let _ = watch(1.0);
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_scenario::{Override, ScenarioFile};
    use std::ops::ControlFlow;

    fn jobs() -> Vec<Job> {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it comes along");
        let file = file.with_overrides([Override::new("duration", "500 ms")]);
        let scenario = Arc::new(file.check().expect("a sound scenario"));
        (1..=6)
            .map(|seed| Job { scenario: Arc::clone(&scenario), seed, series: KeepSeries::No })
            .collect()
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs_whatever_the_number_of_threads() {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a few threads").install(|| {
                let kept =
                    run_all(&jobs(), |job, run| (job.seed, run.summary), &super::super::unwatched);
                kept.expect("sound runs")
            })
        };
        let one = with_threads(1);
        assert_eq!(one.iter().map(|(seed, _)| *seed).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(one, with_threads(4));
    }

    #[test]
    fn runs_stop_when_told_so() {
        let stop = |share: f64| match share {
            share if share > 0.3 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let stopped = run_all(&jobs(), |_, _| (), &stop);
        assert!(matches!(stopped, Err(PaperError::Interrupted)));
    }
}
