//! Many runs in parallel, put together in order, so that the number of threads changes nothing.
//!
//! Threads are those of the rayon pool that the caller is in. A run that fails or panics is told of in its
//! place, and does not stop the others. [`run_each`] does the same for jobs of any other kind.

use super::journal::{Journal, Key};
use crate::execute::{ExecuteError, execute};
use crate::run::{Ending, Progress, RunOptions, RunOutcome};
use ackord_scenario::Scenario;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One run to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// Whatever the caller tells it from others by.
    pub number: usize,
    /// What is run.
    pub scenario: Arc<Scenario>,
    /// With this seed.
    pub seed: u64,
    /// Whether series are kept.
    pub series: bool,
}

/// How a run of many ended.
#[derive(Debug)]
pub enum Ended<T, E = ExecuteError> {
    /// It came to its end, and this was kept of it.
    Kept(T),
    /// It went wrong.
    Failed(E),
    /// It was stopped, or not begun, because `watch` said so.
    Stopped,
}

/// Called from several threads with the share of all runs that is done, 0 to 1; may stop them.
pub type Watch<'a> = dyn Fn(f64) -> ControlFlow<()> + Sync + 'a;

/// Runs every job; `keep` takes what is wanted of each outcome, so that thousands fit into memory.
/// What ended how is in the order of the jobs.
pub fn run_all<T: Send>(
    jobs: &[Job],
    keep: impl Fn(&Job, RunOutcome) -> T + Sync,
    watch: &Watch<'_>,
) -> Vec<Ended<T>> {
    let one = |job: &Job, progress: &mut OfJob<'_>| run(job, &keep, progress);
    run_each(jobs, |_| WHOLE, one, watch)
}

/// The same, with what is kept written down as it comes in under the job's key; what the journal knows is
/// not run again.
pub fn run_all_with_journal<T: Send + Serialize + DeserializeOwned>(
    jobs: &[Job],
    keep: impl Fn(&Job, RunOutcome) -> T + Sync,
    journal: &Journal,
    key: impl Fn(&Job) -> Key + Sync,
    watch: &Watch<'_>,
) -> Vec<Ended<T>> {
    let one = |job: &Job, progress: &mut OfJob<'_>| {
        let key = key(job);
        if let Some(known) = journal.find(&key) {
            return Ended::Kept(known);
        }
        let ended = run(job, &keep, progress);
        match &ended {
            Ended::Kept(run) => journal.add(&key, run),
            Ended::Failed(error) => journal.add_failure(&key, &error.to_string()),
            Ended::Stopped => {}
        }
        ended
    };
    run_each(jobs, |_| WHOLE, one, watch)
}

/// Callback of one job with the share of it that is done, 0 to 1; `Break` asks the job to end.
pub type OfJob<'a> = dyn FnMut(f64) -> ControlFlow<()> + Send + 'a;

/// Message of a panic that was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked(pub String);

/// Does one job's work and catches its panic, if it panics. Nothing that the work changed may be used then.
///
/// # Errors
/// The message of the panic.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Panicked(message_of(&*panic).to_owned()))
}

