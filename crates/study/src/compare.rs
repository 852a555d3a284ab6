//! The same scenario with one key varied, over several seeds, side by side.
//!
//! Every variant runs with the same seeds, so that what differs between variants is not the draw.

use crate::execute::ExecuteError;
use crate::run::{RunOutcome, VERSION};
use crate::runs::{Ended, Job, Watch, run_all};
use ackord_measure::{Comparison, RunIdentity, RunSummary, SeriesSet, VariantSummary};
use ackord_scenario::{Errors, Override, ParseOverrideError, Replaced, Scenario, ScenarioFile};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

/// What is compared: a scenario, and its variants.
#[derive(Clone, Debug)]
pub struct Variants {
    /// The scenario as it stands.
    pub base: Scenario,
    /// The key that is varied, as the user wrote it.
    pub varied: String,
    /// One per value, in the order given.
    pub variants: Vec<Variant>,
}

/// A scenario that differs from the others in one value.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The value.
    pub label: String,
    /// The scenario with it.
    pub scenario: Arc<Scenario>,
    /// Settings of the base scenario that the value replaces by naming another mechanism, for readers:
    /// "limit 10240 packets in place of 250 kB".
    pub replaced: Vec<String>,
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
pub enum VaryError {
    /// Not of the form `path=A,B`.
    #[error("`{given}` is not of the form path.to.key=A,B,..")]
    Form {
        /// What was given.
        given: String,
    },
    /// The same value twice.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// The scenario, or a variant of it, is not sound.
    #[error(transparent)]
    Scenario(#[from] Errors),
}

/// Which runs to make of every variant.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions {
    /// Seed of each variant's first run; the scenario's own when absent. The next run has the next
    /// seed.
    pub seed: Option<u64>,
    /// How many runs of each variant.
    pub runs: NonZeroU32,
}

/// What a comparison came to.
#[derive(Clone, Debug)]
pub struct ComparisonOutcome {
    /// The estimates; variants of which no run was finished are left out.
    pub comparison: Comparison,
    /// The first run of each variant against time, with its label.
    pub series: Vec<(String, SeriesSet)>,
    /// A line for every variant that replaces settings of the scenario file.
    pub notes: Vec<String>,
    /// How many runs were finished; less than planned if the comparison was stopped.
    pub finished_runs: usize,
    /// How many runs there should have been.
    pub planned_runs: usize,
}

impl Variants {
    /// Checks `file` as it stands and with each of the values in `vary`, `path.to.key=A,B,..`.
    /// Commas inside quotes, brackets and braces do not separate.
    ///
    /// # Errors
    /// [`VaryError`]; of unsound variants the first.
    pub fn of(file: &ScenarioFile, vary: &str) -> Result<Variants, VaryError> {
        let form = |ParseOverrideError { given }| VaryError::Form { given };
        let values = Override::each(vary).map_err(form)?;
        let (base, replaced_before) = file.check_overrides()?;
        let mut variants: Vec<Variant> = Vec::new();
        for change in &values {
            if change.value.is_empty() {
                return Err(VaryError::Form { given: vary.to_owned() });
            }
            if variants.iter().any(|variant| variant.label == change.value) {
                return Err(VaryError::Twice(change.value.clone()));
            }
            let changed = file.clone().with_overrides([change.clone()]);
            let (scenario, replaced) = changed.check_overrides()?;
            let of_variant = replaced.iter().filter(|one| !replaced_before.contains(one));
            // Members of a group lose the same settings.
            let replaced: BTreeSet<String> = of_variant.map(Replaced::to_string).collect();
            variants.push(Variant {
                label: change.value.clone(),
                scenario: Arc::new(scenario),
                replaced: replaced.into_iter().collect(),
            });
        }
        let varied = values.first().map(|change| change.path.clone()).unwrap_or_default();
        Ok(Variants { base, varied, variants })
    }

    /// Returns a line for every variant that replaces settings of the scenario file.
    fn notes(&self) -> Vec<String> {
        let replacing = self.variants.iter().filter(|variant| !variant.replaced.is_empty());
        let note = |variant: &Variant| {
            format!("{}={}: {}", self.varied, variant.label, variant.replaced.join(", "))
        };
        replacing.map(note).collect()
    }
}

/// Runs every variant as often as asked for. `progress` is called from several threads with the
/// share that is done; when it answers [`Break`](std::ops::ControlFlow::Break) the runs under way end and do not
/// count.
///
/// # Errors
/// Those of [`execute`](crate::execute), of the first run that fails.
pub fn compare(
    variants: &Variants,
    options: CompareOptions,
    progress: &Watch<'_>,
) -> Result<ComparisonOutcome, ExecuteError> {
    let runs = options.runs.get();
    let jobs: Vec<Job> = variants
        .variants
        .iter()
        .flat_map(|variant| {
            let first = options.seed.unwrap_or(variant.scenario.seed);
            (0..runs).map(move |number| Job {
                number: number as usize,
                scenario: Arc::clone(&variant.scenario),
                seed: first.wrapping_add(u64::from(number)),
                // One run of each is drawn.
                series: number == 0,
            })
        })
        .collect();
    let keep = |_: &Job, run: RunOutcome| Finished { summary: run.summary, series: run.series };
    let ended = run_all(&jobs, keep, progress).into_iter().map(|ended| match ended {
        Ended::Kept(finished) => Ok(Some(finished)),
        Ended::Failed(error) => Err(error),
        Ended::Stopped => Ok(None),
    });
    let finished: Vec<Option<Finished>> = ended.collect::<Result<_, _>>()?;
    let identity = RunIdentity {
        scenario_hash: variants.base.hash(),
        seed: options.seed.unwrap_or(variants.base.seed),
        version: VERSION.to_owned(),
    };
    Ok(put_together(variants, identity, runs as usize, finished))
}

