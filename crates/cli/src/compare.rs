//! `ackord compare`: the same scenario with one choice varied.

use crate::completions;
use crate::console::Console;
use crate::cost::CostArguments;
use crate::errors::Failure;
use crate::input::{OutputArguments, Results, ScenarioArguments};
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_study::{
    CompareOptions, Cost, Origin, Variants, compare as compare_variants, compare_report,
    compare_report_files, cost,
};
use clap::Args;
use clap_complete::ArgValueCompleter;
use std::num::{NonZeroU32, NonZeroUsize};

/// Run a scenario with one value varied, side by side
///
/// Every variant runs with the same seeds, so that they differ by the value alone. With several
/// runs each, means come with their 95 % intervals (Student's t).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// What to vary, and its values; commas inside quotes, braces and brackets do not separate
    #[arg(long, value_name = "PATH.TO.KEY=A,B,..", add = ArgValueCompleter::new(completions::settings))]
    vary: String,
    /// How many runs of each variant, each with the next seed
    #[arg(long, value_name = "N", default_value = "1")]
    runs: NonZeroU32,
    /// Seed of each variant's first run, instead of the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    cost: CostArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord compare lossy-wifi --vary 'flows.*.tcp.congestion=reno,cubic,vegas' --runs 10
  ackord compare dumbbell --vary 'links.bottleneck.queue.limit=50 packets,500 packets' --out out
  ackord compare my.toml --vary \"flows.0.tcp.congestion={ kind = 'vegas', alpha = 1 },vegas\"";

pub(crate) fn compare(arguments: &CompareArguments, console: &Console) -> Result<(), Failure> {
    let file = arguments.scenario.open()?;
    let variants = Variants::of(&file, &arguments.vary)?;
    arguments.output.check()?;
    arguments.cost.agree(cost_of(&variants, arguments.runs), console)?;
    let interrupt = Interrupt::listen()?;
    let meter = Meter::begin(&variants.base.name);
    let options = CompareOptions { seed: arguments.seed, runs: arguments.runs };
    let outcome = compare_variants(&variants, options, &|share| {
        meter.at(share);
        interrupt.check()
    });
    meter.end();
    let outcome = outcome?;
    let (finished, planned) = (outcome.finished_runs, outcome.planned_runs);
    if finished == 0 {
        console.remark("interrupted before the first run was finished");
        return Err(Failure::Interrupted);
    }
    let origin = Origin {
        file: &file,
        overrides: &arguments.scenario.changes(),
        scenario: &variants.base,
        history: None,
    };
    let report = compare_report(&outcome, origin);
    let results = Results { document: &report.document, json: &report.json };
    arguments.output.write(console, &results, || compare_report_files(&report))?;
    if finished < planned {
        console.remark(&format!("interrupted: {finished} of {planned} runs were finished"));
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// The cost of all runs together, side by side on all processors.
fn cost_of(variants: &Variants, runs: NonZeroU32) -> Cost {
    let each = variants.variants.iter().map(|variant| cost(&variant.scenario, variants.base.seed));
    let at_once = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let at_once = at_once.min(variants.variants.len() * runs.get() as usize) as f64;
    let sum = |sum: Cost, one: Cost| Cost {
        seconds: sum.seconds + one.seconds * f64::from(runs.get()) / at_once,
        bytes: sum.bytes.max(one.bytes * at_once),
    };
    each.fold(Cost { seconds: 0.0, bytes: 0.0 }, sum)
}