fn run<T>(job: &Job, keep: impl Fn(&Job, RunOutcome) -> T, progress: &mut OfJob<'_>) -> Ended<T> {
    let options = RunOptions { series: job.series, ..RunOptions::summary_only(job.seed) };
    let mut of_run = |done: Progress| progress(done.share());
    let ended = caught(|| match execute(&job.scenario, options, &mut of_run) {
        Ok(RunOutcome { ending: Ending::Interrupted(_), .. }) => Ended::Stopped,
        Ok(outcome) => Ended::Kept(keep(job, outcome)),
        Err(error) => Ended::Failed(error),
    });
    ended.unwrap_or_else(|Panicked(message)| Ended::Failed(ExecuteError::Panicked { message }))
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// Does every job by `one`, on the threads of the current rayon pool, and returns how each ended, in the order
/// of the jobs. `weight` is a job's share of the whole for progress, in a unit of the caller's. `one` may not panic:
/// see [`caught`].
pub fn run_each<J: Sync, T: Send, E: Send>(
    jobs: &[J],
    weight: impl Fn(&J) -> u64 + Sync,
    one: impl Fn(&J, &mut OfJob<'_>) -> Ended<T, E> + Sync,
    watch: &Watch<'_>,
) -> Vec<Ended<T, E>> {
    let whole = jobs.iter().map(&weight).fold(0, u64::saturating_add);
    let overall = Overall { done: AtomicU64::new(0), whole, watch };
    let one = |job: &J| {
        if overall.add(0).is_break() {
            return Ended::Stopped;
        }
        let (weight, mut counted) = (weight(job), 0);
        let mut progress = |share: f64| {
            let done = ((share * weight as f64) as u64).clamp(counted, weight);
            let more = done - counted;
            counted = done;
            overall.add(more)
        };
        let ended = one(job, &mut progress);
        // A run that ends early, because every flow is done, counts as whole.
        let _ = overall.add(weight - counted);
        ended
    };
    // Job by job: a thread that has nothing left takes over the next one, not half of those of another.
    jobs.par_iter().with_max_len(1).map(one).collect()
}

/// How far all runs together have come.
struct Overall<'a> {
    /// Sum over the jobs of what is done of each, in units of their weights.
    done: AtomicU64,
    whole: u64,
    watch: &'a Watch<'a>,
}

/// Weight of a run: the parts into which its progress is counted.
const WHOLE: u64 = 1_000_000;

impl Overall<'_> {
    fn add(&self, parts: u64) -> ControlFlow<()> {
        let done = self.done.fetch_add(parts, Ordering::Relaxed) + parts;
        (self.watch)(done as f64 / self.whole.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::tests::Lines;
    use super::*;
    use ackord_scenario::{Override, ScenarioFile};
    use std::sync::atomic::AtomicUsize;

    fn jobs() -> Vec<Job> {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it is in the library");
        let file = file.with_overrides([Override::new("duration", "500 ms")]);
        let scenario = Arc::new(file.check().expect("a sound scenario"));
        let job = |seed| Job { number: 0, scenario: Arc::clone(&scenario), seed, series: false };
        (1..=6).map(job).collect()
    }

    fn key(kept: &'static str) -> impl Fn(&Job) -> Key + Sync {
        move |job| Key::new(&job.scenario, job.seed, kept)
    }

    fn unwatched(_: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn kept<T>(ended: Vec<Ended<T>>) -> Vec<T> {
        let sound = |ended| match ended {
            Ended::Kept(kept) => kept,
            Ended::Failed(error) => panic!("{error}"),
            Ended::Stopped => panic!("nobody stopped it"),
        };
        ended.into_iter().map(sound).collect()
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs_whatever_the_number_of_threads() {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a few threads")
                .install(|| kept(run_all(&jobs(), |job, run| (job.seed, run.summary), &unwatched)))
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
            (job.seed, run.summary.flows[0].goodput_bit_s)
        };
        let lines = Lines::default();
        let journal = Journal::new("", Box::new(lines.clone()));
        let jobs = jobs();
        let with = |jobs: &[Job], journal: &Journal| {
            kept(run_all_with_journal(jobs, keep, journal, key("goodput"), &unwatched))
        };
        let first = with(&jobs[..4], &journal);
        let second = with(&jobs, &Journal::new(&lines.text(), Box::new(Lines::default())));
        assert_eq!((second.len(), &second[..4]), (6, &first[..]));
        assert_eq!(made.load(Ordering::Relaxed), 6, "four, and the two that were missing");
        assert_eq!(kept(run_all(&jobs, keep, &unwatched)), second, "to the last bit");
    }

    #[test]
    fn a_run_that_panics_is_told_of_in_its_place_and_made_again_later() {
        let keep = |job: &Job, _: RunOutcome| {
            assert_ne!(job.seed, 3, "three is too many");
            job.seed
        };
        let lines = Lines::default();
        let journal = Journal::new("", Box::new(lines.clone()));
        let ended = run_all_with_journal(&jobs(), keep, &journal, key("seed"), &unwatched);
        let told: Vec<_> = ended
            .iter()
            .map(|ended| match ended {
                Ended::Kept(seed) => seed.to_string(),
                Ended::Failed(error) => error.to_string(),
                Ended::Stopped => "stopped".to_owned(),
            })
            .collect();
        assert_eq!((&told[1][..], &told[3][..]), ("2", "4"));
        assert!(told[2].contains("panicked") && told[2].contains("three is too many"), "{told:?}");
        let later = Journal::new(&lines.text(), Box::new(Lines::default()));
        let third = key("seed")(&jobs()[2]);
        assert_eq!((later.known_runs(), later.failure(&third)), (5, Some(&told[2][..])));
        let again = |job: &Job, _: RunOutcome| job.seed;
        let again = kept(run_all_with_journal(&jobs(), again, &later, key("seed"), &unwatched));
        assert_eq!(again, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn runs_stop_when_told_so_and_what_was_finished_is_kept() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let stop = |share: f64| match share {
            share if share > 0.3 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let ended = pool.install(|| run_all(&jobs(), |_, _| (), &stop));
        let kept = ended.iter().filter(|ended| matches!(ended, Ended::Kept(()))).count();
        let stopped = ended.iter().filter(|ended| matches!(ended, Ended::Stopped)).count();
        assert_eq!((kept, stopped), (1, 5));
    }
}