/// A run that came to its end.
struct Finished {
    summary: RunSummary,
    series: Option<SeriesSet>,
}

fn put_together(
    variants: &Variants,
    identity: RunIdentity,
    runs: usize,
    finished: Vec<Option<Finished>>,
) -> ComparisonOutcome {
    let planned_runs = finished.len();
    let mut finished = finished.into_iter();
    let mut outcome = ComparisonOutcome {
        comparison: Comparison { identity, varied: variants.varied.clone(), variants: Vec::new() },
        series: Vec::new(),
        notes: variants.notes(),
        finished_runs: 0,
        planned_runs,
    };
    for variant in &variants.variants {
        let mut summaries = Vec::new();
        for run in finished.by_ref().take(runs).flatten() {
            summaries.push(run.summary);
            outcome.series.extend(run.series.map(|series| (variant.label.clone(), series)));
        }
        outcome.finished_runs += summaries.len();
        if !summaries.is_empty() {
            let summary = VariantSummary::of(&variant.label, &summaries);
            outcome.comparison.variants.push(summary);
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunOptions, execute};
    use std::ops::ControlFlow;

    fn variants(vary: &str) -> Result<Variants, VaryError> {
        let file = ScenarioFile::from_library("lossy-wifi").expect("it comes along");
        Variants::of(&file.with_overrides([Override::new("duration", "2 s")]), vary)
    }

    const THREE_RUNS: CompareOptions =
        CompareOptions { seed: None, runs: NonZeroU32::new(3).expect("three") };

    fn whole(_: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn variants_run_with_the_same_seeds_whatever_the_number_of_threads() {
        let variants = variants("flows.download.tcp.congestion=reno,cubic").expect("sound");
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            pool.install(|| compare(&variants, THREE_RUNS, &whole)).expect("sound runs")
        };
        let (one, four) = (with(1), with(4));
        assert_eq!(one.comparison, four.comparison);
        assert_eq!(one.series, four.series);
        assert_eq!((one.finished_runs, one.planned_runs), (6, 6));
        let first = &one.comparison.variants[0];
        let mut alone = Vec::new();
        for seed in 1..=3 {
            let options = RunOptions::summary_only(seed);
            let scenario = &variants.variants[0].scenario;
            let run = execute(scenario, options, &mut crate::without_progress);
            alone.push(run.expect("a sound run").summary);
        }
        assert_eq!(*first, VariantSummary::of("reno", &alone));
    }

    #[test]
    fn values_may_be_tables_and_a_value_is_given_once() {
        let found = variants("links.wifi.loss={ kind = 'random', per_packet = '2 %' },none");
        let labels: Vec<_> =
            found.expect("sound").variants.into_iter().map(|variant| variant.label).collect();
        assert_eq!(labels, ["{ kind = 'random', per_packet = '2 %' }", "none"]);
        assert!(matches!(variants("seed=1,2,1"), Err(VaryError::Twice(value)) if value == "1"));
        assert!(matches!(variants("seed"), Err(VaryError::Form { .. })));
        assert!(matches!(variants("seed=1,,2"), Err(VaryError::Form { .. })));
        assert!(matches!(variants("sed=1,2"), Err(VaryError::Scenario(_))));
    }

    #[test]
    fn a_variant_keeps_the_settings_of_the_mechanism_in_the_file_and_notes_those_it_replaces() {
        let file = ScenarioFile::from_library("bufferbloat").expect("it comes along");
        let found = Variants::of(&file, "links.uplink.queue=drop-tail,fq-codel").expect("sound");
        assert_eq!(found.variants[0].scenario.hash(), found.base.hash());
        let note = "links.uplink.queue=fq-codel: limit 10240 packets in place of 250 kB";
        assert_eq!(found.notes(), [note]);
        let given = "links.uplink.queue=drop-tail,{ kind = 'fq-codel', limit = '200 packets' }";
        assert!(
            Variants::of(&file, given).expect("sound").notes().is_empty(),
            "it is in the label"
        );
    }

    #[test]
    fn runs_that_were_stopped_do_not_count() {
        let variants = variants("flows.download.tcp.congestion=reno,cubic").expect("sound");
        let stop = |share: f64| match share < 0.5 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let outcome = pool.install(|| compare(&variants, THREE_RUNS, &stop)).expect("sound runs");
        assert!(outcome.finished_runs < outcome.planned_runs, "{}", outcome.finished_runs);
        let counted: u32 = outcome.comparison.variants.iter().map(|variant| variant.runs).sum();
        assert_eq!(counted as usize, outcome.finished_runs);
    }
}
