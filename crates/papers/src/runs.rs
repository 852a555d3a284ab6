//! Many runs in parallel, put together in order, so that the number of threads changes nothing.

use crate::journal::{Journal, Key};
use crate::reproduction::{PaperError, Watch};
use ackord_scenario::Scenario;
use ackord_study::{RunOptions, RunOutcome, execute, without_progress};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One run to be made.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) scenario: Arc<Scenario>,
    pub(super) seed: u64,
    pub(super) series: bool,
}

/// Runs every job; `keep` takes what is wanted of each outcome, so that thousands fit into memory.
pub(super) fn run_all<T: Send>(
    jobs: &[Job],
    keep: impl Fn(&Job, RunOutcome) -> T + Sync,
    watch: &Watch<'_>,
) -> Result<Vec<T>, PaperError> {
    all(jobs, |job| Ok(keep(job, run(job)?)), watch)
}

/// The same, with what is kept written down as it comes in; what the journal knows is not run
/// again. `kept` says what that is, and changes when its form does.
pub(super) fn run_all_with_journal<T: Send + Serialize + DeserializeOwned>(
    jobs: &[Job],
    keep: impl Fn(&Job, RunOutcome) -> T + Sync,
    (journal, kept): (Option<&Journal>, &str),
    watch: &Watch<'_>,
) -> Result<Vec<T>, PaperError> {
    let Some(journal) = journal else { return run_all(jobs, keep, watch) };
    let one = |job: &Job| {
        let key = Key::new(&job.scenario, job.seed, kept);
        if let Some(known) = journal.find(&key) {
            return Ok(known);
        }
        let result = keep(job, run(job)?);
        journal.add(&key, &result);
        Ok(result)
    };
    all(jobs, one, watch)
}

fn run(job: &Job) -> Result<RunOutcome, PaperError> {
    let options = RunOptions { series: job.series, ..RunOptions::summary_only(job.seed) };
    Ok(execute(&job.scenario, options, &mut without_progress)?)
}

fn all<T: Send>(
    jobs: &[Job],
    one: impl Fn(&Job) -> Result<T, PaperError> + Sync,
    watch: &Watch<'_>,
) -> Result<Vec<T>, PaperError> {
    let done = AtomicUsize::new(0);
    let one = |job: &Job| {
        let before = done.load(Ordering::Relaxed);
        if watch(before as f64 / jobs.len() as f64).is_break() {
            return Err(PaperError::Interrupted);
        }
        let result = one(job);
        done.fetch_add(1, Ordering::Relaxed);
        result
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
    use crate::reproduction::unwatched;
    use crate::testkit::Lines;
    use ackord_scenario::{Override, ScenarioFile};
    use std::ops::ControlFlow;

    fn jobs() -> Vec<Job> {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it is in the library");
        let file = file.with_overrides([Override::new("duration", "500 ms")]);
        let scenario = Arc::new(file.check().expect("a sound scenario"));
        (1..=6).map(|seed| Job { scenario: Arc::clone(&scenario), seed, series: false }).collect()
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs_whatever_the_number_of_threads() {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a few threads").install(|| {
                let kept = run_all(&jobs(), |job, run| (job.seed, run.summary), &unwatched);
                kept.expect("sound runs")
            })
        };
        let one = with_threads(1);
        assert_eq!(one.iter().map(|(seed, _)| *seed).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(one, with_threads(4));
    }

    #[test]
    fn runs_that_a_journal_knows_are_not_made_again() {
        let made = AtomicUsize::new(0);
        let keep = |job: &Job, run: RunOutcome| {
            made.fetch_add(1, Ordering::Relaxed);
            (job.seed, run.summary.flows[0].bytes_delivered)
        };
        let lines = Lines::default();
        let journal = Journal::new("", Box::new(lines.clone()));
        let watch = &unwatched;
        let jobs = jobs();
        let first = run_all_with_journal(&jobs[..4], keep, (Some(&journal), "bytes"), watch);
        let journal = Journal::new(&lines.text(), Box::new(Lines::default()));
        let second = run_all_with_journal(&jobs, keep, (Some(&journal), "bytes"), watch);
        let (first, second) = (first.expect("sound runs"), second.expect("sound runs"));
        assert_eq!((second.len(), &second[..4]), (6, &first[..]));
        assert_eq!(made.load(Ordering::Relaxed), 6, "four, and the two that were missing");
        let without = run_all_with_journal(&jobs, keep, (None, "bytes"), watch);
        assert_eq!(without.expect("sound runs"), second);
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
